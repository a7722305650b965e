/* SPDX-License-Identifier: MIT */
/* Collapsed stacks: the names of a call path, then a number. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "export.h"
#include "report_sql.h"
#include "statement.h"

/* The current line, and its length after each name of the path; [0] is for the root. */
struct folding {
        FILE *out;
        char *line;
        size_t size;
        size_t *ends;
        size_t end_count;
        size_t end_capacity;
};

/* SQL is laid out as SQL. */
/* clang-format off */
#define PATHS(weight) \
        "SELECT depth, CAST(round(coalesce(" weight ", 0)) AS INTEGER)," \
        REPORT_FUNCTION " FROM caller_finding ORDER BY caller_id"
/* clang-format on */

static const char *const paths_sql[] = {
    [EXPORT_STALLED] = PATHS("1e6 * self_stalled_ratio"),
    [EXPORT_LATENCY] = PATHS("1e6 * self_latency_share"),
    [EXPORT_SAMPLES] = PATHS("self_samples"),
};

static const char *const weight_names[] = {
    [EXPORT_STALLED] = "stalled",
    [EXPORT_LATENCY] = "latency",
    [EXPORT_SAMPLES] = "samples",
};

bool export_weight_named(const char *name, enum export_weight *weight)
{
        for (size_t i = 0; i < sizeof(weight_names) / sizeof(weight_names[0]); i++) {
                if (strcmp(weight_names[i], name) != 0)
                        continue;
                *weight = (enum export_weight)i;
                return true;
        }
        return false;
}

/* Replaces separators inside names: Rust has "[u8; 4]". */
static void replace_separators(char *name)
{
        for (char *at = strchr(name, ';'); at; at = strchr(at, ';'))
                *at = ':';
}

/* Sets the name at DEPTH of the path, from 0, to NAME; removes deeper names. */
static int set_step(struct folding *folding, size_t depth, const char *name)
{
        if (array_reserve(&folding->ends, &folding->end_capacity, depth + 1,
                          sizeof(*folding->ends)))
                return -ENOMEM;
        size_t start = depth ? folding->ends[depth - 1] : 0;
        size_t end = start + (depth ? 1 : 0) + strlen(name);
        if (end + 1 > folding->size) {
                char *grown = realloc(folding->line, 2 * end + 1);
                if (!grown)
                        return -ENOMEM;
                folding->line = grown;
                folding->size = 2 * end + 1;
        }
        if (depth)
                folding->line[start++] = ';';
        strcpy(folding->line + start, name);
        folding->ends[depth] = end;
        folding->end_count = depth + 1;
        return 0;
}

/* A damaged file may skip a depth: such a row becomes a child of the last row. */
static int take_path(void *context, sqlite3_stmt *row)
{
        struct folding *folding = context;
        int64_t depth = sqlite3_column_int64(row, 0);
        int64_t weight = sqlite3_column_int64(row, 1);
        size_t step = depth >= 0 && (uint64_t)depth < folding->end_count
                          ? (size_t)depth + 1
                          : folding->end_count;
        char *name = statement_printable(row, 2);
        if (!name)
                return -ENOMEM;
        replace_separators(name);
        int code = set_step(folding, step, name);
        free(name);
        if (!code && weight > 0)
                fprintf(folding->out, "%s %lld\n", folding->line, (long long)weight);
        return code;
}

char *export_provenance(const struct report_summary *summary)
{
        char *text = NULL;
        size_t size;
        FILE *memory = open_memstream(&text, &size);
        if (!memory)
                return NULL;
        report_print_provenance(memory, summary);
        if (fclose(memory) == 0)
                return text;
        free(text);
        return NULL;
}

static int set_root(struct folding *folding, const struct report_summary *summary)
{
        char *text = export_provenance(summary);
        if (!text)
                return -ENOMEM;
        replace_separators(text);
        const int code = set_step(folding, 0, text);
        free(text);
        return code;
}

int export_folded(struct db *db, const struct report_summary *summary,
                  enum export_weight weight, FILE *out, struct diag *diag)
{
        struct folding folding = {.out = out};
        int code = set_root(&folding, summary);
        if (code)
                diag_no_memory(diag);
        else
                code = statement_each(db, paths_sql[weight], take_path, &folding, diag);
        free(folding.line);
        free(folding.ends);
        return code;
}
