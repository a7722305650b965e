/* SPDX-License-Identifier: MIT */
/* What tests of machines that are not here share: a directory with their files. */
#ifndef TREE_TEST_H
#define TREE_TEST_H

#include "directory.h"

static const char root[] = ".";

/* The file PATH below the root, and the directories on the way. */
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
