/* SPDX-License-Identifier: MIT */
/* Stands in for a source with samples of the processor: runs a program natively with the
 * heap tracker. Prints each event that memlag gets, one a line, after the process and the
 * depth of the stack.
 *
 * heap_consume OUTPUT PROGRAM [ARGUMENT...]; an empty OUTPUT: prints nothing.
 * Environment: FRAMES adds the call stacks. SLOW makes it compute that many ns on each
 * event. At the end it prints on standard error for PEAK its memory in KiB, for REFUSED
 * the programs that could not load the tracker, for UNTOLD the missed calls. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "heap_stacks.h"
#include "heap_transport.h"

extern char **environ;

/* Keeps the last events, like a source that puts them between its samples. */
enum { POLL_MS = 50, KEPT_EVENTS = 1000 };

struct consumer {
        struct heap_transport *transport;
        FILE *out; /* NULL: nothing is printed */
        int64_t slow_ns;
        struct heap_event kept[KEPT_EVENTS];
        size_t count;
};

static void die(const struct diag *diag)
{
        fprintf(stderr, "heap_consume: %s\n", diag->text);
        exit(125);
}

static void print_event(FILE *out, const struct heap_event *event)
{
        uint32_t depth = event->stack ? event->stack->depth : 0;
        fprintf(out, "%u %u ", event->pid, depth);
        if (event->kind == HEAP_EVENT_PROCESS)
                fprintf(out, "process");
        else if (event->kind == HEAP_EVENT_ALLOC)
                fprintf(out, "alloc %s 0x%llx 0x%llx", event->function,
                        (unsigned long long)event->addr,
                        (unsigned long long)event->size_bytes);
        else if (event->kind == HEAP_EVENT_FREE)
                fprintf(out, "free 0x%llx", (unsigned long long)event->addr);
        else if (event->kind == HEAP_EVENT_RESIZE)
                fprintf(out, "resize 0x%llx", (unsigned long long)event->addr);
        else if (event->kind == HEAP_EVENT_RESIZED)
                fprintf(out, "resized 0x%llx", (unsigned long long)event->addr);
        else
                fprintf(out, "unmap 0x%llx 0x%llx", (unsigned long long)event->addr,
                        (unsigned long long)event->size_bytes);
        uint64_t frames[HEAP_STACK_FRAMES];
        if (getenv("FRAMES") && depth)
                heap_stack_frames(event->stack, frames);
        for (uint32_t i = 0; getenv("FRAMES") && i < depth; i++)
                fprintf(out, " %llx", (unsigned long long)frames[i]);
        fputc('\n', out);
}

static void let_go(struct consumer *consumer, const struct heap_event *event)
{
        if (consumer->out)
                print_event(consumer->out, event);
        heap_event_release(consumer->transport, event);
}

static int64_t own_time_ns(void)
{
        struct timespec time;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int take_event(void *context, const struct heap_event *event)
{
        struct consumer *consumer = context;
        int64_t end_ns = consumer->slow_ns ? own_time_ns() + consumer->slow_ns : 0;
        while (end_ns && own_time_ns() < end_ns)
                ;
        struct heap_event *place = &consumer->kept[consumer->count % KEPT_EVENTS];
        if (consumer->count++ >= KEPT_EVENTS)
                let_go(consumer, place);
        *place = *event;
        return 0;
}

static void let_all_go(struct consumer *consumer)
{
        size_t first = consumer->count > KEPT_EVENTS ? consumer->count - KEPT_EVENTS : 0;
        for (size_t i = first; i < consumer->count; i++)
                let_go(consumer, &consumer->kept[i % KEPT_EVENTS]);
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
        static struct consumer consumer;
        const char *slow = getenv("SLOW");
        consumer = (struct consumer){
            .transport = transport, .out = out, .slow_ns = slow ? atoll(slow) : 0};
        int status;
        bool ended = false;
        while (!ended) {
                struct pollfd bell = {.fd = heap_transport_poll_fd(transport),
                                      .events = POLLIN};
                poll(&bell, 1, POLL_MS);
                ended = waitpid(pid, &status, WNOHANG) == pid;
                if (heap_transport_drain(transport, take_event, &consumer, &diag) < 0)
                        die(&diag);
        }
        let_all_go(&consumer);
        struct heap_transport_losses losses = heap_transport_losses(transport);
        if (losses.damaged || losses.beyond_capacity)
                fprintf(stderr, "heap_consume: %llu processes damaged\n",
                        (unsigned long long)losses.damaged);
        heap_transport_close(transport);
        struct rusage usage;
        if (getenv("PEAK") && getrusage(RUSAGE_SELF, &usage) == 0)
                fprintf(stderr, "%ld\n", usage.ru_maxrss);
        if (getenv("UNTOLD"))
                fprintf(stderr, "%llu\n", (unsigned long long)losses.untold);
        if (getenv("REFUSED"))
                fprintf(stderr, "%llu\n", (unsigned long long)losses.refused);
        if (out)
                fclose(out);
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
