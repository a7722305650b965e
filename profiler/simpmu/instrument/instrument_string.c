/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeated string instructions (REP MOVS, REP STOS). VEX translates them into a loop
 * of one element per iteration, but processors move a chunk at a time. Here only the
 * first element of each chunk makes an access and issues. Encodings: Intel SDM volume
 * 2, MOVS and STOS. */
#include "instrument.h"

static Bool is_prefix(UChar byte)
{
        switch (byte) {
        case 0x26: /* segments */
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0x66: /* sizes of operand and address */
        case 0x67:
        case 0xf3:
                return True;
        default:
                return (byte & 0xf0) == 0x40; /* REX */
        }
}

Bool string_is_repeated(Addr ip, UInt length)
{
        const UChar *bytes = (const UChar *)ip;
        Bool repeats = False;
        UInt i = 0;

        for (; i < length && is_prefix(bytes[i]); i++)
                repeats |= bytes[i] == 0xf3;
        return repeats && i < length &&
               ((bytes[i] & 0xfe) == 0xa4 || (bytes[i] & 0xfe) == 0xaa);
}

static void take_back(struct pass *pass, uint64_t *count, IRExpr *amount)
{
        ir_write_hot(
            pass, count,
            ir_binary(pass, Ity_I64, Iop_Sub64, ir_read_hot(pass, count), amount));
}

/* The instruction has been counted, and issues when its first access does. */
static void take_back_instruction(struct pass *pass, IRExpr *amount)
{
        pass->instructions = ir_binary(pass, Ity_I64, Iop_Sub64,
                                       ir_read_hot(pass, &tool_hot.instructions), amount);
        ir_write_hot(pass, &tool_hot.instructions, pass->instructions);
}

IRExpr *string_begins_chunk(struct pass *pass, enum access_kind kind, IRExpr *address,
                            UInt size_bytes)
{
        const Bool loads = kind == ACCESS_LOAD;
        uint64_t *of_last = loads ? &tool_hot.string.load : &tool_hot.string.store;
        IRExpr *last_byte =
            ir_binary(pass, Ity_I64, Iop_Add64, address, ir_constant(size_bytes - 1));
        IRExpr *chunk = ir_binary(pass, Ity_I64, Iop_Shr64, last_byte,
                                  IRExpr_Const(IRConst_U8(STRING_CHUNK_SHIFT)));
        IRExpr *begins =
            ir_binary(pass, Ity_I1, Iop_CmpNE64, chunk, ir_read_hot(pass, of_last));
        IRExpr *stays =
            ir_assign(pass, Ity_I64, IRExpr_Unop(Iop_1Uto64, ir_not(pass, begins)));

        ir_write_hot(pass, of_last, chunk);
        take_back(pass, loads ? &tool_hot.loads : &tool_hot.stores, stays);
        if (!pass->string_issued)
                take_back_instruction(pass, stays);
        pass->string_issued = True;
        return begins;
}

void string_note_store(struct pass *pass, const struct access_site *site, IRExpr *address)
{
        struct access_site whole = *site;

        whole.size_bytes = STRING_CHUNK_BYTES;
        forward_note_store(pass, &whole,
                           ir_binary(pass, Ity_I64, Iop_And64, address,
                                     ir_constant(-(ULong)STRING_CHUNK_BYTES)));
}

static void forget_if(struct pass *pass, IRExpr *ends, uint64_t *chunk)
{
        IRExpr *kept = IRExpr_ITE(ends, ir_constant(0), ir_read_hot(pass, chunk));

        ir_write_hot(pass, chunk, ir_assign(pass, Ity_I64, kept));
}

void string_add_end(struct pass *pass, const IRStmt *exit)
{
        if (!pass->string)
                return;
        forget_if(pass, exit->Ist.Exit.guard, &tool_hot.string.load);
        forget_if(pass, exit->Ist.Exit.guard, &tool_hot.string.store);
}
