/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions that wait for values. Where branches are followed, they are a list for
 * each stretch between exits, and an inline test whether a value may be late guards the
 * call (model/machine/scheduler.h). Otherwise the share of a loop's instructions that
 * wait for a late load bounds how many the core issues behind it. */
#include "instrument.h"

static VG_REGPARM(1) void call_waiting(const struct scheduled *first)
{
        scheduler_issue(&tool_hot, tool_thread, first);
}

static UInt longest_delay(const struct scheduled *waiting)
{
        const struct waits *operands = &waiting->operands;
        const uint32_t *other = operands->other_delays;
        UInt longest = operands->issue_delay;

        for (UInt i = 0; i < 2; i++)
                longest = operands->delay[i] > longest ? operands->delay[i] : longest;
        for (ULong rest = operands->others; other != NULL && rest != 0;
             rest &= rest - 1, other++)
                longest = *other > longest ? *other : longest;
        return longest;
}

static void add(struct pass *pass, struct depend operands, enum scheduler_kind kind)
{
        struct scheduled *waiting = site_new(pass, sizeof(*waiting));

        *waiting = (struct scheduled){
            .operands = ready_waits(pass, operands),
            .position = (Int)pass->index - (Int)pass->counted,
            .kind = kind,
        };
        if (pass->last_waiting == NULL)
                pass->first_waiting = waiting;
        else
                pass->last_waiting->next = waiting;
        pass->last_waiting = waiting;
        if (longest_delay(waiting) > pass->first_waiting->longest)
                pass->first_waiting->longest = longest_delay(waiting);
}

static Bool follows(const struct pass *pass)
{
        return pass->follow && !pass->excluded && !pass->string;
}

/* The current instruction needs an entry until the values of OPERANDS come. */
static void note(struct pass *pass, struct depend operands, enum scheduler_kind kind)
{
        if (pass->follow_branches) {
                add(pass, operands, kind);
                return;
        }
        for (UInt i = 0; i < pass->loads; i++)
                if ((operands.on >> (FIRST_SLOT + i) & 1) != 0 &&
                    pass->index - pass->waiting_for[i].index < pass->loop_instructions)
                        pass->waiting_for[i].instructions[kind]++;
}

static Bool is_vector(const struct pass *pass, const IRExpr *result)
{
        switch (typeOfIRExpr(pass->in->tyenv, result)) {
        case Ity_F32:
        case Ity_F64:
        case Ity_V128:
        case Ity_V256:
                return True;
        default:
                return False;
        }
}

void waiting_note_arithmetic(struct pass *pass, struct depend operands,
                             const IRExpr *result)
{
        if (!follows(pass))
                return;
        pass->operands = depend_either(pass->operands, operands);
        pass->of_vectors |= is_vector(pass, result);
}

/* The arithmetic before an instruction's first access belongs to the address. */
void waiting_note_address(struct pass *pass, struct depend address)
{
        if (!follows(pass) || pass->last_load != NULL)
                return;
        pass->operands = (struct depend){0};
        if (address.on != 0)
                note(pass, address, SCHEDULER_ADDRESSES);
}

/* Processors take a comparison and the branch behind it as one. */
static Bool is_fused(const struct pass *pass)
{
        return pass->waited && pass->in->stmts[pass->at]->tag == Ist_Exit;
}

void waiting_end_instruction(struct pass *pass)
{
        if (pass->operands.on != 0 && !is_fused(pass))
                note(pass, pass->operands,
                     pass->of_vectors ? SCHEDULER_VECTOR : SCHEDULER_GENERAL);
        pass->waited = pass->operands.on != 0;
        pass->operands = (struct depend){0};
        pass->of_vectors = False;
}

/* Whether a value may be late that the instructions counted wait for. */
static IRExpr *may_wait(struct pass *pass)
{
        const ULong places = scheduler_slack(tool_thread);
        const ULong longest = pass->first_waiting->longest;
        IRExpr *now = ir_binary(pass, Ity_I64, Iop_Add64, pass->instructions,
                                ir_read_hot(pass, &tool_hot.stall));
        IRExpr *soon = ir_binary(pass, Ity_I64, Iop_Add64, now,
                                 ir_constant(places > longest ? places - longest : 0));
        IRExpr *load_is_late = ir_binary(
            pass, Ity_I1, Iop_CmpNE64, ir_read_hot(pass, &tool_hot.late), ir_constant(0));
        IRExpr *value_is_late = ir_binary(pass, Ity_I1, Iop_CmpLT64U, soon,
                                          ir_read_hot(pass, &tool_hot.late_until));

        return ir_binary(pass, Ity_I1, Iop_Or1, load_is_late, value_is_late);
}

void waiting_add_exit(struct pass *pass)
{
        IRDirty *call;

        waiting_end_instruction(pass);
        if (pass->first_waiting == NULL || pass->instructions == NULL)
                return;
        call = call_with_constant(pass, "simpmu_waiting", (void *)call_waiting,
                                  pass->first_waiting, NULL);
        /* The call increases the stall: a copy of it from before the call is stale. */
        call->mFx = Ifx_Modify;
        call->mAddr = ir_constant((Addr)&tool_hot.stall);
        call->mSize = sizeof(tool_hot.stall);
        ir_add_call(pass, call, may_wait(pass));
        pass->first_waiting = pass->last_waiting = NULL;
}

/* VEX may repeat a loop in its block: the first load of IP is followed by a whole pass.
 */
static const struct waiting_for *first_of_ip(const struct pass *pass, Addr ip)
{
        UInt first = 0;

        while (pass->load_of_slot[first]->ip != ip)
                first++;
        return &pass->waiting_for[first];
}

/* In a loop of LENGTH instructions, so many issue behind a late load until the ones that
 * wait for it fill a scheduler. */
static UInt reach(const struct waiting_for *load, UInt length)
{
        const struct simpmu_params *params = &tool_machine.params;
        const UInt places[SCHEDULER_KINDS] = {
            [SCHEDULER_GENERAL] = (UInt)params->scheduler_entries,
            [SCHEDULER_VECTOR] = (UInt)params->vector_scheduler_entries,
            [SCHEDULER_ADDRESSES] = (UInt)params->address_scheduler_entries,
        };
        UInt waiting[SCHEDULER_KINDS] = {0}, least = (UInt)params->rob_entries;

        for (UInt kind = 0; kind < SCHEDULER_KINDS; kind++)
                waiting[places[kind] > 0 ? kind : SCHEDULER_GENERAL] +=
                    load->instructions[kind];
        for (UInt kind = 0; kind < SCHEDULER_KINDS; kind++)
                if (waiting[kind] * least > length * places[kind])
                        least = length * places[kind] / waiting[kind];
        return least;
}

void waiting_end_block(const struct pass *pass)
{
        if (pass->follow_branches || pass->loop_instructions == 0)
                return;
        for (UInt i = 0; i < pass->loads; i++) {
                struct access_site *site = pass->load_of_slot[i];
                site->unreached =
                    (UShort)(tool_machine.params.rob_entries -
                             reach(first_of_ip(pass, site->ip), pass->loop_instructions));
        }
}
