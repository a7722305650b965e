/* SPDX-License-Identifier: MIT */
/* Prints a calibration for people to standard output. */
#ifndef MEMLAG_CALIBRATION_SHOW_H
#define MEMLAG_CALIBRATION_SHOW_H

#include <jansson.h>

void calibration_show(const json_t *document);

#endif
