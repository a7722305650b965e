/* SPDX-License-Identifier: MIT */
/* bench_each KERNEL OPTION... [-- KERNEL OPTION...]...: 'memlag bench' with each list of
 * arguments, in a process of its own, one after the other. So the simulated PMU, for
 * which a program's beginning is the most of it, runs that once for all. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "microbench.h"

static int run(int argc, char **argv)
{
        int status;
        pid_t child = fork();
        if (child == 0)
                exit(cmd_bench(argc, argv));
        return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
        int begin = 0; /* its name, or "--" in the place of that */
        for (int i = 1; i <= argc; i++) {
                if (i < argc && strcmp(argv[i], "--") != 0)
                        continue;
                argv[i] = NULL;
                if (!run(i - begin, argv + begin))
                        return EXIT_FAILURE;
                begin = i;
                argv[begin] = argv[0];
        }
        return EXIT_SUCCESS;
}
