/* SPDX-License-Identifier: MIT */
/* What the simulated host takes over from a calibration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "host_preset.h"

/* KEY's value in the preset of a core whose jumps, one to the next, take JUMP_CYCLES. */
static double preset_of_jumps(const char *key, double jump_cycles)
{
        json_t *calibration = json_pack("{s:{s:f}}", "core", "jump_cycles", jump_cycles);
        char *text = host_preset(calibration);
        assert_non_null(text);
        const char *line = strstr(text, key);
        assert_non_null(line);
        double value = strtod(line + strlen(key) + strlen(" = "), NULL);
        free(text);
        json_decref(calibration);
        return value;
}

/* As many in a cycle as go into one; no fewer and no more than a preset may have. */
static void a_core_of_slow_jumps_has_a_part_of_a_run_in_a_cycle(void **state)
{
        static const struct {
                double jump_cycles, runs_per_cycle;
        } cores[] = {{1, 1}, {2, 0.5}, {4, 0.25}, {0.5, 2}, {40, 0.1}, {0.01, 16}};
        (void)state;
        for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++)
                assert_float_equal(
                    preset_of_jumps("fetch.runs_per_cycle", cores[i].jump_cycles),
                    cores[i].runs_per_cycle, 0.005);
}

/* Each line that is stored to is read before: twice the bytes. The model's memory is busy
 * for 97 % of the time at most. */
static void the_memory_has_the_most_that_was_moved(void **state)
{
        (void)state;
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

int main(void)
{
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_core_of_slow_jumps_has_a_part_of_a_run_in_a_cycle),
            cmocka_unit_test(the_memory_has_the_most_that_was_moved),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
