/* SPDX-License-Identifier: MIT */
/* The Itanium C++ ABI, 5.1. Only the ends of groups are looked for: a group begins with
 * one of a few capital letters, and ends with E. */
#include "mangled_name.h"

#include <string.h>

enum { DEPTH_LIMIT = 64 };

struct text {
        const char *at;
        const char *end;
};

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_small(char c)
{
        return c >= 'a' && c <= 'z';
}

static char peek(const struct text *text)
{
        return text->at < text->end ? *text->at : '\0';
}

static bool take(struct text *text, char c)
{
        bool there = peek(text) == c;

        text->at += there;
        return there;
}

static bool skip_characters(struct text *text, size_t count)
{
        if (count > (size_t)(text->end - text->at))
                return false;
        text->at += count;
        return true;
}

static void skip_all(struct text *text, const char *characters)
{
        while (peek(text) && strchr(characters, peek(text)))
                text->at++;
}

/* "_", "0_", "1A_". */
static bool skip_number(struct text *text)
{
        skip_all(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        return take(text, '_');
}

static bool skip_identifier(struct text *text)
{
        size_t length = 0;

        if (!is_digit(peek(text)) || peek(text) == '0')
                return false;
        for (; is_digit(peek(text)); text->at++) {
                length = 10 * length + (size_t)(*text->at - '0');
                if (length > (size_t)(text->end - text->at))
                        return false;
        }
        return skip_characters(text, length);
}

/* ---- groups ---- */

enum group {
        GROUP_SCOPES = 'N',
        GROUP_TYPES = 'F', /* or what a local name is in */
        GROUP_ARGUMENTS = 'I',
        GROUP_LITERAL = 'L',
        GROUP_LAMBDA = 'U'
};

struct groups {
        char open[DEPTH_LIMIT];
        size_t depth;
};

static bool open_group(struct groups *groups, enum group group)
{
        if (groups->depth >= DEPTH_LIMIT)
                return false;
        groups->open[groups->depth++] = (char)group;
        return true;
}

/* Behind an L: a template's argument that is a number or an address, with its type;
 * before a name it only says that one file knows that. */
static bool open_literal(struct text *text, struct groups *groups)
{
        if (groups->open[groups->depth - 1] != GROUP_ARGUMENTS)
                return true;
        if (take(text, '_'))
                return take(text, 'Z') && open_group(groups, GROUP_TYPES);
        if (!open_group(groups, GROUP_LITERAL))
                return false;
        if (is_digit(peek(text)))
                return skip_identifier(text);
        return take(text, 'N') ? open_group(groups, GROUP_SCOPES)
                               : skip_characters(text, 1);
}

/* The value of a literal, in decimal or hexadecimal digits. */
static void skip_value(struct text *text, const struct groups *groups)
{
        if (groups->depth > 0 && groups->open[groups->depth - 1] == GROUP_LITERAL)
                skip_all(text, "n0123456789abcdef");
}

static bool close_group(struct text *text, struct groups *groups)
{
        return groups->open[--groups->depth] != GROUP_LAMBDA || skip_number(text);
}

/* Skips the second letter of an operator that begins with C, and of a conversion the
 * letters of the type. */
static bool skip_operator(struct text *text, char c)
{
        char second = peek(text);

        if (!skip_characters(text, 1))
                return false;
        if (c == 'c' && second == 'v') {
                skip_all(text, "PROKVrG");
                text->at += is_small(peek(text));
        }
        return true;
}

/* Skips a token that is no identifier. Types of small letters have one letter, operators,
 * which stand among scopes, have two. */
static bool skip_token(struct text *text, struct groups *groups)
{
        char c = *text->at++;

        switch (c) {
        case 'E':
                return close_group(text, groups);
        case 'N':
                return open_group(groups, GROUP_SCOPES);
        case 'F':
        case 'Z':
                return open_group(groups, GROUP_TYPES);
        case 'I':
        case 'J':
                return open_group(groups, GROUP_ARGUMENTS);
        case 'L':
                return open_literal(text, groups);
        case 'X': /* of expressions only an address */
                return take(text, 'a') && take(text, 'd') &&
                       open_group(groups, GROUP_TYPES);
        case 'U': /* a lambda or another type without a name */
                if (take(text, 'l'))
                        return open_group(groups, GROUP_LAMBDA);
                return !take(text, 't') || skip_number(text);
        case 'S':
                return is_small(peek(text)) ? skip_characters(text, 1)
                                            : skip_number(text);
        case 'T':
        case 'A':
                return skip_number(text);
        case 'C': /* a constructor, or before a type: complex */
                text->at += peek(text) >= '1' && peek(text) <= '5';
                return true;
        case 'D': /* a destructor, or a type: not of an expression, nor a vector */
                return peek(text) && strchr("pnacisufdehoO0125", peek(text)) &&
                       skip_characters(text, 1);
        case '_': /* before the number of a name local to a function */
                skip_all(text, "0123456789");
                return true;
        default:
                if (is_small(c) && groups->open[groups->depth - 1] == GROUP_SCOPES)
                        return skip_operator(text, c);
                return is_small(c) || strchr("PROKVGMB", c);
        }
}

/* Skips the tokens of a group, up to behind its E. *LAST: where the last item on the
 * group's own level begins. UNTIL: stops before an item there that begins at that place;
 * NULL: none does. */
static bool skip_group(struct text *text, enum group group, const char *until,
                       const char **last)
{
        struct groups groups = {.open = {(char)group}, .depth = 1};

        *last = text->at;
        while (groups.depth > 0 && text->at < text->end) {
                if (groups.depth == 1 && text->at == until)
                        return true;
                if (groups.depth == 1 && *text->at != 'E')
                        *last = text->at;
                if (!(is_digit(*text->at) ? skip_identifier(text)
                                          : skip_token(text, &groups)))
                        return false;
                skip_value(text, &groups);
        }
        return groups.depth == 0 && !until;
}

static bool skip_to_end(struct text *text, enum group group)
{
        const char *last;

        return skip_group(text, group, NULL, &last);
}

/* ---- names ---- */

/* The discriminator of names local to a function. */
static void skip_discriminator(struct text *text)
{
        if (!take(text, '_'))
                return;
        if (take(text, '_'))
                skip_number(text);
        else if (is_digit(peek(text)))
                text->at++;
}

/* Scopes and the name behind N and the qualifiers, up to behind the E. Constructors of
 * one class with the same parameters are one to who reads, and so are destructors: their
 * number is left out. */
static bool take_nested(struct text *text, struct mangled *parts)
{
        const char *last;

        parts->scoped = text->at;
        if (!skip_group(text, GROUP_SCOPES, NULL, &last))
                return false;
        const char *end = text->at - 1;

        if ((*last == 'C' || *last == 'D') && end - last == 2 && is_digit(last[1]))
                end--;
        parts->scoped_length = (size_t)(end - parts->scoped);
        return parts->scoped_length > 0;
}

/* Allocation functions share a label for all parameters. */
static bool of_memory(const char *operator_name)
{
        return strncmp(operator_name, "nw", 2) == 0 ||
               strncmp(operator_name, "na", 2) == 0 ||
               strncmp(operator_name, "dl", 2) == 0 ||
               strncmp(operator_name, "da", 2) == 0;
}

/* A name in no scope, or in std. */
static bool take_unscoped(struct text *text, struct mangled *parts)
{
        parts->scoped = text->at;
        if (text->end - text->at > 2 && strncmp(text->at, "St", 2) == 0)
                text->at += 2;
        else if (take(text, 'L'))
                parts->scoped++;
        if (is_digit(peek(text))) {
                if (!skip_identifier(text))
                        return false;
        } else if (is_small(peek(text))) { /* an operator */
                if (of_memory(text->at) || !skip_characters(text, 2))
                        return false;
        } else {
                return false;
        }
        while (take(text, 'B'))
                if (!skip_identifier(text))
                        return false;
        if (take(text, 'I') && !skip_to_end(text, GROUP_ARGUMENTS))
                return false;
        parts->scoped_length = (size_t)(text->at - parts->scoped);
        return true;
}

static bool take_name(struct text *text, struct mangled *parts)
{
        if (!take(text, 'N'))
                return take_unscoped(text, parts);
        parts->qualifiers = text->at;
        skip_all(text, "rVKRO");
        parts->qualifiers_length = (size_t)(text->at - parts->qualifiers);
        return take_nested(text, parts);
}

bool mangled_take_apart(const char *link, size_t length, struct mangled *parts)
{
        struct text text = {.at = link, .end = link + length};

        *parts = (struct mangled){.around = link, .qualifiers = link};
        if (!take(&text, '_') || !take(&text, 'Z'))
                return false;
        parts->around = text.at;
        if (take(&text, 'Z')) {
                if (!skip_to_end(&text, GROUP_TYPES))
                        return false;
                parts->around_length = (size_t)(text.at - parts->around);
        }
        if (!take_name(&text, parts))
                return false;
        if (parts->around_length > 0)
                skip_discriminator(&text);
        parts->parameters = text.at;
        parts->parameters_length = (size_t)(text.end - text.at);
        return parts->parameters_length > 0;
}

/* Whether the item of NAME's scopes that begins at AT is a constructor or destructor. */
static bool is_constructor_at(const char *name, size_t at)
{
        struct text text = {.at = name, .end = name + strlen(name)};
        const char *last;

        if (!take(&text, '_') || !take(&text, 'Z') ||
            (take(&text, 'Z') && !skip_to_end(&text, GROUP_TYPES)) || !take(&text, 'N'))
                return false;
        skip_all(&text, "rVKRO");
        return skip_group(&text, GROUP_SCOPES, name + at, &last) &&
               (peek(&text) == 'C' || peek(&text) == 'D');
}

bool mangled_same_constructor(const char *a, const char *b)
{
        size_t at = 0;

        while (a[at] && a[at] == b[at])
                at++;
        return at > 0 && is_digit(a[at]) && is_digit(b[at]) &&
               strcmp(a + at + 1, b + at + 1) == 0 && is_constructor_at(a, at - 1);
}
