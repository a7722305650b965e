/* SPDX-License-Identifier: MIT */
/* See sink_places.h. */
#include "sink_places.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "intern.h"

struct sink_places {
        struct context_intern *index; /* (module, file offset) → index in items + 1 */
        struct sink_place_count *items;
        size_t count;
        size_t capacity;
};

struct sink_places *sink_places_new(void)
{
        struct sink_places *places = calloc(1, sizeof(*places));
        if (places && !(places->index = context_intern_new())) {
                free(places);
                return NULL;
        }
        return places;
}

void sink_places_free(struct sink_places *places)
{
        if (!places)
                return;
        context_intern_free(places->index);
        free(places->items);
        free(places);
}

int sink_places_add(struct sink_places *places, const struct event_place *place)
{
        static const struct event_place in_no_file;
        if (!place)
                place = &in_no_file;
        struct context_node *node = context_intern_place(
            places->index, (uint64_t)place->module_id, place->file_offset_bytes);
        if (!node || array_reserve(&places->items, &places->capacity, places->count,
                                   sizeof(*places->items)) < 0)
                return -ENOMEM;
        if (!node->id) {
                places->items[places->count++] =
                    (struct sink_place_count){.place = *place};
                node->id = (int64_t)places->count;
        }
        places->items[node->id - 1].samples++;
        return 0;
}

const struct sink_place_count *sink_places_all(const struct sink_places *places,
                                               size_t *count)
{
        *count = places->count;
        return places->items;
}
