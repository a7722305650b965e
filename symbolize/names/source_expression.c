/* SPDX-License-Identifier: MIT */
/* Reads the line in both directions from the column, name by name. */
#include "source_expression.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { MEMBERS_LIMIT = 16 };

struct line {
        const char *text;
        size_t length;
};

struct name {
        size_t begin, end;
        char link; /* '.', or '>' for "->"; ':': an expression begins; 0: no member */
};

/* The text that is written. */
struct output {
        char *text;
        size_t size;
        size_t used;
};

static char at(const struct line *line, size_t index)
{
        return index < line->length ? line->text[index] : '\0';
}

static bool in_name(char c)
{
        return isalnum((unsigned char)c) || c == '_';
}

static size_t skip_blanks(const struct line *line, size_t index)
{
        while (at(line, index) == ' ' || at(line, index) == '\t')
                index++;
        return index;
}

/* The end of the last character before END that is not a blank. */
static size_t end_before(const struct line *line, size_t end)
{
        while (end > 0 && (at(line, end - 1) == ' ' || at(line, end - 1) == '\t'))
                end--;
        return end;
}

/* Whether a '.' or "->" is at INDEX. *LINK becomes its kind, *END its end. */
static bool link_at(const struct line *line, size_t index, char *link, size_t *end)
{
        bool arrow = at(line, index) == '-' && at(line, index + 1) == '>';

        if (!arrow && at(line, index) != '.')
                return false;
        *link = arrow ? '>' : '.';
        *end = index + 1 + arrow;
        return true;
}

/* The same for a link that ends at END; *BEGIN becomes its start. */
static bool link_before(const struct line *line, size_t end, char *link, size_t *begin)
{
        bool arrow = end > 1 && at(line, end - 1) == '>' && at(line, end - 2) == '-';

        if (end == 0 || (!arrow && at(line, end - 1) != '.'))
                return false;
        *link = arrow ? '>' : '.';
        *begin = end - 1 - arrow;
        return true;
}

static bool name_at(const struct line *line, size_t begin, struct name *name)
{
        size_t end = begin;

        while (in_name(at(line, end)))
                end++;
        *name = (struct name){.begin = begin, .end = end};
        return end > begin && !isdigit((unsigned char)at(line, begin));
}

/* The name that ends at END. */
static bool name_before(const struct line *line, size_t end, struct name *name)
{
        size_t begin = end;

        while (begin > 0 && in_name(at(line, begin - 1)))
                begin--;
        return name_at(line, begin, name) && name->end == end;
}

/* The start of the bracket that ends at END; END if there is none. */
static size_t bracket_begin(const struct line *line, size_t end)
{
        unsigned depth = 0;

        for (size_t i = end; i > 0; i--) {
                char c = at(line, i - 1);

                depth += c == ']' || c == ')';
                if ((c == '[' || c == '(') && --depth == 0)
                        return i - 1;
                if (depth == 0)
                        break;
        }
        return end;
}

static size_t bracket_end(const struct line *line, size_t begin)
{
        unsigned depth = 0;

        for (size_t i = begin; i < line->length; i++) {
                char c = at(line, i);

                depth += c == '[' || c == '(';
                if ((c == ']' || c == ')') && --depth == 0)
                        return i + 1;
                if (depth == 0)
                        break;
        }
        return begin;
}

/* Sets NAME's link, the operator before a member; *BEGIN is the link's start. */
static bool find_link(const struct line *line, struct name *name, size_t *begin)
{
        return link_before(line, end_before(line, name->begin), &name->link, begin);
}

/* The name before BEGIN, the start of a link or operator: "a" in a[i].b. */
static bool name_of_before(const struct line *line, size_t begin, struct name *name)
{
        size_t end = end_before(line, begin);

        while (end > 0 && at(line, end - 1) == ']') {
                size_t bracket = bracket_begin(line, end);

                if (bracket == end)
                        return false;
                end = end_before(line, bracket);
        }
        return name_before(line, end, name);
}

/* The same for a member; *LINK is then its link. */
static bool member_before(const struct line *line, size_t begin, struct name *name,
                          size_t *link)
{
        return name_of_before(line, begin, name) && find_link(line, name, link);
}

/* The member behind END: "b" in a[i].b. */
static bool member_behind(const struct line *line, size_t end, struct name *name)
{
        char link;

        end = skip_blanks(line, end);
        while (at(line, end) == '[') {
                size_t behind = bracket_end(line, end);

                if (behind == end)
                        return false;
                end = skip_blanks(line, behind);
        }
        if (!link_at(line, end, &link, &end) ||
            !name_at(line, skip_blanks(line, end), name))
                return false;
        name->link = link;
        return at(line, skip_blanks(line, name->end)) != '('; /* it is called */
}

/* The last member of the expression that begins at INDEX; *BEGIN: its link. */
static bool last_behind(const struct line *line, size_t index, struct name *name,
                        size_t *begin)
{
        bool found = false;

        if (!name_at(line, index, name))
                return false;
        for (struct name next = *name; member_behind(line, next.end, &next); found = true)
                *name = next;
        return found && find_link(line, name, begin);
}

/* Whether a '[' or a link follows the member that ends at END. The member is then an
 * indexed array or the object of a call, and clang's column is the beginning of the
 * expression. In other expressions the column belongs to the load of the first
 * variable. */
static bool leads_on(const struct line *line, size_t end)
{
        char link;

        end = skip_blanks(line, end);
        return at(line, end) == '[' || link_at(line, end, &link, &end);
}

/* The last member of the expression that INDEX stands for; *BEGIN: its link. */
static bool last_member(const struct line *line, size_t index, struct name *name,
                        size_t *begin)
{
        size_t end;

        if (at(line, index) == '[')
                return member_before(line, index, name, begin);
        if (link_at(line, index, &name->link, &end)) {
                char link = name->link;

                *begin = index;
                if (!name_at(line, skip_blanks(line, end), name))
                        return false;
                name->link = link;
                return true;
        }
        if ((index > 0 && in_name(at(line, index - 1))) || !name_at(line, index, name))
                return false;
        return find_link(line, name, begin) ||
               (last_behind(line, index, name, begin) && leads_on(line, name->end));
}

/* The type of the cast before BEGIN: "b" in ((const struct b *)p)->. */
static bool cast_before(const struct line *line, size_t begin, struct name *name)
{
        size_t end = end_before(line, begin), inner, behind;

        if (end == 0 || at(line, end - 1) != ')')
                return false;
        inner = bracket_begin(line, end);
        if (inner == end)
                return false;
        inner = skip_blanks(line, inner + 1);
        if (at(line, inner) != '(')
                return false;
        behind = bracket_end(line, inner);
        if (behind == inner || at(line, skip_blanks(line, behind)) == ')')
                return false;
        end = end_before(line, behind - 1);
        if (end == 0 || at(line, end - 1) != '*')
                return false;
        return name_before(line, end_before(line, end - 1), name);
}

static bool add_name(const struct line *line, struct name name, struct output *out)
{
        size_t bytes = name.end - name.begin;

        if (out->used + 1 + bytes >= out->size)
                return false;
        out->text[out->used++] = name.link;
        memcpy(out->text + out->used, line->text + name.begin, bytes);
        out->used += bytes;
        out->text[out->used] = '\0';
        return true;
}

/* Adds the members of the expression that ends with LAST. LAST's link begins at BEGIN.
 * The first name of the expression is not a member. */
static bool add_members(const struct line *line, struct name last, size_t begin,
                        struct output *out)
{
        struct name members[MEMBERS_LIMIT + 1] = {last};
        size_t count = 1;

        while (count < MEMBERS_LIMIT &&
               member_before(line, begin, &members[count], &begin))
                count++;
        if (name_of_before(line, begin, &members[count]))
                members[count++].link = ':';
        else if (cast_before(line, begin, &members[count]))
                members[count++].link = '(';
        while (count-- > 0)
                if (!add_name(line, members[count], out))
                        return false;
        return true;
}

static bool is_operator(char c)
{
        return c && strchr("+-*/%<>=!&|^", c);
}

/* Whether the operator at INDEX compares. Compilers keep a comparison's operands
 * together, but reorder the operands of sums. */
static bool compares(const struct line *line, size_t index)
{
        char c = at(line, index), next = at(line, index + 1);

        return ((c == '<' || c == '>') && next != c) ||
               ((c == '=' || c == '!') && next == '=');
}

/* Adds one side of an operator: the members of an expression, and notes *FOUND; or the
 * plain name. */
static bool add_side(const struct line *line, struct name name, bool members,
                     size_t begin, struct output *out, bool *found)
{
        *found |= members;
        if (members)
                return add_members(line, name, begin, out);
        name.link = ':';
        return add_name(line, name, out);
}

/* Adds the operands on both sides of the operator at INDEX. */
static bool operands(const struct line *line, size_t index, struct output *out)
{
        size_t begin = 0, behind = index;
        struct name name;
        bool found = false;

        while (is_operator(at(line, behind)))
                behind++;
        behind = skip_blanks(line, behind);
        if (name_of_before(line, index, &name)) {
                bool members = find_link(line, &name, &begin);

                if (!add_side(line, name, members, begin, out, &found) ||
                    out->used + 1 >= out->size)
                        return false;
                out->text[out->used++] = ' ';
                out->text[out->used] = '\0';
        }
        if (name_at(line, behind, &name)) {
                bool members = last_behind(line, behind, &name, &begin);

                if (!add_side(line, name, members, begin, out, &found))
                        return false;
        }
        return found;
}

enum source_expression source_expression(const char *line, size_t length, size_t column,
                                         char *text, size_t size)
{
        const struct line whole = {line, length};
        struct name name;
        struct output out = {text, size, 0};
        size_t begin;

        if (column == 0 || column > length)
                return SOURCE_NO_MEMBERS;
        if (last_member(&whole, column - 1, &name, &begin))
                return add_members(&whole, name, begin, &out) ? SOURCE_MEMBERS
                                                              : SOURCE_NO_MEMBERS;
        if (!is_operator(line[column - 1]) || !operands(&whole, column - 1, &out))
                return SOURCE_NO_MEMBERS;
        return compares(&whole, column - 1) ? SOURCE_MEMBERS : SOURCE_OPERANDS;
}
