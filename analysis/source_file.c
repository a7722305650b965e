/* SPDX-License-Identifier: MIT */
/* Searches like gdb: 'set substitute-path', then 'directory'. */
#include "source_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "command.h"
#include "command_line.h"
#include "option_path.h"
#include "source_origin.h"
#include "source_text.h"

static void check_memory(int code, struct argp_state *state)
{
        if (code)
                argp_failure(state, EXIT_FAILED, ENOMEM, "source files");
}

/* PATH without "." and "..", by its text alone: symbolic links are not followed. A
 * relative path may then begin with "..", or be empty. NULL without memory. */
static char *straightened(const char *path)
{
        const bool absolute = *path == '/';
        char *result = malloc(strlen(path) + 2), *end = result;
        size_t kept = 0; /* components that a ".." takes back */
        while (result && *(path += strspn(path, "/"))) {
                const size_t length = strcspn(path, "/");
                const bool up = length == 2 && strncmp(path, "..", 2) == 0;
                if (up && kept) {
                        while (end > result && *--end != '/')
                                ;
                        kept--;
                } else if (!(up && absolute) && !(length == 1 && *path == '.')) {
                        if (absolute || end > result)
                                *end++ = '/';
                        end = mempcpy(end, path, length);
                        kept += !up;
                }
                path += length;
        }
        if (absolute && end == result && result)
                *end++ = '/';
        if (result)
                *end = '\0';
        return result;
}

/* Parses "FROM=TO"; returns 0, -EINVAL for other texts, or -ENOMEM. */
static int parse_substitution(const char *text, struct source_substitution *substitution)
{
        const char *equals = strchr(text, '=');
        if (!equals || equals == text)
                return -EINVAL;
        char *from = strndup(text, (size_t)(equals - text));
        substitution->from = from ? straightened(from) : NULL;
        substitution->to = equals + 1;
        free(from);
        return substitution->from ? 0 : -ENOMEM;
}

static void add_substitution(struct source_search *search, const char *text,
                             struct argp_state *state)
{
        check_memory(array_reserve(&search->substitutions, &search->substitution_capacity,
                                   search->substitution_count,
                                   sizeof(*search->substitutions)),
                     state);
        const int code =
            parse_substitution(text, &search->substitutions[search->substitution_count]);
        if (code == -EINVAL)
                usage_error(state, "--substitute-path: '%s' is not FROM=TO", text);
        check_memory(code, state);
        search->substitution_count++;
}

static void add_directory(struct source_search *search, const char *text,
                          struct argp_state *state)
{
        struct diag diag;
        if (option_directory("--source-path", text, &diag))
                usage_error(state, "%s", diag.text);
        check_memory(array_reserve(&search->directories, &search->directory_capacity,
                                   search->directory_count, sizeof(*search->directories)),
                     state);
        search->directories[search->directory_count++] = text;
}

error_t source_search_parse(struct source_search *search, int key, const char *text,
                            struct argp_state *state)
{
        switch (key) {
        case SOURCE_PATH:
                add_directory(search, text, state);
                return 0;
        case SOURCE_SUBSTITUTE:
                add_substitution(search, text, state);
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

void source_search_free(struct source_search *search)
{
        for (size_t i = 0; i < search->substitution_count; i++)
                free(search->substitutions[i].from);
        free(search->substitutions);
        free(search->directories);
}

static bool leads_up(const char *path)
{
        for (; path; path = strchr(path, '/')) {
                path += strspn(path, "/");
                if (strncmp(path, "..", 2) == 0 && (path[2] == '/' || !path[2]))
                        return true;
        }
        return false;
}

/* The rest of PATH behind FROM; NULL: PATH is not below FROM, or leads out of it. */
static const char *rest_behind(const char *path, const char *from)
{
        const size_t length = strlen(from);
        const char *rest = path + length;
        if (strncmp(path, from, length) != 0 || leads_up(rest))
                return NULL;
        if (!length)
                return *path == '/' ? NULL : path;
        return *rest == '/' || !*rest || from[length - 1] == '/' ? rest : NULL;
}

/* PATH after the first matching substitution; NULL: none matches. */
static char *substituted(const struct source_search *search, const char *path)
{
        char *straight = straightened(path), *result = NULL;
        bool matches = false;
        for (size_t i = 0; straight && !matches && i < search->substitution_count; i++) {
                const struct source_substitution *s = &search->substitutions[i];
                const char *rest = rest_behind(straight, s->from);
                matches = rest;
                if (rest && asprintf(&result, "%s%s%s", s->to,
                                     *rest && *rest != '/' ? "/" : "", rest) < 0)
                        result = NULL;
        }
        free(straight);
        return result;
}

static FILE *open_below(const char *directory, const char *path, struct stat *status,
                        char **found)
{
        while (path) {
                while (*path == '/')
                        path++;
                if (leads_up(path)) { /* a shorter suffix may be safe */
                        path = strchr(path, '/');
                        continue;
                }
                if (!*path || asprintf(found, "%s/%s", directory, path) < 0)
                        break;
                FILE *file = source_text_open(*found, status);
                if (file)
                        return file;
                free(*found);
                path = strchr(path, '/');
        }
        *found = NULL;
        return NULL;
}

/* The user names the target directory of a substitution: it needs no further check. */
static FILE *open_substituted(const struct source_search *search, const char *path,
                              struct stat *status, char **found)
{
        *found = substituted(search, path);
        FILE *file = *found ? source_text_open(*found, status) : NULL;
        if (!file) {
                free(*found);
                *found = NULL;
        }
        return file;
}

static FILE *open_named(struct db *db, const char *path, struct stat *status,
                        char **found)
{
        FILE *file = source_text_open(path, status);
        if (file && source_origin_is_known(db, path, status) && (*found = strdup(path)))
                return file;
        if (file)
                fclose(file);
        return NULL;
}

FILE *source_file_open(struct db *db, const struct source_search *search,
                       const char *path, struct stat *status, char **found)
{
        FILE *file = open_substituted(search, path, status, found);
        if (!file)
                file = open_named(db, path, status, found);
        for (size_t i = 0; i < search->directory_count && !file; i++)
                file = open_below(search->directories[i], path, status, found);
        return file;
}
