/* SPDX-License-Identifier: MIT */
/* The one sink of all sources, as the recording command sees it: construction and final
 * results. source.h declares the events. */
#ifndef MEMLAG_SINK_H
#define MEMLAG_SINK_H

#include "db.h"
#include "source.h"

/* An instruction that the source could not execute, and its location. */
struct unhandled_instruction {
        uint64_t count; /* 0: none; the rest describes the first one */
        uint32_t pid;
        uint64_t ip;
        const char *module; /* the sink's; NULL: in no file */
        uint64_t module_offset_bytes;
        uint8_t bytes[16];
        size_t length;
};

/* WRITER must outlive the sink. */
int sink_open(struct writer *writer, struct sink **sink, struct diag *diag);
void sink_close(struct sink *sink);

/* Marks the events as imported, maybe from another machine. The sink then opens no
 * mapped file, and losses belong to the stage "import". */
void sink_set_imported(struct sink *sink);

/* Ignores the counters NAMES (NULL-terminated, or NULL). NAMES must outlive the sink. */
void sink_set_unusable_counters(struct sink *sink, const char *const *names);

/* From here on samples have no rows: they are counted by the location of their
 * instruction. */
int sink_count_places(struct sink *sink, struct diag *diag);

struct sink_place_count {
        struct event_place place; /* module_id 0: in no file */
        uint64_t samples;
};

/* Returns *COUNT locations with sample counts, valid until the next sample. */
const struct sink_place_count *sink_place_counts(const struct sink *sink, size_t *count);

/* The same of the events of sink_executed; NULL without any. */
const struct sink_place_count *sink_executed_counts(const struct sink *sink,
                                                    size_t *count);

/* No more events come: ends open intervals and writes the totals of each allocation
 * site. */
int sink_finish(struct sink *sink, struct diag *diag);

/* Writes the sink's losses into the ledger, as stage "record" or "import". */
int sink_write_ledger(const struct sink *sink, struct db *db, struct diag *diag);

/* The same for a recording in progress, if the losses have changed since. */
int sink_update_ledger(struct sink *sink, struct db *db, struct diag *diag);

/* The latest time of any event. */
int64_t sink_latest_ns(const struct sink *sink);
uint64_t sink_samples(const struct sink *sink);
/* Counts samples of memory accesses: samples with the data source of an access, or with
 * only an address. */
uint64_t sink_memory_samples(const struct sink *sink);
/* Returns the sum of sink_loss calls with KIND. */
uint64_t sink_lost(const struct sink *sink, const char *kind);
/* Counts known program images. */
size_t sink_images(const struct sink *sink);
const struct unhandled_instruction *sink_unhandled_instruction(const struct sink *sink);

#endif
