/* SPDX-License-Identifier: MIT */
/* Packed debug information, and sections whose claimed sizes must not take memory. */
#include <elf.h>
#include <libdeflate.h>
#include <zstd.h>

#include "debug_image.h"
#include "unit_test.h"

enum { BYTES = 600000, PACKED_LEAST = 300000, PACKED_LIMIT = BYTES + 1000 };

static uint8_t contents[BYTES];

/* Random values of six bits in each byte: packing gains something, and not too much. */
static void make_contents(void)
{
        uint32_t state = 1;

        for (size_t i = 0; i < BYTES; i++) {
                state = state * 1664525 + 1013904223;
                contents[i] = state >> 26;
        }
}

/* The header before the packed bytes. */
struct header {
        const char *section;
        uint32_t type;  /* as in Elf64_Chdr; 0: "ZLIB" and the size */
        uint64_t bytes; /* that it claims */
};

static size_t pack(const struct header *header, uint8_t *to)
{
        const Elf64_Chdr chdr = {.ch_type = header->type, .ch_size = header->bytes};
        size_t at = header->type ? sizeof(chdr) : 12, packed;

        memcpy(to, "ZLIB", 4);
        for (int i = 0; i < 8; i++)
                to[4 + i] = (uint8_t)(header->bytes >> 8 * (7 - i));
        if (header->type)
                memcpy(to, &chdr, sizeof(chdr));
        if (header->type == 2) {
                packed = ZSTD_compress(to + at, PACKED_LIMIT - at, contents, BYTES, 1);
        } else {
                struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);

                packed = libdeflate_zlib_compress(compressor, contents, BYTES, to + at,
                                                  PACKED_LIMIT - at);
                libdeflate_free_compressor(compressor);
        }
        assert_in_range(packed, PACKED_LEAST, BYTES - 1);
        return at + packed;
}

/* A program with .debug_str and the section of HEADER packed, CUT bytes short. */
static void make_file(struct elf_file *made, const struct header *header, size_t cut)
{
        static uint8_t packed[PACKED_LIMIT];
        size_t packed_bytes = pack(header, packed) - cut;
        char names[64] = "\0.debug_str\0.shstrtab\0";
        int fd = memfd_create("program", MFD_CLOEXEC);
        Elf64_Ehdr ehdr = {.e_type = ET_DYN,
                           .e_machine = EM_X86_64,
                           .e_version = EV_CURRENT,
                           .e_ehsize = sizeof(ehdr),
                           .e_shentsize = sizeof(Elf64_Shdr),
                           .e_shnum = 4,
                           .e_shstrndx = 3};
        Elf64_Shdr sections[4] = {
            {0},
            {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = BYTES},
            {.sh_name = 22, .sh_type = SHT_PROGBITS, .sh_size = packed_bytes},
            {.sh_name = 12, .sh_type = SHT_STRTAB, .sh_size = sizeof(names)}};

        strcpy(names + 22, header->section);
        if (header->type)
                sections[2].sh_flags = SHF_COMPRESSED;
        memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
        ehdr.e_ident[EI_CLASS] = ELFCLASS64;
        ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
        ehdr.e_ident[EI_VERSION] = EV_CURRENT;
        sections[1].sh_offset = sizeof(ehdr);
        sections[2].sh_offset = sections[1].sh_offset + BYTES;
        sections[3].sh_offset = sections[2].sh_offset + packed_bytes;
        ehdr.e_shoff = sections[3].sh_offset + sizeof(names);
        assert_true(write(fd, &ehdr, sizeof(ehdr)) == sizeof(ehdr));
        assert_true(write(fd, contents, BYTES) == BYTES);
        assert_true(write(fd, packed, packed_bytes) == (ssize_t)packed_bytes);
        assert_true(write(fd, names, sizeof(names)) == sizeof(names));
        assert_true(write(fd, sections, sizeof(sections)) == sizeof(sections));
        assert_ok(elf_file_open_fd(made, fd, NULL));
}

static void assert_contents(Elf *elf, const char *section)
{
        Elf_Scn *scn = elf_section_named(elf, section);

        assert_non_null(scn);
        Elf_Data *data = elf_rawdata(scn, NULL);

        assert_non_null(data);
        assert_int_equal(data->d_size, BYTES);
        assert_memory_equal(data->d_buf, contents, BYTES);
}

static struct elf_file file;
static struct debug_image image;

static int open_with(const struct header *header, size_t cut)
{
        make_file(&file, header, cut);
        return debug_image_open(&image, &file, true);
}

static void close_both(void)
{
        debug_image_close(&image);
        elf_file_close(&file);
}

static void unpacks(const struct header *header)
{
        assert_ok(open_with(header, 0));
        assert_contents(image.elf, ".debug_info");
        assert_contents(image.elf, ".debug_str");
        close_both();
}

TEST(every_way_of_packing_is_read)
{
        unpacks(&(struct header){".debug_info", ELFCOMPRESS_ZLIB, BYTES});
        unpacks(&(struct header){".debug_info", 2, BYTES}); /* zstd */
}

TEST(what_is_not_packed_is_left_where_it_is)
{
        const struct header header = {".other", ELFCOMPRESS_ZLIB, BYTES};

        assert_ok(open_with(&header, 0));
        assert_false(image.made);
        assert_contents(image.elf, ".debug_str");
        close_both();
}

TEST(locations_can_be_left_out)
{
        const struct header header = {".debug_loclists", ELFCOMPRESS_ZLIB, BYTES};
        make_file(&file, &header, 0);
        assert_ok(debug_image_open(&image, &file, true));
        assert_contents(image.elf, ".debug_loclists");
        debug_image_close(&image);
        assert_ok(debug_image_open(&image, &file, false));
        assert_contents(image.elf, ".debug_str");
        close_both();
}

static void refuses(const struct header *header, size_t cut, int expected)
{
        assert_int_equal(open_with(header, cut), expected);
        elf_file_close(&file);
}

TEST(claims_are_checked_before_memory_is_taken)
{
        for (uint32_t type = 1; type <= 2; type++) {
                const char *name = ".debug_info";

                refuses(&(struct header){name, type, UINT64_MAX}, 0, -EFBIG);
                refuses(&(struct header){name, type, UINT64_C(1) << 60}, 0, -EFBIG);
                refuses(&(struct header){name, type, BYTES + 1}, 0, -EINVAL);
                refuses(&(struct header){name, type, BYTES - 1}, 0, -EINVAL);
                refuses(&(struct header){name, type, BYTES}, 5, -EINVAL);
        }
        /* 2 GB of less than 600 KB */
        refuses(&(struct header){".debug_info", ELFCOMPRESS_ZLIB, UINT64_C(1) << 31}, 0,
                -EFBIG);
        refuses(&(struct header){".debug_info", 77, BYTES}, 0, -EINVAL);
}

int main(void)
{
        make_contents();
        return run_unit_tests(NULL, NULL);
}
