/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dependences through memory. Each store records inline when its value comes, in a
 * small table by address (model/hot.h). Each load reads the table to see whether it
 * has to wait (instrument_load.c).
 *
 * Not modelled: conditional accesses, repeated string instructions, and loads from
 * within a stored value, except a vector. Nothing waits for a return address. */
#include "instrument.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "model/machine/access.h"

/* ---- forms of temporaries ---- */

/* A temporary is the sum of the register BASE, register INDEX shifted by SCALE, and
 * DISPLACEMENT. Registers are as they were when the block began, or as the block sets
 * them. With neither register the temporary is something else. */
struct temporary_form {
        UInt base;
        UInt index;
        UInt scale;
        ULong displacement;
        Bool vector; /* it comes from a vector register */
};

/* RAX, RCX, RDX, RBX, and then: */
enum { GENERAL_RSP = 4, GENERAL_RBP = 5 };

/* Of 16 registers, and of pairs; FORM_VECTOR has a number beyond the limit. */
enum {
        BASE_NONE,
        BASE_CONSTANT,
        BASE_FIRST,
        BASE_PAIRS = BASE_FIRST + 16,
        BASE_LIMIT = 31
};

/* The block computes the values of these registers, except of the stack's. */
static void note_set_registers(const struct pass *pass, struct temporary_form *forms)
{
        for (Int i = 0; i < pass->in->stmts_used; i++) {
                const IRStmt *statement = pass->in->stmts[i];
                if (statement->tag != Ist_Put ||
                    statement->Ist.Put.data->tag != Iex_RdTmp)
                        continue;
                const Int general = depend_general(statement->Ist.Put.offset);
                if (general < 0 || general == GENERAL_RSP || general == GENERAL_RBP)
                        continue;
                forms[statement->Ist.Put.data->Iex.RdTmp.tmp].base =
                    BASE_FIRST + (UInt)general;
        }
}

static void make_room_for_forms(struct pass *pass)
{
        const UInt count = (UInt)pass->in->tyenv->types_used;
        static struct temporary_form *room;
        static UInt capacity;

        if (count > capacity) {
                VG_(free)(room);
                capacity = 2 * count;
                room = VG_(malloc)("simpmu.forms", capacity * sizeof(*room));
        }
        VG_(memset)(room, 0, count * sizeof(*room));
        note_set_registers(pass, room);
        pass->forms = room;
}

static Bool is_vector_type(IRType type)
{
        return type == Ity_F32 || type == Ity_F64 || type == Ity_V128 || type == Ity_V256;
}

/* Operations that take a scalar out of a vector register. */
static Bool leaves_vector(IROp op)
{
        switch (op) {
        case Iop_V128to32:
        case Iop_V128to64:
        case Iop_V128HIto64:
        case Iop_V256to64_0:
        case Iop_V256to64_1:
        case Iop_V256to64_2:
        case Iop_V256to64_3:
        case Iop_ReinterpF64asI64:
        case Iop_ReinterpF32asI32:
                return True;
        default:
                return False;
        }
}

static Bool enters_vector(IROp op)
{
        switch (op) {
        case Iop_32UtoV128:
        case Iop_64UtoV128:
        case Iop_ReinterpI64asF64:
        case Iop_ReinterpI32asF32:
                return True;
        default:
                return False;
        }
}

static struct temporary_form moved_by(struct temporary_form form, const IRExpr *e)
{
        const ULong by = e->Iex.Binop.arg2->Iex.Const.con->Ico.U64;

        form.displacement += e->Iex.Binop.op == Iop_Add64 ? by : -by;
        return form;
}

static Bool is_register(const struct temporary_form *form)
{
        return form->base >= BASE_FIRST && form->index == BASE_NONE &&
               form->displacement == 0;
}

/* FORM's register as an index. */
static struct temporary_form scaled(struct temporary_form form, UInt scale)
{
        if (!is_register(&form))
                return (struct temporary_form){0};
        return (struct temporary_form){.index = form.base, .scale = scale};
}

/* The sum of a register and an index. */
static struct temporary_form indexed(struct temporary_form form,
                                     struct temporary_form index)
{
        if (index.base != BASE_NONE)
                index = scaled(index, 0);
        if (!is_register(&form) || index.index == BASE_NONE)
                return (struct temporary_form){0};
        form.index = index.index;
        form.scale = index.scale;
        return form;
}

static struct temporary_form form_of(const struct pass *pass, const IRExpr *e)
{
        struct temporary_form form = {0};
        Int general;

        switch (e->tag) {
        case Iex_RdTmp:
                return pass->forms != NULL &&
                               e->Iex.RdTmp.tmp < (IRTemp)pass->in->tyenv->types_used
                           ? pass->forms[e->Iex.RdTmp.tmp]
                           : form; /* a moved address */
        case Iex_Const:
                form.base = BASE_CONSTANT;
                return form;
        case Iex_Get:
                general = depend_general(e->Iex.Get.offset);
                if (general >= 0 && e->Iex.Get.ty == Ity_I64)
                        form.base = BASE_FIRST + (UInt)general;
                form.vector = depend_is_vector(e->Iex.Get.offset);
                return form;
        case Iex_Unop:
                form.vector = leaves_vector(e->Iex.Unop.op);
                return form;
        case Iex_Binop:
                if ((e->Iex.Binop.op == Iop_Add64 || e->Iex.Binop.op == Iop_Sub64) &&
                    e->Iex.Binop.arg2->tag == Iex_Const &&
                    e->Iex.Binop.arg1->tag == Iex_RdTmp)
                        return moved_by(form_of(pass, e->Iex.Binop.arg1), e);
                if (e->Iex.Binop.op == Iop_Shl64 && e->Iex.Binop.arg2->tag == Iex_Const)
                        return scaled(form_of(pass, e->Iex.Binop.arg1),
                                      e->Iex.Binop.arg2->Iex.Const.con->Ico.U8);
                if (e->Iex.Binop.op == Iop_Add64)
                        return indexed(form_of(pass, e->Iex.Binop.arg1),
                                       form_of(pass, e->Iex.Binop.arg2));
                return form;
        default:
                return form;
        }
}

void stored_note_temporary(struct pass *pass, const IRStmt *statement)
{
        struct temporary_form form;

        if (!pass->follow)
                return;
        if (pass->forms == NULL)
                make_room_for_forms(pass);
        form = form_of(pass, statement->Ist.WrTmp.data);
        if (form.base == BASE_NONE && form.index == BASE_NONE)
                form.base = pass->forms[statement->Ist.WrTmp.tmp].base;
        pass->forms[statement->Ist.WrTmp.tmp] = form;
}

Bool stored_is_for_vector(const struct pass *pass, IRTemp loaded, IRType type)
{
        const Int nearby = 8; /* statements */

        if (is_vector_type(type))
                return True;
        for (Int i = pass->at + 1; i < pass->in->stmts_used && i <= pass->at + nearby;
             i++) {
                const IRStmt *statement = pass->in->stmts[i];
                const IRExpr *data = statement->tag == Ist_WrTmp
                                         ? statement->Ist.WrTmp.data
                                     : statement->tag == Ist_Put ? statement->Ist.Put.data
                                                                 : NULL;
                Bool enters = statement->tag == Ist_Put &&
                              depend_is_vector(statement->Ist.Put.offset);
                if (data == NULL)
                        continue;
                if (data->tag == Iex_Unop && enters_vector(data->Iex.Unop.op)) {
                        data = data->Iex.Unop.arg;
                        enters = True;
                }
                if (enters && data->tag == Iex_RdTmp && data->Iex.RdTmp.tmp == loaded)
                        return True;
        }
        return False;
}

Bool stored_is_of_vector(const struct pass *pass, const IRExpr *data)
{
        return is_vector_type(typeOfIRExpr(pass->in->tyenv, data)) ||
               (pass->forms != NULL && form_of(pass, data).vector);
}

Int stored_frame_word(const struct pass *pass, const IRExpr *address)
{
        const UInt stack_pointer = BASE_FIRST + GENERAL_RSP;
        const UInt frame_pointer = BASE_FIRST + GENERAL_RBP;
        struct temporary_form form;

        if (pass->forms == NULL || address->tag == Iex_Const)
                return -1;
        form = form_of(pass, address);
        if ((form.base != stack_pointer && form.base != frame_pointer) ||
            form.index != BASE_NONE)
                return -1;
        return (Int)(form.displacement >> FRAME_WORD_SHIFT & (FRAME_WORDS - 1));
}

/* ---- how accesses are written ---- */

/* The number of ADDRESS for FORM_..., if the model asks for it. */
static UInt address_number(const struct pass *pass, const IRExpr *address)
{
        const UInt stack = BASE_FIRST + GENERAL_RSP;
        struct temporary_form form;
        UInt registers;

        if (tool_machine.renaming != RENAMES_FORMS)
                return FORM_UNKNOWN;
        form = form_of(pass, address);
        if (form.base == BASE_NONE && form.index == BASE_NONE)
                return FORM_UNKNOWN;
        registers = form.base;
        if (form.index != BASE_NONE) /* a hash: addresses are compared, too */
                registers = BASE_PAIRS + (form.base * 5 + form.index + form.scale) %
                                             (BASE_LIMIT - BASE_PAIRS);
        else if (form.base == stack || form.base == BASE_CONSTANT)
                form.displacement = 0;
        return registers << FORM_DISPLACEMENT_BITS |
               (UInt)(form.displacement & ((1u << FORM_DISPLACEMENT_BITS) - 1));
}

void stored_set_form(const struct pass *pass, struct access_site *site,
                     const IRExpr *address, Bool vector)
{
        site->form = (UShort)(stored_size_code(site->size_bytes) |
                              (vector ? FORM_VECTOR : address_number(pass, address)));
}

/* ---- the table ---- */

static IRExpr *index_of(struct pass *pass, IRExpr *address)
{
        return ir_binary(pass, Ity_I64, Iop_And64,
                         ir_binary(pass, Ity_I64, Iop_Shr64, address,
                                   IRExpr_Const(IRConst_U8(STORED_SHIFT))),
                         ir_constant(STORED_PLACES - 1));
}

static void add_place(struct pass *pass, const struct access_site *site, IRExpr *address,
                      IRExpr *ready)
{
        IRExpr *index = index_of(pass, address);
        IRExpr *where = address;

        ir_write_hot_element(pass, tool_hot.stored_ready, index, ready);
        if (ready->tag == Iex_Const)
                return; /* the value is ready: its address is not needed */
        if (site->form != 0)
                where = ir_binary(pass, Ity_I64, Iop_Or64, address,
                                  ir_constant((ULong)site->form << STORED_FORM_SHIFT));
        ir_write_hot_element(pass, tool_hot.stored_where, index, where);
}

void stored_add_store(struct pass *pass, const struct access_site *site, IRExpr *address,
                      struct depend data)
{
        /* Two integers that compilers gather in a vector register are loaded one by one.
         */
        const Bool halves = (site->form & FORM_VECTOR) == FORM_VECTOR &&
                            site->size_bytes == 2 * sizeof(UInt);
        /* Bytes, from one place that is noted to the next. */
        const UInt step = halves ? sizeof(UInt) : sizeof(ULong);
        IRExpr *ready;

        if (!pass->follow || pass->string || pass->returns)
                return;
        /* A locked instruction ends when its store is in L1. */
        ready = site->locked ? ir_constant(0) : ready_when_stored(pass, data);
        add_place(pass, site, address, ready);
        for (UInt at = step; at < site->size_bytes && at < LINE_BYTES; at += step)
                add_place(pass, site,
                          ir_binary(pass, Ity_I64, Iop_Add64, address, ir_constant(at)),
                          ready);
}
