/* SPDX-License-Identifier: MIT */
/* Answers a question about an instruction from the joined state of all paths to it. */
#include "answers.h"

#include <errno.h>

#include "flow_operand.h"
#include "flow_trace.h"
#include "flow_walk.h"
#include "number_use.h"
#include "pointer_name.h"
#include "rule.h"
#include "shared_place.h"
#include "type_field.h"
#include "type_table.h"
#include "unrolled.h"

/* Divides a thread-local address with an index: the base register's target, and the
 * operand's distance from it without the index. */
static void part_index(const struct flow_context *flow, struct flow_state *state,
                       const struct flow_step *step, struct flow_answer *answer)
{
        const struct memory_operand *memory = &step->instruction.memory;
        struct place_value base =
            memory->base < REGISTER_COUNT
                ? flow_state_held(flow, state, memory->base, step->vaddr)
                : place_unknown;

        if (!answer->place.indexed || !place_in_thread(&base))
                return;
        answer->variable_offset =
            (int64_t)((uint64_t)answer->place.offset - (uint64_t)base.offset);
        answer->place.offset = base.offset;
}

/* Finds the variable of the frame at ANSWER's place, or the common type of the variables
 * that may be there. */
static void name_variable(const struct flow_context *flow, const struct flow_state *state,
                          uint64_t vaddr, struct flow_answer *answer)
{
        struct frame_variable several;
        const struct frame_variable *variable = flow_state_variable(
            flow, state, &answer->place, vaddr, &answer->variable_offset);

        if (!variable && shared_place_variable(flow, state, &answer->place, vaddr,
                                               &several, &answer->variable_offset))
                variable = &several;
        answer->variable =
            variable ? *variable : (struct frame_variable){.type = TYPE_NONE};
}

/* A repeated instruction continues from its operand: it accesses all fields of an item.
 * TYPE is the operand's type, perhaps a part of the item. */
static void answer_repeated(const struct types *types, uint32_t type,
                            struct place_value *place)
{
        place->indexed = true;
        place->guessed |= !type_is_single(types, type);
}

/* Whether arrays in FUNCTION's language start with item number 1, as in Fortran. Such a
 * language has no casts that place items behind a header. An index that starts at 1 then
 * does not skip a header. */
static bool counts_from_one(Dwarf_Die *function)
{
        Dwarf_Die unit;
        Dwarf_Sword lower;

        return dwarf_diecu(function, &unit, NULL, NULL) &&
               dwarf_default_lower_bound(dwarf_srclang(&unit), &lower) == 0 && lower == 1;
}

/* Whether INSTRUCTION restores a value that a call or push saved. Compilers give
 * variables of the frame a location until the function's end, although the stack pointer
 * has moved before. */
static bool restores(const struct instruction *instruction)
{
        return instruction->operation == OPERATION_POP ||
               instruction->operation == OPERATION_END;
}

struct array_search {
        const struct types *types;
        uint32_t item;
        unsigned work_left;
        unsigned nesting;
};

static bool has_array(struct array_search *search, uint32_t type_id, bool in_union)
{
        if (type_id >= search->types->count || search->work_left == 0 ||
            search->nesting == TYPE_NESTING_LIMIT)
                return false;
        const struct type *type = &search->types->items[type_id];
        bool found = false;

        search->work_left--;
        if (type->kind == TYPE_ARRAY && in_union)
                return type_same(search->types, type->element, search->item);
        if (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION)
                return false;
        search->nesting++;
        for (uint32_t i = 0; i < type->member_count && !found; i++)
                found =
                    has_array(search, search->types->members[type->first_member + i].type,
                              in_union || type->kind == TYPE_UNION);
        search->nesting--;
        return found;
}

/* Whether POINTER, to numbers, may point into the structure that it was loaded from. A
 * short string keeps its characters in itself: in a union, beside members that are used
 * when the characters are elsewhere. */
static bool own_items(const struct flow_walk *walk, const struct place_value *pointer)
{
        const struct types *types = walk->context->types;

        if (pointer->kind != PLACE_POINTER || !origin_is_step(pointer->origin) ||
            types->items[pointer->type].kind != TYPE_INTEGER)
                return false;
        size_t step = pointer->origin - ORIGIN_FIRST_STEP;

        if (!walk->code->steps[step].instruction.has_memory)
                return false;
        struct flow_state state;
        struct place_value holder = flow_loaded_from(walk, step, &state);
        struct array_search search = {
            .types = types, .item = pointer->type, .work_left = TYPE_FIELDS_LIMIT};

        return holder.kind == PLACE_POINTER && has_array(&search, holder.type, false);
}

static void answer_operand(const struct flow_walk *walk, struct flow_state *state,
                           const struct flow_step *step, struct flow_answer *answer)
{
        const struct flow_context *flow = walk->context;
        const struct instruction *instruction = &step->instruction;

        answer->variable.type = TYPE_NONE;
        answer->access = (struct type_access){.bytes = instruction->access_bytes,
                                              .vector = instruction->vector};
        if (!instruction->has_memory || instruction->access_bytes == 0) {
                answer->outcome = FLOW_NO_OPERAND;
                return;
        }
        answer->restores = restores(instruction);
        answer->place = flow_operand(flow, state, step);
        if (answer->place.kind == PLACE_THREAD && answer->place.indexed)
                answer->place = place_unknown;
        answer->place = place_guess(flow->types, &answer->place,
                                    instruction->vector ? 0 : instruction->access_bytes);
        answer->place.shifted &= !flow->counts_from_one;
        if (answer->place.kind == PLACE_UNREACHED)
                answer->place = place_unknown;
        answer->outcome =
            place_is_number(&answer->place) ? FLOW_UNKNOWN_BASE : FLOW_FOUND;
        answer->access.unproved = answer->outcome == FLOW_UNKNOWN_BASE ||
                                  answer->place.guessed || answer->place.unknown_index;
        if (place_in_thread(&answer->place))
                part_index(flow, state, step, answer);
        if (instruction->repeated && answer->place.kind == PLACE_POINTER)
                answer_repeated(flow->types, answer->place.type, &answer->place);
        answer->pointer = pointer_name(walk, &answer->place);
        answer->access.own_items =
            rule_applies("own-items") && own_items(walk, &answer->place);
        if (!place_in_frame(&answer->place) || answer->restores)
                return;
        name_variable(flow, state, step->vaddr, answer);
        if (answer->variable.type == TYPE_NONE)
                return;
        answer->place.guessed =
            answer->place.indexed &&
            !type_repeats(flow->types, answer->variable.type,
                          (uint64_t)answer->variable_offset, answer->place.stride_bytes);
        if (instruction->repeated)
                answer_repeated(flow->types, answer->variable.type, &answer->place);
}

static void answer_frame(const struct flow_context *flow, struct flow_state *state,
                         const struct flow_step *step, struct flow_answer *answer)
{
        const struct place_value place = {
            .kind = PLACE_FRAME, .type = TYPE_NONE, .offset = answer->cfa_offset_bytes};
        answer->outcome = FLOW_FOUND;
        answer->place = place;
        if (!restores(&step->instruction))
                name_variable(flow, state, step->vaddr, answer);
}

/* The common target of A and B, if a function reads either. Memory in the frame or at a
 * fixed address is not behind a pointer. */
static struct place_value either(const struct flow_context *flow,
                                 const struct place_value *a, const struct place_value *b)
{
        if (place_in_frame(b) || b->kind == PLACE_ADDRESS)
                return *a;
        if (place_in_frame(a) || a->kind == PLACE_ADDRESS)
                return *b;
        if (a->kind != PLACE_POINTER || b->kind != PLACE_POINTER ||
            a->type == TYPE_NONE || b->type == TYPE_NONE ||
            flow->types->items[a->type].canonical !=
                flow->types->items[b->type].canonical ||
            place_offset(flow->types, a) != place_offset(flow->types, b))
                return place_unknown;
        struct place_value both = *a;

        both.origin = origin_meet(a->origin, b->origin);
        return both;
}

static void answer_argument(const struct flow_walk *walk, struct flow_state *state,
                            const struct flow_step *step, struct flow_answer *answer)
{
        const struct flow_context *flow = walk->context;

        struct place_value first, second;

        answer->variable.type = TYPE_NONE;
        answer->place = place_unknown;
        if (step->instruction.operation == OPERATION_CALL)
                answer->called = memory_function_called(
                    flow->globals->slots, flow->globals->symbols, &step->instruction);
        if (answer->called == MEMORY_NONE || answer->called == MEMORY_ALLOCATE_ITEMS) {
                answer->outcome = FLOW_NO_OPERAND;
                return;
        }
        first = flow_state_held(flow, state, REGISTER_RDI, step->vaddr);
        second = flow_state_held(flow, state, REGISTER_RSI, step->vaddr);
        answer->place = answer->called == MEMORY_COPY     ? second
                        : answer->called == MEMORY_SEARCH ? first
                                                          : either(flow, &first, &second);
        answer->pointer = pointer_name(walk, &answer->place);
        answer->outcome =
            answer->place.kind == PLACE_POINTER && answer->place.type != TYPE_NONE
                ? FLOW_FOUND
                : FLOW_UNKNOWN_BASE;
}

/* If the function stands for several source functions, its pointers have no type. */
static void forget_pointers(struct flow_answer *answer)
{
        if (answer->place.kind != PLACE_POINTER)
                return;
        answer->place = place_unknown;
        answer->folded = answer->question == FLOW_OPERAND;
        if (answer->question != FLOW_RESULT)
                answer->outcome = FLOW_UNKNOWN_BASE;
}

static void answer(const struct flow_walk *walk, struct flow_answer *answer)
{
        const struct flow_code *code = walk->code;
        size_t step = answer->question == FLOW_OPERAND
                          ? flow_code_at(code, answer->vaddr)
                          : flow_code_around(code, answer->vaddr);

        answer->outcome = FLOW_NO_INSTRUCTION;
        if (step == SIZE_MAX)
                return;
        struct flow_state state = flow_walk_before(walk, step);

        switch (answer->question) {
        case FLOW_RESULT:
                flow_result(walk, &state, step, answer);
                break;
        case FLOW_ARGUMENT:
                answer_argument(walk, &state, &code->steps[step], answer);
                break;
        case FLOW_FRAME:
                answer_frame(walk->context, &state, &code->steps[step], answer);
                break;
        case FLOW_OPERAND:
                answer_operand(walk, &state, &code->steps[step], answer);
                if (rule_applies("numbers"))
                        number_use(code, step, &answer->access);
                break;
        }
        if (walk->context->folded)
                forget_pointers(answer);
        if (answer->traced)
                flow_trace(walk, step, answer);
}

/* Finds how the addresses of operands change in their loops. 0 or -ENOMEM. */
static int find_patterns(const struct flow_walk *walk, struct flow_answer *answers,
                         size_t count)
{
        struct pattern_loop loop = {0};
        int error = 0;

        for (size_t i = 0; i < count && !error; i++) {
                if (answers[i].question == FLOW_OPERAND &&
                    (answers[i].outcome == FLOW_FOUND ||
                     answers[i].outcome == FLOW_UNKNOWN_BASE))
                        error = address_pattern_find(
                            &loop, walk->code, walk->entry == SIZE_MAX ? 0 : walk->entry,
                            flow_code_at(walk->code, answers[i].vaddr),
                            &answers[i].pattern);
        }
        pattern_loop_free(&loop);
        return error;
}

/* ---- writes of registers ---- */

/* The analysis reads each range of a block once for each variable. The limit on
 * instructions bounds its cost, because hostile code could nest very many blocks. */

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

/* Counts the writes of each variable that is in its register only after its assignment:
 * instructions in its block in CODE that may leave an address there. */
static void count_writes(struct variables *variables, const struct flow_code *code)
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

int flow_function(const struct flow_context *known, struct flow_answer *answers,
                  size_t count)
{
        struct variables variables = {0};
        struct flow_code code = {0};
        struct flow_context flow = *known;
        struct flow_walk walk = {0};

        flow.variables = &variables;
        flow.code = &code;
        flow.counts_from_one = counts_from_one(flow.function);
        flow.has_absolute_addresses =
            flow.file->segment_count > 0 && flow.file->segments[0].vaddr >= 65536;
        int error = variables_read(&variables, flow.reader, flow.function);

        if (!error && rule_applies("rival-variables"))
                error = rival_variables_find(&variables, flow.reader);
        if (!error && rule_applies("shared-place"))
                error = shared_places_find(&variables, flow.types);
        if (!error)
                error =
                    flow_code_read(&code, flow.reader->dwarf, flow.file, flow.function);
        if (!error)
                count_writes(&variables, &code);
        if (!error)
                error = flow_walk_run(&walk, &flow, &code);
        for (size_t i = 0; i < count && !error; i++)
                answer(&walk, &answers[i]);
        if (!error)
                error = find_patterns(&walk, answers, count);
        if (!error && rule_applies("unrolled"))
                error = unrolled_find(&walk, answers, count);
        bool not_followed = error == -E2BIG || error == -EILSEQ;

        for (size_t i = 0; i < count && not_followed; i++)
                answers[i].outcome = error == -E2BIG ? FLOW_TOO_LARGE : FLOW_NOT_DECODED;
        flow_walk_free(&walk);
        flow_code_free(&code);
        variables_free(&variables);
        return error && !not_followed ? error : flow.reader->error;
}
