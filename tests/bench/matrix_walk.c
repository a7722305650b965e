/* SPDX-License-Identifier: MIT */
/* Adds up a matrix of 64 MiB, by rows or by columns: matrix_walk rows|columns PASSES.
 * Run by tests/bench/reality.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, COLUMNS = 2048 };

static double matrix[ROWS][COLUMNS];

static double by_rows(void)
{
        double sum = 0;
        for (size_t row = 0; row < ROWS; row++)
                for (size_t column = 0; column < COLUMNS; column++)
                        sum += matrix[row][column];
        return sum;
}

static double by_columns(void)
{
        double sum = 0;
        for (size_t column = 0; column < COLUMNS; column++)
                for (size_t row = 0; row < ROWS; row++)
                        sum += matrix[row][column];
        return sum;
}

int main(int argc, char **argv)
{
        if (argc != 3 || (strcmp(argv[1], "rows") != 0 && strcmp(argv[1], "columns") != 0)) {
                fprintf(stderr, "usage: matrix_walk rows|columns PASSES\n");
                return 2;
        }
        for (size_t row = 0; row < ROWS; row++)
                for (size_t column = 0; column < COLUMNS; column++)
                        matrix[row][column] = (double)(row ^ column);
        double sum = 0;
        for (long passes = strtol(argv[2], NULL, 10); passes > 0; passes--) {
                sum += argv[1][0] == 'r' ? by_rows() : by_columns();
                __asm__ volatile("" ::: "memory");
        }
        printf("%.0f\n", sum);
        return 0;
}
