/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * The program that runs, and how Valgrind starts the programs that it executes. */
#ifndef SIMPMU_COMPAT_PROGRAM_H
#define SIMPMU_COMPAT_PROGRAM_H

#include "pub_tool_basics.h"
#include "pub_tool_xarray.h"

extern Int VG_(cl_exec_fd); /* the executed file, which may be a script */
extern Int VG_(cl_auxv_fd); /* the auxiliary vector */
/* Runs in place of executed programs if VG_(clo_trace_children). */
extern const HChar *VG_(name_of_launcher);
extern Bool VG_(clo_trace_children);
/* Options (HChar *) that the launcher of an executed program gets. */
extern XArray *VG_(args_for_valgrind);

#endif
