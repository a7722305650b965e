/* SPDX-License-Identifier: MIT */
/* An instruction of a function's code with all of its operands, as Zydis reads it. */
#ifndef MEMLAG_SYMBOLIZE_DECODED_H
#define MEMLAG_SYMBOLIZE_DECODED_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

#include "flow_code.h"

struct decoded {
        ZydisDecodedInstruction instruction;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Decodes the first instruction in COUNT BYTES. False: there is none. */
bool decoded_bytes(struct decoded *decoded, const uint8_t *bytes, size_t count);

/* Whether the last two operands are one register, as in a test of a register. */
bool decoded_reads_twice(const struct decoded *decoded);

/* Decodes STEP of CODE again from its file. False: it cannot be read. */
bool decoded_read(struct decoded *decoded, const struct flow_code *code,
                  const struct flow_step *step);

#endif
