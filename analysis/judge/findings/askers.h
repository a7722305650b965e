/* SPDX-License-Identifier: MIT */
/* Finds the code line that first requested the cache lines that another code line waits
 * for. The first load of an outstanding cache line requests it; later loads hit its fill
 * buffer and wait as long. No sample names both loads. But earlier samples show which
 * code lines of a function request cache lines of a data object. Knows no names. */
#ifndef MEMLAG_ASKERS_H
#define MEMLAG_ASKERS_H

#include <stddef.h>
#include <stdint.h>

#include "pairs.h"

/* How often a code line or function requests cache lines, and waits for outstanding ones.
 */
struct asking {
        int64_t asked;
        int64_t waited;
};

/* Initialised by askers_open. */
struct askers {
        const uint32_t *line_function;
        struct pairs latest; /* (function, object) → line of the latest request, plus 1 */
        struct pairs waits;  /* (waiting line, latest requesting line) → samples */
        struct asking *lines;
        size_t line_count;
        struct asking *functions;
};

/* For line numbers below LINES and function numbers below FUNCTIONS. LINE_FUNCTION maps
 * each line to its function; it is not copied. Returns 0 or -ENOMEM; askers_close frees
 * in either case. */
int askers_open(struct askers *askers, size_t lines, size_t functions,
                const uint32_t *line_function);
void askers_close(struct askers *askers);

/* Add one sample of LINE in OBJECT (0: unknown); call them in order of time.
 * askers_add_ask: the load requested a cache line and waited longer than any cache takes.
 * askers_add_wait: the load waited equally long for an outstanding line. Both return 0 or
 * -ENOMEM. */
int askers_add_ask(struct askers *askers, uint32_t object, uint32_t line);
int askers_add_wait(struct askers *askers, uint32_t object, uint32_t line);

enum { ASKER_ELSEWHERE = UINT32_MAX };

/* A code line that waits for cache lines, and their first requester. */
struct asker {
        uint32_t line;
        uint32_t asker;  /* ASKER_ELSEWHERE: a line of another function */
        int64_t samples; /* slow hits of LINE that followed a request by ASKER */
        double share;    /* samples over all slow hits of LINE */
};

/* Calls TAKE for each pair with at least a twentieth of LINE's slow hits, in order of
 * line numbers. Stops when TAKE returns non-zero, and returns that value; -ENOMEM without
 * memory. Skips lines that request their own cache lines: even a loop over bytes requests
 * one line in 64 loads. If the function requests the cache lines that it waits for, the
 * requester is a line of this function. Otherwise another function made the requests. */
int askers_each(struct askers *askers,
                int (*take)(void *context, const struct asker *asker), void *context);

#endif
