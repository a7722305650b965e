/* SPDX-License-Identifier: MIT */
/* memlag analyze [FILE]: recomputes the findings and views of a database. */
#include "command.h"
#include "command_line.h"

#include <argp.h>
#include <stdlib.h>

#include "analysis.h"
#include "analyze.h"
#include "cmd.h"
#include "file_limit.h"

static error_t parse(int key, char *argument, struct argp_state *state)
{
        const char **file = state->input;
        if (key != ARGP_KEY_ARG || state->arg_num > 0)
                return ARGP_ERR_UNKNOWN;
        *file = argument;
        return 0;
}

static const struct argp arguments = {
    .parser = parse,
    .args_doc = "[FILE]",
    .doc = "Judge the intervals, lines and data objects of a recording (memlag.db), and "
           "make its views.",
};

int cmd_analyze(int argc, char **argv)
{
        const char *file = "memlag.db";
        command_line_parse(&arguments, "memlag analyze", argc, argv, ARGUMENTS_ANYWHERE,
                           &file);
        struct diag diag;
        struct db *db;
        file_limit_set(file_limit_size(file));
        int code = db_open(file, DB_READ_WRITE, &db, &diag);
        if (!code)
                code = analyze(db, &diag);
        db_close(db);
        if (!code)
                return EXIT_OK;
        diag_print("analyze", &diag);
        return EXIT_FAILED;
}
