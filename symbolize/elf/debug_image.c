/* SPDX-License-Identifier: MIT */
/* libelf would believe the claimed sizes, and not every libelf unpacks zstd. */
#include "debug_image.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "append.h"
#include "elf_image.h"

enum { NAME_BYTES = 40 };

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum packing { PACKING_NONE, PACKING_ZLIB, PACKING_ZSTD };

/* The largest ratio of unpacked to packed bytes: for deflate by its definition, for
 * zstd when blocks of 128 KiB repeat a byte. */
static const uint64_t ratio_limits[] = {1, 1032, 65536};

/* The sections that libdw and the readers of this stage need; with ".dwo" appended in
 * a split unit. */
static const char *const section_names[] = {
    "info", "types",    "abbrev",   "line",   "line_str", "str", "str_offsets",
    "addr", "cu_index", "tu_index", "ranges", "rnglists", "loc", "loclists"};

enum { NAMES = sizeof(section_names) / sizeof(section_names[0]) };

_Static_assert(2 * NAMES <= ELF_IMAGE_SECTIONS && 2 * NAMES <= 32, "room for all names");

struct part {
        char name[NAME_BYTES];
        size_t number;   /* in the order of the file */
        uint64_t offset; /* of the data behind the header, in the file */
        uint64_t file_bytes;
        uint64_t bytes;
        enum packing packing;
};

struct unpacking {
        int fd;
        struct part *parts;
        size_t part_count, part_capacity;
        uint64_t file_bytes; /* of the whole file */
        bool packed;         /* any section is packed */
        uint32_t names;      /* that were seen, a bit for each */
        bool several;        /* of one name */
        bool with_locations;
};

/* ---- the sections ---- */

/* The number of the section NAME; -1 for other sections. */
static int name_number(const char *name)
{
        if (strncmp(name, ".debug_", 7) != 0)
                return -1;
        name += 7;
        for (size_t i = 0; i < NAMES; i++) {
                size_t length = strlen(section_names[i]);

                if (strncmp(name, section_names[i], length) != 0 ||
                    (name[length] && strcmp(name + length, ".dwo") != 0))
                        continue;
                return (int)(name[length] ? i + NAMES : i);
        }
        return -1;
}

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
        part->packing = PACKING_ZLIB;
        part->bytes = narrow ? header.narrow.ch_size : header.wide.ch_size;
        uint32_t type = narrow ? header.narrow.ch_type : header.wide.ch_type;

        if (type == ELFCOMPRESS_ZSTD)
                part->packing = PACKING_ZSTD;
        return type == ELFCOMPRESS_ZLIB || type == ELFCOMPRESS_ZSTD;
}

/* The compiler gives each type's unit a separate section, and no linker joins them. */
static bool of_units(const char *name)
{
        return strcmp(name, ".debug_info.dwo") == 0 ||
               strcmp(name, ".debug_types.dwo") == 0;
}

static int add_part(struct unpacking *unpacking, const struct elf_file *file,
                    const GElf_Shdr *shdr, const char *name)
{
        struct part part = {.offset = shdr->sh_offset,
                            .file_bytes = shdr->sh_size,
                            .bytes = shdr->sh_size,
                            .number = unpacking->part_count};
        int named = shdr->sh_type == SHT_NOBITS ? -1 : name_number(name);

        unpacking->packed |= strncmp(name, ".zdebug", 7) == 0; /* not for libdw */
        if (named < 0)
                return 0;
        bool another = unpacking->names & UINT32_C(1) << named;

        strcpy(part.name, name);

        if ((another && !of_units(part.name)) ||
            (!unpacking->with_locations && strncmp(part.name, ".debug_loc", 10) == 0))
                return 0;
        if (shdr->sh_size > file->file_bytes ||
            shdr->sh_offset > file->file_bytes - shdr->sh_size ||
            ((shdr->sh_flags & SHF_COMPRESSED) && !read_header(file, &part)))
                return -EINVAL;
        unpacking->names |= UINT32_C(1) << named;
        unpacking->several |= another;
        unpacking->packed |= part.packing != PACKING_NONE;
        return APPEND(unpacking->parts, unpacking->part_count, unpacking->part_capacity,
                      part);
}

static int find_parts(struct unpacking *unpacking, const struct elf_file *file)
{
        size_t names;
        int error = 0;

        if (elf_getshdrstrndx(file->elf, &names) != 0)
                return 0;
        for (Elf_Scn *scn = NULL;
             !error && (scn = elf_nextscn(file->elf, scn)) != NULL;) {
                GElf_Shdr shdr;
                const char *name = gelf_getshdr(scn, &shdr)
                                       ? elf_strptr(file->elf, names, shdr.sh_name)
                                       : NULL;

                if (name)
                        error = add_part(unpacking, file, &shdr, name);
        }
        return error;
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
        if (part->packing == PACKING_ZLIB)
                return inflate(packed, part->file_bytes, to, part->bytes);
        return ZSTD_decompress(to, part->bytes, packed, part->file_bytes) == part->bytes
                   ? 0
                   : -EINVAL;
}

static int read_part(int fd, const struct part *part, char *to)
{
        if (part->packing == PACKING_NONE)
                return read_all(fd, to, part->bytes, part->offset);
        char *packed = malloc(part->file_bytes + 1);
        int error =
            packed ? read_all(fd, packed, part->file_bytes, part->offset) : -ENOMEM;

        if (!error)
                error = unpack_from(packed, part, to);
        free(packed);
        return error;
}

/* ---- the image ---- */

/* The sections of one name behind each other. */
static int same_together(const void *left, const void *right)
{
        const struct part *a = left, *b = right;
        int order = strcmp(a->name, b->name);

        return order ? order : a->number < b->number ? -1 : 1;
}

/* How much may be unpacked of a file: real debug information shrinks to a tenth at
 * most. */
static uint64_t unpacked_limit(const struct unpacking *unpacking)
{
        enum { TIMES_FILE = 32, BYTES_LEAST = 256 << 20 };
        uint64_t limit = TIMES_FILE * unpacking->file_bytes + BYTES_LEAST;

        return limit < elf_memory_limit_bytes() ? limit : elf_memory_limit_bytes();
}

/* Whether the claimed sizes of the sections are possible, and fit. */
static int check_sizes(const struct unpacking *unpacking, uint64_t *total)
{
        uint64_t limit = unpacked_limit(unpacking);
        uint64_t file_bytes = 0;

        *total = 0;
        for (size_t i = 0; i < unpacking->part_count; i++) {
                const struct part *part = &unpacking->parts[i];

                if (part->bytes > limit - *total)
                        return -EFBIG;
                file_bytes += part->file_bytes;
                if (part->bytes / ratio_limits[part->packing] > part->file_bytes ||
                    file_bytes > unpacking->file_bytes)
                        return -EINVAL;
                *total += part->bytes;
        }
        return 0;
}

/* A section with the parts from number *AT on that have one name; *AT is set to the next.
 */
static int join_parts(const struct unpacking *unpacking, size_t *at,
                      struct elf_image *image)
{
        const struct part *parts = unpacking->parts;
        const char *name = parts[*at].name;
        int error = elf_image_begin_section(image, name);

        for (;
             !error && *at < unpacking->part_count && strcmp(parts[*at].name, name) == 0;
             ++*at) {
                size_t offset;

                error = elf_image_room(image, parts[*at].bytes, &offset);
                if (!error)
                        error =
                            read_part(unpacking->fd, &parts[*at], image->bytes + offset);
        }
        elf_image_end_section(image);
        return error;
}

enum { ROOM_FOR_HEADERS = 4096 };

static int make_image(struct unpacking *unpacking, struct elf_image *image)
{
        uint64_t total;
        int error = check_sizes(unpacking, &total);

        if (!error)
                error = elf_image_begin(image, total + ROOM_FOR_HEADERS);
        qsort(unpacking->parts, unpacking->part_count, sizeof(*unpacking->parts),
              same_together);
        for (size_t i = 0; i < unpacking->part_count && !error;)
                error = join_parts(unpacking, &i, image);
        return error ? error : elf_image_end(image);
}

static int open_made(struct debug_image *image, struct unpacking *unpacking)
{
        struct elf_image made = {0};
        int error = make_image(unpacking, &made);

        if (!error) {
                image->elf = elf_memory(made.bytes, made.size);
                error = image->elf ? 0 : -ENOMEM;
        }
        if (error) {
                free(made.bytes);
                return error;
        }
        image->made = true;
        image->bytes = made.bytes;
        return 0;
}

int debug_image_open(struct debug_image *image, const struct elf_file *file,
                     bool with_locations)
{
        struct unpacking unpacking = {.fd = file->fd,
                                      .file_bytes = file->file_bytes,
                                      .with_locations = with_locations};
        int error = find_parts(&unpacking, file);

        *image = (struct debug_image){.elf = file->elf};
        if (!error && (unpacking.packed || unpacking.several))
                error = open_made(image, &unpacking);
        free(unpacking.parts);
        return error;
}

void debug_image_close(struct debug_image *image)
{
        if (image->made)
                elf_end(image->elf);
        free(image->bytes);
        *image = (struct debug_image){0};
}
