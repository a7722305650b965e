/* SPDX-License-Identifier: MIT */
/* Programs that bring an allocator in their own file: the dynamic linker then gives it to
 * everybody in place of the heap tracker, and their blocks are not seen. */
#ifndef MEMLAG_OWN_ALLOCATOR_H
#define MEMLAG_OWN_ALLOCATOR_H

#include <stdbool.h>

#include "db.h"

/* Puts into the ledger how many programs among the recorded processes have such an
 * allocator that was not followed. BY_NAME: the source follows functions by their names
 * (simpmu/own_heap.c), which it knows of the section .text alone. */
int own_allocators_tell(struct db *db, bool by_name, struct diag *diag);

#endif
