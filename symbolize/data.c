/* SPDX-License-Identifier: MIT */
/* Variables come from the symbol table. The debug information is read only for
 * what that cannot tell: the source name of "counter.0", and everything when the
 * file has been stripped of its local symbols. */
#include "data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "name.h"
#include "path.h"

enum { TYPE_CHAIN_LIMIT = 16 };

struct search {
        struct dwarf_file *dwarf;
        struct string_pool *names;
        struct data_place **wanted; /* in order of vaddr */
        size_t wanted_count;
        uint64_t *functions; /* entries' offsets; a walk value is index + 1 */
        size_t function_count;
        size_t function_capacity;
};

/* ---- sizes of types ------------------------------------------------------------ */

static uint64_t array_items(struct dwarf_file *file, Dwarf_Die *array)
{
        uint64_t items = 1, number;
        Dwarf_Die child;

        if (dwarf_child(array, &child) != 0)
                return 0;
        for (int i = 0; i < TYPE_CHAIN_LIMIT; i++) {
                if (dwarf_tag(&child) == DW_TAG_subrange_type) {
                        if (!die_number(file, &child, DW_AT_count, &number)) {
                                if (!die_number(file, &child, DW_AT_upper_bound, &number))
                                        return 0;
                                number++;
                        }
                        if (__builtin_mul_overflow(items, number, &items))
                                return 0;
                }
                if (dwarf_siblingof(&child, &child) != 0)
                        break;
        }
        return items;
}

/* The size of a variable of DIE's type; 0 when it does not say. */
static uint64_t type_bytes(struct dwarf_file *file, Dwarf_Die *die)
{
        Dwarf_Die type = *die, next;
        uint64_t items = 1, bytes;

        for (int i = 0; i < TYPE_CHAIN_LIMIT; i++) {
                if (!die_reference(file, &type, DW_AT_type, &next) &&
                    !(i == 0 && die_reference(file, &type, DW_AT_specification, &next)))
                        return 0;
                type = next;
                if (die_number(file, &type, DW_AT_byte_size, &bytes))
                        return __builtin_mul_overflow(items, bytes, &bytes) ? 0 : bytes;
                if (dwarf_tag(&type) == DW_TAG_array_type &&
                    __builtin_mul_overflow(items, array_items(file, &type), &items))
                        return 0;
        }
        return 0;
}

/* ---- variables of the debug information ------------------------------------------ */

/* The fixed address of a variable: its location is the one operation DW_OP_addr. */
static bool fixed_address(struct dwarf_file *file, Dwarf_Die *die, uint64_t *vaddr)
{
        Dwarf_Attribute attribute;
        Dwarf_Block block;

        if (!die_attribute(file, die, DW_AT_location, &attribute) ||
            dwarf_formblock(&attribute, &block) != 0 ||
            block.length != 1 + sizeof(*vaddr) || block.data[0] != DW_OP_addr)
                return false;
        memcpy(vaddr, block.data + 1, sizeof(*vaddr));
        return true;
}

/* The index of the first wanted address that is VADDR or above. */
static size_t first_wanted(const struct search *search, uint64_t vaddr)
{
        size_t low = 0, high = search->wanted_count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (search->wanted[middle]->vaddr < vaddr)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static uint32_t scoped_name(struct search *search, Dwarf_Die *die, uint32_t function)
{
        const char *name = die_name(search->dwarf, die);
        const char *outer = NULL;
        char *scoped = NULL;
        Dwarf_Die scope;

        if (!name)
                return 0;
        uint32_t id = name_put_linkage(search->names, name);

        if (!function || strcmp(name, string_pool_text(search->names, id) ?: "") != 0)
                return id; /* a mangled name holds its scope */
        if (dwarf_offdie(search->dwarf->dwarf, search->functions[function - 1], &scope))
                outer = die_name(search->dwarf, &scope);
        outer = outer ? string_pool_text(search->names,
                                         name_put_linkage(search->names, outer))
                      : NULL;
        if (outer && asprintf(&scoped, "%s::%s", outer, name) >= 0)
                id = string_pool_put(search->names, scoped);
        free(scoped);
        return id;
}

static void answer_variable(struct search *search, Dwarf_Die *die, uint32_t function)
{
        uint64_t vaddr;

        if (!fixed_address(search->dwarf, die, &vaddr))
                return;
        size_t i = first_wanted(search, vaddr);

        if (i == search->wanted_count)
                return;
        uint64_t bytes = type_bytes(search->dwarf, die);
        uint32_t name = 0;

        for (; i < search->wanted_count; i++) {
                struct data_place *place = search->wanted[i];
                bool exact = place->variable && place->start == vaddr;

                if (!exact && place->vaddr - vaddr >= bytes)
                        return;
                if (place->variable && !exact)
                        continue;
                if (name == 0)
                        name = scoped_name(search, die, function);
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

static int visit_variable(void *context, Dwarf_Die *die, uint32_t parent, uint32_t *value)
{
        struct search *search = context;

        switch (dwarf_tag(die)) {
        case DW_TAG_variable:
                answer_variable(search, die, parent);
                return 0;
        case DW_TAG_subprogram:
                if (search->function_count >= UINT32_MAX - 1 ||
                    array_reserve(&search->functions, &search->function_capacity,
                                  search->function_count, sizeof(*search->functions)) < 0)
                        return -ENOMEM;
                search->functions[search->function_count++] = dwarf_dieoffset(die);
                *value = (uint32_t)search->function_count;
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

        for (size_t i = 0; i < search->dwarf->unit_count && error != -ENOMEM; i++) {
                Dwarf_Die unit;

                search->function_count = 0;
                if (dwarf_offdie(search->dwarf->dwarf, search->dwarf->units[i].die_offset,
                                 &unit))
                        error = die_walk(search->dwarf, &unit, visit_variable, search);
        }
        free(search->functions);
        return error == -ENOMEM ? error : 0;
}

/* ---- symbols and sections --------------------------------------------------------- */

/* Returns whether the debug information should be asked too. */
static bool answer_symbol(const struct symbol_table *symbols, struct data_place *place,
                          struct string_pool *names)
{
        const struct symbol *symbol = symbol_table_object(symbols, place->vaddr);

        if (!symbol)
                return !symbols->complete;
        place->start = symbol->vaddr;
        place->size_bytes = symbol->size_bytes;
        place->name = name_put_symbol(names, symbol->name);
        place->variable = true;
        return strchr(symbol->name, '.') != NULL;
}

static void answer_section(const struct elf_file *file, struct data_place *place,
                           struct string_pool *names)
{
        const char *base = path_base(file->path ? file->path : "");
        const struct elf_section *section = elf_file_section_at(file, place->vaddr);
        const struct elf_segment *segment = elf_file_segment(file, place->vaddr);
        char *name = NULL;

        if (section && section->name) {
                place->start = section->vaddr;
                place->size_bytes = section->size_bytes;
                if (asprintf(&name, "[%s of %s]", section->name, base) < 0)
                        return;
        } else if (segment) {
                place->start = segment->vaddr;
                place->size_bytes = segment->memory_bytes;
                if (asprintf(&name, "[data of %s]", base) < 0)
                        return;
        }
        place->name = string_pool_put(names, name);
        free(name);
}

static int compare_places(const void *left, const void *right)
{
        const struct data_place *a = *(struct data_place *const *)left;
        const struct data_place *b = *(struct data_place *const *)right;

        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

int data_find(struct dwarf_file *dwarf, const struct elf_file *file,
              const struct symbol_table *symbols, struct data_place **places,
              size_t count, struct string_pool *names)
{
        struct search search = {.dwarf = dwarf, .names = names};
        int error = 0;

        if (count > 1)
                qsort(places, count, sizeof(*places), compare_places);
        search.wanted = malloc((count + 1) * sizeof(*search.wanted));
        if (!search.wanted)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                if (answer_symbol(symbols, places[i], names))
                        search.wanted[search.wanted_count++] = places[i];
        if (dwarf && search.wanted_count > 0)
                error = search_dwarf(&search);
        free(search.wanted);
        for (size_t i = 0; i < count && !error; i++)
                if (!places[i]->variable)
                        answer_section(file, places[i], names);
        return error ? error : string_pool_failed(names);
}
