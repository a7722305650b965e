/* SPDX-License-Identifier: MIT */
/* See json_file.h. */
#include "json_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int not_opened(int reason, const char *path, const char *what, const char *command,
                      struct diag *diag)
{
        if (reason == ENOENT || reason == ENOTDIR)
                return diag_set(diag, -ENOENT,
                                "there is no %s (%s: %s); make one with '%s'", what, path,
                                strerror(reason), command);
        return diag_set(diag, -reason,
                        "cannot read the %s (%s: %s); make it readable, or let "
                        "XDG_DATA_HOME be a directory of yours",
                        what, path, strerror(reason));
}

int json_file_read(const char *path, const char *what, const char *command, json_t **root,
                   struct diag *diag)
{
        json_error_t error;
        FILE *file = fopen(path, "re");
        if (!file)
                return not_opened(errno, path, what, command, diag);
        *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
        fclose(file);
        return *root ? 0
                     : diag_set(diag, -EBADMSG, "%s, line %d: %s; make it anew with '%s'",
                                path, error.line, error.text, command);
}

bool json_file_can_miss(int rc, const char *command, const struct diag *diag)
{
        if (rc == -EBADMSG || rc == -ENOMEM)
                return false;
        if (rc != -ENOENT)
                diag_printf(command, "%s; done without it", diag->text);
        return true;
}
