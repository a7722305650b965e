/* SPDX-License-Identifier: MIT */
/* The distinct places of a process's addresses, by the present intervals of its timeline.
 * Each function adds new places to SWEEP, and returns 0 or -ENOMEM. */
#ifndef MEMLAG_SYMBOLIZE_PLACE_H
#define MEMLAG_SYMBOLIZE_PLACE_H

#include "sweep.h"

/* *INDEX becomes the index of the code place at ADDR. */
int place_of_code(struct sweep *sweep, const struct timeline *timeline, uint64_t addr,
                  uint32_t *index);
/* The same for the place in MODULE at this offset of its file. */
int place_of_file(struct sweep *sweep, uint32_t module, uint64_t file_offset_bytes,
                  uint32_t *index);
/* The same for an address of PROCESS that many samples may have, in the epoch STATE.
 * *USUAL: it is the first place of that address. */
int place_of_ip(struct sweep *sweep, const struct timeline *timeline, uint32_t process,
                uint32_t state, uint64_t ip, uint32_t *index, bool *usual);
/* Prefetches the data of place_of_ip(). */
void place_expect(const struct sweep *sweep, uint32_t state, uint64_t ip);
/* The target of SAMPLE's data address. */
int place_of_data(struct sweep *sweep, const struct timeline *timeline,
                  const struct raw_sample *sample, struct target *target);
/* The place in the frame of the code at PLACE; *INDEX as above. */
int place_of_frame(struct sweep *sweep, uint32_t place, int64_t cfa_offset_bytes,
                   uint32_t *index);

#endif
