/* SPDX-License-Identifier: MIT */
/* A flow_step keeps the data that most questions need; others decode again. */
#include "decoded.h"

bool decoded_bytes(struct decoded *decoded, const uint8_t *bytes, size_t count)
{
        ZydisDecoder decoder;

        return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
                                             ZYDIS_STACK_WIDTH_64)) &&
               ZYAN_SUCCESS(ZydisDecoderDecodeFull(
                   &decoder, bytes, count, &decoded->instruction, decoded->operands));
}

bool decoded_read(struct decoded *decoded, const struct flow_code *code,
                  const struct flow_step *step)
{
        uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
        size_t length = step->instruction.length_bytes;

        return length <= sizeof(bytes) &&
               elf_file_read_code(code->file, step->vaddr, bytes, length) == length &&
               decoded_bytes(decoded, bytes, length);
}

bool decoded_reads_twice(const struct decoded *decoded)
{
        const size_t count = decoded->instruction.operand_count_visible;

        if (count < 2)
                return false;
        const ZydisDecodedOperand *last = &decoded->operands[count - 1];

        return last[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               last[-1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
               last[0].reg.value == last[-1].reg.value;
}
