/* SPDX-License-Identifier: MIT */
/* What is left of a function that was folded: its symbol, where the other's is; its
 * entry, without an address, with one where no code is, or with the other's. A second
 * name that an author gave to a function has no entry of its own. */
#include "folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "copied_name.h"
#include "die_walk.h"
#include "mangled_name.h"
#include "signature.h"

/* A function that a unit defines. */
struct folded_definition {
        Dwarf_Die die;
        Dwarf_Addr vaddr;
        bool has_code;
        bool codeless; /* the compiler left no code of it, though it was no inline one */
        bool named;    /* the names were read */
        const char *linkage;
        const char *source;
};

/* Its functions are the items from FIRST up to END. */
struct folded_unit {
        const void *addr;
        size_t first;
        size_t end;
};

/* What a file made for it could ask for is more than any has that is not. */
enum { LOOKED_AT_LIMIT = 100000000 };

/* More names of one function are not looked at. */
enum { OTHERS_LIMIT = 16 };

/* The function that is asked for. */
struct function {
        Dwarf_Die *die;
        Dwarf_Addr entry;
        const char *others[OTHERS_LIMIT]; /* symbols there that are not its own */
        size_t other_count;
        bool unnamed;    /* no symbol is there */
        bool copied;     /* one there is of a copy that the compiler made of a function */
        const char *own; /* a symbol there that is its own; NULL: none is */
        bool twins;      /* another is that of another file's function of its name */
};

/* Where the function at DIE is entered. */
static bool find_entry(const struct folded *search, Dwarf_Die *die, Dwarf_Addr *entry)
{
        return die_entry_address(search->dwarf, die, entry) &&
               elf_file_has_code(search->file, *entry);
}

/* ---- symbols ---- */

/* Whether SYMBOL is NAME, or that of a copy or a version of it. */
static bool is_called(const char *symbol, const char *name)
{
        size_t length = name ? strlen(name) : 0;

        return length > 0 && strncmp(symbol, name, length) == 0 &&
               (symbol[length] == '\0' || symbol[length] == '.' || symbol[length] == '@');
}

static const char *source_name(const struct folded *search, Dwarf_Die *die)
{
        Dwarf_Die at = *die, origin;
        const char *name = die_string(search->dwarf, &at, DW_AT_name);

        for (int i = 0; !name && i < 4 && die_origin(search->dwarf, &at, &origin); i++) {
                at = origin;
                name = die_string(search->dwarf, &at, DW_AT_name);
        }
        return name;
}

static bool is_symbol_of(const struct folded *search, const char *symbol,
                         struct folded_definition *item)
{
        if (!item->named) {
                item->linkage = die_linkage_name(search->dwarf, &item->die);
                item->source = source_name(search, &item->die);
                item->named = true;
        }
        return is_called(symbol, item->linkage) || is_called(symbol, item->source) ||
               (item->linkage && mangled_same_constructor(symbol, item->linkage));
}

static bool symbol_is_below(const void *item, const void *key)
{
        const struct symbol *symbol = item;

        return symbol->vaddr < *(const uint64_t *)key;
}

/* The first symbol at VADDR or behind. */
static size_t first_symbol(const struct symbol_table *symbols, uint64_t vaddr)
{
        return array_count_before(symbols->symbols, symbols->count,
                                  sizeof(*symbols->symbols), symbol_is_below, &vaddr);
}

/* LLD and mold say in the comment which they are. That is often removed from a program,
 * but not from its debug information. GNU ld, which folds nothing, says nothing: where
 * there is no comment at all, it may be any. */
bool folded_by_linker(const struct elf_file *file, const struct elf_file *debug)
{
        Elf *const files[] = {file->elf, debug ? debug->elf : NULL};
        bool commented = false;

        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
                size_t bytes = 0;
                const char *comment =
                    files[i] ? elf_section_data(files[i], ".comment", &bytes) : NULL;

                commented |= comment != NULL;
                if ((comment && (memmem(comment, bytes, "LLD", strlen("LLD")) ||
                                 memmem(comment, bytes, "mold", strlen("mold")))) ||
                    (files[i] && elf_section_named(files[i], ".note.gnu.gold-version")))
                        return true;
        }
        return !commented;
}

/* ---- the units' functions ---- */

static int add(struct folded *search, Dwarf_Die *die)
{
        struct folded_definition definition = {.die = *die};
        Dwarf_Attribute attribute;
        uint64_t value;

        if ((die_number(search->dwarf, die, DW_AT_inline, &value) &&
             value != DW_INL_not_inlined) ||
            die_attribute(search->dwarf, die, DW_AT_declaration, &attribute))
                return 0;
        definition.has_code = find_entry(search, die, &definition.vaddr);
        definition.codeless =
            !definition.has_code &&
            !die_attribute(search->dwarf, die, DW_AT_low_pc, &attribute) &&
            !die_attribute(search->dwarf, die, DW_AT_ranges, &attribute) &&
            !die_attribute(search->dwarf, die, DW_AT_abstract_origin, &attribute);
        if (array_reserve(&search->items, &search->capacity, search->count,
                          sizeof(*search->items)) < 0)
                return -ENOMEM;
        search->items[search->count++] = definition;
        return 0;
}

static int visit(void *context, struct die_entry *entry, uint32_t parent, uint32_t *value)
{
        (void)parent;
        (void)value;
        if (entry->tag == DW_TAG_subprogram)
                return add(context, &entry->die);
        return entry->tag == DW_TAG_namespace || entry->tag == DW_TAG_module;
}

static bool unit_is_below(const void *item, const void *key)
{
        const struct folded_unit *unit = item;

        return (uintptr_t)unit->addr < (uintptr_t)key;
}

/* The first unit that was read at ADDR or behind. */
static size_t first_unit(const struct folded *search, const void *addr)
{
        return array_count_before(search->units, search->unit_count,
                                  sizeof(*search->units), unit_is_below, addr);
}

/* Has the functions of the unit that DIE is in, which is read once. */
static int read_unit(struct folded *search, Dwarf_Die *die, struct folded_unit *found)
{
        Dwarf_Die unit;

        *found = (struct folded_unit){0};
        if (!dwarf_diecu(die, &unit, NULL, NULL))
                return 0;
        size_t at = first_unit(search, unit.addr);

        if (at < search->unit_count && search->units[at].addr == unit.addr) {
                *found = search->units[at];
                return 0;
        }
        *found = (struct folded_unit){.addr = unit.addr, .first = search->count};
        if (array_reserve(&search->units, &search->unit_capacity, search->unit_count,
                          sizeof(*search->units)) < 0 ||
            die_walk(search->dwarf, &unit, visit, search) == -ENOMEM)
                return -ENOMEM;
        found->end = search->count;
        memmove(search->units + at + 1, search->units + at,
                (search->unit_count++ - at) * sizeof(*search->units));
        search->units[at] = *found;
        return 0;
}

/* Whether so many more items may not be looked at. */
static bool too_many(struct folded *search, const struct folded_unit *unit)
{
        search->looked_at += unit->end - unit->first;
        return search->looked_at > LOOKED_AT_LIMIT;
}

/* Whether UNIT defines a function that SYMBOL names and that has no code but what is at
 * ENTRY, or may, as there are too many. */
static bool defines(struct folded *search, const struct folded_unit *unit,
                    const char *symbol, Dwarf_Addr entry)
{
        if (too_many(search, unit))
                return true;
        for (size_t i = unit->first; i < unit->end; i++) {
                struct folded_definition *item = &search->items[i];

                if ((!item->has_code || item->vaddr == entry) &&
                    is_symbol_of(search, symbol, item))
                        return true;
        }
        return false;
}

/* Whether what is at A and at B, in two units, are two functions of one name: each is
 * known to its file only, and not one that both include. */
static bool are_two(struct folded *search, Dwarf_Die *a, Dwarf_Die *b)
{
        Dwarf_Attribute attribute;
        uint64_t line_a = 0, line_b = 0;

        die_number(search->dwarf, a, DW_AT_decl_line, &line_a);
        die_number(search->dwarf, b, DW_AT_decl_line, &line_b);
        return line_a != line_b &&
               !die_attribute(search->dwarf, b, DW_AT_external, &attribute) &&
               !die_attribute(search->dwarf, b, DW_AT_specification, &attribute) &&
               !die_attribute(search->dwarf, b, DW_AT_abstract_origin, &attribute);
}

/* Whether UNIT has a second function at FUNCTION's entry, or may. */
static bool has_second(struct folded *search, const struct folded_unit *unit,
                       const struct function *function)
{
        const char *name = die_name(search->dwarf, function->die);

        if (too_many(search, unit))
                return true;
        for (size_t i = unit->first; i < unit->end && name; i++) {
                struct folded_definition *item = &search->items[i];

                if (!item->has_code || item->vaddr != function->entry)
                        continue;
                const char *other = die_name(search->dwarf, &item->die);

                if (other && (strcmp(name, other) != 0
                                  ? !mangled_same_constructor(name, other)
                                  : are_two(search, function->die, &item->die)))
                        return true;
        }
        return false;
}

/* Whether others than FUNCTION's unit, which is OWN, have a second function at its entry,
 * or may. That a file knows alone is one of each. */
static int look_in_others(struct folded *search, const void *own,
                          const struct function *function, bool *found)
{
        const struct unit_starts *starts = search->starts;
        struct folded_unit unit;
        Dwarf_Die die, entries;
        int error = 0;

        for (size_t i = starts ? unit_starts_from(starts, function->entry) : 0;
             starts && i < starts->count && starts->items[i].vaddr == function->entry &&
             !*found && !error;
             i++) {
                if (!die_open_unit(search->dwarf, starts->items[i].unit, &die, &entries))
                        continue;
                error = read_unit(search, &entries, &unit);
                *found =
                    !error && unit.addr != own && has_second(search, &unit, function);
        }
        return error;
}

/* ---- entries of other units that code is of: in programs optimised as a whole ---- */

static int visit_used(void *context, struct die_entry *entry, uint32_t parent,
                      uint32_t *value)
{
        struct folded *search = context;
        Dwarf_Die at = entry->die, origin;

        (void)parent;
        (void)value;
        if (entry->tag != DW_TAG_subprogram && entry->tag != DW_TAG_inlined_subroutine)
                return 1;
        for (int i = 0; i < 4 && at.cu == entry->die.cu; i++) {
                if (!die_reference(search->dwarf, &at, DW_AT_abstract_origin, &origin))
                        return 1;
                at = origin;
        }
        if (at.cu == entry->die.cu)
                return 1;
        if (array_reserve(&search->used, &search->used_capacity, search->used_count,
                          sizeof(*search->used)) < 0)
                return -ENOMEM;
        search->used[search->used_count++] = at.addr;
        return 1;
}

static int compare_entries(const void *left, const void *right)
{
        const void *const *a = left, *const *b = right;

        return (uintptr_t)*a < (uintptr_t)*b ? -1 : (uintptr_t)*a > (uintptr_t)*b;
}

/* Once for all functions. */
static int read_used(struct folded *search)
{
        Dwarf_Die die, entries;
        int error = 0;

        if (search->used_read)
                return 0;
        for (size_t i = 0; i < search->dwarf->unit_count && !error; i++)
                if (die_open_unit(search->dwarf, i, &die, &entries) &&
                    die_walk_code(search->dwarf, &entries, visit_used, search) == -ENOMEM)
                        error = -ENOMEM;
        if (!error && search->used_count > 1)
                qsort(search->used, search->used_count, sizeof(*search->used),
                      compare_entries);
        search->used_read = true;
        return error;
}

static bool is_used(const struct folded *search, const struct folded_definition *item)
{
        const void *key = item->die.addr;

        return search->used_count > 0 && bsearch(&key, search->used, search->used_count,
                                                 sizeof(*search->used), compare_entries);
}

/* Once for all functions: of those that are nowhere, what they take. */
static int read_lost(struct folded *search)
{
        Dwarf_Die die, entries;
        struct folded_unit unit;

        if (search->lost_read)
                return 0;
        int error = read_used(search);

        for (size_t i = 0; i < search->dwarf->unit_count && !error; i++)
                if (die_open_unit(search->dwarf, i, &die, &entries))
                        error = read_unit(search, &entries, &unit);
        for (size_t i = 0; i < search->count && !error; i++) {
                if (!search->items[i].codeless || is_used(search, &search->items[i]))
                        continue;
                if (array_reserve(&search->lost, &search->lost_capacity,
                                  search->lost_count, sizeof(*search->lost)) < 0)
                        return -ENOMEM;
                search->lost[search->lost_count++] =
                    signature_of(search->dwarf, &search->items[i].die);
        }
        search->lost_read = !error;
        return error;
}

/* Whether a function that takes and returns what WHOLE does is nowhere in a program
 * optimised as a whole, or may be. */
static bool has_lost(struct folded *search, const Dwarf_Die *whole)
{
        struct signature own = signature_of(search->dwarf, whole);

        search->looked_at += search->lost_count;
        for (size_t i = 0; i < search->lost_count; i++)
                if (signature_same(&own, &search->lost[i]))
                        return true;
        return search->looked_at > LOOKED_AT_LIMIT;
}

/* Whether UNIT, which FUNCTION is in, has a function without code that takes and returns
 * the same, or may: gcc has merged them before it made the copy that is left. */
static bool has_codeless(struct folded *search, const struct folded_unit *unit,
                         const struct function *function)
{
        Dwarf_Die whole = *function->die, origin;

        if (too_many(search, unit))
                return true;
        if (die_origin(search->dwarf, &whole, &origin))
                whole = origin;
        struct signature own = {0};

        for (size_t i = unit->first, known = 0; i < unit->end; i++) {
                if (!search->items[i].codeless || search->items[i].die.addr == whole.addr)
                        continue;
                if (known++ == 0)
                        own = signature_of(search->dwarf, &whole);
                struct signature other =
                    signature_of(search->dwarf, &search->items[i].die);

                if (signature_same(&own, &other))
                        return true;
        }
        return false;
}

/* ---- all ---- */

/* Whether SYMBOL may be OWN's by all that is known, which g++ gave no name for linking.
 */
static bool may_be_own(const struct folded_definition *own, const char *symbol)
{
        return !own->linkage && strncmp(symbol, "_Z", strlen("_Z")) == 0;
}

/* Whether A and B, symbols of what g++ gave no name for linking, are of two functions. */
static bool are_unlike(const char *a, const char *b)
{
        size_t length = strcspn(a, ".@");

        return (strcspn(b, ".@") != length || strncmp(a, b, length) != 0) &&
               !mangled_same_constructor(a, b);
}

/* Finds the symbols at FUNCTION's entry that are of others. */
static void look_at_symbols(struct folded *search, struct function *function)
{
        const struct symbol_table *symbols = search->symbols;
        struct folded_definition own = {.die = *function->die};

        for (size_t i = first_symbol(symbols, function->entry);
             i < symbols->count && symbols->symbols[i].vaddr == function->entry; i++) {
                const struct symbol *symbol = &symbols->symbols[i];

                if (!symbol->function || symbol->stub)
                        continue;
                function->unnamed = false;
                function->copied |= copied_name(symbol->name);
                bool unlinked = !is_symbol_of(search, symbol->name, &own);

                if (!unlinked || may_be_own(&own, symbol->name)) {
                        function->twins |=
                            function->own &&
                            (copied_names_differ(function->own, symbol->name) ||
                             (unlinked && are_unlike(function->own, symbol->name)));
                        function->own = symbol->name;
                } else if (function->other_count < OTHERS_LIMIT) {
                        function->others[function->other_count++] = symbol->name;
                }
        }
}

/* Whether UNIT defines what another of the symbols is of. */
static bool defines_other(struct folded *search, const struct folded_unit *unit,
                          const struct function *function)
{
        for (size_t i = 0; i < function->other_count; i++)
                if (defines(search, unit, function->others[i], function->entry))
                        return true;
        return false;
}

/* Nobody gives a function of Rust a second name. */
static bool is_of_rust(struct folded *search, Dwarf_Die *die)
{
        Dwarf_Die unit;
        uint64_t language;

        return dwarf_diecu(die, &unit, NULL, NULL) &&
               die_number(search->dwarf, &unit, DW_AT_language, &language) &&
               language == DW_LANG_Rust;
}

/* What the units say of FUNCTION. */
static int look_in_units(struct folded *search, const struct function *function,
                         bool *folded)
{
        bool may_be_copied = function->copied || function->unnamed;
        struct folded_unit unit;
        Dwarf_Die origin;
        int error = read_unit(search, function->die, &unit);

        if (error)
                return error;
        *folded = has_second(search, &unit, function) ||
                  defines_other(search, &unit, function) ||
                  (may_be_copied && has_codeless(search, &unit, function));
        if (!*folded && search->by_linker)
                error = look_in_others(search, unit.addr, function, folded);
        if (error || *folded || !(function->other_count > 0 || may_be_copied) ||
            !die_origin(search->dwarf, function->die, &origin) ||
            origin.cu == function->die->cu)
                return error;
        error = read_unit(search, &origin, &unit); /* of what was linked */
        *folded = !error && defines_other(search, &unit, function);
        if (error || *folded || !may_be_copied)
                return error;
        error = read_lost(search);
        *folded = !error && has_lost(search, &origin);
        return error;
}

int folded_function(struct folded *search, Dwarf_Die *die, bool *folded)
{
        struct function function = {.die = die, .unnamed = true};
        bool others;

        *folded = false;
        if (!find_entry(search, die, &function.entry))
                return 0;
        look_at_symbols(search, &function);
        others = function.other_count > 0;
        *folded =
            function.twins || (others && (search->by_linker || is_of_rust(search, die)));
        return *folded || !(search->by_linker || others || function.copied ||
                            function.unnamed)
                   ? 0
                   : look_in_units(search, &function, folded);
}

void folded_free(struct folded *search)
{
        free(search->items);
        free(search->units);
        free(search->used);
        free(search->lost);
        *search = (struct folded){0};
}
