/* SPDX-License-Identifier: MIT */
/* libiberty's demanglers: the ones of binutils, gdb and perf. They limit their
 * recursion, so hostile names are refused. Of Fortran they have none. */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
