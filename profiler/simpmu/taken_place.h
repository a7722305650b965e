/* SPDX-License-Identifier: MIT */
/* Programs that are linked to addresses where the simulated PMU is, as programs of
 * Valgrind are: they cannot be simulated. */
#ifndef SIMPMU_TAKEN_PLACE_H
#define SIMPMU_TAKEN_PLACE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

static inline bool taken_place_overlaps(uint64_t start, uint64_t bytes)
{
        /* The tool (readelf -l), and the first memory that Valgrind maps. */
        static const uint64_t taken[][2] = {{0x58000000, 0x59000000},
                                            {0x1002000000, 0x1003000000}};
        for (unsigned i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
                if (start < taken[i][1] &&
                    (start >= taken[i][0] || bytes > taken[i][0] - start))
                        return true;
        return false;
}

/* HEADER: of the ELF program at FD. */
static inline bool taken_place_needed(int fd, const Elf64_Ehdr *header)
{
        Elf64_Phdr segment;
        for (uint64_t i = 0; header->e_type == ET_EXEC && i < header->e_phnum; i++) {
                if (pread(fd, &segment, sizeof(segment),
                          (off_t)(header->e_phoff + i * sizeof(segment))) !=
                    sizeof(segment))
                        return false;
                if (segment.p_type == PT_LOAD &&
                    taken_place_overlaps(segment.p_vaddr, segment.p_memsz))
                        return true;
        }
        return false;
}

#endif
