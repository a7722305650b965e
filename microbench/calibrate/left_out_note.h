/* SPDX-License-Identifier: MIT */
/* Notes on figures that a calibration lacks. */
#ifndef MEMLAG_LEFT_OUT_NOTE_H
#define MEMLAG_LEFT_OUT_NOTE_H

#include <jansson.h>
#include <stdbool.h>

/* Adds the number of missing figures to CONDITIONS, then each of LEFT_OUT, names with
 * reasons. One note lists UNVISITED, figures without enough time. APART: or without time
 * while the CPUs were together. */
void left_out_note(const json_t *left_out, const json_t *unvisited, bool apart,
                   json_t *conditions);

/* Adds a note with all missing figures if DOCUMENT is not enough to simulate a CPU. */
void no_host_note(const json_t *document, json_t *conditions);

#endif
