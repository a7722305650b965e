/* SPDX-License-Identifier: MIT */
/* The subcommands of memlag: a table, and nothing else. */
#include <stdio.h>
#include <string.h>

#include "command.h"

static const struct command commands[] = {
        {NULL, NULL, NULL},
};

int command_run(const char *name, int argc, char **argv)
{
        for (const struct command *c = commands; c->name; c++)
                if (strcmp(c->name, name) == 0)
                        return c->run(argc, argv);
        fprintf(stderr, "memlag: '%s' is not a memlag command; see 'memlag --help'\n", name);
        return EXIT_USAGE;
}

static void print_help(void)
{
        printf("Usage: memlag COMMAND [ARGUMENT...]\n\nCommands:\n");
        for (const struct command *c = commands; c->name; c++)
                printf("  %-10s %s\n", c->name, c->summary);
}

int main(int argc, char **argv)
{
        if (argc < 2 || strcmp(argv[1], "--help") == 0) {
                print_help();
                return argc < 2 ? EXIT_USAGE : EXIT_OK;
        }
        if (strcmp(argv[1], "--version") == 0) {
                printf("memlag %s\n", MEMLAG_VERSION);
                return EXIT_OK;
        }
        return command_run(argv[1], argc - 1, argv + 1);
}
