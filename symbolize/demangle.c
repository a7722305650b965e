/* SPDX-License-Identifier: MIT */
/* libiberty's demanglers: the ones of binutils, gdb and perf. They limit their
 * recursion, so hostile names are refused. */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <string.h>

char *demangle(const char *name)
{
        if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
                return NULL;
        /* Older Rust names look like C++ with a hash at the end. */
        char *readable = rust_demangle(name, DMGL_NO_OPTS);

        return readable ? readable : cplus_demangle_v3(name, DMGL_NO_OPTS);
}
