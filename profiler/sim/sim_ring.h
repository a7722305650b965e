/* SPDX-License-Identifier: MIT */
/* The consumer's end of one process's ring (simpmu/protocol.h). The ring's content is
 * hostile: each record is copied before it is checked. A protocol violation is an error,
 * never a crash. Does not know the records' meaning to a database. */
#ifndef MEMLAG_SIM_RING_H
#define MEMLAG_SIM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpmu/owner.h"
#include "simpmu/protocol.h"

/* No record is longer: paths have at most 4096 bytes, stacks some hundred frames. */
#define SIM_RECORD_MAX_BYTES 65536u

struct sim_ring {
        struct simpmu_slice *slice; /* the mapped slice, ring included */
        uint64_t tail;              /* how far records were taken */
        bool many_producers;        /* of a native target: see protocol.h */
};

/* Copies the next record to BUFFER (SIM_RECORD_MAX_BYTES, 8-byte aligned) and leaves it
 * in the ring. Returns 1 for a record, or 0 if the ring is empty or the next record is
 * incomplete. -EPROTO: the record is invalid, and *FAULT is the reason. */
int sim_ring_peek(struct sim_ring *ring, void *buffer, const char **fault);

/* Takes the record that the last sim_ring_peek copied to BUFFER. */
void sim_ring_pop(struct sim_ring *ring, const void *buffer);

/* Gives the producer the room of the records taken, and wakes it if it waits. */
void sim_ring_release(struct sim_ring *ring);

/* Drops all records in the ring, and wakes a waiting producer. */
void sim_ring_discard(struct sim_ring *ring);

/* Copies the current interval of thread NUMBER of a simulated image, as it was at the
 * thread's latest sample. Returns false if there is none. */
bool sim_ring_latest_counters(const struct sim_ring *ring, uint32_t number,
                              struct simpmu_counters *copy);

/* Returns the thread that blocks the reader: with several producers, the writer of the
 * next record. Tid 0: no thread, or the ring is empty. */
struct owner sim_ring_owner(const struct sim_ring *ring);

/* Skips the record of OWNER, who blocks the reader and never writes there any more. */
void sim_ring_pass_over(struct sim_ring *ring, const struct owner *owner);

/* Checks a record of SIZE bytes. Returns NULL if its type is known, its parts fit and
 * its texts end; otherwise the error. */
const char *sim_record_fault(const struct simpmu_record *record, size_t size);

#endif
