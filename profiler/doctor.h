/* SPDX-License-Identifier: MIT */
/* The command that shows the capabilities of this machine. */
#ifndef MEMLAG_DOCTOR_H
#define MEMLAG_DOCTOR_H

/* memlag doctor; see doc/memlag-doctor.md. */
int cmd_doctor(int argc, char **argv);

#endif
