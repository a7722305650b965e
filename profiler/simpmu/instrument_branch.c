/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branches of the program: the test, inline, whether one goes as it always does, and
 * behind it the call of the model, which makes a wrongly predicted one wait for what
 * decides it. Returns are taken to be predicted: processors keep a stack of them. */
#include "instrument.h"

/* What is constant about a branch, and what the model knows of it. */
struct branch_site {
        struct branch branch;
        struct waits decided; /* by what decides where it goes */
};

/* The branch is the last of the instructions that have been counted. */
static void end_prediction(const struct branch_site *site, Bool right)
{
        uint64_t now = tool_hot.instructions - 1 + tool_thread->stall;

        if (right)
                return;
        thread_mispredict(&tool_hot, tool_thread,
                          hot_waits(&tool_hot, &site->decided, now),
                          tool_machine.mispredict_cost);
}

static VG_REGPARM(2) void call_direction(struct branch_site *site, UWord taken)
{
        end_prediction(site, branch_direction(&tool_thread->core->predictor,
                                              &site->branch, taken != 0));
}

static VG_REGPARM(2) void call_target(struct branch_site *site, UWord target)
{
        end_prediction(
            site, branch_target(&tool_thread->core->predictor, &site->branch, target));
}

/* Exits belong to other instructions, too (repeated ones, traps). */
static Bool is_conditional_jump(Addr ip)
{
        const UChar *bytes = (const UChar *)ip;
        const UChar two_bytes = 0x0f;

        while (*bytes == 0xf2 || *bytes == 0x2e || *bytes == 0x3e) /* bnd, hints */
                bytes++;
        if (*bytes == two_bytes)
                return (bytes[1] & 0xf0) == 0x80;
        return (*bytes & 0xf0) == 0x70 || (*bytes & 0xfc) == 0xe0; /* jcc; loop, jrcxz */
}

static struct branch_site *site_of_branch(struct pass *pass, const IRExpr *decides)
{
        struct branch_site *site = site_new(pass, sizeof(*site));
        struct depend depends =
            depend_settled(&pass->depend, depend_expression(&pass->depend, decides));

        branch_init(&site->branch, pass->ip);
        site->decided = ready_waits(pass, depends);
        return site;
}

/* The call adds to the stall: what was read of it before must not be read behind. */
static void add_branch(struct pass *pass, struct branch_site *site, IRDirty *call,
                       IRExpr *way)
{
        call->mFx = Ifx_Modify;
        call->mAddr = ir_constant((Addr)&tool_hot.stall);
        call->mSize = sizeof(tool_hot.stall);
        ir_add_call(pass, call,
                    ir_binary(pass, Ity_I1, Iop_CmpNE64, way,
                              ir_read(pass, &site->branch.settled)));
}

void branch_add_conditional(struct pass *pass, const IRStmt *exit)
{
        struct branch_site *site;
        IRExpr *taken;

        if (!pass->follow_branches || pass->excluded || exit->Ist.Exit.jk != Ijk_Boring ||
            !is_conditional_jump(pass->ip))
                return;
        site = site_of_branch(pass, exit->Ist.Exit.guard);
        taken = ir_assign(pass, Ity_I64, IRExpr_Unop(Iop_1Uto64, exit->Ist.Exit.guard));
        add_branch(pass, site,
                   unsafeIRDirty_0_N(2, "simpmu_direction",
                                     VG_(fnptr_to_fnentry)(&call_direction),
                                     mkIRExprVec_2(ir_constant((Addr)site), taken)),
                   taken);
}

void branch_add_indirect(struct pass *pass)
{
        IRExpr *target = pass->in->next;
        struct branch_site *site;

        if (!pass->follow_branches || pass->excluded || target->tag == Iex_Const ||
            (pass->in->jumpkind != Ijk_Boring && pass->in->jumpkind != Ijk_Call))
                return;
        site = site_of_branch(pass, target);
        add_branch(pass, site,
                   unsafeIRDirty_0_N(2, "simpmu_target",
                                     VG_(fnptr_to_fnentry)(&call_target),
                                     mkIRExprVec_2(ir_constant((Addr)site), target)),
                   target);
}
