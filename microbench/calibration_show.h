/* SPDX-License-Identifier: MIT */
/* A calibration for people, on the standard output. */
#ifndef MEMLAG_CALIBRATION_SHOW_H
#define MEMLAG_CALIBRATION_SHOW_H

#include <jansson.h>

void calibration_show(const json_t *document);

#endif
