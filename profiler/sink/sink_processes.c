/* SPDX-License-Identifier: MIT */
/* The sink's process images and their threads, and the order of their times.
 *
 * In a simulated PMU each thread of an image has a separate clock. Therefore events come
 * in program order, but their times are slightly unordered. Rows follow the order of
 * events. A change of the image is never earlier than a preceding event. No sample is
 * earlier than a change that it saw. */
#include "array.h"
#include "sink_state.h"

/* ---- times ---- */

void sink_saw_time(struct sink *sink, struct image *image, int64_t time_ns)
{
        if (time_ns > image->latest_ns)
                image->latest_ns = time_ns;
        if (time_ns > sink->latest_ns)
                sink->latest_ns = time_ns;
}

int64_t sink_time_of_change(struct sink *sink, struct image *image, int64_t time_ns)
{
        if (time_ns < image->latest_ns)
                time_ns = image->latest_ns;
        image->changed_ns = time_ns;
        sink_saw_time(sink, image, time_ns);
        return time_ns;
}

/* ---- images and threads ---- */

struct image *sink_find_image(const struct sink *sink, image_key key)
{
        int64_t index = context_intern_find(sink->image_index, 0, key);
        return index ? &sink->images[index - 1] : NULL;
}

int sink_image_of_event(struct sink *sink, image_key key, struct image **image,
                        struct diag *diag)
{
        *image = sink_find_image(sink, key);
        if (*image && (*image)->begun && !(*image)->ended)
                return 0;
        *image = NULL;
        return sink_loss(sink, "events without a process", 1, "events", diag);
}

static int add_thread(struct sink *sink, struct image *image, uint32_t tid,
                      const char *name, int64_t time_ns, struct thread **result,
                      struct diag *diag)
{
        if (array_reserve(&sink->threads, &sink->thread_capacity, sink->thread_count,
                          sizeof(*sink->threads)) < 0)
                return diag_no_memory(diag);
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

struct thread *sink_find_thread(struct sink *sink, const struct image *image,
                                uint32_t tid)
{
        int64_t index = context_intern_find(sink->thread_index,
                                            (uint64_t)(image - sink->images), tid);
        return index ? &sink->threads[index - 1] : NULL;
}

int sink_thread_of_event(struct sink *sink, struct image *image, uint32_t tid,
                         int64_t time_ns, struct thread **thread, struct diag *diag)
{
        *thread = sink_find_thread(sink, image, tid);
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
        int rc = sink_image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        time_ns = sink_time_of_change(sink, image, time_ns);
        struct thread *before = sink_find_thread(sink, image, tid);
        rc = before ? end_thread(sink, before, time_ns, diag) : 0;
        struct thread *thread;
        return rc == 0 ? add_thread(sink, image, tid, name, time_ns, &thread, diag) : rc;
}

int sink_thread_name(struct sink *sink, image_key key, uint32_t tid, const char *name,
                     struct diag *diag)
{
        struct image *image;
        int rc = sink_image_of_event(sink, key, &image, diag);
        struct thread *thread = image ? sink_find_thread(sink, image, tid) : NULL;
        return thread ? writer_thread_name(sink->writer, thread->thread_id, name, diag)
                      : rc;
}

int sink_thread_end(struct sink *sink, int64_t time_ns, image_key key, uint32_t tid,
                    struct diag *diag)
{
        struct image *image;
        int rc = sink_image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        time_ns = sink_time_of_change(sink, image, time_ns);
        struct thread *thread = sink_find_thread(sink, image, tid);
        return thread ? end_thread(sink, thread, time_ns, diag) : 0;
}

/* ---- processes ---- */

static int add_image(struct sink *sink, image_key key, struct image **image,
                     struct diag *diag)
{
        if (array_reserve(&sink->images, &sink->image_capacity, sink->image_count,
                          sizeof(*sink->images)) < 0)
                return diag_no_memory(diag);
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
        sink_forget_state(image);
        if (mapping_set_copy(&image->mappings, &parent->mappings) < 0)
                return diag_no_memory(diag);
        image->heap = heap_live_copy(parent->heap);
        return image->heap ? 0 : diag_no_memory(diag);
}

int sink_fork(struct sink *sink, image_key parent_key, image_key child_key,
              struct diag *diag)
{
        struct image *child = sink_find_image(sink, child_key);
        if (child && child->begun)
                return 0;
        int rc = child ? 0 : add_image(sink, child_key, &child, diag);
        const struct image *parent = sink_find_image(sink, parent_key);
        return rc == 0 && parent && parent->heap ? inherit(child, parent, diag) : rc;
}

static int begin_image(struct sink *sink, struct image *image, int64_t time_ns,
                       const struct event_process *event, struct diag *diag)
{
        const struct image *parent =
            event->parent ? sink_find_image(sink, event->parent) : NULL;
        image->begun = true;
        image->pid = event->pid;
        image->changed_ns = time_ns;
        sink_saw_time(sink, image, time_ns);
        int rc = 0;
        if (!event->forked)
                sink_forget_state(image);
        else if (!image->heap && parent && parent->heap)
                rc = inherit(image, parent, diag);
        if (rc < 0)
                return rc;
        return writer_process(sink->writer, (int32_t)event->pid,
                              parent ? parent->process_id : 0, event->executable, time_ns,
                              &image->process_id, diag);
}

int sink_process(struct sink *sink, int64_t time_ns, const struct event_process *event,
                 struct diag *diag)
{
        struct image *image = sink_find_image(sink, event->image);
        int rc = 0;
        if (!image || image->begun) /* a key may be used again */
                rc = add_image(sink, event->image, &image, diag);
        if (rc == 0)
                rc = begin_image(sink, image, time_ns, event, diag);
        if (rc < 0)
                return rc;
        if (image->heap)
                return sink_write_mappings(sink, image, time_ns, diag);
        image->heap = heap_live_new(sink->sites);
        if (!image->heap)
                return diag_no_memory(diag);
        return event->forked ? sink_loss(sink, "processes forked from an unknown one", 1,
                                         "processes", diag)
                             : 0;
}

int sink_end_image(struct sink *sink, struct image *image, int64_t time_ns,
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
                sink_forget_state(&sink->images[*place - 1]);
        *place = (size_t)(image - sink->images) + 1;
        return rc;
}

int sink_process_end(struct sink *sink, int64_t time_ns, image_key key, struct diag *diag)
{
        struct image *image;
        int rc = sink_image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        return sink_end_image(sink, image, sink_time_of_change(sink, image, time_ns),
                              diag);
}
