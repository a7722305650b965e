/* SPDX-License-Identifier: MIT */
/* What is said where two recordings were not made alike. Compares no figures. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "prose.h"
#include "text.h"

static const struct {
        const char *key;   /* of the run */
        const char *name;  /* for people */
        const char *means; /* for the comparison; NULL: nothing */
} settings[] = {
    {"command", "command", NULL},
    {"cpu", "processor", "a cycle of one is not that of the other"},
    {"source", "source", "the two see other loads"},
    {"sim_set", "parameters of the model", "the program is not all that changed"},
    {"sim_detail", "detail of the model", "the program is not all that changed"},
    {"sim_prefetch", "prefetchers of the model", "the program is not all that changed"},
    {"ldlat_cycles", "least latency that was sampled",
     "what is stalled by loads between the two is in one only"},
    {"period_loads", "loads for a sample", "figures are scaled by it"},
    {"frequency_hz", "frequency of samples", "figures are scaled by it"},
    {"interval_ns", "length of intervals, ns", NULL},
};

/* The value of KEY in SIDE for a terminal, which the caller frees; "none" without one. */
static char *setting_of(const struct diff_side *side, const char *key)
{
        char *raw = db_run_text(side->db, key);
        char *text = raw ? text_printable(raw, strlen(raw)) : strdup("none");
        free(raw);
        return text;
}

/* Two recordings, and what they are to each other. */
struct compared {
        const struct diff_side *one, *other;
        const char *one_is, *other_is;
};

static int print_setting(const struct compared *compared, size_t i, FILE *out)
{
        char *one = setting_of(compared->one, settings[i].key);
        char *other = setting_of(compared->other, settings[i].key);
        char *sentence = NULL;
        int code = one && other ? 0 : -ENOMEM;
        const char *means = settings[i].means;
        if (!code && strcmp(one, other) != 0) {
                if (asprintf(&sentence, "Not alike: %s: %s %s, %s %s%s%s.",
                             settings[i].name, one, compared->one_is, other,
                             compared->other_is, means ? "; " : "", means ?: "") < 0) {
                        sentence = NULL;
                        code = -ENOMEM;
                } else {
                        prose_wrapped(out, sentence);
                }
        }
        free(one);
        free(other);
        free(sentence);
        return code;
}

static int print_settings(const struct compared *compared, FILE *out)
{
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(settings) / sizeof(settings[0]); i++)
                code = print_setting(compared, i, out);
        return code;
}

static int print_missing(const struct diff_side *side, FILE *out)
{
        const struct report_summary *summary = &side->summary;
        char *name = text_printable(side->file, strlen(side->file));
        char *sentence = NULL;
        int code = 0;
        if (summary->cut_off || summary->failure)
                code = asprintf(&sentence,
                                "%s is not whole: its figures are of a part of "
                                "the run.",
                                name ?: "");
        else if (summary->lost > 0)
                code = asprintf(&sentence,
                                "%s lost %" PRId64
                                " records: the rows of these have too little.",
                                name ?: "", summary->lost);
        if (name && code > 0)
                prose_wrapped(out, sentence);
        if (code > 0)
                free(sentence);
        free(name);
        return name && code >= 0 ? 0 : -ENOMEM;
}

static int print_equal(const struct diff_equal *equal, FILE *out)
{
        char *file = text_printable(equal->file, strlen(equal->file));
        char *same_as = text_printable(equal->same_as, strlen(equal->same_as));
        char *sentence = NULL;
        int code = file && same_as ? 0 : -ENOMEM;
        if (!code && asprintf(&sentence,
                              "%s has the same samples as %s: they count once, as one "
                              "recording.",
                              file, same_as) < 0) {
                sentence = NULL;
                code = -ENOMEM;
        }
        if (!code)
                prose_wrapped(out, sentence);
        free(sentence);
        free(same_as);
        free(file);
        return code;
}

/* What is to be said of SIDE's recordings, which are to be of the same run. */
static int print_side(const struct diff_side *side, FILE *out)
{
        int code = print_missing(side, out);
        for (size_t i = 0; !code && i < side->equal_count; i++)
                code = print_equal(&side->equals[i], out);
        for (size_t i = 0; !code && i < side->other_count; i++) {
                const struct compared compared = {
                    side, &side->others[i], "in one recording of a side", "in another"};
                code = print_settings(&compared, out);
                if (!code)
                        code = print_missing(&side->others[i], out);
        }
        return code;
}

int diff_print_notes(const struct diff *diff, FILE *out, struct diag *diag)
{
        const struct compared sides = {&diff->before, &diff->after, "before", "after"};
        int code = print_settings(&sides, out);
        if (!code)
                code = print_side(&diff->before, out);
        if (!code)
                code = print_side(&diff->after, out);
        return code ? diag_no_memory(diag) : 0;
}
