/* SPDX-License-Identifier: MIT */
/* Looks for the names of allocators among the symbols of dynamically linked programs.
 * Other programs cannot load the tracker, which is counted elsewhere. */
#include "own_allocator.h"

#include <fcntl.h>
#include <gelf.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

/* The C library's, jemalloc's (also as Rust has it), mimalloc's and tcmalloc's. */
static const char *const names[] = {"malloc",       "je_malloc", "_rjem_je_malloc",
                                    "_rjem_malloc", "mi_malloc", "tc_malloc"};

static bool is_allocator(const char *name)
{
        for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(name, names[i]) == 0)
                        return true;
        return false;
}

static bool is_text(Elf *elf, size_t section)
{
        size_t strings;
        GElf_Shdr header;
        Elf_Scn *found = elf_getscn(elf, section);
        const char *name =
            found && gelf_getshdr(found, &header) && elf_getshdrstrndx(elf, &strings) == 0
                ? elf_strptr(elf, strings, header.sh_name)
                : NULL;
        return name && strcmp(name, ".text") == 0;
}

/* Returns true if the symbol table SECTION defines an allocator. OUTSIDE_TEXT: an
 * allocator in another section than .text. */
static bool defines_allocator(Elf *elf, Elf_Scn *section, bool outside_text)
{
        GElf_Shdr header;
        Elf_Data *data = elf_getdata(section, NULL);
        if (!data || !gelf_getshdr(section, &header) || header.sh_entsize == 0)
                return false;
        for (size_t i = 0; i < header.sh_size / header.sh_entsize; i++) {
                GElf_Sym symbol;
                if (!gelf_getsym(data, (int)i, &symbol))
                        return false;
                if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
                    symbol.st_shndx != SHN_UNDEF &&
                    is_allocator(elf_strptr(elf, header.sh_link, symbol.st_name)))
                        return !outside_text || !is_text(elf, symbol.st_shndx);
        }
        return false;
}

static bool is_dynamic(Elf *elf)
{
        size_t count;
        GElf_Phdr segment;
        if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0)
                return false;
        for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &segment); i++)
                if (segment.p_type == PT_INTERP)
                        return true;
        return false;
}

static bool has_allocator(const char *path, bool outside_text)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        Elf *elf =
            fd >= 0 && elf_version(EV_CURRENT) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
        bool found = false;
        if (elf && is_dynamic(elf))
                for (Elf_Scn *section = elf_nextscn(elf, NULL); section && !found;
                     section = elf_nextscn(elf, section)) {
                        GElf_Shdr header;
                        found = gelf_getshdr(section, &header) &&
                                (header.sh_type == SHT_SYMTAB ||
                                 header.sh_type == SHT_DYNSYM) &&
                                defines_allocator(elf, section, outside_text);
                }
        elf_end(elf);
        if (fd >= 0)
                close(fd);
        return found;
}

int own_allocators_tell(struct db *db, bool by_name, struct diag *diag)
{
        sqlite3_stmt *rows;
        int64_t programs = 0;
        int rc;
        if (sqlite3_prepare_v2(db_sqlite(db),
                               "SELECT DISTINCT executable FROM process "
                               "WHERE executable LIKE '/%'",
                               -1, &rows, NULL) != SQLITE_OK)
                return db_error(db, "read", diag);
        while ((rc = sqlite3_step(rows)) == SQLITE_ROW)
                programs +=
                    has_allocator((const char *)sqlite3_column_text(rows, 0), by_name);
        int code = rc == SQLITE_DONE ? 0 : db_error(db, "read", diag);
        sqlite3_finalize(rows);
        if (code)
                return code;
        return programs ? db_ledger_set(db, "record",
                                        "programs whose own allocator is not followed",
                                        programs, "programs", diag)
                        : 0;
}
