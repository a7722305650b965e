/* SPDX-License-Identifier: MIT */
/* Makes an ELF file in memory out of sections, for libraries that read files. Knows
 * nothing of the contents. */
#ifndef MEMLAG_SYMBOLIZE_ELF_IMAGE_H
#define MEMLAG_SYMBOLIZE_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>

enum { ELF_IMAGE_SECTIONS = 32 };

struct elf_image {
        char *bytes; /* the file; to be freed by its user */
        size_t size;
        size_t capacity;
        Elf64_Shdr sections[ELF_IMAGE_SECTIONS + 2];
        size_t section_count;
        char names[1024];
        size_t names_size;
};

/* Begins an image for about EXPECTED_BYTES. 0 or -ENOMEM, as all. */
int elf_image_begin(struct elf_image *image, size_t expected_bytes);
/* Begins a section NAME, for appended data until its end. At most ELF_IMAGE_SECTIONS
 * sections, with names of less than 30 bytes. */
int elf_image_begin_section(struct elf_image *image, const char *name);
int elf_image_append(struct elf_image *image, const void *data, size_t size);
/* Makes room, without a value; *OFFSET is where in bytes. */
int elf_image_room(struct elf_image *image, size_t size, size_t *offset);
void elf_image_end_section(struct elf_image *image);
/* The three in one; nothing without DATA. */
int elf_image_add_section(struct elf_image *image, const char *name, const void *data,
                          size_t size);
int elf_image_end(struct elf_image *image);

/* The section NAME, or NULL. */
const Elf64_Shdr *elf_image_section(const struct elf_image *image, const char *name);

#endif
