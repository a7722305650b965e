/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads that may need the value of an earlier store. One call makes all their tests:
 * whether the filter knows the line, and whether the value comes late. It also tests
 * whether the last store to a word wrote only some of the load's bytes, or aliases with
 * it. The same tests in generated code would take several times its memory. */
#include "instrument.h"

#include "model/machine/access.h"

/* SLACK: from the clock at the end of the counted instructions to when a value comes late
 * to the load, if it is one that takes longest. */
typedef void load_function(Addr address, const struct access_site *site, ULong slack);

/* The same for all loads; set with the first. */
static void (*model_call)(const struct access_site *site, Addr address);

HOT_PATH Bool passes_filter(Addr address, UInt size_bytes)
{
        return address - *filter_of_loads(&tool_hot, address >> LINE_SHIFT) <=
               LINE_BYTES - size_bytes;
}

/* Whether the last store to a word of the load began behind ADDRESS, or at ADDRESS
 * without all bytes of the load. It does not detect an earlier store that ends within
 * the load. */
HOT_PATH Bool other_store(Addr address, UInt size_bytes)
{
        const ULong least = recent_store_note(0, size_bytes) + 1;
        const ULong end = recent_store_note(size_bytes - 1u, 0) + 1;
        Bool any = False;

        /* A byte is all in one store. */
        for (UInt at = 0; size_bytes > 1 && at < size_bytes; at += RECENT_WORD_BYTES) {
                const UInt place =
                    recent_store_place((address + at) >> RECENT_WORD_SHIFT);
                any |=
                    tool_hot.recent_note[place] - (address << RECENT_SIZE_BITS) - least <
                    end - least;
        }
        return any;
}

/* Whether the last store has just passed ADDRESS, in another page. */
HOT_PATH Bool near_alias(Addr address)
{
        const ULong low_bits = (1u << ALIAS_BITS) - ALIAS_REACH;
        const ULong behind = tool_hot.last_stored - address;

        return (behind & low_bits) == 0 && behind >= ALIAS_REACH;
}

HOT_PATH Bool may_be_late(Addr address, ULong slack)
{
        const UInt place = (UInt)(address >> STORED_SHIFT) & (STORED_PLACES - 1);

        return tool_hot.instructions + tool_hot.stall + slack <
               tool_hot.stored_ready[place];
}

/* Nobody may wait for the load, nor for its own dependences. */
static __attribute__((noinline)) void test_value(Addr address,
                                                 const struct access_site *site)
{
        if (site->slot != UNUSED_VALUE)
                load_after_store(&tool_machine, &tool_hot, tool_thread, site, address);
}

static __attribute__((noinline)) void
test_stores(Addr address, const struct access_site *site, ULong slack, Bool aliases)
{
        if (other_store(address, site->size_bytes) || (aliases && near_alias(address)))
                load_of_parts(&tool_machine, &tool_hot, tool_thread, site, address);
        if (may_be_late(address, slack))
                test_value(address, site);
}

/* All tests of a load that the model has seen if the filter does not know its line.
 * VALUE: something waits for it. */
HOT_PATH void test(Addr address, const struct access_site *site, ULong slack,
                   UInt size_bytes, Bool aliases, Bool value)
{
        if (__builtin_expect(
                other_store(address, size_bytes) || (aliases && near_alias(address)), 0))
                test_stores(address, site, slack, aliases);
        else if (value && __builtin_expect(may_be_late(address, slack), 0))
                test_value(address, site);
}

/* A function for each size, with and without aliases and a value. The compiler evaluates
 * all three. */
#define LOAD(NAME, BYTES, ALIASES, VALUE)                                                \
        static __attribute__((noinline)) void model_##NAME(                              \
            Addr address, const struct access_site *site, ULong slack)                   \
        {                                                                                \
                model_call(site, address);                                               \
                test(address, site, slack, BYTES, ALIASES, VALUE);                       \
        }                                                                                \
        static void NAME(Addr address, const struct access_site *site, ULong slack)      \
        {                                                                                \
                if (__builtin_expect(!passes_filter(address, BYTES), 0))                 \
                        model_##NAME(address, site, slack);                              \
                else                                                                     \
                        test(address, site, slack, BYTES, ALIASES, VALUE);               \
        }
#define LOADS_OF(BYTES)                                                                  \
        LOAD(load_##BYTES, BYTES, False, True)                                           \
        LOAD(load_or_alias_##BYTES, BYTES, True, True)                                   \
        LOAD(unused_load_##BYTES, BYTES, False, False)                                   \
        LOAD(unused_load_or_alias_##BYTES, BYTES, True, False)
LOADS_OF(1)
LOADS_OF(2)
LOADS_OF(4)
LOADS_OF(8)
LOADS_OF(16)
LOADS_OF(32)
#undef LOADS_OF
#undef LOAD

static void test_only(Addr address, const struct access_site *site, ULong slack)
{
        test_stores(address, site, slack, False);
}

static void test_with_aliases(Addr address, const struct access_site *site, ULong slack)
{
        test_stores(address, site, slack, True);
}

#define FUNCTIONS(BYTES)                                                                 \
        {                                                                                \
                {unused_load_##BYTES, load_##BYTES},                                     \
                {                                                                        \
                        unused_load_or_alias_##BYTES, load_or_alias_##BYTES              \
                }                                                                        \
        }
static load_function *function_of(const struct access_site *site, Bool aliases,
                                  Bool value)
{
        static load_function *const loads[][2][2] = {FUNCTIONS(1),  FUNCTIONS(2),
                                                     FUNCTIONS(4),  FUNCTIONS(8),
                                                     FUNCTIONS(16), FUNCTIONS(32)};

        return loads[ir_first_of(site->size_bytes)][aliases][value];
}
#undef FUNCTIONS

static Bool stores_something(const IRSB *in)
{
        for (Int i = 0; i < in->stmts_used; i++) {
                if (in->stmts[i]->tag == Ist_Store)
                        return True;
        }
        return False;
}

/* A return address is the call's. Samples of stalls test all loads in the model. */
Bool load_waits_for_stores(const struct pass *pass)
{
        return pass->follow && !pass->string && !pass->returns &&
               !tool_machine.samples_stalls;
}

/* A load of a block without stores is not tested for aliases: aliasing streams are read
 * and written in one loop. */
void load_add(struct pass *pass, const struct access_site *site, IRExpr *address,
              Bool modelled)
{
        const Bool aliases = site->size_bytes > 1 && forward_may_alias(pass, address) &&
                             stores_something(pass->in);
        const Long slack = (Long)tool_machine.l1d_latency + site->position -
                           (Long)tool_machine.forward_longest;
        load_function *function = modelled ? (aliases ? test_with_aliases : test_only)
                                           : function_of(site, aliases, True);
        IRDirty *call = unsafeIRDirty_0_N(
            3, "simpmu_load", VG_(fnptr_to_fnentry)(function),
            mkIRExprVec_3(address, ir_constant((Addr)site), ir_constant((ULong)slack)));

        model_call = access_load_call();
        ir_reads_frame(pass, call); /* it may be sampled */
        ir_add_call(pass, call, NULL);
        if (!modelled && site->slot < LAST_SLOT)
                pass->call_of_slot[site->slot - FIRST_SLOT] =
                    (struct load_call){call->cee, function_of(site, aliases, False)};
}

void load_drop_value(const struct load_call *call)
{
        if (call->callee != NULL)
                call->callee->addr = VG_(fnptr_to_fnentry)(call->if_unused);
}
