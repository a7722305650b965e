/* SPDX-License-Identifier: MIT */
/* See contest.h. */
#include "contest.h"

#include "later.h"

#define WAYS 2u

/* The parts of a request that rates are counted in. */
#define REQUEST_PARTS 16u

/* A core is taken to be active for this part of its time at least. */
#define LEAST_ACTIVE 16u

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

/* What COUNT accesses of others in ALL stand for, in parts of a request: while they wait
 * for the line, their cores do not come to the next access. */
static uint32_t demand_of(const struct contests *contests, const struct stretch *all,
                          const struct stretch *mine, uint32_t core, uint32_t count)
{
        const uint64_t cores =
            (uint64_t)__builtin_popcountll(all->cores & ~contest_core(core));
        const uint64_t time = cores * contests->stretch_slots;
        const uint64_t waits = all->waits - mine->waits;
        const uint64_t least = time / LEAST_ACTIVE;

        if (time == 0)
                return count * REQUEST_PARTS;
        uint64_t active = waits + least < time ? time - waits : least;
        return (uint32_t)(count * REQUEST_PARTS * time / active);
}

/* Requests in stretch NUMBER, in parts, that take the line from CORE, which reads or
 * WRITES it. */
static uint32_t rivals(const struct contests *contests, const struct contest *contest,
                       const struct contender *own, uint32_t core, uint64_t number,
                       bool writes)
{
        const struct stretch *all = &contest->stretches[number & (STRETCHES - 1)];
        const struct stretch *mine = &own->own[number & (STRETCHES - 1)];
        const struct stretch none = {0};

        if (all->number != number)
                return 0;
        if (mine->number != number)
                mine = &none;
        uint32_t count = all->writes - mine->writes;
        if (writes)
                count += all->reads - mine->reads;
        return demand_of(contests, all, mine, core, count);
}

/* The same over the turn that ends with stretch NUMBER. */
static uint32_t rivals_of_turn(const struct contests *contests,
                               const struct contest *contest, struct contender *own,
                               uint32_t core, uint64_t number, bool writes)
{
        if (own->lead_from != number) {
                own->lead_from = number;
                own->lead_rivals[false] = 0;
                own->lead_rivals[true] = 0;
                for (uint32_t i = 0; i < STRETCHES_OF_TURN && i <= number; i++)
                        for (int w = false; w <= true; w++)
                                own->lead_rivals[w] +=
                                    rivals(contests, contest, own, core, number - i, w);
        }
        return own->lead_rivals[writes];
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

/* The time of the core's last access, and not long before the line came. */
static uint64_t counted_from(const struct contests *contests, const struct contender *own,
                             uint64_t arrival)
{
        const uint64_t waited = contests->stretch_slots;

        return later(own->last, arrival > waited ? arrival - waited : 0);
}

/* The requests of others come at RATE, in parts of 1 / (stretch * turn) to a slot, and
 * have come since OWN's last counted access. Returns whether the core has lost the line.
 */
static bool is_lost(const struct contests *contests, struct contender *own,
                    const struct contest_access *access, uint64_t rate,
                    struct contest_loss *loss)
{
        const uint64_t one = contests->stretch_slots * STRETCHES_OF_TURN * REQUEST_PARTS;

        if (access->time < access->arrival)
                return false; /* they wait, too */
        const uint64_t from = counted_from(contests, own, access->arrival);
        own->requests += access->time > from ? (access->time - from) * rate : 0;
        own->last = later(own->last, access->time);
        if (own->requests < one || access->time < access->arrival + access->hold)
                return false;
        const uint64_t here = access->time - access->arrival;
        const uint64_t since = rate > 0 ? (own->requests - one) / rate : 0;
        loss->requests = own->requests / one;
        loss->since = since < here ? since : here;
        own->requests = 0;
        return true;
}

enum contest_outcome contest_use(struct contests *contests, struct contender **contenders,
                                 const struct contest_access *access,
                                 struct contest_loss *loss)
{
        struct contest *contest = contest_of(contests, access->line);
        struct contender *own = contender_of(contests, contenders, access->line);
        uint64_t number = access->time / contests->stretch_slots;
        uint64_t known = contest->latest.core == access->core ? contest->before.stretch
                                                              : contest->latest.stretch;
        uint64_t rate =
            number > known
                ? rivals_of_turn(contests, contest, own, access->core, known,
                                 access->writes)
                : STRETCHES_OF_TURN * rivals(contests, contest, own, access->core, number,
                                             access->writes);

        bool lost = is_lost(contests, own, access, rate, loss);
        note_access(stretch_at(contest->stretches, number), access->core, access->writes);
        note_access(stretch_at(own->own, number), access->core, access->writes);
        note_user(contest, access->core, number);
        if (lost) {
                loss->others = others_in(
                    stretch_at(contest->stretches, number < known ? number : known),
                    contest, access->core);
                return CONTEST_LOSES;
        }
        return number > known + STRETCHES_BEHIND ? CONTEST_IS_OVER : CONTEST_KEEPS;
}

void contest_wait(struct contests *contests, struct contender **contenders,
                  const struct contest_access *access, uint64_t slots)
{
        const uint64_t number = access->time / contests->stretch_slots;

        stretch_at(contest_of(contests, access->line)->stretches, number)->waits += slots;
        stretch_at(contender_of(contests, contenders, access->line)->own, number)
            ->waits += slots;
}
