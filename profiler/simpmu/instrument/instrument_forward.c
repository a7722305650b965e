/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores are recorded inline, word by word. A load calls the model if the last store
 * to one of its words may have written only some of its bytes. The store buffer cannot
 * forward such a load. */
#include "instrument.h"

#include "model/machine/access.h"

#define WORD_SHIFT 3
#define WORD_BYTES (1u << WORD_SHIFT)

/* Where word number WORD after the one at ADDRESS is noted. */
static IRExpr *place_of_word(struct pass *pass, IRExpr *address, UInt word)
{
        IRExpr *at = word == 0 ? address
                               : ir_binary(pass, Ity_I64, Iop_Add64, address,
                                           ir_constant((ULong)word * WORD_BYTES));
        IRExpr *number =
            ir_binary(pass, Ity_I64, Iop_Shr64, at, IRExpr_Const(IRConst_U8(WORD_SHIFT)));

        return ir_binary(pass, Ity_I64, Iop_And64, number,
                         ir_constant(RECENT_STORES - 1));
}

static UInt words_of(const struct access_site *site)
{
        return site->size_bytes < WORD_BYTES ? 1 : site->size_bytes / WORD_BYTES;
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
static Bool may_alias(const struct pass *pass, const IRExpr *address)
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
        if (may_alias(pass, address))
                ir_write_hot(pass, &tool_hot.last_stored,
                             ir_binary(pass, Ity_I64, Iop_Add64, address,
                                       ir_constant(site->size_bytes - 1u)));
}

/* In the generated code: true if the last store to word number WORD of a load began
 * behind ADDRESS, or at ADDRESS without all bytes of the load. It does not detect an
 * earlier store that ends within the load. */
static IRExpr *other_store(struct pass *pass, const struct access_site *site,
                           IRExpr *address, IRExpr *shifted, UInt word)
{
        const ULong least = recent_store_note(0, site->size_bytes) + 1;
        const ULong end = recent_store_note(site->size_bytes - 1u, 0) + 1;
        IRExpr *place = place_of_word(pass, address, word);
        IRExpr *above =
            ir_binary(pass, Ity_I64, Iop_Sub64,
                      ir_read_hot_element(pass, tool_hot.recent_note, place), shifted);

        return ir_binary(pass, Ity_I1, Iop_CmpLT64U,
                         ir_binary(pass, Ity_I64, Iop_Sub64, above, ir_constant(least)),
                         ir_constant(end - least));
}

/* The same for a last store that has just passed ADDRESS, in another page. A load of a
 * block without stores is not tested: aliasing streams are read and written in one
 * loop. */
static IRExpr *near_alias(struct pass *pass, IRExpr *address)
{
        const ULong low_bits = (1u << ALIAS_BITS) - ALIAS_REACH;
        IRExpr *behind = ir_binary(pass, Ity_I64, Iop_Sub64,
                                   ir_read_hot(pass, &tool_hot.last_stored), address);
        IRExpr *low = ir_binary(pass, Ity_I64, Iop_And64, behind, ir_constant(low_bits));
        IRExpr *other_page =
            ir_binary(pass, Ity_I1, Iop_CmpLT64U, ir_constant(ALIAS_REACH - 1), behind);

        return ir_binary(pass, Ity_I1, Iop_And1, other_page,
                         ir_binary(pass, Ity_I1, Iop_CmpEQ64, low, ir_constant(0)));
}

static Bool stores_something(const IRSB *in)
{
        for (Int i = 0; i < in->stmts_used; i++) {
                if (in->stmts[i]->tag == Ist_Store)
                        return True;
        }
        return False;
}

static VG_REGPARM(2) void call_of_parts(const struct access_site *site, Addr address)
{
        load_of_parts(&tool_machine, &tool_hot, tool_thread, site, address);
}

void forward_add_load(struct pass *pass, const struct access_site *site, IRExpr *address)
{
        IRExpr *shifted;
        IRExpr *any = NULL;
        IRDirty *call;

        /* A byte is all in one store, and a return address is the call's. */
        if (!pass->follow || pass->string || pass->returns || site->size_bytes < 2 ||
            site->size_bytes > RECENT_SIZE_MAXIMUM || tool_machine.samples_stalls)
                return;
        shifted = ir_binary(pass, Ity_I64, Iop_Shl64, address,
                            IRExpr_Const(IRConst_U8(RECENT_SIZE_BITS)));
        for (UInt word = 0; word < words_of(site); word++) {
                IRExpr *one = other_store(pass, site, address, shifted, word);
                any = any == NULL ? one : ir_binary(pass, Ity_I1, Iop_Or1, any, one);
        }
        if (may_alias(pass, address) && stores_something(pass->in))
                any = ir_binary(pass, Ity_I1, Iop_Or1, any, near_alias(pass, address));
        call = call_with_constant(pass, "simpmu_parts", (void *)call_of_parts, site,
                                  address);
        ir_reads_frame(pass, call); /* it may be sampled */
        ir_add_call(pass, call, any);
}
