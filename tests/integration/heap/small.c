/* SPDX-License-Identifier: MIT */
/* Small stacks: signal handlers on an alternate stack of a given size, with nothing below
 * it, and threads with the least that the C library allows. */
#include "../target.h"

enum { PAGE_BYTES = 4096, THREADS = 4, BLOCKS = 1000, HANDLERS_BYTES = 70000 };

static volatile sig_atomic_t handled;

static void handle(int number)
{
        void *page =
            mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        free(realloc(malloc(HANDLERS_BYTES), 2 * HANDLERS_BYTES));
        if (page != MAP_FAILED && munmap(page, PAGE_BYTES) == 0)
                handled++;
}

static void *run(void *unused)
{
        for (size_t i = 0; i < BLOCKS; i++)
                free(realloc(malloc(16 + i), 100 + i));
        raise(SIGUSR1); /* on this thread's own stack */
        return unused;
}

int main(int argc, char **argv)
{
        size_t stack_bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 8192;
        struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
        char *start = mmap(NULL, PAGE_BYTES + stack_bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stack_t other = {.ss_sp = start + PAGE_BYTES, .ss_size = stack_bytes};
        pthread_attr_t attributes;

        if (start == MAP_FAILED ||
            mprotect(other.ss_sp, stack_bytes, PROT_READ | PROT_WRITE) != 0 ||
            sigaltstack(&other, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
                return 2;
        raise(SIGUSR1);
        pthread_attr_init(&attributes);
        if (pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) != 0)
                return 3;
        for (int i = 0; i < THREADS; i++) {
                pthread_t thread;

                if (pthread_create(&thread, &attributes, run, NULL) != 0)
                        return 4;
                pthread_join(thread, NULL);
        }
        printf("%d handled\n", (int)handled);
        return 0;
}
