/* SPDX-License-Identifier: MIT */
/* The command that tells what this machine can do. */
#ifndef MEMLAG_DOCTOR_H
#define MEMLAG_DOCTOR_H

/* memlag doctor; see doc/memlag-doctor.md. */
int cmd_doctor(int argc, char **argv);

#endif
