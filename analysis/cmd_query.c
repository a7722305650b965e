/* SPDX-License-Identifier: MIT */
/* memlag query [FILE] [SQL]: SQL on a recording, read-only. */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "cmd.h"
#include "command.h"
#include "command_line.h"
#include "completed.h"
#include "named_query.h"
#include "option_number.h"
#include "query.h"

enum { OPTION_FORMAT = 256, OPTION_LIST, OPTION_NAME, OPTION_TIME, OPTION_MEMORY };

/* Limits of a query: one that needs more is probably a mistake, or the database is
 * malicious. */
#define TIME_LIMIT_S    600
#define MEMORY_LIMIT_MB 4096

struct arguments {
        const char *file;
        const char *sql;  /* NULL: from standard input */
        const char *name; /* of a library query */
        const char *words[2];
        size_t word_count;
        int64_t time_limit_s;
        int64_t memory_limit_mb;
        bool list;
        enum format format;
};

static const struct argp_option options[] = {
    {"format", OPTION_FORMAT, "FORMAT", 0, "table (the default), csv or json", 0},
    {"input", 'i', "FILE", 0, "The database, as FILE", 0},
    {"list", OPTION_LIST, NULL, 0, "List the named queries", 0},
    {"memory-limit", OPTION_MEMORY, "MB", 0,
     "End a query that needs more memory (4096; 0: no limit)", 0},
    {"name", OPTION_NAME, "NAME", 0, "Run the query called NAME", 0},
    {"time-limit", OPTION_TIME, "S", 0,
     "End the queries after S seconds (600; 0: no limit)", 0},
    {0}};

/* With --name or -i, a single word is unambiguous. Otherwise a single word is SQL, unless
 * a file has that name. */
static void assign_words(struct arguments *arguments, struct argp_state *state)
{
        size_t sql_words = arguments->name ? 0 : 1;
        size_t next = 0;
        bool only_word_is_file =
            arguments->word_count == 1 && !arguments->file &&
            (sql_words == 0 || access(arguments->words[0], F_OK) == 0);
        if (arguments->word_count == 2 && !arguments->file)
                arguments->file = arguments->words[next++];
        else if (only_word_is_file)
                arguments->file = arguments->words[next++];
        if (arguments->word_count - next > sql_words)
                usage_error(state, "too many arguments: '%s' is left over",
                            arguments->words[arguments->word_count - 1]);
        if (next < arguments->word_count)
                arguments->sql = arguments->words[next];
        if (!arguments->file)
                arguments->file = "memlag.db";
}

static int64_t limit_of(const char *option, const char *text, struct argp_state *state)
{
        uint64_t value;
        struct diag diag;
        if (option_whole(option, text, 0, INT32_MAX, &value, &diag) < 0)
                usage_error(state, "%s", diag.text);
        return (int64_t)value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
        struct arguments *arguments = state->input;
        switch (key) {
        case OPTION_FORMAT:
                arguments->format = cmd_parse_format(text, "table, csv or json", state);
                return 0;
        case OPTION_LIST:
                arguments->list = true;
                return 0;
        case OPTION_NAME:
                if (!named_query(text))
                        usage_error(
                            state,
                            "--name: there is no query '%s'; --list shows them all",
                            text);
                arguments->name = text;
                return 0;
        case OPTION_TIME:
                arguments->time_limit_s = limit_of("--time-limit", text, state);
                return 0;
        case OPTION_MEMORY:
                arguments->memory_limit_mb = limit_of("--memory-limit", text, state);
                return 0;
        case 'i':
                arguments->file = text;
                return 0;
        case ARGP_KEY_ARG:
                if (arguments->word_count == 2)
                        return ARGP_ERR_UNKNOWN;
                arguments->words[arguments->word_count++] = text;
                return 0;
        case ARGP_KEY_END:
                assign_words(arguments, state);
                return 0;
        default:
                return ARGP_ERR_UNKNOWN;
        }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[FILE] [SQL]",
    .doc = "Run SQL on a recording (memlag.db) without changing it, or a query from "
           "the library of named ones. Without SQL it is read from standard input.",
};

/* Reads all of standard input; the caller frees it. NULL with errno set on error. */
static char *read_standard_input(void)
{
        char *text = NULL;
        size_t size;
        FILE *copy = open_memstream(&text, &size);
        if (!copy)
                return NULL;
        char buffer[65536];
        size_t count;
        while ((count = fread(buffer, 1, sizeof(buffer), stdin)) > 0)
                fwrite(buffer, 1, count, copy);
        if (fclose(copy) == 0 && !ferror(stdin))
                return text;
        free(text);
        return NULL;
}

static int no_sql(void)
{
        diag_printf("query", "no SQL given; try 'memlag query --list', or 'memlag "
                             "query --help'");
        return EXIT_USAGE;
}

static int run(const struct arguments *arguments, const char *sql)
{
        struct diag diag;
        struct db *db = NULL;
        bool lacks_findings = false;
        const struct query_limits limits = {arguments->time_limit_s,
                                            arguments->memory_limit_mb << 20};
        int code = 0;
        query_begin();
        /* The library's queries read the findings of this version. */
        if (!arguments->name)
                code = db_open(arguments->file, DB_READ_ONLY, &db, &diag);
        else if (!(db = completed_open(arguments->file, "query")))
                return EXIT_FAILED;
        if (!code)
                code = db_keep_more(db, &diag);
        if (!code)
                code = query_run(db, sql, &limits, arguments->format, stdout,
                                 cmd_terminal_width(), &lacks_findings, &diag);
        db_close(db);
        if (lacks_findings)
                diag_printf("query",
                            "%s has no findings now, which this query reads: 'memlag "
                            "analyze %s' makes them",
                            arguments->file, arguments->file);
        if (!code || code == -EPIPE)
                return cmd_finish_output("query");
        fflush(stdout);
        if (code == -ENODATA)
                return no_sql();
        diag_print("query", &diag);
        return EXIT_FAILED;
}

int cmd_query(int argc, char **argv)
{
        struct arguments arguments = {.time_limit_s = TIME_LIMIT_S,
                                      .memory_limit_mb = MEMORY_LIMIT_MB};
        command_line_parse(&parser, "memlag query", argc, argv, ARGUMENTS_ANYWHERE,
                           &arguments);
        if (arguments.list) {
                named_query_list(stdout);
                return cmd_finish_output("query");
        }
        const char *sql = arguments.name ? named_query(arguments.name) : arguments.sql;
        if (sql)
                return run(&arguments, sql);
        if (isatty(STDIN_FILENO))
                return no_sql();
        char *input = read_standard_input();
        if (!input) {
                diag_printf("query", "cannot read SQL from standard input: %s",
                            strerror(errno));
                return EXIT_FAILED;
        }
        int status = run(&arguments, input);
        free(input);
        return status;
}
