/* SPDX-License-Identifier: MIT */
#include "line_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "append.h"

struct header {
        struct line_table *table;
        const struct line_sections *sections;
        struct byte_cursor cursor;
        unsigned offset_bytes;
};

static int add_file(struct line_table *table, const char *name, uint64_t directory)
{
        bool known = directory < table->directories.count;

        return PUSH(
            &table->files,
            (struct line_file){known ? name : NULL,
                               known ? table->directories.items[directory] : NULL});
}

int line_table_define_file(struct line_table *table, struct byte_cursor *cursor,
                           const char *name)
{
        uint64_t directory = cursor_leb(cursor);

        cursor_leb(cursor);
        cursor_leb(cursor);
        return cursor->failed ? -EINVAL : add_file(table, name, directory);
}

/* DWARF 2 to 4: directories, then files, from number 1; an empty name ends each list. */
static int read_old_lists(struct header *header)
{
        struct byte_cursor *cursor = &header->cursor;
        const char *name;
        int error = PUSH(&header->table->directories, NULL);

        while (!error && (name = cursor_text(cursor)) != NULL && *name)
                error = PUSH(&header->table->directories, name);
        if (!error)
                error = add_file(header->table, NULL, 0);
        while (!error && (name = cursor_text(cursor)) != NULL && *name)
                error = line_table_define_file(header->table, cursor, name);
        return error ? error : cursor->failed ? -EINVAL : 0;
}

/* The last text must end at the section's end. A search for each text's end would cost
 * more than the budget counts. */
static const char *text_at(struct elf_bytes texts, uint64_t offset)
{
        return offset < texts.size && texts.data[texts.size - 1] == '\0'
                   ? texts.data + offset
                   : NULL;
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
                value.text = text_at(sections->line_texts,
                                     cursor_number(cursor, header->offset_bytes));
                break;
        case DW_FORM_strp:
                value.text =
                    text_at(sections->texts, cursor_number(cursor, header->offset_bytes));
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

/* Reads a list of DWARF 5, of directories or FILES: first the format of an entry. */
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
                                       : PUSH(&header->table->directories, name);
        }
        return error;
}

/* Reads the program's parameters; leaves the cursor before the lists. */
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

/* Reads the table's end and version, and the start of its program. */
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

        *table = (struct line_table){.code_at_zero = sections->code_at_zero};
        const uint8_t *lines = (const uint8_t *)sections->lines.data;

        if (offset >= sections->lines.size)
                return -EINVAL;
        header.cursor = (struct byte_cursor){.at = lines + offset,
                                             .end = lines + sections->lines.size};
        int error = read_extent(&header);

        if (!error &&
            !line_table_spend(budget, (uint64_t)(table->program - header.cursor.at)))
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
        free(table->files.items);
        free(table->directories.items);
        *table = (struct line_table){0};
}
