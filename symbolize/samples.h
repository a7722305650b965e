/* SPDX-License-Identifier: MIT */
/* The samples of a database, one after the other in the order of time: there may be more
 * of them than fit in memory. */
#ifndef MEMLAG_SYMBOLIZE_SAMPLES_H
#define MEMLAG_SYMBOLIZE_SAMPLES_H

#include "raw.h"

struct raw_sample {
        int64_t sample_id;
        int64_t time_ns;
        uint64_t ip;
        uint64_t addr;
        uint32_t process;
        uint32_t thread;
        uint32_t stack;
        bool has_addr;
        uint32_t stack_depth; /* the frame that addr is in; RAW_NONE: unknown */
        int64_t cfa_offset_bytes;
};

/* Zero-initialised: before the first reading. */
struct samples {
        struct db *db;
        const struct raw *raw;
        bool in_order;  /* ids ascend with time, as they do in what perf's events gave */
        bool addressed; /* some have a data address */
        bool in_frames; /* some tell which frame of the stack they accessed */
        struct sqlite3_stmt *rows;
};

/* Looks how the samples of DB lie. 0 or a negative errno value. */
int samples_open(struct samples *samples, struct db *db, const struct raw *raw,
                 struct diag *diag);
/* Begins with the earliest sample (again). 0 or a negative errno value. */
int samples_begin(struct samples *samples, struct diag *diag);
/* The next one, of equal times that with the lower id. 1; 0 after the last one, however
 * often it is called then; or a negative errno value. */
int samples_next(struct samples *samples, struct raw_sample *sample, struct diag *diag);
void samples_close(struct samples *samples);

#endif
