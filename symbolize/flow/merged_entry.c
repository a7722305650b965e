/* SPDX-License-Identifier: MIT */
/* Goes back along the one way that leads to the variable, or to the access. What comes
 * from a block that the way goes through itself is a loop's round. */
#include "merged_entry.h"

#include <errno.h>
#include <stdlib.h>

enum { BLOCKS_BACK = 4, BLOCKS_BACK_FROM_ACCESS = 2 };

/* The blocks in the order in which ways leave them, each after all that it leads to but
 * the beginning of a round. */
struct search {
        const struct flow_code *code;
        size_t *left;  /* of each block, from 1: when all ways through it had been gone */
        size_t *stack; /* of blocks on the way */
        uint8_t *gone; /* of each block: how many of its ways, and 1 */
        size_t count;
};

static int begin(struct search *search, size_t entry)
{
        size_t blocks = search->code->block_count, depth = 0;

        search->left = calloc(blocks + 1, sizeof(*search->left));
        search->stack = calloc(blocks + 1, sizeof(*search->stack));
        search->gone = calloc(blocks + 1, sizeof(*search->gone));
        if (!search->left || !search->stack || !search->gone)
                return -ENOMEM;
        search->stack[depth++] = entry;
        search->gone[entry] = 1;
        while (depth > 0) {
                size_t block = search->stack[depth - 1];
                uint8_t way = search->gone[block]++;

                if (way > 2) {
                        search->left[block] = ++search->count;
                        depth--;
                        continue;
                }
                size_t next = search->code->blocks[block].next[way - 1];

                if (next != SIZE_MAX && !search->gone[next]) {
                        search->gone[next] = 1;
                        search->stack[depth++] = next;
                }
        }
        return 0;
}

static void end(struct search *search)
{
        free(search->left);
        free(search->stack);
        free(search->gone);
}

/* How many blocks lead to the one at INDEX, but from the code of VARIABLE unless that is
 * NULL; *FROM is the last of them. Of a loop's beginning none does. */
static unsigned count_ways(const struct search *search, size_t index,
                           const struct register_variable *variable, size_t *from)
{
        const struct flow_code *code = search->code;
        unsigned count = 0;

        for (size_t i = 0; i < code->block_count; i++) {
                const struct flow_block *block = &code->blocks[i];

                if (search->left[i] == 0 || block->count == 0 ||
                    (block->next[0] != index && block->next[1] != index))
                        continue;
                uint64_t last = code->steps[block->first + block->count - 1].vaddr;

                if (search->left[i] <= search->left[index])
                        return 0;
                if (variable && last >= variable->low && last < variable->high)
                        continue;
                *from = i;
                count++;
        }
        return count;
}

static bool is_entered(const struct search *search, size_t block,
                       const struct register_variable *variable, int blocks_back)
{
        for (int i = 0; i < blocks_back && block != SIZE_MAX; i++) {
                unsigned ways = count_ways(search, block, variable, &block);

                if (ways != 1)
                        return ways > 1;
        }
        return false;
}

/* The block in which VARIABLE is there first; what fills the room before that is none. */
static size_t first_block(const struct search *search,
                          const struct register_variable *variable)
{
        const struct flow_code *code = search->code;
        size_t step = flow_code_from(code, variable->low);

        for (int i = 0; i < BLOCKS_BACK && step < code->step_count &&
                        code->steps[step].vaddr < variable->high;
             i++) {
                size_t block = flow_code_block(code, step);

                if (search->left[block] > 0)
                        return block;
                step = code->blocks[block].first + code->blocks[block].count;
        }
        return SIZE_MAX;
}

bool merged_entry(const struct flow_walk *walk, size_t step,
                  const struct register_variable *variable)
{
        struct search search = {.code = walk->code};
        bool entered = false;

        if (walk->entry == SIZE_MAX)
                return false;
        if (begin(&search, walk->entry) < 0)
                walk->context->input->reader->error = -ENOMEM;
        else
                entered = is_entered(&search, first_block(&search, variable), variable,
                                     BLOCKS_BACK) ||
                          is_entered(&search, flow_code_block(walk->code, step), NULL,
                                     BLOCKS_BACK_FROM_ACCESS);
        end(&search);
        return entered;
}
