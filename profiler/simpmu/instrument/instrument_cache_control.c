/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions that ask something of the caches and that VEX does not translate as
 * accesses: flushes and software prefetches. */
#include "instrument.h"

#include "libvex_guest_amd64.h"

#include "address_map.h"
#include "model/machine/access.h"
#include "prefetch_instruction.h"

static VG_REGPARM(3) void call_prefetch(const struct access_site *site, Addr address,
                                        UWord into)
{
        prefetch_instruction(&tool_machine, &tool_hot, tool_thread, site,
                             (enum prefetch_into)into, address);
}

static VG_REGPARM(2) void call_flush(Addr address, UWord lines)
{
        uint64_t now = tool_hot.instructions + tool_thread->stall;

        for (UWord i = 0; i < lines; i++, address += LINE_BYTES)
                miss_flush(&tool_machine, &tool_hot, tool_thread,
                           address_map_active()
                               ? address_map_find(address, 1).address >> LINE_SHIFT
                               : address >> LINE_SHIFT,
                           now);
}

/* The expression that the temporary E was given, or E itself. */
static IRExpr *definition(const struct pass *pass, IRExpr *e)
{
        for (Int i = 0; e->tag == Iex_RdTmp && i < pass->in->stmts_used; i++) {
                const IRStmt *statement = pass->in->stmts[i];
                if (statement->tag == Ist_WrTmp &&
                    statement->Ist.WrTmp.tmp == e->Iex.RdTmp.tmp)
                        return statement->Ist.WrTmp.data;
        }
        return e;
}

/* PUT may set the address whose translated code VEX is to discard: VEX treats CLFLUSH
 * so and rounds its address down to 256 bytes. If the address is a constant that is
 * already rounded, all 256 bytes are flushed. */
void cache_control_add_flush(struct pass *pass, const IRStmt *put)
{
        const UInt rounded_bytes = 256;
        const IRExpr *rounded;
        IRExpr *address = put->Ist.Put.data;
        ULong lines = rounded_bytes / LINE_BYTES;

        if (put->Ist.Put.offset != offsetof(VexGuestAMD64State, guest_CMSTART) ||
            pass->in->jumpkind != Ijk_InvalICache || pass->excluded)
                return;
        rounded = definition(pass, address);
        if (rounded->tag == Iex_Binop && rounded->Iex.Binop.op == Iop_And64) {
                address = rounded->Iex.Binop.arg1;
                lines = 1;
        }
        ir_add_call(pass,
                    unsafeIRDirty_0_N(2, "simpmu_flush",
                                      VG_(fnptr_to_fnentry)(&call_flush),
                                      mkIRExprVec_2(address, ir_constant(lines))),
                    NULL);
}

/* Adds the guest's general register NUMBER, in the instruction encoding, and its
 * dependence, to ADDRESS. Adds nothing without a register. */
static IRExpr *plus_register(struct pass *pass, IRExpr *address, Int number, Int shift,
                             struct depend *depends)
{
        Int offset =
            (Int)offsetof(VexGuestAMD64State, guest_RAX) + number * (Int)sizeof(ULong);
        IRExpr *value;

        if (number == PREFETCH_NO_REGISTER)
                return address;
        value = ir_assign(pass, Ity_I64, IRExpr_Get(offset, Ity_I64));
        if (shift > 0)
                value = ir_binary(pass, Ity_I64, Iop_Shl64, value,
                                  IRExpr_Const(IRConst_U8((UChar)shift)));
        *depends =
            depend_either(*depends, depend_get(&pass->depend, offset, sizeof(ULong)));
        return ir_binary(pass, Ity_I64, Iop_Add64, address, value);
}

/* VEX emits nothing for a prefetch, so this decodes its bytes. The registers come from
 * the guest's state, which is up to date at each instruction (source_sim.c). */
void cache_control_add_prefetch(struct pass *pass, const IRStmt *mark)
{
        const UInt length = mark->Ist.IMark.len;
        struct prefetch_instruction prefetch;
        struct depend depends = {0};
        struct access_site *site;
        IRExpr *address;

        if (pass->excluded ||
            !prefetch_instruction_decode((const UChar *)pass->ip, length, &prefetch))
                return;
        address = ir_constant((ULong)(Long)prefetch.displacement +
                              (prefetch.from_next ? pass->ip + length : 0));
        address = plus_register(pass, address, prefetch.base, 0, &depends);
        address =
            plus_register(pass, address, prefetch.index, prefetch.index_shift, &depends);
        site = access_site_new(pass, ACCESS_LOAD, depends, 1);
        address = moved_address(pass, site, address, NULL);
        ir_add_call(
            pass,
            unsafeIRDirty_0_N(3, "simpmu_prefetch", VG_(fnptr_to_fnentry)(&call_prefetch),
                              mkIRExprVec_3(ir_constant((Addr)site), address,
                                            ir_constant(prefetch.into))),
            access_filter_applies(site)
                ? ir_binary(pass, Ity_I1, Iop_CmpLT64U, ir_constant(LINE_BYTES - 1),
                            access_filter_distance(pass, site, address))
                : NULL);
}
