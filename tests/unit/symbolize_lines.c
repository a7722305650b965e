/* SPDX-License-Identifier: MIT */
/* Lines at addresses. This program has parts in DWARF 2, 3, 4 and 5, whose lines must be
 * the same as libdw's. In tables made by hand they must follow the standard. */
#include "dwarf_test.h"

#include "die.h"
#include "file_path.h"
#include "line_program.h"

/* ---- beside libdw ---- */

static int ascending(const void *left, const void *right)
{
        const struct line_answer *a = left, *b = right;

        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Where each row begins, and the addresses next to it. */
static struct line_answer *ask_rows(Dwarf_Die *unit, size_t *count)
{
        Dwarf_Lines *lines;
        size_t rows;

        *count = 0;
        if (dwarf_getsrclines(unit, &lines, &rows) != 0)
                return NULL;
        struct line_answer *answers = calloc(3 * rows + 1, sizeof(*answers));

        assert_non_null(answers);
        for (size_t i = 0; i < rows; i++) {
                Dwarf_Addr vaddr;

                assert_ok(dwarf_lineaddr(dwarf_onesrcline(lines, i), &vaddr));
                for (uint64_t near = vaddr - 1; near != vaddr + 2; near++)
                        answers[(*count)++].vaddr = near;
        }
        qsort(answers, *count, sizeof(*answers), ascending);
        return answers;
}

static void assert_same_file(const struct line_table *table, uint32_t file,
                             const char *theirs, const char *directory)
{
        assert_true(file < table->files.count);
        assert_non_null(table->files.items[file].name);
        char *ours =
            path_join(table->files.items[file].directory, table->files.items[file].name);
        char *our_path = path_join(directory, ours), *path = path_join(directory, theirs);

        assert_string_equal(our_path, path);
        free(ours);
        free(our_path);
        free(path);
}

/* Returns how many of the rows asked for have a line. */
static size_t compare_unit(struct dwarf_file *dwarf, size_t number, bool *versions)
{
        struct line_table table;
        Dwarf_Die unit, entries;
        size_t count, found = 0;

        assert_true(die_open_unit(dwarf, number, &unit, &entries));
        struct line_answer *answers = ask_rows(&unit, &count);

        if (!answers)
                return 0;
        assert_ok(die_line_table(dwarf, &unit, &table));
        versions[table.version] = true;
        assert_ok(line_program_run(&table, answers, count, &dwarf->budget));
        for (size_t i = 0; i < count; i++) {
                Dwarf_Line *row = dwarf_getsrc_die(&unit, answers[i].vaddr);
                int line, column;

                assert_int_equal(answers[i].found, row != NULL);
                if (!row)
                        continue;
                assert_int_equal(dwarf_lineno(row, &line), 0);
                assert_int_equal(answers[i].line, line);
                assert_int_equal(dwarf_linecol(row, &column), 0);
                assert_int_equal(answers[i].column, column);
                assert_same_file(&table, answers[i].file, dwarf_linesrc(row, NULL, NULL),
                                 die_string(dwarf, &unit, DW_AT_comp_dir));
                found++;
        }
        line_table_free(&table);
        free(answers);
        return found;
}

TEST(finds_the_rows_that_libdw_finds)
{
        bool versions[6] = {false};
        struct dwarf_file dwarf;
        struct elf_file file;
        size_t found = 0;

        open_own_dwarf(&file, &dwarf);
        for (size_t i = 0; i < dwarf.unit_count; i++)
                found += compare_unit(&dwarf, i, versions);
        assert_true(found > 3000);
        for (int version = 3; version <= 5; version++)
                assert_true(versions[version]);
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
}

/* ---- by hand ---- */

struct bytes {
        uint8_t items[1024];
        size_t count;
};

static void put(struct bytes *to, uint64_t value, unsigned bytes)
{
        for (unsigned i = 0; i < bytes; i++)
                to->items[to->count++] = (uint8_t)(value >> 8 * i);
}

static void put_bytes(struct bytes *to, const uint8_t *bytes, size_t count)
{
        memcpy(to->items + to->count, bytes, count);
        to->count += count;
}

/* Fills in the four bytes at AT: the length of the rest. */
static void set_length(struct bytes *to, size_t at)
{
        const uint32_t length = (uint32_t)(to->count - at - sizeof(length));

        memcpy(to->items + at, &length, sizeof(length));
}

static void set_address(struct bytes *to, uint64_t vaddr)
{
        put_bytes(to, (const uint8_t[]){0, 9, 2}, 3);
        put(to, vaddr, 8);
}

/* So many bytes (less than 128) further on. */
static void end_sequence(struct bytes *to, unsigned bytes)
{
        put_bytes(to, (const uint8_t[]){2, (uint8_t)bytes, 0, 1, 1}, 5);
}

/* Advances by a few bytes and lines, and adds a row. */
static void add_row(struct bytes *to, unsigned bytes, unsigned lines)
{
        put_bytes(to, (const uint8_t[]){2, (uint8_t)bytes, 3, (uint8_t)lines, 1}, 5);
}

/* A table with the directory "d" and the file "d/a.c", number 1, up to its program. */
static void begin_table(struct bytes *to, unsigned version, unsigned operations)
{
        static const uint8_t rest[] = {1, (uint8_t)-5, 14,  13,  0, 1, 1, 1,   1,
                                       0, 0,           0,   1,   0, 0, 1, 'd', 0,
                                       0, 'a',         '.', 'c', 0, 1, 0, 0,   0};

        put(to, 0, 4); /* the length, later */
        put(to, version, 2);
        put(to, 0, 4); /* the header's, later */
        put(to, 1, 1);
        if (version >= 4)
                put(to, operations, 1);
        put_bytes(to, rest, sizeof(rest));
        set_length(to, 6);
}

static int find(const struct bytes *bytes, struct line_answer *answers, size_t count,
                struct line_table *table)
{
        const struct line_sections sections = {
            .lines = {(const char *)bytes->items, bytes->count}};

        uint64_t budget = 100000;
        int error = line_table_read(table, &sections, 0, &budget);

        return error ? error : line_program_run(table, answers, count, &budget);
}

TEST(answers_with_rows_of_the_table)
{
        struct bytes bytes = {0};
        struct line_answer answers[] = {{.vaddr = 0xfff},  {.vaddr = 0x1000},
                                        {.vaddr = 0x1003}, {.vaddr = 0x1004},
                                        {.vaddr = 0x1007}, {.vaddr = 0x1008}};
        const uint32_t lines[] = {0, 11, 11, 12, 12, 0};
        struct line_table table;

        begin_table(&bytes, 2, 1);
        set_address(&bytes, 0x1000);
        add_row(&bytes, 0, 10);
        put(&bytes, 13 + (1 + 5) + 4 * 14, 1); /* special: 4 bytes, 1 line */
        end_sequence(&bytes, 4);
        set_length(&bytes, 0);
        assert_int_equal(find(&bytes, answers, 6, &table), 0);
        for (int i = 0; i < 6; i++) {
                assert_int_equal(answers[i].found, lines[i] != 0);
                assert_int_equal(answers[i].found ? answers[i].line : 0, lines[i]);
        }
        assert_string_equal(table.files.items[answers[1].file].directory, "d");
        assert_string_equal(table.files.items[answers[1].file].name, "a.c");
        line_table_free(&table);
}

/* DWARF 5, 6.2.5.1: the four operations of an instruction have one address. */
TEST(counts_operations_of_long_instructions)
{
        struct bytes bytes = {0};
        struct line_answer answers[] = {{.vaddr = 0x100}, {.vaddr = 0x101}};
        struct line_table table;

        begin_table(&bytes, 4, 4);
        set_address(&bytes, 0x100);
        add_row(&bytes, 0, 1);
        add_row(&bytes, 3, 1); /* the same instruction */
        add_row(&bytes, 1, 1); /* the next one */
        end_sequence(&bytes, 8);
        set_length(&bytes, 0);
        assert_int_equal(find(&bytes, answers, 2, &table), 0);
        assert_true(answers[0].found && answers[0].line == 3);
        assert_true(answers[1].found && answers[1].line == 4);
        line_table_free(&table);
}

/* Binutils' ld gives discarded functions the address 0, lld the last addresses. A
 * function there is code only if the program has code at 0. libdw does not distinguish
 * them. */
TEST(leaves_out_what_the_linker_discarded)
{
        static const uint64_t begins[] = {0, UINT64_MAX, UINT64_MAX - 1};

        for (size_t i = 0; i < 4; i++) {
                bool code_at_zero = i == 3;
                struct bytes bytes = {0};
                struct line_answer answers[] = {
                    {.vaddr = 0x20}, {.vaddr = 0x80}, {.vaddr = 0xa0}, {.vaddr = 0xc0}};
                struct line_sections sections = {.code_at_zero = code_at_zero};

                uint64_t budget = 100000;
                struct line_table table;

                begin_table(&bytes, 4, 1);
                set_address(&bytes, 0x70); /* up to 0xb0 */
                add_row(&bytes, 0, 1);
                end_sequence(&bytes, 0x40);
                set_address(&bytes, begins[i % 3]); /* over it, up to 0xa0 or so */
                add_row(&bytes, 0, 41);
                add_row(&bytes, 0x78, 1);
                end_sequence(&bytes, 0x28);
                set_length(&bytes, 0);
                sections.lines =
                    (struct elf_bytes){(const char *)bytes.items, bytes.count};
                assert_ok(line_table_read(&table, &sections, 0, &budget));
                assert_ok(line_program_run(&table, answers, 4, &budget));
                assert_int_equal(answers[0].found, code_at_zero);
                assert_true(answers[1].found);
                assert_int_equal(answers[1].line, code_at_zero ? 43 : 2);
                assert_int_equal(answers[2].found, !code_at_zero);
                assert_false(answers[3].found);
                line_table_free(&table);
        }
}

TEST(takes_files_that_the_program_defines)
{
        struct bytes bytes = {0};
        struct line_answer answer = {.vaddr = 0x10};
        struct line_table table;

        begin_table(&bytes, 4, 1);
        put_bytes(&bytes, (const uint8_t[]){0, 8, 3, 'b', '.', 'c', 0, 1, 0, 0}, 10);
        put_bytes(&bytes, (const uint8_t[]){4, 2}, 2); /* file 2 */
        set_address(&bytes, 0x10);
        add_row(&bytes, 0, 1);
        end_sequence(&bytes, 1);
        set_length(&bytes, 0);
        assert_int_equal(find(&bytes, &answer, 1, &table), 0);
        assert_true(answer.found);
        assert_string_equal(table.files.items[answer.file].name, "b.c");
        line_table_free(&table);
}

/* A table of version 5 with one directory and one file, named at 0 and 1 of the texts. */
static void put_table_of_texts(struct bytes *to)
{
        put(to, 0, 4);
        put(to, 5, 2);
        put(to, 8, 2); /* of an address */
        put(to, 0, 4);
        /* no standard opcodes */
        put_bytes(to, (const uint8_t[]){1, 1, 1, (uint8_t)-5, 14, 1}, 6);
        for (unsigned name = 0; name < 2; name++) {
                /* DW_LNCT_path of DW_FORM_line_strp */
                put_bytes(to, (const uint8_t[]){1, 1, 0x1f, 1}, 4);
                put(to, name, 4);
        }
        set_length(to, 8);
        set_length(to, 0);
}

/* Texts of any length cost nothing: all but the last page is out of reach. */
TEST(does_not_look_for_the_ends_of_texts)
{
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        uint8_t *texts =
            mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct bytes bytes = {0};
        struct line_table table;
        uint64_t budget = 100000;

        assert_true(texts != MAP_FAILED);
        assert_ok(mprotect(texts + page, page, PROT_READ | PROT_WRITE));
        put_table_of_texts(&bytes);
        const struct line_sections sections = {
            .lines = {(const char *)bytes.items, bytes.count},
            .line_texts = {(const char *)texts, 2 * page}};

        assert_ok(line_table_read(&table, &sections, 0, &budget));
        assert_int_equal(table.files.count, 1);
        assert_ptr_equal(table.files.items[0].directory, texts);
        assert_ptr_equal(table.files.items[0].name, texts + 1);
        line_table_free(&table);
        texts[2 * page - 1] = 'a'; /* without an end */
        assert_ok(line_table_read(&table, &sections, 0, &budget));
        assert_null(table.files.items[0].name);
        line_table_free(&table);
        munmap(texts, 2 * page);
}

/* Sequences without end over all that is asked cost no more than the budget. */
TEST(stops_when_the_budget_is_spent)
{
        enum { ASKED = 1000 };
        static struct line_answer answers[ASKED];
        struct bytes bytes = {0};
        struct line_table table;
        uint64_t budget = 2000;

        begin_table(&bytes, 4, 1);
        for (int i = 0; i < 40; i++) {
                set_address(&bytes, 0x1000);
                put(&bytes, 1, 1);
                put(&bytes, 9, 1);
                put(&bytes, 0xffff, 2);
                put_bytes(&bytes, (const uint8_t[]){0, 1, 1}, 3);
        }
        set_length(&bytes, 0);
        for (int i = 0; i < ASKED; i++)
                answers[i].vaddr = 0x1000 + (uint64_t)i;
        const struct line_sections sections = {
            .lines = {(const char *)bytes.items, bytes.count}};

        assert_ok(line_table_read(&table, &sections, 0, &budget));
        assert_ok(line_program_run(&table, answers, ASKED, &budget));
        assert_int_equal(budget, 0);
        line_table_free(&table);
}
