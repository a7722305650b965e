/* SPDX-License-Identifier: MIT */
/* See wrong_path.h. */
#include "wrong_path.h"

#include "kernel_time.h"
#include "machine.h"
#include "miss.h"

#define NEVER (UINT64_MAX / 2) /* latencies can be added */

/* The model stops following paths that have not joined after this many windows. */
#define WINDOWS_TO_MEET 2u

uint64_t wrong_path_least(const struct machine *machine)
{
        return machine->l2_latency;
}

void wrong_path_end(struct sim_hot *hot, struct sim_thread *thread)
{
        thread->wrong.followed = false;
        stall_to_hot(hot, thread);
}

/* The paths part at BRANCH. */
static void part(struct sim_hot *hot, struct sim_thread *thread,
                 const struct wrong_branch *branch)
{
        struct wrong_path *wrong = &thread->wrong;

        wrong->met = false;
        wrong->tainted = false;
        wrong->kept = 0;
        wrong->stretch = branch->stretch;
        wrong->meeting = branch->meeting->instruction;
        wrong->changed = branch->meeting->changed;
        wrong->stored = branch->meeting->stored;
        wrong->wrong_length = branch->meeting->length[branch->predicted];
        wrong->branch = hot->instructions;
}

void wrong_path_begin(struct sim_hot *hot, struct sim_thread *thread,
                      const struct wrong_branch *branch)
{
        struct wrong_path *wrong = &thread->wrong;

        if (wrong->followed && !wrong->over) {
                wrong_path_go_on(hot, thread, branch);
                return;
        }
        wrong->followed = true;
        wrong->over = false;
        wrong->ahead = 0;
        wrong->end = hot->instructions + thread->loads.capacity;
        wrong->decided = branch->decided;
        wrong->stall = thread->stall;
        wrong->window_next = 0;
        for (uint32_t i = 0; i < VALUES; i++)
                wrong->ready[i] = hot->ready[i];
        for (uint32_t i = 0; i < FRAME_WORDS; i++)
                wrong->frame_ready[i] = 0;
        wrong->frame = NULL;
        part(hot, thread, branch);
        stall_to_hot(hot, thread);
}

void wrong_path_go_on(struct sim_hot *hot, struct sim_thread *thread,
                      const struct wrong_branch *branch)
{
        if (thread->wrong.met)
                part(hot, thread, branch);
}

static uint64_t latest_of(const struct wrong_path *wrong, uint64_t on)
{
        uint64_t latest = 0;

        for (; on != 0; on &= on - 1)
                latest = later(latest, wrong->ready[__builtin_ctzll(on)]);
        return latest;
}

/* Transfers the dependences of all registers at once. */
static void apply(struct wrong_path *wrong, const struct code_transfer *transfer)
{
        const uint64_t issue = 1ull << ISSUE_TIME;
        uint64_t ready[FIRST_SLOT];

        for (uint32_t i = 0; i < transfer->count; i++)
                ready[i] = latest_of(wrong, transfer->each[i].on & ~issue);
        for (uint32_t i = 0; i < transfer->count; i++)
                if ((wrong->kept >> transfer->each[i].id & 1) == 0)
                        wrong->ready[transfer->each[i].id] = ready[i];
}

/* The frame accesses of the stretch that come before instruction END. */
static void access_frame(struct wrong_path *wrong, uint64_t end)
{
        for (; wrong->frame != NULL && wrong->begun + wrong->frame->at < end;
             wrong->frame = wrong->frame->next) {
                const struct frame_access *access = wrong->frame;
                uint64_t *word = &wrong->frame_ready[access->word];
                if (!wrong->met || wrong->begun + access->at < wrong->met_at)
                        continue;
                if (access->load == NULL)
                        *word = latest_of(wrong, access->on & ~(1ull << ISSUE_TIME));
                else if (access->load->slot != UNUSED_VALUE)
                        wrong->ready[access->load->slot] =
                            later(wrong->ready[access->load->slot], *word);
        }
}

/* The previous stretch has been executed. Before the join of the paths its results are
 * unknown: registers and words that may be written there count as not ready from the
 * branch on. */
static void end_stretch(struct wrong_path *wrong)
{
        access_frame(wrong, UINT64_MAX);
        if (wrong->met || !wrong->tainted) {
                for (const struct code_transfer *transfer = wrong->stretch->transfers;
                     transfer != NULL; transfer = transfer->next)
                        apply(wrong, transfer);
        }
        wrong->kept = 0;
        if (wrong->tainted)
                return;
        wrong->tainted = true;
        for (uint64_t rest = wrong->changed; rest != 0; rest &= rest - 1)
                wrong->ready[__builtin_ctzll(rest)] = NEVER;
        for (uint64_t rest = wrong->stored; rest != 0; rest &= rest - 1)
                wrong->frame_ready[__builtin_ctzll(rest)] = NEVER;
}

/* The paths may join in STRETCH. */
static void look_for_meeting(const struct sim_hot *hot, struct wrong_path *wrong,
                             const struct code_stretch *stretch)
{
        for (uint32_t i = 0; i < stretch->count && !wrong->met; i++) {
                if (stretch->instructions[i] != wrong->meeting)
                        continue;
                wrong->met = true;
                wrong->met_at = hot->instructions + i;
                wrong->ahead += wrong->wrong_length - (wrong->met_at - wrong->branch);
                wrong->kept = i > 0 ? wrong->changed : 0;
        }
}

void wrong_path_stretch(struct sim_hot *hot, struct sim_thread *thread,
                        const struct code_stretch *stretch)
{
        struct wrong_path *wrong = &thread->wrong;

        end_stretch(wrong);
        wrong->stretch = stretch;
        wrong->frame = stretch->frame;
        wrong->begun = hot->instructions;
        if (stretch->begins_block) {
                for (uint32_t slot = FIRST_SLOT; slot <= LAST_SLOT; slot++)
                        wrong->ready[slot] = 0;
        }
        if (!wrong->met)
                look_for_meeting(hot, wrong, stretch);
        const uint64_t limit =
            wrong->met ? wrong->end - wrong->ahead
                       : wrong->branch + WINDOWS_TO_MEET * thread->loads.capacity;
        if (hot->instructions > limit)
                wrong_path_end(hot, thread);
}

/* When instruction NUMBER of the wrong path issues: accesses before the branch hold
 * their places in the window. */
static uint64_t issue_of(struct sim_thread *thread, uint64_t number)
{
        struct wrong_path *wrong = &thread->wrong;
        struct window *window = &thread->loads;
        const uint64_t gone = window->number > window->entry_limit
                                  ? window->number - window->entry_limit
                                  : 0;

        wrong->window_next = later(wrong->window_next, gone);
        for (; wrong->window_next < window->number; wrong->window_next++) {
                const struct window_entry *entry = window_at(window, wrong->window_next);
                if (entry->due >= number)
                        break;
                wrong->stall = later(wrong->stall, entry->stall);
        }
        return number + wrong->stall;
}

static uint64_t ready_at(const struct wrong_path *wrong, int16_t offset)
{
        return wrong->ready[NO_VALUE + offset / (int16_t)sizeof(wrong->ready[0])];
}

/* When the address of SITE's load is known, which would issue at NOW. */
static uint64_t start_of(const struct wrong_path *wrong, const struct waits *waits,
                         uint64_t now)
{
        uint64_t start = now + waits->issue_delay;

        for (uint32_t i = 0; i < 2; i++)
                start = later(start, ready_at(wrong, waits->ready[i]) + waits->delay[i]);
        return later(start, latest_of(wrong, waits->others));
}

/* LINE is not in L1: asks for it at START, if it gets a fill buffer before the branch is
 * decided. Returns when it comes, or NEVER. */
static uint64_t ask(struct machine *machine, struct sim_hot *hot,
                    struct sim_thread *thread, uint64_t line,
                    const struct cache_place *place, uint64_t start, uint64_t now)
{
        struct l1d *l1d = &thread->core->l1d;
        const uint64_t begin =
            places_find(&thread->fill_buffers, start, machine->l3_latency);

        if (begin >= thread->wrong.decided) {
                thread->wrong.over = true;
                return NEVER;
        }
        thread_fold(hot, thread, now);
        uint32_t bit = cache_victim_bit(&l1d->cache, place->set);
        struct miss miss = miss_to_l1(machine, hot, thread, l1d, line, place, bit, start,
                                      now, false, true);
        if (miss.contested)
                place->set->contested |= bit;
        return miss.completion;
}

/* When the load of SITE, which executes on the wrong path at START, has its value. */
static uint64_t value_of(struct machine *machine, struct sim_hot *hot,
                         struct sim_thread *thread, const struct access_site *site,
                         uint64_t address, uint64_t start, uint64_t now)
{
        const uint64_t line = address >> LINE_SHIFT, page = address >> PAGE_SHIFT;
        struct l1d *l1d = &thread->core->l1d;
        struct cache_place place = cache_place_of(&l1d->cache, line);
        const uint32_t bit = cache_find(&l1d->cache, &place);

        if (bit != 0)
                return later(start, l1d_way_of(l1d, &place, bit)->arrival);
        if ((address & (LINE_BYTES - 1)) + site->size_bytes > LINE_BYTES || page == 0 ||
            kernel_untouched(machine, page))
                return NEVER;
        enum tlb_outcome translation = machine_translate(machine, thread->core, page);
        start += tlb_latency(machine, thread->core, translation, start, true);
        return ask(machine, hot, thread, line, &place, start, now);
}

bool wrong_path_load(struct machine *machine, struct sim_hot *hot,
                     struct sim_thread *thread, const struct access_site *site,
                     uint64_t address)
{
        struct wrong_path *wrong = &thread->wrong;
        const uint64_t instruction =
            hot->instructions + (uint64_t)(int64_t)site->position;
        uint64_t *value = &wrong->ready[site->slot];
        uint64_t ready = NEVER, start = NEVER;

        access_frame(wrong, instruction);
        if (wrong->met && instruction >= wrong->met_at) {
                const uint64_t now = issue_of(thread, instruction + wrong->ahead);
                wrong->over |= now >= wrong->decided;
                start = start_of(wrong, &site->address, now);
        }
        if (start < wrong->decided)
                ready = value_of(machine, hot, thread, site, address, start,
                                 instruction + thread->stall);
        if (site->slot != UNUSED_VALUE)
                *value = later(*value, ready);
        return ready > start && ready != NEVER;
}
