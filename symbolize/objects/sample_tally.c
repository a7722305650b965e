/* SPDX-License-Identifier: MIT */
/* The samples are divided into parts of consecutive ids. Each thread takes the
 * remaining parts in their order. The first sample of a kind in a thread is therefore
 * its earliest. The result does not depend on the assignment of parts to threads. */
#include "sample_tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"

enum {
        PARTS = 32,
        KINDS_LEAST = 1 << 10, /* there is room for */
        /* Of a thread, which takes some 150 bytes for one: memory must not grow with the
         * samples. */
        KINDS_MOST = 1 << 17,
        /* Once there are many kinds, at most every KIND_SAMPLES-th sample may be of a
         * new kind. With fewer samples a kind, reading samples one by one is faster.
         * At first most samples are of a new kind, even of kinds that are frequent
         * later. */
        KIND_SAMPLES = 4,
        KINDS_FEW = 1 << 16,
        WAITING = 16,
};

/* ---- kinds ---- */

struct kind {
        uint64_t ip;
        uint32_t process;
        uint32_t stack;
        uint32_t epoch;
        uint32_t first; /* its number in the thread's firsts, from 1; 0: there is none */
        uint64_t many;
};

/* Kinds are aligned to their size: none crosses a line of the processor's cache. */
_Static_assert(sizeof(struct kind) == 32, "a power of two, for aligned_alloc()");

/* The counts of one thread. */
struct tally_thread {
        struct db *db;   /* a separate connection, once opened */
        uint32_t *epoch; /* of each process, at its last sample */
        uint64_t samples;
        /* A hash table with open addressing, at most half full: a kind lies in one line
         * of the processor's cache. */
        struct kind *kinds;
        size_t size;               /* a power of two */
        struct tally_kind *firsts; /* MANY once all were counted */
        size_t count;
        size_t capacity;
        size_t listed; /* of them */
};

static size_t home(const struct tally_thread *thread, const struct kind *kind)
{
        return hash_number(kind->process ^ kind->epoch,
                           kind->ip ^ (uint64_t)kind->stack << 32) &
               (thread->size - 1);
}

/* Where KIND is, or belongs. */
static struct kind *find(const struct tally_thread *thread, const struct kind *kind)
{
        for (size_t i = home(thread, kind);; i = (i + 1) & (thread->size - 1)) {
                struct kind *there = &thread->kinds[i];

                if (there->first == 0 ||
                    (there->ip == kind->ip && there->process == kind->process &&
                     there->stack == kind->stack && there->epoch == kind->epoch))
                        return there;
        }
}

static int grow(struct tally_thread *thread)
{
        struct tally_thread larger = {.size = thread->size ? 2 * thread->size
                                                           : 2 * KINDS_LEAST};
        size_t bytes = larger.size * sizeof(*larger.kinds);

        larger.kinds = aligned_alloc(sizeof(*larger.kinds), bytes);
        if (!larger.kinds)
                return -ENOMEM;
        memset(larger.kinds, 0, bytes);
        for (size_t i = 0; i < thread->size; i++)
                if (thread->kinds[i].first)
                        *find(&larger, &thread->kinds[i]) = thread->kinds[i];
        free(thread->kinds);
        thread->kinds = larger.kinds;
        thread->size = larger.size;
        return 0;
}

static int add_kind(struct tally_thread *thread, const struct kind *kind,
                    const struct raw_sample *first)
{
        if (thread->count >= KINDS_MOST ||
            (thread->count >= KINDS_FEW &&
             thread->count > thread->samples / KIND_SAMPLES))
                return -EFBIG;
        if (array_reserve(&thread->firsts, &thread->capacity, thread->count,
                          sizeof(*thread->firsts)) < 0 ||
            (2 * thread->count >= thread->size && grow(thread) < 0))
                return -ENOMEM;
        thread->firsts[thread->count++] = (struct tally_kind){.first = *first};
        struct kind *added = find(thread, kind);

        *added = *kind;
        added->first = (uint32_t)thread->count;
        added->many = 1;
        return 0;
}

/* ---- epochs of a process: its mappings do not change within an epoch ---- */

struct epoch_begin {
        uint32_t process;
        int64_t time_ns;
};

struct tally_epochs {
        struct epoch_begin *begins; /* by process and time */
        size_t count;
        size_t *first; /* of each process in BEGINS; one more at the end */
};

static int compare_begins(const void *left, const void *right)
{
        const struct epoch_begin *a = left, *b = right;

        if (a->process != b->process)
                return a->process < b->process ? -1 : 1;
        return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* Only data addresses are looked up in the mappings of stacks. */
static void list_begins(struct tally_epochs *epochs, const struct raw *raw)
{
        for (size_t i = 0; i < raw->mapping_count; i++) {
                const struct raw_mapping *mapping = &raw->mappings[i];
                const struct raw_period *period = &mapping->period;

                if (mapping->process == RAW_NONE || mapping->kind == RAW_STACK)
                        continue;
                epochs->begins[epochs->count++] =
                    (struct epoch_begin){mapping->process, period->start_ns};
                if (period->end_ns < INT64_MAX)
                        epochs->begins[epochs->count++] =
                            (struct epoch_begin){mapping->process, period->end_ns + 1};
        }
        if (epochs->count > 1)
                qsort(epochs->begins, epochs->count, sizeof(*epochs->begins),
                      compare_begins);
}

static int find_epochs(struct tally_epochs *epochs, const struct raw *raw)
{
        size_t i = 0;

        epochs->begins = malloc((2 * raw->mapping_count + 1) * sizeof(*epochs->begins));
        epochs->first = malloc((raw->process_count + 1) * sizeof(*epochs->first));
        if (!epochs->begins || !epochs->first)
                return -ENOMEM;
        list_begins(epochs, raw);
        for (size_t process = 0; process <= raw->process_count; process++) {
                while (i < epochs->count && epochs->begins[i].process < process)
                        i++;
                epochs->first[process] = i;
        }
        return epochs->count < UINT32_MAX ? 0 : -EFBIG;
}

struct tally_epochs *tally_epochs_new(const struct raw *raw)
{
        struct tally_epochs *epochs = calloc(1, sizeof(*epochs));

        if (epochs && find_epochs(epochs, raw) < 0) {
                tally_epochs_free(epochs);
                return NULL;
        }
        return epochs;
}

void tally_epochs_free(struct tally_epochs *epochs)
{
        if (!epochs)
                return;
        free(epochs->begins);
        free(epochs->first);
        free(epochs);
}

/* Advances from EPOCH of PROCESS, of an earlier time, to the epoch of TIME_NS. */
static uint32_t epoch_at(const struct tally_epochs *epochs, uint32_t process,
                         uint32_t epoch, int64_t time_ns)
{
        const struct epoch_begin *begins = epochs->begins + epochs->first[process];
        size_t count = epochs->first[process + 1] - epochs->first[process];

        while (epoch < count && begins[epoch].time_ns <= time_ns)
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
        const struct tally_epochs *epochs;
        struct part parts[PARTS];
        struct tally_thread *threads;
        parallel_ready *ready; /* with CONTEXT */
        void *context;
};

/* A thread in one part. Samples wait here until prefetches have brought their kinds
 * from memory. */
struct reading {
        struct samples samples;
        const struct tally_epochs *epochs;
        struct part part;
        struct tally_thread *thread;
        struct raw_sample waiting[WAITING];
        struct kind kinds[WAITING];
        size_t count;
};

static int count_waiting(struct reading *reading)
{
        int error = 0;

        for (size_t i = 0; i < reading->count && !error; i++) {
                struct kind *known = find(reading->thread, &reading->kinds[i]);

                if (known->first)
                        known->many++;
                else
                        error = add_kind(reading->thread, &reading->kinds[i],
                                         &reading->waiting[i]);
        }
        reading->count = 0;
        return error;
}

/* The epoch of SAMPLE, which THREAD takes. If it is earlier than an epoch before, also
 * of an earlier part, all counts are discarded. */
static uint32_t sample_epoch(const struct tally_epochs *epochs,
                             struct tally_thread *thread, const struct raw_sample *sample)
{
        if (sample->process == RAW_NONE)
                return 0;
        uint32_t *epoch = &thread->epoch[sample->process];

        *epoch = epoch_at(epochs, sample->process, *epoch, sample->time_ns);
        return *epoch;
}

static int take_sample(void *context, const struct raw_sample *sample)
{
        struct reading *reading = context;
        struct tally_thread *thread = reading->thread;
        struct kind *kind = &reading->kinds[reading->count];

        if (sample->has_addr || reading->samples.out_of_order)
                return -ENOTSUP;
        if (!reading->part.any)
                reading->part.first_ns = sample->time_ns;
        reading->part.any = true;
        reading->part.last_ns = sample->time_ns;
        thread->samples++;
        *kind = (struct kind){.ip = sample->ip,
                              .process = sample->process,
                              .stack = sample->stack,
                              .epoch = sample_epoch(reading->epochs, thread, sample)};
        __builtin_prefetch(&thread->kinds[home(thread, kind)], 1);
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

static int begin_thread(struct tally_thread *thread, const struct samples *samples)
{
        thread->epoch = calloc(samples->raw->process_count + 1, sizeof(*thread->epoch));
        int error = thread->epoch ? db_open_beside(samples->db, &thread->db) : -ENOMEM;

        return error ? error : grow(thread);
}

static int read_part(void *context, size_t worker, size_t job)
{
        struct sharing *sharing = context;
        struct sample_range range = part_range(&sharing->range, job);
        struct reading reading = {.samples = *sharing->samples,
                                  .epochs = sharing->epochs,
                                  .thread = &sharing->threads[worker]};
        int error =
            reading.thread->db ? 0 : begin_thread(reading.thread, sharing->samples);

        reading.samples.db = reading.thread->db;
        reading.samples.before_ns = INT64_MIN;
        reading.samples.sourceless = true; /* for who looks at data addresses only */
        if (!error)
                error =
                    samples_each(&reading.samples, &range, take_sample, &reading, NULL);
        sharing->parts[job] = reading.part;
        return error ? error : count_waiting(&reading);
}

/* Whether the parts are; *LAST_NS becomes the time of the last sample. */
static bool in_order(const struct sharing *sharing, int64_t *last_ns)
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
        *last_ns = before_ns;
        return true;
}

/* ---- all ---- */

static void note_counts(struct tally_thread *thread)
{
        for (size_t i = 0; i < thread->size; i++)
                if (thread->kinds[i].first)
                        thread->firsts[thread->kinds[i].first - 1].many =
                            thread->kinds[i].many;
}

/* Of the threads' next kinds the earliest. */
static const struct tally_kind *take_earliest(struct tally_thread *threads)
{
        struct tally_thread *found = NULL;

        for (size_t i = 0; i < PARALLEL_WORKERS; i++) {
                struct tally_thread *thread = &threads[i];

                if (thread->listed < thread->count &&
                    (!found || thread->firsts[thread->listed].first.sample_id <
                                   found->firsts[found->listed].first.sample_id))
                        found = thread;
        }
        return &found->firsts[found->listed++];
}

static int list_kinds(struct tally *tally)
{
        size_t count = 0;

        for (size_t i = 0; i < PARALLEL_WORKERS; i++) {
                note_counts(&tally->threads[i]);
                count += tally->threads[i].count;
        }
        tally->kinds = malloc((count + 1) * sizeof(*tally->kinds));
        if (!tally->kinds)
                return -ENOMEM;
        while (tally->count < count)
                tally->kinds[tally->count++] = take_earliest(tally->threads);
        return 0;
}

static bool others_ready(void *context)
{
        struct sharing *sharing = context;

        return !sharing->ready || sharing->ready(sharing->context);
}

static int count_all(struct sharing *sharing, int64_t *last_ns)
{
        int error = parallel_run_when(others_ready, read_part, sharing, PARTS);

        return error ? error : in_order(sharing, last_ns) ? 0 : -ENOTSUP;
}

int tally_samples(struct tally *tally, const struct tally_epochs *epochs,
                  const struct samples *samples, const struct sample_range *range,
                  parallel_ready *ready, void *context)
{
        struct sharing sharing = {.samples = samples,
                                  .range = *range,
                                  .epochs = epochs,
                                  .ready = ready,
                                  .context = context};

        *tally = (struct tally){0};
        tally->threads = calloc(PARALLEL_WORKERS, sizeof(*tally->threads));
        if (!tally->threads)
                return -ENOMEM;
        sharing.threads = tally->threads;
        int error = count_all(&sharing, &tally->last_ns);

        if (!error)
                error = list_kinds(tally);
        if (error)
                tally_free(tally);
        return error;
}

void tally_free(struct tally *tally)
{
        for (size_t i = 0; tally->threads && i < PARALLEL_WORKERS; i++) {
                db_close(tally->threads[i].db);
                free(tally->threads[i].epoch);
                free(tally->threads[i].kinds);
                free(tally->threads[i].firsts);
        }
        free(tally->threads);
        free(tally->kinds);
        *tally = (struct tally){0};
}
