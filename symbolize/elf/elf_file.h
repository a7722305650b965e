/* SPDX-License-Identifier: MIT */
/* An ELF file on disk, opened safely: only regular files, without waiting, with checked
 * headers. Knows nothing of DWARF. */
#ifndef MEMLAG_SYMBOLIZE_ELF_FILE_H
#define MEMLAG_SYMBOLIZE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "range_map.h"

/* Build-ids mostly have 20 bytes. Each byte takes two characters as text. */
#define ELF_BUILD_ID_BYTES 64
#define ELF_BUILD_ID_HEX   (2 * ELF_BUILD_ID_BYTES + 1)

struct elf_segment { /* PT_LOAD */
        uint64_t offset_bytes;
        uint64_t vaddr;
        uint64_t file_bytes;
        uint64_t memory_bytes;
        uint32_t flags; /* PF_R, PF_W, PF_X */
};

struct elf_section { /* only loaded sections, except thread-local sections */
        uint64_t vaddr;
        uint64_t size_bytes;
        bool executable;
        const char *name; /* owned by the Elf handle */
};

/* Added to an offset in a file's thread-local memory, to distinguish it from an address.
 * Addresses of programs are below such offsets, addresses of the kernel above. All
 * offsets are below ELF_THREAD_LIMIT. */
#define ELF_THREAD_LOCAL (UINT64_C(1) << 63)
#define ELF_THREAD_LIMIT (UINT64_C(1) << 62)

/* Whether VADDR is such an offset. */
static inline bool elf_thread_local(uint64_t vaddr)
{
        return vaddr - ELF_THREAD_LOCAL < ELF_THREAD_LIMIT;
}

struct elf_file {
        int fd;
        Elf *elf;
        char *path; /* NULL when only a descriptor was given */
        uint64_t file_bytes;
        struct elf_segment *segments;
        size_t segment_count;
        uint64_t thread_bytes; /* thread-local memory, with its alignment; 0: none */
        uint64_t thread_vaddr; /* of its first values */
        struct elf_section *sections;
        size_t section_count;
        struct range_map section_map; /* value: index in sections */
        uint8_t build_id[ELF_BUILD_ID_BYTES];
        size_t build_id_bytes; /* 0: none */
};

/* Writes a build-id of BYTES, at most ELF_BUILD_ID_BYTES, as text to HEX. */
void elf_build_id_hex(const uint8_t *build_id, size_t bytes, char hex[ELF_BUILD_ID_HEX]);

/* Opens PATH. 0, or an error of open(2) as -ENOENT and -EACCES, or -ENOMEM. -ENOEXEC
 * unless it is a regular file, an ELF program or library of this machine's byte order,
 * and contains all its sections. On error FILE needs no close. */
int elf_file_open(struct elf_file *file, const char *path);
/* The same for an open descriptor of PATH (NULL: not known), which FILE then owns (closed
 * also on error). */
int elf_file_open_fd(struct elf_file *file, int fd, const char *path);
void elf_file_close(struct elf_file *file);
/* Closes the descriptor and frees the contents; path, segments and build-id stay. */
void elf_file_detach(struct elf_file *file);

/* Whether ELF's sections fit into a file of BYTES. No byte of a file is in more than
 * one section (System V ABI, chapter 4, "Sections"). Thousands of headers that name
 * the same bytes would multiply the cost of reading. */
bool elf_sections_fit(Elf *elf, uint64_t bytes);

/* The section NAME, or NULL. */
Elf_Scn *elf_section_named(Elf *elf, const char *name);
/* Bytes that another object owns; data NULL: none. */
struct elf_bytes {
        const char *data;
        size_t size;
};

/* The section's bytes in the file, owned by ELF. */
struct elf_bytes elf_section_bytes(Elf *elf, const char *name);

/* The loaded section that holds the file's virtual address, or NULL. */
const struct elf_section *elf_file_section_at(const struct elf_file *file,
                                              uint64_t vaddr);

/* The segment that holds the file's virtual address, or NULL. */
const struct elf_segment *elf_file_segment(const struct elf_file *file, uint64_t vaddr);

/* Whether the file has code at the virtual address. Linkers keep the debug information
 * of discarded code, from address 0 on. Only a file with a section of code at 0 has
 * code there, even if a segment loads the file's headers there. */
bool elf_file_has_code(const struct elf_file *file, uint64_t vaddr);

/* Reads code of FILE from VADDR on, at most COUNT bytes. There may be fewer at the end
 * of a segment, or of the file for any claimed segment size. Returns the number of
 * bytes; 0: there is no code. */
size_t elf_file_read_code(const struct elf_file *file, uint64_t vaddr, uint8_t *bytes,
                          size_t count);

/* The value to subtract from an address in a mapping of FILE, at START with
 * OFFSET_BYTES, to get the file's virtual address; pages are 4 KiB. False if no
 * segment with this executability has that mapping. */
bool elf_file_bias(const struct elf_file *file, uint64_t start, uint64_t offset_bytes,
                   bool executable, uint64_t *bias);

/* The limit of memory for one file's debug information, unpacked or in libdw's tables.
 * It is half of the machine's memory, or of the memory that the process's cgroup
 * limits left at the first call. */
uint64_t elf_memory_limit_bytes(void);

#endif
