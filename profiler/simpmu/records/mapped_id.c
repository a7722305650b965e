/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build-id of a mapped file, as its memory has it: the file may have another one by
 * the time that memlag looks, or be gone. */
#include "tool.h"

#include <elf.h>

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"

#include "syscalls.h"

/* Of a file's start, where linkers put the notes. */
#define START_BYTES 4096

/* The file that was last mapped from its start: its other parts follow. */
static struct {
        ULong device, inode;
        UInt bytes;
        UChar id[SIMPMU_BUILD_ID_BYTES];
} last;

/* Memory behind a file's end cannot be read, and must not end Valgrind. */
static SizeT read_target(Addr start, void *bytes, SizeT count)
{
        struct {
                Addr start;
                SizeT bytes;
        } to = {(Addr)bytes, count}, from = {start, count};
        long length = raw_syscall6(__NR_process_vm_readv, VG_(getpid)(), (long)&to, 1,
                                   (long)&from, 1, 0);

        return length < 0 ? 0 : (SizeT)length;
}

static SizeT aligned(SizeT bytes)
{
        return (bytes + 3) & ~(SizeT)3;
}

/* Looks into the COUNT bytes of notes. */
static void find_in_notes(const UChar *notes, SizeT count)
{
        while (count >= sizeof(Elf64_Nhdr)) {
                const Elf64_Nhdr *note = (const Elf64_Nhdr *)notes;
                SizeT name = aligned(note->n_namesz), text = aligned(note->n_descsz);

                if (name > count - sizeof(*note) || text > count - sizeof(*note) - name)
                        return;
                if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
                    VG_(memcmp)(note + 1, "GNU", sizeof("GNU")) == 0 &&
                    note->n_descsz <= sizeof(last.id)) {
                        last.bytes = note->n_descsz;
                        VG_(memcpy)
                        (last.id, (const UChar *)(note + 1) + name, last.bytes);
                        return;
                }
                notes += sizeof(*note) + name + text;
                count -= sizeof(*note) + name + text;
        }
}

/* COUNT bytes of a file's START. */
static void find_in_start(const UChar *start, SizeT count)
{
        const Elf64_Ehdr *file = (const Elf64_Ehdr *)start;
        const Elf64_Phdr *header;

        if (count < sizeof(*file) || VG_(memcmp)(file->e_ident, ELFMAG, SELFMAG) != 0 ||
            file->e_ident[EI_CLASS] != ELFCLASS64 || file->e_phoff > count ||
            file->e_phnum > (count - file->e_phoff) / sizeof(*header))
                return;
        header = (const Elf64_Phdr *)(start + file->e_phoff);
        for (UInt i = 0; i < file->e_phnum && last.bytes == 0; i++, header++)
                if (header->p_type == PT_NOTE && header->p_offset < count &&
                    header->p_filesz <= count - header->p_offset)
                        find_in_notes(start + header->p_offset, header->p_filesz);
}

UInt mapped_build_id(const NSegment *segment, UChar id[SIMPMU_BUILD_ID_BYTES])
{
        static UChar start[START_BYTES] __attribute__((aligned(8)));

        if (segment->kind != SkFileC)
                return 0;
        if (segment->offset == 0) {
                last.device = segment->dev;
                last.inode = segment->ino;
                last.bytes = 0;
                find_in_start(start, read_target(segment->start, start, sizeof(start)));
        }
        if (segment->dev != last.device || segment->ino != last.inode)
                return 0;
        VG_(memcpy)(id, last.id, last.bytes);
        return last.bytes;
}
