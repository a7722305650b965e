/* SPDX-License-Identifier: MIT */
/* system(3) with a given environment. The C library's system uses the process's
 * environment, which would have to be changed while the shell runs. A signal handler may
 * leave the function meanwhile. Knows nothing of blocks. */
#ifndef MEMLAG_HEAP_SHELL_H
#define MEMLAG_HEAP_SHELL_H

#include <pthread.h>
#include <spawn.h>

/* C library functions; its header declares only the type. A longjmp that leaves the
 * frame of BUFFER calls ROUTINE, as does the thread's end. pthread_cleanup_push does not
 * handle longjmp. */
void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer,
                           void (*routine)(void *), void *argument);
void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute);

typedef int shell_spawn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                        const posix_spawnattr_t *, char *const[], char *const[]);

/* The shell that is executed. */
extern const char shell_path[];

/* Before shell_run, as that may be called in the child of a vfork. */
void shell_find_functions(void);

/* Executes COMMAND with VARIABLES by SPAWN; the result and errno are system(3)'s. For a
 * process with one thread: signals are the whole process's. */
int shell_run(const char *command, char *const variables[], shell_spawn *spawn);

#endif
