/* SPDX-License-Identifier: MIT */
/* Reads the file tables of line programs with libdw. */
#include "source_names.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_called(const char *path, const char *base)
{
        const char *slash = strrchr(path, '/');
        return strcmp(slash ? slash + 1 : path, base) == 0;
}

/* Whether PATH, which may be relative to DIRECTORY, is SOURCE. */
static bool is_source(const char *directory, const char *path, const struct stat *source)
{
        struct stat named;
        char *whole = NULL;
        if (*path != '/' &&
            (!directory || asprintf(&whole, "%s/%s", directory, path) < 0))
                return false;
        bool same = stat(whole ? whole : path, &named) == 0 &&
                    named.st_dev == source->st_dev && named.st_ino == source->st_ino;
        free(whole);
        return same;
}

/* libdw leaves the relative directories of DWARF 5 as they are. */
static bool unit_names(Dwarf_Die *unit, const char *base, const struct stat *source)
{
        Dwarf_Attribute attribute;
        Dwarf_Files *files;
        size_t count;
        const char *directory =
            dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
        if (dwarf_getsrcfiles(unit, &files, &count) != 0)
                return false;
        for (size_t i = 0; i < count; i++) {
                const char *path = dwarf_filesrc(files, i, NULL, NULL);
                if (path && is_called(path, base) && is_source(directory, path, source))
                        return true;
        }
        return false;
}

/* Compilers may omit the address table of units: each unit is queried. */
static bool names(Dwarf *dwarf, uint64_t address, const char *base,
                  const struct stat *source)
{
        Dwarf_CU *unit = NULL;
        Dwarf_Die die;
        bool named = false;
        while (!named && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
                named = dwarf_haspc(&die, address) > 0 && unit_names(&die, base, source);
        return named;
}

bool source_is_named(const char *path, uint64_t address, const char *base,
                     const struct stat *source)
{
        struct stat status;
        bool named = false;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return false;
        elf_version(EV_CURRENT);
        Dwarf *dwarf = fstat(fd, &status) == 0 && S_ISREG(status.st_mode)
                           ? dwarf_begin(fd, DWARF_C_READ)
                           : NULL;
        if (dwarf) {
                named = names(dwarf, address, base, source);
                dwarf_end(dwarf);
        }
        close(fd);
        return named;
}
