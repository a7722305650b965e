/* SPDX-License-Identifier: MIT */
/* The parameters of a simulated CPU: read from a preset file, changed by the command
 * line, checked, and shown. Knows the parameters' names and ranges (from the simulated
 * PMU's protocol), not their effect in the model. */
#ifndef MEMLAG_SIM_PRESET_H
#define MEMLAG_SIM_PRESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "diag.h"
#include "simpmu/protocol.h"

#define SIM_PRESET_HOST    "host"    /* this machine, by its calibration */
#define SIM_PRESET_NEAREST "nearest" /* the same without a calibration (sim_nearest.h)   \
                                      */

#define SIM_PRESET_COUNT_ONE(field, key, unit, minimum, maximum) +1
enum { SIM_PARAMETER_COUNT = 0 SIMPMU_PARAMETERS(SIM_PRESET_COUNT_ONE) };

struct sim_parameter {
        const char *key;
        const char *unit;
        double minimum;
        double maximum;
        size_t offset; /* of its double in struct simpmu_params */
};

extern const struct sim_parameter sim_parameters[SIM_PARAMETER_COUNT];

struct sim_preset {
        char name[64]; /* "skylake-sp", or the file's name without ".conf" */
        struct simpmu_params params;
        bool assumed[SIM_PARAMETER_COUNT]; /* marked in the preset: '# assumed' */
        bool from_command_line[SIM_PARAMETER_COUNT];
        bool from_machine[SIM_PARAMETER_COUNT]; /* as this machine's system reports */
        bool fitted;                            /* some may be: SIM_PRESET_NEAREST */
        /* Fitted: why the preset does not match this machine's microarchitecture; NULL:
         * it does. */
        const char *unlike;
};

/* Parses a preset of LENGTH bytes: "key = value" lines with '#' comments, with every
 * parameter exactly once. Alternatively the first line is "base = NAME", and parameters
 * that are not given come from preset NAME and count as assumed. FILE is for messages
 * only, which name file and line. -EINVAL with the error and its remedy. */
int sim_preset_parse(const char *text, size_t length, const char *file,
                     struct sim_preset *preset, struct diag *diag);

/* Applies "key=value". */
int sim_preset_set(struct sim_preset *preset, const char *assignment, struct diag *diag);

/* Sets the parameter KEY to VALUE, as this machine's system reports it; a value out of
 * the parameter's range is ignored. */
void sim_preset_replace(struct sim_preset *preset, const char *key, double value);

/* Checks that the parameters are consistent (a cache's size is a whole number of sets,
 * latencies grow from level to level, ...). */
int sim_preset_check(const struct sim_preset *preset, struct diag *diag);

/* The default CPU to simulate: SIM_PRESET_HOST if this machine has a sound calibration,
 * otherwise SIM_PRESET_NEAREST. */
const char *sim_preset_default(void);

/* Reads the preset CPU: an installed preset by its name, this machine's
 * (SIM_PRESET_HOST, SIM_PRESET_NEAREST), a file when it has a '/' or ends in ".conf", or
 * for NULL the default. Applies SETTINGS (NULL-terminated, or NULL) and checks the
 * result. */
int sim_preset_build(const char *cpu, const char *const *settings,
                     struct sim_preset *preset, struct diag *diag);

/* A table of all keys with their values, units and ranges. */
void sim_preset_print(const struct sim_preset *preset, FILE *out);

/* The CPU's name in reports: "zen3 with this machine's caches". */
void sim_preset_label(const struct sim_preset *preset, char *label, size_t size);

/* Returns true if CPU is this machine's (SIM_PRESET_HOST, SIM_PRESET_NEAREST), or a
 * user's file. */
bool sim_preset_is_own(const char *cpu);

/* Returns true if this machine has a calibration that suffices for SIM_PRESET_HOST. */
bool sim_preset_has_host(void);

/* Prints the names of the available presets, one a line. */
int sim_preset_list(FILE *out, struct diag *diag);

#endif
