/* SPDX-License-Identifier: MIT */
/* Memory accesses of one x86-64 instruction. Pure: bytes and registers in. */
#ifndef MEMLAG_CODE_INSTRUCTION_H
#define MEMLAG_CODE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSTRUCTION_NO_REGISTER = -1 };

struct instruction {
        size_t offset; /* from the first byte that was decoded */
        size_t length;
        bool continues; /* execution may continue at the next instruction in memory */
        bool nop;       /* nothing waits for it */
        bool loads;
        bool stores; /* and does not load */
        /* The address that it accesses is base + index * scale + displacement; known
         * after it has run only if it changed neither register. */
        bool address_stays;
        int base; /* PERF_REG_X86_..., or INSTRUCTION_NO_REGISTER */
        int index;
        uint8_t scale;
        int64_t displacement;
        bool ip_relative; /* to the end of the instruction */
};

/* Decodes CODE, whose first byte begins an instruction, up to the instruction that ends
 * with its last byte. False when there is none: the bytes are no code, or an instruction
 * crosses the end. */
bool instruction_last(const uint8_t *code, size_t length,
                      struct instruction *instruction);

/* No repeated string instruction without a rare prefix is longer. */
enum { INSTRUCTION_REPEATED_BYTES = 4 };

/* Decodes the instruction at the first byte of CODE. True: it repeats a string
 * instruction. An interrupt then finds IP still at it, and its registers at the address
 * that it has reached: address_stays. */
bool instruction_repeated(const uint8_t *code, size_t length,
                          struct instruction *instruction);

/* How many bytes instruction_before reads at most: from most of their first half,
 * decoding meets the instructions that run. */
enum { INSTRUCTION_BEFORE_BYTES = 128 };

/* Decodes the instruction that ends with the last byte of CODE, without a known
 * instruction boundary. Returns the instruction to which decoding from most bytes in the
 * first half leads. x86 code is self-synchronising: decoders that begin at wrong bytes
 * soon find the right boundaries. False when the results disagree, or no instruction
 * ends there. */
bool instruction_before(const uint8_t *code, size_t length,
                        struct instruction *instruction);

/* Gets the value of register NUMBER; false: unknown. */
typedef bool (*instruction_register)(const void *context, unsigned number,
                                     uint64_t *value);

/* Computes the address that INSTRUCTION at IP has accessed, from the register values
 * after it. False when the registers do not determine it. */
bool instruction_address(const struct instruction *instruction, uint64_t ip,
                         instruction_register read_register, const void *context,
                         uint64_t *address);

#endif
