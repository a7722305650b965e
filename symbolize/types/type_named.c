/* SPDX-License-Identifier: MIT */
/* The end is the last member, or that before a "->": behind a pointer that is loaded
 * others follow. */
#include "type_named.h"

#include <string.h>

/* Whether NAME ends at END in MEMBERS, of which it is the whole name; *BEGIN is where its
 * link is. */
static bool ends_with(const char *members, size_t end, const char *name, size_t *begin)
{
        size_t bytes = strlen(name);

        if (bytes >= end || memcmp(members + end - bytes, name, bytes) != 0)
                return false;
        *begin = end - bytes - 1;
        return members[*begin] == '.' || members[*begin] == '>';
}

/* How many of PATH's members, from its end, MEMBERS have before END. */
static size_t named_before(const struct string_pool *names, const struct type_path *path,
                           const char *members, size_t end)
{
        size_t count = 0;

        for (size_t i = path->length; i > 0; i--) {
                const char *name = string_pool_text(names, path->names[i - 1]);

                if (!name)
                        continue; /* an array's element */
                if (!ends_with(members, end, name, &end))
                        break;
                count++;
                if (members[end] == '>')
                        break;
        }
        return count;
}

size_t type_named(const struct string_pool *names, const struct type_path *path,
                  const char *members)
{
        size_t length = strlen(members), most = 0;

        for (size_t end = 1; end <= length; end++) {
                if (end < length && members[end] != '>' && members[end] != ' ')
                        continue;
                size_t named = named_before(names, path, members, end);

                most = named > most ? named : most;
        }
        return most;
}

bool type_named_first(const struct string_pool *names, const struct type_path *path,
                      const char *members)
{
        const char *last = NULL;

        for (size_t i = path->length; i > 0 && !last; i--)
                last = string_pool_text(names, path->names[i - 1]);
        for (const char *at = strchr(members, ':'); at && last; at = strchr(at + 1, ':'))
                if (strcspn(at + 1, ".> ") == strlen(last) &&
                    strncmp(at + 1, last, strlen(last)) == 0)
                        return true;
        return false;
}

bool type_named_whole(const struct string_pool *names, const struct type_path *path,
                      const char *members)
{
        size_t count = 0;

        for (size_t i = 0; i < path->length; i++)
                count += path->names[i] != 0;
        return count > 0 && type_named(names, path, members) == count;
}
