/* SPDX-License-Identifier: MIT */
/* Which bytes of a file are code: a segment loads them and the file has them. */
#include <elf.h>

#include "decoded.h"
#include "elf_file.h"
#include "unit_test.h"

/* The code begins at CODE in the file, which ends CODE_BYTES later. */
enum { CODE = 0x100, CODE_BYTES = 64, VADDR = 0x1000, NOP = 0x90 };

/* A program of one segment, which may claim anything. */
static void open_with(struct elf_file *file, Elf64_Phdr segment)
{
        int fd = memfd_create("program", MFD_CLOEXEC);
        uint8_t bytes[CODE + CODE_BYTES] = {0};
        Elf64_Ehdr ehdr = {.e_type = ET_DYN,
                           .e_machine = EM_X86_64,
                           .e_version = EV_CURRENT,
                           .e_phoff = sizeof(ehdr),
                           .e_ehsize = sizeof(ehdr),
                           .e_phentsize = sizeof(segment),
                           .e_phnum = 1};

        memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
        ehdr.e_ident[EI_CLASS] = ELFCLASS64;
        ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
        ehdr.e_ident[EI_VERSION] = EV_CURRENT;
        segment.p_type = PT_LOAD;
        memcpy(bytes, &ehdr, sizeof(ehdr));
        memcpy(bytes + sizeof(ehdr), &segment, sizeof(segment));
        memset(bytes + CODE, NOP, CODE_BYTES);
        assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
        assert_ok(elf_file_open_fd(file, fd, NULL));
}

/* How many of COUNT bytes can be read at VADDR; checks that all are code. */
static size_t code_at(const struct elf_file *file, uint64_t vaddr, size_t count)
{
        uint8_t bytes[2 * CODE_BYTES] = {0};
        size_t got = elf_file_read_code(file, vaddr, bytes, count);

        assert_in_range(got, 0, count);
        for (size_t i = 0; i < sizeof(bytes); i++)
                assert_int_equal(bytes[i], i < got ? NOP : 0);
        return got;
}

static bool decodes_at(const struct elf_file *file, uint64_t vaddr)
{
        const struct flow_code code = {.file = file};
        const struct flow_step step = {.vaddr = vaddr, .instruction.length_bytes = 1};
        struct decoded decoded;
        bool good = decoded_read(&decoded, &code, &step);

        assert_true(!good || decoded.instruction.mnemonic == ZYDIS_MNEMONIC_NOP);
        return good;
}

/* Asserts that only the first COUNT addresses of SEGMENT have code. */
static void assert_code(Elf64_Phdr segment, size_t count)
{
        struct elf_file file;

        open_with(&file, segment);
        assert_int_equal(code_at(&file, segment.p_vaddr, 2 * CODE_BYTES), count);
        assert_int_equal(code_at(&file, segment.p_vaddr + count, 1), 0);
        assert_false(decodes_at(&file, segment.p_vaddr + count));
        assert_int_equal(decodes_at(&file, segment.p_vaddr), count > 0);
        if (count > 0) {
                assert_int_equal(code_at(&file, segment.p_vaddr + count - 1, 2), 1);
                assert_true(decodes_at(&file, segment.p_vaddr + count - 1));
        }
        elf_file_close(&file);
}

static Elf64_Phdr whole(void)
{
        return (Elf64_Phdr){.p_flags = PF_R | PF_X,
                            .p_offset = CODE,
                            .p_vaddr = VADDR,
                            .p_filesz = CODE_BYTES,
                            .p_memsz = CODE_BYTES};
}

TEST(code_is_what_a_segment_loads)
{
        Elf64_Phdr segment = whole();

        assert_code(segment, CODE_BYTES);
        segment.p_flags = PF_R | PF_W;
        assert_code(segment, 0);
        segment = whole();
        segment.p_memsz = 0;
        assert_code(segment, 0);
}

/* Behind the loaded bytes there are zeros, and other bytes in the file. */
TEST(zeros_behind_the_code_are_none)
{
        Elf64_Phdr segment = whole();

        segment.p_filesz = CODE_BYTES / 4;
        assert_code(segment, CODE_BYTES / 4);
        segment.p_filesz = 0;
        assert_code(segment, 0);
}

TEST(more_than_the_memory_is_not_loaded)
{
        Elf64_Phdr segment = whole();

        segment.p_memsz = CODE_BYTES / 2;
        assert_code(segment, CODE_BYTES / 2);
}

TEST(nothing_lies_beyond_the_file)
{
        Elf64_Phdr segment = whole();

        segment.p_filesz = segment.p_memsz = 100 * CODE_BYTES;
        assert_code(segment, CODE_BYTES);
        segment.p_filesz = segment.p_memsz = (uint64_t)INT64_MAX - CODE;
        assert_code(segment, CODE_BYTES);
        segment.p_filesz = UINT64_MAX - CODE;
        segment.p_memsz = UINT64_MAX - VADDR;
        assert_code(segment, CODE_BYTES);
        segment = whole();
        segment.p_offset = CODE + CODE_BYTES;
        assert_code(segment, 0);
        segment.p_offset = UINT64_MAX - CODE_BYTES;
        assert_code(segment, 0);
}

/* Only a file with a section of code there has code at 0. */
TEST(headers_at_0_are_no_code)
{
        Elf64_Phdr segment = whole();
        struct elf_file file;

        segment.p_vaddr = 0;
        open_with(&file, segment);
        assert_int_equal(code_at(&file, 0, CODE_BYTES), 0);
        assert_false(decodes_at(&file, 0));
        assert_int_equal(code_at(&file, 1, CODE_BYTES), CODE_BYTES - 1);
        elf_file_close(&file);
}
