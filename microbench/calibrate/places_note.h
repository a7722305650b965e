/* SPDX-License-Identifier: MIT */
/* Notes where a calibration's CPUs were, with the consequences. */
#ifndef MEMLAG_PLACES_NOTE_H
#define MEMLAG_PLACES_NOTE_H

#include <jansson.h>

#include "cpu_places.h"

/* Adds the pairs of PLACES (NULL: the CPUs do not move) to DOCUMENT, which has its
 * caches' latencies. Adds limits of the result to its conditions. */
void places_note(const struct places *places, json_t *document);

#endif
