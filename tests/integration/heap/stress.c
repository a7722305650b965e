/* SPDX-License-Identifier: MIT */
/* All at once: threads that allocate, a thread that loads and unloads a library, and a
 * thread whose signals interrupt the others anywhere. Meanwhile processes fork and
 * allocate in the child. It ends by itself, unless somebody waits for a lock for ever. */
#include "../target.h"

enum { THREADS = 3, FORKS = 40, LOADS = 40, BLOCKS = 64 };

static volatile sig_atomic_t stop, interrupts;
static pthread_t threads[THREADS];

/* System calls that the tracker follows too, and that a handler may make. */
static void interrupt(int number)
{
        void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED)
                munmap(page, 4096);
        interrupts++;
}

static void use_heap(unsigned rounds)
{
        char *blocks[BLOCKS] = {NULL};
        for (unsigned i = 0; i < rounds; i++) {
                char **block = &blocks[i * 7 % BLOCKS];

                if (i % 3 == 0) {
                        free(*block);
                        *block = malloc(16 + i % 2000);
                } else {
                        *block = realloc(*block, 8 + i % 3000);
                }
                if (*block)
                        (*block)[0] = (char)i;
        }
        for (unsigned i = 0; i < BLOCKS; i++)
                free(blocks[i]);
}

static void *allocate(void *unused)
{
        while (!stop)
                use_heap(100);
        return unused;
}

static void *disturb(void *unused)
{
        for (unsigned i = 0; !stop; i++) {
                pthread_kill(threads[i % THREADS], SIGUSR1);
                usleep(200);
        }
        return unused;
}

static void *load(void *path)
{
        for (int i = 0; i < LOADS; i++) {
                void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

                if (!library)
                        return (void *)dlerror();
                dlclose(library);
        }
        return NULL;
}

int main(int argc, char **argv)
{
        struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
        pthread_t disturber, loader;
        void *error = NULL;
        int failed = 0;
        if (argc < 2)
                return 2;
        sigaction(SIGUSR1, &action, NULL);
        for (int i = 0; i < THREADS; i++)
                pthread_create(&threads[i], NULL, allocate, NULL);
        pthread_create(&disturber, NULL, disturb, NULL);
        pthread_create(&loader, NULL, load, argv[1]);
        for (int i = 0; i < FORKS; i++) {
                int status = 0;
                pid_t child = fork();

                if (child == 0) {
                        use_heap(1000);
                        _exit(7);
                }
                failed += waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
                          WEXITSTATUS(status) != 7;
        }
        pthread_join(loader, &error);
        stop = 1;
        pthread_join(disturber, NULL);
        for (int i = 0; i < THREADS; i++)
                pthread_join(threads[i], NULL);
        printf("%d children failed, %s, %s\n", failed,
               error ? (const char *)error : "all loaded",
               interrupts ? "interrupted" : "never interrupted");
        return failed || error || !interrupts;
}
