/* SPDX-License-Identifier: MIT */
/* Turns the events of any source into rows: keeps each process image's threads,
 * mappings and live heap blocks as they are at the moment, so that fork, exec,
 * partial unmapping and reused addresses come out right. Knows the writer's
 * interface, and nothing of where events come from.
 *
 * Threads of one image have clocks of their own in a simulated PMU, so its events
 * come in the order in which they happened, but not quite in the order of their
 * times. Rows follow the order: what changes the image is never earlier than an
 * event before it, and no sample is earlier than the change that it saw. */
#include "sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/live.h"
#include "intern.h"
#include "mapping_set.h"
#include "sink_losses.h"
#include "sink_modules.h"
#include "sink_readings.h"

/* A fork's child may be heard of only after its parent's end; so the state of the
 * images that ended last is kept. */
#define ENDED_IMAGES_KEPT 4

struct thread {
        int64_t thread_id;
        uint32_t tid;
        bool ended;
        uint64_t thread_pointer; /* written; 0: none yet */
        size_t next;             /* of the same image: index + 1, 0 for none */
};

struct image {
        int64_t process_id;
        uint32_t pid;
        bool begun; /* false: only what it will inherit is known */
        bool ended;
        int64_t changed_ns;  /* the latest change of threads, mappings or heap */
        int64_t latest_ns;   /* the latest event of any kind */
        size_t first_thread; /* index + 1, 0 for none */
        struct mapping_set mappings;
        struct heap_live *heap;
};

struct sink {
        struct writer *writer;
        bool imported;
        struct sink_modules *modules;
        struct sink_readings *readings;
        struct sink_losses losses;
        struct context_intern *image_index;  /* (0, image key) → index + 1 */
        struct context_intern *thread_index; /* (image index, tid) → index + 1 */
        struct image *images;
        size_t image_count;
        size_t image_capacity;
        struct thread *threads;
        size_t thread_count;
        size_t thread_capacity;
        size_t ended[ENDED_IMAGES_KEPT]; /* index + 1 */
        size_t ended_next;
        struct heap_sites *sites;
        struct unhandled_instruction unhandled;
        int64_t latest_ns;
        uint64_t samples;
        uint64_t memory_samples; /* of these */
};

/* ---- making and ending ---- */

int sink_open(struct writer *writer, struct sink **result, struct diag *diag)
{
        struct sink *sink = calloc(1, sizeof(*sink));
        if (!sink)
                return diag_no_memory(diag);
        sink->writer = writer;
        sink->image_index = context_intern_new();
        sink->thread_index = context_intern_new();
        sink->modules = sink_modules_new(writer);
        sink->readings = sink_readings_new(writer);
        sink->sites = heap_sites_new();
        if (!sink->image_index || !sink->thread_index || !sink->modules ||
            !sink->readings || !sink->sites) {
                sink_close(sink);
                return diag_no_memory(diag);
        }
        *result = sink;
        return 0;
}

void sink_set_imported(struct sink *sink)
{
        sink->imported = true;
        sink_modules_set_imported(sink->modules);
}

static void forget_state(struct image *image)
{
        mapping_set_free(&image->mappings);
        heap_live_free(image->heap);
        image->heap = NULL;
}

void sink_close(struct sink *sink)
{
        if (!sink)
                return;
        for (size_t i = 0; i < sink->image_count; i++)
                forget_state(&sink->images[i]);
        sink_modules_free(sink->modules);
        sink_readings_free(sink->readings);
        sink_losses_free(&sink->losses);
        context_intern_free(sink->image_index);
        context_intern_free(sink->thread_index);
        heap_sites_free(sink->sites);
        free(sink->images);
        free(sink->threads);
        free(sink);
}

static int write_site_totals(struct sink *sink, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < heap_sites_count(sink->sites); i++) {
                const struct heap_site *site = heap_sites_at(sink->sites, i);
                if (site->stack_id)
                        rc = writer_allocation_total(
                            sink->writer, site->stack_id, site->function,
                            site->allocations, site->total_bytes, site->peak_bytes, diag);
        }
        return rc;
}

static int end_image(struct sink *sink, struct image *image, int64_t time_ns,
                     struct diag *diag);

int sink_finish(struct sink *sink, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < sink->image_count; i++)
                if (sink->images[i].begun && !sink->images[i].ended)
                        rc = end_image(sink, &sink->images[i], sink->images[i].latest_ns,
                                       diag);
        return rc == 0 ? write_site_totals(sink, diag) : rc;
}

int64_t sink_latest_ns(const struct sink *sink)
{
        return sink->latest_ns;
}

uint64_t sink_samples(const struct sink *sink)
{
        return sink->samples;
}

uint64_t sink_memory_samples(const struct sink *sink)
{
        return sink->memory_samples;
}

size_t sink_images(const struct sink *sink)
{
        return sink->image_count;
}

const struct unhandled_instruction *sink_unhandled_instruction(const struct sink *sink)
{
        return &sink->unhandled;
}

/* ---- the ledger ---- */

int sink_loss(struct sink *sink, const char *kind, uint64_t count, const char *unit)
{
        return sink_losses_add(&sink->losses, kind, count, unit);
}

int sink_write_ledger(const struct sink *sink, struct db *db, struct diag *diag)
{
        return sink_losses_write(&sink->losses, db, sink->imported ? "import" : "record",
                                 diag);
}

/* ---- times ---- */

static void saw_time(struct sink *sink, struct image *image, int64_t time_ns)
{
        if (time_ns > image->latest_ns)
                image->latest_ns = time_ns;
        if (time_ns > sink->latest_ns)
                sink->latest_ns = time_ns;
}

/* The time of something that changes the image. */
static int64_t time_of_change(struct sink *sink, struct image *image, int64_t time_ns)
{
        if (time_ns < image->latest_ns)
                time_ns = image->latest_ns;
        image->changed_ns = time_ns;
        saw_time(sink, image, time_ns);
        return time_ns;
}

static int64_t time_of_sample(struct sink *sink, struct image *image, int64_t time_ns)
{
        if (time_ns < image->changed_ns)
                time_ns = image->changed_ns;
        saw_time(sink, image, time_ns);
        return time_ns;
}

/* ---- images and threads ---- */

/* The live image of KEY, or NULL. */
static struct image *find_image(const struct sink *sink, image_key key)
{
        int64_t index = context_intern_find(sink->image_index, 0, key);
        return index ? &sink->images[index - 1] : NULL;
}

static int lose(struct sink *sink, const char *kind, const char *unit, struct diag *diag)
{
        return sink_loss(sink, kind, 1, unit) < 0 ? diag_no_memory(diag) : 0;
}

/* The same in *IMAGE; an event without one (NULL) is counted, and to be dropped. */
static int image_of_event(struct sink *sink, image_key key, struct image **image,
                          struct diag *diag)
{
        *image = find_image(sink, key);
        if (*image && (*image)->begun && !(*image)->ended)
                return 0;
        *image = NULL;
        return lose(sink, "events without a process", "events", diag);
}

static int add_thread(struct sink *sink, struct image *image, uint32_t tid,
                      const char *name, int64_t time_ns, struct thread **result,
                      struct diag *diag)
{
        if (sink->thread_count == sink->thread_capacity) {
                size_t capacity = sink->thread_capacity * 2 + 16;
                struct thread *threads =
                    reallocarray(sink->threads, capacity, sizeof(*threads));
                if (!threads)
                        return diag_no_memory(diag);
                sink->threads = threads;
                sink->thread_capacity = capacity;
        }
        struct thread thread = {.tid = tid};
        int rc = writer_thread(sink->writer, image->process_id, (int32_t)tid, name,
                               time_ns, &thread.thread_id, diag);
        if (rc < 0)
                return rc;
        struct context_node *node = context_intern_place(
            sink->thread_index, (uint64_t)(image - sink->images), tid);
        if (!node)
                return diag_no_memory(diag);
        thread.next = image->first_thread;
        sink->threads[sink->thread_count++] = thread;
        image->first_thread = sink->thread_count;
        node->id = (int64_t)sink->thread_count;
        *result = &sink->threads[sink->thread_count - 1];
        return 0;
}

static struct thread *find_thread(struct sink *sink, const struct image *image,
                                  uint32_t tid)
{
        int64_t index = context_intern_find(sink->thread_index,
                                            (uint64_t)(image - sink->images), tid);
        return index ? &sink->threads[index - 1] : NULL;
}

/* The thread TID, which begins now when nothing was heard of it before. */
static int thread_of_event(struct sink *sink, struct image *image, uint32_t tid,
                           int64_t time_ns, struct thread **thread, struct diag *diag)
{
        *thread = find_thread(sink, image, tid);
        return *thread ? 0 : add_thread(sink, image, tid, NULL, time_ns, thread, diag);
}

static int end_thread(struct sink *sink, struct thread *thread, int64_t time_ns,
                      struct diag *diag)
{
        if (thread->ended)
                return 0;
        thread->ended = true;
        return writer_thread_end(sink->writer, thread->thread_id, time_ns, diag);
}

int sink_thread(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                const char *name, struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        time_ns = time_of_change(sink, image, time_ns);
        struct thread *before = find_thread(sink, image, tid);
        rc = before ? end_thread(sink, before, time_ns, diag) : 0;
        struct thread *thread;
        return rc == 0 ? add_thread(sink, image, tid, name, time_ns, &thread, diag) : rc;
}

int sink_thread_name(struct sink *sink, image_key key, uint32_t tid, const char *name,
                     struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        struct thread *thread = image ? find_thread(sink, image, tid) : NULL;
        return thread ? writer_thread_name(sink->writer, thread->thread_id, name, diag)
                      : rc;
}

int sink_thread_end(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                    struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        time_ns = time_of_change(sink, image, time_ns);
        struct thread *thread = find_thread(sink, image, tid);
        return thread ? end_thread(sink, thread, time_ns, diag) : 0;
}

/* ---- mappings ---- */

/* What a mapping listener or a heap listener needs to write rows. */
struct row_context {
        struct sink *sink;
        struct image *image;
        int64_t time_ns;
        struct diag *diag;
};

static int mapping_ended(void *pointer, const struct mapped *piece)
{
        const struct row_context *context = pointer;
        return writer_mapping_end(context->sink->writer, piece->mapping_id,
                                  context->time_ns, context->diag);
}

static int mapping_begun(void *pointer, struct mapped *piece)
{
        const struct row_context *context = pointer;
        struct thread *owner =
            piece->stack_tid
                ? find_thread(context->sink, context->image, piece->stack_tid)
                : NULL;
        char protection[sizeof(piece->protection)];
        memcpy(protection, piece->protection, sizeof(protection));
        struct mapping_row row = {
            .process_id = context->image->process_id,
            .kind = (enum mapping_kind)piece->kind,
            .start_addr = piece->start_addr,
            .length_bytes = piece->length_bytes,
            .file_offset_bytes = piece->file_offset_bytes,
            .module_id = piece->module_id,
            .thread_id = owner ? owner->thread_id : 0,
            .protection = protection,
            .start_ns = context->time_ns,
        };
        return writer_mapping(context->sink->writer, &row, &piece->mapping_id,
                              context->diag);
}

static struct mapping_listener listener_of(struct row_context *context)
{
        return (struct mapping_listener){mapping_ended, mapping_begun, context};
}

/* A thread's stack may lie in a block that the program allocated for it, and be told with
 * the whole mapping that the block is part of. It is the block then, and no mapping. */
static bool is_in_block(const struct image *image, const struct event_mapping *event)
{
        return event->kind == MAPPING_STACK && event->stack_tid != 0 &&
               event->length_bytes > 0 &&
               heap_live_holds(image->heap, event->start_addr + event->length_bytes - 1);
}

int sink_mapping(struct sink *sink, int64_t time_ns, const struct event_mapping *event,
                 struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, event->image, &image, diag);
        if (!image || is_in_block(image, event))
                return rc;
        struct mapped piece = {
            .start_addr = event->start_addr,
            .length_bytes = event->length_bytes,
            .file_offset_bytes = event->file_offset_bytes,
            .kind = event->kind,
            .stack_tid = event->stack_tid,
        };
        memcpy(piece.protection, event->protection, sizeof(piece.protection));
        rc = sink_modules_find(sink->modules, event, &piece.module_id, diag);
        if (rc < 0)
                return rc;
        struct row_context context = {sink, image, time_of_change(sink, image, time_ns),
                                      diag};
        struct mapping_listener listener = listener_of(&context);
        rc = mapping_set_add(&image->mappings, &piece, &listener);
        if (rc == -ENOMEM)
                return diag_no_memory(diag);
        if (rc == -EINVAL)
                return lose(sink, "mappings that make no sense", "mappings", diag);
        return rc;
}

/* ---- heap ---- */

static int block_ended(void *pointer, const struct heap_block *block)
{
        const struct row_context *context = pointer;
        if (block->allocation_id == 0)
                return 0;
        return writer_allocation_end(context->sink->writer, block->allocation_id,
                                     context->time_ns, context->diag);
}

/* A failure of heap/live.h: out of memory has no message yet. */
static int heap_result(int rc, struct diag *diag)
{
        return rc == -ENOMEM ? diag_no_memory(diag) : rc;
}

int sink_unmapping(struct sink *sink, int64_t time_ns, image_key key, uint64_t start_addr,
                   uint64_t length_bytes, struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        if (!image || length_bytes == 0)
                return rc;
        struct row_context context = {sink, image, time_of_change(sink, image, time_ns),
                                      diag};
        struct mapping_listener listener = listener_of(&context);
        rc = mapping_set_remove(&image->mappings, start_addr, length_bytes, &listener);
        if (rc == 0)
                rc = heap_live_end_range(image->heap, start_addr, length_bytes,
                                         context.time_ns, block_ended, &context);
        return heap_result(rc, diag);
}

int sink_replaced(struct sink *sink, int64_t time_ns, image_key key, uint64_t start_addr,
                  uint64_t length_bytes, struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        if (!image || length_bytes == 0)
                return rc;
        struct row_context context = {sink, image, time_of_change(sink, image, time_ns),
                                      diag};
        return heap_result(heap_live_end_range(image->heap, start_addr, length_bytes,
                                               context.time_ns, block_ended, &context),
                           diag);
}

int sink_stack(struct sink *sink, image_key key, const uint64_t *frames, size_t depth,
               int64_t *stack, struct diag *diag)
{
        const struct image *image = find_image(sink, key);
        *stack = 0;
        if (!image || !image->begun || depth == 0)
                return 0;
        return writer_stack(sink->writer, image->process_id, frames, depth, stack, diag);
}

int sink_allocation(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                    const char *function, uint64_t addr, uint64_t size_bytes,
                    const uint64_t *frames, size_t depth, struct diag *diag)
{
        int64_t stack;
        int rc = sink_stack(sink, key, frames, depth, &stack, diag);
        return rc == 0 ? sink_allocation_at(sink, time_ns, key, tid, function, addr,
                                            size_bytes, stack, diag)
                       : rc;
}

int sink_allocation_at(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                       const char *function, uint64_t addr, uint64_t size_bytes,
                       int64_t stack, struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        struct row_context context = {sink, image, time_of_change(sink, image, time_ns),
                                      diag};
        struct thread *thread;
        rc = thread_of_event(sink, image, tid, context.time_ns, &thread, diag);
        if (rc < 0)
                return rc;
        struct heap_block block = {.addr = addr,
                                   .size_bytes = size_bytes,
                                   .start_ns = context.time_ns,
                                   .thread_id = thread->thread_id};
        rc = heap_sites_find(sink->sites, stack, function, &block.site);
        if (rc == 0)
                rc = heap_live_begin(image->heap, &block, block_ended, &context);
        return heap_result(rc, diag);
}

/* BLOCK has gone from the live ones where FOUND is 1; else that is what it says. */
static int after_end(struct sink *sink, struct image *image, int64_t time_ns, int found,
                     const struct heap_block *block, struct diag *diag)
{
        if (found <= 0)
                return heap_result(found, diag);
        struct row_context context = {sink, image, time_of_change(sink, image, time_ns),
                                      diag};
        return block_ended(&context, block);
}

int sink_free(struct sink *sink, int64_t time_ns, image_key key, uint64_t addr,
              struct diag *diag)
{
        struct image *image;
        struct heap_block block;
        int found = image_of_event(sink, key, &image, diag);
        if (image)
                found = heap_live_end(image->heap, addr, &block);
        return after_end(sink, image, time_ns, found, &block, diag);
}

int sink_resize(struct sink *sink, image_key key, uint32_t tid, uint64_t addr,
                struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        if (image)
                rc = heap_live_resize(image->heap, addr, tid);
        return heap_result(rc, diag);
}

int sink_resized(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                 uint64_t addr, struct diag *diag)
{
        struct image *image;
        struct heap_block block;
        int found = image_of_event(sink, key, &image, diag);
        if (image)
                found = heap_live_end_resized(image->heap, addr, tid, &block);
        return after_end(sink, image, time_ns, found, &block, diag);
}

/* The row of the block that ADDR fell into; blocks without samples have none. */
static int write_block(struct sink *sink, struct image *image, uint64_t addr,
                       struct diag *diag)
{
        struct heap_block *block;
        int rc = heap_live_find(image->heap, addr, &block);
        if (rc < 0 || !block || block->allocation_id)
                return heap_result(rc, diag);
        const struct heap_site *site = heap_sites_at(sink->sites, block->site);
        struct allocation_row row = {.process_id = image->process_id,
                                     .thread_id = block->thread_id,
                                     .function = site->function,
                                     .addr = block->addr,
                                     .size_bytes = block->size_bytes,
                                     .stack_id = site->stack_id,
                                     .start_ns = block->start_ns};
        return writer_allocation(sink->writer, &row, &block->allocation_id, diag);
}

/* ---- processes ---- */

static int add_image(struct sink *sink, image_key key, struct image **image,
                     struct diag *diag)
{
        if (sink->image_count == sink->image_capacity) {
                size_t capacity = sink->image_capacity * 2 + 16;
                struct image *images =
                    reallocarray(sink->images, capacity, sizeof(*images));
                if (!images)
                        return diag_no_memory(diag);
                sink->images = images;
                sink->image_capacity = capacity;
        }
        struct context_node *node = context_intern_place(sink->image_index, 0, key);
        if (!node)
                return diag_no_memory(diag);
        *image = &sink->images[sink->image_count++];
        **image = (struct image){0};
        node->id = (int64_t)sink->image_count;
        return 0;
}

/* A forked child begins with its parent's mappings and live blocks. */
static int inherit(struct image *image, const struct image *parent, struct diag *diag)
{
        forget_state(image);
        if (mapping_set_copy(&image->mappings, &parent->mappings) < 0)
                return diag_no_memory(diag);
        image->heap = heap_live_copy(parent->heap);
        return image->heap ? 0 : diag_no_memory(diag);
}

int sink_fork(struct sink *sink, image_key parent_key, image_key child_key,
              struct diag *diag)
{
        struct image *child = find_image(sink, child_key);
        if (child && child->begun)
                return 0;
        int rc = child ? 0 : add_image(sink, child_key, &child, diag);
        const struct image *parent = find_image(sink, parent_key);
        return rc == 0 && parent && parent->heap ? inherit(child, parent, diag) : rc;
}

static int begin_image(struct sink *sink, struct image *image, int64_t time_ns,
                       const struct event_process *event, struct diag *diag)
{
        const struct image *parent =
            event->parent ? find_image(sink, event->parent) : NULL;
        image->begun = true;
        image->pid = event->pid;
        image->changed_ns = time_ns;
        saw_time(sink, image, time_ns);
        int rc = 0;
        if (!event->forked)
                forget_state(image);
        else if (!image->heap && parent && parent->heap)
                rc = inherit(image, parent, diag);
        if (rc < 0)
                return rc;
        return writer_process(sink->writer, (int32_t)event->pid,
                              parent ? parent->process_id : 0, event->executable, time_ns,
                              &image->process_id, diag);
}

/* Gives each inherited mapping its row. */
static int write_mappings(struct sink *sink, struct image *image, int64_t time_ns,
                          struct diag *diag)
{
        struct row_context context = {sink, image, time_ns, diag};
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < image->mappings.count; i++)
                rc = mapping_begun(&context, &image->mappings.items[i]);
        return rc;
}

int sink_process(struct sink *sink, int64_t time_ns, const struct event_process *event,
                 struct diag *diag)
{
        struct image *image = find_image(sink, event->image);
        int rc = 0;
        if (!image || image->begun) /* a key may be used again */
                rc = add_image(sink, event->image, &image, diag);
        if (rc == 0)
                rc = begin_image(sink, image, time_ns, event, diag);
        if (rc < 0)
                return rc;
        if (image->heap)
                return write_mappings(sink, image, time_ns, diag);
        image->heap = heap_live_new(sink->sites);
        if (!image->heap)
                return diag_no_memory(diag);
        return event->forked
                   ? lose(sink, "processes forked from an unknown one", "processes", diag)
                   : 0;
}

/* Ends the open threads, and the rows of blocks that live to the end. Mappings that
 * live to the end of their process keep no end of their own. */
static int end_image(struct sink *sink, struct image *image, int64_t time_ns,
                     struct diag *diag)
{
        int rc = 0;
        for (size_t i = image->first_thread; rc == 0 && i; i = sink->threads[i - 1].next)
                rc = end_thread(sink, &sink->threads[i - 1], time_ns, diag);
        if (rc == 0)
                rc = writer_process_end(sink->writer, image->process_id, time_ns, diag);
        image->ended = true;

        size_t *place = &sink->ended[sink->ended_next++ % ENDED_IMAGES_KEPT];
        if (*place)
                forget_state(&sink->images[*place - 1]);
        *place = (size_t)(image - sink->images) + 1;
        return rc;
}

int sink_process_end(struct sink *sink, int64_t time_ns, image_key key, struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        return end_image(sink, image, time_of_change(sink, image, time_ns), diag);
}

/* ---- samples and counters ---- */

static int note_thread_pointer(struct sink *sink, struct thread *thread, uint64_t address,
                               struct diag *diag)
{
        if (address == 0 || address == thread->thread_pointer)
                return 0;
        thread->thread_pointer = address;
        return writer_thread_pointer(sink->writer, thread->thread_id, address, diag);
}

/* As views.sql tells them. */
static bool is_memory_sample(const struct event_sample *event)
{
        const struct data_source_row *source = event->data_source;
        return source ? strcmp(source->op, "NA") != 0 || strcmp(source->level, "NA") != 0
                      : event->has_addr;
}

int sink_sample(struct sink *sink, int64_t time_ns, const struct event_sample *event,
                struct diag *diag)
{
        /* The kernel samples a task for some time after it told of its end. */
        struct image *image = find_image(sink, event->image);
        if (!image)
                return image_of_event(sink, event->image, &image, diag);
        struct sample_row row = {.time_ns = time_of_sample(sink, image, time_ns),
                                 .cpu = event->cpu,
                                 .ip = event->ip,
                                 .has_addr = event->has_addr,
                                 .addr = event->addr,
                                 .stall_ns = event->stall_ns,
                                 .latency_cycles = event->latency_cycles,
                                 .stack_frame = event->stack_frame,
                                 .cfa_offset_bytes = event->cfa_offset_bytes,
                                 .phys_addr = event->phys_addr,
                                 .page_bytes = event->page_bytes};
        struct thread *thread;
        int rc = thread_of_event(sink, image, event->tid, row.time_ns, &thread, diag);
        if (rc < 0)
                return rc;
        row.thread_id = thread->thread_id;
        rc = note_thread_pointer(sink, thread, event->thread_pointer, diag);
        if (rc == 0 && event->data_source)
                rc = writer_data_source(sink->writer, event->data_source,
                                        &row.data_source_id, diag);
        if (rc == 0 && event->depth)
                rc = writer_stack(sink->writer, image->process_id, event->frames,
                                  event->depth, &row.stack_id, diag);
        if (rc == 0 && event->has_addr && image->heap)
                rc = write_block(sink, image, event->addr, diag);
        if (rc == 0)
                rc = writer_sample(sink->writer, &row, diag);
        if (rc == 0)
                sink->samples++;
        if (rc == 0 && is_memory_sample(event))
                sink->memory_samples++;
        return rc;
}

void sink_set_unusable_counters(struct sink *sink, const char *const *names)
{
        sink_readings_leave_out(sink->readings, names);
}

int sink_substitute(struct sink *sink, const char *name, const char *unit,
                    const char *stands_for, struct diag *diag)
{
        int64_t counter_id;
        return writer_counter(sink->writer, name, unit, stands_for, &counter_id, diag);
}

int sink_counters(struct sink *sink, int64_t start_ns, int64_t end_ns, image_key key,
                  uint32_t tid, const struct event_counter *counters, size_t count,
                  struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        struct thread *thread;
        rc = thread_of_event(sink, image, tid, start_ns, &thread, diag);
        if (rc < 0)
                return rc;
        saw_time(sink, image, end_ns);
        uint64_t disordered;
        rc = sink_readings_add(sink->readings, start_ns, end_ns, thread->thread_id,
                               counters, count, &disordered, diag);
        if (rc == 0 && disordered &&
            sink_loss(sink, "counter readings out of order", disordered, "readings") < 0)
                return diag_no_memory(diag);
        return rc;
}

/* ---- the rest ---- */

int sink_machine(struct sink *sink, const char *key, double value, const char *unit,
                 const char *origin, struct diag *diag)
{
        return writer_machine(sink->writer, key, value, unit, origin, diag);
}

const char *sink_module_path(const struct sink *sink, int64_t module_id)
{
        return sink_modules_path(sink->modules, module_id);
}

bool sink_place(const struct sink *sink, image_key key, uint64_t addr,
                struct event_place *place)
{
        const struct image *image = find_image(sink, key);
        const struct mapped *mapped =
            image ? mapping_set_find(&image->mappings, addr) : NULL;
        if (!mapped || !mapped->module_id)
                return false;
        place->module_id = mapped->module_id;
        place->file_offset_bytes = addr - mapped->start_addr + mapped->file_offset_bytes;
        return true;
}

int sink_unhandled(struct sink *sink, image_key key, uint64_t ip, const uint8_t *bytes,
                   size_t length, struct diag *diag)
{
        struct image *image;
        int rc = image_of_event(sink, key, &image, diag);
        struct unhandled_instruction *first = &sink->unhandled;
        if (!image || first->count++)
                return rc;
        first->pid = image->pid;
        first->ip = ip;
        first->length = length < sizeof(first->bytes) ? length : sizeof(first->bytes);
        memcpy(first->bytes, bytes, first->length);
        struct event_place place;
        if (!sink_place(sink, key, ip, &place))
                return 0;
        first->module_offset_bytes = place.file_offset_bytes;
        first->module = sink_module_path(sink, place.module_id);
        return 0;
}
