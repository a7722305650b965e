/* SPDX-License-Identifier: MIT */
/* From addresses of a process at a time to places in files and blocks of memory,
 * by the mappings and blocks in force then. Names come later. */
#ifndef MEMLAG_SYMBOLIZE_SWEEP_H
#define MEMLAG_SYMBOLIZE_SWEEP_H

#include "raw.h"

#include "hash_index.h"

/* A distinct place in code. Without a module (RAW_NONE) the address is the
 * process's; in a module without segments to go by it is the file offset. */
struct place {
        struct code_place code;
        struct access access; /* of a place that samples with an address are at */
        struct access call;   /* of one that blocks were allocated through */
        uint32_t module;
        uint32_t
            process;   /* without a module, where something was mapped; else RAW_NONE */
        bool vdso;     /* the kernel's code in the process */
        bool mapped;   /* something was mapped there */
        bool in_image; /* code.vaddr is the file's virtual address */
};

enum target_kind {
        TARGET_NONE, /* the sample has no data address */
        TARGET_UNMAPPED,
        TARGET_BLOCK,    /* index: allocation */
        TARGET_STACK,    /* index: mapping */
        TARGET_VARIABLE, /* index: variable */
        TARGET_THREAD,   /* index: none; the thread's control block */
        TARGET_MAPPING   /* index: mapping */
};

/* What a sample's data address fell into. */
struct target {
        enum target_kind kind;
        uint32_t index;
        uint64_t offset_bytes; /* in it; not of a variable */
};

/* Data of a program or library that is loaded. */
struct variable {
        struct data_place data;
        uint32_t module;
};

/* A frame of the call stack that a sample's address lies in. */
struct frame {
        struct access access;
        uint32_t place; /* of its instruction, or its call of the next frame */
};

struct sweep {
        const struct raw *raw;
        struct place *places;
        size_t place_count;
        size_t place_capacity;
        struct hash_index place_index;
        struct variable *variables;
        size_t variable_count;
        size_t variable_capacity;
        uint32_t *sample_places; /* of raw's samples */
        struct target *targets;
        uint32_t *stack_places; /* of raw's stacks; RAW_NONE: of no process */
        /* Samples in frames of their own thread's stack. */
        struct frame *frames;
        size_t frame_count;
        uint32_t *sample_frames; /* of raw's samples; RAW_NONE: none */
};

/* Answers all samples and stacks of RAW, whose modules are checked. 0 or -ENOMEM;
 * on error SWEEP is still to be freed. */
int sweep_run(struct sweep *sweep, const struct raw *raw);
/* The variable that a sample on the stack fell into: by the frame that its
 * address is in, else by its instruction's operand. *PLACE is
 * the frame's code. NULL: not known. */
const struct flow_answer *sweep_frame_answer(const struct sweep *sweep, size_t sample,
                                             uint32_t *place);
void sweep_free(struct sweep *sweep);

#endif
