/* SPDX-License-Identifier: MIT */
/* Parses names from their end. A name may be followed by its file, "(a.c:7)" after a
 * space, by parameters with qualifiers of a member function, and by template arguments in
 * "<>". */
#include "function_pattern.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* After a name: its file, parameters, arguments. */
enum { PARTS_MOST = 3 };

/* ---- parts of a name ---- */

/* Returns the end of the operator name that begins at AT in TEXT, or AT if none begins
 * there. */
static size_t after_operator(const char *text, size_t at)
{
        static const char word[] = "operator";
        size_t end = at + strlen(word);

        if (strncmp(text + at, word, strlen(word)) != 0 ||
            (at > 0 && (isalnum((unsigned char)text[at - 1]) || text[at - 1] == '_')))
                return at;
        if (strncmp(text + end, "()", 2) == 0 || strncmp(text + end, "[]", 2) == 0)
                return end + 2;
        return end + strspn(text + end, "<>=!-+*/%^&|~,");
}

/* Finds the bracket OPENED whose partner CLOSED is the last of TEXT's LENGTH bytes.
 * Returns LENGTH if there is no such bracket, or if it belongs to an operator. */
static size_t opening(const char *text, size_t length, char opened, char closed)
{
        size_t last = length, depth = 0;

        for (size_t at = 0; at < length;) {
                size_t end = after_operator(text, at);

                if (end > at) {
                        at = end;
                        continue;
                }
                if (text[at] == opened && depth++ == 0)
                        last = at;
                if (text[at] == closed && depth > 0 && --depth == 0 && at + 1 == length)
                        return last;
                at++;
        }
        return length;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
        return length >= strlen(end) &&
               strncmp(text + length - strlen(end), end, strlen(end)) == 0;
}

/* Removes the last part after the name from TEXT; each call removes one part. */
static bool strip(char *text)
{
        static const char *const qualifiers[] = {" const", " volatile", " &", " &&"};
        size_t length = strlen(text), begin;

        for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++)
                if (ends_with(text, length, qualifiers[i]) && strchr(text, ')')) {
                        length -= strlen(qualifiers[i]);
                        i = (size_t)-1;
                }
        begin = length;
        if (ends_with(text, length, ")"))
                begin = opening(text, length, '(', ')');
        else if (ends_with(text, length, ">"))
                begin = opening(text, length, '<', '>');
        if (begin == length || begin == 0)
                return false;
        begin -= text[begin - 1] == ' ';
        text[begin] = '\0';
        return begin > 0;
}

/* Tags that the compiler or c++filt adds in brackets: an ABI, for functions that return a
 * std::string, and an outlined part of a function. */
static const char *const tags[] = {"[abi:", " [clone "};

/* Removes tags from TEXT that PATTERN does not contain. */
static void strip_tags(char *text, const char *pattern)
{
        for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
                bool left = !strstr(pattern, tags[i]);
                char *to = text;

                for (const char *at = text; *at;) {
                        bool begins = left && strncmp(at, tags[i], strlen(tags[i])) == 0;
                        const char *end = begins ? strchr(at, ']') : NULL;

                        left = left && (!begins || end);
                        if (end)
                                at = end + 1;
                        else
                                *to++ = *at++;
                }
                *to = '\0';
        }
}

/* Removes all template arguments from TEXT. */
static void strip_arguments(char *text)
{
        size_t depth = 0, length = 0;

        for (size_t at = 0; text[at];) {
                size_t end = after_operator(text, at);

                do {
                        depth += end <= at && text[at] == '<';
                        if (depth == 0)
                                text[length++] = text[at];
                        depth -= end <= at && depth > 0 && text[at] == '>';
                        at++;
                } while (at < end);
        }
        text[length] = '\0';
}

/* The part of TEXT after its first scope; NULL: no scope. */
static const char *behind_scope(const char *text)
{
        size_t depth = 0;

        for (size_t at = 0; text[at];) {
                size_t end = after_operator(text, at);

                if (end > at) {
                        at = end;
                        continue;
                }
                if (depth == 0 && strncmp(text + at, "::", 2) == 0)
                        return text + at + 2;
                depth += strchr("(<{", text[at]) != NULL;
                depth -= depth > 0 && strchr(")>}", text[at]) != NULL;
                at++;
        }
        return NULL;
}

/* ---- patterns ---- */

/* PATTERN in the syntax of SQLite's GLOB. The caller frees it; NULL without memory. */
static char *glob_of(const char *pattern)
{
        char *glob = malloc(3 * strlen(pattern) + 1), *to = glob;

        for (const char *at = pattern; glob && *at;) {
                if (strncmp(at, "<...>", 5) == 0) {
                        to = stpcpy(to, "<*>");
                        at += 5;
                } else if (strncmp(at, "[]", 2) == 0) {
                        to = stpcpy(to, "[[]]");
                        at += 2;
                } else if (strncmp(at, "[abi:", 5) == 0 ||
                           strncmp(at, "[clone ", 7) == 0) {
                        to = stpcpy(to, "[[]");
                        at++;
                } else {
                        *to++ = *at++;
                }
        }
        if (glob)
                *to = '\0';
        return glob;
}

static bool matches_in_scopes(const char *glob, const char *text, bool any_scope)
{
        for (; text; text = any_scope ? behind_scope(text) : NULL)
                if (sqlite3_strglob(glob, text) == 0)
                        return true;
        return false;
}

bool function_pattern_matches(const char *pattern, const char *name)
{
        bool any_scope = !strpbrk(pattern, "*?"), matches = false;
        char *glob = glob_of(pattern), *text = strdup(name);

        if (glob && text) {
                matches = matches_in_scopes(glob, text, any_scope);
                strip_tags(text, pattern);
                matches = matches || matches_in_scopes(glob, text, any_scope);
                for (int i = 0; i < PARTS_MOST && !matches && strip(text); i++)
                        matches = matches_in_scopes(glob, text, any_scope);
                strip_arguments(text);
                matches = matches || matches_in_scopes(glob, text, any_scope);
        }
        free(glob);
        free(text);
        return matches;
}

/* ---- what is mistyped ---- */

enum { LETTERS_MOST = 48 };

/* Levenshtein distance. */
static int distance(const char *a, const char *b)
{
        int row[LETTERS_MOST + 1];
        int length = (int)strlen(b);

        for (int j = 0; j <= length; j++)
                row[j] = j;
        for (int i = 1; a[i - 1]; i++) {
                int diagonal = row[0];

                row[0] = i;
                for (int j = 1; j <= length; j++) {
                        int same = tolower((unsigned char)a[i - 1]) !=
                                   tolower((unsigned char)b[j - 1]);
                        int best = diagonal + same;

                        diagonal = row[j];
                        best = best < row[j] + 1 ? best : row[j] + 1;
                        row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
                }
        }
        return row[length];
}

static const char *last_scope(const char *text)
{
        for (const char *next; (next = behind_scope(text));)
                text = next;
        return text;
}

int function_pattern_distance(const char *text, const char *name)
{
        char *plain = strdup(name);
        int result = -1;

        if (!plain)
                return -1;
        strip_tags(plain, text);
        for (int i = 0; i < PARTS_MOST && strip(plain);)
                i++;
        strip_arguments(plain);
        const char *last = last_scope(plain), *wanted = last_scope(text);

        if (*wanted && strlen(wanted) <= LETTERS_MOST && strlen(last) <= LETTERS_MOST) {
                int few = 1 + (int)strlen(wanted) / 4, letters = distance(wanted, last);

                result = letters <= few ? letters : -1;
        }
        if (result < 0 && strlen(wanted) > 2 && strcasestr(last, wanted))
                result = LETTERS_MOST;
        free(plain);
        return result;
}

/* ---- SQL ---- */

static void sql_matches(sqlite3_context *context, int count, sqlite3_value **values)
{
        const char *pattern = (const char *)sqlite3_value_text(values[0]);
        const char *name = (const char *)sqlite3_value_text(values[1]);

        (void)count;
        if (pattern && name)
                sqlite3_result_int(context, function_pattern_matches(pattern, name));
}

static void sql_distance(sqlite3_context *context, int count, sqlite3_value **values)
{
        const char *text = (const char *)sqlite3_value_text(values[0]);
        const char *name = (const char *)sqlite3_value_text(values[1]);
        int letters = text && name ? function_pattern_distance(text, name) : -1;

        (void)count;
        if (letters >= 0)
                sqlite3_result_int(context, letters);
}

int function_pattern_register(sqlite3 *database)
{
        const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
        int code = sqlite3_create_function(database, "function_matches", 2, flags, NULL,
                                           sql_matches, NULL, NULL);

        return code ? code
                    : sqlite3_create_function(database, "function_distance", 2, flags,
                                              NULL, sql_distance, NULL, NULL);
}
