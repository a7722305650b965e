/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a program or library. Functions, lines, inlined calls,
 * variables and types are asked for all over its memory, as for samples. */

#include "ask.h"
#include "fuzz_target.h"
#include "input_file.h"

enum { SEGMENTS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        struct input_file file = input_file(bytes, size);
        struct module module = {.wanted.path = file.path};
        if (module_check(&module) == 0 && module.state == MODULE_READY) {
                for (size_t i = 0; i < module.file.segment_count && i < SEGMENTS; i++)
                        ask(&module, module.file.segments[i].vaddr,
                            module.file.segments[i].memory_bytes);
                elf_file_close(&module.file);
        }
        close(file.fd);
        return 0;
}
