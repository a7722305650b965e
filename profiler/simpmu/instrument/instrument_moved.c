/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses to objects that lie elsewhere in the model (address_map.h). */
#include "instrument.h"

#include "address_map.h"
#include "model/machine/access.h"
#include "model/machine/combining.h"

static struct address_run run_of(const struct access_site *site, Addr address)
{
        struct address_run run = address_map_find(address, site->size_bytes);

        if (run.bytes > site->size_bytes)
                run.bytes = site->size_bytes;
        return run;
}

static void access_run(const struct access_site *site, struct address_run run)
{
        if (site->kind == ACCESS_STORE && address_map_around(run.address))
                combining_store(&tool_machine, &tool_hot, tool_thread, site, run.address);
        else
                access_memory(&tool_machine, &tool_hot, tool_thread, site,
                              (enum access_kind)site->kind, ACCESS_IN_GENERAL,
                              run.address);
}

/* The program accesses bytes at once that lie apart in the model, where it would access
 * them one after another. Returns an address in the line of the first ones. */
static __attribute__((noinline)) Addr access_apart(const struct access_site *site,
                                                   Addr address, struct address_run first)
{
        struct access_site one = *site;
        const Addr end = address + site->size_bytes;
        const Addr within = first.address & (LINE_BYTES - 1);
        struct address_run run = first;

        for (Addr at = address; at < end;) {
                one.size_bytes = (UShort)run.bytes;
                access_run(&one, run);
                at += run.bytes;
                one.size_bytes = (UShort)(end - at);
                if (at < end)
                        run = run_of(&one, at);
        }
        if (within + site->size_bytes <= LINE_BYTES || site->size_bytes > LINE_BYTES)
                return first.address;
        return first.address - within + LINE_BYTES - site->size_bytes;
}

static VG_REGPARM(2) Addr move_access(const struct access_site *site, Addr address)
{
        const struct address_run run = run_of(site, address);

        return run.bytes == site->size_bytes ? run.address
                                             : access_apart(site, address, run);
}

static VG_REGPARM(2) void store_or_around(const struct access_site *site, Addr address)
{
        access_run(site, (struct address_run){address, site->size_bytes});
}

IRExpr *moved_address(struct pass *pass, const struct access_site *site, IRExpr *address,
                      IRExpr *guard)
{
        IRExpr *inside, *distance;
        IRTemp moved;
        IRDirty *call;

        if (!address_map_active() || stored_frame_word(pass, address) >= 0)
                return address; /* no object on a stack is moved */
        distance =
            ir_binary(pass, Ity_I64, Iop_Sub64, address, ir_read(pass, &address_map_low));
        inside = ir_binary(pass, Ity_I1, Iop_CmpLT64U, distance,
                           ir_read(pass, &address_map_span));
        moved = newIRTemp(pass->out->tyenv, Ity_I64);
        call =
            call_with_constant(pass, "simpmu_move", (void *)move_access, site, address);
        call->tmp = moved;
        ir_reads_frame(pass, call); /* it may be sampled */
        ir_add_call(pass, call, ir_both(pass, inside, guard));
        return ir_assign(pass, Ity_I64, IRExpr_ITE(inside, IRExpr_RdTmp(moved), address));
}

void *moved_store_call(void)
{
        return address_map_change() == SIMPMU_AROUND ? (void *)store_or_around : NULL;
}
