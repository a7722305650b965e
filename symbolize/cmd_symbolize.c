/* SPDX-License-Identifier: MIT */
/* memlag symbolize: names for the addresses of a recording. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "symbolize.h"

int cmd_symbolize(int argc, char **argv);

static const char help[] =
    "Usage: memlag symbolize [OPTION...] [FILE]\n"
    "\n"
    "Find the functions, source lines and data objects of the samples in FILE\n"
    "(memlag.db), and replace those found before. 'memlag record' does this by itself;\n"
    "do it again when debug information has been installed since.\n"
    "\n"
    "      --debuginfo-path=DIR  also look for separate debug files below DIR, before\n"
    "                            /usr/lib/debug; may be given more than once\n"
    "      --debuginfod          ask the servers in DEBUGINFOD_URLS for debug files "
    "that\n"
    "                            are not on this machine\n"
    "      --help                show this help\n"
    "\n"
    "Run 'memlag analyze FILE' afterwards to bring the findings up to date.\n";

static int usage(void)
{
        fprintf(stderr, "Try 'memlag symbolize --help' for more information.\n");
        return EXIT_USAGE;
}

static int run(const char *path, const struct symbolize_options *options)
{
        struct diag diag = {0};
        struct db *db = NULL;
        int error = db_open(path, DB_READ_WRITE, &db, &diag);

        if (!error)
                error = symbolize(db, options, &diag);
        db_close(db);
        if (error)
                diag_print("symbolize", &diag);
        return error ? EXIT_FAILED : EXIT_OK;
}

int cmd_symbolize(int argc, char **argv)
{
        enum { HELP = 1, DEBUGINFO_PATH, DEBUGINFOD };
        static const struct option long_options[] = {
            {"help", no_argument, NULL, HELP},
            {"debuginfo-path", required_argument, NULL, DEBUGINFO_PATH},
            {"debuginfod", no_argument, NULL, DEBUGINFOD},
            {NULL, 0, NULL, 0}};
        struct symbolize_options options = {0};
        const char **paths = calloc((size_t)argc + 1, sizeof(*paths));
        size_t path_count = 0;
        int choice, status = -1;

        if (!paths) {
                diag_printf("symbolize", "out of memory");
                return EXIT_FAILED;
        }
        options.debuginfo_paths = paths;
        optind = 0; /* another command may have used getopt before */
        while (status < 0 &&
               (choice = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
                if (choice == HELP) {
                        fputs(help, stdout);
                        status = EXIT_OK;
                } else if (choice == DEBUGINFO_PATH) {
                        paths[path_count++] = optarg;
                } else if (choice == DEBUGINFOD) {
                        options.debuginfod = true;
                } else {
                        status = usage();
                }
        }
        if (status < 0 && argc - optind > 1) {
                diag_printf("symbolize", "one database at a time: '%s' is too many",
                            argv[optind + 1]);
                status = usage();
        }
        if (status < 0)
                status = run(optind < argc ? argv[optind] : "memlag.db", &options);
        free(paths);
        return status;
}
