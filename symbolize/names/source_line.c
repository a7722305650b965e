/* SPDX-License-Identifier: MIT */
/* Names are taken as they stand there, of comments and strings, too: more names mean no
 * more than that less is said. */
#include "source_line.h"

#include <ctype.h>
#include <string.h>

#include "source_expression.h"

enum { STATEMENT_BYTES_LIMIT = 4096 };

static bool in_name(char c)
{
        return isalnum((unsigned char)c) || c == '_';
}

static bool is_link(const char *line, size_t length, size_t at)
{
        return line[at] == '.' ||
               (line[at] == '-' && at + 1 < length && line[at + 1] == '>');
}

static size_t name_end(const char *text, size_t length, size_t at)
{
        while (at < length && in_name(text[at]))
                at++;
        return at;
}

/* Whether NAME, of LENGTH bytes, has brackets or a '*' behind it without being called or
 * multiplied. */
static bool is_keyword(const char *name, size_t length)
{
        static const char *const words[] = {"if",     "for",    "while",  "switch",
                                            "return", "sizeof", "case",   "and",
                                            "or",     "not",    "struct", "union"};

        for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
                if (strlen(words[i]) == length && memcmp(words[i], name, length) == 0)
                        return true;
        return false;
}

static size_t skip_blanks(const char *line, size_t length, size_t at)
{
        while (at < length && (line[at] == ' ' || line[at] == '\t'))
                at++;
        return at;
}

/* Where what blanks before AT follow ends. */
static size_t end_before(const char *line, size_t at)
{
        while (at > 0 && (line[at - 1] == ' ' || line[at - 1] == '\t'))
                at--;
        return at;
}

static size_t name_begin(const char *line, size_t end)
{
        while (end > 0 && in_name(line[end - 1]))
                end--;
        return end;
}

/* Whether the '*' at AT reads what a pointer is to: it multiplies behind a name or a
 * bracket, and ends the name of a type before a bracket. */
static bool reads_pointer(const char *line, size_t length, size_t at)
{
        size_t before = end_before(line, at), behind = skip_blanks(line, length, at + 1);

        if (behind < length && (line[behind] == ')' || line[behind] == '*'))
                return false;
        if (before == 0)
                return true;
        if (in_name(line[before - 1])) {
                size_t begin = name_begin(line, before);

                return is_keyword(line + begin, before - begin);
        }
        return line[before - 1] != ')' && line[before - 1] != ']';
}

/* Whether the '[' at AT is behind a variable, of which an item is meant, not a member of
 * that. */
static bool reads_item(const char *line, size_t length, size_t at)
{
        size_t begin = end_before(line, name_begin(line, end_before(line, at)));
        unsigned depth = 0;

        if (begin > 0 && (line[begin - 1] == '.' || line[begin - 1] == '>'))
                return false;
        for (; at < length; at++) {
                depth += line[at] == '[';
                if (line[at] == ']' && --depth == 0)
                        break;
        }
        at = skip_blanks(line, length, at + 1);
        return at >= length || !is_link(line, length, at);
}

/* Whether the name from BEGIN up to END is called. */
static bool is_called(const char *line, size_t length, size_t begin, size_t end)
{
        size_t behind = skip_blanks(line, length, end);

        return behind < length && line[behind] == '(' &&
               !is_keyword(line + begin, end - begin);
}

/* Whether LINE may read a member that it does not name: what is called may be a macro,
 * and a pointer, or an array, to a member. */
static bool has_others(const char *line, size_t length)
{
        for (size_t at = 0, end; at < length; at = end) {
                end = name_end(line, length, at);
                if (end > at && is_called(line, length, at, end))
                        return true;
                if (end == at) {
                        if ((line[at] == '*' && reads_pointer(line, length, at)) ||
                            (line[at] == '[' && reads_item(line, length, at)))
                                return true;
                        end++;
                }
        }
        return false;
}

bool source_line_at_member(const char *line, size_t length, size_t column)
{
        size_t at = column - 1;

        if (column == 0 || column > length)
                return false;
        if (is_link(line, length, at))
                return true;
        if (!in_name(line[at]) || at == 0 || in_name(line[at - 1]))
                return false;
        at = end_before(line, at);
        return at > 0 && (line[at - 1] == '.' ||
                          (line[at - 1] == '>' && at > 1 && line[at - 2] == '-'));
}

bool source_line_members(const char *line, size_t length, char *text, size_t size)
{
        size_t used = 0;

        if (has_others(line, length))
                return false;
        for (size_t at = 0; at < length; at++) {
                if (!is_link(line, length, at))
                        continue;
                if (used + 1 >= size)
                        return false;
                if (source_expression(line, length, at + 1, text + used + 1,
                                      size - used - 1) != SOURCE_MEMBERS)
                        continue;
                text[used] = ' ';
                used += strlen(text + used);
        }
        return used > 0;
}

bool source_line_names(const char *source, size_t length, char *text, size_t size)
{
        size_t used = 0;

        for (size_t at = 0, end; at < length; at = end) {
                end = name_end(source, length, at);
                if (end == at) {
                        end++;
                        continue;
                }
                if (used + 2 + (end - at) >= size)
                        return false;
                text[used++] = ' ';
                memcpy(text + used, source + at, end - at);
                used += end - at;
        }
        text[used] = ' ';
        text[used + 1] = '\0';
        return used > 0;
}

static bool ends_statement(char c)
{
        return c == ';' || c == '{' || c == '}';
}

void source_line_statement(const char *source, size_t length, size_t begin, size_t end,
                           size_t *from, size_t *to)
{
        size_t last = end;

        *from = begin;
        while (*from > 0 && begin - *from < STATEMENT_BYTES_LIMIT &&
               !ends_statement(source[*from - 1]))
                --*from;
        while (last > begin && isspace((unsigned char)source[last - 1]))
                last--;
        *to = end;
        if (last > begin && ends_statement(source[last - 1]))
                return;
        while (*to < length && *to - end < STATEMENT_BYTES_LIMIT &&
               !ends_statement(source[*to]))
                ++*to;
}
