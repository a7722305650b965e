/* SPDX-License-Identifier: MIT */
/* Prints source lines. Debug information may name any path: only regular files are read,
 * and no further than needed. */
#include "source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "source_origin.h"
#include "text.h"

/* Generated sources have a few megabytes. */
#define SOURCE_BYTES_MAX (64L << 20)

enum { CONTEXT_LINES = 2, TAB_WIDTH = 8, LINE_WIDTH = 200 };

/* Whether the kernel generates the file's content; reading such a file may have side
 * effects. */
static bool is_made_up(int fd)
{
        static const unsigned long systems[] = {
            PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,       TRACEFS_MAGIC,
            SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
            EFIVARFS_MAGIC,   PSTOREFS_MAGIC};
        struct statfs system;
        if (fstatfs(fd, &system) != 0)
                return true;
        for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
                if ((unsigned long)system.f_type == systems[i])
                        return true;
        return false;
}

FILE *source_text_open(const char *path, struct stat *status)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd < 0)
                return NULL;
        FILE *file = NULL;
        if (fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
            status->st_size <= SOURCE_BYTES_MAX && !is_made_up(fd))
                file = fdopen(fd, "r");
        else
                errno = EINVAL;
        if (!file)
                close(fd);
        return file;
}

static bool newer_than_module(const struct stat *source, const char *module)
{
        struct stat built;
        if (!module || stat(module, &built))
                return false;
        return source->st_mtim.tv_sec > built.st_mtim.tv_sec;
}

/* A program rebuilt after the recording does not prove that the text is unchanged. */
const char *source_text_newer_than(const struct stat *source, int64_t recorded_s,
                                   const char *module)
{
        if (source->st_mtim.tv_sec > recorded_s)
                return "recording";
        return newer_than_module(source, module) ? "program" : NULL;
}

char *source_text_line(FILE *file)
{
        char buffer[LINE_WIDTH];
        size_t length = 0, column = 0;
        int c = getc(file);
        if (c == EOF)
                return NULL;
        for (; c != EOF && c != '\n'; c = getc(file)) {
                size_t upto =
                    c == '\t' ? (column / TAB_WIDTH + 1) * TAB_WIDTH : column + 1;
                for (; column < upto; column++)
                        if (length < sizeof(buffer))
                                buffer[length++] = (char)(c == '\t' ? ' ' : c);
        }
        while (length && (buffer[length - 1] == '\r' || buffer[length - 1] == ' '))
                length--;
        return text_printable(buffer, length);
}

void source_text_skip(FILE *file, int64_t count)
{
        while (count > 0) {
                int c = getc_unlocked(file);
                if (c == EOF)
                        return;
                count -= c == '\n';
        }
}

static int print_around(FILE *out, FILE *file, int64_t line)
{
        int64_t first = line > CONTEXT_LINES ? line - CONTEXT_LINES : 1;
        char *lines[2 * CONTEXT_LINES + 1] = {0};
        size_t count = 0;
        source_text_skip(file, first - 1);
        while (count < (size_t)(line - first) + 1 + CONTEXT_LINES &&
               (lines[count] = source_text_line(file)))
                count++;
        bool found = first + (int64_t)count > line;
        for (size_t i = 0; i < count; i++) {
                int64_t number = first + (int64_t)i;
                if (found)
                        fprintf(out, "  %s %5" PRId64 "%s%s\n",
                                number == line ? ">" : " ", number, *lines[i] ? "  " : "",
                                lines[i]);
                free(lines[i]);
        }
        return found ? 0 : -ENODATA;
}

int source_text_print(FILE *out, struct db *db, const char *path, int64_t line,
                      int64_t recorded_s, const char *module)
{
        struct stat status;
        FILE *file = line > 0 ? source_text_open(path, &status) : NULL;
        if (!file)
                return -ENOENT;
        int code = source_origin_is_known(db, path, &status)
                       ? print_around(out, file, line)
                       : -ENOENT;
        fclose(file);
        const char *older = source_text_newer_than(&status, recorded_s, module);
        if (!code && older)
                fprintf(out, "  (the file is newer than the %s: lines may have moved)\n",
                        older);
        return code;
}
