/* SPDX-License-Identifier: MIT */
/* Functions that differ by source position only, as "get (a.c:7)" and "{lambda at
 * a.c:7:9}". In another build, positions move: another function may get the label. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "verdict.h"

/* The rows of one label: COUNT rows from ROWS. */
struct label {
        struct diff_row *rows;
        size_t count;
        char *plain; /* the group without position numbers */
        int64_t samples;
};

struct labels {
        struct label *all; /* by plain name, then by position */
        size_t count;
};

/* The end of ":7" or ":7:9" at AT, if a bracket closes there; otherwise AT. */
static const char *after_place(const char *at)
{
        const char *end = at;
        for (int i = 0; i < 2 && *end == ':' && isdigit((unsigned char)end[1]); i++)
                for (end++; isdigit((unsigned char)*end);)
                        end++;
        return *end == '}' || *end == ')' ? end : at;
}

/* GROUP without the positions of lambdas and without " (a.c:7)", a suffix of functions
 * with equal names. The caller frees it; NULL without memory. */
static char *plain_of(const char *group)
{
        char *plain = malloc(strlen(group) + 1), *to = plain, *opened = NULL;
        for (const char *from = group; plain && *from; *to++ = *from++) {
                const char *end = after_place(from);
                if (from[0] == ' ' && from[1] == '(')
                        opened = to;
                if (end != from && *end == ')' && opened) {
                        to = opened;
                        from = end + 1;
                        opened = NULL;
                        if (!*from)
                                break;
                } else {
                        from = end;
                }
        }
        if (plain)
                *to = '\0';
        return plain;
}

static int by_plain_and_place(const void *left, const void *right)
{
        const struct label *a = left, *b = right;
        int order = strcmp(a->plain, b->plain);
        return order ? order : strverscmp(a->rows->group, b->rows->group);
}

static void labels_free(struct labels *labels)
{
        for (size_t i = 0; i < labels->count; i++)
                free(labels->all[i].plain);
        free(labels->all);
}

/* Lists the labels of SIDE; returns 0 or -ENOMEM. */
static int labels_make(const struct diff_side *side, struct labels *labels)
{
        *labels = (struct labels){calloc(side->row_count + 1, sizeof(*labels->all)), 0};
        if (!labels->all)
                return -ENOMEM;
        for (size_t i = 0, end; i < side->row_count; i = end) {
                struct label label = {.rows = &side->rows[i],
                                      .plain = plain_of(side->rows[i].group)};
                if (!label.plain)
                        return -ENOMEM;
                for (end = i; end < side->row_count &&
                              strcmp(side->rows[end].group, label.rows->group) == 0;
                     end++)
                        label.samples = diff_sum(label.samples, side->rows[end].samples);
                label.count = end - i;
                labels->all[labels->count++] = label;
        }
        if (labels->count)
                qsort(labels->all, labels->count, sizeof(*labels->all),
                      by_plain_and_place);
        return 0;
}

static size_t plain_end(const struct labels *labels, size_t start)
{
        size_t end = start;
        while (end < labels->count &&
               strcmp(labels->all[end].plain, labels->all[start].plain) == 0)
                end++;
        return end;
}

static bool are_of(const char *build, const struct label *labels, size_t count)
{
        for (size_t i = 0; i < count; i++)
                for (size_t row = 0; row < labels[i].count; row++)
                        if (strcmp(labels[i].rows[row].build, build) != 0)
                                return false;
        return *build;
}

static bool have_places(const struct label *labels, size_t count)
{
        for (size_t i = 0; i < count; i++)
                if (strcmp(labels[i].plain, labels[i].rows->group) != 0)
                        return true;
        return false;
}

static size_t sampled(const struct label *labels, size_t count, int64_t least)
{
        size_t enough = 0;
        for (size_t i = 0; i < count; i++)
                enough += labels[i].samples >= least;
        return enough;
}

/* Moves the rows of LABEL to the group of FROM, or to a unique group if FROM is NULL.
 * Returns 0 or -ENOMEM. */
static int set_group(const struct label *label, const struct label *from)
{
        char *group = NULL;
        if (!from &&
            asprintf(&group, "%s%cafter", label->rows->group, DIFF_FIELD_END) < 0)
                return -ENOMEM;
        int code = 0;
        for (size_t i = 0; !code && i < label->count; i++) {
                char *copy = strdup(from ? from->rows->group : group);
                code = copy ? 0 : -ENOMEM;
                if (!copy)
                        break;
                free(label->rows[i].group);
                label->rows[i].group = copy;
        }
        free(group);
        return code;
}

/* Matches BEFORE and AFTER labels of one plain name in order, if both sides have equally
 * many: all labels, or the labels with enough samples. The rest stays unmatched. */
static int join_labels(struct diff *diff, const struct label *before, size_t before_count,
                       const struct label *after, size_t after_count)
{
        int64_t least = before_count == after_count ? INT64_MIN : VERDICT_SAMPLES_MIN;
        bool joins =
            sampled(before, before_count, least) == sampled(after, after_count, least);
        size_t b = 0;
        int code = 0;
        for (size_t a = 0; !code && a < after_count; a++) {
                bool joined = joins && after[a].samples >= least;
                while (joined && before[b].samples < least)
                        b++;
                code = set_group(&after[a], joined ? &before[b++] : NULL);
        }
        if (!joins) {
                diff->unjoined = diff->unjoined ?: before->rows;
                diff->unjoined_count++;
        }
        return code;
}

static int join_all(struct diff *diff, const struct labels *before,
                    const struct labels *after)
{
        int code = 0;
        for (size_t b = 0, a = 0; !code && b < before->count && a < after->count;) {
                const struct label *from = &before->all[b], *to = &after->all[a];
                size_t b_end = plain_end(before, b), a_end = plain_end(after, a);
                int order = strcmp(from->plain, to->plain);
                bool same_build = are_of(from->rows->build, from, b_end - b) &&
                                  are_of(from->rows->build, to, a_end - a);
                bool placed = have_places(from, b_end - b) || have_places(to, a_end - a);
                if (order == 0 && placed && !same_build)
                        code = join_labels(diff, from, b_end - b, to, a_end - a);
                b = order <= 0 ? b_end : b;
                a = order >= 0 ? a_end : a;
        }
        return code;
}

int diff_join_labels(struct diff *diff)
{
        struct labels before = {0}, after = {0};
        int code = labels_make(&diff->before, &before);
        if (!code)
                code = labels_make(&diff->after, &after);
        if (!code)
                code = join_all(diff, &before, &after);
        labels_free(&before);
        labels_free(&after);
        diff_rows_sort(&diff->after);
        return code;
}
