/* SPDX-License-Identifier: MIT */
/* Which part of a recording a command is about: some of its processes or threads, or a
 * part of its time. The one place for such options. All tables of samples, of findings
 * and all views are put aside, on the command's own connection, by temporary ones of the
 * same names that have the selected part alone: whatever is read afterwards is of that
 * part. */
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
 * ARGP_ERR_UNKNOWN: KEY is none of them. */
error_t selection_parse(struct selection *selection, int key, const char *text,
                        const struct argp_state *state);
void selection_free(struct selection *selection);

/* Whether anything was selected, and whether some processes or threads were. */
bool selection_is_any(const struct selection *selection);
bool selection_is_of_tasks(const struct selection *selection);

/* Makes DB's connection show the selected part alone, with findings made anew of it, and
 * the keys `selection`, in words, and `recorded_samples`, of the whole, in run. Limits
 * and contended intervals stay those of all that ran. Does nothing where nothing was
 * selected. -ENODATA: no process or thread is meant. */
int selection_apply(const struct selection *selection, struct db *db, struct diag *diag);

#endif
