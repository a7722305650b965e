/* SPDX-License-Identifier: MIT */
/* Explains why a calibration has no knee. */
#ifndef MEMLAG_KNEE_NOTE_H
#define MEMLAG_KNEE_NOTE_H

#include <jansson.h>

/* Adds a note to CONDITIONS if latency under load never grew by a quarter in DOCUMENT.
 * Either the load did not saturate the memory, or the memory hardly shows saturation. If
 * other programs kept the load from its CPU, the cause is unknown: also removes
 * loaded.knee_gbs. */
void knee_note(json_t *document, json_t *conditions);

#endif
