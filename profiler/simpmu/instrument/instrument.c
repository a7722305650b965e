/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pass over a block of VEX IR. It adds
 *  - counts and the check at the entry (instrument_count.c);
 *  - before each access the filter test and the call of the model
 *    (instrument_access.c, instrument_cache_control.c, instrument_load.c);
 *  - at each exit, code that carries the ready times of values over to the next block
 *    (instrument_ready.c). It includes slow arithmetic, measured by VEX's operations;
 *  - before that, the call for instructions that may wait for a scheduler entry
 *    (instrument_waiting.c), and the test of a branch's prediction
 *    (instrument_branch.c);
 *  - before each stretch of code, its delivery by the front end (instrument_fetch.c);
 *  - code that groups the elements of repeated string instructions into chunks
 *    (instrument_string.c);
 *  - at an instruction that could not be decoded, a call that reports it. */
#include "instrument.h"

#include "nontemporal.h"
#include "own_heap.h"
#include "pub_tool_mallocfree.h"

static Bool follow_values = True;
static Bool follow_branches;

void instrument_set_detail(Bool values, Bool branches)
{
        follow_values = values;
        follow_branches = branches;
}

static VG_REGPARM(1) void call_unhandled(Addr ip)
{
        images_unhandled(ip);
}

/* No register is written from statement FROM on. */
static Bool registers_stay(const struct pass *pass, Int from)
{
        for (Int i = from; i < pass->in->stmts_used; i++) {
                const IRStmt *statement = pass->in->stmts[i];
                if (statement->tag == Ist_PutI || statement->tag == Ist_Dirty ||
                    (statement->tag == Ist_Put &&
                     depend_follows(statement->Ist.Put.offset)))
                        return False;
        }
        return True;
}

static void add_unhandled(struct pass *pass)
{
        IRDirty *call = unsafeIRDirty_0_N(1, "simpmu_unhandled",
                                          VG_(fnptr_to_fnentry)(&call_unhandled),
                                          mkIRExprVec_1(pass->in->next));

        ir_add_call(pass, call, NULL);
}

static void begin_instruction(struct pass *pass, const IRStmt *mark)
{
        waiting_end_instruction(pass);
        if (!pass->excluded && pass->ip != 0)
                pass->depend.index = ++pass->index;
        pass->ip = mark->Ist.IMark.addr;
        pass->excluded = heap_is_tracker(pass->ip);
        pass->last_load = NULL;
        pass->unit_used = False;
        pass->returns = mark->Ist.IMark.addr == pass->last_ip &&
                        (pass->in->jumpkind == Ijk_Call || pass->in->jumpkind == Ijk_Ret);
        pass->string =
            !pass->excluded && string_is_repeated(pass->ip, mark->Ist.IMark.len);
        pass->string_issued = False;
        pass->nontemporal =
            nontemporal_store_decode((const UChar *)pass->ip, mark->Ist.IMark.len);
}

/* VALUE after the arithmetic of DATA. VEX may need several operations for one
 * instruction, which uses a unit once. The element count of a repeated string
 * instruction delays nothing. */
static struct depend after_arithmetic(struct pass *pass, struct depend value,
                                      const IRExpr *data)
{
        struct arithmetic_cost cost;

        if (pass->excluded || !pass->follow || pass->string || arithmetic_moves(data))
                return value;
        cost = count_arithmetic(data);
        waiting_note_arithmetic(pass, value, data);
        if (cost.latency_slots == 0)
                return depend_operated(&pass->depend, value);
        if (cost.unit_slots > 0 && !pass->unit_used) {
                pass->unit_used = True;
                depend_use_multiplier(&pass->depend, cost.unit_slots);
        }
        return depend_delayed(&pass->depend, value, cost.latency_slots);
}

static void write_temporary(struct pass *pass, const IRStmt *statement)
{
        const IRExpr *data = statement->Ist.WrTmp.data;
        struct depend value;

        if (data->tag == Iex_Load)
                value = access_add_load(pass, statement->Ist.WrTmp.tmp,
                                        data->Iex.Load.addr, data->Iex.Load.ty, NULL);
        else
                value =
                    after_arithmetic(pass, depend_expression(&pass->depend, data), data);
        pass->depend.of_temporary[statement->Ist.WrTmp.tmp] = value;
}

/* Emits the code before STATEMENT in the new block. */
static void prepare(struct pass *pass, const IRStmt *statement)
{
        switch (statement->tag) {
        case Ist_IMark:
                begin_instruction(pass, statement);
                cache_control_add_prefetch(pass, statement);
                break;
        case Ist_Put:
                cache_control_add_flush(pass, statement);
                depend_put(&pass->depend, statement->Ist.Put.offset,
                           (Int)ir_size_of(pass, statement->Ist.Put.data),
                           depend_expression(&pass->depend, statement->Ist.Put.data),
                           False);
                break;
        case Ist_PutI: {
                const IRPutI *put = statement->Ist.PutI.details;
                depend_put_indexed(
                    &pass->depend,
                    depend_either(depend_expression(&pass->depend, put->data),
                                  depend_expression(&pass->depend, put->ix)));
                break;
        }
        case Ist_WrTmp:
                write_temporary(pass, statement);
                stored_note_temporary(pass, statement);
                break;
        case Ist_Store:
                access_add_store(pass, statement->Ist.Store.addr,
                                 statement->Ist.Store.data, NULL);
                break;
        case Ist_StoreG: {
                const IRStoreG *store = statement->Ist.StoreG.details;
                access_add_store(pass, store->addr, store->data, store->guard);
                break;
        }
        case Ist_LoadG:
                access_add_guarded_load(pass, statement->Ist.LoadG.details);
                break;
        case Ist_Dirty:
                access_add_helper_call(pass, statement->Ist.Dirty.details);
                break;
        case Ist_CAS:
                access_add_compare_and_swap(pass, statement->Ist.CAS.details);
                break;
        case Ist_MBE:
                access_add_fence(pass);
                break;
        default:
                break;
        }
}

static Addr last_instruction(const IRSB *in)
{
        Int i = in->stmts_used - 1;

        for (; i >= 0 && in->stmts[i]->tag != Ist_IMark; i--) {
        }
        return i < 0 ? 0 : in->stmts[i]->Ist.IMark.addr;
}

static struct depend *room_for_temporaries(UInt count)
{
        static struct depend *room;
        static UInt capacity;

        if (count > capacity) {
                VG_(free)(room);
                capacity = 2 * count;
                room = VG_(malloc)("simpmu.temporaries", capacity * sizeof(*room));
        }
        return room;
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host,
                 IRType guest_word, IRType host_word)
{
        UInt temporaries = (UInt)in->tyenv->types_used;
        struct pass pass = {
            .in = in,
            .out = deepCopyIRSBExceptStmts(in),
            .layout = layout,
            .start = closure->readdr,
            .last_ip = last_instruction(in),
            .sites = sites_of_block(closure->nraddr),
            .follow = follow_values,
            .follow_branches = follow_values && follow_branches,
        };
        Bool registers_done = False;
        Int i = 0;

        (void)extents, (void)host, (void)guest_word, (void)host_word;
        depend_start(&pass.depend, room_for_temporaries(temporaries), temporaries,
                     (UInt)tool_machine.slots_per_cycle, follow_values);
        /* Before the first mark lies VEX's own check for self-modified code. */
        for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
                addStmtToIRSB(pass.out, in->stmts[i]);
        own_heap_add_entry(&pass);
        wrong_note_code(&pass);
        fetch_begin_block(&pass, i);
        fetch_add_stretch(&pass, i);
        count_stretch(&pass, i);
        for (; i < in->stmts_used; i++) {
                IRStmt *statement = in->stmts[i];
                Bool exit = statement->tag == Ist_Exit;
                if (exit) {
                        string_add_end(&pass, in->stmts[i]);
                        pass.at = i;
                        waiting_add_exit(&pass);
                        ready_begin_exit(&pass);
                        fetch_add_exit(&pass, in->stmts[i]);
                        statement = branch_add_conditional(&pass, statement);
                }
                if (exit && !registers_done) {
                        registers_done = registers_stay(&pass, i + 1);
                        ready_add_exit(
                            &pass, registers_done ? NULL : in->stmts[i]->Ist.Exit.guard,
                            0);
                }
                pass.at = i;
                prepare(&pass, in->stmts[i]);
                addStmtToIRSB(pass.out, statement);
                if (exit) {
                        fetch_add_stretch(&pass, i + 1);
                        count_stretch(&pass, i + 1);
                }
        }
        if (in->jumpkind == Ijk_NoDecode)
                add_unhandled(&pass);
        waiting_add_exit(&pass);
        ready_begin_exit(&pass);
        fetch_add_end(&pass);
        branch_add_indirect(&pass);
        ready_add_exit(&pass, NULL, depend_unread_after(in->jumpkind));
        waiting_end_block(&pass);
        access_drop_unused_slots(&pass);
        own_heap_add_return(&pass);
        return pass.out;
}
