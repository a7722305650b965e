/* SPDX-License-Identifier: MIT */
/* The part of a recording that a command shows: some processes or threads, or a part of
 * the time. All options that select samples belong here. On the command's own connection,
 * temporary tables and views of the same names stand before the file's samples, findings
 * and views. Every later query reads the selected part without knowing of it. */
#ifndef MEMLAG_SELECTION_H
#define MEMLAG_SELECTION_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "db.h"

/* Texts, owned. */
struct selection_list {
        const char **items;
        size_t count, capacity;
};

struct selection {
        struct selection_list pids;      /* of decimal digits */
        struct selection_list processes; /* shell patterns */
        struct selection_list threads;   /* thread numbers or shell patterns */
        bool has_time;
        int64_t from_ns, to_ns; /* of the recording's time; to_ns is not in it */
};

enum { SELECTION_PID = 1000, SELECTION_PROCESS, SELECTION_THREAD, SELECTION_TIME };

/* For a command's table of options. */
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
        {                                                                                \
                "time", SELECTION_TIME, "FROM-TO", 0,                                    \
                    "Only those from FROM to TO, in milliseconds of the recording", 5    \
        }

/* Takes an option of SELECTION_OPTIONS; ends the process on bad usage.
 * ARGP_ERR_UNKNOWN: KEY is another option. */
error_t selection_parse(struct selection *selection, int key, const char *text,
                        const struct argp_state *state);
void selection_free(struct selection *selection);

/* Whether an option was given, and whether it selects processes or threads. */
bool selection_is_any(const struct selection *selection);
bool selection_is_of_tasks(const struct selection *selection);

/* Makes DB's connection show the selected samples alone, and finds their findings anew.
 * The table run gets the keys `selection`, in words, and `recorded_samples`, the count of
 * the whole recording. Thresholds and contended intervals stay the whole recording's.
 * Without an option it does nothing. -ENODATA: no process or thread fits. */
int selection_apply(const struct selection *selection, struct db *db, struct diag *diag);

#endif
