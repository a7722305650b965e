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

static __attribute__((noinline)) void
model_load(Addr address, const struct access_site *site, ULong slack, Bool aliases)
{
        model_call(site, address);
        test_stores(address, site, slack, aliases);
}

HOT_PATH void load(Addr address, const struct access_site *site, ULong slack,
                   UInt size_bytes, Bool aliases)
{
        if (__builtin_expect(!passes_filter(address, size_bytes), 0))
                model_load(address, site, slack, aliases);
        else if (__builtin_expect(other_store(address, size_bytes) ||
                                      (aliases && near_alias(address)),
                                  0))
                test_stores(address, site, slack, aliases);
        else if (__builtin_expect(may_be_late(address, slack), 0))
                test_value(address, site);
}

/* A function for each size, with and without aliases. The compiler evaluates both. */
#define LOAD_OF(BYTES)                                                                   \
        static void load_##BYTES(Addr address, const struct access_site *site,           \
                                 ULong slack)                                            \
        {                                                                                \
                load(address, site, slack, BYTES, False);                                \
        }                                                                                \
        static void load_or_alias_##BYTES(Addr address, const struct access_site *site,  \
                                          ULong slack)                                   \
        {                                                                                \
                load(address, site, slack, BYTES, True);                                 \
        }
LOAD_OF(1)
LOAD_OF(2)
LOAD_OF(4)
LOAD_OF(8)
LOAD_OF(16)
LOAD_OF(32)
#undef LOAD_OF

static void test_only(Addr address, const struct access_site *site, ULong slack)
{
        test_stores(address, site, slack, False);
}

static void test_with_aliases(Addr address, const struct access_site *site, ULong slack)
{
        test_stores(address, site, slack, True);
}

static load_function *function_of(const struct access_site *site, Bool aliases,
                                  Bool modelled)
{
        static load_function *const loads[][2] = {
            {load_1, load_or_alias_1},   {load_2, load_or_alias_2},
            {load_4, load_or_alias_4},   {load_8, load_or_alias_8},
            {load_16, load_or_alias_16}, {load_32, load_or_alias_32}};

        if (modelled)
                return aliases ? test_with_aliases : test_only;
        return loads[ir_first_of(site->size_bytes)][aliases];
}

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
        load_function *function = function_of(site, aliases, modelled);
        IRDirty *call = unsafeIRDirty_0_N(
            3, "simpmu_load", VG_(fnptr_to_fnentry)(function),
            mkIRExprVec_3(address, ir_constant((Addr)site), ir_constant((ULong)slack)));

        model_call = access_load_call();
        ir_reads_frame(pass, call); /* it may be sampled */
        ir_add_call(pass, call, NULL);
}
