/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the analysis stage. */
#ifndef ANALYSIS_TEST_H
#define ANALYSIS_TEST_H

#include <math.h>

/* cmocka 1.1.5 compares floats only. */
#define assert_near(actual, expected, tolerance)                                         \
        do {                                                                             \
                double actual_ = (actual), expected_ = (expected);                       \
                if (!(fabs(actual_ - expected_) <= (tolerance)))                         \
                        fail_msg("%s is %.10g, must be %.10g", #actual, actual_,         \
                                 expected_);                                             \
        } while (0)

#endif
