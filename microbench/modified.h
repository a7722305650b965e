/* SPDX-License-Identifier: MIT */
/* How long a load takes of a line that another CPU has modified: a chase through lines
 * to which a second thread has just written. */
#ifndef MEMLAG_MODIFIED_H
#define MEMLAG_MODIFIED_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

struct modified_round {
        double ns;      /* of a load */
        bool disturbed; /* the thread that loads was taken from its CPU meanwhile */
};

/* Times COUNT rounds on the calling thread, each after a thread on the CPU WRITER has
 * written to every line. FINISHED says how many there are: fewer where other programs
 * keep the writer from running. */
int modified_lines(int writer, struct modified_round *rounds, size_t count,
                   size_t *finished, struct diag *diag);

#endif
