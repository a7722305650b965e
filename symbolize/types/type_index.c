/* SPDX-License-Identifier: MIT */
/* Looks for the offset in all arrays whose items the index may count. */
#include "type_index.h"

#include "type_table.h"

enum { ITEMS_LIMIT = 16 }; /* of an array, that are tried separately */

bool type_counted_whole(const struct types *types, uint32_t type, uint64_t stride_bytes)
{
        uint64_t bytes = type_size(types, type);

        if (bytes == 0 || stride_bytes % bytes != 0 || type_open_ended(types, type))
                return false;
        uint64_t items = stride_bytes / bytes;

        return types->items[type].kind != TYPE_STRUCT || (items & (items - 1)) == 0;
}

bool type_counts(uint64_t stride_bytes, uint64_t bytes)
{
        return stride_bytes > 0 && bytes > 0 &&
               (stride_bytes % bytes == 0 || bytes % stride_bytes == 0);
}

/* Compilers add constants of several indexes to the offset or the index, so the offset
 * may lie outside of the array. */
struct reach {
        const struct types *types;
        int64_t offset;
        uint64_t stride;
        uint64_t access_bytes;
        enum index_outcome outcome;
        bool several;
        bool counts_all; /* the index may count whole ones of the outermost type */
        bool constant;  /* without an index, the offset is a field outside of the array */
        bool elsewhere; /* with a constant index it is in another array */
        uint64_t at;
        unsigned work_left;
        unsigned nesting;
};

/* The path into a type. */
struct reach_way {
        uint64_t field; /* with every index 0 */
        uint64_t start; /* with the constant indexes */
        uint64_t step;  /* of all other indexes together */
        bool counted;   /* the index may count items of an array here */
        bool any_item;  /* of an array whose items were not tried separately */
        bool in_array;  /* the outermost array is on the path */
        uint64_t low;   /* from here */
        uint64_t high;  /* to here */
};

static void reach_field(struct reach *reach, const struct reach_way *way, uint64_t bytes)
{
        int64_t low = (int64_t)way->low - (int64_t)reach->stride;
        int64_t rest = (reach->offset - (int64_t)way->start) % (int64_t)way->step;
        uint64_t inside = (uint64_t)(rest < 0 ? rest + (int64_t)way->step : rest);

        if (!way->counted) {
                int64_t from = reach->offset - (int64_t)way->start;

                reach->constant |=
                    reach->counts_all && inside < bytes &&
                    (way->any_item || (from >= 0 && from < (int64_t)bytes));
                return;
        }
        if (inside >= bytes)
                return;
        if (reach->offset < low || reach->offset >= (int64_t)way->high) {
                reach->elsewhere |= way->in_array;
                return;
        }
        reach->several |=
            reach->outcome != INDEX_OPEN && reach->at != way->field + inside;
        reach->at = way->field + inside;
        reach->outcome = reach->offset < (int64_t)way->low ? INDEX_SHIFTED : INDEX_FOUND;
}

static void reach_type(struct reach *reach, uint32_t type_id,
                       const struct reach_way *way);

static void reach_members(struct reach *reach, const struct type *type,
                          const struct reach_way *way)
{
        for (uint32_t i = 0; i < type->member_count && !reach->several; i++) {
                const struct member *member =
                    &reach->types->members[type->first_member + i];
                struct reach_way next = *way;

                if (member->offset_bytes > INT32_MAX || way->start > INT32_MAX) {
                        reach->several = true;
                        return;
                }
                next.field += member->offset_bytes;
                next.start += member->offset_bytes;
                if (member->bit_size)
                        reach_field(
                            reach, &next,
                            ((uint64_t)member->bit_offset + member->bit_size + 7) / 8);
                else
                        reach_type(reach, member->type, &next);
        }
}

/* The index in question steps over items. Its stride is known only as a multiple, so
 * items may be larger. Other indexes are constant, or one more if there are many items.
 */
static void reach_items(struct reach *reach, const struct type *type,
                        const struct reach_way *way)
{
        uint64_t bytes = type_size(reach->types, type->element), items = type->items;
        struct reach_way next = *way;

        if (bytes == 0 || bytes > INT32_MAX)
                return;
        bool counts = type_counts(reach->stride, bytes);

        next.counted |= counts;
        if (counts || items == 0 || items > ITEMS_LIMIT) {
                next.any_item |= !counts;
                next.step = common_factor(way->step, bytes);
                items = 1;
        }
        if (!way->in_array) {
                next.in_array = true;
                next.low = way->field;
                next.high = type->size_bytes > 0 && type->size_bytes < INT32_MAX
                                ? way->field + type->size_bytes
                                : INT64_MAX;
        }
        for (; items > 0 && !reach->several; items--, next.start += bytes)
                reach_type(reach, type->element, &next);
}

static void reach_type(struct reach *reach, uint32_t type_id, const struct reach_way *way)
{
        if (type_id >= reach->types->count || reach->several)
                return;
        if (reach->work_left == 0 || reach->nesting == TYPE_NESTING_LIMIT) {
                reach->several = true;
                return;
        }
        reach->work_left--;
        reach->nesting++;
        const struct type *type = &reach->types->items[type_id];

        if (type->kind == TYPE_STRUCT || type->kind == TYPE_UNION)
                reach_members(reach, type, way);
        else if (type->kind == TYPE_ARRAY)
                reach_items(reach, type, way);
        else if (reach->access_bytes <= type->size_bytes)
                reach_field(reach, way, type->size_bytes);
        reach->nesting--;
}

enum index_outcome type_indexed(const struct types *types, uint32_t type,
                                int64_t offset_bytes, uint64_t stride_bytes,
                                uint64_t access_bytes, uint64_t *found)
{
        struct reach reach = {.types = types,
                              .offset = offset_bytes,
                              .stride = stride_bytes,
                              .access_bytes = access_bytes,
                              .counts_all = type_size(types, type) % stride_bytes == 0,
                              .work_left = TYPE_FIELDS_LIMIT};
        const struct reach_way way = {.step = stride_bytes};

        *found = (uint64_t)offset_bytes;
        if (type_counted_whole(types, type, stride_bytes))
                return INDEX_FOUND;
        if (stride_bytes > INT32_MAX || offset_bytes > INT32_MAX ||
            offset_bytes < INT32_MIN)
                return INDEX_OPEN;
        reach_type(&reach, type, &way);
        if (reach.several || reach.outcome == INDEX_OPEN ||
            (reach.outcome == INDEX_FOUND && (reach.constant || reach.elsewhere)))
                return INDEX_OPEN;
        *found = reach.at;
        return reach.outcome;
}
