/* SPDX-License-Identifier: MIT */
/* A cache that other tenants use too: they insert lines at a rate. A program finds its
 * lines there again if the other lines that came meanwhile fit beside them. So a slow
 * program keeps less than a fast one. Pure functions. */
#ifndef MEMLAG_TENANTS_H
#define MEMLAG_TENANTS_H

#include <stdint.h>

/* A program that passes through its data again and again. */
struct pass {
        double hit_ns;      /* for a line that is in the cache */
        double miss_ns;     /* for a line from memory */
        double cliff_bytes; /* the most data that come into the cache and stay there */
};

/* The part of an LRU cache of WAYS that PASS fills at its cliff, while other tenants
 * insert RATE lines in a ns. They come to a set by chance (Poisson). */
double tenants_cliff_part(double rate, unsigned ways, const struct pass *pass);

struct tenants {
        double capacity_bytes; /* of the cache */
        double gbs;            /* of lines that other tenants insert */
};

/* The cache in which SLOW and FAST have their cliffs. No other tenants if FAST's is not
 * above SLOW's. */
struct tenants tenants_solve(unsigned ways, const struct pass *slow,
                             const struct pass *fast);

#endif
