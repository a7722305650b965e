/* SPDX-License-Identifier: MIT */
/* The interface of every fuzz target, to libFuzzer and to our own driver alike. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Always 0; a fault, a failed assertion or a sanitizer's report is the finding. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
