/* SPDX-License-Identifier: MIT */
/* See nontemporal.h. Encodings: Intel SDM volume 2, MOVNTPS and MOVNTPD (0F 2B), MOVNTI
 * (0F C3), MOVNTQ and MOVNTDQ (0F E7). */
#include "nontemporal.h"

#define REX_FIRST    0x40
#define REX_LAST     0x4f
#define MOD_REGISTER 3
#define VEX_MAP_0F   1

enum prefix { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 }; /* as VEX counts them */

static bool is_store(enum prefix prefix, uint8_t opcode, uint8_t modrm)
{
        if (modrm >> 6 == MOD_REGISTER || prefix > PREFIX_66)
                return false;
        return opcode == 0x2b || opcode == 0xe7 ||
               (opcode == 0xc3 && prefix == PREFIX_NONE);
}

/* AT is where the two bytes or three lie that begin with C5 or C4. */
static bool decode_vex(const uint8_t *at, const uint8_t *end)
{
        const bool two = at[0] == 0xc5;
        const uint8_t *last = at + (two ? 1 : 2);

        if (last + 2 >= end || (!two && (at[1] & 0x1f) != VEX_MAP_0F))
                return false;
        return last[1] != 0xc3 && is_store((enum prefix)(last[0] & 3), last[1], last[2]);
}

bool nontemporal_store_decode(const uint8_t *bytes, uint32_t length)
{
        const uint8_t *at = bytes, *end = bytes + length;
        enum prefix prefix = PREFIX_NONE;

        for (; at < end; at++) {
                if (*at == 0x66)
                        prefix = PREFIX_66;
                else if (*at == 0xf3 || *at == 0xf2)
                        prefix = PREFIX_F3;
                else if (*at != 0x64 && *at != 0x65 && *at != 0x67) /* of addresses */
                        break;
        }
        if (at < end && (*at == 0xc5 || *at == 0xc4))
                return decode_vex(at, end);
        if (at < end && *at >= REX_FIRST && *at <= REX_LAST)
                at++;
        return at + 2 < end && at[0] == 0x0f && is_store(prefix, at[1], at[2]);
}
