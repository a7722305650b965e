/* SPDX-License-Identifier: MIT */
/* The traces of a folded function: its symbol at the other's address; its entry without
 * an address, with the address of no code, or with the other's. A second name from the
 * source has no entry. */
#include "folded.h"

#include <stdbool.h>
#include <string.h>

#include "array.h"
#include "mangled_name.h"
#include "signature.h"

/* Only a hostile file asks for more. */
enum { LOOKED_AT_LIMIT = 100000000 };

/* More names of one function are not looked at. */
enum { OTHERS_LIMIT = 16 };

/* The function that is asked for. */
struct function {
        Dwarf_Die *die;
        Dwarf_Addr entry;
        const char *others[OTHERS_LIMIT]; /* symbols of other functions there */
        size_t other_count;
        bool unnamed;    /* no symbol is there */
        bool copied;     /* a symbol there names a compiler's copy */
        const char *own; /* the function's symbol there; NULL: none */
        bool twins; /* another symbol is a function of the same name in another file */
};

/* ---- suffixes of copied functions' names ---- */

/* Whether SYMBOL names a copy. */
static bool copied_name(const char *symbol)
{
        return strstr(symbol, ".constprop.") || strstr(symbol, ".isra.") ||
               strstr(symbol, ".part.");
}

static bool is_number(const char *text, size_t length)
{
        return length > 0 && strspn(text, "0123456789") >= length;
}

/* The part of SYMBOL that a linker or compiler tells functions of one name in several
 * files by, which it may end with; and how many characters it has. */
static size_t file_part(const char *symbol, const char **part)
{
        static const char *const words[] = {".lto_priv", ".llvm"};
        const char *at = symbol + strcspn(symbol, ".@");

        *part = at;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (strncmp(at, words[i], strlen(words[i])) == 0)
                        at += strlen(words[i]);
        size_t digits = *at == '.' ? strcspn(at + 1, ".@") : 0;

        return *at == '.' && is_number(at + 1, digits) ? (size_t)(at - *part) + 1 + digits
                                                       : 0;
}

/* Whether A and B, names of one function but for that, are of two files. */
static bool copied_names_differ(const char *a, const char *b)
{
        const char *part_a, *part_b;
        size_t length = file_part(a, &part_a);

        return file_part(b, &part_b) != length || strncmp(part_a, part_b, length) != 0;
}

/* ---- symbols ---- */

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

/* Whether so many more items may not be looked at. */
static bool too_many(struct folded *search, const struct unit_range *unit)
{
        search->looked_at += unit->end - unit->first;
        return search->looked_at > LOOKED_AT_LIMIT;
}

/* Whether UNIT defines a function with the name SYMBOL, and no code except at ENTRY. Also
 * true if there are too many functions to know. */
static bool defines(struct folded *search, const struct unit_range *unit,
                    const char *symbol, Dwarf_Addr entry)
{
        if (too_many(search, unit))
                return true;
        for (size_t i = unit->first; i < unit->end; i++) {
                struct unit_function *item = &search->functions.items[i];

                if ((!item->has_code || item->vaddr == entry) &&
                    unit_function_is_called(search->functions.dwarf, item, symbol))
                        return true;
        }
        return false;
}

/* Whether A and B, in two units, are two functions with one name: each is local to its
 * file, and no common header has it. */
static bool are_two(struct folded *search, Dwarf_Die *a, Dwarf_Die *b)
{
        Dwarf_Attribute attribute;
        uint64_t line_a = 0, line_b = 0;

        die_number(search->functions.dwarf, a, DW_AT_decl_line, &line_a);
        die_number(search->functions.dwarf, b, DW_AT_decl_line, &line_b);
        return line_a != line_b &&
               !die_attribute(search->functions.dwarf, b, DW_AT_external, &attribute) &&
               !die_attribute(search->functions.dwarf, b, DW_AT_specification,
                              &attribute) &&
               !die_attribute(search->functions.dwarf, b, DW_AT_abstract_origin,
                              &attribute);
}

/* Whether UNIT has a second function at FUNCTION's entry, or may. */
static bool has_second(struct folded *search, const struct unit_range *unit,
                       const struct function *function)
{
        const char *name = die_name(search->functions.dwarf, function->die);

        if (too_many(search, unit))
                return true;
        for (size_t i = unit->first; i < unit->end && name; i++) {
                struct unit_function *item = &search->functions.items[i];

                if (!item->has_code || item->vaddr != function->entry)
                        continue;
                const char *other = die_name(search->functions.dwarf, &item->die);

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
        struct unit_range unit;
        Dwarf_Die die, entries;
        int error = 0;

        for (size_t i = starts ? unit_starts_from(starts, function->entry) : 0;
             starts && i < starts->count && starts->items[i].vaddr == function->entry &&
             !*found && !error;
             i++) {
                if (!die_open_unit(search->functions.dwarf, starts->items[i].unit, &die,
                                   &entries))
                        continue;
                error = unit_functions_read(&search->functions, &entries, &unit);
                *found =
                    !error && unit.addr != own && has_second(search, &unit, function);
        }
        return error;
}

/* Whether a function that takes and returns what WHOLE does is nowhere in a program
 * optimised as a whole, or may be. */
static int look_in_lost(struct folded *search, const Dwarf_Die *whole, bool *found)
{
        int error = lost_functions_read(&search->lost, &search->functions);
        struct signature own = signature_of(search->functions.dwarf, whole);

        search->looked_at += search->lost.count;
        *found = !error && (search->looked_at > LOOKED_AT_LIMIT ||
                            lost_functions_have(&search->lost, &own));
        return error;
}

/* Whether UNIT, which FUNCTION is in, has a function without code that takes and returns
 * the same, or may: gcc has merged them before it made the copy that is left. */
static bool has_codeless(struct folded *search, const struct unit_range *unit,
                         const struct function *function)
{
        Dwarf_Die whole = *function->die, origin;

        if (too_many(search, unit))
                return true;
        if (die_origin(search->functions.dwarf, &whole, &origin))
                whole = origin;
        struct signature own = {0};

        for (size_t i = unit->first, known = 0; i < unit->end; i++) {
                if (!search->functions.items[i].codeless ||
                    search->functions.items[i].die.addr == whole.addr)
                        continue;
                if (known++ == 0)
                        own = signature_of(search->functions.dwarf, &whole);
                struct signature other = signature_of(search->functions.dwarf,
                                                      &search->functions.items[i].die);

                if (signature_same(&own, &other))
                        return true;
        }
        return false;
}

/* ---- the function that is asked for ---- */

/* Whether SYMBOL may be OWN's by all that is known, which g++ gave no name for linking.
 */
static bool may_be_own(const struct unit_function *own, const char *symbol)
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
        struct unit_function own = {.die = *function->die};

        for (size_t i = first_symbol(symbols, function->entry);
             i < symbols->count && symbols->symbols[i].vaddr == function->entry; i++) {
                const struct symbol *symbol = &symbols->symbols[i];

                if (!symbol->function || symbol->stub)
                        continue;
                function->unnamed = false;
                function->copied |= copied_name(symbol->name);
                bool unlinked =
                    !unit_function_is_called(search->functions.dwarf, &own, symbol->name);

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
static bool defines_other(struct folded *search, const struct unit_range *unit,
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
               die_number(search->functions.dwarf, &unit, DW_AT_language, &language) &&
               language == DW_LANG_Rust;
}

/* Searches the units for functions with FUNCTION's code. */
static int look_in_units(struct folded *search, const struct function *function,
                         bool *folded)
{
        bool may_be_copied = function->copied || function->unnamed;
        struct unit_range unit;
        Dwarf_Die origin;
        int error = unit_functions_read(&search->functions, function->die, &unit);

        if (error)
                return error;
        *folded = has_second(search, &unit, function) ||
                  defines_other(search, &unit, function) ||
                  (may_be_copied && has_codeless(search, &unit, function));
        if (!*folded && search->by_linker)
                error = look_in_others(search, unit.addr, function, folded);
        if (error || *folded || !(function->other_count > 0 || may_be_copied) ||
            !die_origin(search->functions.dwarf, function->die, &origin) ||
            origin.cu == function->die->cu)
                return error;
        /* The unit it was in before programs were optimised as a whole. */
        error = unit_functions_read(&search->functions, &origin, &unit);
        *folded = !error && defines_other(search, &unit, function);
        if (error || *folded || !may_be_copied)
                return error;
        return look_in_lost(search, &origin, folded);
}

int folded_function(struct folded *search, Dwarf_Die *die, bool *folded)
{
        struct function function = {.die = die, .unnamed = true};
        bool others;

        *folded = false;
        if (!unit_functions_entry(&search->functions, die, &function.entry))
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
        unit_functions_free(&search->functions);
        lost_functions_free(&search->lost);
}
