/* SPDX-License-Identifier: MIT */
/* Argument parsing and output habits of the commands of this stage. */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "command_line.h"
#include "diag.h"

enum format cmd_parse_format(const char *text, struct argp_state *state)
{
        enum format format = FORMAT_TABLE;
        if (!format_named(text, &format))
                usage_error(state, "--format: '%s' is not table, csv or json", text);
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

size_t cmd_terminal_width(void)
{
        struct winsize size;
        return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
                   ? size.ws_col
                   : 0;
}
