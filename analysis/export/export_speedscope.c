/* SPDX-License-Identifier: MIT */
/* The file format of speedscope (file-format-spec.ts): a list of functions, and a sampled
 * profile for each weight. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "render.h"

static void write_text(FILE *out, const char *text)
{
        render_json_text(out, text, strlen(text));
}

static void write_frames(FILE *out, const struct call_tree *tree)
{
        fputs("\"shared\":{\"frames\":[", out);
        for (size_t i = 0; i < tree->function_count; i++) {
                fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
                write_text(out, tree->functions[i].name);
                fputs(",\"file\":", out);
                write_text(out, tree->functions[i].module);
                putc('}', out);
        }
        fputs("]}", out);
}

/* Writes from the outermost function. STACK has room for the deepest path. */
static void write_stack(FILE *out, const struct call_tree *tree, size_t i, size_t *stack)
{
        const size_t depth = tree->calls[i].depth;
        for (size_t at = depth + 1; at-- > 0; i = tree->calls[i].parent)
                stack[at] = tree->calls[i].function;
        for (size_t at = 0; at <= depth; at++)
                fprintf(out, "%c%zu", at ? ',' : '[', stack[at]);
        putc(']', out);
}

static void write_profile(FILE *out, const struct call_tree *tree,
                          enum export_weight weight, size_t *stack)
{
        int64_t total = 0;
        const char *before = "";
        fprintf(out,
                "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"none\","
                "\"startValue\":0,\"samples\":[",
                weight == EXPORT_SAMPLES   ? "samples"
                : weight == EXPORT_LATENCY ? "latency, millionths of all samples'"
                                           : "stalled, millionths of the cycles");
        for (size_t i = 0; i < tree->count; i++)
                if (tree->calls[i].own[weight] > 0) {
                        fputs(before, out);
                        write_stack(out, tree, i, stack);
                        before = ",\n";
                }
        fputs("],\"weights\":[", out);
        before = "";
        for (size_t i = 0; i < tree->count; i++) {
                const int64_t own = tree->calls[i].own[weight];
                if (own > 0)
                        fprintf(out, "%s%" PRId64, before, own);
                if (own > 0)
                        before = ",";
                if (__builtin_add_overflow(total, own, &total))
                        total = INT64_MAX;
        }
        fprintf(out, "],\"endValue\":%" PRId64 "}", total);
}

int export_speedscope(struct db *db, const struct report_summary *summary, FILE *out,
                      struct diag *diag)
{
        struct call_tree tree;
        int code = call_tree_read(db, &tree, diag);
        char *name = code ? NULL : export_provenance(summary);
        size_t *stack = calloc(tree.count + 1, sizeof(*stack));
        if (!code && (!name || !stack))
                code = diag_no_memory(diag);
        if (!code) {
                const char *before = "";
                fputs("{\"$schema\":\"https://www.speedscope.app/"
                      "file-format-schema.json\",\"exporter\":\"memlag\",\"name\":",
                      out);
                write_text(out, name);
                fputs(",\n", out);
                write_frames(out, &tree);
                fputs(",\n\"profiles\":[", out);
                for (int i = 0; i < EXPORT_WEIGHTS; i++)
                        if (tree.known[i]) {
                                fputs(before, out);
                                write_profile(out, &tree, (enum export_weight)i, stack);
                                before = ",\n";
                        }
                fputs("]}\n", out);
        }
        free(stack);
        free(name);
        call_tree_free(&tree);
        return code;
}
