/* SPDX-License-Identifier: MIT */
/* See validated.h. */
#include "validated.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "json_file.h"
#include "sim_prefetch.h"
#include "sim_preset.h"
#include "validation.h"

/* Returns the objection to a recorded event; NULL: there is none, or the event is not
 * recorded. */
static const char *objection(const struct validated *validated, const json_t *event)
{
        return json_is_true(json_object_get(event, "recorded"))
                   ? validation_objection(event, validated->without_prefetch)
                   : NULL;
}

static const char *name_of(const json_t *event)
{
        return json_string_value(json_object_get(event, "event"));
}

/* Returns true if the document marks the event as the best of its concept, and the event
 * is not recorded by default. */
static bool is_preferred(const struct validated *validated, const json_t *event)
{
        const json_t *best = json_object_get(validated->document, "best");
        const char *concept = json_string_value(json_object_get(event, "concept"));
        return concept && json_is_false(json_object_get(event, "recorded")) &&
               json_equal(json_object_get(best, concept),
                          json_object_get(event, "event"));
}

static int collect(struct validated *validated, struct diag *diag)
{
        const json_t *events = json_object_get(validated->document, "events");
        size_t room = json_array_size(events) + 1;
        const char **unusable = calloc(room, sizeof(*unusable));
        const char **preferred = calloc(room, sizeof(*preferred));
        size_t index, unusable_count = 0, preferred_count = 0;
        json_t *event;
        validated->counters = (struct validated_counters){unusable, preferred};
        if (!unusable || !preferred)
                return diag_no_memory(diag);
        json_array_foreach(events, index, event)
        {
                if (!name_of(event))
                        continue;
                if (objection(validated, event))
                        unusable[unusable_count++] = name_of(event);
                if (is_preferred(validated, event))
                        preferred[preferred_count++] = name_of(event);
        }
        return 0;
}

/* Maps the result of loading a validation; -ENOENT also if it is inaccessible. */
static int if_in_reach(int rc, const struct diag *diag)
{
        return rc < 0 && json_file_can_miss(rc, "record", diag) ? -ENOENT : rc;
}

/* Defects that depend on prefetchers do not concern a run without prefetchers; both
 * validations then apply. A CPU changed by --sim-set has no validation. */
static int load_simulated(const struct source_options *options,
                          struct validated *validated, struct diag *diag)
{
        struct simulated_counters counters;
        struct sim_preset preset;
        if (options->sim_set)
                return -ENOENT;
        int rc = sim_preset_build(options->sim_cpu, NULL, &preset, diag);
        if (rc < 0)
                return rc;
        counters.preset = preset.name;
        sim_prefetch_label(options->sim_prefetch, counters.prefetch,
                           sizeof(counters.prefetch));
        rc = validation_load(&counters, &validated->document, diag);
        if (rc == -ENOENT && !options->sim_prefetch) {
                sim_prefetch_label(sim_prefetch_all(), counters.prefetch,
                                   sizeof(counters.prefetch));
                validated->without_prefetch = true;
                rc = validation_load(&counters, &validated->document, diag);
        }
        return if_in_reach(rc, diag);
}

int validated_read(const struct source_ops *ops, const struct source_options *options,
                   struct validated *validated, struct diag *diag)
{
        int rc = -ENOENT;
        *validated = (struct validated){.document = NULL};
        if (ops == &source_sim)
                rc = load_simulated(options, validated, diag);
        else if (ops == &source_pebs || ops == &source_ibs)
                rc = if_in_reach(validation_load(NULL, &validated->document, diag), diag);
        if (rc == -ENOENT)
                return 0;
        return rc == 0 ? collect(validated, diag) : rc;
}

void validated_free(struct validated *validated)
{
        free((void *)validated->counters.unusable);
        free((void *)validated->counters.preferred);
        json_decref(validated->document);
}

int validated_tell(const struct validated *validated, struct sink *sink,
                   struct diag *diag)
{
        const json_t *events = json_object_get(validated->document, "events");
        size_t index;
        json_t *event;
        json_array_foreach(events, index, event)
        {
                char kind[160];
                const char *reason = objection(validated, event);
                if (!reason || !name_of(event))
                        continue;
                snprintf(kind, sizeof(kind), "not recorded: %.80s, by validation: %s",
                         name_of(event), reason);
                int rc = sink_loss(sink, kind, 1, "counters", diag);
                if (rc < 0)
                        return rc;
        }
        return 0;
}
