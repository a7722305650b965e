/* SPDX-License-Identifier: MIT */
/* The file of a validation. */
#include "validation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "json_file.h"
#include "json_text.h"

char *validation_path(const struct simulated_counters *counters, struct diag *diag)
{
        struct machine_identity identity;
        char suffix[192] = ".counters.json";
        machine_identity(&identity);
        if (counters)
                snprintf(suffix, sizeof(suffix), ".counters-sim-%.80s-prefetch-%s.json",
                         counters->preset, counters->prefetch);
        /* A preset may be a file. */
        for (char *at = strchr(suffix, '/'); at; at = strchr(at, '/'))
                *at = '_';
        return calibration_path(&identity, suffix, diag);
}

static int load(const char *path, json_t **document, struct diag *diag)
{
        json_t *root;
        int rc = json_file_read(path, "validation of these counters", "memlag validate",
                                &root, diag);
        if (rc < 0)
                return rc;
        double format = calibration_number(root, "format");
        if (format != VALIDATION_FORMAT) {
                json_decref(root);
                return diag_set(diag, -EBADMSG,
                                "%s: format %g is not the format %d of this memlag; make "
                                "it anew with 'memlag validate'",
                                path, format, VALIDATION_FORMAT);
        }
        if (json_text_clean(root) != 0) {
                json_decref(root);
                return diag_no_memory(diag);
        }
        *document = root;
        return 0;
}

int validation_load(const struct simulated_counters *counters, json_t **document,
                    struct diag *diag)
{
        char *path = validation_path(counters, diag);
        if (!path)
                return -ENOENT;
        int rc = load(path, document, diag);
        free(path);
        return rc;
}

const char *validation_objection(const json_t *event, bool without_prefetch)
{
        const char *usable = without_prefetch ? "usable_without_prefetch" : "usable";
        const char *verdict = json_string_value(json_object_get(event, "verdict"));
        return verdict && json_is_false(json_object_get(event, usable)) ? verdict : NULL;
}

bool validation_lists(const char *const *names, const char *event)
{
        for (; names && *names; names++)
                if (strcmp(*names, event) == 0)
                        return true;
        return false;
}
