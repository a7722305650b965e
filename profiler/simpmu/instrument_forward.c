/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores are noted inline, word by word, and a load tells the model when the last store
 * to one of its words is another than one of all its bytes from its address on: what the
 * store buffer may not be able to forward. */
#include "instrument.h"

#include "model/access.h"

#define WORD_SHIFT 3
#define WORD_BYTES (1u << WORD_SHIFT)

_Static_assert(sizeof(struct recent_store) == 1u << 4, "entry_shift");

/* Where word number WORD after the one at ADDRESS is noted. */
static IRExpr *place_of_word(struct pass *pass, IRExpr *address, UInt word)
{
        const UInt entry_shift = 4;
        IRExpr *at = word == 0 ? address
                               : ir_binary(pass, Ity_I64, Iop_Add64, address,
                                           ir_constant((ULong)word * WORD_BYTES));
        IRExpr *shifted = ir_binary(pass, Ity_I64, Iop_Shl64, at,
                                    IRExpr_Const(IRConst_U8(entry_shift - WORD_SHIFT)));
        IRExpr *offset = ir_binary(pass, Ity_I64, Iop_And64, shifted,
                                   ir_constant((RECENT_STORES - 1) << entry_shift));

        return ir_binary(pass, Ity_I64, Iop_Add64, offset,
                         ir_constant((Addr)&tool_hot.recent_stores[0]));
}

static UInt words_of(const struct access_site *site)
{
        return site->size_bytes < WORD_BYTES ? 1 : site->size_bytes / WORD_BYTES;
}

/* What a store of SITE's bytes to ADDRESS is noted as. */
static IRExpr *note_of(struct pass *pass, const struct access_site *site, IRExpr *address)
{
        IRExpr *high = ir_binary(pass, Ity_I64, Iop_Shl64, address,
                                 IRExpr_Const(IRConst_U8(RECENT_SIZE_BITS)));

        return ir_binary(pass, Ity_I64, Iop_Or64, high, ir_constant(site->size_bytes));
}

static void write_at(struct pass *pass, IRExpr *place, ULong offset, IRExpr *value)
{
        addStmtToIRSB(pass->out, IRStmt_Store(Iend_LE,
                                              ir_binary(pass, Ity_I64, Iop_Add64, place,
                                                        ir_constant(offset)),
                                              value));
}

void forward_note_store(struct pass *pass, const struct access_site *site,
                        IRExpr *address)
{
        IRExpr *note;
        IRExpr *number;

        if (tool_machine.unforwarded_cost == 0 || site->size_bytes > RECENT_SIZE_MAXIMUM)
                return;
        note = note_of(pass, site, address);
        number =
            ir_binary(pass, Ity_I64, Iop_Add64, ir_read_hot(pass, &tool_hot.instructions),
                      ir_constant((ULong)(Long)site->position));
        for (UInt word = 0; word < words_of(site); word++) {
                IRExpr *place = place_of_word(pass, address, word);
                write_at(pass, place, offsetof(struct recent_store, what), note);
                write_at(pass, place, offsetof(struct recent_store, number), number);
        }
}

/* In the generated code true when the last store to word number WORD of a load is not one
 * that has all of its bytes from ADDRESS on, but is near enough to have some. */
static IRExpr *other_store(struct pass *pass, const struct access_site *site,
                           IRExpr *address, IRExpr *note, UInt word)
{
        const UInt reach = RECENT_SIZE_MAXIMUM << RECENT_SIZE_BITS;
        const UInt wider = RECENT_SIZE_MAXIMUM - site->size_bytes;
        IRExpr *place = place_of_word(pass, address, word);
        IRExpr *above = ir_binary(
            pass, Ity_I64, Iop_Sub64,
            ir_assign(pass, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, place)), note);
        IRExpr *near =
            ir_binary(pass, Ity_I1, Iop_CmpLT64U,
                      ir_binary(pass, Ity_I64, Iop_Add64, above, ir_constant(reach)),
                      ir_constant(2ULL * reach));

        return ir_binary(
            pass, Ity_I1, Iop_And1, near,
            ir_binary(pass, Ity_I1, Iop_CmpLT64U, ir_constant(wider), above));
}

IRExpr *forward_may_fail(struct pass *pass, const struct access_site *site,
                         IRExpr *address)
{
        IRExpr *note;
        IRExpr *any = NULL;

        if (tool_machine.unforwarded_cost == 0 || site->size_bytes > RECENT_SIZE_MAXIMUM)
                return NULL;
        note = note_of(pass, site, address);
        for (UInt word = 0; word < words_of(site); word++) {
                IRExpr *one = other_store(pass, site, address, note, word);
                any = any == NULL ? one : ir_binary(pass, Ity_I1, Iop_Or1, any, one);
        }
        return any;
}
