/* SPDX-License-Identifier: MIT */
/* What a calibration does not have. */
#ifndef MEMLAG_LEFT_OUT_NOTE_H
#define MEMLAG_LEFT_OUT_NOTE_H

#include <jansson.h>
#include <stdbool.h>

/* Adds to CONDITIONS how many figures are not in the result, then each of LEFT_OUT, which
 * has names with reasons, and in one note the names of UNVISITED, that there was no time
 * for; APART: or none while the CPUs were together. */
void left_out_note(const json_t *left_out, const json_t *unvisited, bool apart,
                   json_t *conditions);

/* The same where no CPU to simulate can be made of DOCUMENT, with all that it lacks. */
void no_host_note(const json_t *document, json_t *conditions);

#endif
