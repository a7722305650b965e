/* SPDX-License-Identifier: MIT */
/* The list of all kernels. */
#include "kernel.h"

#include <stddef.h>
#include <string.h>

const struct kernel *const kernels[] = {
    &kernel_chase,
    &kernel_pairs,
    &kernel_tlb,
    &kernel_memread,
    &kernel_copy,
    &kernel_scale,
    &kernel_add,
    &kernel_triad,
    &kernel_load,
    &kernel_store,
    &kernel_nontemporal,
    &kernel_gather,
    &kernel_ddot,
    &kernel_dgemv,
    &kernel_dgemm,
    &kernel_false_sharing,
    &kernel_true_sharing,
    &kernel_branch,
    &kernel_icode,
    NULL,
};

const struct kernel *kernel_find(const char *name)
{
        for (size_t i = 0; kernels[i]; i++)
                if (strcmp(kernels[i]->name, name) == 0)
                        return kernels[i];
        return NULL;
}
