/* SPDX-License-Identifier: MIT */
/* The C library puts its struct pthread at the end, and the variables right below it
 * (glibc: nptl/allocatestack.c). DESCRIPTOR_BYTES exceeds the struct's size by less
 * than the free room that glibc leaves below for libraries loaded later. */
#include "thread_memory.h"

/* Of glibc 2.31 to 2.36 struct pthread has 2304 bytes; glibc leaves 1664 free by default.
 */
enum { DESCRIPTOR_BYTES = 3072 };

static bool met_before(const struct sweep *sweep, size_t first, size_t at,
                       uint32_t module, int64_t time_ns)
{
        for (size_t i = first; i < at; i++) {
                const struct raw_mapping *mapping =
                    &sweep->raw->mappings[sweep->mappings.order[i]];

                if (mapping->module == module && mapping->period.start_ns <= time_ns &&
                    mapping->period.end_ns >= time_ns)
                        return true;
        }
        return false;
}

/* The thread-local memory of the files that PROCESS had mapped at TIME_NS. */
static uint64_t variables_bytes(const struct sweep *sweep, uint32_t process,
                                int64_t time_ns)
{
        const struct raw *raw = sweep->raw;
        size_t first = sweep->mappings.first[process];
        uint64_t bytes = 0;

        for (size_t i = first; i < sweep->mappings.first[process + 1]; i++) {
                const struct raw_mapping *mapping =
                    &raw->mappings[sweep->mappings.order[i]];

                if (mapping->module == RAW_NONE || mapping->period.start_ns > time_ns ||
                    mapping->period.end_ns < time_ns ||
                    raw->modules[mapping->module].state != MODULE_READY ||
                    raw->modules[mapping->module].file.thread_bytes == 0 ||
                    met_before(sweep, first, i, mapping->module, time_ns))
                        continue;
                bytes += raw->modules[mapping->module].file.thread_bytes;
        }
        return bytes;
}

uint64_t thread_memory_bytes(const struct sweep *sweep, uint32_t mapping)
{
        const struct raw *raw = sweep->raw;
        const struct raw_mapping *stack = &raw->mappings[mapping];

        /* The first thread's stack is the kernel's, and has no such memory. */
        if (stack->thread == RAW_NONE || stack->process == RAW_NONE ||
            raw->threads[stack->thread].tid == raw->processes[stack->process].pid)
                return 0;
        uint64_t pointer = raw->threads[stack->thread].thread_pointer;

        /* Sources that tell the pointer may know where the stack ends, too. */
        if (pointer >= stack->end)
                return 0;
        return (pointer > stack->start ? stack->end - pointer : DESCRIPTOR_BYTES) +
               variables_bytes(sweep, stack->process, stack->period.start_ns);
}
