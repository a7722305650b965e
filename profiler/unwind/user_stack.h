/* SPDX-License-Identifier: MIT */
/* Call stacks from a sample's copy of registers and of the top of the user's stack,
 * followed by the unwind tables (.eh_frame) of the files that were mapped. x86-64 only.
 * Files and copies are hostile. Knows neither events nor the database. */
#ifndef MEMLAG_USER_STACK_H
#define MEMLAG_USER_STACK_H

#include "perf/records/record.h"
#include "source.h"

struct user_stacks;

/* ROOT: the directory that the paths of files begin in, NULL for "/"; must outlive it.
 * LIVE: processes run on this machine, now. NULL: no memory. */
struct user_stacks *user_stacks_new(const char *root, bool live);
void user_stacks_free(struct user_stacks *stacks);

/* Code of a file is mapped in EVENT's image; other mappings are left alone. -ENOMEM. */
int user_stacks_map(struct user_stacks *stacks, const struct event_mapping *event);
/* CHILD begins with the mappings of PARENT. -ENOMEM. */
int user_stacks_fork(struct user_stacks *stacks, image_key parent, image_key child);

/* No further sample of IMAGE comes. */
void user_stacks_end(struct user_stacks *stacks, image_key image);

enum { USER_STACK_FRAMES_MAX = 256 };

/* Where the stack of the interrupted 64-bit x86 task ended; false: not known. */
bool user_stack_pointer(const struct record_sample *sample, uint64_t *stack_pointer);

/* Unwinds SAMPLE, taken in IMAGE, into FRAMES, the innermost first: the instruction,
 * then return addresses. CFAS receives their canonical frame addresses, 0 for unknown.
 * Returns the frame count; 0 when the sample has no stack copy, or the task is not
 * 64-bit x86. */
size_t user_stacks_unwind(struct user_stacks *stacks, image_key image,
                          const struct record_sample *sample,
                          uint64_t frames[USER_STACK_FRAMES_MAX],
                          uint64_t cfas[USER_STACK_FRAMES_MAX]);

#endif
