/* SPDX-License-Identifier: MIT */
/* If one pointer is cast to two structures, the code may use either. A variable of an
 * inner block hides the outer one's; an inlined function has its own variables. */
#include "rival_variables.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "type_field.h"

enum { PAIRS_AT_MOST = 1 << 16 };

/* Whether A and B are pointers to structures of which neither begins with the other. */
static bool are_rivals(struct type_reader *reader, uint32_t a, uint32_t b)
{
        const struct types *types = reader->types;

        if (type_same(types, a, b))
                return false;
        uint32_t x = type_pointee(reader, a), y = type_pointee(reader, b);

        return type_has_fields(types, x) && type_has_fields(types, y) &&
               !type_same(types, x, y) && type_unlike(types, x, y);
}

static void widen(struct register_variable *variable, uint64_t low, uint64_t high)
{
        if (variable->rival_low == variable->rival_high) {
                variable->rival_low = low;
                variable->rival_high = high;
                return;
        }
        if (low < variable->rival_low)
                variable->rival_low = low;
        if (high > variable->rival_high)
                variable->rival_high = high;
}

static int compare(const void *left, const void *right)
{
        const struct register_variable *a = *(struct register_variable *const *)left;
        const struct register_variable *b = *(struct register_variable *const *)right;

        COMPARE(a->block, b->block);
        COMPARE(a->reg, b->reg);
        COMPARE(a->offset, b->offset);
        COMPARE(a->low, b->low);
        return 0;
}

static bool same_place(const struct register_variable *a,
                       const struct register_variable *b)
{
        return a->block == b->block && a->reg == b->reg && a->offset == b->offset;
}

/* LIST from FIRST on was not compared completely: any variable there may have a rival. */
static void leave_open(struct register_variable **list, size_t count, size_t first)
{
        for (size_t i = first; i < count; i++) {
                if ((i == 0 || !same_place(list[i - 1], list[i])) &&
                    (i + 1 == count || !same_place(list[i], list[i + 1])))
                        continue;
                list[i]->rival_low = list[i]->low;
                list[i]->rival_high = list[i]->high;
        }
}

int rival_variables_find(struct variables *variables, struct type_reader *reader)
{
        struct register_variable **list =
            malloc((variables->value_count + 1) * sizeof(struct register_variable *));
        size_t count = 0, pairs_left = PAIRS_AT_MOST;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < variables->value_count; i++)
                if (!variables->values[i].from_set)
                        list[count++] = &variables->values[i];
        SORT(list, count, compare);
        for (size_t i = 0; i < count; i++) {
                for (size_t j = i + 1; j < count && same_place(list[i], list[j]) &&
                                       list[j]->low < list[i]->high;
                     j++, pairs_left--) {
                        if (pairs_left == 0) {
                                leave_open(list, count, i);
                                count = 0;
                                break;
                        }
                        uint64_t high =
                            list[j]->high < list[i]->high ? list[j]->high : list[i]->high;

                        if (!are_rivals(reader, list[i]->type, list[j]->type))
                                continue;
                        widen(list[i], list[j]->low, high);
                        widen(list[j], list[j]->low, high);
                }
        }
        free(list);
        return reader->error;
}
