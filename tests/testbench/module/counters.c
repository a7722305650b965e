// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events can be on a CPU's counters at once. Some events work on some counters
 * only: a matching problem. It is solved anew whenever an event comes, as in the kernel's
 * own driver. */
#include <linux/bits.h>
#include <linux/module.h>
#include <linux/percpu.h>

#include "scripted_pmu.h"

enum { COUNTERS_MAX = 64, EVENTS_MAX = 32, CONSTRAINTS_MAX = 16 };

/* Fixed counters stand above the general ones. */
enum { COUNTER_INSTRUCTIONS = 32, COUNTER_CYCLES = 33 };

static int general_counters = 8;
module_param_named(counters, general_counters, int, 0644);
MODULE_PARM_DESC(counters, "general counters of each CPU");

static char *constraints[CONSTRAINTS_MAX];
static int constraint_count;
module_param_array(constraints, charp, &constraint_count, 0444);
MODULE_PARM_DESC(constraints, "CODE:COUNTERS of events, both in hexadecimal");

static struct {
        unsigned int code;
        unsigned int counters;
} constraint[CONSTRAINTS_MAX];

struct counters_user {
        int count;
        u64 masks[EVENTS_MAX]; /* of each event that is there */
};

static DEFINE_PER_CPU(struct counters_user, users);

int counters_open(void)
{
        int i;

        for (i = 0; i < constraint_count; i++)
                if (sscanf(constraints[i], "%x:%x", &constraint[i].code,
                           &constraint[i].counters) != 2)
                        return -EINVAL;
        return 0;
}

static u64 constraint_of(u16 code)
{
        int i;

        for (i = 0; i < constraint_count; i++)
                if (constraint[i].code == code)
                        return constraint[i].counters;
        return ~0ull;
}

static u64 counters_of(u16 code)
{
        u64 mask = constraint_of(code) & (BIT_ULL(general_counters) - 1);

        if (code == EVENT_INSTRUCTIONS)
                mask |= BIT_ULL(COUNTER_INSTRUCTIONS);
        if (code == EVENT_CYCLES)
                mask |= BIT_ULL(COUNTER_CYCLES);
        return mask;
}

/* Finds a counter for EVENT, and if it must, another one for the event that has it.
 * OWNERS has the event of each counter, or -1; TRIED the counters that were tried. */
static bool place(const struct counters_user *user, int event, s8 *owners, u64 *tried)
{
        int counter;

        for (counter = 0; counter < COUNTERS_MAX; counter++) {
                u64 bit = BIT_ULL(counter);

                if (!(user->masks[event] & bit) || *tried & bit)
                        continue;
                *tried |= bit;
                if (owners[counter] < 0 || place(user, owners[counter], owners, tried)) {
                        owners[counter] = event;
                        return true;
                }
        }
        return false;
}

static bool fits(const struct counters_user *user)
{
        s8 owners[COUNTERS_MAX];
        int event;

        memset(owners, -1, sizeof(owners));
        for (event = 0; event < user->count; event++) {
                u64 tried = 0;

                if (!place(user, event, owners, &tried))
                        return false;
        }
        return true;
}

static bool add(struct counters_user *user, u16 code)
{
        if (user->count == EVENTS_MAX)
                return false;
        user->masks[user->count++] = counters_of(code);
        if (fits(user))
                return true;
        user->count--;
        return false;
}

bool counters_take(u16 code)
{
        return add(this_cpu_ptr(&users), code);
}

void counters_give_back(u16 code)
{
        struct counters_user *user = this_cpu_ptr(&users);
        u64 mask = counters_of(code);
        int i;

        for (i = 0; i < user->count; i++)
                if (user->masks[i] == mask) {
                        user->masks[i] = user->masks[--user->count];
                        return;
                }
}

bool counters_fit(const u16 *codes, int count)
{
        struct counters_user user = {};
        int i;

        for (i = 0; i < count; i++)
                if (!add(&user, codes[i]))
                        return false;
        return true;
}
