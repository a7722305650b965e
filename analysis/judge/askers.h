/* SPDX-License-Identifier: MIT */
/* Which line of code had asked for the lines of the cache that another waits for. Of
 * loads from one line of the cache that is on its way the first has asked for it, and the
 * others, hits of a fill buffer, wait as long. No sample tells of the two together; but
 * which lines of a function ask for lines of a data object at the time is known from the
 * samples before it. Knows no names. */
#ifndef MEMLAG_ASKERS_H
#define MEMLAG_ASKERS_H

#include <stddef.h>
#include <stdint.h>

#include "pairs.h"

/* How often a line or function asks, and waits for what was asked for. */
struct asking {
        int64_t asked;
        int64_t waited;
};

/* Made by askers_open. */
struct askers {
        const uint32_t *line_function;
        struct pairs latest; /* of function and object: the line that asked, plus 1 */
        struct pairs waits;  /* of a line and the one that asked last: samples */
        struct asking *lines;
        size_t line_count;
        struct asking *functions;
};

/* For lines and functions with numbers below LINES and FUNCTIONS; LINE_FUNCTION is the
 * function of each line, not copied. 0, or -ENOMEM. Freed by askers_close in either case.
 */
int askers_open(struct askers *askers, size_t lines, size_t functions,
                const uint32_t *line_function);
void askers_close(struct askers *askers);

/* In the order of time, samples of LINE in OBJECT (0: not known): a load that asked for a
 * line of the cache and waited longer than a cache takes, and one that waited as long for
 * such a line. 0, or -ENOMEM. */
int askers_add_ask(struct askers *askers, uint32_t object, uint32_t line);
int askers_add_wait(struct askers *askers, uint32_t object, uint32_t line);

enum { ASKER_ELSEWHERE = UINT32_MAX };

/* A line of code that waited for what another asked for. */
struct asker {
        uint32_t line;
        uint32_t asker;  /* ASKER_ELSEWHERE: a line of another function */
        int64_t samples; /* slow hits of LINE before which ASKER's load was the latest */
        double share;    /* the same of all slow hits of LINE */
};

/* Calls TAKE for each such pair with a twentieth of LINE's slow hits or more, by their
 * numbers, until it returns other than 0, which is returned then; -ENOMEM. Of a line that
 * asks for what it waits for there is none: even a loop over bytes asks with one load of
 * the 64 of a line of the cache. Where that holds of a function, a line that does not
 * ask waits for others of its function, else for another function's. */
int askers_each(struct askers *askers,
                int (*take)(void *context, const struct asker *asker), void *context);

#endif
