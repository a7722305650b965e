/* SPDX-License-Identifier: MIT */
/* The simulated processes of a run. Follows the slices that processes claim; a child
 * never precedes its parent. Delivers their records. Knows rings and the sink, not how
 * the target is started. */
#ifndef MEMLAG_SIM_IMAGES_H
#define MEMLAG_SIM_IMAGES_H

#include "sim_memory.h"
#include "source.h"

struct sim_images;

/* MEMORY and SINK must outlive it. HEAP: allocations are wanted, and a process
 * without the tracker is a gap. NULL: no memory. */
struct sim_images *sim_images_new(struct sim_memory *memory, struct sink *sink,
                                  bool heap);
void sim_images_free(struct sim_images *images);

/* Takes the records in all rings. */
int sim_images_drain(struct sim_images *images, struct diag *diag);

/* The last drain: ends all images that have not ended. */
int sim_images_finish(struct sim_images *images, struct diag *diag);

/* Asks the processes to stop recording, and wakes waiting processes. */
void sim_images_stop(struct sim_images *images);

/* How many images have begun to deliver records. */
uint64_t sim_images_started(const struct sim_images *images);

/* How often the target wanted to forbid itself system calls. */
uint64_t sim_images_sandboxes_refused(const struct sim_images *images);

#endif
