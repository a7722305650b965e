/* SPDX-License-Identifier: MIT */
/* DWARF's variable takes precedence over data flow, unless it says less. */
#include "flow_state.h"

#include <string.h>

#include "flow_operand.h"
#include "type_field.h"

void flow_state_begin(struct flow_state *state)
{
        *state = (struct flow_state){.reached = true};
        for (int i = 0; i < REGISTER_COUNT; i++)
                state->registers[i] = place_unknown;
        for (int i = 0; i < REGISTER_COUNT; i++)
                state->writes[i].count = 1;
}

/* ---- writes ---- */

/* Returns whether it is new. */
static bool add_write(struct flow_writes *writes, uint64_t vaddr)
{
        uint8_t at = 0;

        if (writes->count > FLOW_WRITES)
                return false;
        while (at < writes->count && writes->vaddrs[at] < vaddr)
                at++;
        if (at < writes->count && writes->vaddrs[at] == vaddr)
                return false;
        if (writes->count++ == FLOW_WRITES)
                return true;
        memmove(writes->vaddrs + at + 1, writes->vaddrs + at,
                (size_t)(writes->count - 1 - at) * sizeof(*writes->vaddrs));
        writes->vaddrs[at] = vaddr;
        return true;
}

static bool add_writes(struct flow_writes *into, const struct flow_writes *from)
{
        bool changed = false;

        if (from->count > FLOW_WRITES && into->count <= FLOW_WRITES) {
                into->count = FLOW_WRITES + 1;
                return true;
        }
        for (uint8_t i = 0; i < from->count && into->count <= FLOW_WRITES; i++)
                changed |= add_write(into, from->vaddrs[i]);
        return changed;
}

void flow_state_written(struct flow_state *state, uint8_t reg, uint64_t vaddr,
                        bool modified)
{
        if (!modified)
                state->writes[reg].count = 0;
        add_write(&state->writes[reg], vaddr);
}

/* ---- names ---- */

/* Whether VALUE's target contains NAMED's target, or the structure around it, at the same
 * address. */
static bool points_around(const struct types *types, const struct place_value *value,
                          const struct place_value *named)
{
        struct place_value settled = place_settled(types, value, 0);

        return !settled.guessed &&
               type_holds(types, settled.type,
                          (uint64_t)settled.offset - (uint64_t)named->offset,
                          named->type);
}

static bool points_to_fields(const struct types *types, const struct place_value *value)
{
        return value->kind == PLACE_POINTER && type_has_fields(types, value->type);
}

static struct place_value pointed_by(const struct flow_context *flow,
                                     const struct register_variable *variable)
{
        if (!variable)
                return place_unknown;
        struct place_value pointed =
            place_pointer(type_pointee(flow->reader, variable->type),
                          (int64_t)(0 - (uint64_t)variable->offset));

        if (pointed.kind == PLACE_POINTER)
                pointed.origin =
                    origin_of_variable((size_t)(variable - flow->variables->values));
        return pointed;
}

/* Whether A's block lies within B's block. */
static bool is_inner(const struct register_variable *a, const struct register_variable *b)
{
        return a->low != b->low ? a->low > b->low : a->high <= b->high;
}

/* If two variables have the register, the larger structure decides: a pointer to a list's
 * link may also point to its item, and a pointer to an object to its member. Otherwise
 * the inner variable decides, unless its type has no fields. */
static struct place_value named_in(const struct flow_context *flow, uint8_t reg,
                                   uint64_t vaddr)
{
        const struct register_variable *in =
            variables_in_register(flow->variables, reg, vaddr);
        const struct register_variable *beside =
            variables_at(flow->variables, VARIABLES_BESIDE, reg, vaddr);
        struct place_value a = pointed_by(flow, in), b = pointed_by(flow, beside);

        if (variable_has_rival(beside))
                b = place_unknown;
        if (variable_has_rival(in))
                return place_unknown;
        if (a.kind != PLACE_POINTER || b.kind != PLACE_POINTER)
                return a.kind == PLACE_POINTER ? a : b;
        if (points_to_fields(flow->types, &a) != points_to_fields(flow->types, &b))
                return points_to_fields(flow->types, &a) ? a : b;
        if (points_around(flow->types, &a, &b))
                return a;
        return points_around(flow->types, &b, &a) || is_inner(beside, in) ? b : a;
}

/* Whether VALUE is a small number plus an index, and no address. Debug information may
 * give a pointer variable the register with its loop's offset instead. */
static bool is_count(const struct flow_context *flow, const struct place_value *value)
{
        return value->kind == PLACE_NUMBER && value->stride_bytes > 1 &&
               !flow->has_absolute_addresses;
}

/* Whether only instructions of VARIABLE's block may have written REG last. Before its
 * assignment the register may hold another variable's value. */
static bool is_set(const struct flow_context *flow, const struct flow_state *state,
                   uint8_t reg, const struct register_variable *variable)
{
        const struct flow_writes *writes = &state->writes[reg];

        if (writes->count == 0 || writes->count > FLOW_WRITES)
                return false;
        uint32_t inside = 0;

        for (uint8_t i = 0; i < writes->count; i++) {
                if (variables_in_block(flow->variables, variable, writes->vaddrs[i]))
                        inside++;
                else if (!variable->given || writes->vaddrs[i] != 0)
                        return false;
        }
        return inside == variable->writes;
}

/* The target of a variable that is in REG for a part of its block. */
static struct place_value set_there(const struct flow_context *flow,
                                    const struct flow_state *state, uint8_t reg,
                                    uint64_t vaddr)
{
        const struct register_variable *variable =
            variables_at(flow->variables, VARIABLES_SET, reg, vaddr);

        return variable && is_set(flow, state, reg, variable) ? pointed_by(flow, variable)
                                                              : place_unknown;
}

struct place_value flow_state_called(const struct flow_context *flow,
                                     const struct flow_state *state, uint8_t reg,
                                     uint64_t vaddr)
{
        struct place_value named = named_in(flow, reg, vaddr);

        return named.kind == PLACE_POINTER ? named : set_there(flow, state, reg, vaddr);
}

/* Decides between VALUE, from data flow, and the variable there. The variable has the
 * author's type. It does not count if it says less: void, or a part of a target. */
static struct place_value believed(const struct flow_context *flow,
                                   const struct place_value *value,
                                   const struct place_value *named)
{
        if (named->kind != PLACE_POINTER || value->kind == PLACE_RESULT)
                return *value;
        if (value->kind == PLACE_POINTER)
                return !points_to_fields(flow->types, named) ||
                               points_around(flow->types, value, named)
                           ? *value
                           : *named;
        return place_in_frame(value) || value->kind == PLACE_ADDRESS ||
                       is_count(flow, value)
                   ? *value
                   : *named;
}

/* Whether VALUE, from data flow, and SET, a variable that may be in the register, have
 * different targets. One of the two is then wrong. */
static bool contradicts(const struct types *types, const struct place_value *value,
                        const struct place_value *set)
{
        if (value->kind != PLACE_POINTER || !points_to_fields(types, set) ||
            points_around(types, value, set) || points_around(types, set, value))
                return false;
        return types->items[value->type].canonical != types->items[set->type].canonical;
}

/* Makes VALUE, in REG, unknown if its type comes from an aliasing variable. */
static void forget_rival(const struct flow_context *flow, struct place_value *value,
                         uint8_t reg, uint64_t vaddr)
{
        const struct register_variable *beside =
            variables_at(flow->variables, VARIABLES_BESIDE, reg, vaddr);

        if (value->kind != PLACE_POINTER)
                return;
        if (variable_has_rival(variables_in_register(flow->variables, reg, vaddr)) ||
            (variable_has_rival(beside) && beside->offset > 0 &&
             value->offset == -beside->offset))
                *value = place_unknown;
}

struct place_value flow_state_held(const struct flow_context *flow,
                                   struct flow_state *state, uint8_t reg, uint64_t vaddr)
{
        struct place_value *value = &state->registers[reg];

        forget_rival(flow, value, reg, vaddr);
        struct place_value named = named_in(flow, reg, vaddr);

        if (named.kind != PLACE_POINTER || !points_to_fields(flow->types, &named)) {
                struct place_value set = set_there(flow, state, reg, vaddr);

                if (set.kind == PLACE_POINTER && contradicts(flow->types, value, &set))
                        return place_unknown;
                if (set.kind == PLACE_POINTER && value->kind != PLACE_NUMBER)
                        named = set;
        }
        *value = believed(flow, value, &named);
        return *value;
}

bool flow_state_in(const struct flow_context *flow, const struct flow_state *state,
                   const struct place_value *place, const struct frame_variable *variable,
                   int64_t *offset)
{
        uint64_t start = (uint64_t)variable->offset;

        if (variable->in_frame ? place->kind != PLACE_FRAME
                               : !place_in_frame(place) ||
                                     state->registers[variable->reg].kind != place->kind)
                return false;
        if (!variable->in_frame)
                start += (uint64_t)state->registers[variable->reg].offset;
        *offset = (int64_t)((uint64_t)place->offset - start);
        return (uint64_t)*offset < flow->types->items[variable->type].size_bytes;
}

/* Whether A, of two overlapping variables, is the live one, because its block is within
 * B's. B's declaration then follows that block, or they would not overlap. Equal
 * variables at one address may be one with two names. */
static bool outlives(const struct types *types, const struct frame_variable *a,
                     const struct frame_variable *b)
{
        return a->scoped && b->scoped && a->depth > b->depth &&
               (a->offset != b->offset ||
                types->items[a->type].canonical != types->items[b->type].canonical);
}

const struct frame_variable *flow_state_variable(const struct flow_context *flow,
                                                 const struct flow_state *state,
                                                 const struct place_value *place,
                                                 uint64_t vaddr, int64_t *offset)
{
        const struct frame_variable *best = NULL;

        for (size_t i = 0; i < flow->variables->frames.count; i++) {
                const struct frame_variable *variable = &flow->variables->frames.items[i];
                int64_t inside;

                if (vaddr < variable->low || vaddr >= variable->high ||
                    !flow_state_in(flow, state, place, variable, &inside))
                        continue;
                if (variable->shared || variable->shares)
                        return NULL;
                if (best && outlives(flow->types, best, variable))
                        continue;
                if (best && !outlives(flow->types, variable, best))
                        return NULL;
                best = variable;
                *offset = inside;
        }
        return best;
}

/* The called function may write the whole variable, or everything above PLACE if no
 * variable is known. */
void flow_state_hand_over(const struct flow_context *flow, struct flow_state *state,
                          const struct place_value *place, uint64_t vaddr)
{
        int64_t inside = 0;
        const struct frame_variable *variable =
            flow_state_variable(flow, state, place, vaddr, &inside);
        uint64_t bytes = INT64_MAX;

        if (variable && !place->indexed)
                bytes = flow->types->items[variable->type].size_bytes - (uint64_t)inside;
        frame_slots_drop(&state->frame, place->offset, bytes);
}

/* The target of a pointer at OFFSET in TYPE. */
static struct place_value pointed_to(const struct flow_context *flow, uint32_t type,
                                     uint64_t offset)
{
        uint32_t part = type_part(flow->types, type, offset);

        return place_pointer(type_pointee(flow->reader, part), 0);
}

/* Whether OFFSET in TYPE contains a pointer, and its target is not POINTED. */
static bool other_pointer(const struct flow_context *flow, uint32_t type, uint64_t offset,
                          const struct place_value *pointed)
{
        uint32_t part = type_part(flow->types, type, offset);
        struct place_value there = pointed_to(flow, type, offset);

        return type_kind(flow->types, part) == TYPE_POINTER &&
               !place_same(&there, pointed);
}

/* Whether PLACE is a word before the start of a class's virtual table. */
static bool before_table(const struct flow_context *flow, const struct place_value *place)
{
        if (place->indexed || place->guessed || place->offset >= 0 ||
            place->offset % 8 != 0 ||
            flow->types->items[place->type].kind != TYPE_POINTER)
                return false;
        uint32_t function = type_pointee(flow->reader, place->type);

        return function != TYPE_NONE && type_kind(flow->types, function) == TYPE_OPAQUE;
}

/* The pointer at PLACE. An index that seems to begin at 1 may also be 0, if no other
 * pointer lies there. */
static struct place_value load_pointer(const struct flow_context *flow,
                                       const struct place_value *place)
{
        struct place_value settled = place_settled(flow->types, place, sizeof(uint64_t));
        struct place_value value =
            pointed_to(flow, settled.type, place_offset(flow->types, &settled));

        if (settled.guessed &&
            (settled.offset == place->offset ||
             other_pointer(flow, place->type, (uint64_t)place->offset, &value)))
                return place_unknown;
        return value;
}

struct place_value flow_state_load(const struct flow_context *flow,
                                   struct flow_state *state,
                                   const struct place_value *place, uint64_t vaddr)
{
        uint64_t offset = 0;
        int64_t in_variable;

        if (place_is_null(place))
                return place_unreached;
        switch (place->kind) {
        case PLACE_POINTER:
                return before_table(flow, place)
                           ? (struct place_value){.kind = PLACE_TABLE_WORD,
                                                  .type = TYPE_NONE,
                                                  .offset = place->offset}
                           : load_pointer(flow, place);
        case PLACE_FRAME:
        case PLACE_ALIGNED: {
                const struct place_value *stored =
                    place->indexed ? NULL : frame_slots_at(&state->frame, place->offset);
                const struct frame_variable *variable =
                    flow_state_variable(flow, state, place, vaddr, &in_variable);
                bool stays =
                    variable && place_stays_in(flow->types, place, variable->type,
                                               (uint64_t)in_variable);
                struct place_value named =
                    stays ? pointed_to(flow, variable->type, (uint64_t)in_variable)
                          : place_unknown;

                return stored ? believed(flow, stored, &named) : named;
        }
        case PLACE_ADDRESS: {
                struct place_value meant =
                    flow_thread_slot(flow, place, THREAD_SLOT_OFFSET);

                if (meant.kind != PLACE_UNKNOWN)
                        return meant;
                uint32_t type =
                    globals_type(flow->globals, (uint64_t)place->offset, &offset);

                return type == TYPE_NONE ||
                               !place_stays_in(flow->types, place, type, offset)
                           ? place_unknown
                           : pointed_to(flow, type, offset);
        }
        case PLACE_THREAD:
                /* Its first word contains its address (ELF handling for thread-local
                 * storage, section 3.4.6). */
                return place->offset == 0 && !place->indexed ? *place : place_unknown;
        case PLACE_UNREACHED:
                return *place;
        default:
                return place_unknown;
        }
}

/* Exposes the whole variable around PLACE, or everything above PLACE if no variable is
 * known. */
void flow_state_expose(const struct flow_context *flow, struct flow_state *state,
                       const struct place_value *place, uint64_t vaddr)
{
        int64_t inside = 0;

        if (place->kind != PLACE_FRAME)
                return;
        const struct frame_variable *variable =
            flow_state_variable(flow, state, place, vaddr, &inside);
        struct frame_exposed exposed = {place->offset, INT64_MAX};

        if (variable && !place->indexed && inside >= 0 && inside <= INT32_MAX) {
                exposed.low = (int64_t)((uint64_t)place->offset - (uint64_t)inside);
                exposed.high = (int64_t)((uint64_t)exposed.low +
                                         flow->types->items[variable->type].size_bytes);
        }
        frame_slots_expose(&state->frame, exposed);
}

void flow_state_forget_written(const struct flow_context *flow, struct flow_state *state)
{
        frame_slots_forget_numbers(&state->frame);
        frame_slots_forget_exposed(&state->frame, flow->types, NULL);
}

/* Whether PLACE may be in the frame: a pointer's type does not exclude the stack. */
static bool may_be_frame(const struct place_value *place)
{
        return !place_in_frame(place) && place->kind != PLACE_ADDRESS &&
               place->kind != PLACE_THREAD && place->kind != PLACE_UNREACHED;
}

/* Whether PLACE is declared as a number, so that no pointer is stored there. */
static bool is_number_there(const struct types *types, const struct place_value *place)
{
        if (place->kind != PLACE_POINTER || place->guessed)
                return false;
        struct place_value settled = place_settled(types, place, sizeof(uint64_t));
        uint32_t part = type_part(types, settled.type, place_offset(types, &settled));

        return part != TYPE_NONE && types->items[part].kind != TYPE_POINTER;
}

/* Stores VALUE (NULL: unknown) in BYTES at PLACE, which may be in the frame. */
static void store_anywhere(const struct flow_context *flow, struct flow_state *state,
                           const struct place_value *place,
                           const struct place_value *value, uint64_t bytes)
{
        frame_slots_forget_numbers(&state->frame);
        if (state->frame.exposed_count > 0 && bytes >= sizeof(uint64_t) &&
            !is_number_there(flow->types, place))
                frame_slots_forget_exposed(&state->frame, flow->types, value);
}

void flow_state_store(const struct flow_context *flow, struct flow_state *state,
                      const struct place_value *place, const struct place_value *value,
                      uint64_t bytes)
{
        if (may_be_frame(place))
                store_anywhere(flow, state, place, value, bytes);
        if (!place_in_frame(place))
                return;
        if (place->indexed) { /* it may reach the next variable, one stride further */
                frame_slots_forget_numbers(&state->frame);
                frame_slots_drop(&state->frame, place->offset, place->stride_bytes + 8);
        } else if (value) {
                frame_slots_put(&state->frame, place->offset, value);
        } else {
                frame_slots_drop(&state->frame, place->offset, bytes);
        }
}

bool flow_state_merge(const struct flow_context *flow, struct flow_state *into,
                      const struct flow_state *from)
{
        if (!into->reached) {
                *into = *from;
                return true;
        }
        bool changed = frame_slots_merge(&into->frame, &from->frame, flow->types);

        for (int i = 0; i < REGISTER_COUNT; i++) {
                struct place_value value =
                    place_meet(flow->types, &into->registers[i], &from->registers[i]);

                changed |= !place_same(&value, &into->registers[i]);
                changed |= add_writes(&into->writes[i], &from->writes[i]);
                into->registers[i] = value;
                if (into->multiples[i].factor != 0 &&
                    (into->multiples[i].factor != from->multiples[i].factor ||
                     into->multiples[i].of != from->multiples[i].of)) {
                        changed = true;
                        into->multiples[i].factor = 0;
                }
        }
        return changed;
}
