/* SPDX-License-Identifier: MIT */
/* memlag symbolize: names for the addresses of a recording. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bulk_insert.h"
#include "command.h"
#include "command_line.h"
#include "option_path.h"
#include "symbolize.h"

int cmd_symbolize(int argc, char **argv);

static const char help[] =
    "Usage: memlag symbolize [OPTION...] [FILE]\n"
    "\n"
    "Find the functions, source lines and data objects of the samples in FILE\n"
    "(memlag.db), and replace those found before. 'memlag record' does this by itself;\n"
    "do it again when debug information has been installed since.\n"
    "\n"
    "      --allocator=NAME      NAME is a function that only hands memory on from an\n"
    "                            allocator: blocks belong to its callers. '*' in a\n"
    "                            name stands for any characters; may be given more "
    "than\n"
    "                            once\n"
    "      --allocators=FILE     the same for each line of FILE\n"
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
    "      --drop-names          go on where names would be lost, since the files that "
    "they\n"
    "                            came from are others now, or gone\n"
    "      --trace-types=ADDRESS print how the types of the samples at the instruction "
    "at\n"
    "                            ADDRESS were found\n"
    "      --help                show this help\n"
    "\n"
    "Run 'memlag analyze FILE' afterwards: findings made with other names are taken "
    "away.\n";

static int usage(void)
{
        fprintf(stderr, "Try 'memlag symbolize --help' for more information.\n");
        return EXIT_USAGE;
}

static bool has_findings(struct db *db)
{
        return select_any(db, "SELECT 1 FROM threshold", NULL) > 0;
}

/* The analysis, which comes later, makes the views. Therefore this reads the tables. */
static const char trace_sql[] =
    "SELECT count(*), coalesce(o.kind, ''), coalesce(o.name, ''), "
    "coalesce(y.name || coalesce('.' || f.name, ''), ''), "
    "coalesce(w.source || coalesce(' ' || w.pointer, ''), u.reason, '') "
    "FROM sample AS s LEFT JOIN attribution AS a USING (sample_id) "
    "LEFT JOIN data_object AS o USING (object_id) "
    "LEFT JOIN type_field AS f USING (field_id) "
    "LEFT JOIN data_type AS y ON y.type_id = f.type_id "
    "LEFT JOIN type_source AS w USING (type_source_id) "
    "LEFT JOIN untyped AS u USING (untyped_id) "
    "WHERE s.ip = %" PRId64 " GROUP BY 2, 3, 4, 5 ORDER BY 1 DESC, 2, 3, 4, 5";

/* Whether a sample is at ADDRESS: -ENOENT when there is none. */
static int trace_check(struct db *db, uint64_t address, struct diag *diag)
{
        char sql[80];

        snprintf(sql, sizeof(sql), "SELECT 1 FROM sample WHERE ip = %" PRId64,
                 (int64_t)address);
        int any = select_any(db, sql, diag);

        return any ? (any < 0 ? any : 0)
                   : diag_set(diag, -ENOENT,
                              "no sample is at address %#" PRIx64
                              "; take one from the column ip of sample_view",
                              address);
}

static int print_row(void *context, sqlite3_stmt *row)
{
        (void)context;
        for (int i = 0; i < sqlite3_column_count(row); i++)
                printf("%s%s", i > 0 ? "\t" : "",
                       (const char *)sqlite3_column_text(row, i));
        putchar('\n');
        return 0;
}

/* Prints each type, field and object of the samples at ADDRESS, with the number of
 * samples. Adds the evidence for the type, or the reason why there is none. */
static int trace_print(struct db *db, uint64_t address, struct diag *diag)
{
        char sql[sizeof(trace_sql) + 20];

        snprintf(sql, sizeof(sql), trace_sql, (int64_t)address);
        puts("samples\tkind\tobject\ttype and field\tevidence");
        return select_rows(db, sql, print_row, NULL, diag);
}

static int run(const char *path, const struct symbolize_options *options)
{
        struct diag diag = {0};
        struct db *db = NULL;
        int error = db_open(path, DB_READ_WRITE, &db, &diag);
        bool analyzed = !error && has_findings(db);

        if (!error && options->trace_types)
                error = trace_check(db, options->trace_types, &diag);
        if (!error)
                error = symbolize(db, options, &diag);
        if (!error && analyzed && !has_findings(db))
                diag_printf("symbolize",
                            "the findings in %s were made with other names and are "
                            "gone: 'memlag analyze' or 'memlag report' makes them again",
                            path);
        if (!error && options->trace_types)
                error = trace_print(db, options->trace_types, &diag);
        db_close(db);
        if (error)
                diag_print("symbolize", &diag);
        return error ? EXIT_FAILED : EXIT_OK;
}

/* A list that ends with NULL. */
struct names {
        const char **items;
        size_t count;
};

/* Of options that may be repeated. */
struct lists {
        struct names debuginfo_paths, build_id_paths, allocators;
};

/* Takes over TEXT; NULL: there was no memory for it. 0 or -ENOMEM, with a message. */
static int names_take(struct names *names, char *text)
{
        const char **items =
            text ? reallocarray(names->items, names->count + 2, sizeof(*names->items))
                 : NULL;

        if (!items) {
                free(text);
                diag_printf("symbolize", "out of memory");
                return -ENOMEM;
        }
        names->items = items;
        items[names->count++] = text;
        items[names->count] = NULL;
        return 0;
}

static int names_add(struct names *names, const char *text)
{
        return names_take(names, strdup(text));
}

static void names_free(struct names *names)
{
        for (size_t i = 0; i < names->count; i++)
                free((char *)names->items[i]);
        free(names->items);
}

/* Adds the lines of the file at PATH, without empty lines and comments that begin with
 * '#'. An exit status, or -1 to go on. */
static int names_read(struct names *names, const char *path)
{
        FILE *file = fopen(path, "re");
        char *line = NULL;
        size_t capacity = 0;
        int error = file ? 0 : -errno;

        while (!error && getline(&line, &capacity, file) >= 0) {
                line[strcspn(line, "\r\n")] = '\0';
                if (*line && *line != '#')
                        error = names_add(names, line);
        }
        if (!error && ferror(file))
                error = -EIO;
        free(line);
        if (file)
                fclose(file);
        if (error && error != -ENOMEM)
                diag_printf("symbolize",
                            "cannot read the names of allocators in '%s': %s; check "
                            "--allocators",
                            path, strerror(-error));
        return error ? EXIT_FAILED : -1;
}

/* Reads TEXT, an address in any base of C; not 0. */
static bool read_address(const char *text, uint64_t *address)
{
        char *end;

        errno = 0;
        *address = strtoull(text, &end, 0);
        if (!errno && *end == '\0' && *address != 0 && *text != '-')
                return true;
        diag_printf("symbolize",
                    "--trace-types: '%s' is no address; take one from the column ip of "
                    "sample_view",
                    text);
        return false;
}

static int read_options(int argc, char **argv, struct symbolize_options *options,
                        struct lists *lists)
{
        enum {
                HELP = 1,
                ALLOCATOR,
                ALLOCATORS,
                DEBUGINFO_PATH,
                SYMFS,
                BUILD_ID_DIR,
                VMLINUX,
                KALLSYMS,
                DEBUGINFOD,
                DROP_NAMES,
                TRACE_TYPES
        };
        static const struct option long_options[] = {
            {"help", no_argument, NULL, HELP},
            {"allocator", required_argument, NULL, ALLOCATOR},
            {"allocators", required_argument, NULL, ALLOCATORS},
            {"debuginfo-path", required_argument, NULL, DEBUGINFO_PATH},
            {"symfs", required_argument, NULL, SYMFS},
            {"build-id-dir", required_argument, NULL, BUILD_ID_DIR},
            {"vmlinux", required_argument, NULL, VMLINUX},
            {"kallsyms", required_argument, NULL, KALLSYMS},
            {"debuginfod", no_argument, NULL, DEBUGINFOD},
            {"drop-names", no_argument, NULL, DROP_NAMES},
            {"trace-types", required_argument, NULL, TRACE_TYPES},
            {NULL, 0, NULL, 0}};
        int choice;

        command_line_prepare(argc, argv, "", long_options);
        optind = 0; /* another command may have used getopt before */
        while ((choice = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
                switch (choice) {
                case HELP:
                        fputs(help, stdout);
                        return EXIT_OK;
                case ALLOCATOR:
                        if (!*optarg) {
                                diag_printf("symbolize", "--allocator: the name is "
                                                         "empty; give a function's");
                                return usage();
                        }
                        if (names_add(&lists->allocators, optarg) < 0)
                                return EXIT_FAILED;
                        break;
                case ALLOCATORS:
                        if (names_read(&lists->allocators, optarg) >= 0)
                                return EXIT_FAILED;
                        break;
                case DEBUGINFO_PATH:
                        if (names_add(&lists->debuginfo_paths, optarg) < 0)
                                return EXIT_FAILED;
                        break;
                case SYMFS:
                        options->symfs = optarg;
                        break;
                case BUILD_ID_DIR:
                        if (names_add(&lists->build_id_paths, optarg) < 0)
                                return EXIT_FAILED;
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
                case DROP_NAMES:
                        options->drop_names = true;
                        break;
                case TRACE_TYPES:
                        if (!read_address(optarg, &options->trace_types))
                                return usage();
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

static int check_directories(const char *option, const char *const *paths,
                             struct diag *diag)
{
        int error = 0;

        for (; paths && *paths && !error; paths++)
                error = option_directory(option, *paths, diag);
        return error;
}

/* Refuses a mistyped path, because symbolizing with it would delete names. An exit
 * status, or -1 to go on. */
static int check_paths(const struct symbolize_options *options)
{
        struct diag diag;
        int error =
            check_directories("--debuginfo-path", options->debuginfo_paths, &diag);

        if (!error)
                error =
                    check_directories("--build-id-dir", options->build_id_paths, &diag);
        if (!error && options->symfs)
                error = option_directory("--symfs", options->symfs, &diag);
        if (!error && options->vmlinux)
                error = option_elf_file("--vmlinux", options->vmlinux, &diag);
        if (!error && options->kallsyms)
                error = option_file("--kallsyms", options->kallsyms, &diag);
        if (error)
                diag_print("symbolize", &diag);
        return error ? EXIT_FAILED : -1;
}

/* The status when the command has ended with its options, else -1. */
static int prepare(int argc, char **argv, struct symbolize_options *options,
                   struct lists *lists)
{
        char *command = argv[0];
        argv[0] = (char *)"memlag symbolize"; /* getopt's messages begin with it */
        int status = read_options(argc, argv, options, lists);

        argv[0] = command;
        options->allocators = lists->allocators.items;
        options->debuginfo_paths = lists->debuginfo_paths.items;
        options->build_id_paths = lists->build_id_paths.items;
        if (status < 0)
                status = check_paths(options);
        if (status < 0 && options->symfs) {
                char *debug;
                int bytes = asprintf(&debug, "%s/usr/lib/debug", options->symfs);

                if (names_take(&lists->debuginfo_paths, bytes < 0 ? NULL : debug) < 0)
                        status = EXIT_FAILED;
                options->debuginfo_paths = lists->debuginfo_paths.items;
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
        names_free(&lists.debuginfo_paths);
        names_free(&lists.build_id_paths);
        names_free(&lists.allocators);
        return status;
}
