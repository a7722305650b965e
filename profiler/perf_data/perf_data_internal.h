/* SPDX-License-Identifier: MIT */
/* Private declarations of the files that read a recording. */
#ifndef MEMLAG_PERF_DATA_INTERNAL_H
#define MEMLAG_PERF_DATA_INTERNAL_H

#include "decompress.h"
#include "input.h"
#include "perf_data.h"

enum {
        PIPE_HEADER_BYTES = 16,
        FEATURE_MAX_BYTES = 64 << 20,
        SECTION_BYTES = 16,
        MAGIC_BYTES = 8,
        HEADER_BYTES = 8,
};

/* The header of a file; in a pipe only the first two. */
struct file_section {
        uint64_t offset;
        uint64_t size;
};
struct file_header {
        char magic[MAGIC_BYTES];
        uint64_t size;
        uint64_t attr_size; /* of one entry: the attributes and a section of ids */
        struct file_section attrs;
        struct file_section data;
        struct file_section event_types;
        uint64_t features[FEATURE_COUNT / 64];
};

struct perf_data {
        struct input input;
        int spooled_fd; /* a pipe's copy, or -1 */
        bool pipe;
        bool has_damage;
        struct diag damage;
        struct diag bad_feature; /* the first error */
        uint64_t bad_features;
        struct events events;
        uint64_t id_bytes_left; /* no file has more ids of events than bytes */
        struct features features;
        struct perf_data_counts counts;
        struct decompress *compressed; /* NULL: nothing was compressed */
        bool in_compressed;            /* it may contain another record */
        uint64_t record_offset_bytes;
        bool failed;
        uint64_t aligned[INPUT_PEEK_MAX_BYTES / 8];
};

/* Prepends "offset N: " to the message in DIAG; returns CODE. */
int perf_data_at_offset(struct diag *diag, uint64_t offset_bytes, int code);

/* Stores the first damage that does not end the reading. */
void perf_data_note_damage(struct perf_data *data, const struct diag *diag);

/* Decodes a feature of SIZE bytes at OFFSET. Records can be read without features;
 * therefore an undecodable feature is only counted. An empty feature is a value that
 * perf could not determine. */
int perf_data_take_feature(struct perf_data *data, unsigned number, const void *bytes,
                           size_t size, uint64_t offset, struct diag *diag);

/* Reads the events and features of a file, and seeks to its first record. 0 or a
 * negative errno value. */
int perf_data_read_header(struct perf_data *data, struct diag *diag);

#endif
