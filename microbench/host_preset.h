/* SPDX-License-Identifier: MIT */
/* The simulated CPU that is like this machine, from its calibration. */
#ifndef MEMLAG_HOST_PRESET_H
#define MEMLAG_HOST_PRESET_H

#include <jansson.h>

/* The figure NUMBER, from 0 on, of those that CALIBRATION lacks and a simulated CPU cannot
 * do without, in words; NULL: there are no so many. */
const char *host_preset_lacks(const json_t *calibration, size_t number);

/* The bandwidth, reads and writes together, in GB/s, of the memory of a CPU that is
 * simulated after CALIBRATION. ORIGIN: which measured figure it is of, in words. */
double host_preset_memory_gbs(const json_t *calibration, const char **origin);

/* The text of a preset (profiler/simpmu/presets); the caller frees it. NULL: no memory.
 * What a calibration cannot tell has the figure of a present server core, and the text
 * says so. */
char *host_preset(const json_t *calibration);

#endif
