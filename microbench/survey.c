/* SPDX-License-Identifier: MIT */
/* What all parts of a survey share: rounds until an estimate is good, progress, and what
 * the system tells of its caches. */
#include "survey.h"

#include <hwloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

static const uint64_t MEMORY_SIZE_MIN = UINT64_C(64) << 20;
static const uint64_t MEMORY_SIZE_MAX = UINT64_C(1) << 30;

void survey_progress(const struct survey *survey, const char *format, ...)
{
        if (!survey->progress)
                return;
        va_list arguments;
        va_start(arguments, format);
        fputs("\r\033[K", stderr);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fflush(stderr);
}

bool survey_hurries(struct survey *survey)
{
        bool late = clock_seconds() > survey->end_seconds;
        survey->hurried += late;
        return late;
}

struct estimate survey_chase(struct survey *survey, struct chase *chase)
{
        enum { ROUNDS_MAX = 256, ROUNDS_HURRIED = 5 };
        double values[ROUNDS_MAX];
        size_t most = survey->rounds_max < ROUNDS_MAX ? survey->rounds_max : ROUNDS_MAX;
        if (survey_hurries(survey))
                most = ROUNDS_HURRIED;
        struct estimate estimate = {0};
        size_t kept = 0, disturbed = 0;
        double begin = clock_seconds();
        double first = chase_time(chase, 1000).ns;
        uint64_t steps = (uint64_t)(survey->round_seconds * 1e9 / first) + 1000;
        while (kept < most) {
                struct chase_time time = chase_time(chase, steps);
                survey->rounds++;
                if (time.disturbed && disturbed < most) {
                        disturbed++;
                        continue;
                }
                values[kept++] = time.ns;
                if (kept < survey->rounds_min && kept < most)
                        continue;
                estimate = estimate_of(values, kept);
                if (estimate_error(&estimate) <= survey->error_aim ||
                    clock_seconds() - begin > survey->estimate_seconds)
                        break;
        }
        survey->disturbed += disturbed;
        if (estimate_error(&estimate) > survey->worst_error)
                survey->worst_error = estimate_error(&estimate);
        return estimate;
}

/* ---- what the system tells ------------------------------------------------------------
 */

static int attributes_of(unsigned level, struct hwloc_cache_attr_s *attributes)
{
        static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
                                                 HWLOC_OBJ_L3CACHE};
        hwloc_topology_t topology;
        int found = 0;
        if (level < 1 || level > 3 || hwloc_topology_init(&topology) != 0)
                return 0;
        hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
        if (hwloc_topology_load(topology) == 0) {
                hwloc_obj_t object = hwloc_get_obj_by_type(topology, types[level - 1], 0);
                if (object) {
                        *attributes = object->attr->cache;
                        found = 1;
                }
        }
        hwloc_topology_destroy(topology);
        return found;
}

uint64_t reported_cache_bytes(unsigned level)
{
        struct hwloc_cache_attr_s attributes;
        return attributes_of(level, &attributes) ? attributes.size : 0;
}

unsigned reported_cache_ways(unsigned level)
{
        struct hwloc_cache_attr_s attributes;
        return attributes_of(level, &attributes) && attributes.associativity > 0
                   ? (unsigned)attributes.associativity
                   : 0;
}

uint64_t survey_data_bytes(uint64_t memory_bytes)
{
        uint64_t last = reported_cache_bytes(3);
        uint64_t size = 8 * last;
        if (size < MEMORY_SIZE_MIN)
                size = MEMORY_SIZE_MIN;
        if (size > MEMORY_SIZE_MAX)
                size = MEMORY_SIZE_MAX;
        if (size > memory_bytes / 4)
                size = memory_bytes / 4;
        return size & ~(uint64_t)4095;
}
