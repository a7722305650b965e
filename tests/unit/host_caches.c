/* SPDX-License-Identifier: MIT */
/* The recording machine's caches, as Linux reports them for a CPU. */
#include "tree_test.h"

#include "host_caches.h"

static void put(int index, const char *file, const char *text)
{
        put_file(text_of("/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, file),
                 text);
}

TEST(data_caches)
{
        struct host_cache caches[HOST_CACHE_LEVELS];
        host_caches_read(root, caches);
        for (int i = 0; i < HOST_CACHE_LEVELS; i++)
                assert_int_equal(caches[i].size_bytes, 0);
        put(0, "level", "1\n");
        put(0, "type", "Data\n");
        put(0, "size", "48K\n");
        put(0, "ways_of_associativity", "12\n");
        put(1, "level", "1\n");
        put(1, "type", "Instruction\n");
        put(1, "size", "32K\n");
        put(2, "level", "2\n");
        put(2, "type", "Unified\n");
        put(2, "size", "1024K\n");
        put(3, "level", "3\n");
        put(3, "type", "Unified\n");
        put(3, "size", "32768K\n");
        put(3, "ways_of_associativity", "99999999999\n");
        host_caches_read(root, caches);
        assert_int_equal(caches[0].size_bytes, 48 << 10);
        assert_int_equal(caches[0].ways, 12);
        assert_int_equal(caches[1].size_bytes, 1 << 20);
        assert_int_equal(caches[1].ways, 0);
        assert_int_equal(caches[2].size_bytes, 32 << 20);
        assert_int_equal(caches[2].ways, 0);
}
