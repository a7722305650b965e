/* SPDX-License-Identifier: MIT */
/* Where sequences overlap, the last row before the address counts, as in one list of all
 * rows sorted by address. */
#include "line_program.h"

#include <dwarf.h>
#include <errno.h>

#include "append.h"

struct run {
        struct line_table *table;
        struct line_answer *answers;
        size_t count;
        uint64_t *budget;
        struct byte_cursor cursor;
        /* the registers of the line program */
        uint64_t vaddr;
        uint64_t operation;
        uint64_t file;
        uint64_t line;
        uint64_t column;
        /* the previous row, which ends at the next one */
        bool in_sequence;
        bool discarded; /* the linker discarded the sequence's code */
        uint64_t row;
        uint32_t row_file;
        uint32_t row_line;
        uint32_t row_column;
        size_t next;         /* the first answer not below it */
        uint64_t next_vaddr; /* the address of answer NEXT; the highest: none */
        bool spent;
        struct special {
                uint8_t operations;
                int16_t lines;
        } specials[UINT8_MAX + 1]; /* advance of special opcodes */
};

static void go_to_answer(struct run *run, size_t next)
{
        run->next = next;
        run->next_vaddr = next < run->count ? run->answers[next].vaddr : UINT64_MAX;
}

/* The previous row ends at the current registers: it answers the addresses between. */
static void end_row(struct run *run)
{
        for (; run->next < run->count && run->answers[run->next].vaddr < run->vaddr;
             run->next++) {
                struct line_answer *answer = &run->answers[run->next];

                if (!line_table_spend(run->budget, 1))
                        run->spent = true;
                if (answer->found && answer->row > run->row)
                        continue;
                answer->found = true;
                answer->row = run->row;
                answer->file = run->row_file;
                answer->line = run->row_line;
                answer->column = run->row_column;
        }
        go_to_answer(run, run->next);
}

static uint32_t narrow(uint64_t number)
{
        return number <= INT32_MAX ? (uint32_t)number : 0;
}

/* Linkers give discarded code an address whose rows would overlap real code. BFD and gold
 * use 0; lld the last address, or the one before it. */
static bool begins_nowhere(const struct run *run)
{
        return run->vaddr == 0 ? !run->table->code_at_zero : run->vaddr >= UINT64_MAX - 1;
}

static void begin_row(struct run *run)
{
        run->row = run->vaddr;
        run->row_file = narrow(run->file);
        run->row_line = narrow(run->line);
        run->row_column = narrow(run->column);
}

static void add_notable_row(struct run *run)
{
        bool first = !run->in_sequence;

        run->in_sequence = true;
        if (first)
                run->discarded = begins_nowhere(run);
        if (run->discarded)
                return;
        if (!first && run->next_vaddr < run->vaddr)
                end_row(run);
        if (first || run->vaddr < run->row)
                go_to_answer(run, NUMBER_FROM(run->answers, run->count, run->vaddr));
        begin_row(run);
}

/* Most rows follow a row without questions. */
static inline void add_row(struct run *run)
{
        if (run->in_sequence && !run->discarded && run->vaddr >= run->row &&
            run->next_vaddr >= run->vaddr)
                begin_row(run);
        else
                add_notable_row(run);
}

static void begin_sequence(struct run *run)
{
        run->vaddr = run->operation = 0;
        run->file = run->line = 1;
        run->column = 0;
        run->in_sequence = run->discarded = false;
}

static void end_sequence(struct run *run)
{
        if (run->in_sequence)
                end_row(run);
        size_t after = NUMBER_FROM(run->answers, run->count, run->vaddr);

        if (after < run->count && run->answers[after].ends_at < run->vaddr)
                run->answers[after].ends_at = run->vaddr;
}

static void advance(struct run *run, uint64_t operations)
{
        const struct line_table *table = run->table;

        if (table->operations <= 1) {
                run->vaddr += operations * table->instruction_bytes;
                return;
        }
        operations += run->operation;
        run->vaddr += operations / table->operations * table->instruction_bytes;
        run->operation = operations % table->operations;
}

/* 0, -EINVAL or -ENOMEM. */
static int run_extended(struct run *run)
{
        struct byte_cursor *cursor = &run->cursor;
        uint64_t bytes = cursor_leb(cursor);

        if (bytes == 0 || !cursor_has(cursor, bytes))
                return -EINVAL;
        struct byte_cursor inside = *cursor;

        inside.end = cursor->at + bytes;
        cursor->at += bytes;
        switch (cursor_byte(&inside)) {
        case DW_LNE_end_sequence:
                if (!run->discarded)
                        end_sequence(run);
                begin_sequence(run);
                return 0;
        case DW_LNE_set_address:
                if (bytes - 1 > sizeof(uint64_t))
                        return -EINVAL;
                run->vaddr = cursor_number(&inside, (unsigned)bytes - 1);
                run->operation = 0;
                return 0;
        case DW_LNE_define_file: {
                const char *name = cursor_text(&inside);

                return name && run->table->version < 5
                           ? line_table_define_file(run->table, &inside, name)
                           : -EINVAL;
        }
        default:
                return 0;
        }
}

static int run_standard(struct run *run, uint8_t opcode)
{
        struct byte_cursor *cursor = &run->cursor;
        const struct line_table *table = run->table;

        switch (opcode) {
        case 0:
                return run_extended(run);
        case DW_LNS_copy:
                add_row(run);
                return 0;
        case DW_LNS_advance_pc:
                advance(run, cursor_leb(cursor));
                return 0;
        case DW_LNS_advance_line:
                run->line += (uint64_t)cursor_signed_leb(cursor);
                return 0;
        case DW_LNS_set_file:
                run->file = cursor_leb(cursor);
                return 0;
        case DW_LNS_set_column:
                run->column = cursor_leb(cursor);
                return 0;
        case DW_LNS_const_add_pc:
                if (table->line_range == 0)
                        return -EINVAL;
                advance(run, (255u - table->opcode_base) / table->line_range);
                return 0;
        case DW_LNS_fixed_advance_pc:
                run->vaddr += cursor_number(cursor, 2);
                run->operation = 0;
                return 0;
        default: /* nothing that the registers here keep */
                for (unsigned i = table->opcode_arguments[opcode - 1]; i > 0; i--)
                        cursor_leb(cursor);
                return 0;
        }
}

static void prepare_specials(struct run *run)
{
        const struct line_table *table = run->table;

        for (unsigned opcode = table->opcode_base;
             opcode <= UINT8_MAX && table->line_range > 0; opcode++) {
                unsigned step = opcode - table->opcode_base;

                run->specials[opcode] = (struct special){
                    (uint8_t)(step / table->line_range),
                    (int16_t)(table->line_base + (int)(step % table->line_range))};
        }
}

static inline void run_special(struct run *run, uint8_t opcode)
{
        const struct special *special = &run->specials[opcode];

        advance(run, special->operations);
        run->line += (uint64_t)special->lines;
        add_row(run);
}

/* An address after the end of a sequence has no row, unless a later row begins. */
static void leave_ended(struct line_answer *answers, size_t count)
{
        uint64_t ended = 0;

        for (size_t i = 0; i < count; i++) {
                if (answers[i].ends_at > ended)
                        ended = answers[i].ends_at;
                if (answers[i].row < ended)
                        answers[i].found = false;
        }
}

int line_program_run(struct line_table *table, struct line_answer *answers, size_t count,
                     uint64_t *budget)
{
        struct run run = {
            .table = table, .answers = answers, .count = count, .budget = budget};
        int error = 0;

        run.cursor =
            (struct byte_cursor){.at = table->program, .end = table->program_end};
        prepare_specials(&run);
        begin_sequence(&run);
        if (!line_table_spend(budget, (uint64_t)(table->program_end - table->program)))
                return 0;
        while (!error && !run.spent && run.cursor.at < run.cursor.end) {
                uint8_t opcode = *run.cursor.at++;

                if (opcode < table->opcode_base)
                        error = run_standard(&run, opcode);
                else if (table->line_range > 0)
                        run_special(&run, opcode);
                else
                        error = -EINVAL;
                if (run.cursor.failed)
                        error = -EINVAL;
        }
        leave_ended(answers, count);
        return error == -ENOMEM ? error : 0;
}
