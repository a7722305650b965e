/* SPDX-License-Identifier: MIT */
/* Sums over samples and their statistics. Knows nothing of the database. */
#include "tally.h"

#include <math.h>
#include <string.h>

/* Two-sided 95 % of the normal distribution. */
static const double z = 1.959964;

double tally_cost(const struct sample_facts *sample)
{
        return sample->latency_cycles >= 0 ? (double)sample->latency_cycles
                                           : (double)sample->stall_ns;
}

int tally_part(const struct sample_facts *sample, enum answer contended, enum cause cause)
{
        if (cause == CAUSE_CACHE)
                return sample->level == LEVEL_L2   ? TALLY_L2
                       : sample->level == LEVEL_L3 ? TALLY_L3
                                                   : CAUSE_CACHE;
        bool told =
            contended != ANSWER_UNKNOWN && sample->bandwidth_short != ANSWER_UNKNOWN;
        return cause == CAUSE_DRAM && (!told || sample->without_waits) ? TALLY_UNTOLD
                                                                       : (int)cause;
}

const char *tally_part_detail(int part)
{
        static const char *const details[TALLY_PARTS] = {
            [TALLY_L2] = "L2",
            [TALLY_L3] = "L3",
        };
        return details[part] ? details[part] : "";
}

enum verdict tally_part_verdict(int part)
{
        static const enum verdict verdicts[TALLY_PARTS] = {
            [TALLY_UNTOLD] = VERDICT_DRAM,
            [TALLY_L2] = VERDICT_CACHE,
            [TALLY_L3] = VERDICT_CACHE,
        };
        return part < CAUSE_COUNT ? verdict_of_cause((enum cause)part) : verdicts[part];
}

static void add_latency(struct tally *tally, enum cause cause, double cycles)
{
        tally->latency_cycles += cycles;
        tally->cause_latency_cycles[cause] += cycles;
}

static void add_contended(struct contended_tally *tally,
                          const struct sample_facts *sample, enum answer contended)
{
        tally->samples += contended == ANSWER_YES;
        tally->untold += contended == ANSWER_UNKNOWN;
        tally->told +=
            contended != ANSWER_UNKNOWN && sample->bandwidth_short != ANSWER_UNKNOWN;
}

void short_tally_add(struct short_tally *tally, const struct sample_facts *sample,
                     enum answer contended)
{
        tally->samples++;
        add_contended(&tally->contended, sample, contended);
        if (sample->retire_latency_cycles >= 0) {
                tally->retirements++;
                tally->retire_cycles += (double)sample->retire_latency_cycles;
        }
        if (sample->latency_cycles < 0)
                return;
        tally->latencies++;
        tally->latency_cycles += (double)sample->latency_cycles;
}

static void add_retirement(struct tally *tally, const struct sample_facts *sample,
                           enum cause cause)
{
        double cycles = (double)sample->retire_latency_cycles;
        tally->retirements++;
        tally->retire_cycles += cycles;
        tally->retire_squared += cycles * cycles;
        tally->cause_retire_cycles[cause] += cycles;
}

static void add_cache(struct tally *tally, const struct sample_facts *sample)
{
        struct cache_tally *cache = sample->level == LEVEL_L2   ? &tally->caches[0]
                                    : sample->level == LEVEL_L3 ? &tally->caches[1]
                                                                : NULL;
        if (!cache)
                return;
        cache->samples++;
        cache->latency_cycles += fmax(0, (double)sample->latency_cycles);
        cache->retire_cycles += fmax(0, (double)sample->retire_latency_cycles);
}

void tally_add(struct tally *tally, const struct sample_facts *sample,
               enum answer contended, enum cause cause)
{
        tally->samples++;
        tally->levels += sample->level != LEVEL_NA;
        tally->dram_samples += level_is_dram(sample->level);
        add_contended(&tally->contended, sample, contended);
        double cost = tally_cost(sample);
        tally->cost += cost;
        tally->cost_squared += cost * cost;
        if (sample->retire_latency_cycles >= 0)
                add_retirement(tally, sample, cause);
        if (cause == CAUSE_CACHE)
                add_cache(tally, sample);
        if (sample->latency_cycles < 0)
                return;
        tally->latencies++;
        add_latency(tally, cause, cost);
        longest_add(&tally->longest, cost, (unsigned char)cause);
}

void tally_add_faults(struct tally *tally, int64_t faults, double kernel_cycles)
{
        tally->faults += faults;
        tally->fault_cycles += kernel_cycles;
}

/* The effective number of samples (Kish): as many samples with equal stalls give the same
 * precision. */
static double told_stalls(const struct tally *tally)
{
        return tally->retire_squared > 0
                   ? tally->retire_cycles * tally->retire_cycles / tally->retire_squared
                   : 0;
}

bool tally_tells_stalls(const struct tally *tally)
{
        return told_stalls(tally) >= VERDICT_STALLS_MIN;
}

/* Hits of a fill buffer (LFB) have no level: assume the levels of the requesting loads.
 */
enum level tally_cache_level(const struct tally *tally)
{
        const struct cache_tally *l2 = &tally->caches[0], *l3 = &tally->caches[1];
        bool stalls =
            tally_tells_stalls(tally) && l2->retire_cycles + l3->retire_cycles > 0;
        double nearer = stalls ? l2->retire_cycles : l2->latency_cycles;
        double farther = stalls ? l3->retire_cycles : l3->latency_cycles;
        if (l2->samples + l3->samples < ORIGIN_SAMPLES_MIN)
                return LEVEL_NA;
        return nearer > farther ? LEVEL_L2 : LEVEL_L3;
}

struct verdict_facts tally_facts(const struct tally *tally, double loads_per_cycle,
                                 double total_cycles)
{
        const struct longest *longest = &tally->longest;
        double limit = longest_limit(longest, tally->latencies, tally->latency_cycles);
        struct tally cut = *tally;
        for (int i = 0; i < LONGEST_COUNT && longest->cycles[i] > limit; i++)
                add_latency(&cut, (enum cause)longest->label[i],
                            limit - longest->cycles[i]);
        struct verdict_facts facts = {
            .latencies = cut.latencies,
            .cost_ratio = cut.latency_cycles * loads_per_cycle,
            .cycle_ratio = loads_per_cycle,
            .fault_ratio = tally->fault_cycles / total_cycles,
            .stalls = told_stalls(tally),
            .bandwidth_untold = tally->contended.untold > tally->contended.told,
        };
        memcpy(facts.cause_latency_cycles, cut.cause_latency_cycles,
               sizeof(facts.cause_latency_cycles));
        memcpy(facts.cause_retire_cycles, tally->cause_retire_cycles,
               sizeof(facts.cause_retire_cycles));
        return facts;
}

int64_t tally_contended(const struct contended_tally *contended)
{
        bool known = contended->told > 0 || contended->untold == 0;
        return known ? contended->samples : -1;
}

int64_t tally_dram(const struct tally *tally)
{
        return tally->levels > 0 ? tally->dram_samples : -1;
}

double tally_mean_latency(double latency_cycles, int64_t latencies)
{
        return latencies ? latency_cycles / (double)latencies : NAN;
}

/* The size of a simple random sample with the same variance of share S. At the limits of
 * S the variance is always zero: use the effective number of samples (Kish) instead. */
static double effective_size(double s, const struct tally *part,
                             const struct tally *whole)
{
        double total = whole->cost * whole->cost;
        double part_squares = part->cost_squared;
        double other_squares = fmax(0, whole->cost_squared - part_squares);
        double variance =
            ((1 - s) * (1 - s) * part_squares + s * s * other_squares) / total;
        double kish = total / whole->cost_squared;
        double spread = s * (1 - s);
        return variance > 0 && spread > 0 ? spread / variance : kish;
}

struct share sampled_share(double ratio, double n)
{
        double s = ratio;
        double centre = (s + z * z / (2 * n)) / (1 + z * z / n);
        double half = z / (1 + z * z / n) * sqrt(s * (1 - s) / n + z * z / (4 * n * n));
        return (struct share){
            .value = s, .low = fmax(0, centre - half), .high = fmin(1, centre + half)};
}

struct share cost_share(const struct tally *part, const struct tally *whole)
{
        if (!(whole->cost > 0))
                return (struct share){NAN, NAN, NAN};
        double ratio = fmin(1, part->cost / whole->cost);
        return sampled_share(ratio, effective_size(ratio, part, whole));
}

/* The variance of PART's retire_cycles, as a sum over all samples of WHOLE. Samples
 * outside PART count as zero. */
static double retire_variance(const struct tally *part, const struct tally *whole,
                              double loads_per_sample)
{
        double n = (double)whole->retirements;
        double squares =
            part->retire_squared - part->retire_cycles * part->retire_cycles / n;
        return n > 1 ? fmax(0, squares * n / (n - 1) * (1 - 1 / loads_per_sample))
                     : part->retire_squared;
}

/* A PART without stalls has no event size of its own. WHOLE's is too large where PART's
 * accesses are faster: none stalls for longer than its latency. */
static double event_size(const struct tally *part, const struct tally *whole,
                         double loads_per_sample)
{
        const struct tally *known = part->retire_cycles > 0 ? part : whole;
        double event =
            known->retire_cycles > 0
                ? retire_variance(known, whole, loads_per_sample) / known->retire_cycles
                : 0;
        return !(part->retire_cycles > 0) && part->cost > 0
                   ? fmin(event, part->cost_squared / part->cost)
                   : event;
}

struct share tally_stalled(const struct tally *part, const struct tally *whole,
                           double loads_per_sample, double loads_per_cycle)
{
        if (!part->retirements || isnan(loads_per_cycle))
                return (struct share){NAN, NAN, NAN};
        double sum = part->retire_cycles;
        double event = event_size(part, whole, loads_per_sample);
        /* The product of both ends is the square of the sum. */
        double high =
            sum + z * z * event / 2 + z * sqrt(event * sum + z * z * event * event / 4);
        double low = high > 0 ? sum * sum / high : 0;
        return (struct share){.value = sum * loads_per_cycle,
                              .low = fmin(1, low * loads_per_cycle),
                              .high = fmin(1, high * loads_per_cycle)};
}
