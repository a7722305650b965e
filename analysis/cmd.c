/* SPDX-License-Identifier: MIT */
/* Argument parsing and output habits of the commands of this stage. */
#include "cmd.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "diag.h"

void cmd_parse(const struct argp *argp, const char *name, int argc, char **argv,
               void *input)
{
        argp_err_exit_status = EXIT_USAGE;
        char *command = argv[0];
        argv[0] = (char *)name; /* argp names the program by it, and only reads it */
        argp_parse(argp, argc, argv, 0, NULL, input);
        argv[0] = command;
}

enum format cmd_parse_format(const char *text, struct argp_state *state)
{
        enum format format = FORMAT_TABLE;
        if (!format_named(text, &format))
                argp_error(state, "--format: '%s' is not table, csv or json", text);
        return format;
}

int64_t cmd_parse_number(const char *option, const char *text, int64_t least,
                         int64_t most, const char *what, struct argp_state *state)
{
        char *end;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (errno || end == text || *end || value < least || value > most)
                argp_error(state, "%s: '%s' is not a %s", option, text, what);
        return value;
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
