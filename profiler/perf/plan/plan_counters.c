/* SPDX-License-Identifier: MIT */
/* Packs sets of counters into as few groups as their counters allow. */
#include "plan_counters.h"

#include <errno.h>
#include <string.h>

#include "attributes.h"
#include "counter_fit.h"

/* Architectural events, the same on every Intel CPU (SDM vol. 3B, "Pre-defined
 * Architectural Performance Events"). */
static const struct event ARCHITECTURAL_CYCLES = {"cpu_clk_unhalted.thread", 0x3c, 0};
static const struct event ARCHITECTURAL_INSTRUCTIONS = {"inst_retired.any", 0xc0, 0};

/* Events of one metric, counted together or not at all; ROLE_COUNT ends a set. In order
 * of importance. */
enum { SET_EVENTS_MAX = 3 };
static const enum event_role sets[][SET_EVENTS_MAX + 1] = {
    {ROLE_PENDING, ROLE_L1_MISS_ANY, ROLE_L1_MISS, ROLE_COUNT}, /* LMRL, from SPR on */
    {ROLE_PENDING, ROLE_L1_MISS, ROLE_FB_HIT, ROLE_COUNT},      /* LMRL */
    {ROLE_FB_FULL, ROLE_SQ_FULL, ROLE_STORE_BUFFER,
     ROLE_COUNT}, /* M17: bandwidth bound */
    {ROLE_STALLS, ROLE_STALLS_L1D, ROLE_STORE_BUFFER, ROLE_COUNT}, /* M17: memory bound */
    {ROLE_STALLS_L2, ROLE_STALLS_L3, ROLE_STALLS_L1D,
     ROLE_COUNT}, /* which cache had it */
    {ROLE_ALL_LOADS, ROLE_COUNT},
};
static const enum event_role LMRL_ANY_ALONE[] = {ROLE_PENDING, ROLE_L1_MISS_ANY,
                                                 ROLE_COUNT};
static const enum event_role L1_MISS_ALONE[] = {ROLE_L1_MISS, ROLE_COUNT};
enum { SETS = sizeof(sets) / sizeof(sets[0]), SET_LMRL_ANY = 0, SET_LMRL = 1 };

/* The counters of a group, as events of the table. */
struct pack {
        const struct event *events[PLAN_GROUP_EVENTS_MAX];
        enum event_role roles[PLAN_GROUP_EVENTS_MAX];
        size_t count;
        bool beside_samples; /* fits while the samples are taken */
};

static bool has(const struct pack *pack, enum event_role role)
{
        for (size_t i = 0; i < pack->count; i++)
                if (pack->roles[i] == role)
                        return true;
        return false;
}

static bool fits(const struct intel_core *core, const struct pack *pack,
                 bool beside_samples)
{
        uint64_t wanted[PLAN_GROUP_EVENTS_MAX + 3];
        size_t count = 0;
        for (size_t i = 0; beside_samples && i < core->sampled_count; i++)
                wanted[count++] = core->sampled[i];
        for (size_t i = 0; i < pack->count; i++)
                wanted[count++] = intel_core_counters(core, pack->events[i]);
        return counters_fit(wanted, count);
}

/* PACK with the set's events that the CPU has and PACK has not. */
static struct pack with_set(const struct intel_core *core, const struct pack *pack,
                            const enum event_role *set)
{
        struct pack grown = *pack;
        for (; *set != ROLE_COUNT; set++) {
                const struct event *event = intel_core_event(core, *set);
                if (!event || has(&grown, *set) || grown.count == PLAN_GROUP_EVENTS_MAX)
                        continue;
                grown.roles[grown.count] = *set;
                grown.events[grown.count++] = event;
        }
        return grown;
}

/* Adds the event to PACK where there is still a counter for it. */
static void add_if_fits(const struct intel_core *core, struct pack *pack,
                        enum event_role role, const struct event *event)
{
        struct pack grown = *pack;
        if (grown.count == PLAN_GROUP_EVENTS_MAX)
                return;
        grown.roles[grown.count] = role;
        grown.events[grown.count++] = event;
        if (fits(core, &grown, pack->beside_samples))
                *pack = grown;
}

static bool set_exists(const struct intel_core *core, size_t set)
{
        bool any_exists = intel_core_event(core, ROLE_L1_MISS_ANY) != NULL;
        if (set == SET_LMRL_ANY || set == SET_LMRL)
                return (set == SET_LMRL_ANY) == any_exists &&
                       intel_core_event(core, ROLE_PENDING) != NULL;
        return intel_core_event(core, sets[set][0]) ||
               intel_core_event(core, sets[set][1]);
}

/* Notes the events of SET that no pack contains. */
static void leave_out(const struct intel_core *core, const enum event_role *set,
                      const struct pack *packs, size_t count, struct plan *plan)
{
        for (; *set != ROLE_COUNT; set++) {
                const struct event *event = intel_core_event(core, *set);
                bool placed = false;
                for (size_t i = 0; i < count; i++)
                        placed |= has(&packs[i], *set);
                if (event && !placed && plan->left_out_count < PLAN_LEFT_OUT_MAX)
                        plan->left_out[plan->left_out_count++] = event->name;
        }
}

/* Makes a pack with SET alone. L1_MISS beside L1_MISS_ANY only serves a separate metric:
 * if both do not fit beside the samples, L1_MISS is dropped. */
static struct pack pack_of_set(const struct intel_core *core, const enum event_role *set,
                               struct plan *plan)
{
        struct pack empty = {.beside_samples = true};
        struct pack pack = with_set(core, &empty, set);
        pack.beside_samples = fits(core, &pack, true);
        if (pack.beside_samples || !has(&pack, ROLE_L1_MISS_ANY))
                return pack;
        struct pack smaller = with_set(core, &empty, LMRL_ANY_ALONE);
        if (!fits(core, &smaller, true))
                return pack;
        leave_out(core, L1_MISS_ALONE, NULL, 0, plan);
        return smaller;
}

/* The count of all loads makes no metric alone, and other counters also locate stalls:
 * not worth multiplexing. */
static bool is_extra(const enum event_role *set)
{
        return set[0] == ROLE_ALL_LOADS || set[0] == ROLE_STALLS_L2;
}

/* Puts each set into the first pack that has room, or into a new pack. */
static size_t pack_sets(const struct intel_core *core, struct pack packs[SETS],
                        struct plan *plan)
{
        size_t count = 0;
        for (size_t set = 0; set < SETS; set++) {
                struct pack grown;
                size_t i;
                if (!set_exists(core, set))
                        continue;
                for (i = 0; i < count; i++) {
                        grown = with_set(core, &packs[i], sets[set]);
                        if (fits(core, &grown, packs[i].beside_samples))
                                break;
                }
                if (i == count) {
                        grown = pack_of_set(core, sets[set], plan);
                        if (is_extra(sets[set]) && count)
                                grown.count = 0;
                        if (!grown.count || !fits(core, &grown, false)) {
                                leave_out(core, sets[set], packs, count, plan);
                                continue;
                        }
                        count++;
                }
                packs[i] = grown;
        }
        return count;
}

static void add_cycles(const struct intel_core *core, struct pack *pack)
{
        const struct event *cycles = intel_core_event(core, ROLE_CYCLES);
        const struct event *instructions = intel_core_event(core, ROLE_INSTRUCTIONS);
        add_if_fits(core, pack, ROLE_CYCLES, cycles ? cycles : &ARCHITECTURAL_CYCLES);
        add_if_fits(core, pack, ROLE_INSTRUCTIONS,
                    instructions ? instructions : &ARCHITECTURAL_INSTRUCTIONS);
}

/* Returns the usual event of ROLE if EVENT differs; NULL: it is EVENT. */
static const char *replaced_by(const struct intel_core *core, enum event_role role,
                               const struct event *event)
{
        const struct event *usual = intel_core_usual_event(core, role);
        return usual && strcmp(usual->name, event->name) != 0 ? usual->name : NULL;
}

static int plan_pack(const struct intel_core *core, const struct pack *pack,
                     struct plan *plan)
{
        struct plan_group *group =
            plan_add_group_on(plan, core->pmu->cpus, core->pmu->cpu_count);
        if (!group)
                return -ENOMEM;
        for (size_t i = 0; i < pack->count; i++) {
                struct perf_event_attr attr =
                    attributes_of_counter(core->pmu->type, pack->events[i]->config);
                struct plan_event *event = plan_add_event(group, PLAN_COUNTER, &attr);
                event->name = pack->events[i]->name;
                event->unit = event_role_unit(pack->roles[i]);
                event->stands_for = replaced_by(core, pack->roles[i], pack->events[i]);
        }
        return 0;
}

int plan_counters(const struct intel_core *core, struct plan *plan)
{
        struct pack packs[SETS + 1] = {{.count = 0}};
        size_t count = pack_sets(core, packs, plan);
        bool cycles = false;
        for (size_t i = 0; i < count; i++) {
                add_cycles(core, &packs[i]);
                cycles |= has(&packs[i], ROLE_CYCLES);
        }
        if (!cycles) {
                packs[count].beside_samples = true;
                add_cycles(core, &packs[count]);
                count += packs[count].count > 0;
        }
        plan->counters_rotate |= count > 1;
        for (size_t i = 0; i < count; i++) {
                plan->samples_rotate |= !packs[i].beside_samples;
                int code = plan_pack(core, &packs[i], plan);
                if (code)
                        return code;
        }
        return 0;
}
