/* SPDX-License-Identifier: MIT */
/* Interprets the facts about a machine for recording, with remedies. Pure: it reads no
 * file and changes nothing. */
#ifndef MEMLAG_PERF_MACHINE_FINDINGS_H
#define MEMLAG_PERF_MACHINE_FINDINGS_H

#include <stddef.h>

#include "machine_facts.h"

enum finding_status {
        FINDING_OK,     /* works */
        FINDING_NOTE,   /* is so; nothing to mend */
        FINDING_MISSING /* does not work; see the remedy */
};

struct finding {
        const char *topic; /* one word, stable: scripts look for it */
        enum finding_status status;
        char text[256];
        char remedy[256]; /* empty when there is none */
};

/* Results of probes for facts that no file contains. */
struct machine_trial {
        int perf_event_error; /* errno of opening a timer event on ourselves, or 0 */
        /* Why a source does not work, from its probe; NULL: it works. */
        const char *sim_problem;
        const char *pebs_problem;
        const char *ibs_problem;
        const char *debuginfod_urls; /* the environment's, or NULL */
        uint64_t memlock_bytes;      /* RLIMIT_MEMLOCK */
};

enum { FINDINGS_MAX = 40 };

/* Writes at most FINDINGS_MAX findings, always in the same order; their number. */
size_t machine_findings(const struct machine *machine, const struct machine_trial *trial,
                        struct finding findings[FINDINGS_MAX]);

#endif
