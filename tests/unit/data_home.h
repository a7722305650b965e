/* SPDX-License-Identifier: MIT */
/* For a group of tests: a directory in place of the user's for what memlag keeps. */
#ifndef DATA_HOME_H
#define DATA_HOME_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[64];

static int make_home(void **state)
{
        char directory[96];
        (void)state;
        strcpy(home, "/tmp/memlag-home-XXXXXX");
        if (!mkdtemp(home))
                return -1;
        snprintf(directory, sizeof(directory), "%s/memlag", home);
        setenv("XDG_DATA_HOME", home, 1);
        return mkdir(directory, 0700);
}

static int remove_home(void **state)
{
        char command[128];
        (void)state;
        snprintf(command, sizeof(command), "rm -r '%s'", home);
        return system(command);
}

#endif
