/* SPDX-License-Identifier: MIT */
/* See host_caches.h. */
#include "host_caches.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "perf/facts/machine_facts.h"
#include "perf/facts/root_file.h"
#include "sim_preset.h"

enum { CACHES_MAX = 8 };

/* Reads the first line of a file of CPU 0's cache INDEX; false: it does not exist. */
static bool read_line(const char *root, int index, const char *file, char *line,
                      size_t size)
{
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/%s",
                 index, file);
        return root_file_line(root, path, line, size);
}

/* "32768K", as the kernel writes sizes. */
static uint64_t parse_bytes(const char *text)
{
        char *end;
        unsigned long long number = strtoull(text, &end, 10);
        return number > UINT32_MAX ? 0 : *end == 'K' ? number << 10 : number;
}

static unsigned parse_count(const char *text)
{
        unsigned long number = strtoul(text, NULL, 10);
        return number > UINT16_MAX ? 0 : (unsigned)number;
}

static void read_cache(const char *root, int index, struct host_cache *cache)
{
        char line[64];
        if (read_line(root, index, "size", line, sizeof(line)))
                cache->size_bytes = parse_bytes(line);
        if (read_line(root, index, "ways_of_associativity", line, sizeof(line)))
                cache->ways = parse_count(line);
}

void host_caches_read(const char *root, struct host_cache caches[HOST_CACHE_LEVELS])
{
        char line[64];
        memset(caches, 0, HOST_CACHE_LEVELS * sizeof(*caches));
        for (int i = 0; i < CACHES_MAX && read_line(root, i, "level", line, sizeof(line));
             i++) {
                int level = atoi(line);
                bool code = read_line(root, i, "type", line, sizeof(line)) &&
                            strcmp(line, "Instruction") == 0;
                if (level >= 1 && level <= HOST_CACHE_LEVELS && !code)
                        read_cache(root, i, &caches[level - 1]);
        }
}

/* A calibration measures the L3 capacity available to one CPU, beside other tenants. */
static int tell_calibrated(struct sink *sink, const json_t *document, double bytes,
                           struct diag *diag)
{
        const char *made = json_string_value(json_object_get(document, "made"));
        char origin[64];
        snprintf(origin, sizeof(origin), "calibration of %.20s", made ? made : "?");
        return sink_machine(sink, "host_l3_bytes", bytes, "bytes", origin, diag);
}

static int tell_reported(struct sink *sink, struct diag *diag)
{
        struct host_cache caches[HOST_CACHE_LEVELS];
        host_caches_read("", caches);
        double bytes = (double)caches[HOST_CACHE_LEVELS - 1].size_bytes;
        return bytes > 0 ? sink_machine(sink, "host_l3_bytes", bytes, "bytes",
                                        "the system", diag)
                         : 0;
}

static int tell_l3(struct sink *sink, struct diag *diag)
{
        struct diag ignored;
        json_t *document = NULL;
        double bytes = NAN;
        if (calibration_load(&document, &ignored) == 0)
                bytes = calibration_number(document, "caches.levels.2.size_bytes");
        else
                document = NULL;
        int rc = bytes > 0 ? tell_calibrated(sink, document, bytes, diag)
                           : tell_reported(sink, diag);
        json_decref(document);
        return rc;
}

int host_caches_tell(struct db *db, struct sink *sink, const char *cpu, struct diag *diag)
{
        struct machine machine;
        if (sim_preset_is_own(cpu))
                return 0;
        machine_read("", &machine);
        int rc = db_run_set_text(
            db, "host_cpu", machine.model_name[0] ? machine.model_name : "unknown", diag);
        machine_free(&machine);
        if (rc == 0)
                rc = db_run_set_int(db, "host_calibrated", sim_preset_has_host(), diag);
        return rc == 0 ? tell_l3(sink, diag) : rc;
}
