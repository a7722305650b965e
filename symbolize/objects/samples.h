/* SPDX-License-Identifier: MIT */
/* The samples of a database in time order. They may not fit in memory. */
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
        bool has_source;
        int64_t data_source_id;
        uint32_t stack_depth;     /* the frame that contains addr; RAW_NONE: unknown */
        uint32_t other_stack;     /* another thread's, whose leaf frame contains addr; or
                                     RAW_NONE */
        int64_t cfa_offset_bytes; /* in that frame */
};

/* Zero-initialised: before the first reading. */
struct samples {
        struct db *db;
        const struct raw *raw;
        bool by_time;      /* SQLite sorts, because ids do not ascend with time */
        bool out_of_order; /* a sample was earlier than its predecessor */
        bool addressed;    /* a sample so far had a data address */
        int64_t before_ns; /* time of the previous one; INT64_MIN: none */
        bool in_frames;    /* some have the frame that they accessed */
        bool in_others;    /* some accessed a frame of another thread's stack */
};

/* Takes the next sample; of equal times, the lower id comes first. A return value
 * other than 0 ends the reading. It may write to tables other than the tables of
 * samples. */
typedef int samples_visit(void *context, const struct raw_sample *sample);

/* Finds the order of DB's samples. 0 or a negative errno value. */
int samples_open(struct samples *samples, struct db *db, const struct raw *raw,
                 struct diag *diag);
/* Whether the data source of SAMPLE is a store. Otherwise it is a load or unknown. */
bool samples_is_store(const struct samples *samples, const struct raw_sample *sample);

/* False for a SAMPLE whose data source excludes a memory access, such as a page fault. */
bool samples_is_access(const struct samples *samples, const struct raw_sample *sample);
/* Visits all samples, from the earliest, in the known order. 0, VISIT's return value, or
 * a negative errno value. */
int samples_each(struct samples *samples, samples_visit *visit, void *context,
                 struct diag *diag);

#endif
