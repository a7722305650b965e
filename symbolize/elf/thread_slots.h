/* SPDX-License-Identifier: MIT */
/* Words in a library's data that the dynamic linker fills in: each gives the library's
 * code the position of a thread-local variable (ELF handling for thread-local storage,
 * section 4). */
#ifndef MEMLAG_SYMBOLIZE_THREAD_SLOTS_H
#define MEMLAG_SYMBOLIZE_THREAD_SLOTS_H

#include "relocations.h"

enum thread_slot_kind {
        THREAD_SLOT_OFFSET, /* from the thread pointer */
        THREAD_SLOT_PAIR,   /* the argument of __tls_get_addr */
        /* The function that returns the offset, and its argument ("Thread-Local
         * Storage Descriptors for IA32 and AMD64/EM64T", Oliva, 2005). */
        THREAD_SLOT_DESCRIPTOR
};

struct thread_slot {
        uint64_t vaddr;
        uint64_t offset; /* of the variable in the file's thread-local memory */
        enum thread_slot_kind kind;
};

struct thread_slots {
        LIST(struct thread_slot); /* by vaddr */
        /* Whether any code asks the dynamic linker for the address of a variable. Only
         * then a call may allocate thread-local memory. */
        bool asked_for;
        /* Whether code adds offsets of other files' variables to the thread pointer. */
        bool of_others;
};

/* Whether the file's code has the offsets of all thread-local variables as constants. */
static inline bool thread_slots_none(const struct thread_slots *slots)
{
        return slots->count == 0 && !slots->of_others;
}

/* Finds the slots of FILE's own variables among its RELOCATIONS. 0 or -ENOMEM; freed in
 * any case. */
int thread_slots_read(struct thread_slots *slots, const struct elf_file *file,
                      const struct relocations *relocations);
void thread_slots_free(struct thread_slots *slots);

/* The slot of KIND at VADDR, or NULL. */
const struct thread_slot *thread_slots_find(const struct thread_slots *slots,
                                            uint64_t vaddr, enum thread_slot_kind kind);

#endif
