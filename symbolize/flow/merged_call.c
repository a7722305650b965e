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

/* Whether what is known to be of TYPE may be something else, by a pointer to TO. */
static bool may_be_other(const struct types *types, uint32_t type, uint32_t to)
{
        if (tells_nothing(types, to))
                return true;
        if (types->items[type].kind != TYPE_STRUCT ||
            types->items[to].kind != TYPE_STRUCT || type_same(types, type, to))
                return false;
        return types->items[to].size_bytes == types->items[type].size_bytes
                   ? !type_holds(types, type, 0, to) && !type_holds(types, to, 0, type)
                   : type_holds(types, type, 0, to);
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
