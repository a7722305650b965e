/* SPDX-License-Identifier: MIT */
/* Draws a calibration's two curves, latency over size and latency over bandwidth, as one
 * SVG. */
#ifndef MEMLAG_PICTURE_H
#define MEMLAG_PICTURE_H

#include <jansson.h>
#include <stdio.h>

void picture_write(const json_t *calibration, FILE *out);

#endif
