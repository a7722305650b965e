/* SPDX-License-Identifier: MIT */
/* The kernel's own list of its symbols, /proc/kallsyms or a copy of another machine's:
 * one line a symbol, with its address while that kernel ran. */
#ifndef MEMLAG_SYMBOLIZE_KALLSYMS_H
#define MEMLAG_SYMBOLIZE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "string_pool.h"

struct kallsyms_symbol {
        uint64_t addr;
        uint32_t name; /* in the string pool */
        uint32_t line; /* in the list */
};

struct kallsyms {
        struct kallsyms_symbol *symbols; /* of code, by address */
        size_t count;
        size_t capacity;
};

/* Reads PATH. -EINVAL when it is not such a list, or hides the addresses. */
int kallsyms_read(struct kallsyms *kallsyms, const char *path, struct string_pool *names,
                  struct diag *diag);
void kallsyms_free(struct kallsyms *kallsyms);

/* The name of the function at ADDR, 0 when there is none. */
uint32_t kallsyms_find(const struct kallsyms *kallsyms, uint64_t addr);

/* Whether the list calls the code at ADDR NAME. */
bool kallsyms_has(const struct kallsyms *kallsyms, const struct string_pool *names,
                  uint64_t addr, const char *name);

/* The list of the kernel that runs here. */
extern const char kallsyms_running[];
/* Whether that kernel has this build-id. */
bool kallsyms_runs(const uint8_t *build_id, size_t build_id_bytes);

#endif
