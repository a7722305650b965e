/* SPDX-License-Identifier: MIT */
/* Runs a program natively with the heap tracker and prints what memlag hears of it, a
 * line an event, in the words of heap/probe.c with the process and the depth of the stack
 * before: stands in for a source that has samples from the processor.
 *
 * heap_consume OUTPUT PROGRAM [ARGUMENT...]; an empty OUTPUT: nothing is printed. With
 * FRAMES in the environment, the call stacks follow. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap_transport.h"

extern char **environ;

enum { POLL_MS = 50 };

static void die(const struct diag *diag)
{
        fprintf(stderr, "heap_consume: %s\n", diag->text);
        exit(125);
}

static int print_event(void *context, const struct heap_event *event)
{
        FILE *out = context;
        size_t depth;
        const uint64_t *frames = heap_stack_frames(event->stack, &depth);
        fprintf(out, "%u %zu ", event->pid, depth);
        if (event->kind == HEAP_EVENT_PROCESS)
                fprintf(out, "process");
        else if (event->kind == HEAP_EVENT_ALLOC)
                fprintf(out, "alloc %s 0x%llx 0x%llx", event->function,
                        (unsigned long long)event->addr,
                        (unsigned long long)event->size_bytes);
        else if (event->kind == HEAP_EVENT_FREE)
                fprintf(out, "free 0x%llx", (unsigned long long)event->addr);
        else
                fprintf(out, "unmap 0x%llx 0x%llx", (unsigned long long)event->addr,
                        (unsigned long long)event->size_bytes);
        for (size_t i = 0; getenv("FRAMES") && i < depth; i++)
                fprintf(out, " %llx", (unsigned long long)frames[i]);
        fputc('\n', out);
        return 0;
}

static int drop_event(void *context, const struct heap_event *event)
{
        (void)context;
        (void)event;
        return 0;
}

int main(int argc, char **argv)
{
        struct heap_transport *transport;
        struct diag diag;
        char **environment;
        if (argc < 3)
                return 125;
        FILE *out = *argv[1] ? fopen(argv[1], "we") : NULL;
        if (heap_transport_open(true, &transport, &diag) < 0 ||
            heap_transport_environment(transport, argv[2], environ, &environment, &diag) <
                0)
                die(&diag);
        pid_t pid = fork();
        if (pid == 0) {
                execvpe(argv[2], argv + 2, environment);
                _exit(127);
        }
        heap_event_handler handler = out ? print_event : drop_event;
        int status;
        bool ended = false;
        while (!ended) {
                struct pollfd bell = {.fd = heap_transport_poll_fd(transport),
                                      .events = POLLIN};
                poll(&bell, 1, POLL_MS);
                ended = waitpid(pid, &status, WNOHANG) == pid;
                if (heap_transport_drain(transport, handler, out, &diag) < 0)
                        die(&diag);
        }
        struct heap_transport_losses losses = heap_transport_losses(transport);
        if (losses.damaged || losses.beyond_capacity)
                fprintf(stderr, "heap_consume: %llu processes damaged\n",
                        (unsigned long long)losses.damaged);
        heap_transport_close(transport);
        if (out)
                fclose(out);
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
