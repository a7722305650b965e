/* SPDX-License-Identifier: MIT */
/* Function by function: each one's flow is made once for all its places. */
#include "access.h"

#include <errno.h>
#include <stdlib.h>

#include "globals.h"

static int compare_accesses(const void *left, const void *right)
{
        const struct access *a = *(struct access *const *)left;
        const struct access *b = *(struct access *const *)right;
        uintptr_t x = (uintptr_t)a->code->function_die.addr;
        uintptr_t y = (uintptr_t)b->code->function_die.addr;

        if (x != y)
                return x < y ? -1 : 1;
        return a->code->vaddr < b->code->vaddr ? -1 : a->code->vaddr > b->code->vaddr;
}

static uint32_t global_type(void *context, uint64_t vaddr, uint64_t *offset_bytes)
{
        return globals_type(context, vaddr, offset_bytes);
}

static int find_in_function(struct type_reader *reader, const struct elf_file *file,
                            struct globals *globals, struct access **accesses,
                            size_t count)
{
        Dwarf_Die function = accesses[0]->code->function_die;
        const struct flow_input input = {reader, file, &function, global_type, globals};
        struct flow_answer *answers = calloc(count, sizeof(*answers));

        if (!answers)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                answers[i] = (struct flow_answer){.vaddr = accesses[i]->code->vaddr,
                                                  .question = accesses[i]->question,
                                                  .cfa_offset_bytes =
                                                      accesses[i]->cfa_offset_bytes};
        int error = globals_of_unit(globals, &function);

        if (!error)
                error = flow_function(&input, answers, count);
        for (size_t i = 0; i < count && !error; i++) {
                accesses[i]->flow = answers[i];
                accesses[i]->asked = true;
        }
        free(answers);
        return error;
}

int access_find(struct type_reader *reader, const struct elf_file *file,
                const struct symbol_table *symbols, struct access **accesses,
                size_t count)
{
        struct globals globals = {.reader = reader, .symbols = symbols};
        int error = 0;

        if (count > 1)
                qsort(accesses, count, sizeof(*accesses), compare_accesses);
        for (size_t i = 0, end; i < count && !error; i = end) {
                const void *function = accesses[i]->code->function_die.addr;

                for (end = i + 1;
                     end < count && accesses[end]->code->function_die.addr == function;)
                        end++;
                if (function)
                        error = find_in_function(reader, file, &globals, accesses + i,
                                                 end - i);
        }
        globals_free(&globals);
        return error;
}
