/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a just-in-time compiler's list of functions. */
#include <stdlib.h>

#include "perf_map.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        struct range_map map = {0};
        struct string_pool *names = string_pool_new();

        if (names && perf_map_parse((const char *)bytes, size, &map, names) == 0)
                for (size_t i = 0; i < map.count; i++) {
                        const struct range *range = range_map_find(&map, map.items[i].low);

                        if (!range || range->high <= range->low ||
                            !string_pool_text(names, range->value))
                                abort();
                }
        range_map_free(&map);
        string_pool_free(names);
        return 0;
}
