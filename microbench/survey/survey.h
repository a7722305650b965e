/* SPDX-License-Identifier: MIT */
/* Measures a machine part by part, in sweeps over all parts. A temporary disturbance then
 * affects some visits to each figure, not all visits to one figure. */
#ifndef MEMLAG_SURVEY_H
#define MEMLAG_SURVEY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu_places.h"
#include "curve.h"
#include "estimate.h"
#include "loaded.h"
#include "measure.h"
#include "point_counters.h"
#include "point_samples.h"

struct survey {
        struct cpu_list cpus;
        uint64_t memory_bytes;  /* memory limit */
        uint64_t data_bytes;    /* too large for any cache, if memory allows */
        bool reaches_memory;    /* see survey_reaches_memory */
        uint64_t private_bytes; /* data that stays in the core's caches */
        double round_seconds;   /* duration of one timing */
        size_t sweep_visits;    /* visits to each figure in a sweep */
        size_t visits_min;   /* least visits to each figure; sweeps end after these ... */
        double error_aim;    /* ... when each figure's error is below this */
        double seconds;      /* or after this time; */
        double last_seconds; /* after this, figures without a visit are left out */
        bool quick;          /* fewer points */
        bool progress;       /* print progress on stderr */
        const struct point_events *events;  /* for the LMRL; NULL: not counted */
        const struct sample_event *samples; /* NULL: not sampled */
        struct places *places;              /* of the CPUs; NULL: CPUs do not move */

        double end_seconds;  /* by clock_seconds: then only unvisited figures */
        double over_seconds; /* by clock_seconds: afterwards, no visits */
        uint64_t visits;     /* in the current sweep */
        bool waits;          /* a figure waited for the CPUs in this sweep */
        bool waited;         /* in any sweep */
        bool between;        /* only figures of several CPUs have visits now */
        bool far;            /* CPUs never shared the cache that the system reports */
        double core_ghz;
        struct estimate idle;  /* memory latency in ns; NAN: not known */
        double worst_error;    /* largest in the result; NAN: one is unknown */
        char worst_figure[64]; /* the figure with worst_error */
        uint64_t rounds;       /* over all visits */
        uint64_t disturbed;    /* rounds with other work on the machine */
        uint64_t estimates;
        uint64_t unclean;  /* estimates with too few undisturbed visits */
        uint64_t hurried;  /* estimates with fewer visits than wanted */
        json_t *left_out;  /* impossible figures: names with reasons */
        json_t *unvisited; /* names of figures with too few undisturbed visits */
        json_t *drifted;   /* names of figures that changed meanwhile, with percents */
};

/* The least memory for a survey. */
#define SURVEY_MEMORY_MIN (UINT64_C(64) << 20)

/* The data size for a machine with MEMORY_BYTES available; UINT64_MAX: no limit, the
 * caches decide. */
uint64_t survey_data_bytes(uint64_t memory_bytes);

/* Whether DATA_BYTES suffice to distinguish memory from the last cache: at least twice
 * its size. */
bool survey_reaches_memory(uint64_t data_bytes);

/* Measures all parts. DOCUMENT gets each result under its key, without figures that could
 * not be measured. */
int survey_run(struct survey *survey, json_t *document, struct diag *diag);

/* Measures latency under load only, for switched-off prefetchers. */
int survey_run_loaded(struct survey *survey, json_t *document, const char *key,
                      struct diag *diag);

/* ---- for the parts ---- */

/* A part of the machine: opened once, visited in each sweep. Its result may use results
 * of earlier parts. */
struct survey_part {
        const char *key;
        bool several;       /* uses several CPUs together */
        size_t state_bytes; /* zero at first */
        int (*open)(struct survey *survey, void *state, struct diag *diag); /* or NULL */
        int (*sweep)(struct survey *survey, void *state, struct diag *diag);
        json_t *(*result)(struct survey *survey, void *state); /* NULL: no memory */
        void (*close)(void *state); /* frees a complete or partial state; may be NULL */
};

extern const struct survey_part survey_clocks;     /* sets core_ghz */
extern const struct survey_part survey_caches;     /* latency over size */
extern const struct survey_part survey_tenants;    /* other users of the last cache */
extern const struct survey_part survey_tlb;        /* latency over pages touched */
extern const struct survey_part survey_memory;     /* for each NUMA node; sets idle_ns */
extern const struct survey_part survey_core;       /* overlap, branches and calls */
extern const struct survey_part survey_window;     /* instructions in flight */
extern const struct survey_part survey_sets;       /* lines to one set of L1 */
extern const struct survey_part survey_arithmetic; /* latencies of instructions */
extern const struct survey_part survey_kernel;     /* page faults and system calls */
extern const struct survey_part survey_bandwidth;  /* by threads, and of each cache */
extern const struct survey_part survey_sharing;    /* lines modified by other cores */
extern const struct survey_part survey_loaded;     /* latency under load, and its knee */

/* Whether more visits to SERIES would help: too few visits, or a FIGURE with a large
 * error. */
bool survey_wants(const struct survey *survey, const struct series *series, bool figure);

/* Times rounds of the chase with TIMER beside LOAD (NULL: idle), for about a tick of the
 * kernel's clock. Adds their combined value to SERIES. The chase runs on the first CPU.
 */
void survey_visit(struct survey *survey, chase_timer *timer, struct chase *chase,
                  const struct load *load, struct series *series);

/* Visits each of COUNT chases in turn; SERIES has a series for each. */
void survey_chases(struct survey *survey, chase_timer *timer, struct chase *chases,
                   size_t count, struct series *const *series);

/* The result of a visit. */
struct visit {
        double value;
        enum disturbance disturbance;
};

/* Runs COUNT rounds of KERNEL. VISIT gets their combined value, in ns per unit; a round
 * has UNITS units (accesses of a thread, bytes, ...). */
int survey_rounds(struct survey *survey, const struct kernel *kernel,
                  const struct kernel_parameters *parameters, size_t count, double units,
                  struct visit *visit, struct diag *diag);

/* Times rounds of RUN on the first CPU; the repeats of a visit last about a tick. Adds
 * the shortest round to SERIES, in ns per unit; a repeat has UNITS units. Without memory
 * accesses, code takes whole cycles, and disturbances only add time. */
void survey_code(struct survey *survey, void (*run)(uint64_t repeats), double units,
                 struct series *series);

/* The CPUs' places before and after a visit. */
struct stay {
        size_t before, after; /* readings of the places */
};

/* Reads the places of the first CPUS CPUs before a visit. NOW is false if they are apart:
 * the visit must wait. */
int survey_arrive(struct survey *survey, size_t cpus, struct stay *stay, bool *now,
                  struct diag *diag);

/* Reads the places after a visit. */
int survey_depart(struct survey *survey, size_t cpus, struct stay *stay,
                  struct diag *diag);

/* The place of the CPUs in STAY, by the current knowledge; PLACES if it changed. */
enum place survey_place(const struct survey *survey, const struct stay *stay);

/* Whether the CPUs were together all the time. If not, the visit saw a different machine.
 */
bool survey_stayed(const struct survey *survey, const struct stay *stay);

/* Visits to a figure that needs several CPUs. */
struct visits {
        struct visit visits[SERIES_MAX];
        struct stay stays[SERIES_MAX];
        size_t count;
};

/* SERIES gets the results of visits with the CPUs in PLACE. */
void survey_read_visits(const struct survey *survey, const struct visits *visits,
                        enum place place, struct series *series);

/* The value of visits while the first CPU and CPU number OTHER of the list were in PLACE.
 * NAN if the visits are too few, or OTHER is not the second CPU: only neighbours are
 * located, and another pair between them may be in PLACE. */
double survey_value_in(const struct survey *survey, const struct visits *visits,
                       size_t other, enum place place);

/* Whether more visits would help; see survey_wants. */
bool survey_wants_visit(const struct survey *survey, const struct visits *visits);

/* The combined result of ROUNDS, which must not be empty. */
struct visit survey_end_visit(struct survey *survey, const struct series *rounds);

/* The same, and adds the value to SERIES. */
void survey_add_visit(struct survey *survey, const struct series *rounds,
                      struct series *series);

/* The estimate of SERIES. */
struct estimate survey_estimate(struct survey *survey, const struct series *series);

/* The value of figure NAME if it is known: both halves of its visits agree. Otherwise
 * NAN, and the figure is listed as left out. */
double survey_known(struct survey *survey, const struct estimate *estimate,
                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Whether both halves of the visits agree. A quick survey also believes few visits, whose
 * error is unknown. */
bool survey_repeats(const struct survey *survey, const struct estimate *estimate);

/* Adds figure NAME under KEY if it is known. Returns false if not. */
bool survey_add(struct survey *survey, json_t *json, const char *key, const char *name,
                struct estimate estimate);

/* Adds the number of overlapping memory loads to CORE: the latency of dependent loads
 * over the time of independent loads, visited in GATHER_NS. If not possible, lists the
 * figure as left out. */
void survey_misses_at_once(struct survey *survey, const struct series *gather_ns,
                           json_t *core);

/* Records the error of a figure, named by FORMAT. Sizes between two cache levels are no
 * figures: their latency may be of either level. */
void survey_noise(struct survey *survey, double error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records that a figure, named by FORMAT with the reason, is not in the result. */
void survey_leave_out(struct survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* VALUE as JSON, null for NAN. */
json_t *survey_number(double value);

/* Whether time is over for figures that have a visit. */
bool survey_is_late(const struct survey *survey);

/* Prints the current step on a terminal. */
void survey_progress(const struct survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
