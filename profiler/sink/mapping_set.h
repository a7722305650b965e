/* SPDX-License-Identifier: MIT */
/* The mappings of one process image at one moment. A new mapping replaces overlapping
 * parts of others; a partial unmapping leaves the rest. Uses memory only; its caller
 * receives every piece that ends or begins, and writes the rows. */
#ifndef MEMLAG_MAPPING_SET_H
#define MEMLAG_MAPPING_SET_H

#include <stddef.h>
#include <stdint.h>

struct mapped {
        uint64_t start_addr;
        uint64_t length_bytes; /* the end does not wrap */
        uint64_t file_offset_bytes;
        int64_t module_id; /* 0: none */
        int64_t mapping_id;
        int kind; /* enum mapping_kind of db.h */
        uint32_t stack_tid;
        char protection[4];
};

struct mapping_set {
        struct mapped *items; /* by address, without overlap */
        size_t count;
        size_t capacity;
};

/* Each function returns 0 or a negative value, which ends the change and is passed on. */
struct mapping_listener {
        int (*ended)(void *context, const struct mapped *piece);
        int (*begun)(void *context, struct mapped *piece); /* sets piece->mapping_id */
        void *context;
};

void mapping_set_free(struct mapping_set *set);

/* Makes TO, which is empty, a copy of FROM, without rows (mapping_id 0). -ENOMEM. */
int mapping_set_copy(struct mapping_set *to, const struct mapping_set *from);

/* Adds PIECE. An identical mapping changes nothing: a heap that is reported again at
 * each growth has one row per growth.
 *
 * -ENOMEM, or -EINVAL for an empty piece or a piece that wraps. */
int mapping_set_add(struct mapping_set *set, const struct mapped *piece,
                    const struct mapping_listener *listener);

/* Unmaps a range (clipped to the address space). -ENOMEM. */
int mapping_set_remove(struct mapping_set *set, uint64_t start_addr,
                       uint64_t length_bytes, const struct mapping_listener *listener);

/* The mapping that contains ADDR, or NULL; valid until the set changes. */
const struct mapped *mapping_set_find(const struct mapping_set *set, uint64_t addr);

#endif
