/* SPDX-License-Identifier: MIT */
/* Programs with an allocator in their own file. The dynamic linker prefers it to the
 * heap tracker; their blocks are not recorded. */
#ifndef MEMLAG_OWN_ALLOCATOR_H
#define MEMLAG_OWN_ALLOCATOR_H

#include <stdbool.h>

#include "db.h"

/* Enters into the ledger the number of recorded programs with an untracked allocator.
 * BY_NAME: the source tracks functions by name (simpmu/instrument/own_heap.c), but only
 * in the section .text. */
int own_allocators_tell(struct db *db, bool by_name, struct diag *diag);

#endif
