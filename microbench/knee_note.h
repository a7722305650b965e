/* SPDX-License-Identifier: MIT */
/* Why a calibration has no knee. */
#ifndef MEMLAG_KNEE_NOTE_H
#define MEMLAG_KNEE_NOTE_H

#include <jansson.h>

/* Where the latency under load of the calibration DOCUMENT never grew by a quarter: a
 * load that had the CPU and does not make the chase wait has not saturated the memory, or
 * the memory hardly shows it. Adds to CONDITIONS which. Of a load that other programs
 * kept from the CPU nothing is known: then loaded.knee_gbs is taken out too. */
void knee_note(json_t *document, json_t *conditions);

#endif
