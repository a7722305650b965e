/* SPDX-License-Identifier: MIT */
/* Names without a class: the members' names, and those of members of bases and of members
 * without a name. */
#include "base_names.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

enum { NAMES_LIMIT = 4096 }; /* of a class: with more, no base is named */

struct used_name {
        uint64_t name;
        size_t member; /* of the class, that it leads through */
};

struct used_names {
        const struct types *types;
        LIST(struct used_name);
        unsigned nesting;
        unsigned work_left;
        bool lost; /* some: there are too many */
};

/* Counts one more step of the work; false: there have been too many. */
static bool may_go_on(struct used_names *names)
{
        names->lost |= names->work_left == 0 || names->nesting == TYPE_NESTING_LIMIT ||
                       names->count == NAMES_LIMIT;
        if (names->lost)
                return false;
        names->work_left--;
        return true;
}

/* Whether TYPE is a class without data, as a function object's. */
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

/* Adds the names that MEMBER, in number AT of the class, brings. */
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

/* Marks in NEEDED the members that have a name in common with another. */
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
