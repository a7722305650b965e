/* SPDX-License-Identifier: MIT */
/* The memory file that memlag shares with the simulated PMU: one control page and a
 * slice for each process image. Most slices are never touched. Knows the file's layout,
 * not its records. */
#ifndef MEMLAG_SIM_MEMORY_H
#define MEMLAG_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "simpmu/protocol.h"

struct sim_memory {
        int fd;
        uint64_t capacity; /* slices */
        struct simpmu_control *control;
};

/* Makes the file, as large as the limit on file sizes (ulimit -f) permits. While it is
 * open, its lock shows the processes that memlag lives. */
int sim_memory_open(struct sim_memory *memory, struct diag *diag);
void sim_memory_close(struct sim_memory *memory);

/* Writes the plan of BYTES, at most SIMPMU_PLAN_BYTES, behind the control page. */
int sim_memory_put_plan(struct sim_memory *memory, const struct simpmu_plan *plan,
                        size_t bytes, struct diag *diag);

/* Maps slice NUMBER, which is below the capacity. NULL with a message. */
struct simpmu_slice *sim_memory_map(struct sim_memory *memory, uint64_t number,
                                    struct diag *diag);
void sim_memory_unmap(struct simpmu_slice *slice);

/* Returns true if the process that claimed slice NUMBER lives; false for this process
 * itself. */
bool sim_memory_lives(const struct sim_memory *memory, uint64_t number);

/* Frees the memory of a slice's ring, or of its header. An image begun by exec reads the
 * header of its predecessor. */
void sim_memory_drop_ring(struct sim_memory *memory, uint64_t number);
void sim_memory_drop_header(struct sim_memory *memory, uint64_t number);

#endif
