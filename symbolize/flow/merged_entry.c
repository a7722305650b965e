/* SPDX-License-Identifier: MIT */
/* Goes back along the one way that leads to the variable. Rounds of a loop come from
 * behind. */
#include "merged_entry.h"

enum { BLOCKS_BACK = 4 };

static bool leads_to(const struct flow_block *block, size_t index)
{
        return block->count > 0 && (block->next[0] == index || block->next[1] == index);
}

/* How many blocks lead to the one at INDEX, not from VARIABLE's code; *FROM is the last
 * of them. Of a loop's beginning none does. */
static unsigned count_ways(const struct flow_code *code, size_t index,
                           const struct register_variable *variable, size_t *from)
{
        uint64_t start = code->steps[code->blocks[index].first].vaddr;
        unsigned count = 0;

        for (size_t i = 0; i < code->block_count; i++) {
                const struct flow_block *block = &code->blocks[i];

                if (!leads_to(block, index))
                        continue;
                uint64_t last = code->steps[block->first + block->count - 1].vaddr;

                if (last >= start)
                        return 0;
                if (last >= variable->low && last < variable->high)
                        continue;
                *from = i;
                count++;
        }
        return count;
}

static bool is_led_to(const struct flow_code *code, size_t index)
{
        for (size_t i = 0; i < code->block_count; i++)
                if (leads_to(&code->blocks[i], index))
                        return true;
        return false;
}

/* The block in which VARIABLE is there first; what fills the room before that is none. */
static size_t first_block(const struct flow_code *code,
                          const struct register_variable *variable)
{
        size_t step = flow_code_from(code, variable->low);

        for (int i = 0; i < BLOCKS_BACK && step < code->step_count &&
                        code->steps[step].vaddr < variable->high;
             i++) {
                size_t block = flow_code_block(code, step);

                if (is_led_to(code, block))
                        return block;
                step = code->blocks[block].first + code->blocks[block].count;
        }
        return SIZE_MAX;
}

bool merged_entry(const struct flow_walk *walk, const struct register_variable *variable)
{
        size_t block = first_block(walk->code, variable);

        for (int i = 0; i < BLOCKS_BACK && block != SIZE_MAX; i++) {
                unsigned ways = count_ways(walk->code, block, variable, &block);

                if (ways != 1)
                        return ways > 1;
        }
        return false;
}
