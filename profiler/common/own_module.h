/* SPDX-License-Identifier: MIT */
/* Which modules are not the program's: memlag and its engine put them into it. */
#ifndef MEMLAG_OWN_MODULE_H
#define MEMLAG_OWN_MODULE_H

/* Patterns of their paths. */
#define MEMLAG_MODULE_PRELOADED "*/vgpreload_memlag-*.so"
#define MEMLAG_MODULE_CORE      "*/vgpreload_core-*.so"
#define MEMLAG_MODULE_TOOL      "*/valgrind/memlag-*-linux"

/* Condition on a module's path. */
#define MEMLAG_MODULE_SQL                                                                \
        "(path GLOB '" MEMLAG_MODULE_PRELOADED "' OR path GLOB '" MEMLAG_MODULE_CORE     \
        "' OR path GLOB '" MEMLAG_MODULE_TOOL "')"

#endif
