/* SPDX-License-Identifier: MIT */
/* The result of `memlag calibrate` for a machine: a JSON document in the user's data
 * directory, one for each machine. Locates, reads and writes it; doc/memlag-calibrate.md
 * describes its contents. */
#ifndef MEMLAG_CALIBRATION_H
#define MEMLAG_CALIBRATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "diag.h"

enum { CALIBRATION_FORMAT = 1 };

struct machine_identity {
        char key[64]; /* stem of the machine's file names, such as
                         "AuthenticAMD-25-17-1-0123456789abcdef" */
        char vendor[16];
        char cpu[64];
        unsigned family, model, stepping;
        unsigned cpus; /* of the machine, not of this process */
        uint64_t memory_bytes;
        int is_virtual;
};

/* This machine. Its key changes with the CPU, the number of CPUs, the memory (in GiB)
 * and /etc/machine-id. */
void machine_identity(struct machine_identity *identity);

/* Returns the path of IDENTITY's file with SUFFIX, such as ".json", below $XDG_DATA_HOME
 * or ~/.local/share. The caller frees it. NULL with a message when there is no home. */
char *calibration_path(const struct machine_identity *identity, const char *suffix,
                       struct diag *diag);

/* Makes the directories of PATH; 0 when a file can be made there. */
int calibration_check_place(const char *path, struct diag *diag);

/* Replaces the file as a whole, with its directories. */
int calibration_write(const char *path, const char *text, struct diag *diag);

/* Loads this machine's calibration. 0 with *DOCUMENT, which the caller json_decrefs;
 * -ENOENT: there is none; -EBADMSG: the file is damaged or from a newer memlag.
 * Otherwise the read error. */
int calibration_load(json_t **document, struct diag *diag);

/* Returns DOCUMENT in its stored and exported form, which the caller frees; NULL: no
 * memory. */
char *calibration_text(const json_t *document);

/* Returns the number at the dot-separated PATH, such as "dram.0.latency_ns"; NAN:
 * none. */
double calibration_number(const json_t *document, const char *path);

/* Checks the calibration for consistency: 0, or -ERANGE with the contradicting values in
 * DIAG. The values are compared with each other and with the system's cache sizes. An
 * inconsistent calibration must not be used. */
int calibration_check_sense(const json_t *document, struct diag *diag);

/* Returns true if results of the calibration may be far from the truth: its worst error
 * is unknown, or more than a quarter. */
bool calibration_is_poor(const json_t *document);

#endif
