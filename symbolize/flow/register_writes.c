/* SPDX-License-Identifier: MIT */
/* Each range of a block is gone through for each variable: not for more than so many
 * instructions in all, as code made for it could have very many blocks in each other. */
#include "register_writes.h"

enum { STEPS_AT_MOST = 1 << 24 };

/* A call sets its result; nobody reads its other registers. A call without code behind it
 * does not return. */
static bool may_set(const struct flow_code *code, size_t step, uint8_t reg)
{
        const struct instruction *instruction = &code->steps[step].instruction;

        if (instruction->operation == OPERATION_CALL)
                return reg == REGISTER_RAX && step + 1 < code->step_count &&
                       flow_code_follows(code, step + 1);
        return (instruction->written & ~instruction->numbers) >> reg & 1;
}

static uint32_t count_range(const struct flow_code *code,
                            const struct register_variable *variable, size_t *steps_left)
{
        uint32_t count = 0;

        for (size_t i = flow_code_from(code, variable->low);
             i < code->step_count && code->steps[i].vaddr < variable->high; i++) {
                if (*steps_left == 0)
                        return VARIABLES_MANY_WRITES;
                --*steps_left;
                count += may_set(code, i, variable->reg);
        }
        return count;
}

void register_writes_count(struct variables *variables, const struct flow_code *code)
{
        size_t steps_left = STEPS_AT_MOST;

        for (size_t i = 0, end; i < variables->value_count; i = end) {
                const struct register_variable *first = &variables->values[i];
                uint32_t count = 0;

                for (end = i; end < variables->value_count &&
                              variables->values[end].number == first->number;
                     end++) {
                        const struct register_variable *range = &variables->values[end];
                        uint32_t here =
                            range->from_set ? count_range(code, range, &steps_left) : 0;

                        count = here < VARIABLES_MANY_WRITES - count
                                    ? count + here
                                    : VARIABLES_MANY_WRITES;
                }
                for (size_t j = i; j < end; j++)
                        variables->values[j].writes = count;
        }
}
