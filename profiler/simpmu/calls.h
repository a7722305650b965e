/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of system calls (calls.inc): what the arguments of each are, and how the
 * simulated PMU treats it. Data only. */
#ifndef SIMPMU_CALLS_H
#define SIMPMU_CALLS_H

/* Flags; calls.inc says what they mean. */
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

/* What the table says of call NUMBER; NULL: nothing. */
const struct call_info *call_info(unsigned long number);

#endif
