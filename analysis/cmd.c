/* SPDX-License-Identifier: MIT */
/* Argument parsing and output conventions for the commands of this stage. */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "command_line.h"
#include "diag.h"

enum format cmd_parse_format(const char *text, const char *formats,
                             struct argp_state *state)
{
        enum format format = FORMAT_TABLE;
        if (!format_named(text, &format))
                usage_error(state, "--format: '%s' is not %s", text, formats);
        return format;
}

int cmd_finish_output(const char *command)
{
        errno = 0;
        if (fflush(stdout) == 0 && !ferror(stdout))
                return EXIT_OK;
        if (errno == EPIPE)
                return EXIT_OK;
        diag_printf(command, "cannot write the output: %s",
                    errno ? strerror(errno) : "an earlier write failed");
        return EXIT_FAILED;
}

bool cmd_is_recording(const char *path)
{
        static const char magic[] = "SQLite format 3";
        char begin[sizeof(magic)];
        struct stat status;
        FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode)
                         ? fopen(path, "re")
                         : NULL;
        const bool is = file && fread(begin, sizeof(begin), 1, file) == 1 &&
                        memcmp(begin, magic, sizeof(magic)) == 0;
        if (file)
                fclose(file);
        return is;
}

static int write_file(const char *path, const char *bytes, size_t size, struct diag *diag)
{
        FILE *file = fopen(path, "we");
        bool written = file && fwrite(bytes, 1, size, file) == size;
        if (file && fclose(file))
                written = false;
        return written ? 0
                       : diag_set(diag, -errno, "cannot write '%s': %s", path,
                                  strerror(errno));
}

int cmd_print_whole(const char *path,
                    int (*print)(void *context, FILE *out, struct diag *diag),
                    void *context, struct diag *diag)
{
        char *bytes = NULL;
        size_t size;
        if (path && cmd_is_recording(path))
                return diag_set(diag, -EEXIST, "-o: %s is a recording; name another file",
                                path);
        FILE *memory = open_memstream(&bytes, &size);
        if (!memory)
                return diag_no_memory(diag);
        int code = print(context, memory, diag);
        if (fclose(memory))
                code = diag_no_memory(diag);
        if (!code && path)
                code = write_file(path, bytes, size, diag);
        else if (!code)
                fwrite(bytes, 1, size, stdout); /* cmd_finish_output sees a failure */
        free(bytes);
        return code;
}

size_t cmd_terminal_width(void)
{
        struct winsize size;
        return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
                   ? size.ws_col
                   : 0;
}

size_t cmd_table_width(void)
{
        const char *columns = getenv("COLUMNS");
        size_t width = columns ? strtoul(columns, NULL, 10) : 0;
        return width ? width : 100;
}
