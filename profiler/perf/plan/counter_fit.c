/* SPDX-License-Identifier: MIT */
/* Matches events to counters by augmenting paths (Kuhn's algorithm): an event takes a
 * free counter, or a counter whose event can move to another. */
#include "counter_fit.h"

enum { COUNTERS = 64, NOBODY = -1 };

static bool place(const uint64_t *events, int event, int owners[COUNTERS],
                  uint64_t *tried)
{
        for (int counter = 0; counter < COUNTERS; counter++) {
                uint64_t bit = UINT64_C(1) << counter;
                if (!(events[event] & bit) || *tried & bit)
                        continue;
                *tried |= bit;
                if (owners[counter] == NOBODY ||
                    place(events, owners[counter], owners, tried)) {
                        owners[counter] = event;
                        return true;
                }
        }
        return false;
}

bool counters_fit(const uint64_t *events, size_t count)
{
        int owners[COUNTERS];
        for (int i = 0; i < COUNTERS; i++)
                owners[i] = NOBODY;
        for (size_t i = 0; i < count; i++) {
                uint64_t tried = 0;
                if (!place(events, (int)i, owners, &tried))
                        return false;
        }
        return true;
}
