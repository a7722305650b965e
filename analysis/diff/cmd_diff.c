/* SPDX-License-Identifier: MIT */
/* memlag diff BEFORE AFTER: shows improvements and regressions between two recordings. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "array.h"
#include "cmd.h"
#include "command.h"
#include "command_line.h"
#include "completed.h"
#include "diff.h"
#include "file_limit.h"
#include "page.h"
#include "selection.h"

enum { TABLE_ROWS = 20, PAGE_ROWS = 500 };

enum { OPTION_AFTER = 256, OPTION_BEFORE, OPTION_BY, OPTION_FORMAT, OPTION_TOP };

/* The recordings of one side. */
struct files {
        const char **names;
        size_t count, capacity;
};

struct arguments {
        struct selection selection; /* of every recording */
        struct files sides[2];      /* index 0: before, 1: after */
        struct diff_options diff;
        bool top_given, kind_given, whole_names;
        bool page;
        const char *output; /* NULL: stdout */
};

static const struct argp_option options[] = {
    {"after", OPTION_AFTER, "FILE", 0, "One more recording of the AFTER side", 0},
    {"before", OPTION_BEFORE, "FILE", 0,
     "One more recording of the BEFORE side; with several on both sides the ranges "
     "include differences between runs",
     0},
    {"by", OPTION_BY, "WHAT", 0,
     "What a row stands for: line (the default), function, object, type (each of its "
     "fields), or run (only what was counted in the whole run)",
     0},
    {"format", OPTION_FORMAT, "FORMAT", 0,
     "table (the default), csv, json, or html: a page for a browser with all kinds of "
     "rows",
     0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {"top", OPTION_TOP, "N", 0,
     "Show the N rows that differ most; 0: all (a table shows 20, the others all)", 0},
    {"wide", 'W', NULL, 0, "Show names whole, with all template arguments, in tables too",
     0},
    SELECTION_OPTIONS,
    {0}};

static void parse_by(struct arguments *arguments, const char *text,
                     struct argp_state *state)
{
        arguments->diff.kind = diff_kind_named(text);
        if (!arguments->diff.kind && strcmp(text, "run") != 0)
                usage_error(
                    state, "--by: '%s' is not line, function, object, type or run", text);
}

static void parse_top(struct arguments *arguments, const char *text,
                      struct argp_state *state)
{
        int64_t value = (int64_t)usage_whole(state, "--top", text, 0, INT64_MAX);
        arguments->diff.top = value ? value : -1;
        arguments->top_given = true;
}

static void add_file(struct files *files, const char *name, struct argp_state *state)
{
        if (array_reserve(&files->names, &files->capacity, files->count,
                          sizeof(*files->names)))
                argp_failure(state, EXIT_FAILED, 0, "out of memory");
        files->names[files->count++] = name;
}

/* Adds BEFORE or AFTER itself as the first file of its side, even after options. */
static void add_first_file(struct files *files, const char *name,
                           struct argp_state *state)
{
        add_file(files, name, state);
        files->names[files->count - 1] = files->names[0];
        files->names[0] = name;
}

static void check_files(const struct arguments *arguments, struct argp_state *state)
{
        if (state->arg_num < 2)
                usage_error(state, "two recordings are needed, that before the "
                                   "change and that after it");
        if ((arguments->sides[0].count > 1) != (arguments->sides[1].count > 1))
                usage_error(state,
                            "--before, --after: how much runs differ takes several "
                            "recordings on both sides");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
        struct arguments *arguments = state->input;
        switch (key) {
        case OPTION_AFTER:
                add_file(&arguments->sides[1], text, state);
                return 0;
        case OPTION_BEFORE:
                add_file(&arguments->sides[0], text, state);
                return 0;
        case OPTION_BY:
                parse_by(arguments, text, state);
                arguments->kind_given = true;
                return 0;
        case OPTION_FORMAT:
                arguments->page = strcmp(text, "html") == 0;
                if (!arguments->page)
                        arguments->diff.format =
                            cmd_parse_format(text, "table, csv, json or html", state);
                return 0;
        case 'o':
                arguments->output = text;
                return 0;
        case 'W':
                arguments->whole_names = true;
                return 0;
        case OPTION_TOP:
                parse_top(arguments, text, state);
                return 0;
        case ARGP_KEY_ARG:
                if (state->arg_num > 1)
                        return ARGP_ERR_UNKNOWN;
                add_first_file(&arguments->sides[state->arg_num], text, state);
                return 0;
        case ARGP_KEY_END:
                check_files(arguments, state);
                if (arguments->page && (arguments->kind_given || arguments->top_given))
                        usage_error(state, "--format=html: a page has all rows, of all "
                                           "kinds; --by and --top are not for it");
                if (arguments->top_given && !arguments->diff.kind)
                        usage_error(state, "--top: --by run has no rows to choose from");
                return 0;
        default:
                return selection_parse(&arguments->selection, key, text, state);
        }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "BEFORE AFTER",
    .doc = "Compare two recordings: what was counted, and the lines, functions, data "
           "objects or types that waited less or more in AFTER than in BEFORE.",
};

/* completed_open has already printed a message. */
enum { SAID = -ECANCELED };

static int open_recording(struct diff_side *side, const char *file,
                          const struct selection *selection, struct diag *diag)
{
        side->file = file;
        side->db = completed_open(file, "diff");
        return side->db ? selection_apply(selection, side->db, diag) : SAID;
}

static int open_side(struct diff_side *side, const struct files *files,
                     const struct selection *selection, struct diag *diag)
{
        int code = open_recording(side, files->names[0], selection, diag);
        side->others = calloc(files->count, sizeof(*side->others));
        if (!side->others)
                return diag_no_memory(diag);
        for (size_t i = 1; !code && i < files->count; i++)
                code = open_recording(&side->others[side->other_count++], files->names[i],
                                      selection, diag);
        return code;
}

static int compare(struct diff *diff, const struct diff_options *shown, bool noted,
                   FILE *out, struct diag *diag)
{
        int code = diff_side_read(&diff->before, diag);
        if (!code)
                code = diff_side_read(&diff->after, diag);
        if (!code)
                code = diff_make(diff, shown->kind, diag);
        struct diff_notes notes = {.count = 0};
        if (!code && noted)
                code = diff_notes_read(diff, &notes, diag);
        if (!code)
                code = diff_print(diff, &notes, shown, out, diag);
        diff_notes_free(&notes);
        return code;
}

static void limit_files(const struct arguments *arguments)
{
        uint64_t bytes = 0;
        for (size_t side = 0; side < 2; side++)
                for (size_t i = 0; i < arguments->sides[side].count; i++)
                        bytes += file_limit_size(arguments->sides[side].names[i]);
        file_limit_set(bytes);
}

static int open_both(struct diff *diff, const struct arguments *arguments,
                     struct diag *diag)
{
        *diff = (struct diff){.kind = NULL};
        limit_files(arguments);
        int code =
            open_side(&diff->before, &arguments->sides[0], &arguments->selection, diag);
        return code ? code
                    : open_side(&diff->after, &arguments->sides[1], &arguments->selection,
                                diag);
}

/* Adds the rows of KIND, in the format for programs, to PAGE, and leaves both sides open.
 * Notes come from the first kind. */
static int add_kind(struct page_diff *page, struct diff *diff, const char *kind,
                    struct diag *diag)
{
        const struct diff_options shown = {
            .kind = diff_kind_named(kind), .format = FORMAT_JSON, .top = PAGE_ROWS};
        struct page_diff_kind *added = &page->kinds[page->kind_count];
        size_t size;
        FILE *memory = open_memstream(&added->json, &size);
        if (!memory)
                return diag_no_memory(diag);
        int code = compare(diff, &shown, page->kind_count == 0, memory, diag);
        if (fclose(memory))
                code = diag_no_memory(diag);
        added->name = kind;
        page->kind_count++;
        page->before = diff->before.db;
        page->after = diff->after.db;
        return code;
}

/* Reads both sides again for each kind. */
static int write_page(const struct arguments *arguments, FILE *out, struct diag *diag)
{
        static const char *const kinds[] = {"line", "function", "object", "type"};
        struct page_diff page = {.kind_count = 0};
        struct diff diff = {.kind = NULL};
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                diff_free(&diff);
                code = open_both(&diff, arguments, diag);
                if (!code)
                        code = add_kind(&page, &diff, kinds[i], diag);
        }
        if (!code)
                code = page_diff_write(&page, out, diag);
        for (size_t i = 0; i < page.kind_count; i++)
                free(page.kinds[i].json);
        diff_free(&diff);
        return code;
}

static int write_rows(const struct arguments *arguments, FILE *out, struct diag *diag)
{
        struct diff diff;
        int code = open_both(&diff, arguments, diag);
        if (!code)
                code = compare(&diff, &arguments->diff, true, out, diag);
        diff_free(&diff);
        return code;
}

static int write_whole(void *context, FILE *out, struct diag *diag)
{
        const struct arguments *arguments = context;
        return arguments->page ? write_page(arguments, out, diag)
                               : write_rows(arguments, out, diag);
}

/* Whole names take the room that they need. */
static size_t table_width(const struct arguments *arguments)
{
        const size_t terminal = arguments->output ? 0 : cmd_terminal_width();
        return arguments->whole_names ? 0 : terminal ? terminal : cmd_table_width();
}

int cmd_diff(int argc, char **argv)
{
        struct arguments arguments = {
            .diff = {.kind = diff_kind_named("line"), .top = -1},
        };
        command_line_parse(&parser, "memlag diff", argc, argv, ARGUMENTS_ANYWHERE,
                           &arguments);
        if (!arguments.top_given && arguments.diff.format == FORMAT_TABLE)
                arguments.diff.top = TABLE_ROWS;
        arguments.diff.width = table_width(&arguments);
        struct diag diag;
        int code = arguments.page || arguments.output
                       ? cmd_print_whole(arguments.output, write_whole, &arguments, &diag)
                       : write_rows(&arguments, stdout, &diag);
        selection_free(&arguments.selection);
        free(arguments.sides[0].names);
        free(arguments.sides[1].names);
        if (!code)
                return cmd_finish_output("diff");
        if (code != SAID)
                diag_print("diff", &diag);
        return EXIT_FAILED;
}
