/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The libraries that Valgrind loads into every program by LD_PRELOAD, including the
 * heap tracker. They end a program whose dynamic linker is not the GNU C library's, or
 * is too old for the tracker. A statically linked program finds them in its
 * environment. Such a program gets its original environment back before its first
 * instruction, and has no heap blocks. Without heap tracking every program does. */
#include "tool.h"

#include <elf.h>

#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"

/* A dynamic linker has some thirty of the first, and a C library one of the second for
 * each of its releases that added to the dynamic linker. */
#define DYNAMIC_LIMIT  4096
#define VERSIONS_LIMIT 64

static const HChar tracker_file[] = "/vgpreload_memlag-amd64-linux.so";

static Bool readable(Addr start, SizeT bytes)
{
        return VG_(am_is_valid_for_client)(start, bytes, VKI_PROT_READ);
}

/* ---- the dynamic linker ---- */

struct dynamic {
        Addr strings;
        Addr versions;
        ULong own_name;
};

static const Elf64_Phdr *dynamic_header(const Elf64_Ehdr *file)
{
        const Elf64_Phdr *header = (const Elf64_Phdr *)((Addr)file + (Addr)file->e_phoff);

        for (UInt i = 0; i < file->e_phnum && readable((Addr)header, sizeof(*header));
             i++, header++)
                if (header->p_type == PT_DYNAMIC)
                        return header;
        return NULL;
}

/* FILE, as it is before its first instruction: addresses in it are not relocated. */
static Bool read_dynamic(const Elf64_Ehdr *file, struct dynamic *dynamic)
{
        const Elf64_Phdr *header = dynamic_header(file);
        const Elf64_Dyn *entry;

        VG_(memset)(dynamic, 0, sizeof(*dynamic));
        if (header == NULL)
                return False;
        entry = (const Elf64_Dyn *)((Addr)file + header->p_vaddr);
        for (UInt i = 0; i < DYNAMIC_LIMIT && readable((Addr)entry, sizeof(*entry)) &&
                         entry->d_tag != DT_NULL;
             i++, entry++) {
                if (entry->d_tag == DT_STRTAB)
                        dynamic->strings = (Addr)file + entry->d_un.d_ptr;
                if (entry->d_tag == DT_VERDEF)
                        dynamic->versions = (Addr)file + entry->d_un.d_ptr;
                if (entry->d_tag == DT_SONAME)
                        dynamic->own_name = entry->d_un.d_val;
        }
        return dynamic->strings != 0;
}

/* Whether the version of the GNU C library is defined whose _dl_find_object the tracker
 * calls. */
static Bool is_new_enough(Addr versions)
{
        const UInt glibc_2_35 = 0x069691b5; /* the name's hash in ELF */
        const Elf64_Verdef *version = (const Elf64_Verdef *)versions;

        for (UInt i = 0; i < VERSIONS_LIMIT && readable((Addr)version, sizeof(*version));
             i++) {
                if (version->vd_hash == glibc_2_35)
                        return True;
                if (version->vd_next == 0)
                        return False;
                version = (const Elf64_Verdef *)((Addr)version + version->vd_next);
        }
        return False;
}

static Bool loads_tracker(const Elf64_Ehdr *linker)
{
        static const HChar ours[] = "ld-linux-x86-64.so.2";
        struct dynamic dynamic;
        Addr name;

        if (!readable((Addr)linker, sizeof(*linker)) ||
            VG_(memcmp)(linker->e_ident, ELFMAG, SELFMAG) != 0 ||
            linker->e_type != ET_DYN || !read_dynamic(linker, &dynamic))
                return False;
        name = dynamic.strings + dynamic.own_name;
        return readable(name, sizeof(ours)) &&
               VG_(memcmp)((const void *)name, ours, sizeof(ours)) == 0 &&
               dynamic.versions != 0 && is_new_enough(dynamic.versions);
}

/* The first file to run of the program with AUXILIARY: its dynamic linker, or the
 * program itself, which may be a dynamic linker. */
static const Elf64_Ehdr *first_file(const Elf64_auxv_t *auxiliary)
{
        const NSegment *segment = NULL;

        for (; auxiliary->a_type != AT_NULL; auxiliary++) {
                if (auxiliary->a_type == AT_BASE && auxiliary->a_un.a_val != 0)
                        return (const Elf64_Ehdr *)auxiliary->a_un.a_val;
                if (auxiliary->a_type == AT_PHDR)
                        segment = VG_(am_find_nsegment)(auxiliary->a_un.a_val);
        }
        return segment == NULL ? NULL : (const Elf64_Ehdr *)segment->start;
}

/* ---- the environment ---- */

/* The text behind "NAME=" in ENTRY; NULL: it is another variable. */
static HChar *value_of(HChar *entry, const HChar *name)
{
        SizeT length = VG_(strlen)(name);

        return VG_(strncmp)(entry, name, length) == 0 && entry[length] == '='
                   ? entry + length + 1
                   : NULL;
}

/* Whether ENTRY belongs to the user, too; removes the added part. */
static Bool keeps(HChar *entry)
{
        HChar *preload = value_of(entry, "LD_PRELOAD");
        HChar *added = preload == NULL ? NULL : VG_(strstr)(preload, tracker_file);
        HChar *users;

        if (value_of(entry, "VALGRIND_LIB") != NULL)
                return False;
        if (added == NULL)
                return True;
        users = added + sizeof(tracker_file) - 1;
        if (*users != ':')
                return False;
        users++;
        VG_(memmove)(preload, users, VG_(strlen)(users) + 1);
        return True;
}

/* The auxiliary vector, which programs look for behind their variables, moves with their
 * end. */
static void restore(HChar **variables, const Elf64_auxv_t *auxiliary)
{
        HChar **kept = variables;
        SizeT entries = 1;

        for (HChar **variable = variables; *variable != NULL; variable++)
                if (keeps(*variable))
                        *kept++ = *variable;
        *kept++ = NULL;
        while (auxiliary[entries - 1].a_type != AT_NULL)
                entries++;
        VG_(memmove)(kept, auxiliary, entries * sizeof(*auxiliary));
}

void preload_restore(ThreadId first_thread)
{
        UWord *stack = (UWord *)VG_(get_SP)(first_thread);
        HChar **variables = (HChar **)(stack + 1 + stack[0] + 1);
        HChar **end = variables;
        const Elf64_auxv_t *auxiliary;

        while (*end != NULL)
                end++;
        auxiliary = (const Elf64_auxv_t *)(end + 1);
        if (ring_control()->no_heap != 0 || !loads_tracker(first_file(auxiliary)))
                restore(variables, auxiliary);
}
