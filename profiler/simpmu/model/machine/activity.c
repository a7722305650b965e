/* SPDX-License-Identifier: MIT */
/* See activity.h. */
#include "activity.h"

static uint64_t minimum(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* The slots of COVER that lie before NOW and have not been folded. */
static uint64_t take_passed(struct cover *cover, uint64_t now)
{
        uint64_t to_come = cover->until > now ? cover->until - now : 0;
        uint64_t passed = cover->slots > to_come ? cover->slots - to_come : 0;
        uint64_t taken = passed > cover->folded ? passed - cover->folded : 0;

        cover->folded += taken;
        return taken;
}

void activity_fold(struct activity *activity, uint64_t now, uint64_t active,
                   uint64_t executed)
{
        uint64_t stretch = active - activity->active;
        uint64_t work = executed - activity->executed;
        uint64_t idle = stretch > work ? stretch - work : 0;

        activity->active = active;
        activity->executed = executed;
        activity->no_execute += idle;
        for (int i = 0; i < ACTIVITY_CAUSES; i++)
                activity->stalls[i] +=
                    minimum(idle, take_passed(&activity->covers[i], now));
}
