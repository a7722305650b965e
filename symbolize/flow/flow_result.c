/* SPDX-License-Identifier: MIT */
/* The pointer is followed along a few ways and a bounded number of instructions: where it
 * is not seen to be anything, it has no type. */
#include "flow_result.h"

#include <errno.h>
#include <stdlib.h>

#include "decoded.h"
#include "flow_effect.h"
#include "flow_operand.h"
#include "pointer_name.h"
#include "rule.h"
#include "type_field.h"

enum { RESULT_STEPS = 512, RESULT_WAYS = 4, RESULT_VARIABLES = 64, RESULT_DIVIDED = 24 };

/* A type that the pointer is to, by a pointer of that name (0: not known). */
struct told {
        uint32_t type; /* TYPE_NONE: nothing is told */
        uint32_t pointer;
};

/* The ways of a pointer, and the types that it has there. */
struct pursuit {
        const struct flow_walk *walk;
        size_t call;                       /* step */
        origin asked_of[RESULT_VARIABLES]; /* variables that were looked at */
        size_t asked_count;
        struct {
                size_t step;
                struct flow_state state;
                struct told told; /* as of the pursuit, where the way begins */
        } ways[RESULT_WAYS];
        size_t way_count;
        size_t steps_left;
        struct told told;      /* the largest so far, on this way */
        struct told before;    /* where the way began */
        struct told elsewhere; /* the largest on the ways that are done */
        bool several;  /* allocations that the compiler merged, of different types */
        uint32_t held; /* mask of the registers that had the pointer */
        bool returned;
        uint64_t shift_bytes; /* by the most that it was returned with; 0: with none */
        /* What lies behind where the pointer leads: of the first that was seen. */
        uint32_t behind_type; /* TYPE_NONE: none */
        uint64_t behind_bytes;
};

static bool is_result(const struct place_value *value)
{
        return value->kind == PLACE_RESULT && value->offset == 0;
}

/* Whether type B tells more than type A. */
static bool is_larger(const struct types *types, uint32_t a, uint32_t b)
{
        if (a == TYPE_NONE || b == TYPE_NONE)
                return a == TYPE_NONE && b != TYPE_NONE;
        return type_size(types, b) > type_size(types, a) ||
               (type_size(types, b) == type_size(types, a) && !type_same(types, a, b) &&
                type_holds(types, b, 0, a));
}

/* Whether a pointer to TYPE tells more than is known. */
static bool tells_more(const struct flow_context *flow, const struct pursuit *pursuit,
                       uint32_t type)
{
        const struct types *types = flow->input->reader->types;

        return type != TYPE_NONE && types->items[type].kind != TYPE_OPAQUE &&
               is_larger(types, pursuit->told.type, type);
}

/* Considers the target of VALUE, a pointer in a variable or from the call. */
static void consider_pointer(const struct flow_context *flow, struct pursuit *pursuit,
                             const struct place_value *value)
{
        if (tells_more(flow, pursuit, value->type))
                pursuit->told =
                    (struct told){value->type, pointer_name(pursuit->walk, value)};
}

/* Whether a block of type A cannot be one of type B, as neither begins with the other. */
static bool unlike(const struct types *types, uint32_t a, uint32_t b)
{
        return a != TYPE_NONE && b != TYPE_NONE && types->items[a].kind == TYPE_STRUCT &&
               types->items[b].kind == TYPE_STRUCT && !type_holds(types, a, 0, b) &&
               !type_holds(types, b, 0, a);
}

/* At a way's end. Evidence from before a branch counts for both ways. */
static void end_way(const struct flow_context *flow, struct pursuit *pursuit)
{
        const struct types *types = flow->input->reader->types;

        pursuit->several |= pursuit->told.type != pursuit->before.type &&
                            pursuit->elsewhere.type != pursuit->before.type &&
                            unlike(types, pursuit->told.type, pursuit->elsewhere.type);
        if (is_larger(types, pursuit->elsewhere.type, pursuit->told.type))
                pursuit->elsewhere = pursuit->told;
}

/* Takes note of a TYPE that begins where VALUE leads, behind the pointer: of structures,
 * as anything else may be a member. */
static void consider_behind(const struct flow_context *flow, struct pursuit *pursuit,
                            const struct place_value *value, uint32_t type)
{
        const struct types *types = flow->input->reader->types;

        if (value->kind != PLACE_RESULT || value->offset <= 0 || value->indexed ||
            type == TYPE_NONE || types->items[type].kind != TYPE_STRUCT ||
            types->items[type].size_bytes == 0 || pursuit->behind_type != TYPE_NONE)
                return;
        pursuit->behind_type = type;
        pursuit->behind_bytes = (uint64_t)value->offset;
}

/* ---- calls that gcc made of two branches' calls ---- */

/* gcc keeps the line and variables of one branch, which do not tell what the other branch
 * uses the result for. */

static bool in_block(const struct register_variable *variable, uint64_t vaddr)
{
        return vaddr >= variable->block_low && vaddr < variable->block_high;
}

/* Whether CALL is in the midst of the block of VARIABLE, and the other branch leads
 * there: ways from the function's entry come first to it, and to other code of the block.
 */
static bool is_entered(const struct flow_walk *walk, size_t call,
                       const struct register_variable *variable)
{
        const struct flow_code *code = walk->code;
        bool in_midst = false, before = false;

        if (walk->entry == SIZE_MAX || !in_block(variable, code->steps[call].vaddr))
                return false;
        size_t *stack = malloc((code->block_count + 1) * sizeof(*stack)), count = 0;
        bool *met = calloc(code->block_count + 1, sizeof(*met));

        if (stack && met) {
                met[walk->entry] = true;
                stack[count++] = walk->entry;
        } else {
                walk->context->input->reader->error = -ENOMEM;
        }
        while (count > 0) {
                const struct flow_block *block = &code->blocks[stack[--count]];
                size_t at = block->first, end = block->first + block->count;

                while (at < end && !in_block(variable, code->steps[at].vaddr))
                        at++;
                for (int n = 0; n < 2 && at == end; n++)
                        if (block->next[n] != SIZE_MAX && !met[block->next[n]]) {
                                met[block->next[n]] = true;
                                stack[count++] = block->next[n];
                        }
                in_midst |= at < end && call >= at && call < end;
                before |= at < end && !(call >= at && call < end);
        }
        free(stack);
        free(met);
        return in_midst && before;
}

/* Whether a block of TYPE, a structure, cannot be one of TO, another of its size. */
static bool is_other(const struct types *types, uint32_t type, uint32_t to)
{
        return unlike(types, type, to) && type_size(types, type) == type_size(types, to);
}

/* Whether a block of TYPE may have another type, by a pointer to TO: that is to no more
 * than bytes, or to the beginning. */
static bool may_be_other(const struct types *types, uint32_t type, uint32_t to)
{
        if (to == TYPE_NONE || type_size(types, to) <= 1 || is_other(types, type, to))
                return true;
        return types->items[type].kind == TYPE_STRUCT &&
               types->items[to].kind == TYPE_STRUCT &&
               type_size(types, to) < type_size(types, type) &&
               type_holds(types, type, 0, to);
}

/* Whether a variable for the result of the other branch is left: nothing sets it where it
 * is, in one of the registers HELD that had the result, or it is nowhere. */
static bool is_merged(const struct flow_walk *walk, uint32_t held, uint32_t type)
{
        const struct variables *variables = walk->context->variables;
        struct type_reader *reader = walk->context->input->reader;

        for (size_t i = 0; i < variables->value_count; i++) {
                const struct register_variable *variable = &variables->values[i];

                if (variable->from_set && !variable->given &&
                    (variable->writes == 0 || variable->codeless) &&
                    held >> variable->reg & 1 &&
                    may_be_other(reader->types, type,
                                 type_pointee(reader, variable->type)))
                        return true;
        }
        for (size_t i = 0; i < variables->unplaced_count; i++) {
                Dwarf_Die die = variables->unplaced[i];
                uint32_t to = type_pointee(reader, type_of_variable(reader, &die));

                if (is_other(reader->types, type, to))
                        return true;
        }
        return false;
}

/* What one branch's variable tells is nothing, where the call is another's, too. */
static void doubt_variable(const struct flow_context *flow, struct pursuit *pursuit,
                           const struct place_value *named)
{
        if (!origin_is_variable(named->origin))
                return;
        for (size_t i = 0; i < pursuit->asked_count; i++)
                if (pursuit->asked_of[i] == named->origin)
                        return;
        if (pursuit->asked_count == RESULT_VARIABLES) {
                pursuit->several = true; /* this one may be of one branch */
                return;
        }
        pursuit->asked_of[pursuit->asked_count++] = named->origin;
        pursuit->several |=
            rule_applies("merged-call") &&
            is_entered(pursuit->walk, pursuit->call,
                       &flow->variables->values[named->origin - ORIGIN_FIRST_VARIABLE]);
}

static void consider_variables(const struct flow_context *flow, struct pursuit *pursuit,
                               const struct flow_state *state, uint64_t vaddr)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++) {
                const struct place_value *value = &state->registers[i];

                if (value->kind != PLACE_RESULT)
                        continue;
                struct place_value named = flow_state_called(flow, state, i, vaddr);

                if (named.kind != PLACE_POINTER || named.offset != 0)
                        continue;
                if (is_result(value)) {
                        doubt_variable(flow, pursuit, &named);
                        consider_pointer(flow, pursuit, &named);
                } else {
                        consider_behind(flow, pursuit, value, named.type);
                }
        }
}

static void note_registers(struct pursuit *pursuit, const struct flow_state *state)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                if (is_result(&state->registers[i]))
                        pursuit->held |= UINT32_C(1) << i;
}

static void consider_store(const struct flow_context *flow, struct pursuit *pursuit,
                           struct flow_state *state, const struct flow_step *step)
{
        if (step->instruction.operation != OPERATION_STORE ||
            state->registers[step->instruction.source].kind != PLACE_RESULT)
                return;
        const struct place_value *value = &state->registers[step->instruction.source];
        struct place_value place = flow_operand(flow, state, step);
        struct flow_state without_slots = *state;

        without_slots.frame.count = 0;
        struct place_value there =
            flow_state_load(flow, &without_slots, &place, step->vaddr);

        if (there.kind != PLACE_POINTER)
                return;
        if (!is_result(value)) {
                if (there.offset == 0)
                        consider_behind(flow, pursuit, value, there.type);
                return;
        }
        if (tells_more(flow, pursuit, there.type))
                pursuit->told = (struct told){
                    there.type, pointer_name_stored(pursuit->walk, &without_slots, &place,
                                                    step->vaddr)};
}

static void fork_way(const struct flow_code *code, struct pursuit *pursuit,
                     const struct flow_state *state, uint64_t target)
{
        size_t step = flow_code_at(code, target);

        if (step == SIZE_MAX || pursuit->way_count == RESULT_WAYS)
                return;
        pursuit->ways[pursuit->way_count].step = step;
        pursuit->ways[pursuit->way_count].told = pursuit->told;
        pursuit->ways[pursuit->way_count++].state = *state;
}

static bool has_result(const struct flow_state *state)
{
        for (int i = 0; i < REGISTER_COUNT; i++)
                if (state->registers[i].kind == PLACE_RESULT)
                        return true;
        for (uint32_t i = 0; i < state->frame.count; i++)
                if (state->frame.slots[i].value.kind == PLACE_RESULT)
                        return true;
        return false;
}

static uint32_t return_type(const struct flow_context *flow)
{
        return type_of_variable(flow->input->reader, flow->input->function);
}

/* A function that returns nothing may leave anything where others return a value. */
static void take_returned(const struct flow_context *flow, struct pursuit *pursuit,
                          const struct place_value *value)
{
        if (value->kind != PLACE_RESULT || return_type(flow) == TYPE_NONE)
                return;
        if (value->offset == 0)
                pursuit->returned = true;
        else if ((uint64_t)value->offset > pursuit->shift_bytes)
                pursuit->shift_bytes = (uint64_t)value->offset;
}

/* Whether the pointer's type is only a header: the caller's pointer, or another
 * structure, lies behind it. An allocator keeps a block's size there, for instance. */
static bool is_header(const struct flow_context *flow, const struct pursuit *pursuit)
{
        const struct types *types = flow->input->reader->types;

        if (pursuit->told.type == TYPE_NONE)
                return false;
        uint64_t bytes = types->items[pursuit->told.type].size_bytes;

        if (pursuit->shift_bytes > 0 && pursuit->shift_bytes >= bytes)
                return true;
        return bytes > 0 && pursuit->behind_type != TYPE_NONE &&
               pursuit->behind_bytes >= bytes &&
               !type_open_ended(types, pursuit->told.type) &&
               !type_holds(types, pursuit->told.type, pursuit->behind_bytes % bytes,
                           pursuit->behind_type) &&
               !type_holds(types, pursuit->behind_type, 0, pursuit->told.type);
}

static void pursue(const struct flow_context *flow, const struct flow_code *code,
                   struct pursuit *pursuit, struct flow_state *state, size_t at)
{
        while (at < code->step_count && pursuit->steps_left > 0 && has_result(state)) {
                const struct flow_step *step = &code->steps[at];
                const struct instruction *instruction = &step->instruction;

                pursuit->steps_left--;
                note_registers(pursuit, state);
                consider_variables(flow, pursuit, state, step->vaddr);
                consider_store(flow, pursuit, state, step);
                switch (instruction->operation) {
                case OPERATION_END:
                        take_returned(flow, pursuit, &state->registers[REGISTER_RAX]);
                        return;
                case OPERATION_JUMP_INDIRECT:
                        return;
                case OPERATION_JUMP:
                        at = flow_code_at(code, instruction->target);
                        continue;
                case OPERATION_BRANCH:
                        fork_way(code, pursuit, state, instruction->target);
                        break;
                default:
                        flow_effect(flow, state, step);
                        break;
                }
                if (++at < code->step_count && !flow_code_follows(code, at))
                        return;
        }
}

/* Whether code shortly before step AT divides: the count that it hands on may be of bytes
 * that are rounded up to whole units. */
static bool divides_before(const struct flow_code *code, size_t at)
{
        struct decoded decoded;

        for (int i = 0; i < RESULT_DIVIDED && at-- > 0; i++) {
                if (!decoded_read(&decoded, code, &code->steps[at]))
                        return true;
                switch (decoded.instruction.mnemonic) {
                case ZYDIS_MNEMONIC_SHR:
                case ZYDIS_MNEMONIC_SAR:
                case ZYDIS_MNEMONIC_SHRX:
                case ZYDIS_MNEMONIC_SARX:
                case ZYDIS_MNEMONIC_DIV:
                case ZYDIS_MNEMONIC_IDIV:
                case ZYDIS_MNEMONIC_SHRD:
                        return true;
                default:
                        break;
                }
        }
        return false;
}

/* The size of the items that CALL asks for; 0: it is no call of calloc(), or the size is
 * not known, or the count is known to be at most 1, or a quotient: then it is the size of
 * what bytes are rounded up to. What else is called has something else in these
 * registers, or nothing. */
static uint64_t item_bytes(const struct flow_context *flow,
                           const struct flow_state *state, const struct instruction *call)
{
        const struct flow_input *input = flow->input;

        if (globals_memory_function(input->globals, call) != MEMORY_ALLOCATE_ITEMS)
                return 0;
        const struct place_value *count = &state->registers[REGISTER_RDI];
        const struct place_value *bytes = &state->registers[REGISTER_RSI];
        bool one =
            count->kind == PLACE_NUMBER && count->stride_bytes == 0 && count->offset <= 1;

        return place_is_number(count) && !one && bytes->kind == PLACE_NUMBER &&
                       bytes->stride_bytes == 0 && bytes->offset > 0
                   ? (uint64_t)bytes->offset
                   : 0;
}

void flow_result(const struct flow_walk *walk, struct flow_state *state, size_t at,
                 struct flow_answer *answer)
{
        static const struct told nothing = {.type = TYPE_NONE};
        const struct flow_context *flow = walk->context;
        const struct flow_code *code = walk->code;
        struct pursuit pursuit = {.walk = walk,
                                  .call = at,
                                  .steps_left = RESULT_STEPS,
                                  .told = nothing,
                                  .behind_type = TYPE_NONE,
                                  .before = nothing,
                                  .elsewhere = nothing,
                                  /* A call that LLVM merges has no line. */
                                  .several = answer->lineless};

        answer->variable.type = TYPE_NONE;
        answer->place = place_unknown;
        if (code->steps[at].instruction.operation != OPERATION_CALL)
                return;
        answer->item_bytes = item_bytes(flow, state, &code->steps[at].instruction);
        if (answer->item_bytes > 0 && rule_applies("divided-count") &&
            divides_before(code, at))
                answer->item_bytes = 0;
        flow_effect(flow, state, &code->steps[at]);
        if (state->registers[REGISTER_RAX].kind == PLACE_POINTER)
                consider_pointer(flow, &pursuit, &state->registers[REGISTER_RAX]);
        state->registers[REGISTER_RAX] =
            (struct place_value){.kind = PLACE_RESULT, .type = TYPE_NONE};
        pursue(flow, code, &pursuit, state, at + 1);
        end_way(flow, &pursuit);
        while (pursuit.way_count > 0) {
                struct flow_state other = pursuit.ways[--pursuit.way_count].state;

                pursuit.told = pursuit.before = pursuit.ways[pursuit.way_count].told;
                pursue(flow, code, &pursuit, &other,
                       pursuit.ways[pursuit.way_count].step);
                end_way(flow, &pursuit);
        }
        pursuit.told = pursuit.elsewhere;
        if (pursuit.several ||
            (pursuit.told.type != TYPE_NONE && rule_applies("merged-call") &&
             is_merged(walk, pursuit.held, pursuit.told.type)))
                pursuit.told = nothing;
        uint32_t returned = pursuit.returned
                                ? type_pointee(flow->input->reader, return_type(flow))
                                : TYPE_NONE;

        if (tells_more(flow, &pursuit, returned))
                pursuit.told = (struct told){returned, pointer_name_returned(walk)};
        answer->outcome = FLOW_FOUND;
        answer->returned = pursuit.returned;
        answer->place = is_header(flow, &pursuit) ? place_unknown
                                                  : place_pointer(pursuit.told.type, 0);
        if (answer->place.kind == PLACE_POINTER)
                answer->pointer = pursuit.told.pointer;
}
