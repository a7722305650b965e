/* SPDX-License-Identifier: MIT */
/* Notes on figures that a calibration lacks. */
#ifndef MEMLAG_LEFT_OUT_NOTE_H
#define MEMLAG_LEFT_OUT_NOTE_H

#include <jansson.h>

struct survey;

/* Adds the number of figures that SURVEY left out to CONDITIONS, then their names with
 * the reasons. */
void left_out_note(const struct survey *survey, json_t *conditions);

/* Adds a note with all missing figures if DOCUMENT is not enough to simulate a CPU. */
void no_host_note(const json_t *document, json_t *conditions);

#endif
