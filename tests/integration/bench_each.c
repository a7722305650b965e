/* SPDX-License-Identifier: MIT */
/* bench_each KERNEL OPTION... [-- KERNEL OPTION...]...: runs 'memlag bench' with each
 * list of arguments, in separate processes, one after the other. The start of the program
 * takes most of its time under the simulated PMU. Here the PMU runs it only once. */
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
        int begin = 0; /* argument 0, or its "--" */
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
