/* SPDX-License-Identifier: MIT */
/* See prefetch_instruction.h. Encodings: Intel SDM volume 2, PREFETCHh (0F 18 /0 to /3)
 * and PREFETCHW (0F 0D /1), and AMD's PREFETCH (0F 0D with any other register field). */
#include "prefetch_instruction.h"

#define REX_FIRST 0x40
#define REX_LAST  0x4f
#define REX_B     1
#define REX_X     2

#define MOD_REGISTER 3
#define RM_SIB       4
#define RM_NEXT      5 /* with mod 0 */
#define SIB_NO_INDEX 4
#define SIB_NO_BASE  5 /* with mod 0 */

struct bytes {
        const uint8_t *at;
        const uint8_t *end;
};

/* 0 past the end. */
static uint8_t next_byte(struct bytes *bytes)
{
        return bytes->at < bytes->end ? *bytes->at++ : 0;
}

static int32_t displacement(struct bytes *bytes, int size_bytes)
{
        uint32_t value = 0;

        for (int i = 0; i < size_bytes; i++)
                value |= (uint32_t)next_byte(bytes) << (8 * i);
        return size_bytes == 1 ? (int8_t)value : (int32_t)value;
}

static int extended(int number, int rex, int bit)
{
        return number | ((rex & bit) != 0 ? 8 : 0);
}

static void decode_address(struct bytes *bytes, int rex, int mod, int rm,
                           struct prefetch_instruction *prefetch)
{
        int size_bytes = mod == 0 ? 0 : mod == 1 ? 1 : 4;

        prefetch->base = extended(rm, rex, REX_B);
        if (rm == RM_SIB) {
                uint8_t sib = next_byte(bytes);
                int index = extended(sib >> 3 & 7, rex, REX_X);
                prefetch->base = extended(sib & 7, rex, REX_B);
                prefetch->index_shift = sib >> 6;
                prefetch->index = index == SIB_NO_INDEX ? PREFETCH_NO_REGISTER : index;
                if (mod == 0 && (sib & 7) == SIB_NO_BASE) {
                        prefetch->base = PREFETCH_NO_REGISTER;
                        size_bytes = 4;
                }
        } else if (mod == 0 && rm == RM_NEXT) {
                prefetch->base = PREFETCH_NO_REGISTER;
                prefetch->from_next = true;
                size_bytes = 4;
        }
        prefetch->displacement = displacement(bytes, size_bytes);
}

static bool decode_kind(uint8_t opcode, int field, enum prefetch_into *into)
{
        if (opcode == 0x0d)
                *into = field == 1 ? PREFETCH_TO_WRITE : PREFETCH_INTO_L1;
        else
                *into = field < 2 ? PREFETCH_INTO_L1 : PREFETCH_INTO_L2;
        return opcode == 0x0d || (opcode == 0x18 && field < 4);
}

bool prefetch_instruction_decode(const uint8_t *bytes, uint32_t length,
                                 struct prefetch_instruction *prefetch)
{
        struct bytes rest = {bytes, bytes + length};
        uint8_t byte = next_byte(&rest);
        int rex = 0;

        while (byte == 0x66 || byte == 0xf2 || byte == 0xf3)
                byte = next_byte(&rest);
        if (byte >= REX_FIRST && byte <= REX_LAST) {
                rex = byte;
                byte = next_byte(&rest);
        }
        if (byte != 0x0f)
                return false;
        uint8_t opcode = next_byte(&rest);
        uint8_t modrm = next_byte(&rest);
        *prefetch = (struct prefetch_instruction){.index = PREFETCH_NO_REGISTER};
        if (!decode_kind(opcode, modrm >> 3 & 7, &prefetch->into) ||
            modrm >> 6 == MOD_REGISTER)
                return false;
        decode_address(&rest, rex, modrm >> 6, modrm & 7, prefetch);
        return true;
}
