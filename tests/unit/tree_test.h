/* SPDX-License-Identifier: MIT */
/* A directory of files, for tests of machines that are not here. */
#ifndef TREE_TEST_H
#define TREE_TEST_H

#include "directory.h"

static const char root[] = ".";

/* Writes the file PATH below the root, and makes the directories on the way. */
static void put_file(const char *path, const char *text)
{
        char joined[512];
        snprintf(joined, sizeof(joined), "%s%s", root, path);
        for (char *slash = strchr(joined + strlen(root) + 1, '/'); slash;
             slash = strchr(slash + 1, '/')) {
                *slash = '\0';
                assert_true(mkdir(joined, 0755) == 0 || errno == EEXIST);
                *slash = '/';
        }
        write_text(joined, text);
}

#endif
