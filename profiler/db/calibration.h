/* SPDX-License-Identifier: MIT */
/* What `memlag calibrate` found out about a machine: a JSON document in the user's data
 * directory, one for each machine. Here is where it lies and how it is read and written;
 * doc/memlag-calibrate.md says what stands in it. */
#ifndef MEMLAG_CALIBRATION_H
#define MEMLAG_CALIBRATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "diag.h"

enum { CALIBRATION_FORMAT = 1 };

struct machine_identity {
        char key[64]; /* names the machine's files, such as
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

/* The path of IDENTITY's file with SUFFIX, such as ".json", below $XDG_DATA_HOME or
 * ~/.local/share; the caller frees it. NULL with a message when there is no home. */
char *calibration_path(const struct machine_identity *identity, const char *suffix,
                       struct diag *diag);

/* Makes the directories of PATH; 0 when a file can be made there. */
int calibration_check_place(const char *path, struct diag *diag);

/* Replaces the file as a whole, with its directories. */
int calibration_write(const char *path, const char *text, struct diag *diag);

/* This machine's calibration: 0 with *DOCUMENT, which the caller json_decrefs; -ENOENT
 * when there is none; -EBADMSG when the file is damaged or from a newer memlag; else why
 * it cannot be read. */
int calibration_load(json_t **document, struct diag *diag);

/* DOCUMENT as it is kept and exported, which the caller frees; NULL: no memory. */
char *calibration_text(const json_t *document);

/* The number at the dot-separated PATH, such as "dram.0.latency_ns"; NAN: none. */
double calibration_number(const json_t *document, const char *path);

/* Whether the calibration's figures can be true together: 0, or -ERANGE with those in
 * DIAG that contradict each other, or what the system tells of its caches. Nothing is to
 * be made of such a one. */
int calibration_check_sense(const json_t *document, struct diag *diag);

/* Whether what is made of the calibration may be far from the truth: its worst error is
 * unknown, or more than a quarter. */
bool calibration_is_poor(const json_t *document);

#endif
