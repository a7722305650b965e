/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pass over a block of VEX IR. It adds
 *  - counts of instructions and loads, one addition for each stretch between exits;
 *  - at the entry, where a loop may come through, the check that serves the gate and the
 *    intervals;
 *  - before each access, the filter test inline and behind it the call of the model;
 *  - at each exit, what carries the ready times of values over to the next block, slow
 *    arithmetic included, of which VEX's operations are the measure;
 *  - where an instruction could not be decoded, the call that tells so.
 * What is constant about an access or exit goes into a site, in memory that lives as
 * long as the translation. */
#include "tool.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"

#include "arithmetic.h"
#include "depend.h"
#include "model/access.h"
#include "prefetch_instruction.h"

/* Memory of one translation: a chain of sites, freed together. */
struct site_link {
        struct site_link *next;
        ULong payload[];
};

struct block_sites {
        struct block_sites *next_in_table; /* VgHashNode */
        UWord block;                       /* VgHashNode's key */
        struct site_link *first;
};

static VgHashTable *blocks;
static Bool follow_values = True;

void instrument_set_detail(Bool caches_only)
{
        follow_values = !caches_only;
}

/* The first load of a slot, and the statement that says that its value is there. */
struct slot_use {
        struct access_site *site;
        Int statement;
};

/* The pass over one block. */
struct pass {
        IRSB *out;
        const IRSB *in;
        const VexGuestLayout *layout;
        Addr start;
        struct block_sites *sites;
        struct depend_state depend;
        struct slot_use load_of_slot[LAST_SLOT - FIRST_SLOT + 1];
        struct access_site *last_load; /* of the current instruction, or NULL */
        ULong used;                    /* values that something waits for */
        Addr ip;
        Bool excluded;  /* the current instruction is the heap tracker's */
        Bool unit_used; /* by the current instruction */
        UInt index;     /* counted instructions before the current one */
        UInt counted;   /* those that the code emitted so far adds */
        UInt loads;     /* that have a slot of their own */
};

/* ---- calls from generated code ---- */

/* One for each kind of access, so that the model's tests of it are made here. */

static VG_REGPARM(2) void call_load(const struct access_site *site, Addr address)
{
        access_memory(&tool_machine, &tool_hot, tool_thread, site, ACCESS_LOAD, address);
}

static VG_REGPARM(2) void call_store(const struct access_site *site, Addr address)
{
        access_memory(&tool_machine, &tool_hot, tool_thread, site, ACCESS_STORE, address);
}

static VG_REGPARM(2) void call_update(const struct access_site *site, Addr address)
{
        access_memory(&tool_machine, &tool_hot, tool_thread, site, ACCESS_UPDATE,
                      address);
}

static VG_REGPARM(3) void call_prefetch(const struct access_site *site, Addr address,
                                        UWord into)
{
        prefetch_instruction(&tool_machine, &tool_hot, tool_thread, site,
                             (enum prefetch_into)into, address);
}

static VG_REGPARM(2) void call_flush(Addr address, UWord lines)
{
        uint64_t now = tool_hot.instructions + tool_thread->stall;

        for (UWord i = 0; i < lines; i++)
                miss_flush(&tool_machine, &tool_hot, tool_thread,
                           (address >> LINE_SHIFT) + i, now);
}

static VG_REGPARM(1) void call_serialise(Long position)
{
        thread_serialise(&tool_hot, tool_thread, tool_hot.instructions + (ULong)position,
                         tool_machine.lock_cost);
}

/* Some of REGISTERS come later than the window can bridge. */
static VG_REGPARM(1) void call_hold(ULong registers)
{
        thread_hold(&tool_hot, tool_thread, hot_latest_ready(&tool_hot, registers));
}

static VG_REGPARM(1) void call_check(UInt *guest_state)
{
        threads_check(guest_state);
}

static VG_REGPARM(1) void call_unhandled(Addr ip)
{
        images_unhandled(ip);
}

/* ---- small IR ---- */

static IRExpr *constant(ULong value)
{
        return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *assign(struct pass *pass, IRType type, IRExpr *e)
{
        IRTemp temporary = newIRTemp(pass->out->tyenv, type);

        addStmtToIRSB(pass->out, IRStmt_WrTmp(temporary, e));
        return IRExpr_RdTmp(temporary);
}

static IRExpr *binary(struct pass *pass, IRType type, IROp op, IRExpr *a, IRExpr *b)
{
        return assign(pass, type, IRExpr_Binop(op, a, b));
}

static IRExpr *read_hot(struct pass *pass, const uint64_t *variable)
{
        return assign(pass, Ity_I64,
                      IRExpr_Load(Iend_LE, Ity_I64, constant((Addr)variable)));
}

static void write_hot(struct pass *pass, uint64_t *variable, IRExpr *value)
{
        addStmtToIRSB(pass->out, IRStmt_Store(Iend_LE, constant((Addr)variable), value));
}

static IRExpr *add_to_hot(struct pass *pass, uint64_t *variable, ULong amount)
{
        IRExpr *sum =
            binary(pass, Ity_I64, Iop_Add64, read_hot(pass, variable), constant(amount));

        write_hot(pass, variable, sum);
        return sum;
}

static IRExpr *both(struct pass *pass, IRExpr *condition, IRExpr *guard)
{
        if (guard == NULL)
                return condition;
        return binary(pass, Ity_I1, Iop_And1, condition, guard);
}

/* The helper may walk the stack, which starts from these registers. */
static void reads_frame(const struct pass *pass, IRDirty *call)
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

static void add_call(struct pass *pass, IRDirty *call, IRExpr *guard)
{
        if (guard != NULL)
                call->guard = guard;
        addStmtToIRSB(pass->out, IRStmt_Dirty(call));
}

static UInt first_of(ULong mask)
{
        return (UInt)__builtin_ctzll(mask);
}

/* ---- memory of sites ---- */

static void *site_new(struct pass *pass, SizeT bytes)
{
        struct site_link *link = VG_(malloc)("simpmu.site", sizeof(*link) + bytes);

        link->next = pass->sites->first;
        pass->sites->first = link;
        return link->payload;
}

static struct block_sites *block_sites_new(Addr block)
{
        struct block_sites *sites = VG_(malloc)("simpmu.block", sizeof(*sites));

        if (blocks == NULL)
                blocks = VG_(HT_construct)("simpmu.blocks");
        sites->block = block;
        sites->first = NULL;
        VG_(HT_add_node)(blocks, sites);
        return sites;
}

void instrument_discard(Addr block, VexGuestExtents extents)
{
        struct block_sites *sites;

        (void)extents;
        if (blocks == NULL)
                return;
        sites = VG_(HT_remove)(blocks, block);
        if (sites == NULL)
                return;
        for (struct site_link *link = sites->first; link != NULL;) {
                struct site_link *next = link->next;
                VG_(free)(link);
                link = next;
        }
        VG_(free)(sites);
}

static Bool filter_applies(const struct access_site *site)
{
        /* When L1 hits qualify for sampling every load has to reach the model. */
        return site->size_bytes <= LINE_BYTES &&
               (site->kind == ACCESS_STORE ||
                tool_machine.sample_latency > tool_machine.l1d_latency);
}

/* ---- ready times ---- */

/* In the generated code: when the block's first instruction issued. */
static IRExpr *issue_time(struct pass *pass)
{
        IRExpr *now =
            binary(pass, Ity_I64, Iop_Add64, read_hot(pass, &tool_hot.instructions),
                   read_hot(pass, &tool_hot.stall));

        return binary(pass, Ity_I64, Iop_Sub64, now, constant(pass->counted));
}

static IRExpr *ready_through(struct pass *pass, struct depend depends, UInt number)
{
        UInt delay = depend_delay_from(depends, number);
        IRExpr *ready = number == ISSUE_TIME ? issue_time(pass)
                                             : read_hot(pass, &tool_hot.ready[number]);

        return delay == 0 ? ready
                          : binary(pass, Ity_I64, Iop_Add64, ready, constant(delay));
}

static IRExpr *later_of(struct pass *pass, IRExpr *a, IRExpr *b)
{
        IRExpr *b_is_later = binary(pass, Ity_I1, Iop_CmpLT64U, a, b);

        return assign(pass, Ity_I64, IRExpr_ITE(b_is_later, b, a));
}

/* The generated code's latest ready time of what goes into a value. */
static IRExpr *latest_ready(struct pass *pass, struct depend depends)
{
        IRExpr *latest = NULL;

        for (ULong rest = depends.on; rest != 0; rest &= rest - 1) {
                IRExpr *ready = ready_through(pass, depends, first_of(rest));
                latest = latest == NULL ? ready : later_of(pass, latest, ready);
        }
        pass->used |= depends.on;
        return latest == NULL ? constant(0) : latest;
}

/* The values that an address waits for. One that slow arithmetic leads to becomes a value
 * of its own, as long as there are slots. */
static ULong without_delay(struct pass *pass, struct depend depends)
{
        UInt slot = FIRST_SLOT + pass->loads;

        if (depends.delay == 0)
                return depends.on;
        if (slot == LAST_SLOT)
                return depends.on & ~(1ULL << ISSUE_TIME);
        pass->loads++;
        write_hot(pass, &tool_hot.ready[slot], latest_ready(pass, depends));
        return 1ULL << slot;
}

/* ---- accesses ---- */

/* How far ADDRESS lies above its entry in the filter, in the generated code: more than
 * a line when the line is not there. */
static IRExpr *filter_distance(struct pass *pass, const struct access_site *site,
                               IRExpr *address)
{
        const uint64_t *filter = site->kind == ACCESS_LOAD ? &tool_hot.filter[0].load
                                                           : &tool_hot.filter[0].store;
        const UInt entry_shift = 4;
        IRExpr *shifted = binary(pass, Ity_I64, Iop_Shr64, address,
                                 IRExpr_Const(IRConst_U8(LINE_SHIFT - entry_shift)));
        IRExpr *offset = binary(pass, Ity_I64, Iop_And64, shifted,
                                constant((FILTER_ENTRIES - 1) << entry_shift));
        IRExpr *place = binary(pass, Ity_I64, Iop_Add64, offset, constant((Addr)filter));
        IRExpr *entry = assign(pass, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, place));

        _Static_assert(sizeof(tool_hot.filter[0]) == 1u << 4, "entry_shift");
        return binary(pass, Ity_I64, Iop_Sub64, address, entry);
}

/* In the generated code all ones when the value that has NUMBER may be still to come. */
static IRExpr *may_be_to_come(struct pass *pass, UInt number)
{
        const UInt sign_bit = 63;
        IRExpr *left = binary(pass, Ity_I64, Iop_Sub64, read_hot(pass, &tool_hot.now),
                              read_hot(pass, &tool_hot.ready[number]));

        return binary(pass, Ity_I64, Iop_Sar64, left, IRExpr_Const(IRConst_U8(sign_bit)));
}

/* True in the generated code when the model has to see the access: the filter does not
 * know the line, or the stored value may be still to come, so that loads of it will
 * have to wait. */
static IRExpr *reaches_model(struct pass *pass, const struct access_site *site,
                             IRExpr *address)
{
        const UInt room = LINE_BYTES - site->size_bytes; /* where the filter applies */
        IRExpr *distance;

        if (!filter_applies(site))
                return IRExpr_Const(IRConst_U1(True));
        distance = filter_distance(pass, site, address);
        for (ULong rest = site->data_depends; rest != 0; rest &= rest - 1)
                distance = binary(pass, Ity_I64, Iop_Or64, distance,
                                  may_be_to_come(pass, first_of(rest)));
        return binary(pass, Ity_I1, Iop_CmpLT64U, constant(room), distance);
}

static struct access_site *access_site_new(struct pass *pass, enum access_kind kind,
                                           ULong address_depends, ULong data_depends,
                                           UInt size_bytes)
{
        struct access_site *site = site_new(pass, sizeof(*site));

        *site = (struct access_site){
            .ip = pass->ip,
            .address_depends = address_depends,
            .data_depends = data_depends,
            .position = (Int)pass->index - (Int)pass->counted,
            .size_bytes = (UShort)size_bytes,
            .kind = (UChar)kind,
            .slot = UNUSED_VALUE,
        };
        pass->used |= address_depends | data_depends;
        return site;
}

/* Gives the load of SITE a slot, the last one when there are no more. Its value is there
 * unless the model says otherwise. */
static void take_slot(struct pass *pass, struct access_site *site)
{
        UInt slot = FIRST_SLOT + pass->loads;

        site->slot = (UChar)slot;
        if (slot == LAST_SLOT && pass->load_of_slot[pass->loads].site != NULL)
                return;
        pass->load_of_slot[pass->loads] = (struct slot_use){site, pass->out->stmts_used};
        write_hot(pass, &tool_hot.ready[slot], constant(0));
        if (slot < LAST_SLOT)
                pass->loads++;
}

static IRDirty *call_of_access(const struct access_site *site, IRExpr *address)
{
        IRExpr **arguments = mkIRExprVec_2(constant((Addr)site), address);

        if (site->kind == ACCESS_LOAD)
                return unsafeIRDirty_0_N(2, "simpmu_load",
                                         VG_(fnptr_to_fnentry)(&call_load), arguments);
        if (site->kind == ACCESS_STORE)
                return unsafeIRDirty_0_N(2, "simpmu_store",
                                         VG_(fnptr_to_fnentry)(&call_store), arguments);
        return unsafeIRDirty_0_N(2, "simpmu_update", VG_(fnptr_to_fnentry)(&call_update),
                                 arguments);
}

/* Adds an access; returns what a loaded value depends on. How long arithmetic has taken
 * for stored data tells nobody. */
static struct depend add_access(struct pass *pass, enum access_kind kind, IRExpr *address,
                                UInt size_bytes, IRExpr *guard, struct depend data,
                                Bool locked)
{
        struct depend depends = depend_expression(&pass->depend, address);
        struct access_site *site;
        IRDirty *call;

        if (pass->excluded)
                return depends;
        depends = (struct depend){.on = without_delay(pass, depends)};
        site = access_site_new(pass, kind, depends.on, data.on & ~(1ULL << ISSUE_TIME),
                               size_bytes);
        site->locked = locked;
        call = call_of_access(site, address);
        if (kind != ACCESS_STORE) {
                if (follow_values) {
                        take_slot(pass, site);
                        depends.on |= 1ULL << site->slot;
                }
                pass->last_load = site;
                reads_frame(pass, call); /* it may be sampled */
        }
        add_call(pass, call, both(pass, reaches_model(pass, site, address), guard));
        return depends;
}

static UInt size_of(const struct pass *pass, const IRExpr *e)
{
        return (UInt)sizeofIRType(typeOfIRExpr(pass->in->tyenv, e));
}

static struct depend add_load(struct pass *pass, IRExpr *address, IRType type,
                              IRExpr *guard)
{
        return add_access(pass, ACCESS_LOAD, address, (UInt)sizeofIRType(type), guard,
                          (struct depend){0}, False);
}

static void add_store(struct pass *pass, IRExpr *address, const IRExpr *data,
                      IRExpr *guard)
{
        (void)add_access(pass, ACCESS_STORE, address, size_of(pass, data), guard,
                         depend_expression(&pass->depend, data), False);
}

static void add_guarded_load(struct pass *pass, const IRLoadG *load)
{
        IRType result;
        IRType loaded;
        struct depend value;

        typeOfIRLoadGOp(load->cvt, &result, &loaded);
        value = add_load(pass, load->addr, loaded, load->guard);
        value = depend_either(value, depend_expression(&pass->depend, load->alt));
        value = depend_either(value, depend_expression(&pass->depend, load->guard));
        pass->depend.of_temporary[load->dst] = value;
}

/* The current instruction is a locked one or a fence. */
static void add_serialisation(struct pass *pass)
{
        const Long position = (Long)pass->index - (Long)pass->counted;

        if (pass->excluded || tool_machine.lock_cost == 0)
                return;
        add_call(pass,
                 unsafeIRDirty_0_N(1, "simpmu_serialise",
                                   VG_(fnptr_to_fnentry)(&call_serialise),
                                   mkIRExprVec_1(constant((ULong)position))),
                 NULL);
}

/* A locked instruction is a plain load and a compare-and-swap to VEX, or, when it
 * is itself one, the latter alone. */
static void add_compare_and_swap(struct pass *pass, const IRCAS *cas)
{
        UInt size_bytes = size_of(pass, cas->dataLo) * (cas->dataHi == NULL ? 1 : 2);
        enum access_kind kind = pass->last_load == NULL ? ACCESS_UPDATE : ACCESS_STORE;
        struct depend value;

        if (pass->last_load != NULL)
                pass->last_load->locked = True;
        value = add_access(pass, kind, cas->addr, size_bytes, NULL,
                           depend_expression(&pass->depend, cas->dataLo), True);
        pass->depend.of_temporary[cas->oldLo] = value;
        if (cas->oldHi != IRTemp_INVALID)
                pass->depend.of_temporary[cas->oldHi] = value;
        add_serialisation(pass);
}

/* A call of one of VEX's helpers, which may read and write memory and registers. */
static void add_helper_call(struct pass *pass, const IRDirty *call)
{
        const struct depend_state *state = &pass->depend;
        struct depend value = {0};

        for (Int i = 0; call->args[i] != NULL; i++) {
                if (!is_IRExpr_VECRET_or_GSPTR(call->args[i]))
                        value =
                            depend_either(value, depend_expression(state, call->args[i]));
        }
        for (Int i = 0; i < call->nFxState; i++) {
                if (call->fxState[i].fx != Ifx_Write)
                        value = depend_either(value,
                                              depend_get(state, call->fxState[i].offset,
                                                         call->fxState[i].size));
        }
        if (call->mFx != Ifx_None) {
                enum access_kind kind = call->mFx == Ifx_Read    ? ACCESS_LOAD
                                        : call->mFx == Ifx_Write ? ACCESS_STORE
                                                                 : ACCESS_UPDATE;
                struct depend loaded =
                    add_access(pass, kind, call->mAddr, (UInt)call->mSize, call->guard,
                               value, False);
                if (kind != ACCESS_STORE)
                        value = depend_either(value, loaded);
        }
        if (call->tmp != IRTemp_INVALID)
                pass->depend.of_temporary[call->tmp] = value;
        for (Int i = 0; i < call->nFxState; i++) {
                const Int offset = call->fxState[i].offset;
                if (call->fxState[i].fx == Ifx_Read)
                        continue;
                for (Int at = 0; at < call->fxState[i].size; at += (Int)sizeof(ULong))
                        depend_put(&pass->depend, offset + at, sizeof(ULong), value,
                                   True);
        }
}

/* ---- flushes ---- */

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

/* PUT may be of the place whose cached code VEX is to forget: what CLFLUSH is to VEX,
 * which rounds its address down to 256 bytes. Where the address is a constant and the
 * rounding is done already, all of these are flushed. */
static void add_flush(struct pass *pass, const IRStmt *put)
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
        add_call(pass,
                 unsafeIRDirty_0_N(2, "simpmu_flush", VG_(fnptr_to_fnentry)(&call_flush),
                                   mkIRExprVec_2(address, constant(lines))),
                 NULL);
}

/* ---- software prefetches ---- */

/* The guest's general register NUMBER, as instructions number them, and what it depends
 * on; nothing is added to ADDRESS for none. */
static IRExpr *plus_register(struct pass *pass, IRExpr *address, Int number, Int shift,
                             struct depend *depends)
{
        Int offset =
            (Int)offsetof(VexGuestAMD64State, guest_RAX) + number * (Int)sizeof(ULong);
        IRExpr *value;

        if (number == PREFETCH_NO_REGISTER)
                return address;
        value = assign(pass, Ity_I64, IRExpr_Get(offset, Ity_I64));
        if (shift > 0)
                value = binary(pass, Ity_I64, Iop_Shl64, value,
                               IRExpr_Const(IRConst_U8((UChar)shift)));
        *depends =
            depend_either(*depends, depend_get(&pass->depend, offset, sizeof(ULong)));
        return binary(pass, Ity_I64, Iop_Add64, address, value);
}

/* VEX makes nothing of a prefetch, so its bytes are looked at. The registers are those
 * of the guest's state, which VEX keeps as of the last access to memory at least. */
static void add_prefetch(struct pass *pass, const IRStmt *mark)
{
        const UInt length = mark->Ist.IMark.len;
        struct prefetch_instruction prefetch;
        struct depend depends = {0};
        struct access_site *site;
        IRExpr *address;

        if (pass->excluded ||
            !prefetch_instruction_decode((const UChar *)pass->ip, length, &prefetch))
                return;
        address = constant((ULong)(Long)prefetch.displacement +
                           (prefetch.from_next ? pass->ip + length : 0));
        address = plus_register(pass, address, prefetch.base, 0, &depends);
        address =
            plus_register(pass, address, prefetch.index, prefetch.index_shift, &depends);
        site = access_site_new(pass, ACCESS_LOAD, without_delay(pass, depends), 0, 1);
        add_call(pass,
                 unsafeIRDirty_0_N(3, "simpmu_prefetch",
                                   VG_(fnptr_to_fnentry)(&call_prefetch),
                                   mkIRExprVec_3(constant((Addr)site), address,
                                                 constant(prefetch.into))),
                 filter_applies(site)
                     ? binary(pass, Ity_I1, Iop_CmpLT64U, constant(LINE_BYTES - 1),
                              filter_distance(pass, site, address))
                     : NULL);
}

/* ---- counts and exits ---- */

static Bool counts_as_load(const IRStmt *statement)
{
        switch (statement->tag) {
        case Ist_WrTmp:
                return statement->Ist.WrTmp.data->tag == Iex_Load;
        case Ist_LoadG:
                return True;
        case Ist_Dirty:
                return statement->Ist.Dirty.details->mFx == Ifx_Read ||
                       statement->Ist.Dirty.details->mFx == Ifx_Modify;
        default:
                return False;
        }
}

static struct arithmetic_cost cost_of(const IRExpr *e)
{
        return arithmetic_cost(&tool_machine.params, tool_machine.slots_per_cycle, e);
}

static UInt port_slots(const IRStmt *statement)
{
        return follow_values && statement->tag == Ist_WrTmp
                   ? cost_of(statement->Ist.WrTmp.data).port_slots
                   : 0;
}

static Bool goes_back(const struct pass *pass, const IRConst *target)
{
        return target->Ico.U64 <= pass->start;
}

/* Every way round a loop comes through a block of which this is true: one that jumps
 * back, or to where only the run tells. */
static Bool may_end_a_loop(const struct pass *pass)
{
        const IRSB *in = pass->in;

        if (in->next->tag != Iex_Const || goes_back(pass, in->next->Iex.Const.con))
                return True;
        for (Int i = 0; i < in->stmts_used; i++) {
                if (in->stmts[i]->tag == Ist_Exit &&
                    goes_back(pass, in->stmts[i]->Ist.Exit.dst))
                        return True;
        }
        return False;
}

/* Adds the instructions and loads from statement FROM to the next exit. The first
 * stretch also carries the block's check. */
static void count_stretch(struct pass *pass, Int from)
{
        UInt instructions = 0;
        UInt loads = 0;
        Bool excluded = pass->excluded;
        UInt busy = 0; /* slots that the port of slow arithmetic executes */
        UInt of_instruction = 0;
        Bool load_seen = False; /* in the current instruction */
        IRExpr *sum;

        for (Int i = from; i < pass->in->stmts_used; i++) {
                const IRStmt *statement = pass->in->stmts[i];
                if (statement->tag == Ist_IMark) {
                        excluded = heap_is_tracker(statement->Ist.IMark.addr);
                        instructions += !excluded;
                        load_seen = False;
                        busy += of_instruction;
                        of_instruction = 0;
                } else if (!excluded && port_slots(statement) > of_instruction) {
                        of_instruction = port_slots(statement);
                } else if (counts_as_load(statement)) {
                        loads += !excluded;
                        load_seen = True;
                } else if (statement->tag == Ist_CAS && !load_seen) {
                        loads += !excluded;
                } else if (statement->tag == Ist_Exit) {
                        break;
                }
        }
        busy += of_instruction;
        if (loads > 0)
                (void)add_to_hot(pass, &tool_hot.loads, loads);
        if (busy > instructions)
                (void)add_to_hot(pass, &tool_hot.busy, busy - instructions);
        if (instructions == 0)
                return;
        sum = add_to_hot(pass, &tool_hot.instructions, instructions);
        if (pass->counted == 0 && may_end_a_loop(pass)) {
                IRDirty *call = unsafeIRDirty_0_N(1, "simpmu_check",
                                                  VG_(fnptr_to_fnentry)(&call_check),
                                                  mkIRExprVec_1(IRExpr_GSPTR()));
                reads_frame(pass, call); /* VEX wants GSPTR to have some effect */
                add_call(pass, call,
                         binary(pass, Ity_I1, Iop_CmpLT64U,
                                read_hot(pass, &tool_hot.instruction_limit), sum));
        }
        pass->counted += instructions;
}

static void write_ready(struct pass *pass, UInt id, IRExpr *ready, IRExpr *guard)
{
        IRExpr *place = constant((Addr)&tool_hot.ready[id]);

        addStmtToIRSB(pass->out, guard == NULL
                                     ? IRStmt_Store(Iend_LE, place, ready)
                                     : IRStmt_StoreG(Iend_LE, place, ready, guard));
}

static Bool same(struct depend a, struct depend b)
{
        return a.on == b.on && a.delay == b.delay;
}

/* Registers that slow arithmetic leads to take their place in the window, as loads do,
 * when they come later than that can bridge. */
static void hold_window(struct pass *pass, IRExpr *const *ready)
{
        const ULong window = (ULong)tool_machine.params.rob_entries;
        const UChar sign_bit = 63;
        IRExpr *bridged = NULL;
        IRExpr *beyond = NULL;
        ULong registers = 0;

        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                if (ready[id] == NULL || pass->depend.of_register[id].delay == 0)
                        continue;
                if (bridged == NULL)
                        bridged = binary(pass, Ity_I64, Iop_Add64, issue_time(pass),
                                         constant(pass->counted + window));
                IRExpr *left = binary(pass, Ity_I64, Iop_Sub64, bridged, ready[id]);
                beyond =
                    beyond == NULL ? left : binary(pass, Ity_I64, Iop_Or64, beyond, left);
                registers |= 1ULL << id;
        }
        if (registers == 0)
                return;
        add_call(
            pass,
            unsafeIRDirty_0_N(1, "simpmu_hold", VG_(fnptr_to_fnentry)(&call_hold),
                              mkIRExprVec_1(constant(registers))),
            assign(pass, Ity_I1,
                   IRExpr_Unop(Iop_64to1, binary(pass, Ity_I64, Iop_Shr64, beyond,
                                                 IRExpr_Const(IRConst_U8(sign_bit))))));
}

/* Control may leave here: registers get their ready times, all at once. GUARD is NULL
 * when nothing of the block comes after. */
static void add_exit(struct pass *pass, IRExpr *guard)
{
        IRExpr *ready[REGISTERS_END];
        const struct depend *depends = pass->depend.of_register;

        if (!follow_values)
                return;
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                ready[id] = NULL;
                if (!depend_changed(&pass->depend, id))
                        continue;
                for (UInt other = FIRST_REGISTER; other < id; other++) {
                        if (ready[other] != NULL && same(depends[other], depends[id]))
                                ready[id] = ready[other];
                }
                if (ready[id] == NULL)
                        ready[id] = latest_ready(pass, depends[id]);
        }
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                if (ready[id] != NULL)
                        write_ready(pass, id, ready[id], guard);
        }
        if (guard == NULL)
                hold_window(pass, ready);
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

        add_call(pass, call, NULL);
}

/* ---- the pass ---- */

static void begin_instruction(struct pass *pass, const IRStmt *mark)
{
        if (!pass->excluded && pass->ip != 0)
                pass->index++;
        pass->ip = mark->Ist.IMark.addr;
        pass->excluded = heap_is_tracker(pass->ip);
        pass->last_load = NULL;
        pass->unit_used = False;
}

/* What VALUE becomes when it is the operands of DATA. VEX may need several operations
 * for one instruction, which uses a unit once. */
static struct depend after_arithmetic(struct pass *pass, struct depend value,
                                      const IRExpr *data)
{
        struct arithmetic_cost cost = cost_of(data);

        if (cost.latency_slots == 0 || pass->excluded || !follow_values)
                return value;
        if (cost.unit_slots > 0 && !pass->unit_used) {
                pass->unit_used = True;
                depend_use_multiplier(&pass->depend, cost.unit_slots, pass->index);
        }
        return depend_delayed(value, cost.latency_slots, pass->index);
}

static void write_temporary(struct pass *pass, const IRStmt *statement)
{
        const IRExpr *data = statement->Ist.WrTmp.data;
        struct depend value;

        if (data->tag == Iex_Load)
                value = add_load(pass, data->Iex.Load.addr, data->Iex.Load.ty, NULL);
        else
                value =
                    after_arithmetic(pass, depend_expression(&pass->depend, data), data);
        pass->depend.of_temporary[statement->Ist.WrTmp.tmp] = value;
}

/* What comes before STATEMENT in the new block. */
static void prepare(struct pass *pass, const IRStmt *statement)
{
        switch (statement->tag) {
        case Ist_IMark:
                begin_instruction(pass, statement);
                add_prefetch(pass, statement);
                break;
        case Ist_Put:
                add_flush(pass, statement);
                depend_put(&pass->depend, statement->Ist.Put.offset,
                           (Int)size_of(pass, statement->Ist.Put.data),
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
                break;
        case Ist_Store:
                add_store(pass, statement->Ist.Store.addr, statement->Ist.Store.data,
                          NULL);
                break;
        case Ist_StoreG: {
                const IRStoreG *store = statement->Ist.StoreG.details;
                add_store(pass, store->addr, store->data, store->guard);
                break;
        }
        case Ist_LoadG:
                add_guarded_load(pass, statement->Ist.LoadG.details);
                break;
        case Ist_Dirty:
                add_helper_call(pass, statement->Ist.Dirty.details);
                break;
        case Ist_CAS:
                add_compare_and_swap(pass, statement->Ist.CAS.details);
                break;
        case Ist_MBE:
                add_serialisation(pass);
                break;
        default:
                break;
        }
}

/* Loads whose value nobody waits for need not tell when it comes. */
static void drop_unused_slots(const struct pass *pass)
{
        for (UInt i = 0; i <= pass->loads; i++) {
                const struct slot_use *use = &pass->load_of_slot[i];
                if (use->site == NULL || (pass->used >> (FIRST_SLOT + i) & 1) != 0)
                        continue;
                pass->out->stmts[use->statement] = IRStmt_NoOp();
                if (FIRST_SLOT + i < LAST_SLOT)
                        use->site->slot = UNUSED_VALUE;
        }
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
            .sites = block_sites_new(closure->nraddr),
        };
        Bool registers_done = False;
        Int i = 0;

        (void)extents, (void)host, (void)guest_word, (void)host_word;
        depend_start(&pass.depend, room_for_temporaries(temporaries), temporaries,
                     follow_values);
        /* Before the first mark lies VEX's own check for self-modified code. */
        for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
                addStmtToIRSB(pass.out, in->stmts[i]);
        count_stretch(&pass, i);
        for (; i < in->stmts_used; i++) {
                Bool exit = in->stmts[i]->tag == Ist_Exit;
                if (exit && !registers_done) {
                        registers_done = registers_stay(&pass, i + 1);
                        add_exit(&pass,
                                 registers_done ? NULL : in->stmts[i]->Ist.Exit.guard);
                }
                prepare(&pass, in->stmts[i]);
                addStmtToIRSB(pass.out, in->stmts[i]);
                if (exit)
                        count_stretch(&pass, i + 1);
        }
        if (in->jumpkind == Ijk_NoDecode)
                add_unhandled(&pass);
        if (!registers_done)
                add_exit(&pass, NULL);
        drop_unused_slots(&pass);
        return pass.out;
}
