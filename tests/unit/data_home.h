/* SPDX-License-Identifier: MIT */
/* For a group of tests: a temporary directory in place of memlag's data directory. */
#ifndef DATA_HOME_H
#define DATA_HOME_H

#define TEST_SETUP make_home
#include "directory.h"

static int make_home(void **state)
{
        if (enter_directory(state) != 0)
                return -1;
        setenv("XDG_DATA_HOME", test_directory, 1);
        return mkdir("memlag", 0700);
}

#endif
