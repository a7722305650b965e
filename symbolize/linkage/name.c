/* SPDX-License-Identifier: MIT */
/* Linkage names to readable ones. */
#include "name.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t name_put_linkage(struct string_pool *names, const char *linkage_name)
{
        char *readable = demangle(linkage_name);
        uint32_t id = string_pool_put(names, readable ? readable : linkage_name);

        free(readable);
        return id;
}

const struct linked_name *linked_names_find(const struct linked_names *known,
                                            const void *from)
{
        uint32_t position = HASH_NUMBER(known, (uintptr_t)from);

        return position != HASH_INDEX_NONE ? &known->items[position] : NULL;
}

void linked_names_add(struct linked_names *known, const struct linked_name *name)
{
        (void)HASH_PUSH(known, hash_number(0, (uintptr_t)name->from), *name);
}

uint32_t linked_names_put(struct linked_names *known, struct string_pool *names,
                          const char *linkage_name)
{
        const struct linked_name *found = linked_names_find(known, linkage_name);

        if (found)
                return found->id;
        uint32_t id = name_put_linkage(names, linkage_name);

        linked_names_add(known, &(struct linked_name){.from = linkage_name, .id = id});
        return id;
}

/* The part of SYMBOL before the first character of END. */
static uint32_t put_up_to(struct string_pool *names, const char *symbol, const char *end)
{
        char *name = strndup(symbol, strcspn(symbol, end));
        uint32_t id = name && *name ? name_put_linkage(names, name) : 0;

        free(name);
        return id;
}

uint32_t name_put_symbol(struct string_pool *names, const char *symbol)
{
        return put_up_to(names, symbol, "@");
}

uint32_t name_put_stub(struct string_pool *names, const char *function)
{
        char *readable = demangle(function);
        uint32_t id = string_pool_format(names, "%s@plt", readable ? readable : function);

        free(readable);
        return id;
}

/* Whether TEXT is a suffix that gcc or clang put behind a point for a copy or a part of a
 * function. */
static bool tells_copy(const char *text)
{
        static const char *const words[] = {"constprop", "isra",     "part",
                                            "cold",      "lto_priv", "llvm"};

        if (*text >= '0' && *text <= '9')
                return true;
        for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
                if (strncmp(text, words[i], strlen(words[i])) == 0)
                        return true;
        return false;
}

/* Whether the LENGTH bytes at SYMBOL end with gcc's suffix for the part of a function
 * that OpenMP runs in threads. A number behind it distinguishes the parts. */
static bool names_part(const char *symbol, size_t length)
{
        static const char part[] = "._omp_fn";

        return length >= strlen(part) &&
               memcmp(symbol + length - strlen(part), part, strlen(part)) == 0;
}

size_t name_length(const char *symbol)
{
        size_t length = strcspn(symbol, ".@");

        while (symbol[length] == '.' &&
               (!tells_copy(symbol + length + 1) || names_part(symbol, length)))
                length += 1 + strcspn(symbol + length + 1, ".@");
        return length;
}

char *name_read(const char *symbol, char *(*read)(const char *))
{
        char *name = strndup(symbol, name_length(symbol));
        char *text = name ? read(name) : NULL;

        free(name);
        return text;
}

bool name_mangled(const char *symbol)
{
        return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');
}

bool name_of_thunk(const char *symbol)
{
        return strncmp(symbol, "_ZTh", 4) == 0 || strncmp(symbol, "_ZTv", 4) == 0 ||
               strncmp(symbol, "_ZTc", 4) == 0;
}

uint32_t name_put_part(struct string_pool *names, const char *symbol)
{
        return put_up_to(names, symbol, "@.");
}

/* ---- readable forms ---- */

/* Uses libiberty's demanglers, as binutils, gdb and perf do. They limit their recursion,
 * so hostile names are refused. There is none for Fortran. */

/* Older Rust names look like C++ names that end in a hash with its length. This test
 * is cheaper than a trial: most names are C++ names. */
static bool may_be_rust(const char *name)
{
        return name[1] == 'R' || strstr(name, "17h");
}

/* Whether the LENGTH bytes at TEXT are a gfortran name, in lower case. It may have
 * gcc's suffix for copies of a function, and the module around a submodule. */
static bool is_fortran_name(const char *text, size_t length)
{
        static const char characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_$.";

        return length > 0 && text[0] >= 'a' && text[0] <= 'z' &&
               strspn(text, characters) >= length;
}

/* gfortran's "__module_MOD_name" is module::name. Internal names, "__vtab_module_Type"
 * for instance, begin with underscores and hold type names with a capital letter. */
static char *fortran_name(const char *name)
{
        static const char between[] = "_MOD_", own[] = "__";
        const char *module = name + 2, *end = strstr(module, between);
        char *readable = NULL;

        if (!end || !is_fortran_name(module, (size_t)(end - module)))
                return NULL;
        const char *member = end + strlen(between);

        if ((strncmp(member, own, strlen(own)) != 0 &&
             !is_fortran_name(member, strlen(member))) ||
            asprintf(&readable, "%.*s::%s", (int)(end - module), module, member) < 0)
                return NULL;
        return readable;
}

static char *readable_form(const char *name, int options)
{
        if (name[0] == '_' && name[1] == '_')
                return fortran_name(name);
        if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
                return NULL;
        char *readable = may_be_rust(name) ? rust_demangle(name, DMGL_NO_OPTS) : NULL;

        return readable ? readable : cplus_demangle_v3(name, options);
}

char *demangle(const char *name)
{
        return readable_form(name, DMGL_NO_OPTS);
}

char *demangle_signature(const char *name)
{
        return readable_form(name, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
}
