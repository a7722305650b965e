/* SPDX-License-Identifier: MIT */
/* Where a calibration's CPUs were, and what that means for it. */
#ifndef MEMLAG_PLACES_NOTE_H
#define MEMLAG_PLACES_NOTE_H

#include <jansson.h>

#include "places.h"

/* Puts the pairs of PLACES (NULL: the CPUs stay where they are) into DOCUMENT, which has
 * its caches' latencies, and what limits the result into its conditions. */
void places_note(const struct places *places, json_t *document);

#endif
