/* SPDX-License-Identifier: MIT */
/* Losses of a recording by kind, until they are written into the ledger. For the sink
 * only. */
#ifndef MEMLAG_SINK_LOSSES_H
#define MEMLAG_SINK_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db.h"

struct loss {
        char *kind;
        char *unit;
        uint64_t count;
};

/* Zeroed: no losses. */
struct sink_losses {
        struct loss *items;
        size_t count;
        bool changed; /* since they were written last */
};

void sink_losses_free(struct sink_losses *losses);

/* COUNT more of KIND. 0 or -ENOMEM. */
int sink_losses_add(struct sink_losses *losses, const char *kind, uint64_t count,
                    const char *unit);

/* Returns the sum for KIND. */
uint64_t sink_losses_of(const struct sink_losses *losses, const char *kind);

int sink_losses_write(const struct sink_losses *losses, struct db *db, const char *stage,
                      struct diag *diag);

#endif
