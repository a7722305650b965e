/* SPDX-License-Identifier: MIT */
/* Explains why a calibration has no knee. */
#ifndef MEMLAG_KNEE_NOTE_H
#define MEMLAG_KNEE_NOTE_H

#include <jansson.h>

/* Adds a note to CONDITIONS if latency under load never grew by a quarter in DOCUMENT.
 * Either the load did not saturate the memory, or the memory hardly shows saturation. */
void knee_note(const json_t *document, json_t *conditions);

#endif
