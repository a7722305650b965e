/* SPDX-License-Identifier: MIT */
/* What registers hold before is known from the code of the same block, and from the flow.
 */
#include "bit_begin.h"

#include "bit_address.h"
#include "bit_ones.h"

enum { STEPS_BACK_LIMIT = 32 };

/* The bits of the word that MNEMONIC changes by an operand with bits of NONZERO only and
 * all of ONES; 0: not known. */
static uint64_t changed_in_memory(ZydisMnemonic mnemonic, uint64_t word, uint64_t nonzero,
                                  uint64_t ones)
{
        switch (mnemonic) {
        case ZYDIS_MNEMONIC_AND:
                return word & ~ones;
        case ZYDIS_MNEMONIC_OR:
        case ZYDIS_MNEMONIC_XOR:
                return word & nonzero;
        case ZYDIS_MNEMONIC_ADD:
        case ZYDIS_MNEMONIC_SUB: /* nothing is carried down */
                return nonzero ? word & ~bit_low((unsigned)__builtin_ctzll(nonzero)) : 0;
        default:
                return 0;
        }
}

/* The instruction changes the word in memory, or tests it by a number. A sum may change
 * all of it, as one number. */
static bool begin_in_memory(const struct decoded *decoded, struct bit_watch *watch,
                            struct bit_used *used)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        const ZydisDecodedOperand *second = &decoded->operands[1];
        const struct bit_held word = {.parts = {{.bits = watch->word}}};
        ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
        uint64_t number = 0;

        if (first->type != ZYDIS_OPERAND_TYPE_MEMORY)
                return false;
        bool known = bit_number(watch, second, first->size, &number);

        used->bits = changed_in_memory(mnemonic, watch->word,
                                       bit_watch_nonzero(watch, second, first->size),
                                       bit_ones(watch, second));
        if (used->bits) {
                used->whole =
                    used->bits == watch->word &&
                    (mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_SUB);
                bit_watch_flags(watch, watch->word, watch->word);
                return true;
        }
        if (!known)
                return false;
        switch (mnemonic) {
        case ZYDIS_MNEMONIC_BTS:
        case ZYDIS_MNEMONIC_BTR:
        case ZYDIS_MNEMONIC_BTC:
                used->bits = UINT64_C(1) << number % first->size;
                return true;
        default:
                return bit_watch_test(watch, mnemonic, first, second, &word);
        }
}

/* The word as it is in the register that an instruction loads, or joins with a number. */
static bool begin_register(const struct memory_operand *memory,
                           const struct decoded *decoded, struct bit_watch *watch)
{
        const ZydisDecodedOperand *first = &decoded->operands[0];
        uint8_t to = bit_register(first);
        uint64_t bits = watch->word, other = 0, number = 0;

        if (to >= REGISTER_COUNT || !(bit_mask(first) & 1) ||
            decoded->operands[1].type != ZYDIS_OPERAND_TYPE_MEMORY)
                return false;
        bool known = bit_number(watch, first, first->size, &number);
        uint64_t joined = bit_watch_nonzero(watch, first, first->size);

        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_AND:
                bits &= known ? number : joined;
                other = bits & ~bit_ones(watch, first);
                break;
        case ZYDIS_MNEMONIC_OR:
                if (known)
                        bits &= ~number;
                other = joined;
                break;
        case ZYDIS_MNEMONIC_XOR:
                other = joined;
                break;
        case ZYDIS_MNEMONIC_ADD:
                other = (joined | bit_from(joined & bits)) & bit_mask(first);
                break;
        case ZYDIS_MNEMONIC_MOV:
        case ZYDIS_MNEMONIC_MOVZX:
        case ZYDIS_MNEMONIC_MOVSX:
        case ZYDIS_MNEMONIC_MOVSXD:
                break;
        default:
                return false;
        }
        bit_watch_forget(watch, UINT32_C(1) << to);
        struct bit_held *held = &watch->registers[to];

        held->parts[0].bits = bits;
        held->carried = decoded->instruction.mnemonic == ZYDIS_MNEMONIC_ADD
                            ? bit_from(joined & bits) & bit_mask(first)
                            : 0;
        held->other = other | (first->size < 32 ? ~bit_mask(first) : 0);
        if (decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
            decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD)
                bit_spread(held, watch->word & ~(watch->word >> 1),
                           bit_mask(first) & ~watch->word);
        watch->moved = to == memory->base || to == memory->index;
        watch->copies &= to == memory->index ? 0 : ~(UINT32_C(1) << to);
        if (decoded_sets_flags(decoded))
                bit_watch_flags(watch, bits, bits);
        return true;
}

/* The constant *NUMBER that the instruction at VADDR sets the register REG to, or else
 * (STEPS) adds to it. */
static bool constant_at(const struct flow_code *code, uint64_t vaddr, uint8_t reg,
                        uint64_t *number, bool *steps)
{
        size_t step = flow_code_at(code, vaddr);
        const struct instruction *by =
            step != SIZE_MAX ? &code->steps[step].instruction : NULL;

        if (!by || by->destination != reg)
                return false;
        *number = (uint64_t)by->immediate;
        switch (by->operation) {
        case OPERATION_CONSTANT:
                return true;
        case OPERATION_ADD_CONSTANT:
                *steps = true;
                return true;
        case OPERATION_ADD_HALF:
                *steps = true;
                return by->source == reg;
        default:
                return false;
        }
}

static void take_number(struct bit_watch *watch, uint8_t reg, uint64_t number)
{
        watch->known |= UINT32_C(1) << reg;
        watch->numbers[reg] = watch->ones[reg] = watch->registers[reg].other = number;
}

/* Of a register that only constants are written to, which may be too large for the flow
 * to follow, or counted on by: that, or the bits that do not change. */
static void take_writes(const struct flow_code *code, const struct flow_writes *writes,
                        uint8_t reg, struct bit_watch *watch)
{
        uint64_t bits = 0, number = 0;
        bool steps = false;

        if (writes->count == 0 || writes->count > FLOW_WRITES)
                return;
        for (uint8_t i = 0; i < writes->count; i++) {
                if (!constant_at(code, writes->vaddrs[i], reg, &number, &steps))
                        return;
                bits |= number;
        }
        if (writes->count == 1 && !steps)
                take_number(watch, reg, number);
        else
                watch->registers[reg].other &= bit_from(bits);
}

/* Takes the known numbers in registers before the load. */
static void take_numbers(const struct flow_code *code, const struct flow_state *state,
                         struct bit_watch *watch)
{
        for (uint8_t i = 0; i < REGISTER_COUNT; i++) {
                const struct place_value *value = &state->registers[i];

                if (value->kind == PLACE_NUMBER && value->stride_bytes == 0 &&
                    !value->indexed)
                        take_number(watch, i, (uint64_t)value->offset);
                else
                        take_writes(code, &state->writes[i], i, watch);
        }
}

/* Learns about registers from the code before the load, in its block. */
static void look_back(const struct flow_code *code, size_t step, struct bit_watch *watch)
{
        size_t first = code->blocks[flow_code_block(code, step)].first;

        if (step - first > STEPS_BACK_LIMIT)
                first = step - STEPS_BACK_LIMIT;
        for (size_t at = first; at < step; at++) {
                const struct instruction *instruction = &code->steps[at].instruction;
                struct decoded decoded;

                if (!decoded_read(&decoded, code, &code->steps[at]) ||
                    instruction->operation == OPERATION_CALL)
                        bit_watch_begin(watch);
                else if (!bit_watch_follow(watch, &decoded))
                        bit_watch_write(watch, &decoded, instruction->written);
        }
        watch->known = 0;
        bit_watch_flags(watch, 0, 0);
}

bool bit_begin(const struct flow_code *code, size_t step, const struct flow_state *state,
               struct bit_watch *watch, struct bit_used *used)
{
        const struct instruction *instruction = &code->steps[step].instruction;
        struct decoded decoded;

        *used = (struct bit_used){0};
        if (!instruction->has_memory || instruction->access_bytes == 0 ||
            instruction->access_bytes > 8 || instruction->floating ||
            instruction->vector || !decoded_read(&decoded, code, &code->steps[step]))
                return false;
        bit_watch_begin(watch);
        look_back(code, step, watch);
        take_numbers(code, state, watch);
        bit_address_begin(watch, code, step);
        watch->word = bit_low(instruction->access_bytes * 8);
        return begin_in_memory(&decoded, watch, used) ||
               begin_register(&instruction->memory, &decoded, watch);
}
