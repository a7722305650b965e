/* SPDX-License-Identifier: MIT */
/* Selects the part of a recording that a command shows: some processes or threads, a time
 * span, or phases. All options that select samples belong here. On the command's own
 * connection, temporary tables and views shadow the file's samples, findings and views.
 * Later queries read the selected part without knowing about it. */
#ifndef MEMLAG_SELECTION_H
#define MEMLAG_SELECTION_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "db.h"

/* Owned texts. */
struct selection_list {
        const char **items;
        size_t count, capacity;
};

struct selection {
        struct selection_list pids;      /* decimal numbers */
        struct selection_list processes; /* shell patterns */
        struct selection_list threads;   /* thread numbers or shell patterns */
        struct selection_list phases;    /* numbers of report --by phase */
        bool with_parts; /* also create temp.sample_part, see selection_apply */
        bool has_time;
        int64_t from_ns, to_ns; /* in the recording's time, without to_ns */
};

enum {
        SELECTION_PID = 1000,
        SELECTION_PROCESS,
        SELECTION_THREAD,
        SELECTION_TIME,
        SELECTION_PHASE
};

/* For a command's option table. */
#define SELECTION_OPTIONS                                                                \
        {"pid",                                                                          \
         SELECTION_PID,                                                                  \
         "PID",                                                                          \
         0,                                                                              \
         "Of the samples only those of process PID; may be given more than once",        \
         5},                                                                             \
            {"process",                                                                  \
             SELECTION_PROCESS,                                                          \
             "NAME",                                                                     \
             0,                                                                          \
             "Only those of processes of the program NAME (* stands for any "            \
             "characters); may be given more than once",                                 \
             5},                                                                         \
            {"thread",                                                                   \
             SELECTION_THREAD,                                                           \
             "THREAD",                                                                   \
             0,                                                                          \
             "Only those of threads of this number or name; may be given more than "     \
             "once",                                                                     \
             5},                                                                         \
            {"time",                                                                     \
             SELECTION_TIME,                                                             \
             "FROM-TO",                                                                  \
             0,                                                                          \
             "Only those from FROM to TO, in milliseconds of the recording",             \
             5},                                                                         \
        {                                                                                \
                "phase", SELECTION_PHASE, "N", 0,                                        \
                    "Only those of phase N of 'memlag report --by phase'; may be given " \
                    "more than once",                                                    \
                    5                                                                    \
        }

/* Handles an option of SELECTION_OPTIONS; ends the process on bad usage. Returns
 * ARGP_ERR_UNKNOWN for other options. */
error_t selection_parse(struct selection *selection, int key, const char *text,
                        const struct argp_state *state);
void selection_free(struct selection *selection);

/* Whether an option was given, and whether it selects processes or threads. */
bool selection_is_any(const struct selection *selection);
bool selection_is_of_tasks(const struct selection *selection);

/* Restricts DB's connection to the selected samples, and recomputes their findings. The
 * table run gets the keys `selection`, in words, and `recorded_samples`, the sample count
 * of the whole recording. Thresholds and contended intervals still cover the whole
 * recording. Does nothing without an option.
 *
 * With with_parts, also creates the temporary table sample_part (sample_id, part):
 * samples by cause, as in judge/rules/tally.h. Returns -ENODATA if no process or thread
 * matches, or a phase does not exist. */
int selection_apply(const struct selection *selection, struct db *db, struct diag *diag);

#endif
