/* SPDX-License-Identifier: MIT */
/* The samples are shared out in parts of consecutive ids. Each thread takes the parts
 * that are left in their order, so that the first sample of a kind that it meets is its
 * earliest, and what is handed on does not depend on who took which part. */
#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"
#include "parallel.h"

enum {
        PARTS = 32,
        KINDS_LEAST = 1 << 10, /* there is room for */
        KINDS_MOST = 1 << 20,  /* of a thread: memory must not grow with the samples */
        WAITING = 16,
};

/* ---- kinds ---- */

struct kind {
        uint64_t ip;
        uint32_t process;
        uint32_t stack;
        uint32_t epoch;
        uint32_t first; /* its number in the tally's firsts, from 1; 0: there is none */
        uint64_t many;
};

struct first {
        struct raw_sample sample;
        uint64_t many; /* once all were counted */
};

/* What one thread counts. */
struct tally {
        struct db *db; /* its own connection, once it has opened it */
        /* A hash table with open addressing, at most half full: a kind lies in one line
         * of the processor's cache. */
        struct kind *kinds;
        size_t size; /* a power of two */
        struct first *firsts;
        size_t count;
        size_t capacity;
        size_t next; /* to be handed on */
};

static size_t home(const struct tally *tally, const struct kind *kind)
{
        return hash_number(kind->process ^ kind->epoch,
                           kind->ip ^ (uint64_t)kind->stack << 32) &
               (tally->size - 1);
}

/* Where KIND is, or belongs. */
static struct kind *find(const struct tally *tally, const struct kind *kind)
{
        for (size_t i = home(tally, kind);; i = (i + 1) & (tally->size - 1)) {
                struct kind *there = &tally->kinds[i];

                if (there->first == 0 ||
                    (there->ip == kind->ip && there->process == kind->process &&
                     there->stack == kind->stack && there->epoch == kind->epoch))
                        return there;
        }
}

static int grow(struct tally *tally)
{
        struct tally larger = {.size = tally->size ? 2 * tally->size : 2 * KINDS_LEAST};
        size_t bytes = larger.size * sizeof(*larger.kinds);

        larger.kinds = aligned_alloc(sizeof(*larger.kinds), bytes);
        if (!larger.kinds)
                return -ENOMEM;
        memset(larger.kinds, 0, bytes);
        for (size_t i = 0; i < tally->size; i++)
                if (tally->kinds[i].first)
                        *find(&larger, &tally->kinds[i]) = tally->kinds[i];
        free(tally->kinds);
        tally->kinds = larger.kinds;
        tally->size = larger.size;
        return 0;
}

static int add_kind(struct tally *tally, const struct kind *kind,
                    const struct raw_sample *first)
{
        if (tally->count >= KINDS_MOST)
                return -EFBIG;
        if (array_reserve(&tally->firsts, &tally->capacity, tally->count,
                          sizeof(*tally->firsts)) < 0 ||
            (2 * tally->count >= tally->size && grow(tally) < 0))
                return -ENOMEM;
        tally->firsts[tally->count++] = (struct first){.sample = *first};
        struct kind *added = find(tally, kind);

        *added = *kind;
        added->first = (uint32_t)tally->count;
        added->many = 1;
        return 0;
}

/* ---- epochs, in which no mapping comes or goes ---- */

struct epochs {
        int64_t *begins; /* ascending */
        size_t count;
};

static int compare_times(const void *left, const void *right)
{
        const int64_t *a = left, *b = right;

        return *a < *b ? -1 : *a > *b;
}

static int find_epochs(struct epochs *epochs, const struct raw *raw)
{
        epochs->begins = malloc((2 * raw->mapping_count + 1) * sizeof(*epochs->begins));
        if (!epochs->begins)
                return -ENOMEM;
        for (size_t i = 0; i < raw->mapping_count; i++) {
                const struct raw_period *period = &raw->mappings[i].period;

                epochs->begins[epochs->count++] = period->start_ns;
                if (period->end_ns < INT64_MAX)
                        epochs->begins[epochs->count++] = period->end_ns + 1;
        }
        if (epochs->count > 1)
                qsort(epochs->begins, epochs->count, sizeof(*epochs->begins),
                      compare_times);
        return epochs->count < UINT32_MAX ? 0 : -EFBIG;
}

/* Goes on from EPOCH, of an earlier time, to that of TIME_NS. */
static uint32_t epoch_at(const struct epochs *epochs, uint32_t epoch, int64_t time_ns)
{
        while (epoch < epochs->count && epochs->begins[epoch] <= time_ns)
                epoch++;
        return epoch;
}

/* ---- parts ---- */

struct part {
        int64_t first_ns; /* of its samples, if it has any */
        int64_t last_ns;
        bool any;
};

struct sharing {
        const struct samples *samples;
        struct sample_range range;
        struct epochs epochs;
        struct part parts[PARTS];
        struct tally tallies[PARALLEL_WORKERS];
};

/* A thread in one part. So many samples wait until their kinds have come from memory. */
struct reading {
        struct samples samples;
        const struct epochs *epochs;
        uint32_t epoch;
        struct part part;
        struct tally *tally;
        struct raw_sample waiting[WAITING];
        struct kind kinds[WAITING];
        size_t count;
};

static int count_waiting(struct reading *reading)
{
        int error = 0;

        for (size_t i = 0; i < reading->count && !error; i++) {
                struct kind *known = find(reading->tally, &reading->kinds[i]);

                if (known->first)
                        known->many++;
                else
                        error = add_kind(reading->tally, &reading->kinds[i],
                                         &reading->waiting[i]);
        }
        reading->count = 0;
        return error;
}

static int take_sample(void *context, const struct raw_sample *sample)
{
        struct reading *reading = context;
        struct tally *tally = reading->tally;
        struct kind *kind = &reading->kinds[reading->count];

        if (sample->has_addr || reading->samples.out_of_order)
                return -ENOTSUP;
        if (!reading->part.any)
                reading->part.first_ns = sample->time_ns;
        reading->part.any = true;
        reading->part.last_ns = sample->time_ns;
        reading->epoch = epoch_at(reading->epochs, reading->epoch, sample->time_ns);
        *kind = (struct kind){.ip = sample->ip,
                              .process = sample->process,
                              .stack = sample->stack,
                              .epoch = reading->epoch};
        __builtin_prefetch(&tally->kinds[home(tally, kind)], 1);
        reading->waiting[reading->count++] = *sample;
        return reading->count < WAITING ? 0 : count_waiting(reading);
}

/* The ids of part number PART, which may be none. */
static struct sample_range part_range(const struct sample_range *all, size_t part)
{
        uint64_t ids = (uint64_t)all->last - (uint64_t)all->first;
        uint64_t size = ids / PARTS + 1, from = part * size, to = from + size - 1;

        if (from > ids)
                return (struct sample_range){0, -1};
        return (struct sample_range){
            (int64_t)((uint64_t)all->first + from),
            (int64_t)((uint64_t)all->first + (to < ids ? to : ids))};
}

static int begin_tally(struct tally *tally, const struct db *db)
{
        int error = db_open_beside(db, &tally->db);

        return error ? error : grow(tally);
}

static int read_part(void *context, size_t worker, size_t job)
{
        struct sharing *sharing = context;
        struct sample_range range = part_range(&sharing->range, job);
        struct reading reading = {.samples = *sharing->samples,
                                  .epochs = &sharing->epochs,
                                  .tally = &sharing->tallies[worker]};
        int error =
            reading.tally->db ? 0 : begin_tally(reading.tally, sharing->samples->db);

        reading.samples.db = reading.tally->db;
        reading.samples.before_ns = INT64_MIN;
        if (!error)
                error =
                    samples_each(&reading.samples, &range, take_sample, &reading, NULL);
        sharing->parts[job] = reading.part;
        return error ? error : count_waiting(&reading);
}

static bool in_order(const struct sharing *sharing)
{
        int64_t before_ns = sharing->samples->before_ns;

        for (size_t i = 0; i < PARTS; i++) {
                const struct part *part = &sharing->parts[i];

                if (!part->any)
                        continue;
                if (part->first_ns < before_ns)
                        return false;
                before_ns = part->last_ns;
        }
        return true;
}

/* ---- handing on ---- */

static void note_counts(struct tally *tally)
{
        for (size_t i = 0; i < tally->size; i++)
                if (tally->kinds[i].first)
                        tally->firsts[tally->kinds[i].first - 1].many =
                            tally->kinds[i].many;
}

/* Of the threads' next kinds the earliest. NULL: all were handed on. */
static const struct first *take_earliest(struct sharing *sharing)
{
        struct tally *found = NULL;

        for (size_t i = 0; i < PARALLEL_WORKERS; i++) {
                struct tally *tally = &sharing->tallies[i];

                if (tally->next < tally->count &&
                    (!found || tally->firsts[tally->next].sample.sample_id <
                                   found->firsts[found->next].sample.sample_id))
                        found = tally;
        }
        return found ? &found->firsts[found->next++] : NULL;
}

static int hand_on(struct sharing *sharing, tally_visit *visit, void *context)
{
        const struct first *first;
        int error = 0;

        for (size_t i = 0; i < PARALLEL_WORKERS; i++)
                note_counts(&sharing->tallies[i]);
        while (!error && (first = take_earliest(sharing)) != NULL)
                error = visit(context, &first->sample, first->many);
        return error;
}

static void free_all(struct sharing *sharing)
{
        for (size_t i = 0; i < PARALLEL_WORKERS; i++) {
                db_close(sharing->tallies[i].db);
                free(sharing->tallies[i].kinds);
                free(sharing->tallies[i].firsts);
        }
        free(sharing->epochs.begins);
}

int tally_samples(const struct samples *samples, const struct sample_range *range,
                  tally_visit *visit, void *context, bool *done)
{
        struct sharing sharing = {.samples = samples, .range = *range};
        int error = 0;

        *done = find_epochs(&sharing.epochs, samples->raw) == 0 &&
                parallel_run(read_part, &sharing, PARTS) == 0 && in_order(&sharing);
        if (*done)
                error = hand_on(&sharing, visit, context);
        free_all(&sharing);
        return error;
}
