/* SPDX-License-Identifier: MIT */
/* Programs that bring an allocator in their own file: the dynamic linker then gives it to
 * everybody in place of the heap tracker, and their blocks are not seen. */
#ifndef MEMLAG_OWN_ALLOCATOR_H
#define MEMLAG_OWN_ALLOCATOR_H

#include <stdbool.h>

#include "db.h"

/* Enters into the ledger the number of recorded programs with an untracked allocator.
 * BY_NAME: the source tracks functions by name (simpmu/own_heap.c), but only in the
 * section .text. */
int own_allocators_tell(struct db *db, bool by_name, struct diag *diag);

#endif
