/* SPDX-License-Identifier: MIT */
/* Capacity and traffic of a shared cache from two cliffs. */
#include "tenants.h"

#include <math.h>
#include <stdbool.h>

enum { HALVINGS = 40, LINE_BYTES = 64 };

/* Cliffs nearer to each other are the same, within noise. */
static const double SAME = 1.15;

/* The probability that at most MOST lines come, of MEAN on the average. */
static double at_most(double most, double mean)
{
        double term = exp(-mean), sum = 0;
        for (int lines = 0; lines <= most; lines++) {
                sum += term;
                term *= mean / (lines + 1);
        }
        return sum;
}

/* The part of loads that miss if a program fills PART of the cache, and passes in NS a
 * line. Sets have a whole number of its lines. */
static double missing(double part, double rate, double ns, unsigned ways)
{
        double room = ways * (1 - part), others = ways * part * rate * ns;
        double more = room - floor(room);
        return 1 - (1 - more) * at_most(floor(room), others) -
               more * at_most(floor(room) + 1, others);
}

/* Whether PART comes into the cache from memory: from any time a line, the misses that
 * follow from it make the next pass faster. */
static bool comes_in(double part, double rate, unsigned ways, const struct pass *pass)
{
        enum { TIMES = 64 };
        double span = pass->miss_ns - pass->hit_ns;
        for (int i = 0; i < TIMES; i++) {
                double slowness = 1 - (double)i / (2 * TIMES); /* down to half way */
                double ns = pass->hit_ns + slowness * span;
                if (missing(part, rate, ns, ways) >= slowness)
                        return false;
        }
        return true;
}

double tenants_cliff_part(double rate, unsigned ways, const struct pass *pass)
{
        double low = 0, high = 2;
        for (int i = 0; i < HALVINGS; i++) {
                double part = (low + high) / 2;
                *(comes_in(part, rate, ways, pass) ? &low : &high) = part;
        }
        return low;
}

/* The ratio of both cliffs grows with the rate. */
struct tenants tenants_solve(unsigned ways, const struct pass *slow,
                             const struct pass *fast)
{
        double low = 0, high = 1 / fast->hit_ns;
        if (fast->cliff_bytes < SAME * slow->cliff_bytes)
                return (struct tenants){fmax(slow->cliff_bytes, fast->cliff_bytes), 0};
        for (int i = 0; i < HALVINGS; i++) {
                double rate = (low + high) / 2;
                double ratio = tenants_cliff_part(rate, ways, fast) /
                               tenants_cliff_part(rate, ways, slow);
                *(ratio < fast->cliff_bytes / slow->cliff_bytes ? &low : &high) = rate;
        }
        double capacity = fast->cliff_bytes / tenants_cliff_part(low, ways, fast);
        return (struct tenants){capacity, low * LINE_BYTES};
}
