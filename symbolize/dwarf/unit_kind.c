/* SPDX-License-Identifier: MIT */
#include "unit_kind.h"

#include <string.h>

/* Languages that not every libdw names. */
enum {
        LANG_C_PLUS_PLUS_17 = 0x2a,
        LANG_C_PLUS_PLUS_20 = 0x2b,
        LANG_C_PLUS_PLUS_23 = 0x3a,
};

/* "GNU C17 12.2.0 ..."; code optimised as a whole program has "GNU GIMPLE". */
static bool is_gcc(const char *producer)
{
        return strncmp(producer, "GNU ", 4) == 0 && strncmp(producer, "GNU AS", 6) != 0;
}

bool unit_is_cplusplus(struct dwarf_file *dwarf, Dwarf_Die *entries)
{
        uint64_t language;

        if (!die_number(dwarf, entries, DW_AT_language, &language))
                return false;
        switch (language) {
        case DW_LANG_C_plus_plus:
        case DW_LANG_C_plus_plus_03:
        case DW_LANG_C_plus_plus_11:
        case DW_LANG_C_plus_plus_14:
        case LANG_C_PLUS_PLUS_17:
        case LANG_C_PLUS_PLUS_20:
        case LANG_C_PLUS_PLUS_23:
        case DW_LANG_ObjC_plus_plus:
                return true;
        default:
                return false;
        }
}

static bool is_c(uint64_t language)
{
        return language == DW_LANG_C89 || language == DW_LANG_C ||
               language == DW_LANG_C99 || language == DW_LANG_C11;
}

bool unit_classes_declare(struct dwarf_file *dwarf, Dwarf_Die *entries)
{
        const char *producer = die_string(dwarf, entries, DW_AT_producer);
        uint64_t language;

        return producer && (is_gcc(producer) || strstr(producer, "clang version")) &&
               die_number(dwarf, entries, DW_AT_language, &language) &&
               (is_c(language) || unit_is_cplusplus(dwarf, entries));
}

/* The compiler of the unit that contains FUNCTION; NULL: not known. */
static const char *producer_of(struct dwarf_file *dwarf, Dwarf_Die *function)
{
        Dwarf_Die unit;

        return dwarf_diecu(function, &unit, NULL, NULL)
                   ? die_string(dwarf, &unit, DW_AT_producer)
                   : NULL;
}

bool function_is_of_gcc(struct dwarf_file *dwarf, Dwarf_Die *function)
{
        const char *producer = producer_of(dwarf, function);

        return producer && is_gcc(producer);
}

bool function_in_rows(struct dwarf_file *dwarf, Dwarf_Die *function)
{
        static const char *const vectors[] = {"-O3", "-Ofast", "-ftree-vectorize",
                                              "-ftree-loop-vectorize",
                                              "-ftree-slp-vectorize"};
        const char *producer = producer_of(dwarf, function);

        if (!producer || !is_gcc(producer))
                return false;
        for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
                if (strstr(producer, vectors[i]))
                        return false;
        return true;
}
