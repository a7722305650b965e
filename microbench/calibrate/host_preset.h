/* SPDX-License-Identifier: MIT */
/* Derives the simulated CPU for this machine from its calibration. */
#ifndef MEMLAG_HOST_PRESET_H
#define MEMLAG_HOST_PRESET_H

#include <jansson.h>

/* The NUMBERth figure, from 0, that a simulated CPU needs and CALIBRATION lacks, in
 * words; NULL: no further figure. */
const char *host_preset_lacks(const json_t *calibration, size_t number);

/* The memory bandwidth of the CPU simulated from CALIBRATION: reads plus writes, in GB/s.
 * ORIGIN: the measured figure behind it, in words. */
double host_preset_memory_gbs(const json_t *calibration, const char **origin);

/* The text of a preset (profiler/simpmu/presets), which the caller frees; NULL without
 * memory. Figures that a calibration cannot give are from a current server core; the text
 * marks them. */
char *host_preset(const json_t *calibration);

#endif
