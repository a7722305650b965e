/* SPDX-License-Identifier: MIT */
/* See trial.h. doc/memlag-validate.md lists the expectations. */
#include "trial.h"

#include <math.h>

enum {
        MULTIPLICATIONS = 24, /* M17 */
        /* Steps by line pairs (B20): the line that an adjacent-line prefetcher adds is
         * never used. */
        PAIR_BYTES = 2 * KERNEL_LINE_BYTES
};

const char *concept_name(enum concept concept)
{
        static const char *const names[] = {
#define CONCEPT_NAME(symbol, name, meaning) name,
            CONCEPTS(CONCEPT_NAME)
#undef CONCEPT_NAME
        };
        return names[concept];
}

/* ---- the kernels ---- */

struct trial trial_of(enum trial_id id, const struct trial_sizes *sizes)
{
        static const struct {
                const char *name;
                const struct kernel *kernel;
                bool prefetchable;
        } all[TRIAL_COUNT] = {
            [TRIAL_L1] = {"chase in L1", &kernel_chase, false},
            [TRIAL_L2] = {"chase in L2", &kernel_chase, false},
            [TRIAL_L3] = {"chase in L3", &kernel_chase, false},
            [TRIAL_MEMORY] = {"chase", &kernel_chase, false},
            [TRIAL_INDEPENDENT] = {"chase, 24 independent", &kernel_chase, false},
            [TRIAL_DEPENDENT] = {"chase, 24 dependent", &kernel_chase, false},
            [TRIAL_PAIRS] = {"pairs", &kernel_pairs, false},
            [TRIAL_SEQUENTIAL] = {"sequential chase", &kernel_chase, true},
            [TRIAL_LOAD] = {"load", &kernel_load, true},
            [TRIAL_MEMREAD] = {"memread", &kernel_memread, true},
            [TRIAL_STORE] = {"store", &kernel_store, true},
            [TRIAL_TRIAD] = {"triad", &kernel_triad, true},
        };
        struct trial trial = {.id = id,
                              .name = all[id].name,
                              .kernel = all[id].kernel,
                              .parameters = all[id].kernel->defaults,
                              .prefetchable = all[id].prefetchable};
        struct kernel_parameters *parameters = &trial.parameters;
        parameters->size_bytes = id == TRIAL_L1   ? sizes->l1_bytes / 2
                                 : id == TRIAL_L2 ? sizes->l2_bytes / 2
                                 : id == TRIAL_L3 ? sizes->l3_bytes / 2
                                                  : sizes->memory_bytes;
        parameters->threads = 1;
        parameters->passes = 1;
        parameters->node = -1;
        parameters->sequential = id == TRIAL_SEQUENTIAL;
        if (id == TRIAL_L3 || id == TRIAL_MEMORY || id == TRIAL_INDEPENDENT ||
            id == TRIAL_DEPENDENT || id == TRIAL_PAIRS)
                parameters->stride_bytes = PAIR_BYTES;
        if (id == TRIAL_INDEPENDENT)
                parameters->independent_multiplications = MULTIPLICATIONS;
        if (id == TRIAL_DEPENDENT)
                parameters->dependent_multiplications = MULTIPLICATIONS;
        if (id == TRIAL_LOAD)
                parameters->width_bits = 64;
        trial.kernel->count(parameters, &trial.counts);
        return trial;
}

/* ---- expected counts ---- */

static const struct expectation UNKNOWN = {NAN, NAN, NAN};

static struct expectation exactly(double value, double scale)
{
        return (struct expectation){value, value, scale};
}

static bool is_chase(const struct trial *trial)
{
        return trial->kernel == &kernel_chase;
}

static struct expectation instructions(const struct trial *trial)
{
        double steps = (double)trial->counts.accesses;
        switch (trial->id) {
        case TRIAL_L1:
        case TRIAL_L2:
        case TRIAL_L3:
        case TRIAL_MEMORY:
        case TRIAL_SEQUENTIAL:
                return exactly(3 * steps, steps);
        case TRIAL_PAIRS:
                return exactly(4 * steps, steps);
        case TRIAL_INDEPENDENT:
        case TRIAL_DEPENDENT:
                return exactly((4 + MULTIPLICATIONS) * steps, steps);
        default:
                return UNKNOWN;
        }
}

/* FIRST: counts the load that misses. SECOND: counts the load that hits the outstanding
 * line. */
static struct expectation l1_misses(const struct trial *trial, bool first, bool second)
{
        double loads = (double)trial->counts.loads;
        double lines = (double)trial->counts.accesses;
        if (trial->id == TRIAL_PAIRS)
                return exactly((first + second) * lines, lines);
        if (trial->id == TRIAL_L1)
                return exactly(0, loads);
        if (is_chase(trial) && !trial->prefetchable)
                return exactly(first ? loads : 0, loads);
        if (trial->id == TRIAL_STORE)
                return exactly(0, lines);
        if (trial->counts.stores || !trial->prefetchable)
                return UNKNOWN;
        /* Timely prefetches are unknown; each line misses at most once. */
        double most = second ? loads : (double)trial->counts.lines_read;
        return (struct expectation){0, most, most};
}

static bool is_in_cache(const struct trial *trial)
{
        return trial->id == TRIAL_L1 || trial->id == TRIAL_L2 || trial->id == TRIAL_L3;
}

static struct expectation lines_read(const struct trial *trial)
{
        double lines = (double)trial->counts.lines_read;
        return exactly(is_in_cache(trial) ? 0 : lines, lines);
}

/* Lines written without a load are read for the stores. Counts beyond L2 and beyond L3
 * are equal, unless L3 holds the data. */
static struct expectation lines_demanded(const struct trial *trial, bool by_stores)
{
        double lines = (double)trial->counts.lines_read;
        double stored = (double)trial->counts.lines_written;
        if (trial->id == TRIAL_L3 && !by_stores)
                return UNKNOWN;
        if (is_in_cache(trial))
                return exactly(0, lines);
        return exactly(by_stores ? stored : lines - stored, lines);
}

static struct expectation lines_written(const struct trial *trial)
{
        return exactly((double)trial->counts.lines_written,
                       (double)trial->counts.accesses);
}

/* From LOW to HIGH cycles per step. */
static struct expectation per_step(const struct trial *trial, double low, double high)
{
        double steps = (double)trial->counts.accesses;
        return (struct expectation){low * steps, high * steps, high * steps};
}

/* One miss is always outstanding, except between its arrival and the next request.
 * Multiplications in the chain leave none outstanding. */
static struct expectation pending(const struct trial *trial, double cycles, double plain)
{
        double step = cycles / (double)trial->counts.accesses;
        if (trial->id == TRIAL_L1)
                return exactly(0, cycles);
        if (trial->id == TRIAL_MEMORY || trial->id == TRIAL_INDEPENDENT)
                return per_step(trial, 0.85 * step, step);
        if (trial->id == TRIAL_DEPENDENT)
                return per_step(trial, 0.85 * plain, plain);
        return UNKNOWN;
}

/* Streams may fill the queue, but how often is unknown. */
static struct expectation queue_full(const struct trial *trial, double cycles)
{
        if (is_chase(trial) && !trial->prefetchable)
                return exactly(0, cycles);
        return trial->prefetchable ? (struct expectation){0, cycles, cycles} : UNKNOWN;
}

static struct expectation fill_buffers_full(const struct trial *trial, double cycles)
{
        if (is_chase(trial) && !trial->prefetchable)
                return exactly(0, cycles);
        if (trial->id == TRIAL_MEMREAD)
                return (struct expectation){0.1 * cycles, 2 * cycles, cycles};
        return UNKNOWN;
}

/* A step's few instructions execute in up to 8 cycles; the exact number is unknown. A
 * multiplication occupies one of its three cycles. Independent ones take at most a cycle
 * each, and at least a sixth on a core with six multipliers. */
enum { BUSY_CYCLES_MAX = 8, MULTIPLICATIONS_AT_ONCE_MAX = 6 };
static const double BUSY_INDEPENDENT_MIN =
    (double)MULTIPLICATIONS / MULTIPLICATIONS_AT_ONCE_MAX;

static struct expectation stalls(const struct trial *trial, double cycles)
{
        double step = cycles / (double)trial->counts.accesses;
        if (trial->id == TRIAL_MEMORY)
                return per_step(trial, step - BUSY_CYCLES_MAX, step);
        if (trial->id == TRIAL_INDEPENDENT)
                return per_step(trial, step - MULTIPLICATIONS - BUSY_CYCLES_MAX,
                                step - BUSY_INDEPENDENT_MIN);
        if (trial->id == TRIAL_DEPENDENT)
                return per_step(trial, step - MULTIPLICATIONS - BUSY_CYCLES_MAX,
                                step - MULTIPLICATIONS);
        return UNKNOWN;
}

/* LAST: the last cache, as TRIAL_L1 to TRIAL_L3, whose hits cause no such stalls. */
static struct expectation memory_stalls(const struct trial *trial, enum trial_id last,
                                        double cycles, double plain)
{
        double step = cycles / (double)trial->counts.accesses;
        if (is_in_cache(trial))
                return trial->id <= last ? exactly(0, cycles)
                                         : per_step(trial, 0.2 * step, step);
        if (trial->id == TRIAL_MEMORY)
                return per_step(trial, step - 2 * BUSY_CYCLES_MAX, step);
        if (trial->id == TRIAL_INDEPENDENT)
                return per_step(trial, step - MULTIPLICATIONS - 2 * BUSY_CYCLES_MAX,
                                step - BUSY_INDEPENDENT_MIN);
        if (trial->id == TRIAL_DEPENDENT)
                return per_step(trial, plain - 2 * BUSY_CYCLES_MAX, plain);
        return UNKNOWN;
}

static struct expectation store_stalls(const struct trial *trial, double cycles)
{
        if (trial->id == TRIAL_STORE)
                return (struct expectation){0.2 * cycles, cycles, cycles};
        return trial->counts.stores ? UNKNOWN : exactly(0, cycles);
}

struct expectation trial_expects(const struct trial *trial, enum concept concept,
                                 double cycles, double plain_cycles)
{
        double accesses = (double)trial->counts.accesses;
        switch (concept) {
        case CONCEPT_INSTRUCTIONS:
                return instructions(trial);
        case CONCEPT_LOADS:
                return exactly((double)trial->counts.loads, accesses);
        case CONCEPT_STORES:
                return exactly((double)trial->counts.stores, accesses);
        case CONCEPT_L1_MISS:
                return l1_misses(trial, true, false);
        case CONCEPT_FB_HIT:
                return l1_misses(trial, false, true);
        case CONCEPT_L1_MISS_ANY:
                return l1_misses(trial, true, true);
        case CONCEPT_DRAM_READ:
                return lines_read(trial);
        case CONCEPT_DRAM_WRITE:
                return lines_written(trial);
        case CONCEPT_DEMAND_READ:
                return lines_demanded(trial, false);
        case CONCEPT_DEMAND_RFO:
                return lines_demanded(trial, true);
        case CONCEPT_PENDING:
                return pending(trial, cycles, plain_cycles);
        case CONCEPT_FB_FULL:
                return fill_buffers_full(trial, cycles);
        case CONCEPT_SQ_FULL:
                return queue_full(trial, cycles);
        case CONCEPT_STALLS:
                return stalls(trial, cycles);
        case CONCEPT_MEMORY_STALLS:
                return memory_stalls(trial, TRIAL_L1, cycles, plain_cycles);
        case CONCEPT_L2_MISS_STALLS:
                return memory_stalls(trial, TRIAL_L2, cycles, plain_cycles);
        case CONCEPT_L3_MISS_STALLS:
                return memory_stalls(trial, TRIAL_L3, cycles, plain_cycles);
        case CONCEPT_STORE_STALLS:
                return store_stalls(trial, cycles);
        default:
                return UNKNOWN;
        }
}

uint64_t trial_passes(const struct trial *trial)
{
        uint64_t accesses = trial->id == TRIAL_L1 ? 1000000 : 50000;
        return 1 + accesses / trial->counts.accesses;
}

bool trial_tells(const struct trial *trial, enum concept concept)
{
        return !isnan(trial_expects(trial, concept, 1, 1).low);
}
