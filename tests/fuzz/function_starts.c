/* SPDX-License-Identifier: MIT */
/* Fuzz target: the function starts in the unwind table of a stripped program. The input
 * is the sections .eh_frame_hdr and .eh_frame, one after the other, as for the tracker's
 * unwinder; both are read as .eh_frame. */
#include "function_start.h"
#include "fuzz_target.h"

enum { QUESTIONS = 64, HEADER_POINTER = 4 };

static void ask(const uint8_t *table, size_t bytes, uint64_t vaddr)
{
        struct function_start starts[QUESTIONS] = {{0}};
        for (size_t i = 0; i < QUESTIONS; i++)
                starts[i].vaddr = vaddr - 0x2000 + 0x80 * i;
        function_starts_in(table, bytes, vaddr, starts, QUESTIONS);
        for (size_t i = 0; i < QUESTIONS; i++)
                if (starts[i].found && starts[i].start > starts[i].vaddr)
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint8_t *copy = malloc(size ? size : 1); /* a sanitizer sees its end */
        int32_t distance;
        if (!copy)
                return 0;
        memcpy(copy, data, size);
        ask(copy, size, 0x402000);
        if (size >= HEADER_POINTER + sizeof(distance)) {
                memcpy(&distance, copy + HEADER_POINTER, sizeof(distance));
                size_t at = HEADER_POINTER + (size_t)distance;

                if (at < size) {
                        uint8_t *table = malloc(size - at);

                        if (table) {
                                memcpy(table, copy + at, size - at);
                                ask(table, size - at, 0x402000);
                        }
                        free(table);
                }
        }
        free(copy);
        return 0;
}
