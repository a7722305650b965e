/* SPDX-License-Identifier: MIT */
/* Adds up a matrix column by column. The matrix fits the last-level cache, but every
 * step goes to another page, and one column has more pages than the TLB has entries. */
#include <stdio.h>
#include <sys/mman.h>

#include "../arguments.h"

#define ROWS    2048
#define COLUMNS 1024 /* a row of doubles is two pages long */

/* Begins on a boundary of 2 MiB, because huge pages must begin on one. */
#define ALIGNED __attribute__((aligned(2 << 20)))

static double matrix[ROWS][COLUMNS] ALIGNED; /* mark: slow-object */

static double sum_by_columns(size_t columns)
{
        double sum = 0;

        for (size_t column = 0; column < columns; column++)
                for (size_t row = 0; row < ROWS; row++)
                        sum += matrix[row][column]; /* mark: slow-line */
        return sum;
}

int main(int argc, char **argv)
{
        no_more_arguments(argc, argv, 3, "[COLUMNS [PASSES [HUGE]]]");
        size_t columns = size_argument(argc, argv, 1, "COLUMNS", COLUMNS, 1, COLUMNS);
        size_t passes = size_argument(argc, argv, 2, "PASSES", 4, 1, 1000000);
        size_t huge = size_argument(argc, argv, 3, "HUGE", 0, 0, 1);
        double sum = 0;

        if (huge && madvise(matrix, sizeof(matrix), MADV_HUGEPAGE) != 0) {
                perror("columns: the kernel has no huge pages");
                return 1;
        }
        for (size_t row = 0; row < ROWS; row++)
                for (size_t column = 0; column < COLUMNS; column++)
                        matrix[row][column] = (double)(row + column); /* mark: first-touch */
        for (size_t pass = 0; pass < passes; pass++)
                sum += sum_by_columns(columns);
        printf("sum %.0f of %zu columns, %zu passes\n", sum, columns, passes);
        return 0;
}
