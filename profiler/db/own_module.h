/* SPDX-License-Identifier: MIT */
/* Which modules are not the program's: memlag and its engine put them into it. */
#ifndef MEMLAG_OWN_MODULE_H
#define MEMLAG_OWN_MODULE_H

/* Condition on a module's path. */
#define MEMLAG_MODULE_SQL                                                                \
        "(path GLOB '*/vgpreload_memlag-*.so' OR path GLOB '*/vgpreload_core-*.so'"      \
        " OR path GLOB '*/valgrind/memlag-*-linux')"

#endif
