/* SPDX-License-Identifier: MIT */
/* Follows the images of a simulated run, slice by slice. */
#include "sim_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "sim_deliver.h"
#include "sim_ring.h"

/* Bytes to consume before the producer is notified. */
#define RELEASE_BYTES (SIMPMU_RING_BYTES / 16)

enum image_state { IMAGE_CLAIMED, IMAGE_RUNNING, IMAGE_DAMAGED, IMAGE_ENDED };

/* Image number k uses slice k; its key for the sink is k + 1. */
struct image {
        struct sim_ring ring; /* slice NULL: not mapped (yet, or any more) */
        enum image_state state;
        bool begun;       /* the sink knows it */
        bool expected;    /* its parent forked it; the sink has stored the inherited
                             state */
        bool tracked;     /* the heap tracker is in it */
        bool header_kept; /* for the image that follows it by exec */
        bool lived;       /* at the end of the recording */
};

struct sim_images {
        struct sim_memory *memory;
        struct sink *sink;
        bool heap;
        struct image *images;
        size_t count;
        size_t capacity;
        size_t *active; /* images that may still deliver records, in order */
        size_t active_count;
        size_t active_capacity;
        uint64_t started;
        void *record; /* the current record */
};

struct sim_images *sim_images_new(struct sim_memory *memory, struct sink *sink, bool heap)
{
        struct sim_images *images = calloc(1, sizeof(*images));
        if (!images)
                return NULL;
        images->memory = memory;
        images->sink = sink;
        images->heap = heap;
        images->record = malloc(SIM_RECORD_MAX_BYTES);
        if (!images->record) {
                sim_images_free(images);
                return NULL;
        }
        return images;
}

void sim_images_free(struct sim_images *images)
{
        if (!images)
                return;
        for (size_t i = 0; i < images->count; i++)
                if (images->images[i].ring.slice)
                        sim_memory_unmap(images->images[i].ring.slice);
        free(images->images);
        free(images->active);
        free(images->record);
        free(images);
}

uint64_t sim_images_started(const struct sim_images *images)
{
        return images->started;
}

/* Maps the slices that were claimed since the last time. */
static int discover(struct sim_images *images, struct diag *diag)
{
        uint64_t claimed =
            __atomic_load_n(&images->memory->control->slices_claimed, __ATOMIC_ACQUIRE);
        if (claimed > images->memory->capacity)
                claimed = images->memory->capacity;
        while (images->count < claimed) {
                if (array_reserve(&images->images, &images->capacity, images->count,
                                  sizeof(*images->images)) < 0 ||
                    array_reserve(&images->active, &images->active_capacity,
                                  images->active_count, sizeof(*images->active)) < 0)
                        return diag_no_memory(diag);
                struct image image = {0};
                image.ring.slice = sim_memory_map(images->memory, images->count, diag);
                if (!image.ring.slice)
                        return -ENOMEM;
                images->active[images->active_count++] = images->count;
                images->images[images->count++] = image;
        }
        return 0;
}

/* ---- the end of an image ---- */

static void retire(struct sim_images *images, size_t number, bool keep_header)
{
        struct image *image = &images->images[number];
        image->state = IMAGE_ENDED;
        image->header_kept = keep_header;
        sim_memory_unmap(image->ring.slice);
        image->ring.slice = NULL;
        sim_memory_drop_ring(images->memory, number);
        if (!keep_header)
                sim_memory_drop_header(images->memory, number);
}

static int end_image(struct sim_images *images, size_t number, int64_t time_ns,
                     bool keep_header, struct diag *diag)
{
        struct image *image = &images->images[number];
        retire(images, number, keep_header);
        if (!image->begun)
                return 0;
        int rc = sink_loss(images->sink, "processes without heap objects",
                           images->heap && !image->tracked, "processes", diag);
        return rc == 0 ? sink_process_end(images->sink, time_ns, number + 1, diag) : rc;
}

/* An image that did not end by itself has counted on since its last reading. */
static int take_latest_counters(struct sim_images *images, size_t number,
                                struct diag *diag)
{
        const struct sim_ring *ring = &images->images[number].ring;
        uint32_t used = __atomic_load_n(&ring->slice->latest_counters, __ATOMIC_ACQUIRE);
        int rc = 0;
        for (uint32_t i = 0; rc == 0 && i < used && i < SIMPMU_LATEST_COUNTERS; i++) {
                struct simpmu_counters latest;
                if (sim_ring_latest_counters(ring, i, &latest))
                        rc = sim_deliver(images->sink, number + 1, &latest.header, diag);
        }
        return rc;
}

/* Of the command itself the target's end is told. */
static int note_signalled(struct sim_images *images, size_t number, struct diag *diag)
{
        return sink_loss(images->sink, "processes ended by a signal",
                         images->images[number].ring.slice->parent != 0, "processes",
                         diag);
}

static int end_by_record(struct sim_images *images, size_t number,
                         const struct simpmu_record *end, struct diag *diag)
{
        bool native = end->flags & SIMPMU_NATIVE;
        bool exec_follows = (end->flags & SIMPMU_EXECED) && !native;
        int rc = sink_loss(images->sink, "programs that the simulated PMU cannot run",
                           native, "programs", diag);
        if (rc == 0 && (end->flags & SIMPMU_SIGNALLED))
                rc = note_signalled(images, number, diag);
        if (rc == 0)
                rc = take_latest_counters(images, number, diag);
        if (rc < 0)
                return rc;
        return end_image(images, number, (int64_t)end->time_ns, exec_follows, diag);
}

/* The time an image had reached, read from its slice. */
static int64_t time_reached(const struct image *image)
{
        uint64_t now_ns = __atomic_load_n(&image->ring.slice->now_ns, __ATOMIC_RELAXED);
        return now_ns > INT64_MAX ? 0 : (int64_t)now_ns;
}

/* The ring's content is invalid: the rest of this image is lost. Its ring is emptied
 * from now on, otherwise the process would wait for ever. */
static int give_up(struct sim_images *images, struct image *image, struct diag *diag)
{
        image->state = IMAGE_DAMAGED;
        sim_ring_discard(&image->ring);
        return sink_loss(images->sink, "processes with damaged records", 1, "processes",
                         diag);
}

/* ---- records ---- */

/* Image PARENT is about to fork, and the child will be image CHILD; or that failed. */
static int expect_child(struct sim_images *images, size_t parent,
                        const struct simpmu_fork *fork, struct diag *diag)
{
        uint64_t child = fork->child;
        int rc = discover(images, diag);
        if (rc < 0 || child >= images->count)
                return rc; /* the memory file has no room for it */
        struct image *image = &images->images[child];
        if (image->state != IMAGE_CLAIMED)
                return 0;
        image->expected = !(fork->header.flags & SIMPMU_FORK_FAILED);
        if (!image->expected)
                return 0;
        image->tracked = images->images[parent].tracked;
        return sink_fork(images->sink, parent + 1, child + 1, diag);
}

static int handle_record(struct sim_images *images, size_t number, struct diag *diag)
{
        struct simpmu_record *record = images->record;
        struct image *image = &images->images[number];
        if (record->type == SIMPMU_PROCESS)
                return give_up(images, image, diag);
        if (record->type == SIMPMU_FORK)
                return expect_child(images, number, (struct simpmu_fork *)record, diag);
        if (record->type == SIMPMU_END)
                return end_by_record(images, number, record, diag);
        if (record->type == SIMPMU_TRACKER)
                image->tracked = true;
        return sim_deliver(images->sink, number + 1, record, diag);
}

/* Takes the next record of a running image. 1: one was taken; 0: the ring is empty. */
static int take_record(struct sim_images *images, size_t number, struct diag *diag)
{
        struct image *image = &images->images[number];
        const char *fault;
        int found = sim_ring_peek(&image->ring, images->record, &fault);
        if (found < 0)
                return give_up(images, image, diag);
        if (found == 0)
                return 0;
        sim_ring_pop(&image->ring, images->record);
        int rc = handle_record(images, number, diag);
        return rc < 0 ? rc : 1;
}

/* Takes all records of a running image. */
static int take_records(struct sim_images *images, size_t number, struct diag *diag)
{
        uint64_t released = images->images[number].ring.tail;
        int rc = 1;
        while (rc > 0 && images->images[number].state == IMAGE_RUNNING) {
                rc = take_record(images, number, diag);
                struct image *image = &images->images[number];
                if (image->ring.slice &&
                    (rc <= 0 || image->ring.tail - released >= RELEASE_BYTES)) {
                        sim_ring_release(&image->ring);
                        released = image->ring.tail;
                }
        }
        return rc < 0 ? rc : 0;
}

/* ---- the beginning of an image ---- */

/* After exec, a new image has replaced image NUMBER in the same process. */
static int end_replaced(struct sim_images *images, size_t number, struct diag *diag)
{
        int rc = 0;
        if (images->images[number].state == IMAGE_RUNNING)
                rc = take_records(images, number, diag);
        const struct image *image = &images->images[number];
        if (rc == 0 && image->state == IMAGE_RUNNING)
                rc = take_latest_counters(images, number, diag);
        if (rc == 0 && image->state != IMAGE_ENDED)
                rc = end_image(images, number, time_reached(image), false, diag);
        return rc;
}

static void forget_header(struct sim_images *images, size_t number)
{
        struct image *image = &images->images[number];
        if (image->header_kept)
                sim_memory_drop_header(images->memory, number);
        image->header_kept = false;
}

/* Returns the image's origin from its first record: its number + 1, or 0. */
static uint64_t origin_of(const struct sim_images *images, size_t number,
                          const struct simpmu_process *process)
{
        bool known = process->origin > 0 && process->origin <= number &&
                     images->images[process->origin - 1].begun;
        return known ? process->origin : 0;
}

/* Returns true if the parent's records that define the inherited state of a forked image
 * are pending. */
static bool awaits_fork(const struct sim_images *images, size_t number,
                        const struct simpmu_process *process)
{
        if (!(process->header.flags & SIMPMU_FORKED) || images->images[number].expected ||
            process->origin == 0 || process->origin > number)
                return false;
        enum image_state state = images->images[process->origin - 1].state;
        return state == IMAGE_CLAIMED || state == IMAGE_RUNNING;
}

/* Delivers the image's first record, the current record. */
static int begin_image(struct sim_images *images, size_t number, struct diag *diag)
{
        const struct simpmu_process *process = images->record;
        struct event_process event = {.image = number + 1,
                                      .parent = origin_of(images, number, process),
                                      .pid = process->pid,
                                      .executable = process->executable,
                                      .forked = process->header.flags & SIMPMU_FORKED};
        struct image *image = &images->images[number];
        image->state = IMAGE_RUNNING;
        image->begun = true;
        images->started++;
        return sink_process(images->sink, (int64_t)process->header.time_ns, &event, diag);
}

/* Begins a claimed image after its first record arrived. */
static int try_to_begin(struct sim_images *images, size_t number, struct diag *diag)
{
        struct image *image = &images->images[number];
        if (__atomic_load_n(&image->ring.slice->magic, __ATOMIC_ACQUIRE) != SIMPMU_MAGIC)
                return 0;
        const struct simpmu_process *process = images->record;
        const char *fault;
        int found = sim_ring_peek(&image->ring, images->record, &fault);
        if (found == 0)
                return 0;
        if (found < 0 || process->header.type != SIMPMU_PROCESS)
                return give_up(images, image, diag);
        if (awaits_fork(images, number, process))
                return 0;
        bool forked = process->header.flags & SIMPMU_FORKED;
        uint64_t before = forked ? 0 : origin_of(images, number, process);
        if (before && images->images[before - 1].state != IMAGE_ENDED) {
                int rc = end_replaced(images, before - 1, diag);
                /* Its records have overwritten the current record. */
                return rc < 0 ? rc : try_to_begin(images, number, diag);
        }
        if (before)
                forget_header(images, before - 1);
        sim_ring_pop(&image->ring, process);
        return begin_image(images, number, diag);
}

/* ---- draining ---- */

static void forget_ended(struct sim_images *images)
{
        size_t kept = 0;
        for (size_t i = 0; i < images->active_count; i++)
                if (images->images[images->active[i]].state != IMAGE_ENDED)
                        images->active[kept++] = images->active[i];
        images->active_count = kept;
}

/* Takes the available records of image NUMBER, which has not ended. */
static int take(struct sim_images *images, size_t number, struct diag *diag)
{
        int rc = 0;
        if (images->images[number].state == IMAGE_CLAIMED)
                rc = try_to_begin(images, number, diag);
        if (rc == 0 && images->images[number].state == IMAGE_RUNNING)
                rc = take_records(images, number, diag);
        if (images->images[number].state == IMAGE_DAMAGED)
                sim_ring_discard(&images->images[number].ring);
        return rc;
}

int sim_images_drain(struct sim_images *images, struct diag *diag)
{
        int rc = discover(images, diag);
        /* In slice order: an image follows its origin. */
        for (size_t i = 0; rc == 0 && i < images->active_count; i++)
                rc = take(images, images->active[i], diag);
        forget_ended(images);
        return rc;
}

/* ---- the end ---- */

/* Takes the records of image NUMBER. If its process had ended before, the records are
 * complete. */
static int take_last(struct sim_images *images, size_t number, struct diag *diag)
{
        enum image_state before;
        int rc;
        do { /* repeated if the image has just begun: before, it has no lock */
                before = images->images[number].state;
                images->images[number].lived = sim_memory_lives(images->memory, number);
                rc = take(images, number, diag);
        } while (rc == 0 && before == IMAGE_CLAIMED &&
                 images->images[number].state == IMAGE_RUNNING &&
                 !images->images[number].lived);
        if (rc == 0 && images->images[number].state == IMAGE_RUNNING)
                rc = take_latest_counters(images, number, diag);
        return rc;
}

/* A child's slice follows its parent's slice, and the parent's records announce the
 * child. Therefore no child of an ended process is missed, however late it runs. */
static int take_rest(struct sim_images *images, struct diag *diag)
{
        int rc = discover(images, diag);
        for (size_t i = 0; rc == 0 && i < images->active_count; i++)
                rc = take_last(images, images->active[i], diag);
        return rc;
}

/* Returns true if the image's process is between two images. */
static bool executes(const struct image *image)
{
        return image->header_kept ||
               (image->state == IMAGE_RUNNING &&
                __atomic_load_n(&image->ring.slice->executing, __ATOMIC_ACQUIRE));
}

/* SIGKILL leaves no last record. */
static bool was_killed(const struct image *image)
{
        return image->state == IMAGE_RUNNING && !image->lived && !executes(image);
}

/* Returns the ledger's name for a process that outlives the command, or whose end was
 * not recorded; NULL: neither. Between two programs a process holds no lock, and its
 * liveness is unknown. Likewise unknown is a child that has not begun: it may have been
 * killed or may wait for a CPU. */
static const char *fate_of(const struct image *image)
{
        bool claimed = image->state == IMAGE_CLAIMED;
        bool ended = image->state == IMAGE_ENDED;
        if (image->lived && !ended && (!claimed || image->expected))
                return LOSS_LEFT_RUNNING;
        if (executes(image))
                return "processes between two programs";
        return claimed && image->expected ? "processes without records" : NULL;
}

static int count_survivors(struct sim_images *images, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < images->count; i++) {
                const char *fate = fate_of(&images->images[i]);
                if (fate)
                        rc = sink_loss(images->sink, fate, 1, "processes", diag);
        }
        return rc;
}

int sim_images_finish(struct sim_images *images, struct diag *diag)
{
        int rc = take_rest(images, diag);
        if (rc == 0)
                rc = count_survivors(images, diag);
        sim_images_stop(images);
        for (size_t i = 0; rc == 0 && i < images->active_count; i++) {
                struct image *image = &images->images[images->active[i]];
                if (was_killed(image))
                        rc = note_signalled(images, images->active[i], diag);
                if (rc == 0 &&
                    (image->state == IMAGE_RUNNING || image->state == IMAGE_DAMAGED))
                        rc = end_image(images, images->active[i], time_reached(image),
                                       false, diag);
        }
        forget_ended(images);
        uint64_t claimed =
            __atomic_load_n(&images->memory->control->slices_claimed, __ATOMIC_ACQUIRE);
        uint64_t capacity = images->memory->capacity;
        if (rc == 0)
                rc = sink_loss(images->sink, "processes beyond the memory file",
                               claimed > capacity ? claimed - capacity : 0, "processes",
                               diag);
        if (rc == 0)
                rc = sink_loss(images->sink, "allocating calls not told of",
                               __atomic_load_n(&images->memory->control->calls_untold,
                                               __ATOMIC_RELAXED),
                               "calls", diag);
        return rc == 0 ? sink_loss(images->sink, "sandboxes refused",
                                   sim_images_sandboxes_refused(images), "calls", diag)
                       : rc;
}

uint64_t sim_images_sandboxes_refused(const struct sim_images *images)
{
        return __atomic_load_n(&images->memory->control->sandboxes_refused,
                               __ATOMIC_RELAXED);
}

void sim_images_stop(struct sim_images *images)
{
        __atomic_store_n(&images->memory->control->stop, 1, __ATOMIC_SEQ_CST);
        for (size_t i = 0; i < images->active_count; i++)
                if (images->images[images->active[i]].ring.slice)
                        sim_ring_discard(&images->images[images->active[i]].ring);
}
