/* SPDX-License-Identifier: MIT */
/* File names as text; nothing here looks at a file system. */
#ifndef MEMLAG_SYMBOLIZE_FILE_PATH_H
#define MEMLAG_SYMBOLIZE_FILE_PATH_H

/* PATH without "/./" and "//", below DIRECTORY (NULL: none) if it is relative. ".."
 * stays, because a link may stand before it. The caller frees it; NULL when out of
 * memory. */
char *path_join(const char *directory, const char *path);

/* PATH without ".." and the component before each "..", as if there were no links: for
 * comparisons. The caller frees it; NULL when out of memory. */
char *path_without_parents(const char *path);

/* The text behind the last slash. */
const char *path_base(const char *path);

#endif
