/* SPDX-License-Identifier: MIT */
/* Reads the file tables of line programs with libdw. */
#include "source_names.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_called(const char *path, const char *base)
{
        const char *slash = strrchr(path, '/');
        return strcmp(slash ? slash + 1 : path, base) == 0;
}

static bool unit_names(Dwarf_Die *unit, const char *base, const struct stat *source)
{
        Dwarf_Files *files;
        size_t count;
        struct stat named;
        if (dwarf_getsrcfiles(unit, &files, &count) != 0)
                return false;
        for (size_t i = 0; i < count; i++) {
                const char *path = dwarf_filesrc(files, i, NULL, NULL);
                if (path && is_called(path, base) && stat(path, &named) == 0 &&
                    named.st_dev == source->st_dev && named.st_ino == source->st_ino)
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
