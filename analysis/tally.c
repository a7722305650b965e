/* SPDX-License-Identifier: MIT */
/* Sums over samples and their statistics. Knows nothing of the database. */
#include "tally.h"

#include <math.h>

double tally_cost(const struct sample_facts *sample)
{
        return sample->latency_cycles >= 0 ? (double)sample->latency_cycles
                                           : (double)sample->stall_ns;
}

void tally_add(struct tally *tally, const struct sample_facts *sample,
               enum answer contended, enum cause cause)
{
        tally->samples++;
        tally->dram_samples += level_is_dram(sample->level);
        tally->contended_samples += contended == ANSWER_YES;
        tally->untold_samples += contended == ANSWER_UNKNOWN;
        tally->told_samples +=
            contended != ANSWER_UNKNOWN && sample->bandwidth_short != ANSWER_UNKNOWN;
        double cost = tally_cost(sample);
        tally->cost += cost;
        tally->cost_squared += cost * cost;
        if (sample->latency_cycles < 0)
                return;
        tally->latencies++;
        tally->latency_cycles += cost;
        tally->cause_latency_cycles[cause] += cost;
        if (cause != CAUSE_DRAM || !sample_crowded(sample))
                return;
        tally->crowded_latency_cycles += cost;
        tally->crowded_asking_cycles += sample->level == LEVEL_LFB ? 0 : cost;
}

int64_t tally_contended(const struct tally *tally)
{
        bool known = tally->told_samples > 0 || tally->untold_samples == 0;
        return known ? tally->contended_samples : -1;
}

double tally_mean_latency(const struct tally *tally)
{
        return tally->latencies ? tally->latency_cycles / (double)tally->latencies : NAN;
}

/* The size of a simple random sample that would know the share S as well. With S
 * at its limits the variance is zero whatever was sampled; the samples' own
 * effective number (Kish) stands in. */
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

struct share cost_share(const struct tally *part, const struct tally *whole)
{
        static const double z = 1.959964; /* two-sided 95 % of the normal distribution */
        if (!(whole->cost > 0))
                return (struct share){NAN, NAN, NAN};
        double s = fmin(1, part->cost / whole->cost);
        double n = effective_size(s, part, whole);
        double centre = (s + z * z / (2 * n)) / (1 + z * z / n);
        double half = z / (1 + z * z / n) * sqrt(s * (1 - s) / n + z * z / (4 * n * n));
        return (struct share){
            .value = s, .low = fmax(0, centre - half), .high = fmin(1, centre + half)};
}
