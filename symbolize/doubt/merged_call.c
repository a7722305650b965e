/* SPDX-License-Identifier: MIT */
#include "merged_call.h"

#include <errno.h>
#include <stdlib.h>

#include "type_field.h"

/* Whether the pointer tells no more than that there are bytes. */
static bool tells_nothing(const struct types *types, uint32_t to)
{
        return to == TYPE_NONE || types->items[to].kind == TYPE_OPAQUE ||
               types->items[to].size_bytes <= 1;
}

/* Whether a block of TYPE, a structure, cannot be one of TO, another of its size. */
static bool is_other(const struct types *types, uint32_t type, uint32_t to)
{
        return to != TYPE_NONE && types->items[type].kind == TYPE_STRUCT &&
               types->items[to].kind == TYPE_STRUCT &&
               types->items[to].size_bytes == types->items[type].size_bytes &&
               !type_holds(types, type, 0, to) && !type_holds(types, to, 0, type);
}

/* Whether a block of TYPE may have another type, by a pointer to TO. */
static bool may_be_other(const struct types *types, uint32_t type, uint32_t to)
{
        if (tells_nothing(types, to) || is_other(types, type, to))
                return true;
        return types->items[type].kind == TYPE_STRUCT &&
               types->items[to].kind == TYPE_STRUCT &&
               types->items[to].size_bytes < types->items[type].size_bytes &&
               type_holds(types, type, 0, to);
}

bool merged_call_beside(const struct flow_walk *walk, uint32_t held, uint32_t type)
{
        const struct variables *variables = walk->context->variables;
        struct type_reader *reader = walk->context->input->reader;

        for (size_t i = 0; i < variables->value_count && type != TYPE_NONE; i++) {
                const struct register_variable *variable = &variables->values[i];

                if (variable->from_set && !variable->given &&
                    (variable->writes == 0 || variable->codeless) &&
                    held >> variable->reg & 1 &&
                    may_be_other(reader->types, type,
                                 type_pointee(reader, variable->type)))
                        return true;
        }
        return false;
}

enum { STEPS_BETWEEN = 32 };

/* Whether STEP leads to CALL and nowhere else, after few others. */
static bool leads_straight(const struct flow_code *code, size_t step, size_t call)
{
        for (int i = 0; i < STEPS_BETWEEN && step != SIZE_MAX && step != call; i++) {
                enum operation operation = code->steps[step].instruction.operation;

                if (operation == OPERATION_CALL || operation == OPERATION_BRANCH)
                        return false;
                step = flow_code_next(code, step);
        }
        return step == call;
}

/* Whether CALL is in the range of VARIABLE's block, or comes next after it. */
static bool is_reached(const struct flow_code *code, size_t call,
                       const struct unplaced_variable *variable)
{
        uint64_t vaddr = code->steps[call].vaddr;
        size_t behind = flow_code_from(code, variable->high);

        return (vaddr >= variable->low && vaddr < variable->high) ||
               (behind > 0 && code->steps[behind - 1].vaddr >= variable->low &&
                leads_straight(code, behind - 1, call));
}

bool merged_call_before(const struct flow_walk *walk, size_t call, uint32_t type)
{
        const struct variables *variables = walk->context->variables;
        struct type_reader *reader = walk->context->input->reader;

        for (size_t i = 0; i < variables->unplaced_count && type != TYPE_NONE; i++) {
                const struct unplaced_variable *variable = &variables->unplaced[i];
                Dwarf_Die die = variable->die;

                if (is_reached(walk->code, call, variable) &&
                    is_other(reader->types, type,
                             type_pointee(reader, type_of_variable(reader, &die))))
                        return true;
        }
        return false;
}

/* Ways from the function's entry, up to where they come to the variable's block. */
struct search {
        const struct flow_walk *walk;
        const struct register_variable *variable;
        bool *met; /* of blocks of code */
        size_t *stack;
        size_t stack_count;
        size_t call;
        bool in_midst; /* a way came to what leads straight to the call */
        bool before;   /* another came to the block before that */
};

static bool in_block(const struct register_variable *variable, uint64_t vaddr)
{
        return vaddr >= variable->block_low && vaddr < variable->block_high;
}

static void go_on(struct search *search, size_t block)
{
        if (block == SIZE_MAX || search->met[block])
                return;
        search->met[block] = true;
        search->stack[search->stack_count++] = block;
}

/* Whether the way ends in the block at INDEX, as it has come to the variable's. */
static bool comes_there(struct search *search, size_t index)
{
        const struct flow_walk *walk = search->walk;
        const struct flow_block *block = &walk->code->blocks[index];

        for (size_t i = block->first; i < block->first + block->count; i++) {
                if (!in_block(search->variable, walk->code->steps[i].vaddr))
                        continue;
                if (search->call >= i && search->call < block->first + block->count)
                        search->in_midst = true;
                else
                        search->before = true;
                return true;
        }
        return false;
}

bool merged_call_entered(const struct flow_walk *walk, size_t call,
                         const struct register_variable *variable)
{
        size_t blocks = walk->code->block_count;

        if (walk->entry == SIZE_MAX || !in_block(variable, walk->code->steps[call].vaddr))
                return false;
        struct search search = {.walk = walk,
                                .variable = variable,
                                .met = calloc(blocks + 1, sizeof(*search.met)),
                                .stack = calloc(blocks + 1, sizeof(*search.stack)),
                                .call = call};

        if (search.met && search.stack)
                go_on(&search, walk->entry);
        else
                walk->context->input->reader->error = -ENOMEM;
        while (search.stack_count > 0) {
                size_t index = search.stack[--search.stack_count];
                const struct flow_block *block = &walk->code->blocks[index];

                if (comes_there(&search, index))
                        continue;
                go_on(&search, block->next[0]);
                go_on(&search, block->next[1]);
        }
        free(search.met);
        free(search.stack);
        return search.in_midst && search.before;
}
