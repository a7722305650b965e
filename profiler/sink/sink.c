/* SPDX-License-Identifier: MIT */
/* Turns the events of any source into rows. Tracks each process image's threads
 * (sink_processes.c), mappings and live heap blocks (sink_memory.c). Handles fork, exec,
 * partial unmapping and reused addresses. Knows the writer's interface, not the sources
 * of events. */
#include "sink.h"

#include <stdlib.h>
#include <string.h>

#include "sink_state.h"

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

void sink_close(struct sink *sink)
{
        if (!sink)
                return;
        for (size_t i = 0; i < sink->image_count; i++)
                sink_forget_state(&sink->images[i]);
        sink_modules_free(sink->modules);
        sink_readings_free(sink->readings);
        sink_losses_free(&sink->losses);
        context_intern_free(sink->image_index);
        context_intern_free(sink->thread_index);
        heap_sites_free(sink->sites);
        sink_places_free(sink->places);
        sink_places_free(sink->executed);
        free(sink->images);
        free(sink->threads);
        free(sink);
}

int sink_finish(struct sink *sink, struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < sink->image_count; i++)
                if (sink->images[i].begun && !sink->images[i].ended)
                        rc = sink_end_image(sink, &sink->images[i],
                                            sink->images[i].latest_ns, diag);
        if (rc == 0)
                rc = sink_write_site_totals(sink, diag);
        uint64_t unread = 0;
        if (rc == 0)
                rc = sink_modules_finish(sink->modules, &unread, diag);
        return rc == 0 ? sink_loss(sink, "large files without a build-id not read",
                                   unread, "files", diag)
                       : rc;
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

uint64_t sink_lost(const struct sink *sink, const char *kind)
{
        return sink_losses_of(&sink->losses, kind);
}

int sink_loss(struct sink *sink, const char *kind, uint64_t count, const char *unit,
              struct diag *diag)
{
        if (count == 0)
                return 0;
        return sink_losses_add(&sink->losses, kind, count, unit) < 0
                   ? diag_no_memory(diag)
                   : 0;
}

int sink_write_ledger(const struct sink *sink, struct db *db, struct diag *diag)
{
        return sink_losses_write(&sink->losses, db, sink->imported ? "import" : "record",
                                 diag);
}

int sink_update_ledger(struct sink *sink, struct db *db, struct diag *diag)
{
        int rc = sink->losses.changed ? sink_write_ledger(sink, db, diag) : 0;
        if (rc == 0)
                sink->losses.changed = false;
        return rc;
}

/* ---- samples and counters ---- */

static int64_t time_of_sample(struct sink *sink, struct image *image, int64_t time_ns)
{
        if (time_ns < image->changed_ns)
                time_ns = image->changed_ns;
        sink_saw_time(sink, image, time_ns);
        return time_ns;
}

static int note_thread_pointer(struct sink *sink, struct thread *thread, uint64_t address,
                               struct diag *diag)
{
        if (address == 0 || address == thread->thread_pointer)
                return 0;
        thread->thread_pointer = address;
        return writer_thread_pointer(sink->writer, thread->thread_id, address, diag);
}

/* The same definition as in views.sql. */
static bool is_memory_sample(const struct event_sample *event)
{
        const struct data_source_row *source = event->data_source;
        return source ? strcmp(source->op, "NA") != 0 || strcmp(source->level, "NA") != 0
                      : event->has_addr;
}

int sink_count_places(struct sink *sink, struct diag *diag)
{
        sink->places = sink_places_new();
        return sink->places ? 0 : diag_no_memory(diag);
}

const struct sink_place_count *sink_place_counts(const struct sink *sink, size_t *count)
{
        return sink_places_all(sink->places, count);
}

int sink_executed(struct sink *sink, image_key image, uint64_t ip, struct diag *diag)
{
        struct event_place place;
        if (!sink->executed && !(sink->executed = sink_places_new()))
                return diag_no_memory(diag);
        bool in_file = sink_place(sink, image, ip, &place);
        return sink_places_add(sink->executed, in_file ? &place : NULL) < 0
                   ? diag_no_memory(diag)
                   : 0;
}

const struct sink_place_count *sink_executed_counts(const struct sink *sink,
                                                    size_t *count)
{
        *count = 0;
        return sink->executed ? sink_places_all(sink->executed, count) : NULL;
}

static int count_place(struct sink *sink, const struct event_sample *event,
                       struct diag *diag)
{
        struct event_place place;
        bool in_file = sink_place(sink, event->image, event->ip, &place);
        sink->samples++;
        return sink_places_add(sink->places, in_file ? &place : NULL) < 0
                   ? diag_no_memory(diag)
                   : 0;
}

int sink_sample(struct sink *sink, int64_t time_ns, const struct event_sample *event,
                struct diag *diag)
{
        /* The kernel samples a task for some time after it reported its end. */
        struct image *image = sink_find_image(sink, event->image);
        if (!image)
                return sink_image_of_event(sink, event->image, &image, diag);
        if (sink->places)
                return count_place(sink, event, diag);
        struct sample_row row = {.time_ns = time_of_sample(sink, image, time_ns),
                                 .cpu = event->cpu,
                                 .ip = event->ip,
                                 .has_addr = event->has_addr,
                                 .addr = event->addr,
                                 .stall_ns = event->stall_ns,
                                 .latency_cycles = event->latency_cycles,
                                 .retire_latency_cycles = event->retire_latency_cycles,
                                 .stack_frame = event->stack_frame,
                                 .cfa_offset_bytes = event->cfa_offset_bytes,
                                 .phys_addr = event->phys_addr,
                                 .page_bytes = event->page_bytes,
                                 .few_sets = event->few_sets,
                                 .faults = event->faults,
                                 .kernel_cycles = event->kernel_cycles,
                                 .fault_page_bytes = event->fault_page_bytes};
        struct thread *thread;
        int rc =
            sink_thread_of_event(sink, image, event->tid, row.time_ns, &thread, diag);
        if (rc < 0)
                return rc;
        row.thread_id = thread->thread_id;
        rc = note_thread_pointer(sink, thread, event->thread_pointer, diag);
        if (rc == 0 && event->data_source)
                rc = writer_data_source(sink->writer, event->data_source,
                                        &row.data_source_id, diag);
        if (rc == 0 && event->depth)
                rc = writer_stack(sink->writer, image->process_id, event->frames,
                                  event->depth, CONTEXT_OF_SAMPLE, &row.stack_id, diag);
        if (rc == 0 && event->other_depth)
                rc = writer_stack(sink->writer, image->process_id, event->other_frames,
                                  event->other_depth, CONTEXT_OF_SAMPLE,
                                  &row.other_stack_id, diag);
        if (rc == 0 && event->has_addr && image->heap)
                rc = sink_write_block(sink, image, event->addr, diag);
        int64_t sample_id = 0;
        if (rc == 0)
                rc = writer_sample(sink->writer, &row, &sample_id, diag);
        if (rc == 0 && event->watch)
                rc = sink_note_watched(image, event->watch, sample_id, diag);
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
        int rc = sink_image_of_event(sink, key, &image, diag);
        if (!image)
                return rc;
        struct thread *thread;
        rc = sink_thread_of_event(sink, image, tid, start_ns, &thread, diag);
        if (rc < 0)
                return rc;
        sink_saw_time(sink, image, end_ns);
        uint64_t disordered;
        rc = sink_readings_add(sink->readings, start_ns, end_ns, thread->thread_id,
                               counters, count, &disordered, diag);
        return rc == 0 ? sink_loss(sink, "counter readings out of order", disordered,
                                   "readings", diag)
                       : rc;
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

int sink_unhandled(struct sink *sink, image_key key, uint64_t ip, const uint8_t *bytes,
                   size_t length, struct diag *diag)
{
        struct image *image;
        int rc = sink_image_of_event(sink, key, &image, diag);
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
