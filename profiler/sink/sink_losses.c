/* SPDX-License-Identifier: MIT */
/* Sums up losses by their kind: there are few. */
#include "sink_losses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sink_losses_free(struct sink_losses *losses)
{
        for (size_t i = 0; i < losses->count; i++) {
                free(losses->items[i].kind);
                free(losses->items[i].unit);
        }
        free(losses->items);
}

int sink_losses_add(struct sink_losses *losses, const char *kind, uint64_t count,
                    const char *unit)
{
        losses->changed = true;
        for (size_t i = 0; i < losses->count; i++) {
                if (strcmp(losses->items[i].kind, kind) == 0) {
                        losses->items[i].count += count;
                        return 0;
                }
        }
        struct loss *items =
            reallocarray(losses->items, losses->count + 1, sizeof(*items));
        if (!items)
                return -ENOMEM;
        losses->items = items;
        struct loss loss = {strdup(kind), strdup(unit), count};
        if (!loss.kind || !loss.unit) {
                free(loss.kind);
                free(loss.unit);
                return -ENOMEM;
        }
        items[losses->count++] = loss;
        return 0;
}

uint64_t sink_losses_of(const struct sink_losses *losses, const char *kind)
{
        for (size_t i = 0; i < losses->count; i++)
                if (strcmp(losses->items[i].kind, kind) == 0)
                        return losses->items[i].count;
        return 0;
}

int sink_losses_write(const struct sink_losses *losses, struct db *db, const char *stage,
                      struct diag *diag)
{
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < losses->count; i++) {
                const struct loss *loss = &losses->items[i];
                int64_t value =
                    loss->count > INT64_MAX ? INT64_MAX : (int64_t)loss->count;
                rc = db_ledger_set(db, stage, loss->kind, value, loss->unit, diag);
        }
        return rc;
}
