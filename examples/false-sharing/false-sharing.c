/* SPDX-License-Identifier: MIT */
/* Two threads count words, each in another counter. Both counters lie in one cache line,
 * so the line goes from core to core for nearly every word. A third counter has a cache
 * line for itself: memlag must not report it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../arguments.h"

#define TEXT_BYTES 4096

struct statistics {
        _Alignas(64) volatile uint64_t words_of_first; /* others may read how far it is */
        volatile uint64_t words_of_second;
        _Alignas(64) volatile uint64_t words_of_third;
};

static struct statistics statistics; /* mark: slow-object */

static char text[TEXT_BYTES];
static size_t passes;

static void *count_first(void *argument)
{
        for (size_t pass = 0; pass < passes; pass++)
                for (size_t i = 0; i < TEXT_BYTES; i++)
                        if (text[i] == ' ')
                                statistics.words_of_first++; /* mark: first-line */
        return argument;
}

static void *count_second(void *argument)
{
        for (size_t pass = 0; pass < passes; pass++)
                for (size_t i = 0; i < TEXT_BYTES; i++)
                        if (text[i] == ' ')
                                statistics.words_of_second++; /* mark: second-line */
        return argument;
}

static void *count_third(void *argument)
{
        for (size_t pass = 0; pass < passes; pass++)
                for (size_t i = 0; i < TEXT_BYTES; i++)
                        if (text[i] == ' ')
                                statistics.words_of_third++; /* mark: innocent-line */
        return argument;
}

int main(int argc, char **argv)
{
        no_more_arguments(argc, argv, 1, "[PASSES]");
        passes = size_argument(argc, argv, 1, "PASSES", 4000, 1, 1000000);

        for (size_t i = 0; i < TEXT_BYTES; i++)
                text[i] = i % 6 == 5 ? ' ' : 'a';

        void *(*const work[3])(void *) = {count_first, count_second, count_third};
        pthread_t threads[3];
        for (size_t t = 0; t < 3; t++) {
                if (pthread_create(&threads[t], NULL, work[t], NULL) != 0) {
                        fprintf(stderr, "false-sharing: cannot start a thread\n");
                        return 1;
                }
        }
        for (size_t t = 0; t < 3; t++)
                pthread_join(threads[t], NULL);
        printf("%llu words\n", (unsigned long long)(statistics.words_of_first +
                                                    statistics.words_of_second +
                                                    statistics.words_of_third));
        return 0;
}
