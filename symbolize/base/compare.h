/* SPDX-License-Identifier: MIT */
#ifndef MEMLAG_SYMBOLIZE_COMPARE_H
#define MEMLAG_SYMBOLIZE_COMPARE_H

/* In a function that compares two for qsort() and bsearch(): returns, unless A and B are
 * the same. */
#define COMPARE(a, b)                                                                    \
        if ((a) != (b))                                                                  \
        return (a) < (b) ? -1 : 1

#endif
