/* SPDX-License-Identifier: MIT */
/* Private state that the sink's files share. */
#ifndef MEMLAG_SINK_STATE_H
#define MEMLAG_SINK_STATE_H

#include "heap/live.h"
#include "intern.h"
#include "mapping_set.h"
#include "sink.h"
#include "sink_losses.h"
#include "sink_modules.h"
#include "sink_places.h"
#include "sink_readings.h"

/* A forked child may become known only after its parent's end. Therefore the state of
 * the last ended images is retained. */
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
        bool begun; /* false: only the state that it will inherit is known */
        bool ended;
        int64_t changed_ns;  /* the latest change of threads, mappings or heap */
        int64_t latest_ns;   /* the latest event of any kind */
        size_t first_thread; /* index + 1, 0 for none */
        struct mapping_set mappings;
        struct heap_live *heap;
        int64_t *watched; /* sample_id by number less 1; 0: not delivered */
        size_t watched_count;
        size_t watched_capacity;
        size_t watched_samples; /* delivered */
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
        struct sink_places *places;   /* NULL: samples have rows */
        struct sink_places *executed; /* instructions; NULL: none */
        struct unhandled_instruction unhandled;
        int64_t latest_ns;
        uint64_t samples;
        uint64_t memory_samples; /* of these */
};

/* ---- sink_processes.c: images and their threads ---- */

/* The live image of KEY, or NULL. */
struct image *sink_find_image(const struct sink *sink, image_key key);

/* The same in *IMAGE. An event without an image (NULL) is counted, and the caller drops
 * it. */
int sink_image_of_event(struct sink *sink, image_key key, struct image **image,
                        struct diag *diag);

struct thread *sink_find_thread(struct sink *sink, const struct image *image,
                                uint32_t tid);

/* Returns the thread TID; an unknown thread begins now. */
int sink_thread_of_event(struct sink *sink, struct image *image, uint32_t tid,
                         int64_t time_ns, struct thread **thread, struct diag *diag);

void sink_saw_time(struct sink *sink, struct image *image, int64_t time_ns);

/* The time of something that changes the image. */
int64_t sink_time_of_change(struct sink *sink, struct image *image, int64_t time_ns);

/* Ends the open threads, and the rows of blocks that live to the end. Mappings that live
 * to the end of their process have no separate end. */
int sink_end_image(struct sink *sink, struct image *image, int64_t time_ns,
                   struct diag *diag);

/* ---- sink_memory.c: their mappings and heap blocks ---- */

void sink_forget_state(struct image *image);

/* Gives each inherited mapping its row. */
int sink_write_mappings(struct sink *sink, struct image *image, int64_t time_ns,
                        struct diag *diag);

/* Writes the row of the block that contains ADDR; blocks without samples have no row. */
int sink_write_block(struct sink *sink, struct image *image, uint64_t addr,
                     struct diag *diag);

int sink_write_site_totals(struct sink *sink, struct diag *diag);

/* ---- sink_lines.c: what became of sampled lines ---- */

/* The sample with number WATCH has row SAMPLE_ID. */
int sink_note_watched(struct image *image, uint64_t watch, int64_t sample_id,
                      struct diag *diag);

#endif
