/* SPDX-License-Identifier: MIT */
/* The bits that were read are followed through masks, shifts and copies in registers and
 * flags, along a few ways and a bounded number of instructions, until something uses
 * them. A word that is stored again where it came from uses the bits that were changed.
 */
#include "bit_use.h"

#include "bit_watch.h"
#include "callee.h"

enum { STEPS_LIMIT = 128, WAYS_LIMIT = 8 };

/* The registers that a call may get its arguments in, by their DWARF numbers (System V
 * ABI, AMD64 supplement, figure 3.4). */
enum { ARGUMENTS = 0x0336 };

/* rdx, for the second half of what is returned. */
enum { RESULT_HIGH = 1 };

struct use {
        const struct flow_code *code;
        const struct flow_step *load;
        bool returns;  /* the function may return something in a register */
        uint64_t word; /* the mask of all of its bits */
        uint64_t used;
        uint64_t perhaps; /* bits that may be used where they are not followed to */
        bool cut_short;   /* not all of what holds bits is followed to its end */
        unsigned steps_left;
        struct {
                size_t step;
                struct bit_watch watch;
        } ways[WAYS_LIMIT];
        size_t way_count;
};

static bool same_place(const struct instruction *a, const struct instruction *b)
{
        const struct memory_operand *left = &a->memory, *right = &b->memory;

        return left->base == right->base && left->index == right->index &&
               left->scale == right->scale && left->displacement == right->displacement &&
               left->thread_local == right->thread_local;
}

/* The word, or its low part, is stored where it came from: what is not the same any more
 * is meant. */
static bool store(struct use *use, struct bit_watch *watch, const struct flow_step *step,
                  const struct decoded *decoded)
{
        uint8_t from = bit_register(&decoded->operands[1]);

        if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_MOV ||
            decoded->operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
            from >= REGISTER_COUNT || watch->moved ||
            !same_place(&step->instruction, &use->load->instruction))
                return false;
        struct bit_held *held = &watch->registers[from];

        if (!bit_holds(held)) { /* it was changed by what is not followed */
                use->used = use->word;
                return true;
        }
        uint64_t mask = bit_mask(&decoded->operands[1]);
        uint64_t changed = use->word & mask & ~held->parts[0].bits;

        if (held->parts[0].bits == 0 || held->parts[0].up != 0 ||
            held->parts[1].bits != 0 || held->spread_over & mask || !(mask & 1))
                return false;
        use->used |= changed;
        use->cut_short |= changed == 0; /* by a number that is not known */
        return true;
}

/* Whatever else reads registers uses what they hold. */
static void read_all(struct use *use, const struct bit_watch *watch,
                     const struct decoded *decoded)
{
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint8_t number = bit_register(operand);

                if (number < REGISTER_COUNT &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
                        use->used |=
                            bit_seen(&watch->registers[number], bit_mask(operand));
        }
}

static void read_addresses(struct use *use, const struct bit_watch *watch,
                           const struct decoded *decoded)
{
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];

                if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
                        continue;
                uint8_t base = instruction_register(operand->mem.base);
                uint8_t index = instruction_register(operand->mem.index);

                if (base < REGISTER_COUNT)
                        use->used |= bit_all(&watch->registers[base]);
                if (index < REGISTER_COUNT)
                        use->used |= bit_all(&watch->registers[index]);
        }
}

static void read_flags(struct use *use, const struct bit_watch *watch,
                       const struct decoded *decoded)
{
        const ZydisAccessedFlags *flags = decoded->instruction.cpu_flags;

        if (!flags)
                return;
        switch (flags->tested) {
        case 0:
                break;
        case ZYDIS_CPUFLAG_SF:
                use->used |= watch->sign;
                break;
        case ZYDIS_CPUFLAG_CF:
        case ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF:
                use->used |= watch->below;
                break;
        case ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF:
        case ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_ZF:
                use->used |= watch->above;
                break;
        default:
                use->used |= watch->flags;
        }
}

static void note_parts(struct bit_watch *watch, const struct decoded *decoded)
{
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint8_t number = bit_register(operand);

                if (number >= REGISTER_COUNT ||
                    !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
                        continue;
                watch->partly &= ~(UINT32_C(1) << number);
                watch->partly |= (uint32_t)(operand->size < 32) << number;
        }
}

static void pass(struct use *use, struct bit_watch *watch, const struct flow_step *step)
{
        const struct instruction *load = &use->load->instruction;
        struct decoded decoded;

        if (!decoded_read(&decoded, use->code, step)) {
                use->used = use->word;
                return;
        }
        const ZydisDecodedOperand *first = &decoded.operands[0];
        const ZydisAccessedFlags *flags = decoded.instruction.cpu_flags;
        uint8_t number = bit_register(first);
        const struct bit_watch before = *watch;

        read_flags(use, watch, &decoded);
        read_addresses(use, watch, &decoded);
        if (flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined))
                bit_watch_flags(watch, 0, 0);
        bool followed =
            (number < REGISTER_COUNT &&
             bit_watch_test(watch, decoded.instruction.mnemonic, first,
                            &decoded.operands[1], &watch->registers[number])) ||
            bit_watch_change(watch, &decoded) || bit_watch_copy(watch, &decoded) ||
            store(use, watch, step, &decoded) || bit_watch_invert(watch, &decoded);

        if (!followed) {
                read_all(use, &before, &decoded);
                bit_watch_write(watch, &decoded, step->instruction.written);
        }
        note_parts(watch, &decoded);
        for (uint8_t i = 0; i < REGISTER_COUNT; i++)
                watch->moved |= step->instruction.written >> i & 1 &&
                                (i == load->memory.base || i == load->memory.index);
}

/* ---- the ways on ---- */

static uint64_t in_registers(const struct bit_watch *watch)
{
        uint64_t bits = 0;

        for (int i = 0; i < REGISTER_COUNT; i++)
                bits |= bit_all(&watch->registers[i]);
        return bits;
}

static uint64_t watched(const struct bit_watch *watch)
{
        return in_registers(watch) | watch->flags | watch->below | watch->above |
               watch->sign;
}

static void fork_way(struct use *use, const struct bit_watch *watch, uint64_t target)
{
        size_t step = flow_code_at(use->code, target);

        if (step == SIZE_MAX || use->way_count == WAYS_LIMIT) {
                use->perhaps |= in_registers(watch);
                use->cut_short = true;
                return;
        }
        use->ways[use->way_count].step = step;
        use->ways[use->way_count++].watch = *watch;
}

/* What goes to another function in the register NUMBER, or is left there: of the whole
 * word a part may have been taken to be used, in which case it is only left. */
static void hand_on(struct use *use, const struct bit_watch *watch, int number)
{
        const struct bit_held *held = &watch->registers[number];

        if (held->parts[0].bits == use->word && held->parts[1].bits == 0)
                use->perhaps |= use->word;
        else
                use->used |= bit_all(held);
}

static void hand_on_arguments(struct use *use, const struct bit_watch *watch)
{
        for (int i = 0; i < REGISTER_COUNT; i++)
                if (ARGUMENTS >> i & 1)
                        hand_on(use, watch, i);
}

/* A call, whose target may be read by what is held. */
static void call(struct use *use, struct bit_watch *watch, const struct flow_step *step)
{
        struct decoded decoded;

        if (!decoded_read(&decoded, use->code, step)) {
                use->used = use->word;
                return;
        }
        read_all(use, watch, &decoded);
        read_addresses(use, watch, &decoded);
        hand_on_arguments(use, watch);
        bit_watch_forget(watch, CALL_CLOBBERED);
        bit_watch_flags(watch, 0, 0);
}

/* Behind a truth value, say, of one byte may lie what is not meant. */
static void give_back(struct use *use, const struct bit_watch *watch)
{
        const struct bit_held *held = &watch->registers[REGISTER_RAX];

        if (watch->partly >> REGISTER_RAX & 1 && bit_seen(held, 0xff) == 0)
                use->cut_short |= bit_holds(held);
        else
                hand_on(use, watch, REGISTER_RAX);
        use->cut_short |= bit_holds(&watch->registers[RESULT_HIGH]);
}

/* Goes to another function, or to a part of this one that is not known. */
static void leave(struct use *use, const struct bit_watch *watch)
{
        hand_on_arguments(use, watch);
        use->perhaps |= in_registers(watch);
}

static void follow(struct use *use, struct bit_watch *watch, size_t at)
{
        while (use->used != use->word && watched(watch) != 0) {
                if (at >= use->code->step_count || use->steps_left == 0)
                        break;
                const struct flow_step *step = &use->code->steps[at];

                /* Other registers may hold what it read before. */
                if (step == use->load) {
                        use->cut_short = true;
                        return;
                }
                use->steps_left--;
                switch (step->instruction.operation) {
                case OPERATION_END:
                        if (use->returns)
                                give_back(use, watch);
                        return;
                case OPERATION_JUMP:
                        at = flow_code_at(use->code, step->instruction.target);
                        if (at != SIZE_MAX)
                                continue;
                        leave(use, watch);
                        return;
                case OPERATION_CALL:
                        call(use, watch, step);
                        break;
                case OPERATION_BRANCH:
                        pass(use, watch, step);
                        fork_way(use, watch, step->instruction.target);
                        break;
                case OPERATION_JUMP_INDIRECT:
                        pass(use, watch, step);
                        leave(use, watch);
                        return;
                default:
                        pass(use, watch, step);
                        break;
                }
                if (++at < use->code->step_count && !flow_code_follows(use->code, at))
                        break;
        }
        use->perhaps |= watched(watch);
}

/* ---- the instruction itself ---- */

/* Changes the word in memory by a number, or tests it. */
static bool begin_constant(struct use *use, const struct decoded *decoded,
                           struct bit_watch *watch)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        const struct bit_held word = {.parts = {{.bits = use->word}}};
        uint64_t number = 0;

        if (first->type != ZYDIS_OPERAND_TYPE_MEMORY)
                return false;
        if (!bit_number(watch, second, first->size, &number))
                return false;
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_AND:
                use->used = use->word & ~number;
                return true;
        case ZYDIS_MNEMONIC_OR:
        case ZYDIS_MNEMONIC_XOR:
                use->used = use->word & number;
                return true;
        case ZYDIS_MNEMONIC_BTS:
        case ZYDIS_MNEMONIC_BTR:
        case ZYDIS_MNEMONIC_BTC:
                use->used = UINT64_C(1) << number % first->size;
                return true;
        default:
                return bit_watch_test(watch, decoded->instruction.mnemonic, first, second,
                                      &word);
        }
}

/* The word as it is in the register that an instruction loads, or joins with a number. */
static bool begin_register(const struct use *use, const struct decoded *decoded,
                           struct bit_watch *watch)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        uint8_t to = bit_register(first);
        uint64_t bits = use->word, number = 0;

        if (to >= REGISTER_COUNT || !(bit_mask(first) & 1) ||
            decoded->operands[1].type != ZYDIS_OPERAND_TYPE_MEMORY)
                return false;
        bool known = bit_number(watch, first, first->size, &number);

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_AND:
                if (known)
                        bits &= number;
                break;
        case ZYDIS_MNEMONIC_OR:
                if (known)
                        bits &= ~number;
                break;
        case ZYDIS_MNEMONIC_XOR:
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_MOVZX:
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
                break;
        default:
                return false;
        }
        bit_watch_forget(watch, UINT32_C(1) << to);
        watch->registers[to].parts[0].bits = bits;
        if (decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
            decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD)
                bit_spread(&watch->registers[to], use->word & ~(use->word >> 1),
                           bit_mask(first) & ~use->word);
        watch->moved = to == use->load->instruction.memory.base ||
                       to == use->load->instruction.memory.index;
        if (decoded->instruction.cpu_flags && decoded->instruction.cpu_flags->modified)
                bit_watch_flags(watch, bits, bits);
        return true;
}

uint64_t bit_use(const struct flow_code *code, size_t step,
                 const struct flow_state *state, bool returns, bool *unused)
{
        const struct instruction *instruction = &code->steps[step].instruction;
        struct use use = {.code = code,
                          .returns = returns,
                          .load = &code->steps[step],
                          .word = bit_low(instruction->access_bytes * 8),
                          .steps_left = STEPS_LIMIT};
        struct bit_watch watch;
        struct decoded decoded;

        *unused = false;
        bit_watch_begin(&watch, state);
        if (!instruction->has_memory || instruction->access_bytes == 0 ||
            instruction->access_bytes > 8 || instruction->floating ||
            instruction->vector || !decoded_read(&decoded, code, use.load) ||
            (!begin_constant(&use, &decoded, &watch) &&
             !begin_register(&use, &decoded, &watch)))
                return 0;
        if (step + 1 < code->step_count && flow_code_follows(code, step + 1))
                follow(&use, &watch, step + 1);
        else
                use.perhaps |= watched(&watch);
        while (use.way_count > 0) {
                struct bit_watch other = use.ways[--use.way_count].watch;

                follow(&use, &other, use.ways[use.way_count].step);
        }
        *unused = use.used == 0 && use.perhaps == 0 && !use.cut_short;
        use.used |= use.perhaps;
        return use.used == use.word ? 0 : use.used;
}
