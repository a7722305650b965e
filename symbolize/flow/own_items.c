/* SPDX-License-Identifier: MIT */
/* Looks at the load with the state that holds on all ways to it. */
#include "own_items.h"

#include "flow_operand.h"
#include "type_limits.h"

struct search {
        const struct types *types;
        uint32_t item;
        unsigned work_left;
        unsigned nesting;
};

static bool has_array(struct search *search, uint32_t type_id, bool in_union)
{
        if (type_id >= search->types->count || search->work_left == 0 ||
            search->nesting == TYPE_NESTING_LIMIT)
                return false;
        const struct type *type = &search->types->items[type_id];
        bool found = false;

        search->work_left--;
        if (type->kind == TYPE_ARRAY && in_union)
                return type_same(search->types, type->element, search->item);
        if (type->kind != TYPE_STRUCT && type->kind != TYPE_UNION)
                return false;
        search->nesting++;
        for (uint32_t i = 0; i < type->member_count && !found; i++)
                found =
                    has_array(search, search->types->members[type->first_member + i].type,
                              in_union || type->kind == TYPE_UNION);
        search->nesting--;
        return found;
}

bool own_items(const struct flow_walk *walk, const struct place_value *pointer)
{
        const struct types *types = walk->context->input->reader->types;

        if (pointer->kind != PLACE_POINTER || !origin_is_step(pointer->origin) ||
            types->items[pointer->type].kind != TYPE_INTEGER)
                return false;
        size_t step = pointer->origin - ORIGIN_FIRST_STEP;

        if (!walk->code->steps[step].instruction.has_memory)
                return false;
        struct flow_state state;
        struct place_value holder = flow_loaded_from(walk, step, &state);
        struct search search = {
            .types = types, .item = pointer->type, .work_left = TYPE_FIELDS_LIMIT};

        return holder.kind == PLACE_POINTER && has_array(&search, holder.type, false);
}
