/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a just-in-time compiler's list of functions. */
#include "perf_map.h"
#include "fuzz_target.h"

static void look_up(const struct interval_map *map, const struct string_pool *names,
                    uint64_t addr)
{
        uint32_t name = interval_map_find(map, addr);
        if (name != INTERVAL_NONE && !string_pool_text(names, name))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        struct interval_map map = {0};
        struct string_pool *names = string_pool_new();
        FILE *list = size > 0 ? fmemopen((void *)(uintptr_t)bytes, size, "r") : NULL;
        if (names && list && perf_map_parse(list, &map, names) == 0) {
                for (uint64_t addr = 0; addr < 4096; addr++)
                        look_up(&map, names, addr);
                for (size_t i = 0; i + sizeof(uint64_t) <= size; i++) {
                        uint64_t addr;

                        memcpy(&addr, bytes + i, sizeof(addr));
                        look_up(&map, names, addr);
                }
        }
        if (list)
                fclose(list);
        interval_map_free(&map);
        string_pool_free(names);
        return 0;
}
