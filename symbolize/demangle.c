/* SPDX-License-Identifier: MIT */
/* libiberty's demanglers: the ones of binutils, gdb and perf. They limit their
 * recursion, so hostile names are refused. Of Fortran they have none. */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Older Rust names look like C++ with a hash at the end, before which stands how long it
 * is. To see first whether there can be one takes less than to try: most names are of
 * C++. */
static bool may_be_rust(const char *name)
{
        return name[1] == 'R' || strstr(name, "17h");
}

/* gfortran's "__module_MOD_name" is module::name. */
static char *fortran_name(const char *name)
{
        static const char between[] = "_MOD_";
        const char *end = strstr(name + 2, between);
        char *readable = NULL;

        if (!end || end == name + 2 || end[strlen(between)] == '\0' ||
            asprintf(&readable, "%.*s::%s", (int)(end - name - 2), name + 2,
                     end + strlen(between)) < 0)
                return NULL;
        return readable;
}

char *demangle(const char *name)
{
        if (name[0] == '_' && name[1] == '_')
                return fortran_name(name);
        if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
                return NULL;
        char *readable = may_be_rust(name) ? rust_demangle(name, DMGL_NO_OPTS) : NULL;

        return readable ? readable : cplus_demangle_v3(name, DMGL_NO_OPTS);
}
