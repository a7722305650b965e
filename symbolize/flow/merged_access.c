/* SPDX-License-Identifier: MIT */
/* The base register is followed until it is written: whichever variable is said to be in
 * it on the way had the same value. Where a branch depends on what was read, the access
 * was in the source before what lies behind it. Of code that was merged into another
 * block's nothing may be left but a variable that is nowhere. */
#include "merged_access.h"

#include <errno.h>
#include <stdlib.h>

#include "callee.h"
#include "decoded.h"
#include "merged_entry.h"
#include "popped_link.h"
#include "rule.h"
#include "type_field.h"

enum { STEPS_LIMIT = 96, WAYS_LIMIT = 8 };

struct way {
        size_t step;
        uint32_t values; /* mask of the registers with what was read */
        bool decides;    /* the flags are made of it */
};

struct search {
        const struct flow_walk *walk;
        const struct type_access *access;
        const struct register_variable **others; /* that are in the base register */
        size_t other_count;
        uint8_t base;
        int64_t displacement;
        uint32_t type; /* of the structure that the base leads OFFSET bytes into */
        uint64_t offset;
        struct way ways[WAYS_LIMIT];
        size_t way_count;
        unsigned steps_left;
};

/* Whether the access may be one of what POINTER, a pointer's type, leads to, and that is
 * no part of the structure, nor this of it. */
static bool is_rival(const struct search *search, uint32_t pointer)
{
        struct type_reader *reader = search->walk->context->input->reader;
        const struct types *types = reader->types;
        uint32_t to = type_pointee(reader, pointer);

        return to != TYPE_NONE && types->items[to].kind == TYPE_STRUCT &&
               search->displacement >= 0 &&
               !type_holds(types, search->type, search->offset, to) &&
               !(search->offset == 0 && type_holds(types, to, 0, search->type)) &&
               type_part(types, to, (uint64_t)search->displacement, search->access) !=
                   TYPE_NONE &&
               !type_contradicted(types, to, (uint64_t)search->displacement,
                                  search->access);
}

/* Those that are in the base register somewhere, by more than the word that it is theirs
 * once it is set. 0 or -ENOMEM. */
static int find_others(struct search *search)
{
        const struct variables *variables = search->walk->context->variables;

        search->others = malloc((variables->value_count + 1) * sizeof(*search->others));
        if (!search->others)
                return -ENOMEM;
        for (size_t i = 0; i < variables->value_count; i++) {
                const struct register_variable *value = &variables->values[i];

                if (value->reg == search->base && value->offset == 0 && !value->pointed &&
                    !value->from_set)
                        search->others[search->other_count++] = value;
        }
        return 0;
}

static bool met_at(const struct search *search, uint64_t vaddr)
{
        for (size_t i = 0; i < search->other_count; i++)
                if (search->others[i]->low <= vaddr && vaddr < search->others[i]->high &&
                    is_rival(search, search->others[i]->type))
                        return true;
        return false;
}

static bool reads_value(const struct way *way, const ZydisDecodedOperand *operand)
{
        uint8_t reg = operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                              operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ
                          ? instruction_register(operand->reg.value)
                          : REGISTER_NONE;

        return reg < REGISTER_COUNT && way->values >> reg & 1;
}

/* Follows what was read past STEP; READS: which is where it is read. */
static void pass(const struct flow_code *code, struct way *way,
                 const struct flow_step *step, bool reads)
{
        struct decoded decoded;

        if (!decoded_read(&decoded, code, step)) {
                way->values = 0;
                return;
        }
        for (size_t i = 0; i < decoded.instruction.operand_count && !reads; i++)
                reads = reads_value(way, &decoded.operands[i]);
        if (decoded.instruction.cpu_flags && decoded.instruction.cpu_flags->modified)
                way->decides = reads;
        if (reads)
                way->values |= step->instruction.written;
        else
                way->values &= ~step->instruction.written;
}

static bool writes_base(const struct search *search, const struct instruction *done)
{
        uint32_t written = done->written;

        if (done->operation == OPERATION_CALL)
                written |= CALL_CLOBBERED;
        return written >> search->base & 1;
}

static void add_way(struct search *search, size_t step, const struct way *from)
{
        if (step == SIZE_MAX || search->way_count == WAYS_LIMIT)
                return;
        search->ways[search->way_count] = *from;
        search->ways[search->way_count++].step = step;
}

/* Whether another variable is met on WAY. */
static bool follow(struct search *search, struct way *way)
{
        const struct flow_code *code = search->walk->code;

        while (way->step < code->step_count && search->steps_left > 0) {
                const struct flow_step *step = &code->steps[way->step];
                const struct instruction *done = &step->instruction;

                search->steps_left--;
                if (met_at(search, step->vaddr))
                        return true;
                switch (done->operation) {
                case OPERATION_END:
                case OPERATION_JUMP_INDIRECT:
                        return false;
                case OPERATION_JUMP:
                        way->step = flow_code_at(code, done->target);
                        continue;
                case OPERATION_BRANCH:
                        if (way->decides)
                                return false;
                        add_way(search, flow_code_at(code, done->target), way);
                        break;
                default:
                        if (writes_base(search, done))
                                return false;
                        pass(code, way, step, false);
                        break;
                }
                if (++way->step < code->step_count && !flow_code_follows(code, way->step))
                        return false;
        }
        return false;
}

static bool follow_all(struct search *search, size_t at)
{
        const struct flow_step *step = &search->walk->code->steps[at];
        struct way way = {.step = at + 1};

        if (met_at(search, step->vaddr))
                return true;
        if (writes_base(search, &step->instruction) ||
            at + 1 >= search->walk->code->step_count ||
            !flow_code_follows(search->walk->code, at + 1))
                return false;
        pass(search->walk->code, &way, step, !step->instruction.writes_memory);
        if (follow(search, &way))
                return true;
        while (search->way_count > 0) {
                way = search->ways[--search->way_count];
                if (follow(search, &way))
                        return true;
        }
        return false;
}

/* Whether a variable whose code is gone is declared beside the one that names the base,
 * or further within. */
static bool met_lost(const struct search *search, uint64_t vaddr)
{
        const struct variables *variables = search->walk->context->variables;
        const struct register_variable *named =
            variables->lost_count > 0
                ? variables_in_register(variables, search->base, vaddr)
                : NULL;

        for (size_t i = 0; i < variables->lost_count && named; i++) {
                const struct lost_pointer *lost = &variables->lost[i];

                if (lost->low <= vaddr && vaddr < lost->high &&
                    lost->depth <= named->depth && is_rival(search, lost->type))
                        return true;
        }
        return false;
}

/* Whether all that is accessed by the register of VALUE, which has it for a part of its
 * block, is so by other variables there. */
static bool is_others(struct search *search, const struct register_variable *value)
{
        const struct flow_code *code = search->walk->code;

        search->steps_left = STEPS_LIMIT;
        for (size_t i = flow_code_from(code, value->low);
             i < code->step_count && code->steps[i].vaddr < value->high; i++) {
                const struct instruction *instruction = &code->steps[i].instruction;

                if (search->steps_left == 0)
                        return false;
                search->steps_left--;
                if (instruction->has_memory && instruction->memory.base == value->reg &&
                    !variables_in_register(search->walk->context->variables, value->reg,
                                           code->steps[i].vaddr))
                        return false;
        }
        return true;
}

/* Whether a variable that has the base register for a part of its block has no code left
 * there but what another one names. */
static bool met_set(struct search *search, uint64_t vaddr)
{
        const struct register_variable *set = variables_set_in_register(
            search->walk->context->variables, search->base, vaddr);

        return set && !set->given && is_rival(search, set->type) &&
               is_others(search, set);
}

static bool is_unplaced_rival(const struct search *search,
                              const struct unplaced_variable *variable)
{
        struct type_reader *reader = search->walk->context->input->reader;
        Dwarf_Die die = variable->die;
        uint32_t type = type_of_variable(reader, &die);

        return type != TYPE_NONE && reader->types->items[type].kind == TYPE_POINTER &&
               is_rival(search, type);
}

/* Whether a pointer that is nowhere is declared in a block with this code. */
static bool met_unplaced(const struct search *search, uint64_t vaddr)
{
        const struct variables *variables = search->walk->context->variables;

        for (size_t i = 0; i < variables->unplaced_count; i++) {
                const struct unplaced_variable *variable = &variables->unplaced[i];

                if (vaddr >= variable->low && vaddr < variable->high &&
                    is_unplaced_rival(search, variable))
                        return true;
        }
        return false;
}

/* Whether VARIABLE is declared in the block of NAMED, beside that, or around it. */
static bool is_beside(const struct unplaced_variable *variable,
                      const struct register_variable *named)
{
        return variable->instance == named->instance &&
               (variable->block == named->block || variable->outer == named->outer ||
                variable->block == named->outer);
}

/* Whether the block of VARIABLE, another than that of NAMED, has code that may be the
 * access by it. */
static bool has_own_code(const struct search *search,
                         const struct unplaced_variable *variable,
                         const struct register_variable *named)
{
        const struct flow_code *code = search->walk->code;
        unsigned steps_left = STEPS_LIMIT;

        if (variable->block == named->block || variable->block == named->outer)
                return false;
        for (size_t i = flow_code_from(code, variable->low);
             i < code->step_count && code->steps[i].vaddr < variable->high; i++) {
                const struct instruction *instruction = &code->steps[i].instruction;

                if (steps_left-- == 0)
                        return true;
                if (instruction->has_memory && instruction->access_bytes > 0 &&
                    instruction->memory.displacement == search->displacement)
                        return true;
        }
        return false;
}

/* The variable that tells what BASE, the base register's value at VADDR, is to; NULL:
 * none does. */
static const struct register_variable *naming_variable(const struct search *search,
                                                       const struct place_value *base,
                                                       uint64_t vaddr)
{
        const struct variables *variables = search->walk->context->variables;
        const struct register_variable *named =
            variables_in_register(variables, search->base, vaddr);

        return named || !origin_is_variable(base->origin)
                   ? named
                   : &variables->values[base->origin - ORIGIN_FIRST_VARIABLE];
}

/* Whether a pointer of which no code is left is declared in the function of NAMED, the
 * variable that tells the base of step number STEP, and several ways lead there. */
static bool met_entered(const struct search *search, size_t step,
                        const struct register_variable *named)
{
        const struct variables *variables = search->walk->context->variables;
        bool met = false;

        if (!named)
                return false;
        for (size_t i = 0; i < variables->missing_count && !met; i++)
                met = variables->missing[i].instance == named->instance &&
                      is_rival(search, variables->missing[i].type);
        for (size_t i = 0; i < variables->lost_count && !met; i++)
                met = variables->lost[i].instance == named->instance &&
                      is_rival(search, variables->lost[i].type);
        for (size_t i = 0; i < variables->unplaced_count && !met; i++)
                met = is_beside(&variables->unplaced[i], named) &&
                      !has_own_code(search, &variables->unplaced[i], named) &&
                      is_unplaced_rival(search, &variables->unplaced[i]);
        return met && rule_applies("merged-entry") &&
               merged_entry(search->walk, step, named);
}

bool merged_access(const struct flow_walk *walk, struct flow_state *state, size_t step,
                   const struct type_access *access, bool ahead)
{
        const struct flow_step *at = &walk->code->steps[step];
        const struct memory_operand *memory = &at->instruction.memory;
        struct type_reader *reader = walk->context->input->reader;
        struct search search = {.walk = walk,
                                .access = access,
                                .base = memory->base,
                                .displacement = memory->displacement,
                                .steps_left = STEPS_LIMIT};

        if (!at->instruction.has_memory || memory->thread_local ||
            memory->base >= REGISTER_COUNT || memory->index != REGISTER_NONE)
                return false;
        const struct place_value base =
            flow_state_held(walk->context, state, memory->base, at->vaddr);

        if (base.kind != PLACE_POINTER || base.type == TYPE_NONE || base.offset < 0 ||
            reader->types->items[base.type].kind != TYPE_STRUCT)
                return false;
        search.type = base.type;
        search.offset = (uint64_t)base.offset;
        if (find_others(&search) < 0) {
                reader->error = -ENOMEM;
                return false;
        }
        bool met =
            (search.other_count > 0 && follow_all(&search, step)) ||
            met_lost(&search, at->vaddr) || met_set(&search, at->vaddr) ||
            (ahead && met_unplaced(&search, at->vaddr)) ||
            met_entered(&search, step, naming_variable(&search, &base, at->vaddr)) ||
            (rule_applies("popped-link") && popped_link(walk, state, step, &base));

        free(search.others);
        return met;
}
