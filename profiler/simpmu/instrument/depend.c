/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dataflow of VEX IR: see depend.h. The flags thunk is followed inside a block
 * (as temporaries) but not from block to block. */
#include "depend.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

/* Ids: the general registers, x87, the vector registers. */
#define GENERAL_REGISTERS 16
#define ID_STACK          (ID_GENERAL + (OFFSET(guest_RSP) - GENERAL_FIRST) / GENERAL_BYTES)
#define ID_GENERAL        ((Int)FIRST_REGISTER)
#define ID_X87            (ID_GENERAL + GENERAL_REGISTERS)
#define ID_VECTOR         (ID_X87 + 1)
#define VECTOR_REGISTERS  16
#define GENERAL_BYTES     8
#define VECTOR_BYTES      32
#define NO_ID             (-1)
_Static_assert(ID_VECTOR + VECTOR_REGISTERS == MULTIPLIER, "the unit comes next");
_Static_assert(MULTIPLIER + 1 == REGISTERS_END, "then the slots");

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

ULong depend_bit(Int offset)
{
        Int within;
        Int id = register_at(offset, &within);

        return id == NO_ID || id == ID_STACK ? 0 : 1ULL << id;
}

Int depend_general(Int offset)
{
        Int within;
        Int id = register_at(offset, &within);

        return id < ID_X87 && within == 0 ? id - ID_GENERAL : -1;
}

Bool depend_is_vector(Int offset)
{
        return offset >= VECTOR_FIRST && offset < VECTOR_END;
}

/* ---- delays ---- */

/* Delays of the current block; the empty list comes first. */
static UInt *delays;
static UInt delays_used;
static UInt delays_room;

/* Room for delays from COUNT values; returns its position. */
static UInt delays_new(UInt count)
{
        const UInt first_room = 1024;
        UInt first = delays_used;

        while (first + count > delays_room) {
                delays_room = delays_room == 0 ? first_room : 2 * delays_room;
                delays =
                    VG_(realloc)("simpmu.delays", delays, delays_room * sizeof(*delays));
        }
        delays_used += count;
        return first;
}

static UInt bits_of(ULong mask)
{
        UInt count = 0;

        for (; mask != 0; mask &= mask - 1)
                count++;
        return count;
}

UInt depend_delay_from(struct depend value, UInt number)
{
        return value.delay == 0
                   ? 0
                   : delays[value.delay + bits_of(value.on & ((1ULL << number) - 1))];
}

/* A takes in all that B does, and later. */
static Bool covers(struct depend a, struct depend b)
{
        return (b.on & ~a.on) == 0 && (b.delay == 0 || b.delay == a.delay);
}

static UInt delay_if_on(struct depend value, UInt number)
{
        return (value.on >> number & 1) != 0 ? depend_delay_from(value, number) : 0;
}

struct depend depend_either(struct depend a, struct depend b)
{
        struct depend either = {.on = a.on | b.on,
                                .operation = a.operation | b.operation};
        UInt i = 0;

        if (covers(a, b))
                either.delay = a.delay;
        else if (covers(b, a))
                either.delay = b.delay;
        else if ((a.delay | b.delay) != 0) {
                either.delay = delays_new(bits_of(either.on));
                for (ULong rest = either.on; rest != 0; rest &= rest - 1) {
                        UInt number = (UInt)__builtin_ctzll(rest);
                        UInt of_a = delay_if_on(a, number);
                        UInt of_b = delay_if_on(b, number);
                        delays[either.delay + i++] = of_a > of_b ? of_a : of_b;
                }
        }
        return either;
}

/* The result of instruction number INDEX, which takes SLOTS from VALUE. */
static struct depend delayed(struct depend value, UInt slots, UInt index)
{
        struct depend result = {.on = value.on | 1ULL << ISSUE_TIME};
        UInt issued = delay_if_on(value, ISSUE_TIME);
        UInt i = 0;

        _Static_assert(ISSUE_TIME + 1 == NO_VALUE, "its delay is the last");
        result.delay = delays_new(bits_of(result.on));
        for (ULong rest = value.on & ~(1ULL << ISSUE_TIME); rest != 0; rest &= rest - 1)
                delays[result.delay + i++] =
                    depend_delay_from(value, (UInt)__builtin_ctzll(rest)) + slots;
        delays[result.delay + i] = (issued > index ? issued : index) + slots;
        return result;
}

struct depend depend_delayed(const struct depend_state *state, struct depend value,
                             UInt slots)
{
        return delayed(value, slots, state->index);
}

struct depend depend_operated(const struct depend_state *state, struct depend value)
{
        if (value.on != 0)
                value.operation = state->index + 1;
        return value;
}

struct depend depend_settled(const struct depend_state *state, struct depend value)
{
        return value.operation == 0
                   ? value
                   : delayed(value, state->cycle_slots, value.operation - 1);
}

void depend_use_multiplier(struct depend_state *state, UInt slots)
{
        struct depend *unit = &state->of_register[MULTIPLIER];

        state->written |= 1ULL << MULTIPLIER;
        *unit = depend_delayed(state, *unit, slots);
}

/* ---- registers ---- */

void depend_start(struct depend_state *state, struct depend *of_temporary,
                  UInt temporary_count, UInt cycle_slots, Bool follow)
{
        delays_used = 0;
        (void)delays_new(1);
        for (UInt id = 0; id < REGISTERS_END; id++)
                state->of_register[id] =
                    (struct depend){.on = follow && id != ID_STACK ? 1ULL << id : 0};
        state->of_temporary = of_temporary;
        state->temporary_count = temporary_count;
        state->index = 0;
        state->cycle_slots = cycle_slots;
        state->written = 0;
        VG_(memset)(of_temporary, 0, temporary_count * sizeof(*of_temporary));
}

/* VALUE as the current instruction reads it. */
static struct depend read_value(const struct depend_state *state, struct depend value)
{
        return value.operation == state->index + 1 ? value : depend_settled(state, value);
}

struct depend depend_registers(const struct depend_state *state)
{
        struct depend all = {0};

        for (UInt id = FIRST_REGISTER; id < MULTIPLIER; id++)
                all = depend_either(all, depend_settled(state, state->of_register[id]));
        return all;
}

struct depend depend_get(const struct depend_state *state, Int offset, Int size)
{
        const Int step = 8; /* no register is smaller */
        struct depend all = {0};

        for (Int at = offset; at < offset + size; at = (at & ~(step - 1)) + step) {
                Int within;
                Int id = register_at(at, &within);
                if (id != NO_ID)
                        all =
                            depend_either(all, read_value(state, state->of_register[id]));
        }
        return all;
}

/* Whether a Put replaces the register's old dependence. VEX writes a whole general
 * register for a write to its lower half. In a vector register the low lanes carry the
 * value; AVX code clears the rest in a separate Put. */
static Bool put_replaces(Int id, Int within, Int size)
{
        const Int smallest_scalar = 4;

        if (id < ID_X87)
                return size == GENERAL_BYTES;
        return id >= ID_VECTOR && within == 0 && size >= smallest_scalar;
}

void depend_put(struct depend_state *state, Int offset, Int size, struct depend value,
                Bool maybe)
{
        Int within;
        Int id = register_at(offset, &within);

        if (id == NO_ID || id == ID_STACK)
                return;
        state->written |= 1ULL << id;
        if (maybe || !put_replaces(id, within, size))
                value = depend_either(value, read_value(state, state->of_register[id]));
        state->of_register[id] = value;
}

void depend_put_indexed(struct depend_state *state, struct depend value)
{
        depend_put(state, OFFSET(guest_FPREG), GENERAL_BYTES, value, True);
}

/* ---- expressions ---- */

static struct depend union_of_arguments(const struct depend_state *state,
                                        IRExpr *const *arguments)
{
        struct depend all = {0};

        for (; *arguments != NULL; arguments++)
                all = depend_either(all, depend_expression(state, *arguments));
        return all;
}

static struct depend of_operation(const struct depend_state *state, const IRExpr *e)
{
        switch (e->tag) {
        case Iex_Unop:
                return depend_expression(state, e->Iex.Unop.arg);
        case Iex_Binop:
                return depend_either(depend_expression(state, e->Iex.Binop.arg1),
                                     depend_expression(state, e->Iex.Binop.arg2));
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

struct depend depend_expression(const struct depend_state *state, const IRExpr *e)
{
        const struct depend nothing = {0};

        switch (e->tag) {
        case Iex_RdTmp:
                return e->Iex.RdTmp.tmp < state->temporary_count
                           ? read_value(state, state->of_temporary[e->Iex.RdTmp.tmp])
                           : nothing;
        case Iex_Get:
                return depend_get(state, e->Iex.Get.offset, sizeofIRType(e->Iex.Get.ty));
        case Iex_GetI:
                return depend_either(read_value(state, state->of_register[ID_X87]),
                                     depend_expression(state, e->Iex.GetI.ix));
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
                return nothing;
        }
}

/* A mask of the general registers from RAX on. */
static ULong general(UInt first, UInt last)
{
        return ((2ULL << last) - (1ULL << first)) << ID_GENERAL;
}

static ULong vectors_from(UInt first)
{
        return ((1ULL << VECTOR_REGISTERS) - (1ULL << first)) << ID_VECTOR;
}

ULong depend_unread_after(IRJumpKind jump)
{
        /* RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15. */
        const UInt rax = 0, rcx = 1, rsi = 6, r10 = 10, r11 = 11;
        const UInt results = 2, arguments = 8; /* vector registers */

        if (jump == Ijk_Ret)
                return general(rcx, rcx) | general(rsi, r11) | vectors_from(results);
        if (jump == Ijk_Call)
                return general(rax, rax) | general(r10, r11) | vectors_from(arguments);
        return 0;
}

ULong depend_changed_by_calls(void)
{
        const UInt rax = 0, rdx = 2, rsi = 6, r11 = 11;

        return general(rax, rdx) | general(rsi, r11) | 1ULL << ID_X87 | vectors_from(0);
}

struct depend depend_among(struct depend value, ULong on)
{
        struct depend result = {.on = value.on & on};
        UInt i = 0;

        if (result.on == value.on || result.on == 0 || value.delay == 0) {
                result.delay = result.on == 0 ? 0 : value.delay;
                return result;
        }
        result.delay = delays_new(bits_of(result.on));
        for (ULong rest = result.on; rest != 0; rest &= rest - 1)
                delays[result.delay + i++] =
                    depend_delay_from(value, (UInt)__builtin_ctzll(rest));
        return result;
}

struct depend depend_without_short_delays(struct depend value, UInt slots)
{
        struct depend result = {.on = value.on};
        UInt count = bits_of(value.on);
        UInt longest = 0;

        if (value.delay == 0)
                return value;
        for (UInt i = 0; i < count; i++)
                longest =
                    delays[value.delay + i] > longest ? delays[value.delay + i] : longest;
        if (longest <= slots)
                return result;
        result.delay = delays_new(count);
        for (UInt i = 0; i < count; i++) {
                UInt delay = delays[value.delay + i];
                delays[result.delay + i] = delay > slots ? delay : 0;
        }
        return result;
}

static Bool same(struct depend a, struct depend b)
{
        return a.on == b.on && a.delay == b.delay && a.operation == b.operation;
}

/* VEX goes on to use temporaries for the values that it has written to registers. */
static void restart_temporaries(struct depend_state *state, UInt id, struct depend now)
{
        const struct depend before = state->of_register[id];

        for (UInt t = 0; t < state->temporary_count; t++) {
                if (same(state->of_temporary[t], before))
                        state->of_temporary[t] = now;
        }
}

void depend_restart(struct depend_state *state, ULong kept)
{
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                const struct depend before = state->of_register[id];
                const struct depend itself = {.on = 1ULL << id};
                if ((state->written >> id & 1) == 0) {
                        state->of_register[id] = depend_among(before, kept | itself.on);
                        continue;
                }
                struct depend now = depend_either(
                    itself, depend_among(depend_settled(state, before), kept));
                restart_temporaries(state, id, now);
                state->of_register[id] = now;
        }
        state->written = 0;
}

Bool depend_changed(const struct depend_state *state, UInt id)
{
        return (state->written >> id & 1) != 0 &&
               (state->of_register[id].on != 1ULL << id ||
                state->of_register[id].delay != 0 ||
                state->of_register[id].operation != 0);
}
