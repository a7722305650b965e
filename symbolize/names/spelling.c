/* SPDX-License-Identifier: MIT */
#include "spelling.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char lambda_start[] = "<lambda(";

static bool begins_lambda(const char *at)
{
        return strncmp(at, lambda_start, strlen(lambda_start)) == 0;
}

/* The end of the lambda that begins at AT; NULL: it has none. */
static const char *after_lambda(const char *at)
{
        size_t depth = 0;

        for (; *at; at++) {
                depth += *at == '(';
                if (*at == ')' && --depth == 0) {
                        const char *end = strchr(at, '>');

                        return end ? end + 1 : NULL;
                }
        }
        return NULL;
}

size_t spelling_lambdas(const char *name)
{
        size_t count = 0;

        while ((name = strstr(name, lambda_start))) {
                const char *end = after_lambda(name);

                if (!end)
                        break;
                count++;
                name = end;
        }
        return count;
}

static bool is_letter(char c)
{
        return isalnum((unsigned char)c) || c == '_';
}

/* The demangler's name for the number type at TEXT, which has LENGTH; NULL: it has the
 * same name, or is no number type. */
static const char *number_type(const char *text, size_t *length)
{
        static const struct {
                const char *compiler;
                const char *demangler;
        } types[] = {
            {"long long unsigned int", "unsigned long long"},
            {"long long int", "long long"},
            {"long unsigned int", "unsigned long"},
            {"long int", "long"},
            {"short unsigned int", "unsigned short"},
            {"short int", "short"},
        };

        if (*text != 'l' && *text != 's')
                return NULL;
        for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
                *length = strlen(types[i].compiler);
                if (strncmp(text, types[i].compiler, *length) == 0 &&
                    !is_letter(text[*length]))
                        return types[i].demangler;
        }
        return NULL;
}

/* The end of TEXT, of LENGTH, without the parameters before its last "::". */
static size_t without_parameters(const char *text, size_t length)
{
        static const char after_const[] = ") const::", after[] = ")::";
        size_t depth = 0, at;

        if (length >= strlen(after_const) &&
            strncmp(text + length - strlen(after_const), after_const,
                    strlen(after_const)) == 0)
                at = length - strlen(after_const);
        else if (length >= strlen(after) &&
                 strncmp(text + length - strlen(after), after, strlen(after)) == 0)
                at = length - strlen(after);
        else
                return length;
        for (at++; at-- > 0;) {
                depth += text[at] == ')';
                if (text[at] == '(' && --depth == 0)
                        return at;
        }
        return length;
}

static size_t room_for(const char *name, const char *const *lambdas)
{
        size_t room = strlen(name) + 1, count = lambdas ? spelling_lambdas(name) : 0;

        for (size_t i = 0; i < count; i++)
                room += strlen(lambdas[i]) + strlen("::");
        return room;
}

char *spelling_demangled(const char *name, const char *const *lambdas)
{
        char *text = malloc(room_for(name, lambdas));
        size_t length = 0, type_length;
        const char *type;
        bool closed = true; /* all lambdas so far; others do not count */

        for (const char *at = name; text && *at;) {
                bool lambda = closed && begins_lambda(at);
                const char *end = lambda ? after_lambda(at) : NULL;

                closed &= !lambda || end;
                if (end && lambdas) {
                        size_t cut = without_parameters(text, length);

                        if (cut < length) {
                                memcpy(text + cut, "::", 2);
                                length = cut + 2;
                        }
                        length = (size_t)(stpcpy(text + length, *lambdas++) - text);
                        at = end;
                } else if (end) {
                        memcpy(text + length, at, (size_t)(end - at));
                        length += (size_t)(end - at);
                        at = end;
                } else if ((at == name || !is_letter(at[-1])) &&
                           (type = number_type(at, &type_length))) {
                        length = (size_t)(stpcpy(text + length, type) - text);
                        at += type_length;
                } else {
                        text[length++] = *at++;
                }
        }
        if (text)
                text[length] = '\0';
        return text;
}
