/* SPDX-License-Identifier: MIT */
/* Removes variables, and replaces the functions that execute programs. The functions
 * also run in the child of a vfork, in its parent's memory: they change only their
 * stack, and a counter in memlag's memory. */
#include "environment.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event.h"
#include "heap_calls.h"
#include "heap_program.h"
#include "link.h"
#include "shell.h"

#define EXPORT __attribute__((visibility("default")))

static const char own_file[] = "/vgpreload_memlag-amd64-linux.so";

/* ---- added variables ---- */

/* Returns the text after "NAME=" in ENTRY, or NULL when it is another variable. */
static char *value_of(char *entry, const char *name)
{
        size_t length = strlen(name);
        return strncmp(entry, name, length) == 0 && entry[length] == '='
                   ? entry + length + 1
                   : NULL;
}

/* Returns the end of the entries added in front of LD_PRELOAD: Valgrind's entries and,
 * last, ours; NULL when they are absent. */
static char *end_of_own_entries(char *value)
{
        char *own = strstr(value, own_file);
        char *end = own ? own + strlen(own_file) : NULL;
        return end && (*end == ':' || *end == '\0') ? end : NULL;
}

const char *environment_channel(char **environment)
{
        for (char **entry = environment; *entry; entry++) {
                const char *value = value_of(*entry, CHANNEL_VARIABLE);
                if (value)
                        return value;
        }
        return NULL;
}

/* Moves TEXT down to TO, and clears the rest. */
static void move_to(char *to, char *text)
{
        size_t length = strlen(text);
        char *old_end = text + length;
        memmove(to, text, length + 1);
        memset(to + length, 0, (size_t)(old_end - (to + length)));
}

/* Removes the added variables, and restores the user's value of LD_PRELOAD. VALGRIND_LIB
 * belongs to Valgrind, or to the user if the program runs natively. */
void environment_restore(char **environment)
{
        char **kept = environment;
        bool engine = !environment_channel(environment);
        for (char **entry = environment; *entry; entry++) {
                char *preload = value_of(*entry, "LD_PRELOAD");
                char *end = preload ? end_of_own_entries(preload) : NULL;
                bool users = end && *end == ':';
                if (users)
                        move_to(preload, end + 1);
                bool added = (end && !users) ||
                             (engine && value_of(*entry, "VALGRIND_LIB")) ||
                             value_of(*entry, CHANNEL_VARIABLE);
                if (added) /* in /proc/self/environ too */
                        memset(*entry, 0, strlen(*entry));
                else
                        *kept++ = *entry;
        }
        *kept = NULL;
}

/* ---- environment of executed programs ---- */

/* Longer values are not passed on. */
#define VALUE_BYTES     4096
#define VARIABLES_LIMIT 16384

static const char preload_name[] = "LD_PRELOAD=";
static char preload[VALUE_BYTES]; /* "LD_PRELOAD=" and our entries; empty: not followed */
static char channel[64];          /* the variable, whole */

/* X(name, parameters): the functions that do the work. */
#define EXECUTORS(X)                                                                     \
        X(execve, (const char *, char *const[], char *const[]))                          \
        X(execvpe, (const char *, char *const[], char *const[]))                         \
        X(fexecve, (int, char *const[], char *const[]))                                  \
        X(posix_spawn, (pid_t *, const char *, const posix_spawn_file_actions_t *,       \
                        const posix_spawnattr_t *, char *const[], char *const[]))        \
        X(posix_spawnp, (pid_t *, const char *, const posix_spawn_file_actions_t *,      \
                         const posix_spawnattr_t *, char *const[], char *const[]))

static struct {
#define POINTER(name, parameters) int(*name) parameters;
        EXECUTORS(POINTER)
#undef POINTER
        int (*system)(const char *);
        FILE *(*popen)(const char *, const char *);
} real;

/* A child of vfork must not look them up. Nobody executes anything before the
 * constructors have run. */
__attribute__((constructor)) static void find_executors(void)
{
#define FIND(name, parameters) *(void **)&real.name = dlsym(RTLD_NEXT, #name);
        EXECUTORS(FIND)
#undef FIND
        *(void **)&real.system = dlsym(RTLD_NEXT, "system");
        *(void **)&real.popen = dlsym(RTLD_NEXT, "popen");
        shell_find_functions();
}

void environment_follow(char **environment)
{
        for (char **entry = environment; *entry; entry++) {
                char *value = value_of(*entry, "LD_PRELOAD");
                const char *end = value ? end_of_own_entries(value) : NULL;
                size_t length = end ? (size_t)(end - *entry) : 0;
                if (length > 0 && length < sizeof(preload))
                        memcpy(preload, *entry, length);
                if (value_of(*entry, CHANNEL_VARIABLE) &&
                    strlen(*entry) < sizeof(channel))
                        strcpy(channel, *entry);
        }
        if (!*channel)
                *preload = '\0';
}

void environment_unfollow(void)
{
        *preload = '\0';
}

static size_t count(char *const strings[])
{
        size_t total = 0;
        while (strings && strings[total])
                total++;
        return total;
}

/* Returns the user's LD_PRELOAD; NULL: unset. */
static const char *users_preload(char *const variables[])
{
        for (char *const *variable = variables; variable && *variable; variable++)
                if (strncmp(*variable, preload_name, strlen(preload_name)) == 0)
                        return *variable + strlen(preload_name);
        return NULL;
}

/* Returns the memory that followed() needs for VARIABLES; 0: pass them on unchanged. */
static size_t followed_bytes(char *const variables[])
{
        size_t variable_count = count(variables);
        const char *users = users_preload(variables);
        size_t value_bytes = users ? strlen(users) : 0;
        if (!*preload || variable_count > VARIABLES_LIMIT || value_bytes > VALUE_BYTES)
                return 0;
        /* Below chroot the dynamic linker would complain. */
        if (access(preload + strlen(preload_name), R_OK) != 0)
                return 0;
        return (variable_count + 3) * sizeof(char *) + strlen(preload) + value_bytes + 2;
}

/* VARIABLES with ours, in ROOM. */
static char **followed(char *const variables[], void *room)
{
        char **all = room;
        char *text = (char *)(all + count(variables) + 3);
        const char *users = users_preload(variables);
        strcpy(text, preload);
        if (users)
                strcat(strcat(text, ":"), users);
        char **end = all;
        bool placed = false; /* where the user has it, else last */
        for (char *const *variable = variables; variable && *variable; variable++) {
                bool is_preload =
                    strncmp(*variable, preload_name, strlen(preload_name)) == 0;
                *end++ = is_preload ? text : *variable;
                placed |= is_preload;
        }
        if (!placed)
                *end++ = text;
        *end++ = channel;
        *end = NULL;
        return all;
}

static bool counted(bool takes)
{
        if (!takes)
                link_count_refused();
        return takes;
}

/* VARIABLES for an executed program, on the caller's stack. TAKES: whether the program
 * can load the tracker. */
#define FOLLOWED(variables, takes)                                                       \
        __extension__({                                                                  \
                char *const *given = (variables);                                        \
                size_t bytes = followed_bytes(given);                                    \
                bytes > 0 && counted(takes) ? followed(given, alloca(bytes)) : given;    \
        })

EXPORT int execve(const char *path, char *const arguments[], char *const variables[])
{
        return real.execve(path, arguments,
                           FOLLOWED(variables, program_takes_preload(path)));
}

EXPORT int execv(const char *path, char *const arguments[])
{
        return real.execve(path, arguments,
                           FOLLOWED(environ, program_takes_preload(path)));
}

EXPORT int execvpe(const char *file, char *const arguments[], char *const variables[])
{
        return real.execvpe(file, arguments,
                            FOLLOWED(variables, program_in_path_takes_preload(file)));
}

EXPORT int execvp(const char *file, char *const arguments[])
{
        return real.execvpe(file, arguments,
                            FOLLOWED(environ, program_in_path_takes_preload(file)));
}

EXPORT int fexecve(int fd, char *const arguments[], char *const variables[])
{
        return real.fexecve(fd, arguments, FOLLOWED(variables, true));
}

EXPORT int posix_spawn(pid_t *pid, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[],
                       char *const variables[])
{
        return real.posix_spawn(pid, path, actions, attributes, arguments,
                                FOLLOWED(variables, program_takes_preload(path)));
}

EXPORT int posix_spawnp(pid_t *pid, const char *file,
                        const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const arguments[],
                        char *const variables[])
{
        return real.posix_spawnp(
            pid, file, actions, attributes, arguments,
            FOLLOWED(variables, program_in_path_takes_preload(file)));
}

/* ---- argument lists ---- */

/* Copies the arguments after FIRST up to NULL; returns how many there are, with FIRST. */
static size_t collect(const char *first, va_list *rest, const char **arguments)
{
        size_t total = 0;
        for (const char *argument = first; argument;
             argument = va_arg(*rest, const char *)) {
                if (arguments)
                        arguments[total] = argument;
                total++;
        }
        if (arguments)
                arguments[total] = NULL;
        return total;
}

/* Makes ARGUMENTS an array of FIRST and the following arguments, and leaves REST after
 * the NULL. */
#define COLLECT(first, rest, arguments)                                                  \
        va_list counted;                                                                 \
        va_start(rest, first);                                                           \
        va_copy(counted, rest);                                                          \
        const char **arguments =                                                         \
            alloca((collect(first, &counted, NULL) + 1) * sizeof(*arguments));           \
        va_end(counted);                                                                 \
        collect(first, &rest, arguments)

EXPORT int execl(const char *path, const char *first, ...)
{
        va_list rest;
        COLLECT(first, rest, arguments);
        va_end(rest);
        return execv(path, (char *const *)arguments);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
        va_list rest;
        COLLECT(first, rest, arguments);
        va_end(rest);
        return execvp(file, (char *const *)arguments);
}

EXPORT int execle(const char *path, const char *first, ...)
{
        va_list rest;
        COLLECT(first, rest, arguments);
        char *const *variables = va_arg(rest, char *const *);
        va_end(rest);
        return execve(path, (char *const *)arguments, variables);
}

/* ---- the shell, which the C library executes internally ---- */

static bool shell_takes_preload(void)
{
        return __libc_single_threaded && program_takes_preload(shell_path);
}

EXPORT int system(const char *command)
{
        if (!command)
                return real.system(NULL);
        char *const *variables = FOLLOWED(environ, shell_takes_preload());
        return variables == environ ? real.system(command)
                                    : shell_run(command, variables, real.posix_spawn);
}

struct shell_environment {
        char **given; /* the program's own */
        char **ours;  /* NULL: nothing was changed */
        size_t bytes;
};

/* popen uses the program's environment, which other threads may read meanwhile.
 * Therefore only a single-threaded process changes it, until the shell has started or a
 * handler has left popen. */
static void follow_shell(struct shell_environment *shell_environment)
{
        size_t bytes = followed_bytes(environ);
        if (bytes == 0 || !counted(shell_takes_preload()))
                return;
        long room = calls_do(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room < 0)
                return;
        shell_environment->given = environ;
        shell_environment->bytes = bytes;
        shell_environment->ours = followed(environ, (void *)room);
        signal_fence();
        environ = shell_environment->ours;
}

static void unfollow_shell(void *argument)
{
        const struct shell_environment *shell_environment = argument;
        if (!shell_environment->ours || environ != shell_environment->ours)
                return;
        environ = shell_environment->given;
        calls_do(SYS_munmap, (long)shell_environment->ours,
                 (long)shell_environment->bytes, 0, 0, 0, 0);
}

EXPORT FILE *popen(const char *command, const char *type)
{
        struct shell_environment shell_environment = {0};
        struct _pthread_cleanup_buffer buffer;
        _pthread_cleanup_push(&buffer, unfollow_shell, &shell_environment);
        follow_shell(&shell_environment);
        FILE *stream = real.popen(command, type);
        _pthread_cleanup_pop(&buffer, 1);
        return stream;
}
