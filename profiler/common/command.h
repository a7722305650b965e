/* SPDX-License-Identifier: MIT */
/* The subcommands, as one table in main.c. A command that continues with other commands
 * (record: symbolize, analyze, report) calls them by name. */
#ifndef MEMLAG_COMMAND_H
#define MEMLAG_COMMAND_H

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct command {
        const char *name;
        int (*run)(int argc, char **argv); /* argv[0] is the command's name */
        const char *summary;
};

/* Runs the command NAME; ARGV[0] is its name, ARGV[ARGC] is NULL. */
int command_run(const char *name, int argc, char **argv);

/* Runs analyze and report --summary on the symbolized database FILE: the last stages of
 * record and import. Returns the status of the first failure. */
int command_show_findings(const char *file);

#endif
