/* SPDX-License-Identifier: MIT */
#include "folded.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "demangle.h"

/* Whether SYMBOL names the function NAME, a copy or a version. */
static bool is_called(const char *symbol, const char *name)
{
        size_t length = strcspn(name, ".@");

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

/* Whether RESERVED is a library's second name for its function NAME: "__libc_free". */
static bool reserves(const char *reserved, const char *name)
{
        size_t length = strlen(reserved), end = strlen(name);

        return strncmp(reserved, "__", strlen("__")) == 0 && length > end &&
               reserved[length - end - 1] == '_' &&
               strcmp(reserved + length - end, name) == 0;
}

/* Whether A and B, at one address, are of one function: versions, or the name that gcc
 * gives to calls within a library ("init.localalias"). */
static bool are_one(const struct symbol *a, const struct symbol *b)
{
        return same_constructor(a->name, b->name) || reserves(a->name, b->name) ||
               reserves(b->name, a->name) ||
               (is_called(a->name, b->name) &&
                (!a->local || !b->local || strstr(a->name, ".localalias") ||
                 strstr(b->name, ".localalias")));
}

bool folded_function(const struct elf_file *file, const struct symbol_table *symbols,
                     uint64_t entry)
{
        const struct symbol *first = NULL;
        size_t i = number_from(symbols->symbols, symbols->count,
                               sizeof(*symbols->symbols), entry);

        for (; i < symbols->count && symbols->symbols[i].vaddr == entry; i++) {
                const struct symbol *symbol = &symbols->symbols[i];

                if (!symbol->function || symbol->stub || symbol->name[0] == '.')
                        continue;
                if (!first)
                        first = symbol;
                else if (!are_one(first, symbol))
                        return true;
        }
        /* gold drops the symbol of what it folds and only one file knows. */
        return (!first || first->local) &&
               elf_section_named(file->elf, ".note.gnu.gold-version");
}
