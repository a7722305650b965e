/* SPDX-License-Identifier: MIT */
/* See watch.h. */
#include "watch.h"

#include "machine.h"

#define FIRST_BITS   10u
#define BEGINS_BITS  3u /* more than the table of lines has */
#define ALL_BYTES    UINT64_MAX
#define BEGINS_STAYS UINT8_MAX

static void make_table(struct watch *watch, uint32_t bits)
{
        watch->bits = bits;
        watch->count = 0;
        watch->lines = watch->allocate((1ull << bits) * sizeof(*watch->lines));
        watch->begins = watch->allocate(1ull << (bits + BEGINS_BITS));
        watch->begins_shift = 64 - bits - BEGINS_BITS;
}

void watch_init(struct watch *watch,
                void (*on_line)(uint32_t sample, enum line_fact fact, uint64_t value),
                sim_allocate allocate)
{
        *watch = (struct watch){.on_line = on_line, .allocate = allocate};
        make_table(watch, FIRST_BITS);
        if (on_line != NULL)
                reuse_init(&watch->reuse, allocate);
}

/* ---- the table of lines ---- */

static uint64_t home_of(const struct watch *watch, uint64_t line)
{
        return reuse_hash(line) >> (64 - watch->bits);
}

static uint64_t next_place(const struct watch *watch, uint64_t place)
{
        return (place + 1) & ((1ull << watch->bits) - 1);
}

static bool is_watched(const struct watched_line *line)
{
        return line->user != 0 || line->asker != 0;
}

/* Where LINE is, or belongs. */
static struct watched_line *place_of(const struct watch *watch, uint64_t line)
{
        uint64_t place = home_of(watch, line);

        while (is_watched(&watch->lines[place]) && watch->lines[place].line != line)
                place = next_place(watch, place);
        return &watch->lines[place];
}

static struct watched_line *find(const struct watch *watch, uint64_t line)
{
        struct watched_line *watched = place_of(watch, line);

        return is_watched(watched) ? watched : NULL;
}

static uint8_t *begins_of(const struct watch *watch, uint64_t line)
{
        return &watch->begins[reuse_hash(line) >> watch->begins_shift];
}

static void put(struct watch *watch, const struct watched_line *line)
{
        uint8_t *begins = begins_of(watch, line->line);

        *place_of(watch, line->line) = *line;
        *begins += *begins != BEGINS_STAYS;
        watch->count++;
}

static void grow(struct watch *watch)
{
        const struct watched_line *old = watch->lines;
        const uint64_t places = 1ull << watch->bits;

        make_table(watch, watch->bits + 1);
        for (uint64_t i = 0; i < places; i++) {
                if (is_watched(&old[i]))
                        put(watch, &old[i]);
        }
}

/* The line at *HOLE is watched no more. Lines behind it move up. */
static void drop(struct watch *watch, struct watched_line *hole)
{
        const uint64_t mask = (1ull << watch->bits) - 1;
        uint8_t *begins = begins_of(watch, hole->line);
        uint64_t place = (uint64_t)(hole - watch->lines);

        *begins -= *begins != BEGINS_STAYS;
        watch->count--;
        for (;;) {
                *hole = (struct watched_line){0};
                uint64_t home;
                do {
                        place = next_place(watch, place);
                        if (!is_watched(&watch->lines[place]))
                                return;
                        home = home_of(watch, watch->lines[place].line);
                } while (((place - home) & mask) <
                         ((place - (uint64_t)(hole - watch->lines)) & mask));
                *hole = watch->lines[place];
                hole = &watch->lines[place];
        }
}

/* ---- lines in L1 ---- */

/* WATCHED, or NULL, is watched for its use, on CORE. */
static bool is_used_on(const struct watched_line *watched, const struct core *core)
{
        return watched != NULL && watched->user != 0 && watched->core == core->number;
}

/* More of its bytes may be used. */
static bool is_open(const struct watched_line *watched)
{
        return watched->used != ALL_BYTES && watched->idle < WATCH_IDLE_MAX;
}

/* LINE is in CORE's L1, and watched or not from now on. */
static void set_watched(const struct core *core, uint64_t line, bool watched)
{
        const struct cache *l1d = &core->l1d.cache;
        const struct cache_place place = cache_place_of(l1d, line);
        const uint32_t bit = l1d_watched(cache_find(l1d, &place));

        if (watched)
                place.set->contested |= bit;
        else
                place.set->contested &= ~bit;
        if (core->hot != NULL)
                filter_set_watched(core->hot, line, watched);
}

void watch_use(struct watch *watch, const struct core *core, uint64_t address,
               uint32_t size_bytes)
{
        const uint64_t line = address >> LINE_SHIFT;
        const uint32_t from = (uint32_t)address & (LINE_BYTES - 1);
        const uint32_t room = LINE_BYTES - from;
        struct watched_line *watched = find(watch, line);

        if (is_used_on(watched, core)) {
                const uint64_t before = watched->used;
                watched->used |= size_bytes >= room ? ALL_BYTES << from
                                                    : ((1ull << size_bytes) - 1) << from;
                watched->idle =
                    watched->used != before ? 0 : (uint16_t)(watched->idle + 1);
                if (is_open(watched))
                        return;
        }
        set_watched(core, line, false);
}

uint32_t watch_sample(struct watch *watch, struct core *core, uint64_t address,
                      uint32_t size_bytes, enum line_fill fill)
{
        const uint64_t line = address >> LINE_SHIFT;
        struct watched_line *watched;

        if (watch->on_line == NULL || fill == LINE_WAS_THERE ||
            (address & (LINE_BYTES - 1)) + size_bytes > LINE_BYTES)
                return 0;
        if (2ull * watch->count >= 1ull << watch->bits)
                grow(watch);
        watched = find(watch, line);
        if (watched == NULL) {
                put(watch, &(struct watched_line){.line = line, .asker = UINT32_MAX});
                watched = find(watch, line);
        }
        watched->asker = ++watch->samples;
        watched->stamp = watch->reuse.now;
        if (fill != LINE_FROM_BEYOND || watched->user != 0)
                return watch->samples;
        watched->user = watch->samples;
        watched->core = (uint16_t)core->number;
        watched->used = 0;
        watched->idle = 0;
        set_watched(core, line, true);
        watch_use(watch, core, address, size_bytes);
        return watch->samples;
}

/* ---- requests for lines ---- */

static void request(struct watch *watch, uint64_t line)
{
        if (reuse_is_full(&watch->reuse)) {
                for (uint64_t i = 0; i < 1ull << watch->bits; i++)
                        watch->lines[i].stamp =
                            reuse_renumbered(&watch->reuse, watch->lines[i].stamp);
                reuse_renumber(&watch->reuse);
        }
        reuse_request(&watch->reuse, line);
}

static void tell_reuse(struct watch *watch, struct watched_line *watched)
{
        uint64_t others = reuse_lines_since(&watch->reuse, watched->stamp);

        watch->on_line(watched->asker, LINE_REUSE, (others + 1) * LINE_BYTES);
        watched->asker = 0;
}

static void tell_use(struct watch *watch, struct watched_line *watched)
{
        watch->on_line(watched->user, LINE_USED, watched->used);
        watched->user = 0;
}

void watch_fill(struct watch *watch, const struct core *core, uint64_t line,
                struct cache_set *set, uint32_t bit, bool from_beyond)
{
        struct watched_line *watched = find(watch, line);

        if (watched != NULL && watched->asker != 0)
                tell_reuse(watch, watched);
        if (is_used_on(watched, core)) {
                if (from_beyond)
                        tell_use(watch, watched);
                else if (is_open(watched))
                        set->contested |= l1d_watched(bit);
        }
        if (watched != NULL && !is_watched(watched))
                drop(watch, watched);
        if (reuse_hash(line) < watch->reuse.limit)
                request(watch, line);
}

void watch_finish(struct watch *watch)
{
        for (uint64_t i = 0; i < 1ull << watch->bits; i++) {
                struct watched_line *watched = &watch->lines[i];
                if (watched->user != 0)
                        tell_use(watch, watched);
                if (watched->asker != 0)
                        watch->on_line(watched->asker, LINE_REUSE, 0);
        }
        watch_forget(watch);
}

void watch_forget(struct watch *watch)
{
        for (uint64_t i = 0; i < 1ull << watch->bits; i++)
                watch->lines[i] = (struct watched_line){0};
        for (uint64_t i = 0; i < 1ull << (watch->bits + BEGINS_BITS); i++)
                watch->begins[i] = 0;
        watch->count = 0;
}
