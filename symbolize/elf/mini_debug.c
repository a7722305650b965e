/* SPDX-License-Identifier: MIT */
/* xz may unpack far more than the file's size: its memory and output are limited. */
#include "mini_debug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

enum {
        MEMORY_BYTES = 128 << 20, /* xz -9 needs 65 MiB */
        PACKED_MOST = 64 << 20,
        RATIO_MAX = 64, /* symbols shrink to a fifth or so */
};

int mini_debug_unpack(const void *packed, size_t bytes, char **image, size_t *image_bytes)
{
        uint64_t memory_bytes = MEMORY_BYTES;
        size_t at = 0;

        *image_bytes = 0;
        *image = bytes <= PACKED_MOST ? malloc(bytes * RATIO_MAX) : NULL;
        if (!*image)
                return bytes <= PACKED_MOST ? -ENOMEM : -EINVAL;
        lzma_ret result =
            lzma_stream_buffer_decode(&memory_bytes, 0, NULL, packed, &at, bytes,
                                      (uint8_t *)*image, image_bytes, bytes * RATIO_MAX);

        if (result == LZMA_OK)
                return 0;
        free(*image);
        *image = NULL;
        return result == LZMA_MEM_ERROR ? -ENOMEM : -EINVAL;
}

int mini_debug_open(const struct elf_file *file, Elf **elf, char **image)
{
        const struct elf_bytes packed = elf_section_bytes(file->elf, ".gnu_debugdata");
        size_t bytes;

        if (!packed.data)
                return -ENOENT;
        int error = mini_debug_unpack(packed.data, packed.size, image, &bytes);

        if (error)
                return error == -ENOMEM ? error : -ENOENT;
        *elf = elf_memory(*image, bytes);
        if (*elf && elf_kind(*elf) == ELF_K_ELF && elf_sections_fit(*elf, bytes))
                return 0;
        elf_end(*elf);
        free(*image);
        return -ENOENT;
}
