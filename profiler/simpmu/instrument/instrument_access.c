/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code before a memory access: a test whether the filter knows the line, and the
 * call of the model if not. Most loads test in a call (instrument_load.c). */
#include "instrument.h"

#include "model/machine/access.h"
#include "model/machine/combining.h"

/* The program's own access comes next. An access that reaches the model often misses
 * the host's first cache, too. This prefetch brings the line while the model runs. */
HOT_PATH void access_ahead(const struct access_site *site, enum access_kind kind,
                           enum access_mode mode, Addr address)
{
        __builtin_prefetch((const void *)address);
        access_memory(&tool_machine, &tool_hot, tool_thread, site, kind, mode, address);
}

/* A function for each kind of access and each mode of the model. The compiler
 * evaluates the model's mode tests here. */

static VG_REGPARM(2) void load_in_common(const struct access_site *site, Addr address)
{
        access_ahead(site, ACCESS_LOAD, ACCESS_IN_COMMON, address);
}

static VG_REGPARM(2) void store_in_common(const struct access_site *site, Addr address)
{
        access_ahead(site, ACCESS_STORE, ACCESS_IN_COMMON, address);
}

static VG_REGPARM(2) void load_of_caches(const struct access_site *site, Addr address)
{
        access_ahead(site, ACCESS_LOAD, ACCESS_OF_CACHES, address);
}

static VG_REGPARM(2) void store_of_caches(const struct access_site *site, Addr address)
{
        access_ahead(site, ACCESS_STORE, ACCESS_OF_CACHES, address);
}

static __attribute__((noinline)) void load_on_wrong_path(const struct access_site *site,
                                                         Addr address)
{
        Bool late = wrong_path_load(&tool_machine, &tool_hot, tool_thread, site, address);

        access_ahead(site, ACCESS_LOAD, ACCESS_IN_GENERAL, address);
        if (late)
                filter_drop(&tool_hot, address >> LINE_SHIFT);
}

static VG_REGPARM(2) void load_in_general(const struct access_site *site, Addr address)
{
        if (tool_thread->wrong.followed)
                load_on_wrong_path(site, address);
        else
                access_ahead(site, ACCESS_LOAD, ACCESS_IN_GENERAL, address);
}

static VG_REGPARM(2) void store_in_general(const struct access_site *site, Addr address)
{
        access_ahead(site, ACCESS_STORE, ACCESS_IN_GENERAL, address);
}

static VG_REGPARM(2) void call_update(const struct access_site *site, Addr address)
{
        access_memory(&tool_machine, &tool_hot, tool_thread, site, ACCESS_UPDATE,
                      ACCESS_IN_GENERAL, address);
}

static VG_REGPARM(2) void call_nontemporal(const struct access_site *site, Addr address)
{
        combining_store(&tool_machine, &tool_hot, tool_thread, site, address);
}

/* By enum access_mode and, of loads and stores, enum access_kind. */
static void (*const calls[][2])(const struct access_site *, Addr) VG_REGPARM(2) = {
    [ACCESS_IN_COMMON] =
        {[ACCESS_LOAD] = load_in_common, [ACCESS_STORE] = store_in_common},
    [ACCESS_OF_CACHES] =
        {[ACCESS_LOAD] = load_of_caches, [ACCESS_STORE] = store_of_caches},
    [ACCESS_IN_GENERAL] =
        {[ACCESS_LOAD] = load_in_general, [ACCESS_STORE] = store_in_general},
};

void (*access_load_call(void))(const struct access_site *site, Addr address)
{
        return calls[access_mode_of(&tool_machine)][ACCESS_LOAD];
}

/* The time, beside loads and stores, that a fence before INSTRUCTION has to wait for. */
static ULong drained(ULong instruction)
{
        return combining_drain(&tool_machine, tool_thread,
                               instruction + tool_thread->stall);
}

static VG_REGPARM(1) void call_serialise(Long position)
{
        const uint64_t instruction = tool_hot.instructions + (ULong)position;

        thread_serialise(&tool_hot, tool_thread, instruction, drained(instruction),
                         tool_machine.lock_cost);
}

static VG_REGPARM(2) void call_lock(const struct access_site *site, Addr address)
{
        const uint64_t instruction = tool_hot.instructions + (ULong)(Long)site->position;

        access_lock(&tool_machine, &tool_hot, tool_thread, site, address,
                    drained(instruction));
}

/* A fence that also waits for values. */
struct fence_site {
        Long position;       /* from the instructions counted */
        struct waits before; /* for all that is computed before it */
};

static VG_REGPARM(1) void call_fence(const struct fence_site *site)
{
        const uint64_t instruction = tool_hot.instructions + (ULong)site->position;

        thread_serialise(
            &tool_hot, tool_thread, instruction,
            later(hot_waits(&tool_hot, &site->before, instruction + tool_thread->stall),
                  drained(instruction)),
            tool_machine.lock_cost);
}

Bool access_filter_applies(const struct access_site *site)
{
        /* When L1 hits qualify for sampling every load has to reach the model. */
        return site->size_bytes <= LINE_BYTES && !site->nontemporal &&
               (site->kind == ACCESS_STORE ||
                tool_machine.sample_latency > tool_machine.l1d_latency);
}

/* How far ADDRESS lies above its entry in the filter, in the generated code: more than
 * a line when the line is not there. */
IRExpr *access_filter_distance(struct pass *pass, const struct access_site *site,
                               IRExpr *address)
{
        const uint64_t *filter =
            site->kind == ACCESS_LOAD ? tool_hot.loads_pass : tool_hot.stores_pass;
        const UInt entry_shift = 3;
        IRExpr *shifted = ir_binary(pass, Ity_I64, Iop_Shr64, address,
                                    IRExpr_Const(IRConst_U8(LINE_SHIFT - entry_shift)));
        IRExpr *offset = ir_binary(pass, Ity_I64, Iop_And64, shifted,
                                   ir_constant((FILTER_ENTRIES - 1) << entry_shift));
        IRExpr *place =
            ir_binary(pass, Ity_I64, Iop_Add64, offset, ir_constant((Addr)filter));
        IRExpr *entry = ir_assign(pass, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, place));

        _Static_assert(sizeof(*filter) == 1u << 3, "entry_shift");
        return ir_binary(pass, Ity_I64, Iop_Sub64, address, entry);
}

/* True in the generated code when the model has to see the access: the filter does not
 * know the line. */
static IRExpr *reaches_model(struct pass *pass, const struct access_site *site,
                             IRExpr *address)
{
        const UInt room = LINE_BYTES - site->size_bytes; /* where the filter applies */
        IRExpr *distance;

        if (!access_filter_applies(site))
                return IRExpr_Const(IRConst_U1(True));
        distance = access_filter_distance(pass, site, address);
        return ir_not(pass,
                      ir_binary(pass, Ity_I1, Iop_CmpLE64U, distance, ir_constant(room)));
}

struct access_site *access_site_new(struct pass *pass, enum access_kind kind,
                                    struct depend address, UInt size_bytes)
{
        struct access_site *site = site_new(pass, sizeof(*site));

        *site = (struct access_site){
            .ip = pass->ip,
            .address = ready_waits(pass, address),
            .position = (Int)pass->index - (Int)pass->counted,
            .stores_before = (Int)pass->stores - (Int)pass->stores_counted,
            .size_bytes = (UShort)size_bytes,
            .kind = (UChar)kind,
            .slot = UNUSED_VALUE,
        };
        return site;
}

/* Gives the load of SITE a slot, the last one when there are no more. Its value is there
 * unless the model says otherwise. */
static void take_slot(struct pass *pass, struct access_site *site)
{
        UInt slot = FIRST_SLOT + pass->loads;

        site->slot = (UChar)slot;
        if (slot == LAST_SLOT) {
                pass->used |= 1ULL << slot;
                return;
        }
        pass->waiting_for[pass->loads] = (struct waiting_for){.index = pass->index};
        pass->load_of_slot[pass->loads++] = site;
}

static IRDirty *call_of_access(struct pass *pass, const struct access_site *site,
                               IRExpr *address)
{
        void *call = site->nontemporal ? (void *)call_nontemporal
                                       : in_time_call(pass, (enum access_kind)site->kind);

        if (call == NULL && site->kind == ACCESS_STORE)
                call = moved_store_call();
        if (call == NULL)
                call = site->kind == ACCESS_UPDATE
                           ? (void *)call_update
                           : (void *)calls[access_mode_of(&tool_machine)][site->kind];
        return call_with_constant(pass, "simpmu_access", call, site, address);
}

static struct depend loaded_value(struct pass *pass, struct access_site *site,
                                  struct depend address)
{
        take_slot(pass, site);
        return depend_either(
            depend_delayed(&pass->depend, address, (UInt)tool_machine.l1d_latency),
            (struct depend){.on = 1ULL << site->slot});
}

/* Adds the test of the filter and the call of the model. GUARD: NULL, always. */
static void add_model(struct pass *pass, const struct access_site *site, IRExpr *address,
                      IRExpr *guard)
{
        IRDirty *call = call_of_access(pass, site, address);

        if (site->kind != ACCESS_STORE)
                ir_reads_frame(pass, call); /* it may be sampled */
        ir_add_call(pass, call, ir_both(pass, reaches_model(pass, site, address), guard));
}

/* Adds the load of SITE, which waits for the values of stores. */
static void add_load(struct pass *pass, const struct access_site *site, IRExpr *address)
{
        const Bool apart =
            !access_filter_applies(site) || in_time_call(pass, ACCESS_LOAD) != NULL;

        if (apart)
                add_model(pass, site, address, NULL);
        load_add(pass, site, address, apart);
}

/* SITE is the store of a locked instruction. */
static void add_lock(struct pass *pass, const struct access_site *site, IRExpr *address)
{
        IRDirty *call;

        if (tool_machine.lock_cost == 0)
                return;
        call = call_with_constant(pass, "simpmu_lock", (void *)call_lock, site, address);
        ir_reads_frame(pass, call); /* it may be sampled */
        ir_add_call(pass, call, NULL);
}

/* Adds an access; returns the dependence of a loaded value. An L1 hit takes its
 * latency after the address is ready; the model reports a later arrival. */
static struct depend add_access(struct pass *pass, enum access_kind kind, IRExpr *address,
                                UInt size_bytes, Bool vector, IRExpr *guard,
                                struct depend data, Bool locked)
{
        struct depend depends = depend_expression(&pass->depend, address);
        IRExpr *const own_address = address; /* of the old block */
        struct access_site *site;

        if (pass->excluded)
                return depends;
        waiting_note_address(pass, depends);
        site = access_site_new(pass, kind, depends, size_bytes);
        site->locked = locked;
        site->nontemporal = kind == ACCESS_STORE && pass->nontemporal;
        site->of_string = pass->string;
        stored_set_form(pass, site, address, vector);
        address = moved_address(pass, site, address, guard);
        if (pass->string)
                guard = string_begins_chunk(pass, kind, address, size_bytes);
        pass->stores += kind != ACCESS_LOAD;
        if (kind == ACCESS_STORE && pass->last_load != NULL) {
                pass->last_load->updates = True;
                pass->last_load->rewrites = eqIRAtom(own_address, pass->last_address);
        }
        if (kind != ACCESS_STORE) {
                if (depends.on != 0) /* not the stack pointer alone */
                        count_latency(pass, (UInt)tool_machine.l1d_latency);
                if (pass->follow)
                        depends = loaded_value(pass, site, depends);
                pass->last_load = site;
                pass->last_address = own_address;
        }
        if (guard == NULL)
                wrong_note_access(pass, site, own_address, data);
        if (guard == NULL && kind == ACCESS_LOAD && load_waits_for_stores(pass)) {
                add_load(pass, site, address);
                return depends;
        }
        add_model(pass, site, address, guard);
        if (guard == NULL && kind != ACCESS_LOAD)
                stored_add_store(pass, site, address, data);
        if (kind == ACCESS_STORE && pass->string)
                string_note_store(pass, site, address);
        else if (kind == ACCESS_STORE && guard == NULL && !locked)
                forward_note_store(pass, site, address);
        if (locked)
                add_lock(pass, site, address);
        return depends;
}

struct depend access_add_load(struct pass *pass, IRTemp loaded, IRExpr *address,
                              IRType type, IRExpr *guard)
{
        return add_access(pass, ACCESS_LOAD, address, (UInt)sizeofIRType(type),
                          stored_is_for_vector(pass, loaded, type), guard,
                          (struct depend){0}, False);
}

void access_add_store(struct pass *pass, IRExpr *address, const IRExpr *data,
                      IRExpr *guard)
{
        (void)add_access(pass, ACCESS_STORE, address, ir_size_of(pass, data),
                         stored_is_of_vector(pass, data), guard,
                         depend_expression(&pass->depend, data), False);
}

void access_add_guarded_load(struct pass *pass, const IRLoadG *load)
{
        IRType result;
        IRType loaded;
        struct depend value;

        typeOfIRLoadGOp(load->cvt, &result, &loaded);
        value = access_add_load(pass, load->dst, load->addr, loaded, load->guard);
        value = depend_either(value, depend_expression(&pass->depend, load->alt));
        value = depend_either(value, depend_expression(&pass->depend, load->guard));
        pass->depend.of_temporary[load->dst] = value;
}

/* The current instruction is a fence. */
static void add_serialisation(struct pass *pass)
{
        const Long position = (Long)pass->index - (Long)pass->counted;

        if (pass->excluded || tool_machine.lock_cost == 0)
                return;
        ir_add_call(pass,
                    unsafeIRDirty_0_N(1, "simpmu_serialise",
                                      VG_(fnptr_to_fnentry)(&call_serialise),
                                      mkIRExprVec_1(ir_constant((ULong)position))),
                    NULL);
}

static Bool is_lfence(Addr ip)
{
        const UChar *bytes = (const UChar *)ip;

        return bytes[0] == 0x0f && bytes[1] == 0xae && bytes[2] >> 3 == 0xe8 >> 3;
}

/* LFENCE waits for all instructions before it, other fences for loads and stores. */
void access_add_fence(struct pass *pass)
{
        struct fence_site *site;
        IRDirty *call;

        if (!pass->follow_branches || !is_lfence(pass->ip)) {
                add_serialisation(pass);
                return;
        }
        if (pass->excluded || tool_machine.lock_cost == 0)
                return;
        site = site_new(pass, sizeof(*site));
        site->position = (Long)pass->index - (Long)pass->counted;
        site->before = ready_waits(pass, depend_registers(&pass->depend));
        call = call_with_constant(pass, "simpmu_fence", (void *)call_fence, site, NULL);
        /* The call increases the stall: a copy of it from before the call is stale. */
        call->mFx = Ifx_Modify;
        call->mAddr = ir_constant((Addr)&tool_hot.stall);
        call->mSize = sizeof(tool_hot.stall);
        ir_add_call(pass, call, NULL);
}

/* A locked instruction is a plain load and a compare-and-swap to VEX, or, when it
 * is itself one, the latter alone. */
void access_add_compare_and_swap(struct pass *pass, const IRCAS *cas)
{
        UInt size_bytes = ir_size_of(pass, cas->dataLo) * (cas->dataHi == NULL ? 1 : 2);
        enum access_kind kind = pass->last_load == NULL ? ACCESS_UPDATE : ACCESS_STORE;
        struct depend value;

        if (pass->last_load != NULL)
                pass->last_load->locked = True;
        value = add_access(pass, kind, cas->addr, size_bytes, False, NULL,
                           depend_expression(&pass->depend, cas->dataLo), True);
        pass->depend.of_temporary[cas->oldLo] = value;
        if (cas->oldHi != IRTemp_INVALID)
                pass->depend.of_temporary[cas->oldHi] = value;
}

/* A call of one of VEX's helpers, which may read and write memory and registers. */
void access_add_helper_call(struct pass *pass, const IRDirty *call)
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
                    add_access(pass, kind, call->mAddr, (UInt)call->mSize, True,
                               call->guard, value, False);
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

/* Loads without dependent instructions need not report their arrival. */
void access_drop_unused_slots(const struct pass *pass)
{
        for (UInt i = 0; i < pass->loads; i++) {
                if ((pass->used >> (FIRST_SLOT + i) & 1) != 0)
                        continue;
                pass->load_of_slot[i]->slot = UNUSED_VALUE;
                load_drop_value(&pass->call_of_slot[i]);
        }
}
