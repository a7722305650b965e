/* SPDX-License-Identifier: MIT */
/* The raw rows of a database in memory, without samples. Row ids become array indexes; an
 * invalid reference becomes RAW_NONE. */
#ifndef MEMLAG_SYMBOLIZE_RAW_H
#define MEMLAG_SYMBOLIZE_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db.h"
#include "module.h"

struct sqlite3_stmt;

#define RAW_NONE UINT32_MAX

enum raw_mapping_kind { RAW_FILE, RAW_ANON, RAW_HEAP, RAW_STACK, RAW_VDSO };

/* A period from start_ns to end_ns, both included. */
struct raw_period {
        int64_t start_ns;
        int64_t end_ns; /* INT64_MAX: to the end */
};

struct raw_process {
        int64_t pid;
        int64_t begun_s; /* it began no earlier, since 1970; INT64_MIN: not known */
        int64_t ended_s; /* it ended no later; INT64_MAX: not known */
};

struct raw_thread {
        uint32_t process;
        int64_t tid;
        uint64_t thread_pointer; /* 0: unknown */
};

struct raw_mapping {
        uint64_t start;
        uint64_t end; /* exclusive */
        uint64_t file_offset_bytes;
        struct raw_period period;
        uint32_t process;
        uint32_t module;
        uint32_t thread;
        enum raw_mapping_kind kind;
        bool writable;
        bool executable;
        bool kernel;
        bool in_image; /* a segment of a readable program or library, or the kernel */
        uint64_t bias; /* then: address minus the file's virtual address */
};

struct raw_stack {
        uint64_t ip;
        uint32_t parent; /* a smaller index, or RAW_NONE */
        uint32_t process;
        bool packed; /* only a pack contains it */
};

/* The code address of packed nodes: an instruction, or a byte of one. */
struct raw_code {
        uint64_t address;
        uint32_t process;
};

struct raw_allocation {
        uint64_t addr;
        uint64_t size_bytes;
        struct raw_period period;
        uint32_t process;
        uint32_t stack;
        bool region; /* the program mapped it itself, by mmap or mremap */
};

struct raw_total {
        uint32_t stack;
        bool region;
        uint64_t allocations;
        uint64_t total_bytes;
        uint64_t peak_bytes;
};

/* An address in a file with timer samples or sampled instructions. */
struct raw_clock {
        uint64_t file_offset_bytes;
        uint32_t module;
        bool executed; /* of instruction_sample, not of clock_sample */
};

struct raw {
        struct raw_process *processes;
        int64_t *process_ids;
        uint32_t *executables; /* of each process: the module; RAW_NONE: unknown */
        size_t process_count;
        struct raw_thread *threads;
        int64_t *thread_ids;
        size_t thread_count;
        struct module *modules;
        int64_t *module_ids;
        size_t module_count;
        struct raw_mapping *mappings;
        size_t mapping_count;
        struct raw_stack *stacks;
        int64_t *stack_ids;
        size_t stack_count;
        struct raw_code *codes; /* of all packed nodes, by process and address */
        size_t code_count;
        struct raw_allocation *allocations;
        size_t allocation_count;
        struct raw_total *totals; /* by stack */
        size_t total_count;
        int64_t *source_ids; /* of stores, and of samples without any access */
        bool *stores;        /* whether each is of stores */
        size_t source_count;
        struct raw_clock *clocks;
        int64_t *clock_ids;
        size_t clock_count;
};

/* Reads all rows. Packed nodes and allocation sites are read only if there are blocks
 * that use them. On error RAW is still to be freed. */
int raw_read(struct raw *raw, struct db *db, struct diag *diag);
/* The index of ID among COUNT ascending IDS; RAW_NONE: not there. */
uint32_t raw_index(int64_t id, const int64_t *ids, size_t count);
/* The code without a file that a symbol list names: none, the kernel's, or also its
 * modules'. */
enum raw_kallsyms { RAW_KALLSYMS_NONE, RAW_KALLSYMS_KERNEL, RAW_KALLSYMS_ALL };
/* Finds the biases of the mappings, after all modules are checked. */
void raw_find_biases(struct raw *raw, enum raw_kallsyms kallsyms);
/* The recorded address of the kernel's symbol _text. perf stores it as the file offset of
 * MAPPING. */
uint64_t raw_kernel_text(const struct raw_mapping *mapping);
void raw_free(struct raw *raw);

#endif
