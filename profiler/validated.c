/* SPDX-License-Identifier: MIT */
/* Which counters `memlag validate` found to be no measure of anything. */
#include "validated.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim_preset.h"
#include "validation.h"

/* Why the event is not to be recorded; NULL: it is, or nobody would. */
static const char *objection(const json_t *event)
{
        return json_is_true(json_object_get(event, "recorded"))
                   ? validation_objection(event)
                   : NULL;
}

static const char *name_of(const json_t *event)
{
        return json_string_value(json_object_get(event, "event"));
}

static int collect(struct validated *validated, struct diag *diag)
{
        const json_t *events = json_object_get(validated->document, "events");
        size_t index, count = 0;
        json_t *event;
        validated->names = calloc(json_array_size(events) + 1, sizeof(*validated->names));
        if (!validated->names)
                return diag_no_memory(diag);
        json_array_foreach(events, index, event) if (objection(event) && name_of(event))
            validated->names[count++] = name_of(event);
        return 0;
}

int validated_read(const struct source_ops *ops, const struct source_options *options,
                   struct validated *validated, struct diag *diag)
{
        struct sim_preset preset;
        bool simulated = ops == &source_sim;
        int rc = 0;
        *validated = (struct validated){NULL, NULL};
        if (!simulated && ops != &source_pebs)
                return 0;
        if (simulated)
                rc = sim_preset_build(options->sim_cpu, NULL, &preset, diag);
        if (rc == 0)
                rc = validation_load(simulated ? preset.name : NULL, &validated->document,
                                     diag);
        if (rc == -ENOENT)
                return 0;
        return rc == 0 ? collect(validated, diag) : rc;
}

void validated_free(struct validated *validated)
{
        free(validated->names);
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
                const char *reason = objection(event);
                if (!reason || !name_of(event))
                        continue;
                snprintf(kind, sizeof(kind), "not recorded: %.80s, by validation: %s",
                         name_of(event), reason);
                if (sink_loss(sink, kind, 1, "counters") < 0)
                        return diag_no_memory(diag);
        }
        return 0;
}
