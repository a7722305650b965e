/* SPDX-License-Identifier: MIT */
/* Variables come from the symbol table. The debug information adds their types and the
 * source name of "counter.0". It gives everything if the file has no local symbols. */
#include "data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "die_walk.h"
#include "file_path.h"
#include "location.h"
#include "name.h"

struct search {
        struct dwarf_file *dwarf;
        struct type_reader *reader;
        struct string_pool *names;
        struct data_place **wanted; /* in order of vaddr */
        size_t wanted_count;
        size_t typeless;           /* without a type, of WANTED */
        LIST(Dwarf_Die) functions; /* of WANTED without a type */
};

/* ---- variables of the debug information ---- */

static bool fixed_address(struct dwarf_file *file, Dwarf_Die *die, uint64_t *vaddr)
{
        Dwarf_Attribute attribute;

        return die_attribute(file, die, DW_AT_location, &attribute) &&
               location_fixed(&attribute, file->source, vaddr);
}

static bool place_is_below(const void *item, const void *key)
{
        const struct data_place *const *place = item;

        return (*place)->vaddr < *(const uint64_t *)key;
}

/* clang calls the symbol of a function's variable "function.variable", and may leave the
 * function without a name in the debug information. */
static uint32_t name_of_symbol(struct search *search, const char *symbol,
                               const char *name)
{
        size_t length = symbol ? strlen(symbol) : 0, tail = strlen(name) + 1;

        return length > tail && symbol[length - tail] == '.' &&
                       strcmp(symbol + length - tail + 1, name) == 0
                   ? string_pool_format(search->names, "%.*s::%s", (int)(length - tail),
                                        symbol, name)
                   : 0;
}

/* SYMBOL is the name of the variable's symbol; NULL: none. */
static uint32_t scoped_name(struct search *search, Dwarf_Die *die, uint32_t function,
                            const char *symbol)
{
        const char *name = die_name(search->dwarf, die);
        const char *outer = NULL;
        Dwarf_Die scope;

        if (!name)
                return 0;
        uint32_t id = name_put_linkage(search->names, name);

        if (!function || strcmp(name, string_pool_text(search->names, id) ?: "") != 0)
                return id; /* a mangled name holds its scope */
        scope = search->functions.items[function - 1];
        outer = string_pool_text(search->names,
                                 die_put_name(search->dwarf, search->names, &scope));

        if (!outer)
                return name_of_symbol(search, symbol, name) ?: id;
        return string_pool_format(search->names, "%s::%s", outer, name);
}

static void answer_variable(struct search *search, Dwarf_Die *die, uint32_t function)
{
        uint64_t vaddr;

        if (!fixed_address(search->dwarf, die, &vaddr))
                return;
        size_t i = array_count_before(search->wanted, search->wanted_count,
                                      sizeof(*search->wanted), place_is_below, &vaddr);

        if (i == search->wanted_count)
                return;
        uint32_t type = type_of_variable(search->reader, die);
        uint64_t bytes =
            type == TYPE_NONE ? 0 : search->reader->types->items[type].size_bytes;
        uint32_t name = 0;

        for (; i < search->wanted_count; i++) {
                struct data_place *place = search->wanted[i];
                bool exact = place->variable && place->start == vaddr;

                if (!exact && place->vaddr - vaddr >= bytes)
                        return;
                if (place->variable && !exact)
                        continue;
                if (place->type == TYPE_NONE && type != TYPE_NONE) {
                        place->type = type;
                        search->typeless--;
                }
                if (place->named_by_symbol)
                        continue;
                if (name == 0)
                        name = scoped_name(
                            search, die, function,
                            exact ? string_pool_text(search->names, place->name) : NULL);
                if (name == 0)
                        return;
                if (!place->variable) {
                        place->start = vaddr;
                        place->size_bytes = bytes;
                        place->variable = true;
                }
                place->name = name;
        }
}

static int visit_variable(void *context, struct die_entry *entry)
{
        struct search *search = context;

        switch (entry->tag) {
        case DW_TAG_variable:
                answer_variable(search, &entry->die, entry->parent);
                return 0;
        case DW_TAG_subprogram:
                if (PUSH(&search->functions, entry->die) < 0)
                        return -ENOMEM;
                entry->value = (uint32_t)search->functions.count;
                return 1;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_lexical_block:
                return 1;
        default:
                return 0;
        }
}

static int search_dwarf(struct search *search)
{
        int error = 0;

        for (size_t i = 0;
             i < search->dwarf->unit_count && error != -ENOMEM && search->typeless > 0;
             i++) {
                Dwarf_Die unit, entries;

                search->functions.count = 0;
                if (die_open_unit(search->dwarf, i, &unit, &entries))
                        error = die_walk(search->dwarf, &entries, visit_variable, search);
        }
        free(search->functions.items);
        return error == -ENOMEM ? error : search->reader->error;
}

/* ---- symbols and sections ---- */

static void answer_symbol(const struct symbol_table *symbols, struct data_place *place,
                          struct string_pool *names)
{
        const struct symbol *symbol = symbol_table_object(symbols, place->vaddr);

        if (!symbol)
                return;
        place->start = symbol->vaddr;
        place->size_bytes = symbol->size_bytes;
        place->name = name_put_symbol(names, symbol->name);
        place->variable = true;
        /* "counter.0" is a function's static variable; only DWARF has its name. */
        place->named_by_symbol = strchr(symbol->name, '.') == NULL;
}

/* Whether SECTION contains linkers' data (System V ABI and GNU), and no variable. */
static bool is_linkage(const struct elf_section *section)
{
        static const char *const linkage[] = {
            ".got",         ".got.plt",       ".plt",           ".plt.got",
            ".plt.sec",     ".plt.bnd",       ".iplt",          ".dynamic",
            ".dynsym",      ".dynstr",        ".hash",          ".gnu.hash",
            ".gnu.version", ".gnu.version_d", ".gnu.version_r", ".gnu.liblist",
            ".gnu.libstr",  ".gnu.conflict",  ".relr.dyn"};

        for (size_t i = 0; i < sizeof(linkage) / sizeof(*linkage); i++)
                if (strcmp(section->name, linkage[i]) == 0)
                        return true;
        return strncmp(section->name, ".rela.", strlen(".rela.")) == 0 ||
               strncmp(section->name, ".rel.", strlen(".rel.")) == 0;
}

static enum data_unnamed unnamed_in(const struct elf_section *section,
                                    const struct elf_segment *segment)
{
        if (is_linkage(section))
                return DATA_LINKAGE;
        return segment && !(segment->flags & (PF_W | PF_X)) ? DATA_CONSTANT
                                                            : DATA_ANYTHING;
}

static void answer_section(const struct elf_file *file, struct data_place *place,
                           struct string_pool *names)
{
        const char *base = path_base(file->path ? file->path : "");
        const struct elf_section *section = elf_file_section_at(file, place->vaddr);
        const struct elf_segment *segment = elf_file_segment(file, place->vaddr);

        if (elf_thread_local(place->vaddr)) {
                place->start = ELF_THREAD_LOCAL;
                place->size_bytes = file->thread_bytes;
                place->name =
                    string_pool_format(names, "[thread-local data of %s]", base);
        } else if (section && section->name) {
                place->start = section->vaddr;
                place->size_bytes = section->size_bytes;
                place->name =
                    string_pool_format(names, "[%s of %s]", section->name, base);
                place->unnamed = unnamed_in(section, segment);
        } else if (segment) {
                place->start = segment->vaddr;
                place->size_bytes = segment->memory_bytes;
                place->name = string_pool_format(names, "[data of %s]", base);
        }
}

static int compare_places(const void *left, const void *right)
{
        const struct data_place *a = *(struct data_place *const *)left;
        const struct data_place *b = *(struct data_place *const *)right;

        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Linkers' data contain no variable. */
static bool may_be_variable(const struct elf_file *file, const struct data_place *place)
{
        const struct elf_section *section =
            place->variable || elf_thread_local(place->vaddr)
                ? NULL
                : elf_file_section_at(file, place->vaddr);

        return !section || !section->name || !is_linkage(section);
}

static int find_variables(struct type_reader *reader, const struct elf_file *file,
                          struct data_place **places, size_t count,
                          struct string_pool *names)
{
        struct search search = {.dwarf = reader->dwarf,
                                .reader = reader,
                                .names = names,
                                .wanted = places,
                                .wanted_count = count};

        for (size_t i = 0; i < count; i++)
                search.typeless += may_be_variable(file, places[i]);
        return search_dwarf(&search);
}

int data_find(struct type_reader *reader, const struct elf_file *file,
              const struct symbol_table *symbols, struct data_place **places,
              size_t count, struct string_pool *names)
{
        int error = 0;

        SORT(places, count, compare_places);
        for (size_t i = 0; i < count; i++) {
                places[i]->type = TYPE_NONE;
                answer_symbol(symbols, places[i], names);
        }
        if (reader && count > 0)
                error = find_variables(reader, file, places, count, names);
        for (size_t i = 0; i < count && !error; i++)
                if (!places[i]->variable)
                        answer_section(file, places[i], names);
        return error ? error : string_pool_failed(names);
}
