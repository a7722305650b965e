/* SPDX-License-Identifier: MIT */
/* Defaults of 'memlag record' for options that are not given. */
#include "record_options.h"
#include "sim_prefetch.h"
#include "sources.h"
#include "unit_test.h"

/* The prefetchers of 'record ... true' with the N words of OPTIONS. */
static uint32_t prefetchers_with(int n, char *const *options)
{
        char *argv[8] = {"record"};
        struct record_options read;
        struct diag diag;
        for (int i = 0; i < n; i++)
                argv[1 + i] = options[i];
        argv[1 + n] = "true";
        assert_ok(record_options_parse(n + 2, argv, &read, &diag));
        sources_find("sim")->set_defaults(&read.source);
        uint32_t on = read.source.sim_prefetch;
        record_options_free(&read);
        return on;
}

#define PREFETCHERS_WITH(...)                                                            \
        prefetchers_with(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *),               \
                         (char *[]){__VA_ARGS__})

/* As in hardware. */
TEST(prefetchers_are_on_unless_they_are_given)
{
        assert_int_equal(PREFETCHERS_WITH("--sim-cpu", "skylake-sp"), sim_prefetch_all());
        assert_int_equal(PREFETCHERS_WITH("--sim-prefetch", "off"), 0);
        assert_int_equal(PREFETCHERS_WITH("--sim-prefetch", "on"), sim_prefetch_all());
        uint32_t one = PREFETCHERS_WITH("--sim-prefetch=l1-next", "--sim-cpu=zen4");
        assert_true(one != 0 && (one & (one - 1)) == 0);
}
