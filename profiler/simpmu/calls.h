/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of system calls (calls.inc): the arguments of each call, and its treatment
 * by the simulated PMU. Data only. */
#ifndef SIMPMU_CALLS_H
#define SIMPMU_CALLS_H

/* Flags, described in calls.inc. */
enum call_flags {
        ENGINE = 1,
        FORWARD = 2,
        WAITS = 4,
        OPENS = 8,
        REFUSED = 16,
};

struct call_info {
        const char *name;      /* NULL: no such call is known */
        const char *arguments; /* a letter for each, see calls.inc */
        unsigned flags;        /* of enum call_flags */
};

/* The table's entry of call NUMBER; NULL: none. */
const struct call_info *call_info(unsigned long number);

#endif
