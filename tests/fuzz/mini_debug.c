/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as the section .gnu_debugdata of a stripped program. */
#include "mini_debug.h"
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        char *image;
        size_t image_bytes;
        if (mini_debug_unpack(bytes, size, &image, &image_bytes) == 0)
                free(image);
        return 0;
}
