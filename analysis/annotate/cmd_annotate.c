/* SPDX-License-Identifier: MIT */
/* memlag annotate [FUNCTION|FILE[:LINE]]...: prints source text with its samples. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "array.h"
#include "choice.h"
#include "cmd.h"
#include "command.h"
#include "command_line.h"
#include "completed.h"
#include "file_limit.h"
#include "instructions.h"
#include "marked_places.h"
#include "option_path.h"
#include "report.h"
#include "selection.h"
#include "show.h"
#include "source_file.h"
#include "source_lines.h"
#include "words.h"

enum { HOTTEST = 3, CONTEXT_LINES = 3 };

enum {
        OPTION_ASM = 256,
        OPTION_CONTEXT,
        OPTION_FORMAT,
        OPTION_INTEL,
        OPTION_NO_ASM,
        OPTION_TOP
};

struct arguments {
        struct selection selection;
        const char *file;
        const char **names; /* functions, files or lines to annotate */
        size_t name_count, name_capacity;
        int64_t top; /* 0: not given */
        int64_t context;
        enum disassembly_style style;
        struct source_search search;
        struct show_options show;
};

static const struct argp_option options[] = {
    {"asm", OPTION_ASM, NULL, 0,
     "Show the instructions of every line with samples, in tables with two neighbours "
     "before and after; by default a line needs a tenth of its function's share",
     0},
    {"context", OPTION_CONTEXT, "N", 0,
     "Show N lines (3) around each line that samples were on", 0},
    {"format", OPTION_FORMAT, "FORMAT", 0, "table (the default), csv or json", 0},
    {"input", 'i', "FILE", 0, "The database (memlag.db)", 0},
    {"intel", OPTION_INTEL, NULL, 0, "Show instructions in Intel's syntax, not AT&T's",
     0},
    {"no-asm", OPTION_NO_ASM, NULL, 0, "Show no instructions", 0},
    SOURCE_SEARCH_OPTIONS,
    {"top", OPTION_TOP, "N", 0,
     "Without a name: show the N functions (3) that come first in reports", 0},
    {"wide", 'W', NULL, 0, "Show names whole, with all template arguments, in tables too",
     0},
    SELECTION_OPTIONS,
    {0}};

static void check_memory(int code, struct argp_state *state)
{
        if (code)
                argp_failure(state, EXIT_FAILED, ENOMEM, "annotate");
}

static void add_name(struct arguments *arguments, const char *text,
                     struct argp_state *state)
{
        if (!*text)
                usage_error(state, "the name of a function or file is empty");
        check_memory(array_reserve(&arguments->names, &arguments->name_capacity,
                                   arguments->name_count, sizeof(*arguments->names)),
                     state);
        arguments->names[arguments->name_count++] = text;
}

/* Rejects options that have no effect together, and a recording without -i. */
static void check_together(const struct arguments *arguments, struct argp_state *state)
{
        for (size_t i = 0; i < arguments->name_count; i++)
                if (cmd_is_recording(arguments->names[i])) {
                        char *word =
                            words_join((const char *const[]){arguments->names[i], NULL});
                        usage_error(state,
                                    "%s is a recording, not a source file: memlag "
                                    "annotate -i %s",
                                    arguments->names[i], word ? word : "");
                }
        if (arguments->top && arguments->name_count)
                usage_error(state, "--top: it is for annotations without a name");
        if (arguments->style == DISASSEMBLY_INTEL &&
            arguments->show.instructions == SHOW_NO_INSTRUCTIONS)
                usage_error(state, "--intel: with --no-asm there are no instructions");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
        struct arguments *arguments = state->input;
        switch (key) {
        case OPTION_ASM:
                arguments->show.instructions = SHOW_ALL_INSTRUCTIONS;
                return 0;
        case OPTION_NO_ASM:
                arguments->show.instructions = SHOW_NO_INSTRUCTIONS;
                return 0;
        case OPTION_INTEL:
                arguments->style = DISASSEMBLY_INTEL;
                return 0;
        case OPTION_CONTEXT:
                arguments->context =
                    (int64_t)usage_whole(state, "--context", text, 0, INT32_MAX);
                return 0;
        case OPTION_FORMAT:
                arguments->show.format =
                    cmd_parse_format(text, "table, csv or json", state);
                return 0;
        case OPTION_TOP:
                arguments->top = (int64_t)usage_whole(state, "--top", text, 1, INT32_MAX);
                return 0;
        case 'W':
                arguments->show.whole_names = true;
                return 0;
        case 'i':
                arguments->file = text;
                return 0;
        case ARGP_KEY_ARG:
                add_name(arguments, text, state);
                return 0;
        case ARGP_KEY_END:
                check_together(arguments, state);
                return 0;
        default:
                if (source_search_parse(&arguments->search, key, text, state) == 0)
                        return 0;
                return selection_parse(&arguments->selection, key, text, state);
        }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[FUNCTION|FILE[:LINE[-LINE]]]...",
    .doc = "Show the source text of functions, files or lines of a recording (memlag.db) "
           "with what each line waited for memory; without a name, that of the functions "
           "that waited most.",
};

static int choose(struct db *db, const struct arguments *arguments, struct diag *diag)
{
        int code = 0;
        for (size_t i = 0; !code && i < arguments->name_count; i++)
                code = choice_add(db, arguments->names[i], (int64_t)i, diag);
        if (code || arguments->name_count)
                return code;
        return choice_hottest(db, arguments->top ? arguments->top : HOTTEST, diag);
}

static void print_notes(const char *notes)
{
        while (*notes) {
                int length = (int)strcspn(notes, "\n");
                diag_printf("annotate", "%.*s", length, notes);
                notes += length + (notes[length] == '\n');
        }
}

static int annotate(struct db *db, const struct arguments *arguments,
                    const struct report_summary *summary, struct diag *diag)
{
        char *notes = NULL;
        size_t size;
        FILE *text = open_memstream(&notes, &size);
        if (!text)
                return diag_no_memory(diag);
        int code = places_prepare(db, diag);
        if (!code)
                code = choose(db, arguments, diag);
        if (!code)
                code = places_find(db, diag);
        if (!code)
                code = source_lines_read(db, &arguments->search, arguments->context, text,
                                         diag);
        if (!code && arguments->show.instructions != SHOW_NO_INSTRUCTIONS)
                code = instructions_read(db, arguments->style,
                                         arguments->show.format == FORMAT_TABLE &&
                                             arguments->show.instructions ==
                                                 SHOW_ALL_INSTRUCTIONS,
                                         text, diag);
        if (fclose(text) && !code)
                code = diag_no_memory(diag);
        if (!code)
                code = show(db, &arguments->show, summary, notes, stdout, diag);
        if (!code && arguments->show.format != FORMAT_TABLE)
                print_notes(notes);
        free(notes);
        return code;
}

static int run(const struct arguments *arguments)
{
        struct diag diag;
        struct report_summary summary = {.command = NULL};
        file_limit_set(file_limit_size(arguments->file));
        struct db *db = completed_open(arguments->file, "annotate");
        if (!db)
                return EXIT_FAILED;
        int code = selection_apply(&arguments->selection, db, &diag);
        if (!code)
                code = report_summary_read(db, &summary, &diag);
        if (!code && arguments->show.format == FORMAT_TABLE &&
            report_has_too_few(&summary))
                report_print_too_few(stdout, &summary);
        else if (!code)
                code = annotate(db, arguments, &summary, &diag);
        report_summary_free(&summary);
        db_close(db);
        if (!code)
                return cmd_finish_output("annotate");
        diag_print("annotate", &diag);
        return EXIT_FAILED;
}

int cmd_annotate(int argc, char **argv)
{
        struct arguments arguments = {
            .file = "memlag.db",
            .context = CONTEXT_LINES,
            .show = {.instructions = SHOW_HOT_INSTRUCTIONS},
        };
        command_line_parse(&parser, "memlag annotate", argc, argv, ARGUMENTS_ANYWHERE,
                           &arguments);
        arguments.show.width = cmd_terminal_width();
        int status = run(&arguments);
        selection_free(&arguments.selection);
        free(arguments.names);
        source_search_free(&arguments.search);
        return status;
}
