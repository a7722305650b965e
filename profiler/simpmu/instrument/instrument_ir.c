/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small pieces of IR for the parts of the instrumentation. Knows nothing of their use. */
#include "instrument.h"

IRExpr *ir_constant(ULong value)
{
        return IRExpr_Const(IRConst_U64(value));
}

IRExpr *ir_assign(struct pass *pass, IRType type, IRExpr *e)
{
        IRTemp temporary = newIRTemp(pass->out->tyenv, type);

        addStmtToIRSB(pass->out, IRStmt_WrTmp(temporary, e));
        return IRExpr_RdTmp(temporary);
}

IRExpr *ir_binary(struct pass *pass, IRType type, IROp op, IRExpr *a, IRExpr *b)
{
        return ir_assign(pass, type, IRExpr_Binop(op, a, b));
}

static IRExpr *read_memory(struct pass *pass, IRExpr *address)
{
        return ir_assign(pass, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, address));
}

IRExpr *ir_read(struct pass *pass, const uint64_t *variable)
{
        return read_memory(pass, ir_constant((Addr)variable));
}

static IRExpr *hot_middle(struct pass *pass)
{
        if (pass->hot == NULL)
                pass->hot = ir_assign(pass, Ity_I64,
                                      IRExpr_Get(pass->layout->total_sizeB, Ity_I64));
        return pass->hot;
}

/* VARIABLE's address as a distance from an address that the block holds in a register.
 * A constant address would take an extra instruction each time. */
static IRExpr *hot_address(struct pass *pass, const uint64_t *variable)
{
        return ir_binary(pass, Ity_I64, Iop_Add64, hot_middle(pass),
                         ir_constant((Addr)variable - TOOL_HOT_MIDDLE));
}

/* The same for element INDEX of TABLE, as one operand of the host's instruction. */
static IRExpr *hot_element(struct pass *pass, const uint64_t *table, IRExpr *index)
{
        const UInt element_shift = 3;
        IRExpr *bytes = ir_binary(pass, Ity_I64, Iop_Shl64, index,
                                  IRExpr_Const(IRConst_U8(element_shift)));

        return ir_binary(pass, Ity_I64, Iop_Add64,
                         ir_binary(pass, Ity_I64, Iop_Add64, hot_middle(pass), bytes),
                         ir_constant((Addr)table - TOOL_HOT_MIDDLE));
}

void ir_write_hot_element(struct pass *pass, uint64_t *table, IRExpr *index,
                          IRExpr *value)
{
        addStmtToIRSB(pass->out,
                      IRStmt_Store(Iend_LE, hot_element(pass, table, index), value));
}

IRExpr *ir_read_hot(struct pass *pass, const uint64_t *variable)
{
        return read_memory(pass, hot_address(pass, variable));
}

void ir_write_hot(struct pass *pass, uint64_t *variable, IRExpr *value)
{
        addStmtToIRSB(pass->out,
                      IRStmt_Store(Iend_LE, hot_address(pass, variable), value));
}

IRExpr *ir_add_to_hot(struct pass *pass, uint64_t *variable, ULong amount)
{
        IRExpr *sum = ir_binary(pass, Ity_I64, Iop_Add64, ir_read_hot(pass, variable),
                                ir_constant(amount));

        ir_write_hot(pass, variable, sum);
        return sum;
}

IRExpr *ir_not(struct pass *pass, IRExpr *condition)
{
        return ir_assign(pass, Ity_I1, IRExpr_Unop(Iop_Not1, condition));
}

IRExpr *ir_both(struct pass *pass, IRExpr *condition, IRExpr *guard)
{
        if (guard == NULL)
                return condition;
        return ir_binary(pass, Ity_I1, Iop_And1, condition, guard);
}

/* The helper may unwind the stack, which starts from these registers. */
void ir_reads_frame(const struct pass *pass, IRDirty *call)
{
        const Int offsets[] = {pass->layout->offset_SP, pass->layout->offset_FP,
                               pass->layout->offset_IP};

        call->nFxState = 3;
        for (UInt i = 0; i < 3; i++) {
                call->fxState[i].fx = Ifx_Read;
                call->fxState[i].offset = (UShort)offsets[i];
                call->fxState[i].size = sizeof(ULong);
                call->fxState[i].nRepeats = 0;
                call->fxState[i].repeatLen = 0;
        }
}

void ir_add_call(struct pass *pass, IRDirty *call, IRExpr *guard)
{
        if (guard != NULL)
                call->guard = guard;
        addStmtToIRSB(pass->out, IRStmt_Dirty(call));
}

UInt ir_size_of(const struct pass *pass, const IRExpr *e)
{
        return (UInt)sizeofIRType(typeOfIRExpr(pass->in->tyenv, e));
}

UInt ir_first_of(ULong mask)
{
        return (UInt)__builtin_ctzll(mask);
}
