/* SPDX-License-Identifier: MIT */
/* The traces of a folded function: its symbol at the other's address; its entry without
 * an address, or with the other's. A second name from the source has no entry. A
 * compiler's copy of a folded function has no trace: any function without code may be the
 * other. */
#include "folded.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "demangle.h"
#include "die_walk.h"

/* Only a hostile file asks for more. */
enum { LOOKED_AT_LIMIT = 100000000 };

/* More names of one function are not looked at. */
enum { OTHERS_LIMIT = 16 };

struct unit_function {
        Dwarf_Die die;
        Dwarf_Addr vaddr; /* where it is entered, if it HAS_CODE */
        bool has_code;
        bool codeless; /* the compiler left no code, though it is not inline */
};

/* The symbols at the entry of the function that is asked for. */
struct entry_symbols {
        Dwarf_Addr entry;
        const struct symbol *first;       /* NULL: none is there */
        const char *others[OTHERS_LIMIT]; /* names of other functions */
        size_t other_count;
        bool copied; /* one names a compiler's copy */
        bool twins;  /* two are of functions that one file knows, and no copies */
};

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

/* ---- symbols ---- */

static bool names_copy(const char *symbol)
{
        return strstr(symbol, ".constprop.") || strstr(symbol, ".isra.") ||
               strstr(symbol, ".part.");
}

/* Whether SYMBOL names the function NAME, a copy or a version. */
static bool is_called(const char *symbol, const char *name)
{
        size_t length = name ? strcspn(name, ".@") : 0;

        return length > 0 && strncmp(symbol, name, length) == 0 &&
               (symbol[length] == '\0' || strchr(".@", symbol[length]));
}

/* Whether A and B are the names for linking of one constructor or destructor, which has
 * several (Itanium C++ ABI, 5.1.4.3): they differ by a digit that nobody reads. */
static bool same_constructor(const char *a, const char *b)
{
        size_t at = 0;

        while (a[at] && a[at] == b[at])
                at++;
        if (at == 0 || !strchr("CD", a[at - 1]) || !isdigit((unsigned char)a[at]) ||
            !isdigit((unsigned char)b[at]) || strcmp(a + at + 1, b + at + 1) != 0)
                return false;
        char *first = demangle_signature(a), *second = demangle_signature(b);
        bool same = first && second && strcmp(first, second) == 0;

        free(first);
        free(second);
        return same;
}

/* Whether A and B, at one address, are of one function: versions, or the name that gcc
 * gives to calls within a library ("init.localalias"). */
static bool are_one(const struct symbol *a, const struct symbol *b)
{
        return same_constructor(a->name, b->name) ||
               (is_called(a->name, b->name) &&
                (!a->local || !b->local || strstr(a->name, ".localalias") ||
                 strstr(b->name, ".localalias")));
}

static void look_at_symbols(const struct symbol_table *symbols, struct entry_symbols *at)
{
        size_t i = number_from(symbols->symbols, symbols->count,
                               sizeof(*symbols->symbols), at->entry);

        for (; i < symbols->count && symbols->symbols[i].vaddr == at->entry; i++) {
                const struct symbol *symbol = &symbols->symbols[i];

                if (!symbol->function || symbol->stub || symbol->name[0] == '.')
                        continue;
                at->copied |= names_copy(symbol->name);
                if (!at->first)
                        at->first = symbol;
                else if (are_one(at->first, symbol))
                        continue;
                else if (at->first->local && symbol->local)
                        at->twins = true;
                if (at->other_count < OTHERS_LIMIT)
                        at->others[at->other_count++] = symbol->name;
        }
}

/* ---- the functions of the unit ---- */

static int visit_origin(void *context, struct die_entry *entry, uint32_t parent,
                        uint32_t *value)
{
        struct unit_origins *origins = context;
        Dwarf_Die origin;

        (void)parent;
        (void)value;
        if ((entry->tag == DW_TAG_subprogram ||
             entry->tag == DW_TAG_inlined_subroutine) &&
            die_reference(origins->dwarf, &entry->die, DW_AT_abstract_origin, &origin) &&
            PUSH(origins, (uintptr_t)origin.addr) < 0)
                return -ENOMEM;
        return true;
}

static int read_origins(struct unit_origins *origins, Dwarf_Die *unit)
{
        if (origins->unit == unit->addr)
                return 0;
        origins->unit = unit->addr;
        origins->count = 0;
        if (die_walk(origins->dwarf, unit, visit_origin, origins) == -ENOMEM)
                return -ENOMEM;
        if (origins->count > 0)
                qsort(origins->items, origins->count, sizeof(*origins->items),
                      number_order);
        return 0;
}

static bool is_origin(const struct unit_origins *origins, const Dwarf_Die *die)
{
        const uint64_t address = (uintptr_t)die->addr;
        const size_t i =
            number_from(origins->items, origins->count, sizeof(*origins->items), address);

        return i < origins->count && origins->items[i] == address;
}

static bool has_attribute(struct dwarf_file *dwarf, Dwarf_Die *die, unsigned name)
{
        Dwarf_Attribute attribute;

        return die_attribute(dwarf, die, name, &attribute);
}

static bool find_entry(const struct unit_functions *functions, Dwarf_Die *function,
                       Dwarf_Addr *entry)
{
        return die_entry_address(functions->dwarf, function, entry) &&
               elf_file_has_code(functions->file, *entry);
}

static int add(struct unit_functions *functions, Dwarf_Die *die)
{
        struct dwarf_file *dwarf = functions->dwarf;
        struct unit_function function = {.die = *die};
        uint64_t value;

        if ((die_number(dwarf, die, DW_AT_inline, &value) &&
             value != DW_INL_not_inlined) ||
            has_attribute(dwarf, die, DW_AT_declaration))
                return 0;
        function.has_code = find_entry(functions, die, &function.vaddr);
        function.codeless = !function.has_code &&
                            !has_attribute(dwarf, die, DW_AT_low_pc) &&
                            !has_attribute(dwarf, die, DW_AT_ranges) &&
                            !has_attribute(dwarf, die, DW_AT_abstract_origin);
        return PUSH(functions, function);
}

static int visit(void *context, struct die_entry *entry, uint32_t parent, uint32_t *value)
{
        (void)parent;
        (void)value;
        if (entry->tag == DW_TAG_subprogram)
                return add(context, &entry->die);
        return entry->tag == DW_TAG_namespace || entry->tag == DW_TAG_module;
}

static int read_unit(struct unit_functions *functions, Dwarf_Die *unit)
{
        if (functions->unit == unit->addr)
                return 0;
        functions->unit = unit->addr;
        functions->count = 0;
        return die_walk(functions->dwarf, unit, visit, functions) == -ENOMEM ? -ENOMEM
                                                                             : 0;
}

static int count_parameter(void *context, struct die_entry *entry, uint32_t parent,
                           uint32_t *value)
{
        (void)parent;
        (void)value;
        *(size_t *)context += entry->tag == DW_TAG_formal_parameter;
        return 0;
}

static size_t parameter_count(struct dwarf_file *dwarf, const Dwarf_Die *function)
{
        size_t count = 0;

        die_walk(dwarf, function, count_parameter, &count);
        return count;
}

/* Whether ITEM is a second function at the entry that the symbols AT are of. */
static bool is_second(struct dwarf_file *dwarf, struct unit_function *item,
                      const char *name, const struct entry_symbols *at)
{
        const char *other;

        if (item->has_code && item->vaddr == at->entry) {
                other = die_name(dwarf, &item->die);
                return !name || !other || !same_constructor(name, other);
        }
        if (item->has_code || at->other_count < 2)
                return false;
        other = die_name(dwarf, &item->die);
        for (size_t i = 0; other && i < at->other_count; i++)
                if (is_called(at->others[i], other) ||
                    same_constructor(at->others[i], other))
                        return true;
        return false;
}

/* Whether the unit of FUNCTION, which is read, has a second one at its entry. COPIED: so
 * counts each function without code that has as many parameters. */
static bool has_second(struct folded *search, Dwarf_Die *function,
                       const struct entry_symbols *at, bool copied)
{
        struct unit_functions *functions = &search->functions;
        const char *name = die_name(functions->dwarf, function);
        Dwarf_Die whole = *function, origin;

        search->looked_at += functions->count;
        if (search->looked_at > LOOKED_AT_LIMIT)
                return true;
        if (die_origin(functions->dwarf, &whole, &origin))
                whole = origin;
        size_t parameters = copied ? parameter_count(functions->dwarf, &whole) : 0;

        for (size_t i = 0; i < functions->count; i++) {
                struct unit_function *item = &functions->items[i];

                if (item->die.addr == whole.addr || item->die.addr == function->addr)
                        continue;
                if (is_second(functions->dwarf, item, name, at) ||
                    (copied && item->codeless &&
                     !is_origin(&search->origins, &item->die) &&
                     parameter_count(functions->dwarf, &item->die) == parameters))
                        return true;
        }
        return false;
}

/* ---- the function that is asked for ---- */

/* gold drops the symbol of what it folds and only one file knows. */
static bool lost_symbol(const struct folded *search, const struct entry_symbols *at)
{
        return (!at->first || at->first->local) &&
               elf_section_named(search->functions.file->elf, ".note.gnu.gold-version");
}

/* Nobody gives a function of Rust a second name. */
static bool is_of_rust(struct dwarf_file *dwarf, Dwarf_Die *unit)
{
        uint64_t language;

        return die_number(dwarf, unit, DW_AT_language, &language) &&
               language == DW_LANG_Rust;
}

/* A program optimised as a whole has FUNCTION's code in another *UNIT than its source:
 * stores the unit of the source then. Functions with code in further units count as
 * functions without code. 0 or -ENOMEM. */
static int find_source(struct folded *search, Dwarf_Die *function, Dwarf_Die *unit)
{
        struct dwarf_file *dwarf = search->functions.dwarf;
        Dwarf_Die origin, source;

        if (!die_reference(dwarf, function, DW_AT_abstract_origin, &origin) ||
            origin.cu == function->cu || !dwarf_diecu(&origin, &source, NULL, NULL) ||
            dwarf_tag(&source) != DW_TAG_compile_unit)
                return 0;
        int error = read_origins(&search->origins, unit);

        *unit = source;
        return error;
}

int folded_function(struct folded *search, Dwarf_Die *die, bool *folded)
{
        struct dwarf_file *dwarf = search->functions.dwarf;
        struct entry_symbols at = {0};
        Dwarf_Die unit;

        *folded = false;
        if (!find_entry(&search->functions, die, &at.entry) ||
            !dwarf_diecu(die, &unit, NULL, NULL))
                return 0;
        look_at_symbols(search->symbols, &at);
        bool others = at.other_count > 1, copied = at.copied || !at.first;

        *folded = at.twins ||
                  (search->by_linker && (others || lost_symbol(search, &at))) ||
                  (others && is_of_rust(dwarf, &unit));
        if (*folded || !(search->by_linker || others || copied))
                return 0;
        Dwarf_Die source = unit;
        int error = others || copied ? find_source(search, die, &source) : 0;

        *folded = others && source.addr != unit.addr;
        if (error || *folded)
                return error;
        error = read_unit(&search->functions, &source);
        *folded = !error && has_second(search, die, &at, copied);
        return error;
}

void folded_free(struct folded *search)
{
        free(search->functions.items);
        free(search->origins.items);
}
