/* SPDX-License-Identifier: MIT */
/* Measures the latency of a load from a line that another CPU has modified: a chase
 * through lines that a second thread has just written. */
#ifndef MEMLAG_MODIFIED_H
#define MEMLAG_MODIFIED_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

struct modified_round {
        double ns;      /* per load */
        bool disturbed; /* the loading thread lost its CPU during the round */
};

/* Times COUNT rounds on the calling thread; before each, a thread on the CPU WRITER
 * writes every line. FINISHED gets the number of rounds: fewer if other programs keep the
 * writer from running. */
int modified_lines(int writer, struct modified_round *rounds, size_t count,
                   size_t *finished, struct diag *diag);

#endif
