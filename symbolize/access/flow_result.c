/* SPDX-License-Identifier: MIT */
/* Follows the pointer along a few paths and a bounded number of instructions. If none of
 * them shows a use, the pointer has no type. */
#include "answers.h"
#include "decoded.h"
#include "flow_operand.h"
#include "flow_walk.h"
#include "merged_call.h"
#include "pointer_name.h"
#include "rule.h"
#include "type_field.h"

enum { RESULT_STEPS = 512, RESULT_WAYS = 4, QUOTIENT_STEPS = 64 };

/* A type for the pointer, and the name of a pointer that shows it. */
struct told {
        uint32_t type;    /* TYPE_NONE: none */
        uint32_t pointer; /* 0: not known */
};

/* The paths of a pointer, and its types on them. */
struct pursuit {
        const struct flow_walk *walk;
        struct {
                size_t step;
                struct flow_state state;
                struct told told; /* the pursuit's value, where the path begins */
        } ways[RESULT_WAYS];
        size_t way_count;
        size_t steps_left;
        struct told told;           /* the largest type so far, on this path */
        struct told told_elsewhere; /* the largest on the finished paths */
        uint32_t type_before;       /* the type of TOLD at the start of the path */
        bool lineless; /* the call may be merged, or hoisted before a branch */
        bool parted;   /* the path has branched since the call */
        bool several;  /* merged allocations of different types */
        uint32_t held; /* mask of the registers that had the pointer */
        bool returned;
};

static bool is_result(const struct place_value *value)
{
        return value->kind == PLACE_RESULT && value->offset == 0;
}

/* Whether type B says more than A. */
static bool tells_more(const struct types *types, uint32_t a, uint32_t b)
{
        if (a == b || b == TYPE_NONE)
                return false;
        return a == TYPE_NONE ||
               types->items[b].size_bytes > types->items[a].size_bytes ||
               (types->items[b].size_bytes == types->items[a].size_bytes &&
                type_holds(types, b, 0, a));
}

/* Whether TYPE says more than is known on the path. */
static bool is_new(const struct flow_context *flow, const struct pursuit *pursuit,
                   uint32_t type)
{
        return type_kind(flow->types, type) != TYPE_OPAQUE &&
               tells_more(flow->types, pursuit->told.type, type);
}

/* Considers VALUE, a pointer in a variable or from the call. */
static void consider_pointer(const struct flow_context *flow, struct pursuit *pursuit,
                             const struct place_value *value)
{
        if (is_new(flow, pursuit, value->type))
                pursuit->told =
                    (struct told){value->type, pointer_name(pursuit->walk, value)};
}

/* Whether a block of type A cannot have type B, because neither begins with the other. */
static bool unlike(const struct types *types, uint32_t a, uint32_t b)
{
        return type_kind(types, a) == TYPE_STRUCT && type_kind(types, b) == TYPE_STRUCT &&
               type_unlike(types, a, b);
}

/* At a path's end. Evidence from before a branch counts for both paths. If the call has
 * no line, all paths must agree, because it may be several merged calls. */
static void end_way(const struct flow_context *flow, struct pursuit *pursuit)
{
        const uint32_t here = pursuit->told.type, before = pursuit->type_before;
        const uint32_t elsewhere = pursuit->told_elsewhere.type;

        if (pursuit->lineless)
                pursuit->several |=
                    here == TYPE_NONE ||
                    (elsewhere != TYPE_NONE && !type_same(flow->types, here, elsewhere));
        else
                pursuit->several |= here != before && elsewhere != before &&
                                    unlike(flow->types, here, elsewhere);
        if (tells_more(flow->types, elsewhere, here))
                pursuit->told_elsewhere = pursuit->told;
}

static void consider_variables(const struct flow_context *flow, struct pursuit *pursuit,
                               const struct flow_state *state, uint64_t vaddr)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++) {
                const struct place_value *value = &state->registers[i];

                if (!is_result(value))
                        continue;
                struct place_value named = flow_state_called(flow, state, i, vaddr);

                if (named.kind == PLACE_POINTER && named.offset == 0)
                        consider_pointer(flow, pursuit, &named);
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
            !is_result(&state->registers[step->instruction.source]))
                return;
        struct place_value place = flow_operand(flow, state, step);
        struct flow_state without_slots = *state;

        without_slots.frame.count = 0;
        struct place_value there =
            flow_state_load(flow, &without_slots, &place, step->vaddr);

        if (there.kind == PLACE_POINTER && is_new(flow, pursuit, there.type))
                pursuit->told = (struct told){
                    there.type, pointer_name_stored(pursuit->walk, &without_slots, &place,
                                                    step->vaddr)};
}

static void fork_way(const struct flow_code *code, struct pursuit *pursuit,
                     const struct flow_state *state, uint64_t target)
{
        size_t step = flow_code_at(code, target);

        /* Before the branch, a variable of one path may belong to the other. */
        pursuit->several |=
            pursuit->lineless && !pursuit->parted && pursuit->told.type != TYPE_NONE;
        pursuit->parted = true;
        if (step == SIZE_MAX || pursuit->way_count == RESULT_WAYS) {
                pursuit->several |=
                    pursuit->lineless; /* the other path may return another type */
                return;
        }
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
        return type_of_variable(flow->reader, flow->function);
}

/* A function without a return value may leave anything in the result's register. */
static void take_returned(const struct flow_context *flow, struct pursuit *pursuit,
                          const struct place_value *value)
{
        if (value->kind != PLACE_RESULT || return_type(flow) == TYPE_NONE)
                return;
        pursuit->returned |= value->offset == 0;
}

static void pursue(const struct flow_context *flow, const struct flow_code *code,
                   struct pursuit *pursuit, struct flow_state *state, size_t at)
{
        while (at < code->step_count && pursuit->steps_left > 0 && has_result(state)) {
                const struct flow_step *step = &code->steps[at];

                pursuit->steps_left--;
                note_registers(pursuit, state);
                consider_variables(flow, pursuit, state, step->vaddr);
                consider_store(flow, pursuit, state, step);
                switch (step->instruction.operation) {
                case OPERATION_END:
                        take_returned(flow, pursuit, &state->registers[REGISTER_RAX]);
                        return;
                case OPERATION_BRANCH:
                        fork_way(code, pursuit, state, step->instruction.target);
                        break;
                default:
                        flow_effect(flow, state, step);
                        break;
                }
                at = flow_code_next(code, at);
        }
}

static bool divides(const struct flow_code *code, const struct flow_step *step)
{
        struct decoded decoded;

        if (!decoded_read(&decoded, code, step))
                return false;
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
                return false;
        }
}

/* Whether an instruction before step number AT divides. The item count in use at AT may
 * then be a quotient. */
static bool may_be_quotient(const struct flow_code *code, size_t at)
{
        for (size_t left = QUOTIENT_STEPS; at-- > 0 && left > 0; left--)
                if (divides(code, &code->steps[at]))
                        return true;
        return false;
}

/* The item size that the calloc() call at step number AT asks for. 0 for other calls, an
 * unknown size or a count known to be at most 1. 0 also if the count may be a quotient:
 * the size may then only be the unit that bytes are rounded up to. */
static uint64_t item_bytes(const struct flow_context *flow,
                           const struct flow_state *state, const struct flow_code *code,
                           size_t at)
{
        if (memory_function_called(flow->globals->slots, flow->globals->symbols,
                                   &code->steps[at].instruction) != MEMORY_ALLOCATE_ITEMS)
                return 0;
        const struct place_value *count = &state->registers[REGISTER_RDI];
        const struct place_value *bytes = &state->registers[REGISTER_RSI];
        bool constant = count->kind == PLACE_NUMBER && count->stride_bytes == 0;
        bool several =
            constant ? count->offset > 1
                     : place_is_number(count) &&
                           !(rule_applies("divided-count") && may_be_quotient(code, at));

        return several && bytes->kind == PLACE_NUMBER && bytes->stride_bytes == 0 &&
                       bytes->offset > 0
                   ? (uint64_t)bytes->offset
                   : 0;
}

void flow_result(const struct flow_walk *walk, struct flow_state *state, size_t at,
                 struct flow_answer *answer)
{
        const struct flow_context *flow = walk->context;
        const struct flow_code *code = walk->code;
        struct pursuit pursuit = {.walk = walk,
                                  .lineless = answer->lineless,
                                  .steps_left = RESULT_STEPS,
                                  .told = {TYPE_NONE, 0},
                                  .told_elsewhere = {TYPE_NONE, 0},
                                  .type_before = TYPE_NONE};

        answer->variable.type = TYPE_NONE;
        answer->place = place_unknown;
        if (code->steps[at].instruction.operation != OPERATION_CALL)
                return;
        answer->item_bytes = item_bytes(flow, state, code, at);
        flow_effect(flow, state, &code->steps[at]);
        if (state->registers[REGISTER_RAX].kind == PLACE_POINTER)
                consider_pointer(flow, &pursuit, &state->registers[REGISTER_RAX]);
        state->registers[REGISTER_RAX] =
            (struct place_value){.kind = PLACE_RESULT, .type = TYPE_NONE};
        pursue(flow, code, &pursuit, state, at + 1);
        end_way(flow, &pursuit);
        while (pursuit.way_count > 0) {
                struct flow_state other = pursuit.ways[--pursuit.way_count].state;

                pursuit.told = pursuit.ways[pursuit.way_count].told;
                pursuit.type_before = pursuit.told.type;
                pursue(flow, code, &pursuit, &other,
                       pursuit.ways[pursuit.way_count].step);
                end_way(flow, &pursuit);
        }
        pursuit.several |= pursuit.lineless && !pursuit.parted;
        pursuit.told = pursuit.told_elsewhere;
        if (pursuit.several ||
            (rule_applies("merged-call") &&
             (merged_call_beside(walk, pursuit.held, pursuit.told.type) ||
              merged_call_before(walk, at, pursuit.told.type))))
                pursuit.told = (struct told){TYPE_NONE, 0};
        uint32_t returned =
            pursuit.returned ? type_pointee(flow->reader, return_type(flow)) : TYPE_NONE;

        if (is_new(flow, &pursuit, returned))
                pursuit.told = (struct told){returned, pointer_name_returned(walk)};
        answer->outcome = FLOW_FOUND;
        answer->returned = pursuit.returned;
        answer->place = place_pointer(pursuit.told.type, 0);
        if (answer->place.kind == PLACE_POINTER)
                answer->pointer = pursuit.told.pointer;
}
