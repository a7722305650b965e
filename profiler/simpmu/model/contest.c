/* SPDX-License-Identifier: MIT */
/* See contest.h. */
#include "contest.h"

#define WAYS 2u

void contests_init(struct contests *contests, uint64_t cycle_slots, sim_allocate allocate)
{
        *contests = (struct contests){.stretch_slots = STRETCH_CYCLES * cycle_slots,
                                      .allocate = allocate};
}

uint64_t contest_reach(const struct contests *contests)
{
        return STRETCHES_BEHIND * contests->stretch_slots;
}

static struct contest *contest_of(struct contests *contests, uint64_t line)
{
        struct contest **ways =
            &contests->lines[cache_spread(line) & (CONTESTED_LINES - WAYS)];
        struct contest *oldest = NULL;

        for (uint32_t i = 0; i < WAYS; i++) {
                if (ways[i] == NULL)
                        ways[i] = contests->allocate(sizeof(*ways[i]));
                if (ways[i]->line == line)
                        return ways[i];
                if (oldest == NULL || ways[i]->latest.stretch < oldest->latest.stretch)
                        oldest = ways[i];
        }
        *oldest = (struct contest){.line = line};
        return oldest;
}

static struct contender *contender_of(const struct contests *contests,
                                      struct contender **contenders, uint64_t line)
{
        if (*contenders == NULL)
                *contenders = contests->allocate(CONTENDED_LINES * sizeof(**contenders));
        struct contender *ways =
            &(*contenders)[cache_spread(line) & (CONTENDED_LINES - WAYS)];
        struct contender *oldest = &ways[0];
        for (uint32_t i = 0; i < WAYS; i++) {
                if (ways[i].line == line)
                        return &ways[i];
                if (ways[i].last < oldest->last)
                        oldest = &ways[i];
        }
        *oldest = (struct contender){.line = line};
        return oldest;
}

/* The stretch with NUMBER; emptied first if its slot held another stretch. */
static struct stretch *stretch_at(struct stretch *stretches, uint64_t number)
{
        struct stretch *stretch = &stretches[number & (STRETCHES - 1)];

        if (stretch->number != number)
                *stretch = (struct stretch){.number = number};
        return stretch;
}

static void note_user(struct contest *contest, uint32_t core, uint64_t number)
{
        if (contest->latest.core != core) {
                contest->before = contest->latest;
                contest->latest = (struct contest_user){core, number};
        } else if (number > contest->latest.stretch) {
                contest->latest.stretch = number;
        }
}

static void note_access(struct stretch *stretch, uint32_t core, bool writes)
{
        stretch->cores |= contest_core(core);
        *(writes ? &stretch->writes : &stretch->reads) += 1;
}

/* Accesses in stretch NUMBER that take the line from a core that reads or WRITES it. */
static uint32_t rivals(const struct contest *contest, const struct contender *own,
                       uint64_t number, bool writes)
{
        const struct stretch *all = &contest->stretches[number & (STRETCHES - 1)];
        const struct stretch *mine = &own->own[number & (STRETCHES - 1)];
        bool in_both = mine->number == number;

        if (all->number != number)
                return 0;
        uint32_t count = all->writes - (in_both ? mine->writes : 0);
        if (writes)
                count += all->reads - (in_both ? mine->reads : 0);
        return count;
}

/* The same over the turn that ends with stretch NUMBER. */
static uint32_t rivals_of_turn(const struct contest *contest, struct contender *own,
                               uint64_t number, bool writes)
{
        if (own->lead_from != number) {
                own->lead_from = number;
                own->lead_rivals[false] = 0;
                own->lead_rivals[true] = 0;
                for (uint32_t i = 0; i < STRETCHES_OF_TURN && i <= number; i++) {
                        own->lead_rivals[false] +=
                            rivals(contest, own, number - i, false);
                        own->lead_rivals[true] += rivals(contest, own, number - i, true);
                }
        }
        return own->lead_rivals[writes];
}

static uint64_t held_for(const struct contest_access *access, uint64_t last)
{
        uint64_t from = last > access->arrival ? last : access->arrival;

        return access->time > from ? access->time - from : 0;
}

/* The cores in STRETCH; if there are none, the core that used the line before CORE. */
static uint64_t others_in(const struct stretch *stretch, const struct contest *contest,
                          uint32_t core)
{
        uint64_t others = stretch->cores & ~contest_core(core);

        return others != 0 ? others : contest_core(contest->before.core);
}

void contest_begin(struct contests *contests, uint64_t line, uint32_t loser, uint64_t now)
{
        note_user(contest_of(contests, line), loser, now / contests->stretch_slots);
}

enum contest_outcome contest_use(struct contests *contests, struct contender **contenders,
                                 const struct contest_access *access, uint64_t *others)
{
        struct contest *contest = contest_of(contests, access->line);
        struct contender *own = contender_of(contests, contenders, access->line);
        uint64_t number = access->time / contests->stretch_slots;
        uint64_t known = contest->latest.core == access->core ? contest->before.stretch
                                                              : contest->latest.stretch;
        uint64_t held = held_for(access, own->last);

        if (number > known)
                own->requests +=
                    held * rivals_of_turn(contest, own, known, access->writes);
        else
                own->requests += held * STRETCHES_OF_TURN *
                                 rivals(contest, own, number, access->writes);
        own->last = access->time > own->last ? access->time : own->last;
        note_access(stretch_at(contest->stretches, number), access->core, access->writes);
        note_access(stretch_at(own->own, number), access->core, access->writes);
        note_user(contest, access->core, number);
        if (own->requests >= contests->stretch_slots * STRETCHES_OF_TURN) {
                *others = others_in(
                    stretch_at(contest->stretches, number < known ? number : known),
                    contest, access->core);
                own->requests = 0;
                return CONTEST_LOSES;
        }
        return number > known + STRETCHES_BEHIND ? CONTEST_IS_OVER : CONTEST_KEEPS;
}
