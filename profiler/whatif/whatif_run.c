/* SPDX-License-Identifier: MIT */
/* See whatif_run.h. Each run is a child of memlag; its recorder works as in `memlag
 * record`. */
#include "whatif_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "db.h"
#include "record_command.h"
#include "sim_prefetch.h"

/* ---- one run ---- */

/* Reopens a file that is read from its current offset: runs must not share the
 * offset. */
static int input_of_run(off_t place)
{
        int fd = place < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC)
                           : open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && place > 0)
                lseek(fd, place, SEEK_SET);
        return fd;
}

/* In the child. */
static _Noreturn void run(const struct whatif_setting *setting,
                          const struct whatif_run *run, const sigset_t *mask)
{
        const struct record_options *options = setting->options;
        struct record_options changed = *options;
        const size_t own = options->sim_set_count;
        const char **settings = calloc(own + run->fix.count + 1, sizeof(*settings));
        int input = input_of_run(setting->input_place);
        int output = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (!settings || input < 0 || output < 0 || dup2(input, STDIN_FILENO) < 0 ||
            dup2(output, STDOUT_FILENO) < 0 || dup2(run->messages, STDERR_FILENO) < 0)
                _exit(EXIT_FAILED);
        for (size_t i = 0; i < own; i++)
                settings[i] = options->sim_set[i];
        for (size_t i = 0; i < run->fix.count; i++)
                settings[own + i] = run->fix.settings[i];
        changed.with_clock = false; /* a native run is the same on any simulated CPU */
        changed.source.sim_period_instructions = 0;
        changed.source.sim_set = settings;
        changed.source.call_graph = CALL_GRAPH_NONE;
        if (run->fix.prefetches) {
                changed.source.sim_prefetch = sim_prefetch_all();
                changed.source.sim_prefetch_given = true;
        }
        changed.source.sim_in_time = run->fix.in_time;
        changed.source.sim_in_time_count = run->fix.in_time_count;
        changed.source.sim_plan = run->fix.plan;
        changed.source.sim_plan_bytes = run->fix.plan_bytes;
        changed.output = run->file;
        changed.force = true;
        sigaction(SIGPIPE, &setting->on_pipe, NULL);
        sigaction(SIGCHLD, &setting->on_child, NULL);
        sigprocmask(SIG_SETMASK, mask, NULL);
        bool recorded;
        /* The database has the command's own status. */
        (void)record_run(&changed, RECORD_FINDINGS, &recorded);
        fflush(NULL);
        _exit(recorded ? EXIT_OK : EXIT_FAILED);
}

static int start(const struct whatif_setting *setting, struct whatif_run *one,
                 const sigset_t *mask, struct diag *diag)
{
        one->messages = memfd_create("memlag-whatif", MFD_CLOEXEC);
        if (one->messages < 0 || fcntl(one->messages, F_SETFL, O_APPEND) != 0)
                return diag_set(diag, -errno, "cannot make a memory file: %s",
                                strerror(errno));
        fflush(NULL);
        one->pid = fork();
        if (one->pid == 0)
                run(setting, one, mask);
        if (one->pid > 0)
                return 0;
        one->pid = 0;
        return diag_set(diag, -errno, "cannot start another recording: %s",
                        strerror(errno));
}

/* ---- all of them ---- */

/* Learns which have ended; returns how many still run. */
static size_t reap(struct whatif_run *runs, size_t count)
{
        size_t running = 0;
        for (size_t i = 0; i < count; i++) {
                int status;
                if (runs[i].pid > 0 &&
                    waitpid(runs[i].pid, &status, WNOHANG) == runs[i].pid) {
                        runs[i].pid = 0;
                        runs[i].status =
                            WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
                }
                running += runs[i].pid > 0;
        }
        return running;
}

/* The recorders pass the signal on to their commands, and end with them. */
static void end_all(struct whatif_run *runs, size_t count, int signal_number)
{
        for (size_t i = 0; i < count; i++)
                if (runs[i].pid > 0)
                        kill(runs[i].pid, signal_number);
        for (size_t i = 0; i < count; i++)
                if (runs[i].pid > 0) {
                        waitpid(runs[i].pid, NULL, 0);
                        runs[i].pid = 0;
                }
}

static int follow(const struct whatif_setting *setting, struct whatif_run *runs,
                  size_t count, const sigset_t *watched, const sigset_t *before,
                  struct diag *diag)
{
        size_t begun = 0, running = 0;
        while (begun < count || running > 0) {
                for (; begun < count && running < setting->at_once; begun++, running++) {
                        int rc = start(setting, &runs[begun], before, diag);
                        if (rc < 0) {
                                end_all(runs, count, SIGTERM);
                                return rc;
                        }
                }
                int signal_number = sigwaitinfo(watched, NULL);
                if (signal_number > 0 && signal_number != SIGCHLD) {
                        end_all(runs, count, signal_number);
                        return signal_number;
                }
                running = reap(runs, begun);
        }
        return 0;
}

int whatif_run_all(const struct whatif_setting *setting, struct whatif_run *runs,
                   size_t count, struct diag *diag)
{
        static const int watched_signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        sigset_t watched, before;
        sigaction(SIGCHLD, &standard, NULL); /* an ignored one tells no child's end */
        sigemptyset(&watched);
        for (size_t i = 0; i < sizeof(watched_signals) / sizeof(watched_signals[0]); i++)
                sigaddset(&watched, watched_signals[i]);
        sigprocmask(SIG_BLOCK, &watched, &before);
        for (size_t i = 0; i < count; i++)
                runs[i].status = runs[i].messages = -1;
        int rc = follow(setting, runs, count, &watched, &before, diag);
        sigprocmask(SIG_SETMASK, &before, NULL);
        sigaction(SIGCHLD, &setting->on_child, NULL);
        return rc;
}

char *whatif_run_complaint(const struct whatif_run *one)
{
        static const char own[] = "memlag record: ";
        char *last = NULL, *line = NULL;
        size_t size = 0;
        FILE *messages = fdopen(dup(one->messages), "r");
        if (!messages)
                return NULL;
        rewind(messages);
        while (getline(&line, &size, messages) > 0)
                if (strncmp(line, own, strlen(own)) == 0) {
                        free(last);
                        last = strdup(line + strlen(own));
                        if (last)
                                last[strcspn(last, "\n")] = '\0';
                }
        free(line);
        fclose(messages);
        return last;
}

void whatif_run_free(struct whatif_run *one)
{
        struct diag ignored;
        if (one->file)
                db_remove(one->file, &ignored);
        if (one->messages >= 0)
                close(one->messages);
        free(one->file);
        whatif_fix_free(&one->fix);
}
