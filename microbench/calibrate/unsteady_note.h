/* SPDX-License-Identifier: MIT */
/* Notes the uncertainty of latencies under load that other tenants cause. */
#ifndef MEMLAG_UNSTEADY_NOTE_H
#define MEMLAG_UNSTEADY_NOTE_H

#include <jansson.h>

/* Adds the spread of the least steady point of DOCUMENT's loaded curve to CONDITIONS, if
 * it exceeds the agreement expected between calibrations. */
void unsteady_note(const json_t *document, json_t *conditions);

#endif
