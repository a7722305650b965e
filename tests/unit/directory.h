/* SPDX-License-Identifier: MIT */
/* A directory for each test, which is the working directory meanwhile. */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#ifndef TEST_SETUP
#define TEST_SETUP enter_directory
#endif
#ifndef TEST_TEARDOWN
#define TEST_TEARDOWN leave_directory
#endif
#include "unit_test.h"

static char test_directory[64];

static inline int enter_directory(void **state)
{
        /* Where other users may enter too, which a build below /root forbids. */
        strcpy(test_directory, P_tmpdir "/unit_test_XXXXXX");
        if (!mkdtemp(test_directory) || chmod(test_directory, 0755))
                return -1;
        return chdir(test_directory);
}

static inline int leave_directory(void **state)
{
        char command[128];
        snprintf(command, sizeof(command), "/bin/rm -rf %s", test_directory);
        return chdir("/") || system(command);
}

#endif
