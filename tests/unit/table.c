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
