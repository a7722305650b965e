/* SPDX-License-Identifier: MIT */
/* Without lines for all instructions, only the questions' own lines count. */
#include "lineless_variables.h"

#include <errno.h>
#include <stdlib.h>

#include "function_lines.h"

enum { STEPS_AT_MOST = 1 << 22 };

static bool any_lineless(const struct flow_answer *answers, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (answers[i].question == FLOW_OPERAND && answers[i].lineless)
                        return true;
        return false;
}

static void take_asked(const struct flow_code *code, struct line_answer *lines,
                       const struct flow_answer *answers, size_t count)
{
        for (size_t i = 0; i < count; i++) {
                size_t step = flow_code_at(code, answers[i].vaddr);

                if (step != SIZE_MAX)
                        lines[step].line = !answers[i].lineless;
        }
}

/* Whether an instruction with a line is by what VARIABLE points to. */
static bool is_used(const struct register_variable *variable,
                    const struct flow_code *code, const struct line_answer *lines,
                    size_t *steps_left)
{
        for (size_t i = flow_code_from(code, variable->low);
             i < code->step_count && code->steps[i].vaddr < variable->high; i++) {
                const struct instruction *instruction = &code->steps[i].instruction;

                if (*steps_left == 0)
                        return false;
                --*steps_left;
                if (lines[i].line && instruction->has_memory &&
                    (instruction->memory.base == variable->reg ||
                     instruction->memory.index == variable->reg))
                        return true;
        }
        return false;
}

static void mark(struct variables *variables, const struct flow_code *code,
                 const struct line_answer *lines)
{
        size_t steps_left = STEPS_AT_MOST;

        for (size_t i = 0, end; i < variables->value_count; i = end) {
                uint32_t number = variables->values[i].number;
                bool used = variables->values[i].given;

                for (end = i; end < variables->value_count &&
                              variables->values[end].number == number;
                     end++)
                        used = used ||
                               is_used(&variables->values[end], code, lines, &steps_left);
                for (size_t j = i; j < end; j++)
                        variables->values[j].lineless = !used;
        }
}

int lineless_variables_find(struct variables *variables, const struct flow_input *input,
                            const struct flow_code *code,
                            const struct flow_answer *answers, size_t count)
{
        struct line_answer *lines;
        int error;

        if (!any_lineless(answers, count))
                return 0;
        lines = calloc(code->step_count + 1, sizeof(*lines));
        if (!lines)
                return -ENOMEM;
        for (size_t i = 0; i < code->step_count; i++)
                lines[i].vaddr = code->steps[i].vaddr;
        error = function_lines(input->reader->dwarf, input->function, lines,
                               code->step_count);
        if (error == -ENOENT)
                take_asked(code, lines, answers, count);
        if (error != -ENOMEM)
                mark(variables, code, lines);
        free(lines);
        return error == -ENOMEM ? error : 0;
}
