/* SPDX-License-Identifier: MIT */
/* Sums over samples and their statistics. Knows nothing of the database. */
#include "tally.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void tally_add(struct tally *tally, const struct sample_facts *sample,
               enum answer contended, enum cause cause)
{
        tally->samples++;
        tally->dram_samples += level_is_dram(sample->level);
        tally->contended_samples += contended == ANSWER_YES;
        bool timed = sample->latency_cycles >= 0;
        double cost = timed ? (double)sample->latency_cycles : (double)sample->stall_ns;
        tally->cost += cost;
        tally->cost_squared += cost * cost;
        if (!timed)
                return;
        tally->latencies++;
        tally->latency_cycles += cost;
        tally->cause_latency_cycles[cause] += cost;
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

static int compare_int64(const void *a, const void *b)
{
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
        return (x > y) - (x < y);
}

int64_t percentile(int64_t *values, size_t count, unsigned percent)
{
        qsort(values, count, sizeof(*values), compare_int64);
        size_t rank = (count * percent + 99) / 100;
        return values[rank ? rank - 1 : 0];
}

int group_percentiles(const uint32_t *group, const int64_t *values, size_t count,
                      size_t group_count, unsigned percent, double *result)
{
        /* Where each group's values begin; one place ahead while they are filled in. */
        size_t *start = calloc(group_count + 2, sizeof(*start));
        int64_t *sorted = calloc(count + 1, sizeof(*sorted));
        if (!start || !sorted) {
                free(start);
                free(sorted);
                return -ENOMEM;
        }
        for (size_t i = 0; i < count; i++)
                start[group[i] + 2]++;
        for (size_t g = 2; g < group_count + 2; g++)
                start[g] += start[g - 1];
        for (size_t i = 0; i < count; i++)
                sorted[start[group[i] + 1]++] = values[i];
        for (size_t g = 0; g < group_count; g++) {
                size_t members = start[g + 1] - start[g];
                result[g] = members
                                ? (double)percentile(sorted + start[g], members, percent)
                                : NAN;
        }
        free(start);
        free(sorted);
        return 0;
}
