/* SPDX-License-Identifier: MIT */
/* Looks where gdb looks: 'set substitute-path', then 'directory'. */
#include "source_file.h"

#include <stdlib.h>
#include <string.h>

#include "source_origin.h"
#include "source_text.h"

bool source_substitution_parse(const char *text, struct source_substitution *substitution)
{
        const char *equals = strchr(text, '=');
        if (!equals || equals == text)
                return false;
        size_t from_bytes = (size_t)(equals - text);
        while (from_bytes > 1 && text[from_bytes - 1] == '/')
                from_bytes--;
        *substitution = (struct source_substitution){text, from_bytes, equals + 1};
        return true;
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

/* The path of PATH after the first substitution that fits; NULL: none does. */
static char *substituted(const struct source_search *search, const char *path)
{
        char *result = NULL;
        for (size_t i = 0; i < search->substitution_count; i++) {
                const struct source_substitution *s = &search->substitutions[i];
                const char *rest = path + s->from_bytes;
                if (strncmp(path, s->from, s->from_bytes) == 0 && !leads_up(rest) &&
                    (*rest == '/' || !*rest || s->from[s->from_bytes - 1] == '/'))
                        return asprintf(&result, "%s%s%s", s->to,
                                        *rest && *rest != '/' ? "/" : "", rest) < 0
                                   ? NULL
                                   : result;
        }
        return NULL;
}

static FILE *open_below(const char *directory, const char *path, struct stat *status,
                        char **found)
{
        while (path) {
                while (*path == '/')
                        path++;
                if (leads_up(path)) { /* a shorter end of it may not */
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

/* Who substitutes a path gives the directory that the rest is below. */
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
