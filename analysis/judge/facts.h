/* SPDX-License-Identifier: MIT */
/* What the profiler left in the database for analysis to know: the machine, the
 * run's settings, and the counters' sums by interval. */
#ifndef MEMLAG_FACTS_H
#define MEMLAG_FACTS_H

#include "contention.h"
#include "db.h"

/* Where each fact comes from; NULL: the table lacks it. */
struct machine_origins {
#define MACHINE_ORIGIN(key) char *key;
        MACHINE_FACTS(MACHINE_ORIGIN)
#undef MACHINE_ORIGIN
};
void machine_origins_free(struct machine_origins *origins);

/* The machine table's facts; the caller frees ORIGINS, also after an error. */
int facts_machine(struct db *db, struct machine_facts *machine,
                  struct machine_origins *origins, struct diag *diag);

/* Whether the run is of a model with caches only, in which nothing waits for values: its
 * times, and all that follows from how much overlaps, are not those of the program. */
bool facts_without_waits(struct db *db);

struct run_counters {
        bool known[CONCEPT_COUNT]; /* the run counted it */
        struct interval_series series;
        int64_t impossible_readings; /* left out: their times cannot be */
        double total_cycles;         /* of all threads, NAN when not counted */
};

/* Sums the readings into intervals of the run's interval_ns. Without that key
 * there can be no readings: the series is empty. Freed by facts_counters_free. */
int facts_counters(struct db *db, struct run_counters *counters, struct diag *diag);
void facts_counters_free(struct run_counters *counters);

#endif
