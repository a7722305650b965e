/* SPDX-License-Identifier: MIT */
#include "inner_structure.h"

#include "type_field.h"
#include "type_limits.h"

/* The member of structure TYPE that OFFSET is in; NULL: none, or a bit-field. */
static const struct member *member_around(const struct types *types,
                                          const struct type *type, uint64_t offset)
{
        const struct member *members = types->members + type->first_member;

        for (uint32_t i = 0; i < type->member_count; i++)
                if (!members[i].bit_size && type_in_member(types, type, i, offset))
                        return &members[i];
        return NULL;
}

/* One step from *TYPE into the member at *OFFSET, which is then in that member. False:
 * there is none, or it is not known which. */
static bool enter(const struct types *types, uint32_t *type, uint64_t *offset)
{
        if (*type >= types->count)
                return false;
        const struct type *outer = &types->items[*type];
        const struct member *member;

        switch (outer->kind) {
        case TYPE_ARRAY:
                *type = outer->element;
                if (type_size(types, *type) == 0)
                        return false;
                *offset %= type_size(types, *type);
                return true;
        case TYPE_STRUCT:
                member = member_around(types, outer, *offset);
                if (!member)
                        return false;
                *type = member->type;
                *offset -= member->offset_bytes;
                return true;
        default:
                return false;
        }
}

bool inner_structure_shared(const struct types *types, uint32_t a, uint64_t a_offset,
                            uint32_t b, uint64_t b_offset)
{
        uint32_t inner = TYPE_NONE, at = a;
        uint64_t inside = 0;

        for (int i = 0; i < TYPE_NESTING_LIMIT && enter(types, &at, &a_offset); i++)
                if (at < types->count && types->items[at].kind == TYPE_STRUCT) {
                        inner = at;
                        inside = a_offset;
                }
        return inner != TYPE_NONE && b_offset >= inside &&
               type_holds(types, b, b_offset - inside, inner);
}

bool inner_structure_begins(const struct types *types, uint32_t outer, uint64_t offset,
                            uint32_t inner)
{
        if (inner >= types->count || types->items[inner].kind != TYPE_STRUCT)
                return false;
        for (int i = 0; i < TYPE_NESTING_LIMIT && enter(types, &outer, &offset); i++)
                if (offset == 0 && type_same(types, outer, inner))
                        return true;
        return false;
}

/* Whether TYPE or one of its base classes has members that are not listed, such as
 * virtual bases, which lie behind all others. */
static bool lists_part(const struct types *types, uint32_t type, unsigned depth,
                       unsigned *work_left)
{
        if (type >= types->count || depth == TYPE_DEPTH_LIMIT || *work_left == 0)
                return true;
        const struct type *outer = &types->items[type];
        const struct member *members = types->members + outer->first_member;

        if (outer->partial)
                return true;
        for (uint32_t i = 0; i < outer->member_count; i++) {
                if (*work_left == 0)
                        return true;
                --*work_left;
                if (members[i].base &&
                    lists_part(types, members[i].type, depth + 1, work_left))
                        return true;
        }
        return false;
}

struct untold {
        const struct types *types;
        unsigned work_left;
        bool untold;  /* a member leaves it open */
        bool pointer; /* one is a pointer */
};

/* Goes into all that lies at OFFSET of TYPE, IN_ARRAY or not. */
static void look_into(struct untold *untold, uint32_t type, uint64_t offset,
                      bool in_array, unsigned depth)
{
        const struct types *types = untold->types;

        if (depth == TYPE_NESTING_LIMIT || untold->work_left == 0 || type >= types->count)
                return;
        untold->work_left--;
        const struct type *outer = &types->items[type];
        const struct member *members = types->members + outer->first_member;
        uint64_t bytes;

        untold->untold |= lists_part(types, type, 0, &untold->work_left);
        switch (outer->kind) {
        case TYPE_ARRAY:
                bytes = type_size(types, outer->element);
                if (bytes > 0)
                        look_into(untold, outer->element, offset % bytes, true,
                                  depth + 1);
                break;
        case TYPE_STRUCT:
        case TYPE_UNION:
                for (uint32_t i = 0; i < outer->member_count; i++)
                        if (!members[i].bit_size &&
                            type_in_member(types, outer, i, offset))
                                look_into(untold, members[i].type,
                                          offset - members[i].offset_bytes, in_array,
                                          depth + 1);
                break;
        default:
                untold->pointer |= outer->kind == TYPE_POINTER;
                untold->untold |=
                    outer->kind == TYPE_INTEGER && (in_array || outer->size_bytes == 1);
        }
}

bool inner_untold(const struct types *types, uint32_t type, uint64_t offset, bool pointer)
{
        struct untold untold = {.types = types, .work_left = TYPE_WORK_LIMIT};

        look_into(&untold, type, offset, false, 0);
        return untold.untold && untold.work_left > 0 && !(pointer && untold.pointer);
}
