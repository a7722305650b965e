/* SPDX-License-Identifier: MIT */
/* Multiplies matrices that fit the second-level cache, row by row. It is here for what
 * memlag does not say about it. */
#include <stdio.h>
#include <stdlib.h>

#include "../arguments.h"

static double *new_matrix(size_t n)
{
        double *matrix = malloc(n * n * sizeof(*matrix)); /* mark: matrix */
        if (!matrix) {
                fprintf(stderr, "friendly: not enough memory; try a smaller SIZE\n");
                exit(1);
        }
        for (size_t i = 0; i < n * n; i++)
                matrix[i] = (double)(i % 7) / 7; /* mark: first-touch */
        return matrix;
}

static void multiply_add(double *c, const double *a, const double *b, size_t n)
{
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < n; k++)
                        for (size_t j = 0; j < n; j++)
                                c[i * n + j] += a[i * n + k] * b[k * n + j]; /* mark: c */
}

int main(int argc, char **argv)
{
        no_more_arguments(argc, argv, 2, "[SIZE [ROUNDS]]");
        size_t n = size_argument(argc, argv, 1, "SIZE", 96, 1, 10000);
        size_t rounds = size_argument(argc, argv, 2, "ROUNDS", 40, 1, 1000000);
        double *a = new_matrix(n), *b = new_matrix(n), *c = new_matrix(n);

        for (size_t round = 0; round < rounds; round++)
                multiply_add(c, a, b, n);
        printf("corner %.3f of a %zux%zu matrix, %zu rounds\n", c[n * n - 1], n, n,
               rounds);
        free(a);
        free(b);
        free(c);
        return 0;
}
