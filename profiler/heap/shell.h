/* SPDX-License-Identifier: MIT */
/* system(3) with variables of our choice: the C library's own takes the process's, which
 * would have to be changed for as long as the shell runs, and a signal's handler may
 * leave it then. Knows nothing of blocks. */
#ifndef MEMLAG_HEAP_SHELL_H
#define MEMLAG_HEAP_SHELL_H

#include <pthread.h>
#include <spawn.h>

/* The C library's own, of which its header has only the type: a longjmp that leaves the
 * frame of BUFFER calls ROUTINE, as the end of the thread does (unlike what
 * pthread_cleanup_push was given). */
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
