/* SPDX-License-Identifier: MIT */
/* xz may unpack to far more than the file's size. Therefore its memory and its output
 * are limited. */
#include "mini_debug.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

enum {
        STEP_BYTES = 1 << 20,
        MEMORY_BYTES = 128 << 20, /* xz -9 needs 65 MiB */
        RATIO_MAX = 64,           /* symbols shrink to a fifth or so */
};

/* Runs STREAM to its end into a growing image. */
static int unpack(lzma_stream *stream, size_t limit, char **image, size_t *image_bytes)
{
        lzma_ret result = LZMA_OK;
        size_t capacity = 0;

        while (result == LZMA_OK) {
                if (capacity >= limit)
                        return -EINVAL;
                char *grown = realloc(*image, capacity + STEP_BYTES);

                if (!grown)
                        return -ENOMEM;
                *image = grown;
                stream->next_out = (uint8_t *)grown + *image_bytes;
                stream->avail_out = capacity + STEP_BYTES - *image_bytes;
                capacity += STEP_BYTES;
                result = lzma_code(stream, LZMA_FINISH);
                *image_bytes = capacity - stream->avail_out;
        }
        if (result == LZMA_MEM_ERROR)
                return -ENOMEM;
        return result == LZMA_STREAM_END ? 0 : -EINVAL;
}

int mini_debug_unpack(const void *packed, size_t bytes, char **image, size_t *image_bytes)
{
        lzma_stream stream = LZMA_STREAM_INIT;
        int error = -ENOMEM;

        *image = NULL;
        *image_bytes = 0;
        if (lzma_stream_decoder(&stream, MEMORY_BYTES, 0) == LZMA_OK) {
                stream.next_in = packed;
                stream.avail_in = bytes;
                error = bytes > SIZE_MAX / RATIO_MAX
                            ? -EINVAL
                            : unpack(&stream, bytes * RATIO_MAX, image, image_bytes);
        }
        lzma_end(&stream);
        if (error) {
                free(*image);
                *image = NULL;
        }
        return error;
}

int mini_debug_open(const struct elf_file *file, Elf **elf, char **image)
{
        Elf_Scn *scn = elf_file_section(file, ".gnu_debugdata");
        Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
        size_t bytes;

        if (!data || !data->d_buf)
                return -ENOENT;
        int error = mini_debug_unpack(data->d_buf, data->d_size, image, &bytes);

        if (error)
                return error == -ENOMEM ? error : -ENOENT;
        *elf = elf_memory(*image, bytes);
        if (*elf && elf_kind(*elf) == ELF_K_ELF && elf_sections_fit(*elf, bytes))
                return 0;
        elf_end(*elf);
        free(*image);
        return -ENOENT;
}
