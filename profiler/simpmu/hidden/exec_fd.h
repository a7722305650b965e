/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that the target executes by a descriptor, under a path that the launcher and
 * the next Valgrind can open. */
#ifndef SIMPMU_EXEC_FD_H
#define SIMPMU_EXEC_FD_H

#include "pub_tool_basics.h"

/* Of a path that exec_fd_path makes. */
#define EXEC_FD_PATH_BYTES 64

/* The target's open file that PATH names as one of the process's descriptors; -1: none.
 */
Int exec_fd_named(const HChar *path);
/* Whether the file open at FD has no name, or only a stale name. */
Bool exec_fd_nameless(Int fd);
Bool exec_fd_closes(Int fd); /* at the exec */

/* Makes PATH a name of the file that is open at FD. If FD closes at the exec, PATH
 * names a copy that stays open. If the exec fails, exec_fd_failed closes the copy.
 * Otherwise exec_fd_begun in the new image closes the copy that the image's path
 * PROGRAM names. False: there is no descriptor for a copy. */
Bool exec_fd_path(Int fd, HChar path[EXEC_FD_PATH_BYTES]);
void exec_fd_failed(void);

/* Whether an executed program inherits this process's recording (the memory, the bell,
 * the log). */
void exec_fd_pass_recording(Bool pass);
void exec_fd_begun(const HChar *program);

/* Call this after a system call that returned FD, if it opened a file. Valgrind opens
 * some files itself, such as files about the process, and forgets to close them at an
 * exec. */
void exec_fd_opened(UInt number, const UWord *arguments, Int fd);

#endif
