/* SPDX-License-Identifier: MIT */
#include "declared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "die_walk.h"
#include "file_path.h"

/* *HOLDER becomes the first entry with the attribute NAME among DIE and its abstract
 * origins, else the last entry read. */
static bool find_holder(struct code_entries *entries, const Dwarf_Die *die, unsigned name,
                        Dwarf_Die *holder)
{
        enum { CHAIN_LIMIT = 8 };
        Dwarf_Attribute attribute;
        Dwarf_Die origin;

        *holder = *die;
        for (int i = 0; i < CHAIN_LIMIT; i++, *holder = origin) {
                if (die_attribute(entries->with->dwarf, holder, name, &attribute))
                        return true;
                if (!die_origin(entries->with->dwarf, holder, &origin))
                        return false;
        }
        return false;
}

static bool declared_number(struct code_entries *entries, const Dwarf_Die *die,
                            unsigned name, uint64_t *number, Dwarf_Die *holder)
{
        return find_holder(entries, die, name, holder) &&
               die_number(entries->with->dwarf, holder, name, number);
}

/* Path components may be long and many: the budget counts each byte. NULL when the budget
 * is spent. */
static char *join(struct code_entries *entries, const char *directory, const char *path)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        uint64_t bytes = strnlen(path, dwarf->budget + 1);

        if (directory && path[0] != '/')
                bytes += strnlen(directory, dwarf->budget + 1);
        if (!die_spend(dwarf, bytes))
                return NULL;
        char *joined = path_join(directory, path);

        entries->no_memory |= !joined;
        return joined;
}

/* The path of FILE in a unit compiled in DIRECTORY; 0: unknown. */
static uint32_t put_path(struct code_entries *entries, const char *directory,
                         const struct line_file *file)
{
        char *path = join(entries, file->directory, file->name);
        char *full = path ? join(entries, directory, path) : NULL;
        uint32_t id = string_pool_put(entries->with->names, full);

        free(path);
        free(full);
        return id;
}

uint32_t declared_put_file(struct code_entries *entries, uint64_t number)
{
        if (number >= entries->lines.files.count ||
            !entries->lines.files.items[number].name)
                return 0;
        if (!entries->files[number])
                entries->files[number] = put_path(entries, entries->directory,
                                                  &entries->lines.files.items[number]);
        return entries->files[number];
}

/* File NUMBER in the table of HOLDER's unit, another unit of the program. Link-time
 * optimisation makes such references. */
static uint32_t put_file_of_other(struct code_entries *entries, Dwarf_Die *holder,
                                  uint64_t number)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        struct line_table lines;
        Dwarf_Die other;

        if (dwarf_cu_getdwarf(holder->cu) != dwarf->dwarf ||
            !dwarf_diecu(holder, &other, NULL, NULL) ||
            die_line_table(dwarf, &other, &lines) < 0)
                return 0;
        uint32_t id = number < lines.files.count && lines.files.items[number].name
                          ? put_path(entries, die_string(dwarf, &other, DW_AT_comp_dir),
                                     &lines.files.items[number])
                          : 0;

        line_table_free(&lines);
        return id;
}

static bool is_artificial(struct code_entries *entries, Dwarf_Die *die)
{
        Dwarf_Attribute artificial;

        return die_attribute(entries->with->dwarf, die, DW_AT_artificial, &artificial);
}

/* The source file of HOLDER's unit. */
static uint32_t put_source(struct code_entries *entries, Dwarf_Die *holder)
{
        struct dwarf_file *dwarf = entries->with->dwarf;
        struct line_file source = {entries->source, NULL};
        Dwarf_Die unit = entries->die;

        if (holder->cu != entries->die.cu && holder->cu != entries->entries.cu)
                source.name = dwarf_diecu(holder, &unit, NULL, NULL)
                                  ? die_string(dwarf, &unit, DW_AT_name)
                                  : NULL;
        return source.name
                   ? put_path(entries, die_string(dwarf, &unit, DW_AT_comp_dir), &source)
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
                id = declared_put_file(entries, number);
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
                int error = declared_inside(entries, &holder, &outer);

                if (error || !outer.addr || dwarf_tag(&outer) != DW_TAG_subprogram)
                        return error;
                *by = outer;
        }
        return 0;
}

bool declared_external(struct code_entries *entries, const Dwarf_Die *die)
{
        Dwarf_Die holder;

        return find_holder(entries, die, DW_AT_external, &holder);
}

/* ---- scopes ---- */

static int visit_scope(void *context, struct die_entry *entry)
{
        struct code_scopes *scopes = context;

        switch (entry->tag) {
        case DW_TAG_subprogram:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_namespace:
                return PUSH(scopes, entry->die);
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
                return 1;
        default:
                return 0;
        }
}

/* Finds the scopes inside DIE, or reads them. */
static int read_inside(struct code_scopes *scopes, struct dwarf_file *dwarf,
                       const Dwarf_Die *die, struct code_scope *inside)
{
        uint32_t known = HASH_NUMBER(&scopes->known, (uintptr_t)die->addr);

        if (known != HASH_INDEX_NONE) {
                *inside = scopes->known.items[known];
                return 0;
        }
        *inside = (struct code_scope){.start = die->addr, .first = scopes->count};
        if (die_walk(dwarf, die, visit_scope, scopes) == -ENOMEM)
                return -ENOMEM;
        inside->end = scopes->count;
        return HASH_PUSH(&scopes->known, hash_number(0, (uintptr_t)die->addr), *inside);
}

int declared_inside(struct code_entries *entries, const Dwarf_Die *die, Dwarf_Die *outer)
{
        struct code_scopes *scopes = &entries->scopes;
        struct dwarf_file *dwarf = entries->with->dwarf;
        Dwarf_Die at = *die, root, around = {0};
        struct code_scope inside;

        *outer = (Dwarf_Die){0};
        if (!dwarf_diecu(&at, &root, NULL, NULL))
                return 0;
        for (at = root; at.addr != die->addr;) {
                /* Without budget it stays unknown: a scope further out would be wrong. */
                if (!die_spend(dwarf, 1))
                        return 0;
                int error = read_inside(scopes, dwarf, &at, &inside);

                if (error)
                        return error;
                size_t up_to =
                    NUMBER_UNTIL(scopes->items + inside.first, inside.end - inside.first,
                                 (uintptr_t)die->addr);

                if (up_to == 0)
                        return 0;
                around = at;
                at = scopes->items[inside.first + up_to - 1];
        }
        if (around.addr != root.addr)
                *outer = around;
        return 0;
}
