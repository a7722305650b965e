/* SPDX-License-Identifier: MIT */
/* The place that the pointer came from is told by its operand, while its registers stay
 * as they are. */
#include "popped_link.h"

#include <string.h>

#include "flow_operand.h"
#include "type_field.h"

enum { STEPS_BETWEEN = 12, STEPS_BEFORE = 32 };

static const struct type_access pointer_access = {.bytes = sizeof(uint64_t),
                                                  .number = NUMBER_INTEGER};

static bool same_operand(const struct memory_operand *a, const struct memory_operand *b)
{
        return a->base == b->base && a->index == b->index && a->scale == b->scale &&
               a->thread_local == b->thread_local && a->displacement == b->displacement;
}

static bool writes(const struct instruction *done, uint8_t reg)
{
        return reg < REGISTER_COUNT && done->written >> reg & 1;
}

/* Whether a step between FROM and TO, both left out, writes what OPERAND is made of, or
 * ends the straight way. */
static bool is_lost(const struct flow_code *code, size_t from, size_t to,
                    const struct memory_operand *operand)
{
        for (size_t i = from + 1; i < to; i++) {
                const struct instruction *done = &code->steps[i].instruction;

                if (done->operation == OPERATION_CALL || writes(done, operand->base) ||
                    writes(done, operand->index))
                        return true;
        }
        return false;
}

/* The step that stores what step number AT loads to OPERAND; SIZE_MAX: none does. */
static size_t find_store(const struct flow_code *code, size_t at,
                         const struct memory_operand *operand)
{
        uint8_t loaded = code->steps[at].instruction.destination;

        for (size_t i = at + 1; i < code->step_count && i <= at + STEPS_BETWEEN &&
                                flow_code_follows(code, i);
             i++) {
                const struct instruction *done = &code->steps[i].instruction;

                if (done->operation == OPERATION_JUMP ||
                    done->operation == OPERATION_END ||
                    done->operation == OPERATION_JUMP_INDIRECT)
                        return SIZE_MAX;
                if (done->operation == OPERATION_STORE && done->source == loaded &&
                    same_operand(&done->memory, operand))
                        return i;
                if (writes(done, loaded))
                        return SIZE_MAX;
        }
        return SIZE_MAX;
}

/* The step that loads the base of step number AT; SIZE_MAX: none does alone. */
static size_t find_load(const struct flow_walk *walk, const struct flow_state *state,
                        size_t at)
{
        const struct flow_code *code = walk->code;
        uint8_t base = code->steps[at].instruction.memory.base;
        const struct flow_writes *written = &state->writes[base];
        size_t load =
            written->count == 1 ? flow_code_at(code, written->vaddrs[0]) : SIZE_MAX;

        if (load >= at || at - load > STEPS_BEFORE)
                return SIZE_MAX;
        const struct instruction *done = &code->steps[load].instruction;

        return done->operation == OPERATION_LOAD && done->destination == base &&
                       done->memory.base != base && done->memory.index != base
                   ? load
                   : SIZE_MAX;
}

/* What the pointer that step number LOAD reads is declared to be to. */
static uint32_t declared_there(const struct flow_walk *walk, size_t load)
{
        const struct flow_input *input = walk->context->input;
        const struct types *types = input->reader->types;
        struct flow_state state = flow_walk_before(walk, load);
        struct place_value place =
            flow_operand(walk->context, &state, &walk->code->steps[load]);
        uint32_t type = TYPE_NONE;
        uint64_t offset = 0;

        if (place.kind == PLACE_ADDRESS && !place.indexed) {
                type =
                    input->global(input->global_context, (uint64_t)place.offset, &offset);
        } else if (place.kind == PLACE_POINTER && place.type != TYPE_NONE) {
                type = place.type;
                offset = place_offset(types, &place);
        }
        return type == TYPE_NONE
                   ? TYPE_NONE
                   : type_pointee(input->reader,
                                  type_part(types, type, offset, &pointer_access));
}

bool popped_link(const struct flow_walk *walk, const struct flow_state *state,
                 size_t step, const struct place_value *base)
{
        struct type_reader *reader = walk->context->input->reader;
        const struct types *types = reader->types;
        const struct instruction *at = &walk->code->steps[step].instruction;

        if (at->operation != OPERATION_LOAD || at->memory.displacement < 0)
                return false;
        size_t load = find_load(walk, state, step);

        if (load == SIZE_MAX)
                return false;
        const struct memory_operand *slot = &walk->code->steps[load].instruction.memory;
        size_t store = find_store(walk->code, step, slot);

        if (store == SIZE_MAX || is_lost(walk->code, load, store, slot))
                return false;
        uint32_t declared = declared_there(walk, load);
        uint32_t link = type_pointee(
            reader, type_part(types, base->type,
                              (uint64_t)base->offset + (uint64_t)at->memory.displacement,
                              &pointer_access));

        return declared != TYPE_NONE && type_has_fields(types, declared) &&
               !type_same(types, declared, base->type) &&
               !type_holds(types, base->type, 0, declared) &&
               !type_holds(types, declared, 0, base->type) &&
               (link == TYPE_NONE || !type_same(types, link, declared));
}
