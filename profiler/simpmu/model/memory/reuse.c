/* SPDX-License-Identifier: MIT */
/* See reuse.h. */
#include "reuse.h"

#define PLACES (2 * REUSE_LINES_MAX) /* a power of two */

void reuse_init(struct reuse *reuse, sim_allocate allocate)
{
        *reuse = (struct reuse){
            .limit = 1ull << (64 - REUSE_FIRST_RATE),
            .rate = REUSE_FIRST_RATE,
            .lines = allocate(PLACES * sizeof(*reuse->lines)),
            .ranks = allocate(REUSE_STAMPS * sizeof(*reuse->ranks)),
            .order = allocate(PLACES * sizeof(*reuse->order)),
        };
}

/* ---- stamps in use ---- */

static void add(struct reuse *reuse, uint32_t stamp, uint32_t amount)
{
        for (; stamp < REUSE_STAMPS; stamp += stamp & -stamp)
                reuse->ranks[stamp] += amount;
}

/* How many lines have no later stamp than STAMP. */
static uint32_t rank_of(const struct reuse *reuse, uint32_t stamp)
{
        uint32_t rank = 0;

        for (; stamp > 0; stamp &= stamp - 1)
                rank += reuse->ranks[stamp];
        return rank;
}

static void rank_all(struct reuse *reuse)
{
        for (uint32_t i = 0; i < REUSE_STAMPS; i++)
                reuse->ranks[i] = 0;
        for (uint32_t i = 0; i < PLACES; i++) {
                if (reuse->lines[i].stamp != 0)
                        add(reuse, reuse->lines[i].stamp, 1);
        }
}

uint32_t reuse_renumbered(const struct reuse *reuse, uint32_t stamp)
{
        return rank_of(reuse, stamp);
}

void reuse_renumber(struct reuse *reuse)
{
        for (uint32_t i = 0; i < PLACES; i++)
                reuse->order[i] = rank_of(reuse, reuse->lines[i].stamp);
        for (uint32_t i = 0; i < PLACES; i++)
                reuse->lines[i].stamp = reuse->order[i];
        reuse->now = reuse->count;
        rank_all(reuse);
}

uint64_t reuse_lines_since(const struct reuse *reuse, uint32_t stamp)
{
        return (uint64_t)(reuse->count - rank_of(reuse, stamp)) << reuse->rate;
}

/* ---- lines ---- */

/* Where LINE is, or belongs. The upper bits of its hash say that it is followed. */
static struct reuse_line *place_of(const struct reuse *reuse, uint64_t line)
{
        uint32_t i = (uint32_t)(reuse_hash(line) >> 24);

        while (reuse->lines[i % PLACES].stamp != 0 &&
               reuse->lines[i % PLACES].line != line)
                i++;
        return &reuse->lines[i % PLACES];
}

/* Takes the line at *PLACE out, and puts it back if it is still followed. */
static void put_again(struct reuse *reuse, struct reuse_line *place)
{
        const struct reuse_line line = *place;

        *place = (struct reuse_line){0};
        if (reuse_hash(line.line) < reuse->limit)
                *place_of(reuse, line.line) = line;
        else
                reuse->count--;
}

/* Half of the lines are followed no more. */
static void follow_fewer(struct reuse *reuse)
{
        uint32_t empty = 0;

        reuse->limit /= 2;
        reuse->rate++;
        /* From an empty place on, a line that is put again lands before the lines that
         * are still to come. */
        while (reuse->lines[empty].stamp != 0)
                empty++;
        for (uint32_t i = 1; i < PLACES; i++) {
                struct reuse_line *place = &reuse->lines[(empty + i) % PLACES];
                if (place->stamp != 0)
                        put_again(reuse, place);
        }
        rank_all(reuse);
}

void reuse_request(struct reuse *reuse, uint64_t line)
{
        struct reuse_line *place = place_of(reuse, line);

        if (place->stamp != 0 && place->stamp == reuse->now)
                return;
        if (place->stamp != 0)
                add(reuse, place->stamp, -1u);
        else
                reuse->count++;
        *place = (struct reuse_line){line, ++reuse->now};
        add(reuse, reuse->now, 1);
        if (reuse->count > REUSE_LINES_MAX)
                follow_fewer(reuse);
}
