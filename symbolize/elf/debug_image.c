/* SPDX-License-Identifier: MIT */
/* libelf trusts the sizes that a file claims, and not every libelf unpacks zstd.
 * Therefore memlag unpacks sections itself. */
#include "debug_image.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "elf_image.h"
#include "large_table.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* The largest ratio of unpacked to packed bytes for each kind of packing. For deflate its
 * format limits the ratio. For zstd it is reached when blocks of 128 KiB repeat a
 * byte. */
static const uint64_t ratio_limits[] = {1, 1032, 65536};

/* The sections that libdw and the readers of this stage need; with ".dwo" appended in
 * a split unit. */
static const char *const section_names[] = {
    "info", "types",    "abbrev",   "line",   "line_str", "str", "str_offsets",
    "addr", "cu_index", "tu_index", "ranges", "rnglists", "loc", "loclists"};

enum { NAMES = sizeof(section_names) / sizeof(section_names[0]) };

_Static_assert(2 * NAMES <= ELF_IMAGE_SECTIONS, "room for all names");

struct part {
        uint64_t offset; /* of the data behind the header, in the file */
        uint64_t file_bytes;
        uint64_t bytes;
        uint32_t packing; /* ELFCOMPRESS_…; 0: none */
};

struct unpacking {
        const struct elf_file *file;
        bool with_locations;
        bool needed;         /* sections are packed, or there are several of one name */
        uint64_t file_bytes; /* of the parts that were measured */
        uint64_t bytes;
        struct elf_image *image; /* NULL: parts are measured */
};

/* ---- the sections ---- */

/* Reads the header of a packed section. False if it is in an unknown format. */
static bool read_header(const struct elf_file *file, struct part *part)
{
        union {
                uint8_t bytes[sizeof(Elf64_Chdr)];
                Elf32_Chdr narrow;
                Elf64_Chdr wide;
        } header = {{0}};
        bool narrow = gelf_getclass(file->elf) == ELFCLASS32;
        size_t size = narrow ? sizeof(header.narrow) : sizeof(header.wide);

        if (part->file_bytes < size ||
            pread(file->fd, header.bytes, size, (off_t)part->offset) != (ssize_t)size)
                return false;
        part->offset += size;
        part->file_bytes -= size;
        part->bytes = narrow ? header.narrow.ch_size : header.wide.ch_size;
        part->packing = narrow ? header.narrow.ch_type : header.wide.ch_type;
        return part->packing == ELFCOMPRESS_ZLIB || part->packing == ELFCOMPRESS_ZSTD;
}

static int find_part(const struct elf_file *file, const GElf_Shdr *shdr,
                     struct part *part)
{
        *part = (struct part){.offset = shdr->sh_offset,
                              .file_bytes = shdr->sh_size,
                              .bytes = shdr->sh_size};
        return shdr->sh_size > file->file_bytes ||
                       shdr->sh_offset > file->file_bytes - shdr->sh_size ||
                       ((shdr->sh_flags & SHF_COMPRESSED) && !read_header(file, part))
                   ? -EINVAL
                   : 0;
}

/* ---- unpacking ---- */

static int read_all(int fd, char *to, uint64_t bytes, uint64_t offset)
{
        while (bytes > 0) {
                ssize_t got = pread(fd, to, bytes, (off_t)offset);

                if (got <= 0)
                        return -EINVAL;
                to += got;
                offset += (uint64_t)got;
                bytes -= (uint64_t)got;
        }
        return 0;
}

static int inflate(const char *packed, uint64_t packed_bytes, char *to, uint64_t bytes)
{
        struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();

        if (!decompressor)
                return -ENOMEM;
        bool done = libdeflate_zlib_decompress(decompressor, packed, packed_bytes, to,
                                               bytes, NULL) == LIBDEFLATE_SUCCESS;

        libdeflate_free_decompressor(decompressor);
        return done ? 0 : -EINVAL;
}

static int unpack_from(const char *packed, const struct part *part, char *to)
{
        if (part->packing == ELFCOMPRESS_ZLIB)
                return inflate(packed, part->file_bytes, to, part->bytes);
        return ZSTD_decompress(to, part->bytes, packed, part->file_bytes) == part->bytes
                   ? 0
                   : -EINVAL;
}

static int read_part(int fd, const struct part *part, char *to)
{
        if (part->packing == 0)
                return read_all(fd, to, part->bytes, part->offset);
        char *packed = malloc(part->file_bytes + 1);
        if (!packed)
                return -ENOMEM;
        large_pages_ask(packed, part->file_bytes);
        int error = read_all(fd, packed, part->file_bytes, part->offset);

        if (!error)
                error = unpack_from(packed, part, to);
        free(packed);
        return error;
}

/* ---- the image ---- */

/* The limit on the unpacked bytes of a file. Real debug information shrinks tenfold. */
static uint64_t unpacked_limit(const struct elf_file *file)
{
        enum { TIMES_FILE = 32, BYTES_LEAST = 256 << 20 };
        uint64_t limit = TIMES_FILE * file->file_bytes + BYTES_LEAST;

        return limit < elf_memory_limit_bytes() ? limit : elf_memory_limit_bytes();
}

/* Counts PART, whose claimed size must be possible. */
static int measure(struct unpacking *unpacking, const struct part *part)
{
        bool packed = part->packing != 0;

        if (packed && part->bytes > unpacked_limit(unpacking->file))
                return -EFBIG;
        unpacking->file_bytes += part->file_bytes;
        unpacking->bytes += part->bytes;
        unpacking->needed |= packed;
        return part->bytes / ratio_limits[part->packing] > part->file_bytes ||
                       unpacking->file_bytes > unpacking->file->file_bytes
                   ? -EINVAL
                   : 0;
}

/* Adds PART to the image, within the measured size. */
static int append(struct unpacking *unpacking, const struct part *part)
{
        struct elf_image *image = unpacking->image;
        size_t offset;

        if (part->bytes > unpacking->bytes)
                return -EINVAL;
        unpacking->bytes -= part->bytes;
        int error = elf_image_room(image, part->bytes, &offset);

        return error ? error
                     : read_part(unpacking->file->fd, part, image->bytes + offset);
}

/* The compiler gives each type's unit a separate section, and no linker joins them. */
static bool of_units(const char *name)
{
        return strcmp(name, ".debug_info.dwo") == 0 ||
               strcmp(name, ".debug_types.dwo") == 0;
}

/* Joins the sections NAME into one. */
static int take_sections(struct unpacking *unpacking, const char *name)
{
        Elf *elf = unpacking->file->elf;
        bool first = true;
        int error = 0;
        size_t names;

        if (elf_getshdrstrndx(elf, &names) != 0)
                return 0;
        for (Elf_Scn *scn = NULL; !error && (scn = elf_nextscn(elf, scn)) != NULL;) {
                const char *found;
                struct part part;
                GElf_Shdr shdr;

                if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS ||
                    !(found = elf_strptr(elf, names, shdr.sh_name)))
                        continue;
                if (strncmp(found, ".zdebug", 7) == 0) /* not for libdw */
                        unpacking->needed = true;
                if (strcmp(found, name) != 0 || (!first && !of_units(name)))
                        continue;
                unpacking->needed |= !first;
                if (first && unpacking->image)
                        error = elf_image_begin_section(unpacking->image, name);
                if (!error)
                        error = find_part(unpacking->file, &shdr, &part);
                if (!error)
                        error = unpacking->image ? append(unpacking, &part)
                                                 : measure(unpacking, &part);
                first = false;
        }
        if (!first && unpacking->image)
                elf_image_end_section(unpacking->image);
        return error;
}

static int take_all(struct unpacking *unpacking)
{
        char name[32];
        int error = 0;

        for (size_t i = 0; i < 2 * NAMES && !error; i++) {
                snprintf(name, sizeof(name), ".debug_%s%s", section_names[i / 2],
                         i % 2 ? ".dwo" : "");
                if (unpacking->with_locations || strncmp(name, ".debug_loc", 10) != 0)
                        error = take_sections(unpacking, name);
        }
        return error;
}

static int make_image(struct unpacking *unpacking, struct debug_image *image)
{
        enum { ROOM_FOR_HEADERS = 4096 };
        struct elf_image made = {0};

        if (unpacking->bytes > unpacked_limit(unpacking->file))
                return -EFBIG;
        int error = elf_image_begin(&made, unpacking->bytes + ROOM_FOR_HEADERS);

        if (!error) /* page faults would take most of the time to unpack */
                large_pages_ask(made.bytes, made.capacity);
        unpacking->image = &made;
        if (!error)
                error = take_all(unpacking);
        if (!error)
                error = elf_image_end(&made);
        unpacking->image = NULL;
        *image = (struct debug_image){.made = true, .bytes = made.bytes};
        if (!error)
                image->elf = elf_memory(made.bytes, made.size);
        if (!error && !image->elf)
                error = -ENOMEM;
        if (error)
                debug_image_close(image);
        return error;
}

int debug_image_open(struct debug_image *image, const struct elf_file *file,
                     bool with_locations)
{
        struct unpacking unpacking = {.file = file, .with_locations = with_locations};
        int error = take_all(&unpacking);

        *image = (struct debug_image){.elf = file->elf};
        return !error && unpacking.needed ? make_image(&unpacking, image) : error;
}

void debug_image_close(struct debug_image *image)
{
        if (image->made)
                elf_end(image->elf);
        free(image->bytes);
        *image = (struct debug_image){0};
}
