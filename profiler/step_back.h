/* SPDX-License-Identifier: MIT */
/* From the instruction at which a timer found a program to the one that it waited for.
 * The timer interrupts when the oldest instruction is done, and so it reports the one
 * after: on a chase of pointers 89 % of the samples are on the instruction behind the
 * load. */
#ifndef MEMLAG_STEP_BACK_H
#define MEMLAG_STEP_BACK_H

#include "code/instruction.h"
#include "source.h"

struct step_back;

/* SINK knows what is mapped, and must outlive it. NULL: no memory. */
struct step_back *step_back_new(const struct sink *sink);
void step_back_free(struct step_back *step_back);

/* The instruction in front of IP in IMAGE, which is process PID, and its address in
 * *WAITED_IP. Valid until the next call. NULL when it is not known: no boundary is known
 * to begin decoding at, a function begins at IP, what stands there never goes on to IP,
 * or IP is in no file and the process has ended or may not be read. */
const struct instruction *step_back_from(struct step_back *step_back, image_key image,
                                         uint32_t pid, uint64_t ip, uint64_t *waited_ip);

#endif
