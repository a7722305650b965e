/* SPDX-License-Identifier: MIT */
/* Presets of the simulated CPU: each kind of error is reported with its location. */
#include "sim_preset.h"
#include "unit_test.h"

/* The lines of a real preset that set parameters. TEXT replaces the line of CHANGED_KEY
 * (NULL: no line). */
static char *preset_text(const char *changed_key, const char *text)
{
        char *result, line[256];
        size_t size;
        FILE *out = open_memstream(&result, &size);
        FILE *whole = fopen(PRESETS "/skylake-sp.conf", "r");
        assert_non_null(whole);
        while (fgets(line, sizeof(line), whole)) {
                size_t key_length = strcspn(line, " #\n");
                if (changed_key && strlen(changed_key) == key_length &&
                    strncmp(line, changed_key, key_length) == 0)
                        fprintf(out, "%s\n", text);
                else if (key_length > 0)
                        fputs(line, out);
        }
        fclose(whole);
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

static void read_whole(struct sim_preset *preset)
{
        struct diag diag;
        char *text = preset_text(NULL, NULL);
        assert_ok(parse(text, preset, &diag));
        free(text);
}

TEST(a_whole_preset_is_read)
{
        struct sim_preset preset;
        struct diag diag;
        read_whole(&preset);
        assert_true(preset.params.cores == 28);
        assert_true(preset.params.clock_mhz == 2100);
        assert_true(preset.params.l3_bytes == 40370176);
        assert_true(preset.params.dram_bandwidth_gbs == 102);
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
        assert_true(preset.from_command_line[SIM_PARAMETER_COUNT - 1]);
        assert_false(preset.from_command_line[0]);
        assert_ok(sim_preset_set(&preset, "l3.size_bytes=6M", &diag));
        assert_true(preset.params.l3_bytes == 6291456);
        assert_true(sim_preset_set(&preset, "core.count=1K", &diag) < 0);
        assert_true(sim_preset_set(&preset, "l2.bytes_per_cycle=1K", &diag) < 0);
        assert_true(sim_preset_set(&preset, "l3.size_bytes=M", &diag) < 0);
        assert_true(sim_preset_set(&preset, "l3.size_bytes=2G", &diag) < 0);
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
