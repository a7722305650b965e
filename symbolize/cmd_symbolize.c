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
    "      --symfs=DIR           look for the files of another machine below DIR, and "
    "for\n"
    "                            its debug files in DIR/usr/lib/debug\n"
    "      --build-id-dir=DIR    look for files by build-id in DIR, where perf archive\n"
    "                            and perf record keep them (~/.debug); may be given "
    "more\n"
    "                            than once\n"
    "      --vmlinux=FILE        the kernel's file\n"
    "      --kallsyms=FILE       a copy of /proc/kallsyms of when the kernel ran\n"
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

/* Where the texts of options that may be repeated are, each list ending with NULL. */
struct lists {
        const char **debuginfo_paths;
        const char **build_id_paths;
        char *symfs_debug;
};

static void append(const char **list, const char *text)
{
        while (*list)
                list++;
        *list = text;
}

static int read_options(int argc, char **argv, struct symbolize_options *options,
                        const struct lists *lists)
{
        enum {
                HELP = 1,
                DEBUGINFO_PATH,
                SYMFS,
                BUILD_ID_DIR,
                VMLINUX,
                KALLSYMS,
                DEBUGINFOD
        };
        static const struct option long_options[] = {
            {"help", no_argument, NULL, HELP},
            {"debuginfo-path", required_argument, NULL, DEBUGINFO_PATH},
            {"symfs", required_argument, NULL, SYMFS},
            {"build-id-dir", required_argument, NULL, BUILD_ID_DIR},
            {"vmlinux", required_argument, NULL, VMLINUX},
            {"kallsyms", required_argument, NULL, KALLSYMS},
            {"debuginfod", no_argument, NULL, DEBUGINFOD},
            {NULL, 0, NULL, 0}};
        int choice;

        optind = 0; /* another command may have used getopt before */
        while ((choice = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
                switch (choice) {
                case HELP:
                        fputs(help, stdout);
                        return EXIT_OK;
                case DEBUGINFO_PATH:
                        append(lists->debuginfo_paths, optarg);
                        break;
                case SYMFS:
                        options->symfs = optarg;
                        break;
                case BUILD_ID_DIR:
                        append(lists->build_id_paths, optarg);
                        break;
                case VMLINUX:
                        options->vmlinux = optarg;
                        break;
                case KALLSYMS:
                        options->kallsyms = optarg;
                        break;
                case DEBUGINFOD:
                        options->debuginfod = true;
                        break;
                default:
                        return usage();
                }
        }
        if (argc - optind > 1) {
                diag_printf("symbolize", "one database at a time: '%s' is too many",
                            argv[optind + 1]);
                return usage();
        }
        return -1;
}

/* The status when the command has ended with its options, else -1. */
static int prepare(int argc, char **argv, struct symbolize_options *options,
                   struct lists *lists)
{
        lists->debuginfo_paths = calloc((size_t)argc + 2, sizeof(char *));
        lists->build_id_paths = calloc((size_t)argc + 2, sizeof(char *));
        if (!lists->debuginfo_paths || !lists->build_id_paths) {
                diag_printf("symbolize", "out of memory");
                return EXIT_FAILED;
        }
        options->debuginfo_paths = lists->debuginfo_paths;
        options->build_id_paths = lists->build_id_paths;
        int status = read_options(argc, argv, options, lists);

        if (status < 0 && options->symfs) {
                if (asprintf(&lists->symfs_debug, "%s/usr/lib/debug", options->symfs) < 0)
                        return EXIT_FAILED;
                append(lists->debuginfo_paths, lists->symfs_debug);
        }
        return status;
}

int cmd_symbolize(int argc, char **argv)
{
        struct symbolize_options options = {0};
        struct lists lists = {0};
        int status = prepare(argc, argv, &options, &lists);

        if (status < 0)
                status = run(optind < argc ? argv[optind] : "memlag.db", &options);
        free(lists.debuginfo_paths);
        free(lists.build_id_paths);
        free(lists.symfs_debug);
        return status;
}
