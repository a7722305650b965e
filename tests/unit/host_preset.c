/* SPDX-License-Identifier: MIT */
/* Values that the simulated host takes from a calibration. */
#include "host_preset.h"
#include "unit_test.h"

/* KEY's value in the preset of CALIBRATION, which is freed; NAN: no such key. */
static double preset_value(json_t *calibration, const char *key)
{
        char *text = host_preset(calibration);
        assert_non_null(text);
        const char *line = strstr(text, key);
        double value = line ? strtod(line + strlen(key) + strlen(" = "), NULL) : NAN;
        free(text);
        json_decref(calibration);
        return value;
}

/* KEY's value in the preset of a core whose jumps, one to the next, take JUMP_CYCLES. */
static double preset_of_jumps(const char *key, double jump_cycles)
{
        return preset_value(json_pack("{s:{s:f}}", "core", "jump_cycles", jump_cycles),
                            key);
}

/* One run in JUMP_CYCLES cycles, within the limits of presets. */
TEST(a_core_of_slow_jumps_has_a_part_of_a_run_in_a_cycle)
{
        static const struct {
                double jump_cycles, runs_per_cycle;
        } cores[] = {{1, 1}, {2, 0.5}, {4, 0.25}, {0.5, 2}, {40, 0.1}, {0.01, 16}};
        for (size_t i = 0; i < LENGTH(cores); i++)
                assert_float_equal(
                    preset_of_jumps("fetch.runs_per_cycle", cores[i].jump_cycles),
                    cores[i].runs_per_cycle, 0.005);
}

/* A kernel that takes 500 ns for a fault and zeroes 8 bytes a ns. */
TEST(two_sizes_of_pages_tell_fault_and_zeroes_apart)
{
        static const struct {
                const char *key;
                double value;
        } expected[] = {
            {"kernel.fault_ns", 500}, {"kernel.copy_gbs", 8}, {"kernel.call_ns", 120}};
        for (size_t i = 0; i < LENGTH(expected); i++) {
                json_t *both = json_pack(
                    "{s:{s:f, s:f, s:f}}", "kernel", "small_fault_ns", 500 + 4096 / 8.0,
                    "huge_fault_ns", 500 + (2 << 20) / 8.0, "call_ns", 120.0);
                assert_float_equal(preset_value(both, expected[i].key), expected[i].value,
                                   0.01);
        }
        /* Without huge pages zeroes come at the assumed 10 bytes a ns. */
        json_t *small = json_pack("{s:{s:f}}", "kernel", "small_fault_ns", 1000.0);
        assert_float_equal(preset_value(small, "kernel.fault_ns"), 590, 0.5);
}

TEST(failed_forwarding_takes_what_its_chain_took)
{
        json_t *measured =
            json_pack("{s:{s:f}}", "arithmetic", "unforwarded_cycles", 25.4);
        assert_float_equal(preset_value(measured, "core.unforwarded_cycles"), 25, 0);
        assert_true(isnan(preset_value(json_object(), "core.unforwarded_cycles")));
}

TEST(a_locked_instruction_takes_what_its_chain_took)
{
        json_t *measured = json_pack("{s:{s:f}}", "arithmetic", "locked_cycles", 7.2);
        assert_float_equal(preset_value(measured, "core.lock_cycles"), 7, 0);
        assert_true(isnan(preset_value(json_object(), "core.lock_cycles")));
}

/* Chases in 4 MiB still hit the L3. Larger chases varied too much. */
TEST(a_cache_that_varies_has_the_bytes_that_it_kept)
{
        const double mib = 1 << 20;
        json_t *measured =
            json_pack("{s:{s:[{s:f, s:f}, {s:f, s:f}, {s:f, s:f}],"
                      "    s:[{s:f}, {s:f}, {s:n, s:f, s:i, s:f, s:f}]}, s:[{s:f}]}",
                      "caches", "curve", "size_bytes", 2 * mib, "ns", 12.0, "size_bytes",
                      4 * mib, "ns", 16.0, "size_bytes", 16 * mib, "ns", 110.0, "levels",
                      "latency_cycles", 4.0, "latency_cycles", 14.0, "size_bytes",
                      "reported_bytes", 32 * mib, "reported_ways", 16, "latency_ns", 12.0,
                      "latency_cycles", 48.0, "memory", "latency_ns", 150.0);
        assert_float_equal(preset_value(measured, "l3.size_bytes"), 4 * mib, 0);
}

/* The L3 has its capacity beside other tenants, and their traffic, or what a chase found.
 */
TEST(a_shared_cache_has_its_capacity_and_others_traffic)
{
        const double mib = 1 << 20;
        static const struct {
                double gbs, mib;
        } cases[] = {{2.5, 24}, {0, 12}};
        for (size_t i = 0; i < LENGTH(cases); i++) {
                json_t *measured = json_pack(
                    "{s:{s:[{s:f}, {s:f}, {s:f, s:f, s:i, s:f, s:f}]}, s:{s:f, s:f, "
                    "s:f}}",
                    "caches", "levels", "latency_cycles", 4.0, "latency_cycles", 14.0,
                    "size_bytes", 12 * mib, "reported_bytes", 32 * mib, "reported_ways",
                    16, "latency_ns", 12.0, "latency_cycles", 48.0, "tenants",
                    "capacity_bytes", 24 * mib, "inserted_gbs", cases[i].gbs, "variation",
                    0.01);
                json_incref(measured);
                assert_float_equal(preset_value(measured, "l3.size_bytes"),
                                   cases[i].mib * mib, 0);
                assert_float_equal(preset_value(measured, "l3.tenants_gbs"), cases[i].gbs,
                                   0);
        }
}

/* A stored line is first read. Memory is busy for 97 % of the time. */
TEST(the_memory_has_the_most_that_was_moved)
{
        const char *origin;
        json_t *stores = json_pack("{s:{s:f, s:f, s:f}}", "bandwidth", "peak_read_gbs",
                                   44.5, "peak_triad_gbs", 43.3, "peak_write_gbs", 33.7);
        json_t *loads = json_pack("{s:{s:f, s:n, s:f}}", "bandwidth", "peak_read_gbs",
                                  97.0, "peak_triad_gbs", "peak_write_gbs", 33.7);
        assert_float_equal(host_preset_memory_gbs(stores, &origin), 67.4 / 0.97, 0.01);
        assert_string_equal(origin, "twice what stores reach");
        assert_float_equal(host_preset_memory_gbs(loads, &origin), 100, 0.01);
        assert_string_equal(origin, "what loads reach");
        json_decref(stores);
        json_decref(loads);
}

/* Ten lines of 64 bytes under way, 16 GB/s: each line takes 40 ns. */
TEST(nontemporal_stores_keep_a_buffer_as_little_says)
{
        json_t *measured =
            json_pack("{s:{s:f}, s:{s:[{s:f}]}}", "core", "outstanding_misses", 10.0,
                      "bandwidth", "threads", "nontemporal_gbs", 16.0);
        assert_float_equal(preset_value(measured, "dram.nontemporal_ns"), 40, 0.05);
        assert_true(isnan(preset_value(json_object(), "dram.nontemporal_ns")));
}

/* 80 queue entries, which a written line occupies for 60 ns more; 10 fill buffers; and a
 * streamer 40 lines ahead. Little's law gives the bandwidths, at 100 ns a line. */
TEST(bandwidths_of_one_thread_tell_queue_writes_and_streamer)
{
        static const struct {
                const char *key;
                double value;
        } expected[] = {{"l2.queue_entries", 80},
                        {"dram.write_ns", 60},
                        {"prefetch.stream_lines", 40}};
        for (size_t i = 0; i < LENGTH(expected); i++) {
                json_t *made = json_pack(
                    "{s:[{s:f}], s:{s:f}, s:{s:f, s:[{s:f, s:f, s:f}]}}", "memory",
                    "latency_ns", 100.0, "core", "outstanding_misses", 10.0, "bandwidth",
                    "peak_read_gbs", 1e5, "threads", "read_gbs", 50 * 64 / 100.0,
                    "triad_gbs", 80 * 64 / (100 + 60 / 3.0), "write_gbs",
                    80 * 64 / (100 + 60.0));
                assert_float_equal(preset_value(made, expected[i].key), expected[i].value,
                                   0.1);
        }
}
