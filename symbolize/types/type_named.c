/* SPDX-License-Identifier: MIT */
/* The end is the last member, or that before a "->": behind a pointer that is loaded
 * others follow. */
#include "type_named.h"

#include <string.h>

/* Whether NAME is the whole name that ends at END in MEMBERS; *BEGIN is the place of its
 * link. */
static bool ends_with(const char *members, size_t end, const char *name, size_t *begin)
{
        size_t bytes = strlen(name);

        if (bytes >= end || memcmp(members + end - bytes, name, bytes) != 0)
                return false;
        *begin = end - bytes - 1;
        return members[*begin] == '.' || members[*begin] == '>';
}

/* The number of PATH's members, from its end, that MEMBERS has before END; *BEGIN is the
 * place of the first. */
static size_t named_before(const struct string_pool *names, const struct type_path *path,
                           const char *members, size_t end, size_t *begin)
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
        *begin = end;
        return count;
}

/* Whether the member at BEGIN of MEMBERS is a variable's, or behind a pointer that is
 * loaded: not one of another member. */
static bool is_first(const char *members, size_t begin)
{
        if (members[begin] == '>')
                return true;
        while (begin > 0 && !strchr(".> :", members[begin - 1]))
                begin--;
        return begin == 0 || members[begin - 1] == ':' || members[begin - 1] == ' ';
}

/* How much of PATH, from its end, MEMBERS name as source_expression() writes them: how
 * many members that lie in each other, 0 where not its end. FIRST: no more members may be
 * before. */
static size_t most_named(const struct string_pool *names, const struct type_path *path,
                         const char *members, bool first)
{
        size_t length = strlen(members), most = 0;

        for (size_t end = 1; end <= length; end++) {
                size_t begin;

                if (end < length && members[end] != '>' && members[end] != ' ')
                        continue;
                size_t named = named_before(names, path, members, end, &begin);

                if (named > most && (!first || is_first(members, begin)))
                        most = named;
        }
        return most;
}

/* Whether an expression there begins with PATH's last name. It may be a variable's, or a
 * member's: C++ needs no `this->`. */
static bool may_be_first(const struct string_pool *names, const struct type_path *path,
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

void type_choice_add(struct type_choice *choice, const struct string_pool *names,
                     const struct type_access *access, const struct type_path *way)
{
        const char *members = names ? string_pool_text(names, access->members) : NULL;
        size_t named =
            members && !way->shared ? most_named(names, way, members, false) : 0;

        choice->first |= members && !way->shared && may_be_first(names, way, members);
        choice->bits |= way->bits;
        choice->equal += way->shared || way->size_bytes == access->bytes;
        if (named < choice->named || named == 0)
                return;
        choice->several = named == choice->named;
        choice->named = named;
        choice->way = *way;
}

bool type_choice_made(const struct type_choice *choice, const struct type_access *access)
{
        return choice->named > 0 && !choice->several && !choice->first && !choice->bits &&
               access->bytes <= choice->way.size_bytes &&
               (!access->members_of_one ||
                (choice->way.size_bytes == access->bytes && choice->equal == 1));
}

bool type_named_whole(const struct string_pool *names, const struct type_path *path,
                      const char *members)
{
        size_t count = 0;

        for (size_t i = 0; i < path->length; i++)
                count += path->names[i] != 0;
        return count > 0 && most_named(names, path, members, true) == count;
}
