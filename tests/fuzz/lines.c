/* SPDX-License-Identifier: MIT */
/* Fuzz target: tables of lines. Input: the length of texts, these, .debug_line. */
#include "fuzz_target.h"
#include "line_program.h"

enum { ASKED = 64 };

static void look(const struct line_table *table, const struct line_answer *answer)
{
        volatile size_t length = 0;
        if (answer->row > answer->vaddr)
                abort();
        if (answer->file >= table->files.count || !table->files.items[answer->file].name)
                return;
        length += strlen(table->files.items[answer->file].name);
        if (table->files.items[answer->file].directory)
                length += strlen(table->files.items[answer->file].directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        size_t text_bytes = size > 0 ? data[0] : 0;
        struct line_table table;
        uint64_t budget = 100000;
        if (size == 0 || text_bytes > size - 1)
                return 0;
        const struct elf_bytes texts = {(const char *)data + 1, text_bytes};
        const struct elf_bytes lines = {texts.data + text_bytes, size - 1 - text_bytes};

        for (int at_zero = 0; at_zero < 2; at_zero++) {
                const struct line_sections sections = {.lines = lines,
                                                       .texts = texts,
                                                       .line_texts = texts,
                                                       .code_at_zero = at_zero};
                struct line_answer answers[ASKED];

                for (size_t i = 0; i < ASKED; i++)
                        answers[i] = (struct line_answer){.vaddr = i * i / 4};
                answers[ASKED - 1].vaddr = UINT64_MAX;
                if (line_table_read(&table, &sections, 0, &budget) == 0 &&
                    line_program_run(&table, answers, ASKED, &budget) == 0)
                        for (size_t i = 0; i < ASKED; i++)
                                if (answers[i].found)
                                        look(&table, &answers[i]);
                line_table_free(&table);
        }
        return 0;
}
