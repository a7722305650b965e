/* SPDX-License-Identifier: MIT */
/* Measures a machine, part by part, in sweeps over all parts: what disturbs the machine
 * for a while is then in some visits to each thing and not in all to one. */
#ifndef MEMLAG_SURVEY_H
#define MEMLAG_SURVEY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "curve.h"
#include "estimate.h"
#include "loaded.h"
#include "measure.h"
#include "places.h"
#include "point_counters.h"
#include "point_samples.h"

struct survey {
        struct cpu_list cpus;
        uint64_t memory_bytes; /* that may be used */
        uint64_t data_bytes;   /* a size at which no cache matters, if memory allows */
        bool reaches_memory;   /* see survey_reaches_memory */
        double round_seconds;  /* of one timing */
        size_t sweep_visits;   /* to each thing in a sweep */
        size_t visits_min;   /* to each thing in all; sweeps end when they are done ... */
        double error_aim;    /* ... and each figure's error is below this */
        double seconds;      /* or when this time is over; */
        double last_seconds; /* after this, what has no visit stays without */
        bool quick;          /* fewer points */
        bool progress;       /* told on stderr */
        const struct point_events *events;  /* for the LMRL; NULL: not counted */
        const struct sample_event *samples; /* for the sampling latency; NULL: none */
        struct places *places; /* of the CPUs; NULL: they stay where they are */

        double end_seconds;  /* by clock_seconds: from then on only what has no visit yet
                                is visited */
        double over_seconds; /* the same: from then on nothing is visited */
        uint64_t visits;     /* of the present sweep */
        bool waits;          /* in it something waited for CPUs that were apart ... */
        bool waited;         /* ... or in any before */
        double core_ghz;
        struct latency_point largest; /* of the caches' curve; size 0: none */
        double idle_ns;               /* of memory; NAN: not measured */
        double worst_error;    /* of all figures of the result; NAN: one is unknown */
        char worst_figure[64]; /* which has it */
        uint64_t rounds;       /* of all visits */
        uint64_t disturbed;    /* of these, during which something else was at work */
        uint64_t estimates;
        uint64_t unclean;  /* estimates that had too few undisturbed visits */
        uint64_t hurried;  /* estimates with fewer visits than wanted */
        json_t *left_out;  /* figures that could not be trusted: names with the reason */
        json_t *unvisited; /* names of figures that no visit was made for */
};

/* The least memory that can be measured with. */
#define SURVEY_MEMORY_MIN (UINT64_C(64) << 20)

/* The data size for a machine where MEMORY_BYTES may be used; UINT64_MAX: all that the
 * caches ask for. */
uint64_t survey_data_bytes(uint64_t memory_bytes);

/* Whether DATA_BYTES are enough to tell memory from the last cache: twice that. */
bool survey_reaches_memory(uint64_t data_bytes);

/* Measures all parts and puts each into DOCUMENT under its key, in the words of
 * doc/memlag-calibrate.md; what cannot be measured is left out there. */
int survey_run(struct survey *survey, json_t *document, struct diag *diag);

/* Latency under load alone, as when the prefetchers are off. */
int survey_run_loaded(struct survey *survey, json_t *document, const char *key,
                      struct diag *diag);

/* ---- for the parts ---- */

/* A part of the machine: its state is made once, visited in each sweep, and gives a
 * result, which may use those of the parts before. */
struct survey_part {
        const char *key;
        bool several;       /* of what several CPUs do together */
        size_t state_bytes; /* zero at first */
        int (*open)(struct survey *survey, void *state, struct diag *diag); /* or NULL */
        int (*sweep)(struct survey *survey, void *state, struct diag *diag);
        json_t *(*result)(struct survey *survey, void *state); /* NULL: no memory */
        void (*close)(void *state); /* what open made, all or a part of it; or NULL */
};

extern const struct survey_part survey_clocks;     /* sets core_ghz */
extern const struct survey_part survey_caches;     /* latency over size */
extern const struct survey_part survey_tlb;        /* latency over pages touched */
extern const struct survey_part survey_memory;     /* of each NUMA node; sets idle_ns */
extern const struct survey_part survey_core;       /* what it can have at once */
extern const struct survey_part survey_window;     /* instructions in flight */
extern const struct survey_part survey_sets;       /* lines to one set of L1 */
extern const struct survey_part survey_arithmetic; /* latencies of instructions */
extern const struct survey_part survey_kernel;     /* page faults and system calls */
extern const struct survey_part survey_bandwidth;  /* over threads, and of each cache */
extern const struct survey_part survey_sharing;    /* of lines that others modified */
extern const struct survey_part survey_loaded; /* latency beside a load, and its knee */

/* Whether more visits could tell more than those in SERIES: there are fewer than wanted,
 * or it is the series of a FIGURE that is not known well enough. */
bool survey_wants(const struct survey *survey, const struct series *series, bool figure);

/* Has TIMER time some rounds of the chase beside LOAD (NULL: alone), for about a tick of
 * the kernel's clock, and adds to SERIES what they say together. The chase is on the
 * first CPU. */
void survey_visit(struct survey *survey, chase_timer *timer, struct chase *chase,
                  const struct load *load, struct series *series);

/* Visits each of COUNT chases, whose series are in SERIES, in turns. */
void survey_chases(struct survey *survey, chase_timer *timer, struct chase *chases,
                   size_t count, struct series *const *series);

/* What a visit said. */
struct visit {
        double value;
        enum disturbance disturbance;
};

/* Runs COUNT rounds of KERNEL and puts into VISIT what they say together, in ns for each
 * of a round's UNITS (accesses of a thread, bytes, ...). */
int survey_rounds(struct survey *survey, const struct kernel *kernel,
                  const struct kernel_parameters *parameters, size_t count, double units,
                  struct visit *visit, struct diag *diag);

/* Times rounds of RUN on the first CPU, each of as many repeats as make a visit last for
 * about a tick, and adds to SERIES the shortest, in ns for each of the UNITS in a repeat:
 * code that touches no memory takes whole cycles, and what disturbs can only add. */
void survey_code(struct survey *survey, void (*run)(uint64_t repeats), double units,
                 struct series *series);

/* Where the CPUs were before a visit and after it. */
struct stay {
        size_t before, after; /* readings of the places */
};

/* Reads where the first CPUS of the CPUs are, before a visit to what they do together.
 * NOW is false when they are apart: then it has to wait. */
int survey_arrive(struct survey *survey, size_t cpus, struct stay *stay, bool *now,
                  struct diag *diag);

/* The same after it. */
int survey_depart(struct survey *survey, size_t cpus, struct stay *stay,
                  struct diag *diag);

/* Where the CPUs were at the begin and the end of STAY, by what is known until now;
 * PLACES: not in the same place. */
enum place survey_place(const struct survey *survey, const struct stay *stay);

/* Whether they were together all the time; else the visit was to another machine than
 * the others. */
bool survey_stayed(const struct survey *survey, const struct stay *stay);

/* Visits to what several CPUs do together. */
struct visits {
        struct visit visits[SERIES_MAX];
        struct stay stays[SERIES_MAX];
        size_t count;
};

/* What those visits say that were to CPUs in PLACE. */
void survey_read_visits(const struct survey *survey, const struct visits *visits,
                        enum place place, struct series *series);

/* Of visits to what the first CPU and the one at OTHER in the list do together, the value
 * while these two were in PLACE; NAN where the visits are too few to tell, or OTHER is
 * not the second CPU: where each is beside its neighbours is read, so that another pair
 * between the two may be the one in PLACE. */
double survey_value_in(const struct survey *survey, const struct visits *visits,
                       size_t other, enum place place);

/* Whether more of them could tell more; see survey_wants. */
bool survey_wants_visit(const struct survey *survey, const struct visits *visits);

/* What ROUNDS, which must not be empty, say together. */
struct visit survey_end_visit(struct survey *survey, const struct series *rounds);

/* What SERIES says, which must not be empty. */
struct estimate survey_estimate(struct survey *survey, const struct series *series);

/* The same of what disturbances can only make longer: where all visits were disturbed,
 * the shortest is the nearest to the truth. Not so beside a load, which may be disturbed
 * too. */
struct estimate survey_shortest(struct survey *survey, const struct series *series);

/* Puts into CORE how many loads of memory are under way at once: the latency of one that
 * the next waits for, over the time of one that none waits for, of which GATHER_NS has
 * the visits; or leaves that out by name. */
void survey_misses_at_once(struct survey *survey, const struct series *gather_ns,
                           json_t *core);

/* What the step to another page costs, by visits to a chase over so many PAGES and to one
 * through as many lines side by side: of the shortest visits, as another thread of the
 * same core takes entries of the TLB at times, and at times none. */
struct page_point survey_page_cost(uint64_t pages, const struct estimate *apart,
                                   const struct estimate *dense);

/* Tells the error of a figure of the result, named by FORMAT. Sizes between two levels of
 * the caches are none: their latency is that of the one or the other, as it happens. */
void survey_noise(struct survey *survey, double error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Tells that figure NAME, which has no visits, is not in the result. */
void survey_leave_unvisited(struct survey *survey, const char *name);

/* Tells that a figure, named with the reason by FORMAT, is not in the result. */
void survey_leave_out(struct survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether SERIES tells anything; if not, leaves out its figure NAME. */
bool survey_trusts(struct survey *survey, const struct series *series, const char *name);

/* VALUE; null for NAN, which JSON has not. */
json_t *survey_number(double value);

/* Whether the time is up for what has a visit. */
bool survey_is_late(const struct survey *survey);

/* Says on a terminal what is being done. */
void survey_progress(const struct survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
