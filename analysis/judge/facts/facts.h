/* SPDX-License-Identifier: MIT */
/* Analysis input that the profiler stored: the machine, the run's settings, and counter
 * sums by interval. */
#ifndef MEMLAG_FACTS_H
#define MEMLAG_FACTS_H

#include "contention.h"
#include "db.h"

/* The origin of each fact; NULL: the table lacks the fact. */
struct machine_origins {
#define MACHINE_ORIGIN(key) char *key;
        MACHINE_FACTS(MACHINE_ORIGIN)
#undef MACHINE_ORIGIN
};
void machine_origins_free(struct machine_origins *origins);

/* Reads the machine table. The caller frees ORIGINS, also after an error. */
int facts_machine(struct db *db, struct machine_facts *machine,
                  struct machine_origins *origins, struct diag *diag);

/* Whether the simulated PMU modelled caches only: no instruction waits for a value. Times
 * and overlap then differ from the program's. */
bool facts_without_waits(struct db *db);

struct run_counters {
        bool known[CONCEPT_COUNT]; /* the run counted it */
        struct interval_series series;
        int64_t impossible_readings; /* skipped: their times are impossible */
        double total_cycles;         /* over all threads; NAN: not counted */
};

/* Sums the counter values into intervals of the run's interval_ns. A run without that key
 * has no counter values and gives an empty series. facts_counters_free frees. */
int facts_counters(struct db *db, struct run_counters *counters, struct diag *diag);
void facts_counters_free(struct run_counters *counters);

#endif
