/* SPDX-License-Identifier: MIT */
/* The sysfs description of one PMU (Linux, Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-*): the location of an event's parameters in its
 * configuration, and the events that the kernel names. Knows no CPU. */
#ifndef MEMLAG_PERF_PMU_H
#define MEMLAG_PERF_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMU_DIRECTORY "/sys/bus/event_source/devices"

/* The words config, config1 and config2 of struct perf_event_attr. */
struct pmu_code {
        uint64_t words[3];
};

/* A parameter's position: its bits, lowest first, fill the bits of MASK. */
struct pmu_field {
        unsigned word;
        uint64_t mask;
};

/* Each function reads below the directory ROOT ("" for this machine), and returns false
 * when the file is absent or malformed. An alias may leave a parameter open ("ldlat=?"):
 * such a parameter stays zero. */
bool pmu_read_field(const char *root, const char *pmu, const char *name,
                    struct pmu_field *field);
bool pmu_read_alias(const char *root, const char *pmu, const char *event,
                    struct pmu_code *code);
bool pmu_read_number(const char *root, const char *pmu, const char *file, double *number);

/* Reads the CPUs of the PMU (cpumask of an uncore PMU, cpus of a hybrid CPU's PMU),
 * which the caller frees; empty when the PMU is on every CPU. */
bool pmu_read_cpus(const char *root, const char *pmu, int **cpus, size_t *count);

/* Sets FIELD's bits in CODE to VALUE, whose higher bits must be zero. */
void pmu_set_field(struct pmu_code *code, const struct pmu_field *field, uint64_t value);

/* Parses the format's text, such as "config1:0-15" or "config:0-7,32-35". */
bool pmu_parse_field(const char *text, struct pmu_field *field);

#endif
