/* SPDX-License-Identifier: MIT */
/* Presets of the simulated CPU: each way of being wrong is told with its place. */
#include "sim_preset.h"
#include "unit_test.h"

/* One line for each parameter, in the order of the table, each at its number. */
static const struct {
        const char *key;
        const char *value;
} whole[] = {
    {"core.count", "4"},
    {"core.clock_mhz", "2500.5"},
    {"core.issue_width", "4"},
    {"core.rob_entries", "224"},
    {"core.scheduler_entries", "97"},
    {"core.vector_scheduler_entries", "0"},
    {"core.address_scheduler_entries", "0"},
    {"core.lfb_entries", "12"},
    {"core.store_buffer_entries", "56"},
    {"core.load_buffer_entries", "72"},
    {"core.load_ports", "2"},
    {"core.store_ports", "1"},
    {"core.lock_cycles", "18"},
    {"core.unforwarded_cycles", "15"},
    {"store_forward.latency_cycles", "5"},
    {"store_forward.vector_cycles", "6"},
    {"store_forward.renamed_cycles", "0"},
    {"store_forward.renames", "1"},
    {"branch.mispredict_cycles", "16"},
    {"fetch.runs_per_cycle", "1"},
    {"fetch.call_cycles", "2"},
    {"fetch.indirect_cycles", "1"},
    {"fetch.run_instructions", "6"},
    {"fetch.queue_entries", "64"},
    {"fetch.ahead_cycles", "32"},
    {"op_cache.size_bytes", "6144"},
    {"op_cache.ways", "8"},
    {"decode.width", "4"},
    {"l1i.size_bytes", "32768"},
    {"l1i.ways", "8"},
    {"arithmetic.multiply_cycles", "3"},
    {"arithmetic.divide_cycles", "26"},
    {"arithmetic.divide_interval_cycles", "6"},
    {"float.add_cycles", "4"},
    {"float.multiply_cycles", "4"},
    {"float.fma_cycles", "4"},
    {"float.divide_cycles", "14"},
    {"float.sqrt_cycles", "18"},
    {"float.divide_interval_cycles", "4"},
    {"l1d.size_bytes", "32768"},
    {"l1d.ways", "8"},
    {"l1d.latency_cycles", "5"},
    {"l1d.alias4k_cycles", "7"},
    {"l1d.alias4k_repeats", "1"},
    {"l1d.set_interval_l2_cycles", "0"},
    {"l1d.set_interval_l3_cycles", "0"},
    {"l1d.hashed_sets", "0"},
    {"l2.size_bytes", "1048576"},
    {"l2.ways", "16"},
    {"l2.latency_cycles", "14"},
    {"l2.bytes_per_cycle", "45.5"},
    {"l2.queue_entries", "16"},
    {"l2.hashed_sets", "0"},
    {"l3.size_bytes", "8388608"},
    {"l3.ways", "16"},
    {"l3.latency_cycles", "68"},
    {"l3.bytes_per_cycle", "10"},
    {"l3.inclusion", "2"},
    {"hitm.latency_cycles", "105"},
    {"prefetch.stream_lines", "20"},
    {"prefetch.next_page", "0"},
    {"dtlb.entries", "64"},
    {"dtlb.ways", "4"},
    {"dtlb.huge_entries", "32"},
    {"dtlb.huge_ways", "4"},
    {"stlb.entries", "1536"},
    {"stlb.ways", "12"},
    {"stlb.latency_cycles", "9"},
    {"page_walk.latency_cycles", "26"},
    {"page_walk.huge_latency_cycles", "20"},
    {"page_walk.walkers", "2"},
    {"dram.latency_ns", "89"},
    {"dram.bandwidth_gbs", "105"},
    {"dram.channels", "6"},
    {"dram.turnaround_ns", "28.5"},
    {"dram.write_batch", "32"},
    {"dram.write_ns", "26"},
    {"dram.nontemporal_ns", "70"},
    {"numa.nodes", "2"},
    {"numa.spread", "0"},
    {"numa.link_latency_ns", "60"},
    {"numa.link_bandwidth_gbs", "35"},
    {"numa.cache_latency_ns", "110"},
    {"kernel.fault_ns", "600"},
    {"kernel.call_ns", "100"},
    {"kernel.copy_gbs", "10"},
};
enum { LINES = LENGTH(whole) };

/* The whole preset, with the line of CHANGED_KEY (NULL: none) replaced by TEXT. */
static char *preset_text(const char *changed_key, const char *text)
{
        char *result;
        size_t size;
        FILE *out = open_memstream(&result, &size);
        for (int i = 0; i < LINES; i++) {
                if (changed_key && strcmp(whole[i].key, changed_key) == 0)
                        fprintf(out, "%s\n", text);
                else
                        fprintf(out, "%s = %s # comment\n", whole[i].key, whole[i].value);
        }
        fclose(out);
        return result;
}

static int parse(const char *text, struct sim_preset *preset, struct diag *diag)
{
        *preset = (struct sim_preset){0};
        return sim_preset_parse(text, strlen(text), "x.conf", preset, diag);
}

static void assert_refused(const char *changed_key, const char *line, const char *message)
{
        struct sim_preset preset;
        struct diag diag = {""};
        char *text = preset_text(changed_key, line);
        int rc = parse(text, &preset, &diag);
        free(text);
        assert_true(rc < 0);
        if (!strstr(diag.text, message))
                fail_msg("'%s' does not say '%s'", diag.text, message);
}

TEST(a_whole_preset_is_read)
{
        struct sim_preset preset;
        struct diag diag;
        char *text = preset_text(NULL, NULL);
        assert_ok(parse(text, &preset, &diag));
        free(text);
        assert_true(preset.params.cores == 4);
        assert_true(preset.params.clock_mhz == 2500.5);
        assert_true(preset.params.l3_bytes == 8388608);
        assert_true(preset.params.dram_bandwidth_gbs == 105);
        assert_ok(sim_preset_check(&preset, &diag));
}

TEST(spaces_carriage_returns_and_comments_do_not_matter)
{
        struct sim_preset preset;
        struct diag diag;
        char *text = preset_text("core.count", "\t# a comment\n\r\n  core.count=  7\t\r");
        assert_ok(parse(text, &preset, &diag));
        free(text);
        assert_true(preset.params.cores == 7);
}

TEST(mistakes_are_told_with_their_line)
{
        assert_refused("core.clock_mhz", "core.clock_mhz", "x.conf:2: no '='");
        assert_refused("core.clock_mhz", "core.clock = 1",
                       "did you mean 'core.clock_mhz'");
        assert_refused("l2.ways", "zzzzzzzzz = 1", "--sim-list");
        assert_refused("core.clock_mhz", "core.count = 1",
                       "x.conf:2: core.count is given twice");
        assert_refused("l3.ways", "", "l3.ways is missing; add 'l3.ways = VALUE'");
}

TEST(a_value_must_be_a_number_in_range)
{
        static const char *const junk[] = {"nan",   "inf",   "-inf", "0x20",
                                           "12 34", "12x",   "",     "1e999",
                                           "--3",   "1.2.3", "e",    "."};
        for (size_t i = 0; i < LENGTH(junk); i++) {
                char line[64];
                snprintf(line, sizeof(line), "core.clock_mhz = %s", junk[i]);
                assert_refused("core.clock_mhz", line, "x.conf:2: core.clock_mhz: ");
        }
        assert_refused("core.count", "core.count = 0", "give 1 to 1024");
        assert_refused("core.count", "core.count = 1025", "give 1 to 1024");
        assert_refused("core.count", "core.count = -1",
                       "is not a number; give one from 1 to 1024");
        assert_refused("core.count", "core.count = 1.5", "not a whole number of cores");
}

TEST(bytes_that_are_no_text_are_refused)
{
        struct sim_preset preset;
        struct diag diag;
        char bytes[] = "core.count = 4\0junk\n";
        assert_true(sim_preset_parse(bytes, sizeof(bytes) - 1, "x.conf", &preset, &diag) <
                    0);
        assert_true(sim_preset_parse("", 0, "x.conf", &preset, &diag) < 0);
}

static void read_whole(struct sim_preset *preset)
{
        struct diag diag;
        char *text = preset_text(NULL, NULL);
        assert_ok(parse(text, preset, &diag));
        free(text);
}

TEST(settings_change_one_parameter)
{
        struct sim_preset preset;
        struct diag diag;
        read_whole(&preset);
        assert_ok(sim_preset_set(&preset, "dram.bandwidth_gbs=15", &diag));
        assert_ok(sim_preset_set(&preset, "kernel.copy_gbs=9.5", &diag));
        assert_true(preset.params.dram_bandwidth_gbs == 15);
        assert_true(preset.params.kernel_copy_gbs == 9.5);
        assert_ok(sim_preset_set(&preset, "fetch.runs_per_cycle=0.5", &diag));
        assert_true(preset.params.fetch_runs == 0.5);
        assert_true(preset.from_command_line[LINES - 1]);
        assert_false(preset.from_command_line[0]);
        assert_true(sim_preset_set(&preset, "dram.bandwidth_gbs", &diag) < 0);
        assert_true(sim_preset_set(&preset, "dram.bandwith_gbs=1", &diag) < 0);
        assert_non_null(strstr(diag.text, "did you mean 'dram.bandwidth_gbs'"));
        assert_true(sim_preset_set(&preset, "tlb.walkers=4", &diag) < 0);
        assert_non_null(strstr(diag.text, "did you mean 'page_walk.walkers'"));
        assert_true(sim_preset_set(&preset, "bandwidth=4", &diag) < 0);
        assert_non_null(strstr(diag.text, "did you mean 'dram.bandwidth_gbs'"));
        /* A letter or two are no beginning of a key, nor of its last part. */
        static const char *const short_keys[] = {"a=b", "c=1", "x.l=1", "dr=2"};
        for (size_t i = 0; i < LENGTH(short_keys); i++) {
                assert_true(sim_preset_set(&preset, short_keys[i], &diag) < 0);
                assert_non_null(strstr(diag.text, "--sim-list"));
        }
        assert_true(sim_preset_set(&preset, "=1", &diag) < 0);
        assert_true(sim_preset_set(&preset, "dram.bandwidth_gbs=0", &diag) < 0);
}

TEST(parameters_must_fit_together)
{
        static const char *const settings[] = {
            "l1d.size_bytes=32769",  "l1d.ways=7",          "l2.ways=31",
            "l3.size_bytes=1048576", "dtlb.ways=5",         "dtlb.huge_ways=3",
            "stlb.ways=7",           "l2.latency_cycles=5", "l3.latency_cycles=14"};
        for (size_t i = 0; i < LENGTH(settings); i++) {
                struct sim_preset preset;
                struct diag diag = {""};
                read_whole(&preset);
                assert_ok(sim_preset_set(&preset, settings[i], &diag));
                if (sim_preset_check(&preset, &diag) == 0)
                        fail_msg("%s was accepted", settings[i]);
        }
}
