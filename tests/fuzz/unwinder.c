/* SPDX-License-Identifier: MIT */
/* Fuzz target: the heap tracker's rules for unwinding, which it reads from any file that
 * the target has loaded. The input is the sections .eh_frame_hdr and .eh_frame, one after
 * the other; they end where memory does. */
#include "unwinder.h"
#include "fuzz_target.h"
#include "heap_calls.h"

enum { PLACES = 64 };

/* A function of the tracker that the unwinder calls. */
bool calls_have_little_stack(void)
{
        return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint8_t *copy = malloc(size ? size : 1); /* a sanitizer sees its end */
        if (!copy)
                return 0;
        memcpy(copy, data, size);
        /* The table's 4-byte distances lead to functions. */
        for (size_t at = 12; at + 4 <= size && at < 12 + 8 * PLACES; at += 8) {
                int32_t distance;
                memcpy(&distance, copy + at, sizeof(distance));
                for (uintptr_t inside = 0; inside < 40; inside += 8)
                        unwind_rule_find((uintptr_t)copy + (uintptr_t)(intptr_t)distance +
                                             inside,
                                         copy, copy, copy + size);
        }
        free(copy);
        return 0;
}
