/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branches of the program: an inline test whether the model is to predict a branch, and
 * the call of the model. The model makes a mispredicted branch wait for its operands.
 * Returns count as predicted, because processors have a return stack. */
#include "instrument.h"

#include "model/branches/branch_sample.h"

/* Constant facts of a branch, and its state in the model. */
struct branch_site {
        struct branch branch;
        struct waits decided;               /* for the operands of the branch */
        const struct code_stretch *stretch; /* that ends with it */
        Addr ip;
        ULong slots;     /* of the block's loads that decide it */
        Addr *loads;     /* their instructions, in the order of their slots */
        UInt wrong;      /* mispredictions that asked for the join */
        UInt known_code; /* the amount of known code at the last check */
        Bool meets;
        struct code_meeting meeting;
};

/* Whether the join of SITE's paths is known. More code becomes known as more has run,
 * at a falling rate. */
static Bool ways_meet(struct branch_site *site)
{
        struct code *code = tool_machine.code;
        const UInt before = site->wrong++;
        UInt number;

        if ((before & site->wrong) != 0 || site->known_code == code->count)
                return site->meets;
        site->known_code = code->count;
        number = code_find(code, site->ip);
        site->meets = number != NO_INSTRUCTION &&
                      code_meet(code, number, depend_changed_by_calls(), &site->meeting);
        return site->meets;
}

/* The branch turns out to be TAKEN, against the prediction, at DECIDED. */
static void follow_wrong_way(struct branch_site *site, Bool taken, uint64_t decided)
{
        const struct wrong_branch branch = {
            .stretch = site->stretch,
            .meeting = &site->meeting,
            .predicted = !taken,
            .decided = decided,
        };
        Bool late;

        thread_retire(&tool_hot, tool_thread, tool_hot.instructions);
        late = decided > tool_hot.instructions + tool_thread->stall +
                             wrong_path_least(&tool_machine);
        if (!late && !tool_thread->wrong.followed)
                return;
        if (!ways_meet(site))
                wrong_path_end(&tool_hot, tool_thread);
        else if (late)
                wrong_path_begin(&tool_hot, tool_thread, &branch);
        else
                wrong_path_go_on(&tool_hot, tool_thread, &branch);
}

/* The branch is the last of the instructions that have been counted. Where no wrong paths
 * are followed it does not wait for memory: the wrong path would load ahead what comes
 * behind it. */
static uint64_t decided_at(const struct branch_site *site)
{
        const uint64_t now = tool_hot.instructions + tool_thread->stall;
        const uint64_t most =
            tool_machine.code == NULL ? now + tool_machine.l3_latency : UINT64_MAX;
        const uint64_t decided = hot_waits(&tool_hot, &site->decided, now - 1);

        return decided < most ? decided : most;
}

/* The load that decides SITE's branch last: the latest of those that L1 did not serve at
 * once, or else the last one. The branch itself where no load of its block decides it. */
static Addr waited_at(const struct branch_site *site)
{
        uint64_t latest = tool_hot.instructions + tool_thread->stall;
        const Addr *load = site->loads;
        Addr ip = site->ip;

        if (site->slots != 0)
                ip = load[__builtin_popcountll(site->slots) - 1];
        for (ULong slots = site->slots; slots != 0; slots &= slots - 1, load++) {
                const uint64_t ready = tool_hot.ready[__builtin_ctzll(slots)];
                if (ready > latest) {
                        latest = ready;
                        ip = *load;
                }
        }
        return ip;
}

/* SITE's branch was predicted wrongly and executes at DECIDED. The program counts as
 * waiting for its operands until then, and as being behind it afterwards, where a timer
 * finds it. */
static void mispredict(const struct branch_site *site, uint64_t decided)
{
        const ULong cost = tool_machine.mispredict_cost;
        const UInt weight = branch_sample_weight(&tool_thread->branches, &site->branch);
        const Addr waited_ip = waited_at(site);

        executed_wrong(waited_ip,
                       thread_mispredict(&tool_hot, tool_thread, decided, cost, weight));
        executed_refill(cost * weight);
}

/* The end of a window ends the calls. */
static void look_at_window(void)
{
        struct branch_sample *sample = &tool_thread->branches;

        if (tool_hot.instructions < sample->end)
                return;
        branch_sample_next(sample, tool_hot.instructions);
        stall_to_hot(&tool_hot, tool_thread);
}

static VG_REGPARM(2) void call_direction(struct branch_site *site, UWord leaves)
{
        uint64_t decided;

        look_at_window();
        if (branch_direction(&tool_thread->core->predictor, &site->branch, leaves != 0))
                return;
        decided = decided_at(site);
        if (tool_machine.code != NULL)
                follow_wrong_way(site, leaves != 0, decided);
        mispredict(site, decided);
}

static VG_REGPARM(2) void call_target(struct branch_site *site, UWord target)
{
        look_at_window();
        if (branch_target(&tool_thread->core->predictor, &site->branch, target))
                return;
        if (tool_thread->wrong.followed)
                wrong_path_end(&tool_hot, tool_thread);
        mispredict(site, decided_at(site));
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

/* Notes the loads of the block that SITE's branch DEPENDS on. */
static void note_loads(struct pass *pass, struct depend depends, struct branch_site *site)
{
        UInt count = 0;

        site->slots = depends.on & SLOTS_MASK & ~(1ULL << LAST_SLOT);
        site->loads = site_new(pass, (SizeT)__builtin_popcountll(site->slots) *
                                         sizeof(site->loads[0]));
        for (ULong slots = site->slots; slots != 0; slots &= slots - 1)
                site->loads[count++] =
                    pass->load_of_slot[__builtin_ctzll(slots) - FIRST_SLOT]->ip;
}

static struct branch_site *site_of_branch(struct pass *pass, const IRExpr *decides)
{
        struct branch_site *site = site_new(pass, sizeof(*site));
        struct depend depends =
            depend_settled(&pass->depend, depend_expression(&pass->depend, decides));

        site->stretch = pass->stretch;
        site->ip = pass->ip;
        note_loads(pass, depends, site);
        site->wrong = site->known_code = 0;
        site->meets = False;
        branch_init(&site->branch, pass->ip);
        site->decided = ready_waits(pass, depends);
        return site;
}

/* Adds CALL of the model. It is made in the windows where branches are predicted, or, if
 * all branches are, unless WAY is the settled one. The call increases the stall: a copy
 * of it from before the call is stale. */
static void add_branch(struct pass *pass, const struct branch_site *site, IRDirty *call,
                       IRExpr *way)
{
        IRExpr *counted = pass->instructions != NULL
                              ? pass->instructions
                              : ir_read_hot(pass, &tool_hot.instructions);

        call->mFx = Ifx_Modify;
        call->mAddr = ir_constant((Addr)&tool_hot.stall);
        call->mSize = sizeof(tool_hot.stall);
        ir_add_call(
            pass, call,
            pass->follow_branches
                ? ir_binary(pass, Ity_I1, Iop_CmpNE64, way,
                            ir_read(pass, &site->branch.settled))
                : ir_not(pass, ir_binary(pass, Ity_I1, Iop_CmpLE64U, counted,
                                         ir_read_hot(pass, &tool_hot.branch_limit))));
}

/* The new exit tests the value that the call tests: VEX would compute the guard's flag
 * once more. */
IRStmt *branch_add_conditional(struct pass *pass, IRStmt *exit)
{
        struct branch_site *site;
        IRExpr *leaves;

        if (!pass->follow || pass->excluded || exit->Ist.Exit.jk != Ijk_Boring ||
            !is_conditional_jump(pass->ip))
                return exit;
        site = site_of_branch(pass, exit->Ist.Exit.guard);
        leaves = ir_assign(pass, Ity_I64, IRExpr_Unop(Iop_1Uto64, exit->Ist.Exit.guard));
        add_branch(pass, site,
                   call_with_constant(pass, "simpmu_direction", (void *)call_direction,
                                      site, leaves),
                   leaves);
        return IRStmt_Exit(ir_binary(pass, Ity_I1, Iop_CmpNE64, leaves, ir_constant(0)),
                           exit->Ist.Exit.jk, exit->Ist.Exit.dst, exit->Ist.Exit.offsIP);
}

void branch_add_indirect(struct pass *pass)
{
        IRExpr *target = pass->in->next;
        struct branch_site *site;

        if (!pass->follow || pass->excluded || target->tag == Iex_Const ||
            (pass->in->jumpkind != Ijk_Boring && pass->in->jumpkind != Ijk_Call))
                return;
        site = site_of_branch(pass, target);
        add_branch(
            pass, site,
            call_with_constant(pass, "simpmu_target", (void *)call_target, site, target),
            target);
}
