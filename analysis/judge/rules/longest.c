/* SPDX-License-Identifier: MIT */
/* See longest.h. */
#include "longest.h"

void longest_add(struct longest *longest, double cycles, unsigned char label)
{
        int i = LONGEST_COUNT - 1;
        if (cycles <= longest->cycles[i])
                return;
        for (; i > 0 && longest->cycles[i - 1] < cycles; i--) {
                longest->cycles[i] = longest->cycles[i - 1];
                longest->label[i] = longest->label[i - 1];
        }
        longest->cycles[i] = cycles;
        longest->label[i] = label;
}

/* The shortest of the stored samples; 0: none. */
static double shortest(const struct longest *longest)
{
        int i = LONGEST_COUNT - 1;
        while (i > 0 && longest->cycles[i] <= 0)
                i--;
        return longest->cycles[i];
}

/* If the K longest samples are cut to L and no others, L is a tenth of K L plus the sum
 * of the others. */
double longest_limit(const struct longest *longest, int64_t samples, double cycles)
{
        if (samples < LONGEST_PARTS)
                return shortest(longest);
        double others = cycles;
        for (int k = 0; k < LONGEST_COUNT; k++) {
                double limit = others / (LONGEST_PARTS - k);
                if (longest->cycles[k] <= limit)
                        return limit;
                others -= longest->cycles[k];
        }
        return others;
}
