/* SPDX-License-Identifier: MIT */
/* Each source file is read once, from its beginning to the last line that is asked for.
 * Its path comes from debug information and may be anything's: only regular files are
 * read. */
#include "source_members.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"
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

/* Whether compilers read PATH as it is. What another program made code of, and names in
 * it by #line, has other columns. */
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

/* Opens PATH if that is a file that was there when the program of STATUS was made. */
static FILE *open_source(const char *path, const struct stat *program)
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
        return file;
}

/* Reads a line into TEXT without its end, and the length of what there is of it; false:
 * there is none. */
static bool read_line(FILE *file, char text[LINE_BYTES_LIMIT], size_t *length)
{
        int c = getc_unlocked(file);

        *length = 0;
        if (c == EOF)
                return false;
        for (; c != EOF && c != '\n'; c = getc_unlocked(file))
                if (*length < LINE_BYTES_LIMIT)
                        text[(*length)++] = (char)c;
        return true;
}

/* Answers ACCESSES, COUNT places of one FILE in the order of its lines. */
static void read_members(FILE *file, struct access **accesses, size_t count,
                         struct string_pool *names)
{
        char text[LINE_BYTES_LIMIT], members[MEMBERS_BYTES];
        size_t length = 0;
        uint32_t line = 0;

        for (size_t i = 0; i < count; i++) {
                const struct code_place *code = accesses[i]->code;

                for (; line < code->line; line++)
                        if (!read_line(file, text, &length))
                                return;
                enum source_expression found = source_expression(
                    text, length, code->column, members, sizeof(members));

                if (found == SOURCE_NO_MEMBERS)
                        continue;
                accesses[i]->flow.access.members = string_pool_put(names, members);
                accesses[i]->flow.access.members_of_one |= found == SOURCE_OPERANDS;
        }
}

int source_members_find(struct access **accesses, size_t count, const char *program,
                        struct string_pool *names, struct looked_for *looked_for)
{
        struct stat status;
        int error = 0;

        if (!program || stat(program, &status) != 0)
                return 0;
        if (count > 1)
                qsort(accesses, count, sizeof(*accesses), compare_lines);
        for (size_t i = 0, end; i < count && !error; i = end) {
                uint32_t name = accesses[i]->code->file;

                for (end = i + 1; end < count && accesses[end]->code->file == name;)
                        end++;
                const char *path = name ? string_pool_text(names, name) : NULL;
                FILE *file =
                    path && is_compiled(path) ? open_source(path, &status) : NULL;

                if (!file)
                        continue;
                error = looked_for_add(looked_for, string_pool_text(names, name));
                read_members(file, accesses + i, end - i, names);
                fclose(file);
        }
        return error;
}
