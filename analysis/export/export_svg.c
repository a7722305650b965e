/* SPDX-License-Identifier: MIT */
/* A flame graph as a self-contained picture: outermost functions at the top, widths by
 * inclusive weight. The tooltip of a box has the whole name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "call_tree.h"
#include "short_name.h"
#include "text.h"

enum { WIDTH = 1200, MARGIN = 10, ROW = 18, TOP = 58 };

/* Narrower boxes are invisible. */
static const double NARROWEST = 0.3;
static const double CHARACTER = 6.7; /* in pixels, at a font size of 11 */

struct box {
        int64_t weight; /* with all callees */
        double left;
        double used; /* width of its placed callees */
};

/* Characters that XML 1.0 forbids become '?'. */
static void write_text(FILE *out, const char *text, size_t most)
{
        for (size_t shown = 0; *text; shown++) {
                const size_t length = text_character(text, strlen(text));
                if (shown + 1 >= most && text[length]) {
                        fputs("\xe2\x80\xa6", out);
                        return;
                }
                if (*text == '&' || *text == '<' || *text == '>' || *text == '"')
                        fprintf(out, "&#%d;", *text);
                else if (!length || (length == 3 && memcmp(text, "\xef\xbf", 2) == 0 &&
                                     (unsigned char)text[2] >= 0xbe))
                        putc('?', out);
                else
                        fwrite(text, 1, length, out);
                text += length ? length : 1;
        }
}

/* Leaves out template arguments if NAME has more than MOST bytes. */
static void write_short(FILE *out, const char *name, size_t most)
{
        size_t length = strlen(name);
        char *shorter = short_name(name, &length, most);
        write_text(out, shorter ? shorter : name, most);
        free(shorter);
}

static const char *colour_of(const struct call_function *function)
{
        if (function->module[0] == '[')
                return "kernel";
        return strstr(function->module, ".so") ? "library" : "program";
}

static void write_amount(FILE *out, int64_t weight, enum export_weight kind)
{
        if (kind == EXPORT_SAMPLES)
                fprintf(out, "%" PRId64 " samples", weight);
        else
                fprintf(out, "%.2f %% %s", 1e-4 * (double)weight,
                        kind == EXPORT_STALLED ? "of the cycles" : "of the latency");
}

static void write_box(FILE *out, const struct call_tree *tree, size_t i,
                      const struct box *box, double width, enum export_weight kind)
{
        const struct call *call = &tree->calls[i];
        const struct call_function *function = &tree->functions[call->function];
        const size_t y = TOP + call->depth * ROW;
        fprintf(out, "<g><title>");
        write_text(out, function->name, SIZE_MAX);
        fputs(" (", out);
        write_text(out, function->module, SIZE_MAX);
        fputs("), ", out);
        write_amount(out, box->weight, kind);
        fprintf(out,
                "</title><rect class=\"%s\" x=\"%.2f\" y=\"%zu\" width=\"%.2f\" "
                "height=\"%d\" rx=\"2\"/>",
                colour_of(function), box->left, y, width > 1 ? width - 0.5 : width,
                ROW - 1);
        if (width > 4 * CHARACTER) {
                fprintf(out, "<text x=\"%.2f\" y=\"%zu\">", box->left + 3, y + 12);
                write_short(out, function->name, (size_t)((width - 6) / CHARACTER));
                fputs("</text>", out);
        }
        fputs("</g>\n", out);
}

/* Computes inclusive weights (callees follow their callers) and the height. */
static int64_t sum_up(const struct call_tree *tree, enum export_weight kind,
                      struct box *boxes)
{
        int64_t total = 0;
        for (size_t i = tree->count; i-- > 0;) {
                int64_t *weight = &boxes[i].weight;
                const size_t parent = tree->calls[i].parent;
                int64_t *above = parent == SIZE_MAX ? &total : &boxes[parent].weight;
                if (__builtin_add_overflow(*weight, tree->calls[i].own[kind], weight))
                        *weight = INT64_MAX;
                if (__builtin_add_overflow(*above, *weight, above))
                        *above = INT64_MAX;
        }
        return total;
}

static void write_boxes(FILE *out, const struct call_tree *tree, enum export_weight kind,
                        struct box *boxes, int64_t total)
{
        const double each = total > 0 ? (WIDTH - 2 * MARGIN) / (double)total : 0;
        double used = 0;
        for (size_t i = 0; i < tree->count; i++) {
                const size_t parent = tree->calls[i].parent;
                double *place = parent == SIZE_MAX ? &used : &boxes[parent].used;
                const double width = each * (double)boxes[i].weight;
                boxes[i].left =
                    (parent == SIZE_MAX ? MARGIN : boxes[parent].left) + *place;
                *place += width;
                if (width >= NARROWEST)
                        write_box(out, tree, i, &boxes[i], width, kind);
        }
}

static size_t rows_of(const struct call_tree *tree, const struct box *boxes,
                      int64_t total)
{
        size_t rows = 1;
        for (size_t i = 0; i < tree->count; i++)
                if ((double)boxes[i].weight * (WIDTH - 2 * MARGIN) >=
                        NARROWEST * (double)total &&
                    tree->calls[i].depth + 1 > rows)
                        rows = tree->calls[i].depth + 1;
        return rows;
}

static void write_head(FILE *out, const struct report_summary *summary,
                       const char *provenance, enum export_weight kind, size_t height)
{
        static const char style[] =
            "<style>text{font:11px monospace;fill:#20242a}.head{font:14px "
            "sans-serif}.page{fill:#fff}"
            ".program{fill:#f0a35e}.library{fill:#8fb4dd}.kernel{fill:#b9bec6}"
            "@media(prefers-color-scheme:dark){text{fill:#f2f4f6}.page{fill:#1c2026}"
            ".program{fill:#a9672b}.library{fill:#3c6492}.kernel{fill:#555c66}}</"
            "style>\n";
        fprintf(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
                "xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
                "viewBox=\"0 0 %d %zu\">\n%s<rect class=\"page\" width=\"100%%\" "
                "height=\"100%%\"/>\n<text class=\"head\" x=\"%d\" y=\"22\">",
                WIDTH, height, WIDTH, height, style, MARGIN);
        write_text(out, summary->command ? summary->command : "memlag", 110);
        fprintf(out, ": %s</text>\n<text x=\"%d\" y=\"44\">",
                kind == EXPORT_SAMPLES   ? "samples of memory accesses"
                : kind == EXPORT_LATENCY ? "latency"
                                         : "cycles stalled by memory",
                MARGIN);
        write_text(out, provenance, 170);
        fputs("</text>\n", out);
}

int export_svg(struct db *db, const struct report_summary *summary,
               enum export_weight weight, FILE *out, struct diag *diag)
{
        struct call_tree tree;
        int code = call_tree_read(db, &tree, diag);
        struct box *boxes = calloc(tree.count + 1, sizeof(*boxes));
        char *provenance = code ? NULL : export_provenance(summary);
        if (!code && (!boxes || !provenance))
                code = diag_no_memory(diag);
        if (!code) {
                const int64_t total = sum_up(&tree, weight, boxes);
                write_head(out, summary, provenance, weight,
                           TOP + ROW * rows_of(&tree, boxes, total) + MARGIN);
                write_boxes(out, &tree, weight, boxes, total);
                fputs("</svg>\n", out);
        }
        free(provenance);
        free(boxes);
        call_tree_free(&tree);
        return code;
}
