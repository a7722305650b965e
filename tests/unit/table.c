/* SPDX-License-Identifier: MIT */
/* Tables for people: the first thousand rows decide the widths. */
#include "render.h"
#include "unit_test.h"

enum { FIRST_ROWS = 1000 };

static struct cell text_cell(const char *text)
{
        return (struct cell){.type = CELL_TEXT, .bytes = text, .length = strlen(text)};
}

/* Asserts how column NAME, whose first rows have FIRST, shows LATER behind them. */
static void check(const char *name, const char *first, const char *later,
                  const char *expected)
{
        const char *names[] = {name, "next"};
        struct cell cells[] = {text_cell(first), text_cell("end")};
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);
        struct render *render = render_begin(FORMAT_TABLE, out, names, 2, 80);
        for (int i = 0; i < FIRST_ROWS; i++)
                assert_ok(render_row(render, cells));
        cells[0] = text_cell(later);
        assert_ok(render_row(render, cells));
        render_end(render);
        fclose(out);
        text[bytes - 1] = '\0';
        assert_string_equal(strrchr(text, '\n') + 1, expected);
        free(text);
}

TEST(later_texts_are_cut_in_wide_columns)
{
        check("column", "", "a longer text", "a ...t  end");
        check("abc", "", "a longer text", "...  end");
        /* No room for a mark of the cut. */
        check("ab", "", "abc", "abc  end");
        check("a", "x", "a text of many bytes", "a text of many bytes  end");
}

/* Returns the line number LINE of TEXT, which it changes. */
static const char *line_of(char *text, int line)
{
        char *found = strtok(text, "\n");
        while (line-- > 0)
                found = strtok(NULL, "\n");
        return found;
}

/* Asserts line number LINE of a table of one column with the COUNT NAMES. */
static void check_names(const char *const *names, size_t count, int line,
                        const char *expected)
{
        const char *column = "name";
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);
        struct render *render = render_begin(FORMAT_TABLE, out, &column, 1, 0);
        render_shorten_names(render);
        for (size_t i = 0; i < count; i++) {
                struct cell cell = text_cell(names[i]);
                assert_int_equal(render_row(render, &cell), 0);
        }
        render_end(render);
        fclose(out);
        assert_string_equal(line_of(text, line), expected);
        free(text);
}

#define LONG_TYPE "a_type_with_a_name_of_many_characters_that_fills_most_of_a_line"

TEST(long_names_lose_template_arguments)
{
        const char *const names[] = {"f<int>", "g<" LONG_TYPE ">::h"};
        check_names(names, 2, 1, "f<int>");
        check_names(names, 2, 2, "g<...>::h");
}

TEST(different_names_stay_different)
{
        const char *const names[] = {"g<" LONG_TYPE ">::h<" LONG_TYPE "_one>",
                                     "g<" LONG_TYPE ">::h<" LONG_TYPE "_two>",
                                     "g<" LONG_TYPE ">::h<" LONG_TYPE "_one>"};
        check_names(names, 3, 1, "g<...>::h<" LONG_TYPE "_one>");
        check_names(names, 3, 2, "g<...>::h<" LONG_TYPE "_two>");
        check_names(names, 3, 3, "g<...>::h<" LONG_TYPE "_one>");
}
