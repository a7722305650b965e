/* SPDX-License-Identifier: MIT */
/* Processes end while their threads allocate, in each way that gives threads no notice:
 * killed, by _exit, by executing another program. The first block of a child has a size
 * that only this child uses. */
#include "../target.h"

enum { CHILDREN = 60, THREADS = 3, FIRST_SIZE = 70000, LONGEST_US = 1000 };

static void *allocate(void *unused)
{
        for (uint32_t i = 0;; i++)
                free(malloc(16 + i % 1000));
        return unused;
}

static void run_child(int number, int told)
{
        char one = 1;
        free(malloc(FIRST_SIZE + (size_t)number));
        for (int i = 0; i < THREADS; i++) {
                pthread_t thread;

                if (pthread_create(&thread, NULL, allocate, NULL) != 0)
                        _exit(9);
        }
        if (write(told, &one, 1) != 1)
                _exit(9);
        usleep((useconds_t)(number * 7919 % LONGEST_US));
        if (number % 3 == 0)
                pause(); /* until it is killed */
        if (number % 3 == 1)
                _exit(0);
        execl("/bin/true", "true", (char *)NULL);
        _exit(9);
}

int main(void)
{
        int failed = 0;
        for (int i = 0; i < CHILDREN; i++) {
                int begun[2], status = 0;
                char one;

                if (pipe(begun) != 0)
                        return 2;
                pid_t child = fork();

                if (child == 0)
                        run_child(i, begun[1]);
                close(begun[1]);
                failed += read(begun[0], &one, 1) != 1;
                close(begun[0]);
                usleep((useconds_t)(i * 6007 % LONGEST_US));
                if (i % 3 == 0)
                        kill(child, SIGKILL);
                failed += waitpid(child, &status, 0) != child ||
                          status != (i % 3 == 0 ? SIGKILL : 0);
        }
        printf("%d failed\n", failed);
        return failed != 0;
}
