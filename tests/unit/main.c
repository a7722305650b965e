/* SPDX-License-Identifier: MIT */
/* The program of a file of tests that defines no main. */
#include "unit_test.h"

int main(void)
{
        return run_unit_tests(NULL, NULL);
}
