/* SPDX-License-Identifier: MIT */
/* The subcommands of memlag: a table, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis.h"
#include "command.h"
#include "diag.h"
#include "doctor.h"
#include "microbench.h"
#include "record_command.h"

int cmd_symbolize(int argc, char **argv);

static const struct command commands[] = {
    {"record", cmd_record, "Run a command and record where it waits for memory"},
    {"whatif", cmd_whatif, "Run a command on changed machines: what a fix would gain"},
    {"import", cmd_import, "Make a sample database of a recording of perf"},
    {"symbolize", cmd_symbolize, "Find the names of a recording's addresses again"},
    {"analyze", cmd_analyze, "Judge a recording's intervals, lines and objects again"},
    {"report", cmd_report, "Show what waits for memory, by line, object or interval"},
    {"annotate", cmd_annotate, "Show source text with what each line waited for memory"},
    {"diff", cmd_diff, "Compare two recordings: what became better or worse, and where"},
    {"query", cmd_query, "Run SQL on a recording, or a query from the library"},
    {"export", cmd_export, "Write a recording for flame graphs or KCachegrind"},
    {"doctor", cmd_doctor, "Tell what this machine can record with, and what is missing"},
    {"bench", cmd_bench, "Run a kernel with known behaviour and take its time"},
    {"calibrate", cmd_calibrate, "Measure this machine's memory for later runs"},
    {"validate", cmd_validate, "Tell which counters of this machine can be trusted"},
    {NULL, NULL, NULL},
};

int command_run(const char *name, int argc, char **argv)
{
        for (const struct command *c = commands; c->name; c++)
                if (strcmp(c->name, name) == 0)
                        return c->run(argc, argv);
        struct diag diag;
        diag_set(&diag, 0, "'%s' is not a memlag command; see 'memlag --help'", name);
        fprintf(stderr, "memlag: %s\n", diag.text);
        return EXIT_USAGE;
}

int command_show_findings(const char *file)
{
        char *analyze[] = {"analyze", "--", (char *)file, NULL};
        char *report[] = {"report", "--summary", "--", (char *)file, NULL};
        int status = command_run("analyze", 3, analyze);
        return status == EXIT_OK ? command_run("report", 4, report) : status;
}

static void print_help(void)
{
        printf("Usage: memlag COMMAND [ARGUMENT...]\n\nCommands:\n");
        for (const struct command *c = commands; c->name; c++)
                printf("  %-10s %s\n", c->name, c->summary);
        printf(
            "\n'memlag COMMAND --help' tells more of each; 'memlag --version' prints the "
            "version.\n");
}

static bool asks_for_help(const char *word)
{
        return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 ||
               strcmp(word, "-h") == 0;
}

/* 'help COMMAND' is 'COMMAND --help', as with other tools of many commands. */
static int help_on(char *command)
{
        char *arguments[] = {command, (char *)"--help", NULL};
        return command_run(command, 2, arguments);
}

/* Standard descriptors that the user has closed stay closed for the target, and memlag's
 * files do not reuse their numbers. Writes to a closed standard output fail, like writes
 * to a full disk. */
static void hold_standard_descriptors(void)
{
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
                int access = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
                if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", access | O_CLOEXEC) < 0)
                        return;
        }
}

/* Undelivered help is an error. Failed commands have printed the reason. */
static void check_output(int status, void *unused)
{
        (void)unused;
        if (status != EXIT_OK || fflush(stdout) == 0 || errno == EPIPE)
                return;
        fprintf(stderr, "memlag: cannot write the output: %s\n", strerror(errno));
        _exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
        hold_standard_descriptors();
        on_exit(check_output, NULL);
        if (argc < 2) {
                fprintf(stderr, "memlag: no command given; see 'memlag --help'\n");
                return EXIT_USAGE;
        }
        if (strcmp(argv[1], "help") == 0 && argc == 3 && !asks_for_help(argv[2]))
                return help_on(argv[2]);
        if (strcmp(argv[1], "help") == 0 && argc > 3) {
                fprintf(stderr, "memlag: help on one command at a time\n");
                return EXIT_USAGE;
        }
        if (asks_for_help(argv[1])) {
                print_help();
                return EXIT_OK;
        }
        if (strcmp(argv[1], "--version") == 0) {
                printf("memlag %s\n", MEMLAG_VERSION);
                return EXIT_OK;
        }
        return command_run(argv[1], argc - 1, argv + 1);
}
