/* SPDX-License-Identifier: MIT */
/* Sample counts by file and offset, for recordings that need only counts. For the sink
 * only. */
#ifndef MEMLAG_SINK_PLACES_H
#define MEMLAG_SINK_PLACES_H

#include "sink.h"

struct sink_places;

struct sink_places *sink_places_new(void); /* NULL: no memory */
void sink_places_free(struct sink_places *places);

/* One sample more at PLACE; NULL: in no file. 0 or -ENOMEM. */
int sink_places_add(struct sink_places *places, const struct event_place *place);

/* Returns *COUNT locations, valid until the next addition. */
const struct sink_place_count *sink_places_all(const struct sink_places *places,
                                               size_t *count);

#endif
