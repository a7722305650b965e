/* SPDX-License-Identifier: MIT */
/* See left_out_note.h. A busy machine leaves no time for most figures: separate notes
 * would hide the others. */
#include "left_out_note.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "host_preset.h"
#include "survey.h"

/* Joins NAMES with commas; the caller frees the text. NULL without memory. */
static char *joined(const json_t *names)
{
        char *text = NULL;
        size_t bytes, index;
        json_t *name;
        FILE *out = open_memstream(&text, &bytes);
        if (!out)
                return NULL;
        json_array_foreach(names, index, name)
            fprintf(out, "%s%s", index > 0 ? ", " : "", json_string_value(name));
        fclose(out);
        return text;
}

static void add_names(const json_t *names, const char *why, json_t *conditions)
{
        char *text = json_array_size(names) > 0 ? joined(names) : NULL;
        if (text)
                conditions_add(conditions, "left-out", "%s: %s", why, text);
        free(text);
}

void left_out_note(const struct survey *survey, json_t *conditions)
{
        size_t count = json_array_size(survey->left_out) +
                       json_array_size(survey->unvisited) +
                       json_array_size(survey->drifted);
        size_t index;
        json_t *figure;
        if (count == 0)
                return;
        conditions_add(conditions, "left-out",
                       "%zu figure%s that could not be trusted %s not in the result; "
                       "repeat when the machine is quiet",
                       count, count == 1 ? "" : "s", count == 1 ? "is" : "are");
        json_array_foreach(survey->left_out, index, figure)
            conditions_add(conditions, "left-out", "%s", json_string_value(figure));
        add_names(survey->unvisited,
                  survey->waited
                      ? "there was too little undisturbed time, or none while the CPUs "
                        "were together, for"
                      : "there was too little undisturbed time for",
                  conditions);
        add_names(survey->drifted, "visits differ too much in", conditions);
}

void no_host_note(const json_t *document, json_t *conditions)
{
        json_t *names = json_array();
        const char *name;
        for (size_t i = 0; (name = host_preset_lacks(document, i)); i++)
                json_array_append_new(names, json_string(name));
        char *text = json_array_size(names) > 0 ? joined(names) : NULL;
        if (text)
                conditions_add(conditions, "no-host",
                               "there is no '--sim-cpu host' of this calibration, which "
                               "lacks %s",
                               text);
        free(text);
        json_decref(names);
}
