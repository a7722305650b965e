/* SPDX-License-Identifier: MIT */
/* Where sequences overlap, the row that begins last counts, as if all rows were sorted by
 * address. */
#include "line_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "byte_cursor.h"

static bool spend(uint64_t *budget, uint64_t work)
{
        if (*budget < work) {
                *budget = 0;
                return false;
        }
        *budget -= work;
        return true;
}

/* ---- the header ---- */

struct header {
        struct line_table *table;
        const struct line_sections *sections;
        struct byte_cursor cursor;
        unsigned offset_bytes;
};

static int add_directory(struct line_table *table, const char *name)
{
        if (array_reserve(&table->directories, &table->directory_capacity,
                          table->directory_count, sizeof(*table->directories)) < 0)
                return -ENOMEM;
        table->directories[table->directory_count++] = name;
        return 0;
}

static int add_file(struct line_table *table, const char *name, uint64_t directory)
{
        if (array_reserve(&table->files, &table->file_capacity, table->file_count,
                          sizeof(*table->files)) < 0)
                return -ENOMEM;
        struct line_file *file = &table->files[table->file_count++];

        *file = (struct line_file){.name = name};
        if (directory < table->directory_count)
                file->directory = table->directories[directory];
        else
                file->name = NULL;
        return 0;
}

/* The directory, time and size of a file follow its name. */
static int read_old_file(struct line_table *table, struct byte_cursor *cursor,
                         const char *name)
{
        uint64_t directory = cursor_leb(cursor);

        cursor_leb(cursor);
        cursor_leb(cursor);
        return cursor->failed ? -EINVAL : add_file(table, name, directory);
}

/* Up to DWARF 4: directories and files from 1 on, each list up to an empty name. */
static int read_old_lists(struct header *header)
{
        struct byte_cursor *cursor = &header->cursor;
        const char *name;
        int error = add_directory(header->table, NULL);

        while (!error && (name = cursor_text(cursor)) != NULL && *name)
                error = add_directory(header->table, name);
        if (!error)
                error = add_file(header->table, NULL, 0);
        while (!error && (name = cursor_text(cursor)) != NULL && *name)
                error = read_old_file(header->table, cursor, name);
        return error ? error : cursor->failed ? -EINVAL : 0;
}

/* Where the section ends is where its last text ends: to look for that of each would cost
 * more than what the budget counts. */
static const char *text_at(const uint8_t *start, const uint8_t *end, uint64_t offset)
{
        if (offset >= (uint64_t)(end - start) || end[-1] != '\0')
                return NULL;
        return (const char *)start + offset;
}

struct value {
        const char *text;
        uint64_t number;
};

/* An attribute of a directory or file; the cursor fails at an unknown FORM. */
static struct value read_value(struct header *header, uint64_t form)
{
        const struct line_sections *sections = header->sections;
        struct byte_cursor *cursor = &header->cursor;
        struct value value = {0};

        switch (form) {
        case DW_FORM_string:
                value.text = cursor_text(cursor);
                break;
        case DW_FORM_line_strp:
                value.text = text_at(sections->line_texts, sections->line_texts_end,
                                     cursor_number(cursor, header->offset_bytes));
                break;
        case DW_FORM_strp:
                value.text = text_at(sections->texts, sections->texts_end,
                                     cursor_number(cursor, header->offset_bytes));
                break;
        case DW_FORM_udata:
                value.number = cursor_leb(cursor);
                break;
        case DW_FORM_data1:
                value.number = cursor_number(cursor, 1);
                break;
        case DW_FORM_data2:
                value.number = cursor_number(cursor, 2);
                break;
        case DW_FORM_data4:
                value.number = cursor_number(cursor, 4);
                break;
        case DW_FORM_data8:
                value.number = cursor_number(cursor, 8);
                break;
        case DW_FORM_data16:
                cursor_skip(cursor, 16);
                break;
        case DW_FORM_block:
                cursor_skip(cursor, cursor_leb(cursor));
                break;
        default:
                cursor->failed = true;
        }
        return value;
}

/* A list of DWARF 5, of directories or FILES: first what is said of each. */
static int read_list(struct header *header, bool files)
{
        struct byte_cursor *cursor = &header->cursor;
        unsigned attributes = cursor_byte(cursor);
        struct byte_cursor formats = *cursor;
        int error = 0;

        for (unsigned i = 0; i < 2 * attributes; i++)
                cursor_leb(cursor);
        uint64_t count = cursor_leb(cursor);

        /* Each takes a byte at least. */
        if (cursor->failed || (attributes == 0 && count > 0) ||
            count > (uint64_t)(cursor->end - cursor->at))
                return -EINVAL;
        for (uint64_t item = 0; item < count && !error; item++) {
                struct byte_cursor format = formats;
                const char *name = NULL;
                uint64_t directory = 0;

                for (unsigned i = 0; i < attributes; i++) {
                        uint64_t content = cursor_leb(&format);
                        struct value value = read_value(header, cursor_leb(&format));

                        if (content == DW_LNCT_path)
                                name = value.text;
                        else if (content == DW_LNCT_directory_index)
                                directory = value.number;
                }
                error = cursor->failed ? -EINVAL
                        : files        ? add_file(header->table, name, directory)
                                       : add_directory(header->table, name);
        }
        return error;
}

/* What the numbers of the program mean; leaves the cursor before the lists. */
static int read_numbers(struct header *header)
{
        struct byte_cursor *cursor = &header->cursor;
        struct line_table *table = header->table;

        table->instruction_bytes = cursor_byte(cursor);
        table->operations = table->version >= 4 ? cursor_byte(cursor) : 1;
        cursor_byte(cursor); /* whether rows begin statements */
        table->line_base = (int8_t)cursor_byte(cursor);
        table->line_range = cursor_byte(cursor);
        table->opcode_base = cursor_byte(cursor);
        table->opcode_arguments = cursor->at;
        if (table->opcode_base == 0)
                return -EINVAL;
        cursor_skip(cursor, table->opcode_base - 1);
        return cursor->failed ? -EINVAL : 0;
}

/* Where the table ends and which version it has, and where its program begins. */
static int read_extent(struct header *header)
{
        struct byte_cursor *cursor = &header->cursor;
        struct line_table *table = header->table;
        uint64_t bytes = cursor_number(cursor, 4);

        header->offset_bytes = 4;
        if (bytes == UINT32_MAX) {
                header->offset_bytes = 8;
                bytes = cursor_number(cursor, 8);
        }
        if (cursor->failed)
                return -EINVAL;
        if (bytes < (uint64_t)(cursor->end - cursor->at))
                cursor->end = cursor->at + bytes;
        uint64_t version = cursor_number(cursor, 2);

        if (version < 2 || version > 5)
                return -EINVAL;
        table->version = (uint8_t)version;
        if (table->version >= 5)
                cursor_skip(cursor, 2); /* sizes of addresses and of segments */
        bytes = cursor_number(cursor, header->offset_bytes);
        if (!cursor_has(cursor, bytes))
                return -EINVAL;
        table->program = cursor->at + bytes;
        table->program_end = cursor->end;
        cursor->end = table->program;
        return 0;
}

int line_table_read(struct line_table *table, const struct line_sections *sections,
                    uint64_t offset, uint64_t *budget)
{
        struct header header = {.table = table, .sections = sections};

        *table = (struct line_table){.swapped = sections->swapped,
                                     .code_at_zero = sections->code_at_zero};
        if (offset >= (uint64_t)(sections->lines_end - sections->lines))
                return -EINVAL;
        header.cursor = (struct byte_cursor){.at = sections->lines + offset,
                                             .end = sections->lines_end,
                                             .swapped = sections->swapped};
        int error = read_extent(&header);

        if (!error && !spend(budget, (uint64_t)(table->program - header.cursor.at)))
                error = -EINVAL;
        if (!error)
                error = read_numbers(&header);
        if (!error && table->version < 5)
                return read_old_lists(&header);
        if (!error)
                error = read_list(&header, false);
        return error ? error : read_list(&header, true);
}

void line_table_free(struct line_table *table)
{
        free(table->files);
        free(table->directories);
        *table = (struct line_table){0};
}

/* ---- the program ---- */

struct run {
        struct line_table *table;
        struct line_answer *answers;
        size_t count;
        uint64_t *budget;
        struct byte_cursor cursor;
        /* the registers */
        uint64_t vaddr;
        uint64_t operation;
        uint64_t file;
        uint64_t line;
        uint64_t column;
        /* the row before, which goes on up to the next */
        bool in_sequence;
        bool discarded; /* the sequence's code */
        uint64_t row;
        uint32_t row_file;
        uint32_t row_line;
        uint32_t row_column;
        size_t next;         /* the first answer at or after it */
        uint64_t next_vaddr; /* that answer's; the last address: none */
        bool spent;
        struct special {
                uint8_t operations;
                int16_t lines;
        } specials[UINT8_MAX + 1]; /* what special opcodes advance by */
};

static size_t first_from(const struct run *run, uint64_t vaddr)
{
        size_t low = 0, high = run->count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (run->answers[middle].vaddr < vaddr)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static void go_to_answer(struct run *run, size_t next)
{
        run->next = next;
        run->next_vaddr = next < run->count ? run->answers[next].vaddr : UINT64_MAX;
}

/* The row before ends where the registers are: it answers what lies in between. */
static void end_row(struct run *run)
{
        for (; run->next < run->count && run->answers[run->next].vaddr < run->vaddr;
             run->next++) {
                struct line_answer *answer = &run->answers[run->next];

                if (!spend(run->budget, 1))
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

/* Where linkers put the code that they discard, whose rows would lie over real code: BFD
 * and gold at 0; lld at the last address, or the one before. */
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
                go_to_answer(run, first_from(run, run->vaddr));
        begin_row(run);
}

/* Most rows follow another that nothing was asked about. */
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
        size_t after = first_from(run, run->vaddr);

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
                           ? read_old_file(run->table, &inside, name)
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

/* An address after the end of some sequence is in none, unless a row begins later. */
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

int line_table_find(struct line_table *table, struct line_answer *answers, size_t count,
                    uint64_t *budget)
{
        struct run run = {
            .table = table, .answers = answers, .count = count, .budget = budget};
        int error = 0;

        run.cursor = (struct byte_cursor){
            .at = table->program, .end = table->program_end, .swapped = table->swapped};
        prepare_specials(&run);
        begin_sequence(&run);
        if (!spend(budget, (uint64_t)(table->program_end - table->program)))
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
