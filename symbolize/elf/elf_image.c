/* SPDX-License-Identifier: MIT */
/* Sections lie behind each other in the order of their addition. Their headers and
 * names come last. */
#include "elf_image.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int grow(struct elf_image *image, size_t wanted)
{
        char *grown = realloc(image->bytes, wanted);

        if (!grown)
                return -ENOMEM;
        image->bytes = grown;
        image->capacity = wanted;
        return 0;
}

int elf_image_begin(struct elf_image *image, size_t expected_bytes)
{
        static const Elf64_Ehdr room;

        *image = (struct elf_image){0};
        if (grow(image, expected_bytes + sizeof(room)) < 0)
                return -ENOMEM;
        image->section_count = image->names_size = 1; /* the empty ones */
        return elf_image_append(image, &room, sizeof(room));
}

int elf_image_room(struct elf_image *image, size_t size, size_t *offset)
{
        if (size > SIZE_MAX / 4 - image->size ||
            (image->size + size > image->capacity &&
             grow(image, 2 * (image->size + size)) < 0))
                return -ENOMEM;
        *offset = image->size;
        image->size += size;
        return 0;
}

int elf_image_append(struct elf_image *image, const void *data, size_t size)
{
        size_t offset;

        if (elf_image_room(image, size, &offset) < 0)
                return -ENOMEM;
        if (size > 0)
                memcpy(image->bytes + offset, data, size);
        return 0;
}

int elf_image_begin_section(struct elf_image *image, const char *name)
{
        static const char zeros[8];
        int error = elf_image_append(image, zeros, -image->size & 7);

        image->sections[image->section_count++] =
            (Elf64_Shdr){.sh_name = (Elf64_Word)image->names_size,
                         .sh_type = SHT_PROGBITS,
                         .sh_offset = image->size,
                         .sh_addralign = 1};
        image->names_size +=
            (size_t)snprintf(image->names + image->names_size,
                             sizeof(image->names) - image->names_size, "%s", name) +
            1;
        return error;
}

void elf_image_end_section(struct elf_image *image)
{
        Elf64_Shdr *section = &image->sections[image->section_count - 1];

        section->sh_size = image->size - section->sh_offset;
}

int elf_image_add_section(struct elf_image *image, const char *name, const void *data,
                          size_t size)
{
        if (!data)
                return 0;
        int error = elf_image_begin_section(image, name);

        if (!error)
                error = elf_image_append(image, data, size);
        elf_image_end_section(image);
        return error;
}

int elf_image_end(struct elf_image *image)
{
        Elf64_Ehdr ehdr = {.e_type = ET_REL,
                           .e_machine = EM_X86_64,
                           .e_version = EV_CURRENT,
                           .e_ehsize = sizeof(ehdr),
                           .e_shentsize = sizeof(Elf64_Shdr)};
        static const char zeros[8];
        int error = elf_image_begin_section(image, ".shstrtab");

        image->sections[image->section_count - 1].sh_type = SHT_STRTAB;
        memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
        ehdr.e_ident[EI_CLASS] = ELFCLASS64;
        ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
        ehdr.e_ident[EI_VERSION] = EV_CURRENT;
        if (!error)
                error = elf_image_append(image, image->names, image->names_size);
        elf_image_end_section(image);
        if (!error)
                error = elf_image_append(image, zeros, -image->size & 7);
        ehdr.e_shoff = image->size;
        ehdr.e_shnum = (Elf64_Half)image->section_count;
        ehdr.e_shstrndx = (Elf64_Half)(image->section_count - 1);
        if (!error)
                error = elf_image_append(image, image->sections,
                                         image->section_count * sizeof(*image->sections));
        if (!error)
                memcpy(image->bytes, &ehdr, sizeof(ehdr));
        return error;
}

const Elf64_Shdr *elf_image_section(const struct elf_image *image, const char *name)
{
        for (size_t i = 1; i < image->section_count; i++)
                if (strcmp(image->names + image->sections[i].sh_name, name) == 0)
                        return &image->sections[i];
        return NULL;
}
