/* SPDX-License-Identifier: MIT */
#include "merged_call.h"

#include "type_field.h"

/* Whether the pointer only shows that there are bytes. */
static bool tells_nothing(const struct types *types, uint32_t to)
{
        return type_kind(types, to) == TYPE_OPAQUE || type_size(types, to) <= 1;
}

/* Whether a block of TYPE, a structure, cannot be a TO, a structure of equal size. */
static bool is_other(const struct types *types, uint32_t type, uint32_t to)
{
        return type_kind(types, type) == TYPE_STRUCT &&
               type_kind(types, to) == TYPE_STRUCT &&
               type_size(types, to) == type_size(types, type) &&
               type_unlike(types, type, to);
}

/* Whether a pointer to TO shows that a block of TYPE may have another type. */
static bool may_be_other(const struct types *types, uint32_t type, uint32_t to)
{
        if (tells_nothing(types, to) || is_other(types, type, to))
                return true;
        return type_kind(types, type) == TYPE_STRUCT &&
               type_kind(types, to) == TYPE_STRUCT &&
               type_size(types, to) < type_size(types, type) &&
               type_holds(types, type, 0, to);
}

bool merged_call_beside(const struct flow_walk *walk, uint32_t held, uint32_t type)
{
        const struct variables *variables = walk->context->variables;
        struct type_reader *reader = walk->context->reader;

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

/* Whether STEP leads only to CALL, after few other instructions. */
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

/* Whether CALL is in the range of VARIABLE's block, or directly behind it. */
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
        struct type_reader *reader = walk->context->reader;

        for (size_t i = 0; i < variables->unplaced.count && type != TYPE_NONE; i++) {
                const struct unplaced_variable *variable = &variables->unplaced.items[i];
                Dwarf_Die die = variable->die;

                if (is_reached(walk->code, call, variable) &&
                    is_other(reader->types, type,
                             type_pointee(reader, type_of_variable(reader, &die))))
                        return true;
        }
        return false;
}
