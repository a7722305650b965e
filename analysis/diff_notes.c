/* SPDX-License-Identifier: MIT */
/* What is said where two recordings were not made alike. Compares no figures. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "diff.h"
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

/* Adds a sentence as of printf: 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) static int note(struct diff_notes *notes,
                                                      const char *format, ...)
{
        if (array_reserve(&notes->texts, &notes->capacity, notes->count,
                          sizeof(*notes->texts)))
                return -ENOMEM;
        va_list arguments;
        va_start(arguments, format);
        int length = vasprintf(&notes->texts[notes->count], format, arguments);
        va_end(arguments);
        if (length < 0)
                return -ENOMEM;
        notes->count++;
        return 0;
}

static int note_setting(struct diff_notes *notes, const struct compared *compared,
                        size_t i)
{
        char *one = setting_of(compared->one, settings[i].key);
        char *other = setting_of(compared->other, settings[i].key);
        int code = one && other ? 0 : -ENOMEM;
        const char *means = settings[i].means;
        if (!code && strcmp(one, other) != 0)
                code = note(notes, "Not alike: %s: %s %s, %s %s%s%s.", settings[i].name,
                            one, compared->one_is, other, compared->other_is,
                            means ? "; " : "", means ?: "");
        free(one);
        free(other);
        return code;
}

static int note_settings(struct diff_notes *notes, const struct compared *compared)
{
        int code = 0;
        for (size_t i = 0; !code && i < sizeof(settings) / sizeof(settings[0]); i++)
                code = note_setting(notes, compared, i);
        return code;
}

static int note_missing(struct diff_notes *notes, const struct diff_side *side)
{
        const struct report_summary *summary = &side->summary;
        char *name = text_printable(side->file, strlen(side->file));
        int code = name ? 0 : -ENOMEM;
        if (!code && (summary->cut_off || summary->failure))
                code =
                    note(notes, "%s is not whole: its figures are of a part of the run.",
                         name);
        else if (!code && summary->lost > 0)
                code = note(notes,
                            "%s lost %" PRId64
                            " records: the rows of these have too little.",
                            name, summary->lost);
        free(name);
        return code;
}

static int note_equal(struct diff_notes *notes, const struct diff_equal *equal)
{
        char *file = text_printable(equal->file, strlen(equal->file));
        char *same_as = text_printable(equal->same_as, strlen(equal->same_as));
        int code = file && same_as ? note(notes,
                                          "%s has the same samples as %s: they count "
                                          "once, as one recording.",
                                          file, same_as)
                                   : -ENOMEM;
        free(same_as);
        free(file);
        return code;
}

/* What is to be said of SIDE's recordings, which are to be of the same run. */
static int note_side(struct diff_notes *notes, const struct diff_side *side)
{
        int code = note_missing(notes, side);
        for (size_t i = 0; !code && i < side->equal_count; i++)
                code = note_equal(notes, &side->equals[i]);
        for (size_t i = 0; !code && i < side->other_count; i++) {
                const struct compared compared = {
                    side, &side->others[i], "in one recording of a side", "in another"};
                code = note_settings(notes, &compared);
                if (!code)
                        code = note_missing(notes, &side->others[i]);
        }
        return code;
}

int diff_notes_read(const struct diff *diff, struct diff_notes *notes, struct diag *diag)
{
        const struct compared sides = {&diff->before, &diff->after, "before", "after"};
        int code = note_settings(notes, &sides);
        if (!code)
                code = note_side(notes, &diff->before);
        if (!code)
                code = note_side(notes, &diff->after);
        return code ? diag_no_memory(diag) : 0;
}

void diff_notes_free(struct diff_notes *notes)
{
        for (size_t i = 0; i < notes->count; i++)
                free(notes->texts[i]);
        free(notes->texts);
}
