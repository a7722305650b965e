/* SPDX-License-Identifier: MIT */
/* The memory of the sink's images: mappings and live heap blocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink_state.h"

void sink_forget_state(struct image *image)
{
        mapping_set_free(&image->mappings);
        heap_live_free(image->heap);
        image->heap = NULL;
        free(image->watched);
        image->watched = NULL;
        image->watched_count = image->watched_capacity = image->watched_samples = 0;
}

/* ---- mappings ---- */

/* Context with which mapping and heap listeners write rows. */
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
                ? sink_find_thread(context->sink, context->image, piece->stack_tid)
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

/* A thread's stack may lie in a block that the program allocated, and be reported with
 * the whole mapping that contains the block. The memory then stays a block, not a
 * mapping. */
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
        int rc = sink_image_of_event(sink, event->image, &image, diag);
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
        struct row_context context = {sink, image,
                                      sink_time_of_change(sink, image, time_ns), diag};
        struct mapping_listener listener = listener_of(&context);
        rc = mapping_set_add(&image->mappings, &piece, &listener);
        if (rc == -ENOMEM)
                return diag_no_memory(diag);
        if (rc == -EINVAL)
                return sink_loss(sink, "mappings that make no sense", 1, "mappings",
                                 diag);
        return rc;
}

static bool is_inaccessible(const struct mapped *mapped)
{
        return mapped && mapped->kind == MAPPING_ANON && mapped->protection[0] == '-' &&
               mapped->protection[1] == '-';
}

/* glibc's malloc() maps memory without access too, to open as much as it needs, at
 * multiples of 64 MiB for all threads but the first: HEAP_MAX_SIZE of its arena.c. */
static bool is_arena(const struct mapped *mapped)
{
        return mapped->start_addr % (UINT64_C(64) << 20) == 0;
}

/* A mapping of another thread's stack is TID's only after that has ended. */
static bool may_be_stack(struct sink *sink, struct image *image,
                         const struct mapped *mapped, uint32_t tid)
{
        if (mapped->kind == MAPPING_ANON && is_arena(mapped))
                return false;
        if (mapped->kind == MAPPING_ANON)
                return is_inaccessible(mapped) ||
                       is_inaccessible(
                           mapping_set_find(&image->mappings, mapped->start_addr - 1));
        if (mapped->kind != MAPPING_STACK || mapped->stack_tid == tid)
                return false;
        const struct thread *owner = sink_find_thread(sink, image, mapped->stack_tid);
        return owner && owner->ended;
}

int sink_stack_in_use(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                      uint64_t stack_pointer, struct diag *diag)
{
        struct image *image = sink_find_image(sink, key);
        const struct mapped *mapped =
            image ? mapping_set_find(&image->mappings, stack_pointer) : NULL;
        struct thread *thread;
        if (!mapped || !may_be_stack(sink, image, mapped, tid) ||
            heap_live_holds(image->heap, stack_pointer))
                return 0;
        struct event_mapping event = {
            .image = key,
            .start_addr = mapped->start_addr,
            .length_bytes = mapped->length_bytes,
            .kind = MAPPING_STACK,
            .stack_tid = tid,
            .protection = "rw-",
        };
        int rc = sink_thread_of_event(sink, image, tid, time_ns, &thread, diag);
        return rc == 0 ? sink_mapping(sink, time_ns, &event, diag) : rc;
}

int sink_write_mappings(struct sink *sink, struct image *image, int64_t time_ns,
                        struct diag *diag)
{
        struct row_context context = {sink, image, time_ns, diag};
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < image->mappings.count; i++)
                rc = mapping_begun(&context, &image->mappings.items[i]);
        return rc;
}

bool sink_place(const struct sink *sink, image_key key, uint64_t addr,
                struct event_place *place)
{
        const struct image *image = sink_find_image(sink, key);
        const struct mapped *mapped =
            image ? mapping_set_find(&image->mappings, addr) : NULL;
        if (!mapped || !mapped->module_id)
                return false;
        place->module_id = mapped->module_id;
        place->file_offset_bytes = addr - mapped->start_addr + mapped->file_offset_bytes;
        return true;
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

/* Ends blocks in the range; with MAPPED also the mappings in the range. */
static int end_range(struct sink *sink, int64_t time_ns, image_key key,
                     uint64_t start_addr, uint64_t length_bytes, bool mapped,
                     struct diag *diag)
{
        struct image *image;
        int rc = sink_image_of_event(sink, key, &image, diag);
        if (!image || length_bytes == 0)
                return rc;
        struct row_context context = {sink, image,
                                      sink_time_of_change(sink, image, time_ns), diag};
        struct mapping_listener listener = listener_of(&context);
        if (mapped)
                rc = mapping_set_remove(&image->mappings, start_addr, length_bytes,
                                        &listener);
        if (rc == 0)
                rc = heap_live_end_range(image->heap, start_addr, length_bytes,
                                         context.time_ns, block_ended, &context);
        return heap_result(rc, diag);
}

int sink_unmapping(struct sink *sink, int64_t time_ns, image_key key, uint64_t start_addr,
                   uint64_t length_bytes, struct diag *diag)
{
        return end_range(sink, time_ns, key, start_addr, length_bytes, true, diag);
}

int sink_replaced(struct sink *sink, int64_t time_ns, image_key key, uint64_t start_addr,
                  uint64_t length_bytes, struct diag *diag)
{
        return end_range(sink, time_ns, key, start_addr, length_bytes, false, diag);
}

static int find_stack(struct sink *sink, image_key key, const uint64_t *frames,
                      size_t depth, enum context_use use, int64_t *stack,
                      struct diag *diag)
{
        const struct image *image = sink_find_image(sink, key);
        *stack = 0;
        if (!image || !image->begun || depth == 0)
                return 0;
        return writer_stack(sink->writer, image->process_id, frames, depth, use, stack,
                            diag);
}

int sink_new_stack(struct sink *sink, image_key key, const uint64_t *frames, size_t depth,
                   int64_t *stack, struct diag *diag)
{
        return find_stack(sink, key, frames, depth, CONTEXT_OF_NEW_ALLOCATION, stack,
                          diag);
}

int sink_allocation(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                    const char *function, uint64_t addr, uint64_t size_bytes,
                    const uint64_t *frames, size_t depth, struct diag *diag)
{
        int64_t stack;
        int rc =
            find_stack(sink, key, frames, depth, CONTEXT_OF_ALLOCATION, &stack, diag);
        return rc == 0 ? sink_allocation_at(sink, time_ns, key, tid, function, addr,
                                            size_bytes, stack, diag)
                       : rc;
}

int sink_allocation_at(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                       const char *function, uint64_t addr, uint64_t size_bytes,
                       int64_t stack, struct diag *diag)
{
        struct image *image;
        int rc = sink_image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        struct row_context context = {sink, image,
                                      sink_time_of_change(sink, image, time_ns), diag};
        struct thread *thread;
        rc = sink_thread_of_event(sink, image, tid, context.time_ns, &thread, diag);
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

/* Handles the end of BLOCK if FOUND is 1; otherwise FOUND is the result. */
static int after_end(struct sink *sink, struct image *image, int64_t time_ns, int found,
                     const struct heap_block *block, struct diag *diag)
{
        if (found <= 0)
                return heap_result(found, diag);
        struct row_context context = {sink, image,
                                      sink_time_of_change(sink, image, time_ns), diag};
        return block_ended(&context, block);
}

int sink_free(struct sink *sink, int64_t time_ns, image_key key, uint64_t addr,
              struct diag *diag)
{
        struct image *image;
        struct heap_block block;
        int found = sink_image_of_event(sink, key, &image, diag);
        if (image)
                found = heap_live_end(image->heap, addr, &block);
        return after_end(sink, image, time_ns, found, &block, diag);
}

int sink_resize(struct sink *sink, image_key key, uint32_t tid, uint64_t addr,
                struct diag *diag)
{
        struct image *image;
        int rc = sink_image_of_event(sink, key, &image, diag);
        if (image)
                rc = heap_live_resize(image->heap, addr, tid);
        return heap_result(rc, diag);
}

int sink_resized(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                 uint64_t addr, struct diag *diag)
{
        struct image *image;
        struct heap_block block;
        int found = sink_image_of_event(sink, key, &image, diag);
        if (image)
                found = heap_live_end_resized(image->heap, addr, tid, &block);
        return after_end(sink, image, time_ns, found, &block, diag);
}

int sink_write_block(struct sink *sink, struct image *image, uint64_t addr,
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

int sink_write_site_totals(struct sink *sink, struct diag *diag)
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
