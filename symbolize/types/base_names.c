/* SPDX-License-Identifier: MIT */
/* The names that a class can use without a qualifier: its members, its bases' members,
 * and members of members without a name. */
#include "base_names.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

enum { NAMES_LIMIT = 4096 }; /* of a class; beyond it, bases keep their names */

struct used_name {
        uint64_t name;
        size_t member; /* of the class, on the path to the name */
};

struct used_names {
        const struct types *types;
        LIST(struct used_name);
        unsigned nesting;
        unsigned work_left;
        bool lost; /* there are too many names */
};

/* Counts one unit of work; false: the limit is reached. */
static bool may_go_on(struct used_names *names)
{
        names->lost |= names->work_left == 0 || names->nesting == TYPE_NESTING_LIMIT ||
                       names->count == NAMES_LIMIT;
        if (names->lost)
                return false;
        names->work_left--;
        return true;
}

/* Whether TYPE is a class without data, such as a function object's. */
static bool is_empty(struct used_names *names, uint32_t type_id)
{
        const struct types *types = names->types;

        if (type_id >= types->count || !may_go_on(names))
                return false;
        const struct type *type = &types->items[type_id];
        bool empty = type->kind == TYPE_STRUCT && !type->partial;

        names->nesting++;
        for (uint32_t i = 0; i < type->member_count && empty; i++)
                empty = is_empty(names, types->members[type->first_member + i].type);
        names->nesting--;
        return empty;
}

/* Adds the names of MEMBER, number AT of the class, and of members inside it. */
static int add_names(struct used_names *names, const struct member *member, size_t at)
{
        const struct types *types = names->types;
        int error = 0;

        if (!may_go_on(names) || is_empty(names, member->type))
                return 0;
        if (member->name && !member->base)
                return PUSH(names, (struct used_name){member->name, at});
        if (member->type >= types->count)
                return 0;
        const struct type *type = &types->items[member->type];

        names->nesting++;
        for (uint32_t i = 0; i < type->member_count && !error; i++)
                error = add_names(names, &types->members[type->first_member + i], at);
        names->nesting--;
        return error;
}

/* Marks in NEEDED the members that share a name with another member. */
static void mark(const struct used_names *names, bool *needed)
{
        for (size_t first = 0, end; first < names->count; first = end) {
                bool several = false;

                for (end = first; end < names->count &&
                                  names->items[end].name == names->items[first].name;
                     end++)
                        several |= names->items[end].member != names->items[first].member;
                for (size_t i = first; i < end && several; i++)
                        needed[names->items[i].member] = true;
        }
}

int base_names_settle(const struct types *types, struct member *members, size_t count)
{
        struct used_names names = {.types = types, .work_left = TYPE_WORK_LIMIT};
        bool *needed = calloc(count + 1, sizeof(*needed));
        int error = needed ? 0 : -ENOMEM;

        for (size_t i = 0; i < count && !error; i++)
                error = add_names(&names, &members[i], i);
        if (!error && !names.lost) {
                SORT(names.items, names.count, number_order);
                mark(&names, needed);
        }
        for (size_t i = 0; i < count && !error; i++)
                if (members[i].base && !needed[i])
                        members[i].name = 0;
        free(needed);
        free(names.items);
        return error;
}
