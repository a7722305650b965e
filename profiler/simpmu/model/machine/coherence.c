/* SPDX-License-Identifier: MIT */
/* See coherence.h. */
#include "coherence.h"

#include "miss.h"

#define CORE_BITS 64u

static struct shared_line *shared_line_at(const struct machine *machine, uint64_t line)
{
        return &machine->shared_lines[cache_spread(line) & (SHARED_LINES - 1)];
}

/* Cores whose numbers differ by CORE_BITS share a bit: one may have the line. */
static uint64_t bit_of(uint32_t core)
{
        return 1ull << core % CORE_BITS;
}

static void note_lines(struct machine *machine, const struct cache *cache, uint32_t core)
{
        for (uint32_t i = 0; i < cache->set_count; i++) {
                const struct cache_set *set =
                    (struct cache_set *)(cache->sets + (uint64_t)i * cache->set_bytes);
                for (uint32_t way = 0; way < cache->tag_count; way++) {
                        if (set->tag[way] == CACHE_EMPTY)
                                continue;
                        uint64_t line = cache_line_of(cache, i, set->tag[way]);
                        pages_at(&machine->pages, line >> PAGE_LINE_SHIFT)->user =
                            (uint16_t)(core + 1);
                }
        }
}

void coherence_begin(struct machine *machine)
{
        machine->shared_lines =
            machine->allocate(SHARED_LINES * sizeof(*machine->shared_lines));
        note_lines(machine, &machine->cores[0]->l1d.cache, 0);
        note_lines(machine, &machine->cores[0]->l2, 0);
}

/* Notes in SHARED how the cores have its line. */
static void look_into_cores(const struct machine *machine, struct shared_line *shared)
{
        for (uint32_t i = 0; i < machine->cores_used; i++) {
                const struct core *core = machine->cores[i];
                enum cache_state l1d = cache_look(&core->l1d.cache, shared->line);
                enum cache_state l2 = cache_look(&core->l2, shared->line);
                if (l1d == CACHE_ABSENT && l2 == CACHE_ABSENT)
                        continue;
                shared->cores |= bit_of(i);
                if (l1d == CACHE_DIRTY || l2 == CACHE_DIRTY)
                        shared->modified_by = i + 1;
        }
}

/* The directory's entry of LINE. If there is none, the entry is built from the caches:
 * the page was not shared before, or another line took the entry. */
static struct shared_line *known(struct machine *machine, uint64_t line)
{
        struct shared_line *shared = shared_line_at(machine, line);

        if (shared->line != line || shared->cores == 0) {
                *shared = (struct shared_line){.line = line};
                look_into_cores(machine, shared);
        }
        return shared;
}

/* CORE keeps LINE unmodified; true when it had modified it. */
static bool clean(struct core *core, uint64_t line)
{
        bool modified = cache_clean(&core->l1d.cache, line);

        return cache_clean(&core->l2, line) || modified;
}

/* CORE gives LINE up to a core on NODE. */
static enum others take(struct core *core, const struct node *node, uint64_t line)
{
        enum cache_state l1d = cache_remove(&core->l1d.cache, line);
        enum cache_state l2 = cache_remove(&core->l2, line);

        if (l1d == CACHE_DIRTY || l2 == CACHE_DIRTY)
                return core->node == node ? OTHERS_MODIFIED : OTHERS_FAR_MODIFIED;
        if (l1d == CACHE_ABSENT && l2 == CACHE_ABSENT)
                return OTHERS_NOTHING;
        return core->node == node ? OTHERS_CLEAN : OTHERS_FAR_CLEAN;
}

/* The L3s of other nodes give LINE up, which a core of NODE writes. */
static enum others take_from_nodes(struct machine *machine, const struct node *node,
                                   uint64_t line)
{
        enum others others = OTHERS_NOTHING;

        for (uint32_t i = 0; i < machine->nodes_used; i++) {
                if (&machine->nodes[i] != node &&
                    cache_remove(&machine->nodes[i].l3, line) != CACHE_ABSENT)
                        others = OTHERS_FAR_CLEAN;
        }
        return others;
}

static enum others read_line(struct machine *machine, struct sim_thread *thread,
                             struct shared_line *shared, uint32_t *loser, uint64_t now)
{
        uint32_t self = thread->core->number;
        uint32_t owner = shared->modified_by;
        enum others others = OTHERS_NOTHING;

        if (owner != 0 && owner != self + 1) {
                struct core *core = machine->cores[owner - 1];
                if (clean(core, shared->line)) {
                        miss_write_back_to_l3(machine, thread, core->node, shared->line,
                                              now);
                        others = core->node == thread->core->node ? OTHERS_MODIFIED
                                                                  : OTHERS_FAR_MODIFIED;
                        *loser = owner - 1;
                }
                shared->modified_by = 0;
        }
        shared->cores |= bit_of(self);
        return others;
}

static enum others write_line(struct machine *machine, struct sim_thread *thread,
                              struct shared_line *shared, uint32_t *loser)
{
        const struct node *node = thread->core->node;
        uint32_t self = thread->core->number;
        enum others others = take_from_nodes(machine, node, shared->line);

        for (uint32_t i = 0; i < machine->cores_used; i++) {
                if (i == self || (shared->cores & bit_of(i)) == 0)
                        continue;
                enum others here = take(machine->cores[i], node, shared->line);
                others = here > others ? here : others;
                *loser = here != OTHERS_NOTHING ? i : *loser;
        }
        shared->modified_by = self + 1;
        shared->cores = bit_of(self);
        return others;
}

/* The line has moved from core LOSER; true when it has done so lately. */
static bool is_contested(struct machine *machine, struct shared_line *shared,
                         uint32_t loser, uint64_t now)
{
        uint64_t before = shared->moved;

        shared->moved = now;
        if (before == 0 || now > before + contest_reach(&machine->contests))
                return false;
        contest_begin(&machine->contests, shared->line, loser, now);
        return true;
}

enum others coherence_request(struct machine *machine, struct sim_thread *thread,
                              uint64_t line, bool writes, uint64_t now, bool *contested)
{
        uint32_t loser = 0;
        struct shared_line *shared = known(machine, line);
        enum others others = writes ? write_line(machine, thread, shared, &loser)
                                    : read_line(machine, thread, shared, &loser, now);

        if (others != OTHERS_NOTHING)
                *contested = is_contested(machine, shared, loser, now);
        return others;
}

bool coherence_near_copy(struct machine *machine, const struct sim_thread *thread,
                         uint64_t line)
{
        const struct shared_line *shared = shared_line_at(machine, line);

        if (shared->line != line)
                return false;
        for (uint32_t i = 0; i < machine->cores_used; i++) {
                const struct core *core = machine->cores[i];
                if (core != thread->core && core->node == thread->core->node &&
                    (shared->cores & bit_of(i)) != 0 &&
                    (cache_look(&core->l2, line) != CACHE_ABSENT ||
                     cache_look(&core->l1d.cache, line) != CACHE_ABSENT))
                        return true;
        }
        return false;
}
