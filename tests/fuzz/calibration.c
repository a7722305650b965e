/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as this machine's calibration and as the validation of its
 * counters. The preset made from the calibration must be safe to parse and check. */
#include "calibration.h"
#include "calibration_show.h"
#include "fuzz_target.h"
#include "host_preset.h"
#include "sim_preset.h"
#include "validation.h"

/* The files stand for all inputs: their names do not change. */
static char *calibration_file, *validation_file;

static void find_files(void)
{
        struct machine_identity identity;
        struct diag diag;
        char home[4096];
        if (!getcwd(home, sizeof(home)) || setenv("XDG_DATA_HOME", home, 1) != 0)
                abort();
        machine_identity(&identity);
        calibration_file = calibration_path(&identity, ".json", &diag);
        validation_file = validation_path(NULL, &diag);
        if (!calibration_file || !validation_file ||
            calibration_check_place(calibration_file, &diag) < 0)
                abort();
}

static void store(const char *path, const uint8_t *bytes, size_t size)
{
        FILE *file = fopen(path, "w");
        if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
                abort();
}

/* A hostile calibration may give figures out of a preset's range; the check says so. */
static void use(const json_t *calibration)
{
        struct sim_preset preset = {.name = "host"};
        const char *origin;
        struct diag diag;
        FILE *output = stdout;
        stdout = fopen("/dev/null", "w");
        calibration_show(calibration);
        fclose(stdout);
        stdout = output;
        for (size_t i = 0; host_preset_lacks(calibration, i); i++)
                ;
        (void)host_preset_memory_gbs(calibration, &origin);
        char *text = host_preset(calibration);
        if (sim_preset_parse(text, strlen(text), "host.conf", &preset, &diag) == 0)
                (void)sim_preset_check(&preset, &diag);
        free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        json_t *document;
        struct diag diag;
        if (!calibration_file)
                find_files();
        store(calibration_file, bytes, size);
        if (calibration_load(&document, &diag) == 0) {
                use(document);
                json_decref(document);
        }
        unlink(calibration_file);
        store(validation_file, bytes, size);
        if (validation_load(NULL, &document, &diag) == 0) {
                size_t index;
                json_t *event;
                json_array_foreach(json_object_get(document, "events"), index,
                                   event)(void) validation_objection(event, index % 2);
                json_decref(document);
        }
        unlink(validation_file);
        return 0;
}
