/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores are recorded inline, word by word, for loads that the store buffer cannot
 * forward (instrument_load.c). */
#include "instrument.h"

#include "model/machine/access.h"

/* Where word number WORD after the one at ADDRESS is noted. */
static IRExpr *place_of_word(struct pass *pass, IRExpr *address, UInt word)
{
        IRExpr *at = word == 0 ? address
                               : ir_binary(pass, Ity_I64, Iop_Add64, address,
                                           ir_constant((ULong)word * RECENT_WORD_BYTES));
        IRExpr *number = ir_binary(pass, Ity_I64, Iop_Shr64, at,
                                   IRExpr_Const(IRConst_U8(RECENT_WORD_SHIFT)));

        return ir_binary(pass, Ity_I64, Iop_And64, number,
                         ir_constant(RECENT_STORES - 1));
}

static UInt words_of(const struct access_site *site)
{
        return site->size_bytes < RECENT_WORD_BYTES
                   ? 1
                   : site->size_bytes / RECENT_WORD_BYTES;
}

/* The recorded note for a store of SITE's bytes to ADDRESS. */
static IRExpr *note_of(struct pass *pass, const struct access_site *site, IRExpr *address)
{
        IRExpr *high = ir_binary(pass, Ity_I64, Iop_Shl64, address,
                                 IRExpr_Const(IRConst_U8(RECENT_SIZE_BITS)));

        return ir_binary(pass, Ity_I64, Iop_Or64, high,
                         ir_constant(recent_store_note(0, site->size_bytes)));
}

/* Variables of a frame are close to everything else in the frame. */
Bool forward_may_alias(const struct pass *pass, const IRExpr *address)
{
        return tool_machine.alias_cost > 0 && stored_frame_word(pass, address) < 0;
}

void forward_note_store(struct pass *pass, const struct access_site *site,
                        IRExpr *address)
{
        IRExpr *note;
        IRExpr *number;

        /* Only the return reads the address that a call pushes. */
        if (!pass->follow || pass->returns || site->size_bytes > RECENT_SIZE_MAXIMUM)
                return;
        note = note_of(pass, site, address);
        number =
            ir_binary(pass, Ity_I64, Iop_Add64, ir_read_hot(pass, &tool_hot.instructions),
                      ir_constant((ULong)(Long)site->position));
        for (UInt word = 0; word < words_of(site); word++) {
                IRExpr *place = place_of_word(pass, address, word);
                ir_write_hot_element(pass, tool_hot.recent_note, place, note);
                ir_write_hot_element(pass, tool_hot.recent_number, place, number);
        }
        if (forward_may_alias(pass, address))
                ir_write_hot(pass, &tool_hot.last_stored,
                             ir_binary(pass, Ity_I64, Iop_Add64, address,
                                       ir_constant(site->size_bytes - 1u)));
}
