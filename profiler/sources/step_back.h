/* SPDX-License-Identifier: MIT */
/* Finds the instruction that a timer sample waited for. The timer interrupts after the
 * oldest instruction retires, and reports the next instruction: on a pointer chase 89 %
 * of the samples are on the instruction after the load. Of a repeated string instruction
 * it reports that itself. */
#ifndef MEMLAG_STEP_BACK_H
#define MEMLAG_STEP_BACK_H

#include "code/instruction.h"
#include "source.h"

struct step_back;

/* SINK knows the mappings, and must outlive the result. NULL: no memory. */
struct step_back *step_back_new(const struct sink *sink);
void step_back_free(struct step_back *step_back);

/* Returns the instruction before IP in IMAGE, process PID, or at IP if that repeats a
 * string instruction of a file; and its address in *WAITED_IP. Valid until the next call.
 * NULL if it is unknown: no decoding start is known, a function begins at IP, or control
 * never flows on to IP. Also NULL if IP is in no file and the process has ended or is
 * unreadable. */
const struct instruction *step_back_from(struct step_back *step_back, image_key image,
                                         uint32_t pid, uint64_t ip, uint64_t *waited_ip);

#endif
