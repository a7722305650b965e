/* SPDX-License-Identifier: MIT */
/* The text before a bracket distinguishes arguments from arrows and operators. A name
 * with unbalanced brackets stays unchanged. */
#include "short_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char left_out[] = "<...>";

static bool ends_with(const char *text, size_t length, const char *end)
{
        size_t bytes = strlen(end);
        return length >= bytes && memcmp(text + length - bytes, end, bytes) == 0;
}

/* The length of the operator at AT that contains angle characters but is no bracket:
 * "->", "operator<<"; 0: none. */
static size_t operator_at(const char *text, size_t at)
{
        size_t length = 0;
        if (text[at] == '-' && text[at + 1] == '>')
                return 2;
        if (!ends_with(text, at, "operator"))
                return 0;
        while (length < 3 && text[at + length] && strchr("<=>", text[at + length]))
                length++;
        /* "operator< <int>" has a space; nobody writes "operator<<int>". */
        return length;
}

/* A byte, or an operator of several bytes. */
struct token {
        size_t bytes;
        bool opens, closes; /* a bracket */
};

static struct token token_at(const char *text, size_t at)
{
        size_t skipped = operator_at(text, at);
        if (skipped)
                return (struct token){.bytes = skipped};
        return (struct token){
            .bytes = 1, .opens = text[at] == '<', .closes = text[at] == '>'};
}

/* The nesting depth of brackets in TEXT; 0: no brackets, or unbalanced. */
static size_t depth_of(const char *text, size_t length)
{
        size_t depth = 0, deepest = 0;
        for (size_t i = 0; i < length;) {
                struct token token = token_at(text, i);
                if (token.closes && depth-- == 0)
                        return 0;
                if (token.opens && ++depth > deepest)
                        deepest = depth;
                i += token.bytes;
        }
        return depth == 0 ? deepest : 0;
}

/* Adds the bytes saved by cutting brackets at depth d to SAVED[d]. OPENED has room for as
 * many elements. Brackets at the start of a name, as in Rust's methods, are no arguments:
 * inside them, cuts begin at depth 2. */
static void count_saved(const char *text, size_t length, size_t *saved, size_t *opened)
{
        bool begins = token_at(text, 0).opens;
        size_t depth = 0;
        for (size_t i = 0; i < length;) {
                struct token token = token_at(text, i);
                i += token.bytes;
                if (token.opens)
                        opened[++depth] = i - 1;
                if (!token.closes)
                        continue;
                size_t bytes = i - opened[depth];
                size_t gain = bytes > strlen(left_out) ? bytes - strlen(left_out) : 0;
                if (depth > 1 || !begins)
                        saved[depth] += gain;
                if (depth == 2 && begins)
                        saved[1] += gain;
                begins = --depth > 0 && begins;
        }
}

/* The greatest depth whose cut leaves at most MOST bytes, or else 1; 0 without memory. */
static size_t depth_for(const char *text, size_t length, size_t deepest, size_t most)
{
        size_t *saved = calloc(2 * (deepest + 1), sizeof(*saved)), depth = 0;
        if (saved) {
                count_saved(text, length, saved, saved + deepest + 1);
                depth = deepest;
        }
        while (depth > 1 && length - saved[depth] > most)
                depth--;
        free(saved);
        return depth;
}

/* Copies TEXT to INTO, and replaces brackets at DEPTH by a mark if that is shorter.
 * Returns the new length. */
static size_t leave_out(char *into, const char *text, size_t length, size_t depth)
{
        bool begins = token_at(text, 0).opens;
        size_t at_depth = 0, to = 0, opened = 0;
        for (size_t i = 0; i < length;) {
                struct token token = token_at(text, i);
                size_t cut = begins && depth == 1 ? 2 : depth;
                if (token.opens && ++at_depth == cut)
                        opened = to;
                memcpy(into + to, text + i, token.bytes);
                to += token.bytes;
                i += token.bytes;
                if (!token.closes)
                        continue;
                if (at_depth == cut && to - opened > strlen(left_out)) {
                        memcpy(into + opened, left_out, strlen(left_out));
                        to = opened + strlen(left_out);
                }
                begins = --at_depth > 0 && begins;
        }
        into[to] = '\0';
        return to;
}

static char *copy_of(const char *text, size_t length)
{
        char *copy = malloc(length + 1);
        if (!copy)
                return NULL;
        memcpy(copy, text, length);
        copy[length] = '\0';
        return copy;
}

/* Files of Rust's library are below "/rustc/", then the hash of the compiler's commit. */
static void cut_hashes(char *text, size_t *length)
{
        static const char before[] = "/rustc/", mark[] = "...";
        enum { HASH_MIN = 8 };
        char *end = text + *length;
        for (char *at = text;
             (at = memmem(at, (size_t)(end - at), before, strlen(before))) != NULL;) {
                at += strlen(before);
                size_t digits = strspn(at, "0123456789abcdef");
                if (digits < HASH_MIN || at[digits] != '/')
                        continue;
                memcpy(at, mark, strlen(mark));
                memmove(at + strlen(mark), at + digits, (size_t)(end - at) - digits + 1);
                end -= digits - strlen(mark);
        }
        *length = (size_t)(end - text);
}

char *short_name(const char *name, size_t *length, size_t most)
{
        char *text = copy_of(name, *length);
        if (text && *length > most)
                cut_hashes(text, length);
        size_t deepest = text && *length > most ? depth_of(text, *length) : 0;
        if (deepest == 0)
                return text;
        size_t depth = depth_for(text, *length, deepest, most);
        char *shorter = depth > 0 ? malloc(*length + 1) : NULL;
        if (shorter)
                *length = leave_out(shorter, text, *length, depth);
        free(text);
        return shorter;
}

/* ---- names that differ in the cut parts ---- */

struct part {
        const char *text;
        size_t length;
};

/* The text inside the balanced brackets that open at AT in OF. */
static struct part inside(struct part of, size_t at)
{
        size_t depth = 0, i = at;
        do {
                struct token token = token_at(of.text, i);
                depth += token.opens;
                depth -= token.closes;
                i += token.bytes;
        } while (depth > 0);
        return (struct part){of.text + at + 1, i - at - 2};
}

static bool same(struct part a, struct part b)
{
        return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* Whether A and B differ in brackets only. */
static bool same_outside(struct part a, struct part b)
{
        size_t i = 0, j = 0;
        while (i < a.length && j < b.length) {
                struct token token = token_at(a.text, i), other = token_at(b.text, j);
                if (token.opens != other.opens || token.bytes != other.bytes ||
                    memcmp(a.text + i, b.text + j, token.bytes) != 0)
                        return false;
                i += token.opens ? inside(a, i).length + 2 : token.bytes;
                j += token.opens ? inside(b, j).length + 2 : token.bytes;
        }
        return i == a.length && j == b.length;
}

/* Deeper than real names nest. */
enum { UNLIKE_DEPTH = 50 };

/* Appends A at TO. Brackets at the start of the whole name are no arguments. */
static char *put_unlike(char *to, struct part a, struct part b, int depth)
{
        bool comparable = depth < UNLIKE_DEPTH && same_outside(a, b);
        for (size_t i = 0, j = 0; i < a.length;) {
                struct token token = token_at(a.text, i);
                if (!token.opens) {
                        to = mempcpy(to, a.text + i, token.bytes);
                        i += token.bytes;
                        j += token.bytes;
                        continue;
                }
                struct part own = inside(a, i);
                struct part others = comparable ? inside(b, j) : own;
                if (own.length + 2 <= strlen(left_out)) {
                        to = mempcpy(to, a.text + i, own.length + 2);
                } else if (same(own, others) && (i > 0 || depth > 0)) {
                        to = mempcpy(to, left_out, strlen(left_out));
                } else {
                        *to++ = '<';
                        to = put_unlike(to, own, others, depth + 1);
                        *to++ = '>';
                }
                i += own.length + 2;
                j += others.length + 2;
        }
        return to;
}

char *short_name_unlike(const char *name, size_t *length, const char *other,
                        size_t other_length)
{
        char *text = copy_of(name, *length), *beside = copy_of(other, other_length);
        char *shorter = text && beside ? malloc(*length + 1) : NULL;
        if (shorter && depth_of(text, *length) > 0 && depth_of(beside, other_length) > 0)
                *length = (size_t)(put_unlike(shorter, (struct part){text, *length},
                                              (struct part){beside, other_length}, 0) -
                                   shorter);
        else if (shorter)
                memcpy(shorter, name, *length);
        if (shorter)
                shorter[*length] = '\0';
        free(text);
        free(beside);
        return shorter;
}
