/* SPDX-License-Identifier: MIT */
/* What tests of machines that are not here share: a directory with their files. */
#ifndef TREE_TEST_H
#define TREE_TEST_H

#include <sys/stat.h>
#include <unistd.h>

#ifndef TEST_SETUP
#define TEST_SETUP make_root
#endif
#define TEST_TEARDOWN remove_root
#include "unit_test.h"

static char root[64];

static int make_root(void **state)
{
        (void)state;
        strcpy(root, "tree_test_XXXXXX");
        return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
        (void)state;
        char command[128];
        snprintf(command, sizeof(command), "rm -rf '%s'", root);
        return system(command);
}

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
