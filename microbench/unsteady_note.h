/* SPDX-License-Identifier: MIT */
/* What neighbours leave uncertain of a calibration's latencies under load. */
#ifndef MEMLAG_UNSTEADY_NOTE_H
#define MEMLAG_UNSTEADY_NOTE_H

#include <jansson.h>

/* Adds to CONDITIONS by how much the turns of the least steady point of DOCUMENT's loaded
 * curve differed, where that is more than calibrations are to agree within. */
void unsteady_note(const json_t *document, json_t *conditions);

#endif
