/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about the code that the model of wrong paths needs (model/machine/wrong_path.h):
 * the instructions of each stretch, their successors, the registers that they write, and
 * the registers' dependences at the end. */
#include "instrument.h"

/* The registers that STATEMENT writes. */
static ULong written_by(const IRStmt *statement)
{
        ULong written = 0;

        if (statement->tag == Ist_Put)
                return depend_bit(statement->Ist.Put.offset);
        if (statement->tag == Ist_PutI)
                return depend_bit(statement->Ist.PutI.details->descr->base);
        if (statement->tag == Ist_Dirty) {
                const IRDirty *call = statement->Ist.Dirty.details;
                for (Int i = 0; i < call->nFxState; i++) {
                        if (call->fxState[i].fx != Ifx_Read)
                                written |= depend_bit(call->fxState[i].offset);
                }
        }
        return written;
}

static UInt note_instruction(const IRStmt *mark)
{
        const Addr ip = mark->Ist.IMark.addr;
        const UInt length = mark->Ist.IMark.len;
        uint64_t target;
        enum code_kind kind = code_decode((const UChar *)ip, length, ip, &target);

        return code_add(tool_machine.code, ip, length, kind, target);
}

void wrong_note_code(const struct pass *pass)
{
        UInt number = NO_INSTRUCTION;

        if (!pass->follow_branches)
                return;
        for (Int i = 0; i < pass->in->stmts_used; i++) {
                const IRStmt *statement = pass->in->stmts[i];
                if (statement->tag == Ist_IMark)
                        number = note_instruction(statement);
                else if (number != NO_INSTRUCTION)
                        code_at(tool_machine.code, number)->writes |=
                            written_by(statement);
        }
}

const struct code_stretch *wrong_begin_stretch(struct pass *pass, Int from, UInt count)
{
        struct code_stretch *stretch =
            site_new(pass, sizeof(*stretch) + count * sizeof(stretch->instructions[0]));
        UInt at = 0;

        *stretch =
            (struct code_stretch){.begins_block = pass->stretch == NULL, .count = count};
        for (Int i = from; at < count; i++) {
                const IRStmt *mark = pass->in->stmts[i];
                if (mark->tag == Ist_IMark && !heap_is_tracker(mark->Ist.IMark.addr))
                        stretch->instructions[at++] =
                            code_find(tool_machine.code, mark->Ist.IMark.addr);
        }
        pass->stretch = stretch;
        pass->next_transfer = &stretch->transfers;
        pass->next_frame_access = &stretch->frame;
        return stretch;
}

void wrong_note_access(struct pass *pass, const struct access_site *site,
                       const IRExpr *address, struct depend data)
{
        const Int word = stored_frame_word(pass, address);
        const UInt number = pass->stretch == NULL
                                ? NO_INSTRUCTION
                                : code_find(tool_machine.code, pass->ip);
        struct frame_access *access;

        if (word < 0 || number == NO_INSTRUCTION)
                return;
        access = site_new(pass, sizeof(*access));
        *access = (struct frame_access){
            .load = site->kind == ACCESS_LOAD ? site : NULL,
            .on = data.on,
            .at = (UInt)(site->position + (Int)pass->stretch->count),
            .word = (UInt)word,
        };
        if (site->kind != ACCESS_LOAD)
                code_at(tool_machine.code, number)->stores |= 1ULL << word;
        *pass->next_frame_access = access;
        pass->next_frame_access = &access->next;
}

void wrong_add_transfer(struct pass *pass)
{
        const struct depend_state *state = &pass->depend;
        struct code_transfer *transfer;
        UInt count = 0;

        if (pass->stretch == NULL)
                return;
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++)
                count += depend_changed(state, id);
        if (count == 0)
                return;
        transfer = site_new(pass, sizeof(*transfer) + count * sizeof(transfer->each[0]));
        transfer->next = NULL;
        transfer->count = 0;
        for (UInt id = FIRST_REGISTER; id < REGISTERS_END; id++) {
                if (depend_changed(state, id))
                        transfer->each[transfer->count++] = (struct register_transfer){
                            .on = state->of_register[id].on, .id = id};
        }
        *pass->next_transfer = transfer;
        pass->next_transfer = &transfer->next;
}
