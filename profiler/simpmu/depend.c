/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dataflow of VEX IR: see depend.h. The flags thunk is followed inside a block
 * (as temporaries) but not from block to block. */
#include "depend.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_libcbase.h"

/* Ids: 8 to 23 the general registers, 24 x87, 25 to 40 the vector registers. */
#define GENERAL_REGISTERS 16
#define ID_GENERAL        ((Int)FIRST_REGISTER)
#define ID_X87            (ID_GENERAL + GENERAL_REGISTERS)
#define ID_VECTOR         (ID_X87 + 1)
#define VECTOR_REGISTERS  16
#define GENERAL_BYTES     8
#define VECTOR_BYTES      32
#define NO_ID             (-1)
_Static_assert(ID_VECTOR + VECTOR_REGISTERS == REGISTERS_END, "slots come next");

#define OFFSET(field) ((Int)offsetof(VexGuestAMD64State, field))
#define GENERAL_FIRST OFFSET(guest_RAX)
#define GENERAL_END   (GENERAL_FIRST + GENERAL_REGISTERS * GENERAL_BYTES)
#define VECTOR_FIRST  OFFSET(guest_YMM0)
#define VECTOR_END    (VECTOR_FIRST + VECTOR_REGISTERS * VECTOR_BYTES)
#define X87_FIRST     OFFSET(guest_FTOP)
#define X87_END       (OFFSET(guest_FPREG) + 64)

/* The id of the register at OFFSET, and how far into it OFFSET points. */
static Int register_at(Int offset, Int *within)
{
        *within = 0;
        if (offset >= GENERAL_FIRST && offset < GENERAL_END) {
                *within = (offset - GENERAL_FIRST) % GENERAL_BYTES;
                return ID_GENERAL + (offset - GENERAL_FIRST) / GENERAL_BYTES;
        }
        if (offset >= VECTOR_FIRST && offset < VECTOR_END) {
                *within = (offset - VECTOR_FIRST) % VECTOR_BYTES;
                return ID_VECTOR + (offset - VECTOR_FIRST) / VECTOR_BYTES;
        }
        if (offset >= X87_FIRST && offset < X87_END)
                return ID_X87;
        return NO_ID;
}

Bool depend_follows(Int offset)
{
        Int within;

        return register_at(offset, &within) != NO_ID;
}

void depend_start(struct depend_state *state, ULong *of_temporary, UInt temporary_count)
{
        for (UInt id = 0; id < REGISTERS_END; id++)
                state->of_register[id] = 1ULL << id;
        state->of_temporary = of_temporary;
        state->temporary_count = temporary_count;
        state->written = 0;
        VG_(memset)(of_temporary, 0, temporary_count * sizeof(*of_temporary));
}

ULong depend_get(const struct depend_state *state, Int offset, Int size)
{
        const Int step = 8; /* no register is smaller */
        ULong all = 0;

        for (Int at = offset; at < offset + size; at = (at & ~(step - 1)) + step) {
                Int within;
                Int id = register_at(at, &within);
                if (id != NO_ID)
                        all |= state->of_register[id];
        }
        return all;
}

/* Whether a Put replaces the register's old dependence. A write to the lower half
 * of a general register is written by VEX as a whole; of a vector register the low
 * lanes carry the value, and AVX code clears the rest in a Put of its own. */
static Bool put_replaces(Int id, Int within, Int size)
{
        const Int smallest_scalar = 4;

        if (id < ID_X87)
                return size == GENERAL_BYTES;
        return id >= ID_VECTOR && within == 0 && size >= smallest_scalar;
}

void depend_put(struct depend_state *state, Int offset, Int size, ULong value, Bool maybe)
{
        Int within;
        Int id = register_at(offset, &within);

        if (id == NO_ID)
                return;
        state->written |= 1ULL << id;
        if (maybe || !put_replaces(id, within, size))
                value |= state->of_register[id];
        state->of_register[id] = value;
}

void depend_put_indexed(struct depend_state *state, ULong value)
{
        depend_put(state, OFFSET(guest_FPREG), GENERAL_BYTES, value, True);
}

static ULong union_of_arguments(const struct depend_state *state,
                                IRExpr *const *arguments)
{
        ULong all = 0;

        for (; *arguments != NULL; arguments++)
                all |= depend_expression(state, *arguments);
        return all;
}

static ULong of_operation(const struct depend_state *state, const IRExpr *e)
{
        switch (e->tag) {
        case Iex_Unop:
                return depend_expression(state, e->Iex.Unop.arg);
        case Iex_Binop:
                return depend_expression(state, e->Iex.Binop.arg1) |
                       depend_expression(state, e->Iex.Binop.arg2);
        case Iex_Triop: {
                const IRTriop *op = e->Iex.Triop.details;
                IRExpr *arguments[] = {op->arg1, op->arg2, op->arg3, NULL};
                return union_of_arguments(state, arguments);
        }
        default: {
                const IRQop *op = e->Iex.Qop.details;
                IRExpr *arguments[] = {op->arg1, op->arg2, op->arg3, op->arg4, NULL};
                return union_of_arguments(state, arguments);
        }
        }
}

ULong depend_expression(const struct depend_state *state, const IRExpr *e)
{
        switch (e->tag) {
        case Iex_RdTmp:
                return e->Iex.RdTmp.tmp < state->temporary_count
                           ? state->of_temporary[e->Iex.RdTmp.tmp]
                           : 0;
        case Iex_Get:
                return depend_get(state, e->Iex.Get.offset, sizeofIRType(e->Iex.Get.ty));
        case Iex_GetI:
                return state->of_register[ID_X87] |
                       depend_expression(state, e->Iex.GetI.ix);
        case Iex_Unop:
        case Iex_Binop:
        case Iex_Triop:
        case Iex_Qop:
                return of_operation(state, e);
        case Iex_ITE: {
                IRExpr *arguments[] = {e->Iex.ITE.cond, e->Iex.ITE.iftrue,
                                       e->Iex.ITE.iffalse, NULL};
                return union_of_arguments(state, arguments);
        }
        case Iex_CCall:
                return union_of_arguments(state, e->Iex.CCall.args);
        case Iex_Load:
                return depend_expression(state, e->Iex.Load.addr);
        default:
                return 0;
        }
}

Bool depend_changed(const struct depend_state *state, UInt id)
{
        return (state->written >> id & 1) != 0 && state->of_register[id] != 1ULL << id;
}
