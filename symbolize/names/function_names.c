/* SPDX-License-Identifier: MIT */
/* Functions in the order of their names. Most names have one function. */
#include "function_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "file_path.h"
#include "name.h"

/* One of several functions of a name. */
struct namesake {
        struct named_function *function;
        uint32_t text;       /* the name, perhaps with its parameters' types */
        char *path;          /* of its file, without ".."; NULL: none. Owned */
        struct source *file; /* NULL: none */
};

/* A file that declares functions of one text. */
struct source {
        const char *path; /* the longest known one */
        size_t steps;     /* the last components that distinguish it */
        uint32_t line;    /* of a function in it */
        bool many_lines;
};

int named_functions_add(struct named_functions *functions,
                        const struct named_function *function, uint32_t *number)
{
        if (functions->count >= UINT32_MAX || PUSH(functions, *function) < 0)
                return -ENOMEM;
        *number = (uint32_t)functions->count;
        return 0;
}

/* ---- texts ---- */

static bool same_link(const char *a, const char *b)
{
        if (a == b || !a || !b)
                return a == b;
        return name_length(a) == name_length(b) && strncmp(a, b, name_length(a)) == 0;
}

static void put_signature(struct namesake *namesake, struct string_pool *names)
{
        const char *link = namesake->function->link;
        char *signature = link ? name_read(link, demangle_signature) : NULL;

        if (signature)
                namesake->text = string_pool_put(names, signature);
        free(signature);
}

/* ---- files ---- */

/* A path's component ends before '/', which sorts first: paths with the same last
 * components are then adjacent. */
static int order_of(char c)
{
        return c == '/' ? 0 : (unsigned char)c;
}

static int compare_backwards(const char *a, const char *b)
{
        size_t i = strlen(a), j = strlen(b);

        while (i > 0 && j > 0) {
                i--;
                j--;
                if (a[i] != b[j])
                        return order_of(a[i]) < order_of(b[j]) ? -1 : 1;
        }
        return i == j ? 0 : i < j ? -1 : 1;
}

static int compare_namesakes(const void *left, const void *right)
{
        const struct namesake *a = left, *b = right;

        if (a->text != b->text)
                return a->text < b->text ? -1 : 1;
        if (!a->path || !b->path)
                return !b->path - !a->path;
        int order = compare_backwards(a->path, b->path);

        if (order != 0)
                return order;
        COMPARE(a->function->line, b->function->line);
        return 0;
}

/* The start of the component of PATH that ends before END. */
static size_t component_begin(const char *path, size_t end)
{
        while (end > 0 && path[end - 1] != '/')
                end--;
        return end;
}

/* The number of components that A and B have in common at their ends. */
static size_t common_steps(const char *a, const char *b)
{
        size_t end_a = strlen(a), end_b = strlen(b);

        for (size_t steps = 0;; steps++) {
                size_t begin_a = component_begin(a, end_a);
                size_t begin_b = component_begin(b, end_b);

                if (end_a - begin_a != end_b - begin_b ||
                    memcmp(a + begin_a, b + begin_b, end_a - begin_a) != 0)
                        return steps;
                if (begin_a == 0 || begin_b == 0)
                        return steps + 1;
                end_a = begin_a - 1;
                end_b = begin_b - 1;
        }
}

/* Whether A and B, sorted, are declared in one file. Symbols give the file without its
 * directories. Debug information may name one header by several paths, some
 * incomplete. */
static bool same_file(const struct namesake *a, const struct namesake *b)
{
        if (strcmp(path_base(a->path), path_base(b->path)) != 0)
                return false;
        return strcmp(a->path, b->path) == 0 || !strchr(a->path, '/') ||
               (a->function->line && a->function->line == b->function->line &&
                !(a->function->own && b->function->own));
}

/* The last STEPS components of PATH. */
static const char *last_steps(const char *path, size_t steps)
{
        const char *at = path + strlen(path);

        while (at > path && (steps > 0 || at[-1] != '/')) {
                at--;
                if (*at == '/' && --steps == 0)
                        return at + 1;
        }
        return at;
}

static void add_line(struct source *file, uint32_t line)
{
        file->many_lines |= line && file->line && line != file->line;
        if (line)
                file->line = line;
}

/* Lists the files of COUNT namesakes of one text, sorted; FILES has room for COUNT.
 * Returns the number of files. */
static size_t list_files(struct namesake *namesakes, size_t count, struct source *files)
{
        const struct namesake *before = NULL;
        size_t listed = 0;

        for (size_t i = 0; i < count; i++) {
                if (!namesakes[i].path)
                        continue;
                if (!before || !same_file(before, &namesakes[i]))
                        files[listed++] = (struct source){.steps = 1};
                before = &namesakes[i];
                files[listed - 1].path = before->path;
                namesakes[i].file = &files[listed - 1];
                add_line(&files[listed - 1], namesakes[i].function->line);
        }
        for (size_t i = 1; i < listed; i++) {
                size_t steps = common_steps(files[i - 1].path, files[i].path) + 1;

                if (files[i - 1].steps < steps)
                        files[i - 1].steps = steps;
                files[i].steps = steps;
        }
        return listed;
}

/* ---- labels ---- */

static uint32_t put_label(const struct namesake *namesake, struct string_pool *names)
{
        const char *text = string_pool_text(names, namesake->text);
        const struct source *file = namesake->file;
        const char *path = last_steps(file->path, file->steps);

        if (file->many_lines && namesake->function->line)
                return string_pool_format(names, "%s (%s:%" PRIu32 ")", text, path,
                                          namesake->function->line);
        return string_pool_format(names, "%s (%s)", text, path);
}

/* Labels COUNT namesakes of one text by their files. */
static int label_by_files(struct namesake *namesakes, size_t count,
                          struct string_pool *names)
{
        struct source *files = calloc(count, sizeof(*files));

        if (!files)
                return -ENOMEM;
        size_t listed = list_files(namesakes, count, files);
        bool ambiguous = listed > 1;

        for (size_t i = 0; i < count; i++)
                ambiguous |=
                    namesakes[i].function->shared || (listed > 0 && !namesakes[i].file);
        for (size_t i = 0; i < count; i++) {
                struct namesake *at = &namesakes[i];

                at->function->label = at->file && (ambiguous || at->file->many_lines)
                                          ? put_label(at, names)
                                          : at->text;
        }
        free(files);
        return 0;
}

static int find_paths(struct namesake *namesakes, size_t count,
                      const struct string_pool *names)
{
        for (size_t i = 0; i < count; i++) {
                const char *file = string_pool_text(names, namesakes[i].function->file);

                namesakes[i].path = file ? path_without_parents(file) : NULL;
                if (file && !namesakes[i].path)
                        return -ENOMEM;
        }
        return 0;
}

static int label_namesakes(struct namesake *namesakes, size_t count,
                           struct string_pool *names)
{
        bool overloaded = namesakes[0].function->overloaded;
        int error = find_paths(namesakes, count, names);

        for (size_t i = 1; i < count; i++)
                overloaded |=
                    namesakes[i].function->overloaded ||
                    !same_link(namesakes[0].function->link, namesakes[i].function->link);
        for (size_t i = 0; i < count && overloaded; i++)
                put_signature(&namesakes[i], names);
        if (!error)
                qsort(namesakes, count, sizeof(*namesakes), compare_namesakes);
        for (size_t i = 0, end; i < count && !error; i = end) {
                for (end = i + 1;
                     end < count && namesakes[end].text == namesakes[i].text;)
                        end++;
                error = label_by_files(namesakes + i, end - i, names);
        }
        for (size_t i = 0; i < count; i++)
                free(namesakes[i].path);
        return error;
}

static bool are_one(const struct named_function *a, const struct named_function *b)
{
        return a->link == b->link && a->file == b->file && a->line == b->line;
}

/* Sorts by the numbers of the names, then by properties that do not depend on threads.
 * Therefore signatures get the same numbers in the pool each time. */
static int compare_names(const void *left, const void *right)
{
        const struct named_function *a = ((const struct namesake *)left)->function;
        const struct named_function *b = ((const struct namesake *)right)->function;

        if (a->name != b->name)
                return a->name < b->name ? -1 : 1;
        return strcmp(a->link ? a->link : "", b->link ? b->link : "");
}

/* Whether COUNT namesakes are one function and no symbol has the name, too. */
static bool name_suffices(const struct namesake *namesakes, size_t count)
{
        bool suffices = true;

        for (size_t i = 0; i < count && suffices; i++)
                suffices = !namesakes[i].function->shared &&
                           !namesakes[i].function->overloaded &&
                           are_one(namesakes->function, namesakes[i].function);
        return suffices;
}

int named_functions_tell_apart(struct named_functions *functions, size_t first,
                               struct string_pool *names)
{
        size_t count = functions->count - first;
        struct namesake *all = calloc(count + 1, sizeof(*all));
        int error = all ? 0 : -ENOMEM;

        for (size_t i = 0; i < count && !error; i++) {
                struct named_function *function = &functions->items[first + i];

                function->label = function->name;
                all[i] = (struct namesake){.function = function, .text = function->name};
        }
        if (!error)
                qsort(all, count, sizeof(*all), compare_names);
        for (size_t i = 0, end; i < count && !error; i = end) {
                for (end = i + 1; end < count && all[end].text == all[i].text;)
                        end++;
                if (all[i].text && !name_suffices(all + i, end - i))
                        error = label_namesakes(all + i, end - i, names);
        }
        free(all);
        return error;
}

void named_functions_free(struct named_functions *functions)
{
        free(functions->items);
        *functions = (struct named_functions){0};
}
