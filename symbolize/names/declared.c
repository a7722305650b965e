/* SPDX-License-Identifier: MIT */
#include "declared.h"

#include <stdlib.h>
#include <string.h>

#include "file_path.h"

/* The first value of NAME at DIE or along its abstract origins. *HOLDER is the entry
 * with the value, or the last entry read. */
static bool declared_number(struct code_entries *entries, const Dwarf_Die *die,
                            unsigned name, uint64_t *number, Dwarf_Die *holder)
{
        enum { CHAIN_LIMIT = 8 };

        *holder = *die;
        for (int i = 0; i < CHAIN_LIMIT; i++) {
                Dwarf_Die at = *holder, origin;

                if (die_number(entries->with->dwarf, &at, name, number))
                        return true;
                if (!die_origin(entries->with->dwarf, &at, &origin))
                        return false;
                *holder = origin;
        }
        return false;
}

/* The file NAME of the unit at UNIT in the pool; 0: unknown. */
static uint32_t put_path(struct code_entries *entries, Dwarf_Die *unit, const char *name)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        char *path =
            name ? path_join(die_string(dwarf, unit, DW_AT_comp_dir), name) : NULL;
        uint32_t id = string_pool_put(entries->with->names, path);

        free(path);
        return id;
}

/* The file of that number in the table of another unit of the program, as optimisation at
 * link time refers to. */
static uint32_t put_file_of_other(struct code_entries *entries, Dwarf_Die *holder,
                                  uint64_t number)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        struct line_table lines;
        Dwarf_Die other;
        uint32_t id = 0;

        if (dwarf_cu_getdwarf(holder->cu) != dwarf->dwarf ||
            !dwarf_diecu(holder, &other, NULL, NULL) ||
            die_line_table(dwarf, &other, &lines) < 0)
                return 0;
        if (number < lines.file_count && lines.files[number].name) {
                const struct line_file *file = &lines.files[number];
                char *below = path_join(file->directory, file->name);

                id = put_path(entries, &other, below);
                free(below);
        }
        line_table_free(&lines);
        return id;
}

static bool is_artificial(struct code_entries *entries, const Dwarf_Die *die)
{
        Dwarf_Attribute artificial;
        Dwarf_Die at = *die;

        return die_attribute(entries->with->dwarf, &at, DW_AT_artificial, &artificial);
}

/* The source file of the unit that HOLDER is in. */
static uint32_t put_source(struct code_entries *entries, const Dwarf_Die *holder)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        Dwarf_Die at = *holder, unit = entries->die;
        const char *source = entries->source;

        if (holder->cu != entries->die.cu && holder->cu != entries->entries.cu)
                source = dwarf_diecu(&at, &unit, NULL, NULL)
                             ? die_string(dwarf, &unit, DW_AT_name)
                             : NULL;
        return source && die_spend(dwarf, strlen(source))
                   ? put_path(entries, &unit, source)
                   : 0;
}

uint32_t declared_file(struct code_entries *entries, const Dwarf_Die *die, bool *own)
{
        const char *source = entries->source;
        Dwarf_Die holder, other;
        uint64_t number;
        uint32_t id;

        *own = false;
        if (!declared_number(entries, die, DW_AT_decl_file, &number, &holder)) {
                id = is_artificial(entries, &holder) ? put_source(entries, &holder) : 0;
                *own = id > 0;
                return id;
        }
        if (holder.cu == entries->die.cu || holder.cu == entries->entries.cu) {
                id = entries->put_file(entries->context, number);
        } else {
                id = put_file_of_other(entries, &holder, number);
                source = dwarf_diecu(&holder, &other, NULL, NULL)
                             ? die_string(entries->with->dwarf, &other, DW_AT_name)
                             : NULL;
        }
        const char *file = string_pool_text(entries->with->names, id);

        *own = file && source && strcmp(path_base(file), path_base(source)) == 0;
        return id;
}

uint32_t declared_position(struct code_entries *entries, const Dwarf_Die *die,
                           unsigned name)
{
        Dwarf_Die holder;
        uint64_t number;

        return declared_number(entries, die, name, &number, &holder) &&
                       number <= INT32_MAX
                   ? (uint32_t)number
                   : 0;
}

int declared_by(struct code_entries *entries, const Dwarf_Die *die, Dwarf_Die *by)
{
        enum { DEPTH_LIMIT = 8 };
        Dwarf_Die holder, outer;
        uint64_t number;

        *by = *die;
        for (int i = 0; i < DEPTH_LIMIT; i++) {
                if (declared_number(entries, by, DW_AT_decl_file, &number, &holder) ||
                    !is_artificial(entries, &holder))
                        return 0;
                int error = code_scopes_outer(&entries->scopes, entries->with->dwarf,
                                              &holder, &outer);

                if (error || !outer.addr || dwarf_tag(&outer) != DW_TAG_subprogram)
                        return error;
                *by = outer;
        }
        return 0;
}

bool declared_external(struct code_entries *entries, const Dwarf_Die *die)
{
        Dwarf_Attribute external;
        Dwarf_Die at = *die, origin;
        enum { CHAIN_LIMIT = 8 };

        for (int i = 0; i < CHAIN_LIMIT; i++) {
                if (die_attribute(entries->with->dwarf, &at, DW_AT_external, &external))
                        return true;
                if (!die_origin(entries->with->dwarf, &at, &origin))
                        return false;
                at = origin;
        }
        return false;
}
