/* SPDX-License-Identifier: MIT */
/* The code is followed backwards in its order, through copies, sums and words of the
 * frame, for a bounded number of steps. */
#include "divided_count.h"

#include "decoded.h"

enum { STEPS_LIMIT = 64 };

/* The home of the number: a register, or a word of memory at a register. */
struct holder {
        uint8_t reg;
        bool in_memory;
        int64_t displacement; /* from REG, in memory */
};

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

static bool is_word(const struct memory_operand *memory)
{
        return memory->base < REGISTER_COUNT && memory->index == REGISTER_NONE &&
               !memory->thread_local;
}

/* Follows HOLDER to before INSTRUCTION, which writes it; false: no further. */
static bool follow(const struct instruction *instruction, struct holder *holder)
{
        switch (instruction->operation) {
        case OPERATION_MOVE:
        case OPERATION_STORE:
                *holder = (struct holder){.reg = instruction->source};
                return instruction->source < REGISTER_COUNT;
        case OPERATION_LOAD:
                *holder =
                    (struct holder){.reg = instruction->memory.base,
                                    .in_memory = true,
                                    .displacement = instruction->memory.displacement};
                return is_word(&instruction->memory);
        case OPERATION_ADDRESS:
                holder->reg = instruction->memory.base;
                return is_word(&instruction->memory);
        default: /* made from its own value */
                return instruction->modified >> holder->reg & 1;
        }
}

static bool writes(const struct instruction *instruction, const struct holder *holder)
{
        const struct memory_operand *memory = &instruction->memory;

        if (holder->in_memory)
                return instruction->operation == OPERATION_STORE && is_word(memory) &&
                       memory->base == holder->reg &&
                       memory->displacement == holder->displacement;
        return instruction->written >> holder->reg & 1 ||
               (instruction->operation == OPERATION_CALL && holder->reg == REGISTER_RAX);
}

bool divided_count(const struct flow_code *code, size_t at, uint8_t reg)
{
        struct holder holder = {.reg = reg};

        for (size_t left = STEPS_LIMIT; at-- > 0 && left > 0; left--) {
                const struct flow_step *step = &code->steps[at];

                if (!writes(&step->instruction, &holder))
                        continue;
                if (!holder.in_memory && divides(code, step))
                        return true;
                if (!follow(&step->instruction, &holder))
                        return false;
        }
        return false;
}
