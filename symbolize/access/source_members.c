/* SPDX-License-Identifier: MIT */
/* Reads each source file once. Its path comes from debug information and may name
 * anything: only regular files are read. */
#include "source_members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "append.h"
#include "source_expression.h"

enum {
        FILE_BYTES_LIMIT = 1 << 24,
        LINE_BYTES_LIMIT = 1 << 14,
        MEMBERS_BYTES = 256,
};

static int compare_lines(const void *left, const void *right)
{
        const struct code_place *a = (*(struct access *const *)left)->code;
        const struct code_place *b = (*(struct access *const *)right)->code;

        COMPARE(a->file, b->file);
        COMPARE(a->line, b->line);
        COMPARE(a->vaddr, b->vaddr);
        return 0;
}

/* Whether compilers read PATH itself. Generated code may name the file it was made from
 * by #line: its columns are different. */
static bool is_compiled(const char *path)
{
        static const char *const endings[] = {
            ".c",   ".h", ".cc", ".hh",  ".cpp", ".hpp", ".cxx", ".hxx", ".c++",
            ".h++", ".C", ".H",  ".inc", ".inl", ".ipp", ".tcc", ".def", ".rs"};
        const char *name = strrchr(path, '/');
        const char *ending = strrchr(name ? name : path, '.');

        for (size_t i = 0; ending && i < sizeof(endings) / sizeof(endings[0]); i++)
                if (strcmp(ending, endings[i]) == 0)
                        return true;
        return !ending; /* as <variant> */
}

/* Opens PATH if it is a file no newer than the program of STATUS, and finds its size. */
static FILE *open_source(const char *path, const struct stat *program, size_t *size)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        struct stat status;

        if (fd < 0)
                return NULL;
        FILE *file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                             status.st_size <= FILE_BYTES_LIMIT &&
                             status.st_mtim.tv_sec <= program->st_mtim.tv_sec
                         ? fdopen(fd, "r")
                         : NULL;

        if (!file)
                close(fd);
        else
                *size = (size_t)status.st_size;
        return file;
}

/* The text of a file and its current line, from BEGIN up to END. */
struct source {
        char *text;
        size_t length;
        uint32_t line; /* its number, from 1; 0: none yet */
        size_t begin;
        size_t end;
};

/* Goes to line number LINE; false: there is none. */
static bool go_to_line(struct source *source, uint32_t line)
{
        for (; source->line < line; source->line++) {
                size_t next = source->line == 0 ? 0 : source->end + 1;

                if (next >= source->length)
                        return false;
                const char *end =
                    memchr(source->text + next, '\n', source->length - next);

                source->begin = next;
                source->end = end ? (size_t)(end - source->text) : source->length;
        }
        return true;
}

/* Answers ACCESSES, COUNT places of one file, sorted by line. */
static void read_members(struct source *source, struct access **accesses, size_t count,
                         struct string_pool *names)
{
        char members[MEMBERS_BYTES];

        for (size_t i = 0; i < count; i++) {
                const struct code_place *code = accesses[i]->code;

                if (code->line == 0)
                        continue;
                if (!go_to_line(source, code->line))
                        return;
                if (source->end - source->begin > LINE_BYTES_LIMIT)
                        continue;
                enum source_expression found = source_expression(
                    source->text + source->begin, source->end - source->begin,
                    code->column, members, sizeof(members));

                if (found != SOURCE_NO_MEMBERS) {
                        accesses[i]->flow.access.members =
                            string_pool_put(names, members);
                        accesses[i]->flow.access.members_of_one |=
                            found == SOURCE_OPERANDS;
                }
        }
}

/* Reads the file at PATH for its ACCESSES, if it is a source of the program with
 * STATUS. 0 or -ENOMEM. */
static int read_file(const char *path, const struct stat *status,
                     struct access **accesses, size_t count, struct string_pool *names,
                     struct looked_for *looked_for)
{
        struct source source = {0};
        size_t size = 0;
        FILE *file = is_compiled(path) ? open_source(path, status, &size) : NULL;

        if (!file)
                return 0;
        int error = looked_for_add(looked_for, path);

        source.text = malloc(size + 1);
        if (!source.text)
                error = -ENOMEM;
        if (!error) {
                source.length = fread(source.text, 1, size, file);
                read_members(&source, accesses, count, names);
        }
        free(source.text);
        fclose(file);
        return error;
}

int source_members_find(struct access **accesses, size_t count, const char *program,
                        struct string_pool *names, struct looked_for *looked_for)
{
        struct stat status;
        int error = 0;

        if (!program || stat(program, &status) != 0)
                return 0;
        SORT(accesses, count, compare_lines);
        for (size_t i = 0, end; i < count && !error; i = end) {
                uint32_t name = accesses[i]->code->file;

                for (end = i + 1; end < count && accesses[end]->code->file == name;)
                        end++;
                const char *path = name ? string_pool_text(names, name) : NULL;

                if (path)
                        error = read_file(path, &status, accesses + i, end - i, names,
                                          looked_for);
        }
        return error;
}
