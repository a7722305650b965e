/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See arithmetic.h. Vector integer multiplications count as floating-point ones, which
 * share their unit on the CPUs of the presets. */
#include "arithmetic.h"

enum arithmetic_class {
        NONE,
        MULTIPLY,
        DIVIDE,
        FLOAT_ADD,
        FLOAT_MULTIPLY,
        FLOAT_FMA,
        FLOAT_DIVIDE,
        FLOAT_SQRT
};

static enum arithmetic_class class_of(IROp op)
{
        switch (op) {
        case Iop_Mul8:
        case Iop_Mul16:
        case Iop_Mul32:
        case Iop_Mul64:
        case Iop_MullS8:
        case Iop_MullS16:
        case Iop_MullS32:
        case Iop_MullS64:
        case Iop_MullU8:
        case Iop_MullU16:
        case Iop_MullU32:
        case Iop_MullU64:
                return MULTIPLY;
        case Iop_DivModU64to32:
        case Iop_DivModS64to32:
        case Iop_DivModU128to64:
        case Iop_DivModS128to64:
                return DIVIDE;
        case Iop_AddF64:
        case Iop_SubF64:
        case Iop_AddF32:
        case Iop_SubF32:
        case Iop_Add32F0x4:
        case Iop_Sub32F0x4:
        case Iop_Add64F0x2:
        case Iop_Sub64F0x2:
        case Iop_Add32Fx4:
        case Iop_Sub32Fx4:
        case Iop_Add64Fx2:
        case Iop_Sub64Fx2:
        case Iop_Add32Fx8:
        case Iop_Sub32Fx8:
        case Iop_Add64Fx4:
        case Iop_Sub64Fx4:
                return FLOAT_ADD;
        case Iop_MulF64:
        case Iop_MulF32:
        case Iop_Mul32F0x4:
        case Iop_Mul64F0x2:
        case Iop_Mul32Fx4:
        case Iop_Mul64Fx2:
        case Iop_Mul32Fx8:
        case Iop_Mul64Fx4:
        case Iop_Mul16x8:
        case Iop_Mul32x4:
        case Iop_Mul16x16:
        case Iop_Mul32x8:
        case Iop_MulHi16Ux8:
        case Iop_MulHi16Sx8:
        case Iop_MulHi16Ux16:
        case Iop_MulHi16Sx16:
        case Iop_MullEven32Ux4:
        case Iop_MullEven32Sx4:
                return FLOAT_MULTIPLY;
        case Iop_MAddF64:
        case Iop_MSubF64:
        case Iop_MAddF32:
        case Iop_MSubF32:
                return FLOAT_FMA;
        case Iop_DivF64:
        case Iop_DivF32:
        case Iop_Div32F0x4:
        case Iop_Div64F0x2:
        case Iop_Div32Fx4:
        case Iop_Div64Fx2:
        case Iop_Div32Fx8:
        case Iop_Div64Fx4:
                return FLOAT_DIVIDE;
        case Iop_SqrtF64:
        case Iop_SqrtF32:
        case Iop_Sqrt32F0x4:
        case Iop_Sqrt64F0x2:
        case Iop_Sqrt32Fx4:
        case Iop_Sqrt64Fx2:
        case Iop_Sqrt32Fx8:
        case Iop_Sqrt64Fx4:
                return FLOAT_SQRT;
        default:
                return NONE;
        }
}

static IROp operation_of(const IRExpr *e)
{
        switch (e->tag) {
        case Iex_Unop:
                return e->Iex.Unop.op;
        case Iex_Binop:
                return e->Iex.Binop.op;
        case Iex_Triop:
                return e->Iex.Triop.details->op;
        case Iex_Qop:
                return e->Iex.Qop.details->op;
        default:
                return Iop_INVALID;
        }
}

struct arithmetic_cost arithmetic_cost(const struct simpmu_params *params,
                                       ULong slots_per_cycle, const IRExpr *e)
{
        const double cycle = (double)slots_per_cycle;
        const double one = 1, two_ports = 0.5;
        double latency = 0, unit = 0, port = one;

        switch (class_of(operation_of(e))) {
        case NONE:
                return (struct arithmetic_cost){0};
        case MULTIPLY:
                latency = params->multiply_cycles;
                unit = one;
                break;
        case DIVIDE:
                latency = params->divide_cycles;
                unit = params->divide_interval_cycles;
                break;
        case FLOAT_ADD:
                latency = params->float_add_cycles;
                port = two_ports;
                break;
        case FLOAT_MULTIPLY:
                latency = params->float_multiply_cycles;
                port = two_ports;
                break;
        case FLOAT_FMA:
                latency = params->float_fma_cycles;
                port = two_ports;
                break;
        case FLOAT_DIVIDE:
                latency = params->float_divide_cycles;
                unit = params->float_divide_interval_cycles;
                break;
        case FLOAT_SQRT:
                latency = params->float_sqrt_cycles;
                unit = params->float_divide_interval_cycles;
                break;
        }
        return (struct arithmetic_cost){(UInt)(latency * cycle), (UInt)(unit * cycle),
                                        (UInt)(port * cycle)};
}

static Bool operation_moves(IROp op)
{
        switch (op) {
        case Iop_8Uto16:
        case Iop_8Uto32:
        case Iop_8Uto64:
        case Iop_16Uto32:
        case Iop_16Uto64:
        case Iop_32Uto64:
        case Iop_8Sto16:
        case Iop_8Sto32:
        case Iop_8Sto64:
        case Iop_16Sto32:
        case Iop_16Sto64:
        case Iop_32Sto64:
        case Iop_64to8:
        case Iop_32to8:
        case Iop_64to16:
        case Iop_16to8:
        case Iop_16HIto8:
        case Iop_8HLto16:
        case Iop_32to16:
        case Iop_32HIto16:
        case Iop_16HLto32:
        case Iop_64to32:
        case Iop_64HIto32:
        case Iop_32HLto64:
        case Iop_128to64:
        case Iop_128HIto64:
        case Iop_64HLto128:
        case Iop_Not1:
        case Iop_And1:
        case Iop_Or1:
        case Iop_32to1:
        case Iop_64to1:
        case Iop_1Uto8:
        case Iop_1Uto32:
        case Iop_1Uto64:
        case Iop_1Sto8:
        case Iop_1Sto16:
        case Iop_1Sto32:
        case Iop_1Sto64:
        case Iop_ReinterpF64asI64:
        case Iop_ReinterpI64asF64:
        case Iop_ReinterpF32asI32:
        case Iop_ReinterpI32asF32:
        case Iop_V128to64:
        case Iop_V128HIto64:
        case Iop_V128to32:
        case Iop_64HLtoV128:
        case Iop_64UtoV128:
        case Iop_32UtoV128:
        case Iop_SetV128lo64:
        case Iop_SetV128lo32:
        case Iop_V256to64_0:
        case Iop_V256to64_1:
        case Iop_V256to64_2:
        case Iop_V256to64_3:
        case Iop_64x4toV256:
        case Iop_V256toV128_0:
        case Iop_V256toV128_1:
        case Iop_V128HLtoV256:
                return True;
        default:
                return False;
        }
}

Bool arithmetic_moves(const IRExpr *e)
{
        switch (e->tag) {
        case Iex_Unop:
                return operation_moves(e->Iex.Unop.op);
        case Iex_Binop:
                return operation_moves(e->Iex.Binop.op);
        case Iex_Qop:
                return operation_moves(e->Iex.Qop.details->op);
        case Iex_Triop:
        case Iex_ITE:
        case Iex_CCall:
                return False;
        default:
                return True;
        }
}
