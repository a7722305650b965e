/* SPDX-License-Identifier: MIT */
/* Sums, products and joins of abstract values, against all values of the operands. */
#include "block_type.h"
#include "elf_file.h"
#include "place_value.h"
#include "unit_test.h"

/* ---- numbers ---- */

enum { REACH = 6 }; /* of REST's multiples of STEP, up and down */

static const uint64_t steps[] = {0, 2, 3, 4, 6, 8, 12};
static const int64_t rests[] = {-9, -4, -1, 0, 1, 2, 7, 8, 20};

static void assert_kind(struct place_value value, enum place_kind kind)
{
        assert_int_equal(value.kind, kind);
}

static void assert_same(struct place_value a, struct place_value b)
{
        assert_true(place_same(&a, &b));
}

#define EACH(item, array)                                                                \
        for (size_t item = 0; item < sizeof(array) / sizeof((array)[0]); item++)

/* Whether VALUE may be NUMBER. */
static bool may_be(const struct place_value *value, int64_t number)
{
        int64_t from_offset = number - value->offset;

        if (value->kind == PLACE_UNKNOWN)
                return true;
        assert_int_equal(value->kind, PLACE_NUMBER);
        return value->stride_bytes == 0 ? from_offset == 0
                                        : from_offset % (int64_t)value->stride_bytes == 0;
}

/* VALUE contains the COUNT NUMBERS, and they have no larger common step. */
static void assert_exact(const struct place_value *value, const int64_t *numbers,
                         size_t count)
{
        uint64_t step = 0;

        for (size_t i = 0; i < count; i++) {
                uint64_t apart =
                    (uint64_t)(numbers[i] > numbers[0] ? numbers[i] - numbers[0]
                                                       : numbers[0] - numbers[i]);

                assert_true(may_be(value, numbers[i]));
                for (uint64_t rest; apart > 0; step = apart, apart = rest)
                        rest = step % apart;
        }
        if (step == 1)
                assert_true(value->kind == PLACE_UNKNOWN || value->stride_bytes == 1);
        else
                assert_int_equal(value->stride_bytes, step);
}

/* Writes the possible sums of REST and multiples of STEP to NUMBERS; returns how many. */
static size_t list(uint64_t step, int64_t rest, int64_t *numbers)
{
        size_t count = 0;

        for (int64_t i = -REACH; i <= REACH; i++)
                if (step > 0 || i == 0)
                        numbers[count++] = rest + i * (int64_t)step;
        return count;
}

struct pair {
        struct place_value a, b;
        int64_t of_a[2 * REACH + 1], of_b[2 * REACH + 1];
        size_t count_a, count_b;
};

typedef void pair_check(const struct pair *pair);

static void for_pairs(pair_check *check)
{
        EACH(s, steps)
        EACH(r, rests)
        EACH(t, steps)
        EACH(q, rests)
        {
                struct pair pair = {.a = place_number(steps[s], rests[r]),
                                    .b = place_number(steps[t], rests[q])};

                pair.count_a = list(steps[s], rests[r], pair.of_a);
                pair.count_b = list(steps[t], rests[q], pair.of_b);
                check(&pair);
        }
}

static void check_meeting(const struct pair *pair)
{
        static const struct types none;
        int64_t numbers[4 * REACH + 2];
        size_t count = 0;

        for (size_t i = 0; i < pair->count_a; i++)
                numbers[count++] = pair->of_a[i];
        for (size_t i = 0; i < pair->count_b; i++)
                numbers[count++] = pair->of_b[i];
        struct place_value met = place_meet(&none, &pair->a, &pair->b);

        assert_exact(&met, numbers, count);
        assert_int_equal(met.kind, PLACE_NUMBER); /* any, where nothing else is known */
}

static void check_sum(const struct pair *pair)
{
        static const struct types none;
        int64_t numbers[(2 * REACH + 1) * (2 * REACH + 1)];

        for (uint64_t scale = 1; scale <= 8; scale *= 2) {
                size_t count = 0;

                for (size_t i = 0; i < pair->count_a; i++)
                        for (size_t j = 0; j < pair->count_b; j++)
                                numbers[count++] =
                                    pair->of_a[i] + (int64_t)scale * pair->of_b[j];
                struct place_value sum = place_add(&none, &pair->a, &pair->b, scale);

                assert_exact(&sum, numbers, count);
        }
}

TEST(numbers_of_two_ways_and_sums)
{
        for_pairs(check_meeting);
        for_pairs(check_sum);
}

TEST(products_and_constants)
{
        EACH(s, steps)
        EACH(r, rests)
        for (int64_t by = 1; by <= 9; by++) {
                int64_t numbers[2 * REACH + 1], products[2 * REACH + 1],
                    sums[2 * REACH + 1];
                size_t count = list(steps[s], rests[r], numbers);
                struct place_value number = place_number(steps[s], rests[r]);
                struct place_value product = place_multiply(&number, by);
                struct place_value sum = place_add_constant(&number, by);

                for (size_t i = 0; i < count; i++) {
                        products[i] = by * numbers[i];
                        sums[i] = by + numbers[i];
                }
                assert_exact(&product, products, count);
                assert_exact(&sum, sums, count);
        }
}

/* A number too large for an index, or no number any more, becomes unknown. */
TEST(numbers_end_where_indexes_do)
{
        const struct place_value large = place_number(0, INT32_MAX);
        struct place_value beyond = place_add_constant(&large, 1);

        assert_int_equal(large.kind, PLACE_NUMBER);
        assert_int_equal(beyond.kind, PLACE_UNKNOWN);
        assert_kind(place_multiply(&large, 2), PLACE_UNKNOWN);
        assert_kind(place_multiply(&large, -1), PLACE_UNKNOWN);
        assert_int_equal(place_number(0, INT64_MIN).kind, PLACE_UNKNOWN);
        assert_kind(place_multiply(&large, 0), PLACE_UNKNOWN);
}

TEST(numbers_that_are_the_same_look_the_same)
{
        const struct place_value below = place_number(8, -1), above = place_number(8, 7);
        const struct place_value zero = place_number(8, 0), eight = place_number(8, 8);

        assert_true(place_same(&below, &above));
        assert_true(place_same(&zero, &eight));
        assert_false(place_same(&zero, &above));
}

/* ---- addresses ---- */

struct node {
        struct node *next;
        long value;
};

static struct {
        struct types types;
        uint32_t node;
} f;

static int begin(void **state)
{
        const struct type pointer = {.kind = TYPE_POINTER, .name = 1, .size_bytes = 8};
        const struct type number = {.kind = TYPE_INTEGER, .name = 2, .size_bytes = 8};
        const struct type node = {.kind = TYPE_STRUCT,
                                  .name = 3,
                                  .size_bytes = sizeof(struct node),
                                  .member_count = 2};
        struct member members[2] = {{.name = 4, .offset_bytes = 0},
                                    {.name = 5, .offset_bytes = 8}};

        f.types = (struct types){0};
        return types_put(&f.types, &pointer, NULL, &members[0].type) ||
               types_put(&f.types, &number, NULL, &members[1].type) ||
               types_put(&f.types, &node, members, &f.node);
}

static int end(void **state)
{
        types_free(&f.types);
        return 0;
}

/* A pointer that is half a node further on another path points to one of two fields. */
TEST_WITH(pointers_of_two_ways, begin, end)
{
        const struct place_value first = place_pointer(f.node, 8);
        const struct place_value next = place_pointer(f.node, 8 + sizeof(struct node));
        const struct place_value other = place_pointer(f.node, 0);
        struct place_value met = place_meet(&f.types, &first, &next);

        assert_int_equal(met.kind, PLACE_POINTER);
        assert_true(met.indexed && !met.guessed);
        assert_int_equal(met.stride_bytes, sizeof(struct node));
        assert_int_equal(place_offset(&f.types, &met), 8);
        met = place_meet(&f.types, &first, &other);
        assert_int_equal(met.kind, PLACE_UNKNOWN);
}

/* Two strides leave their common divisor; a stride of whole items changes nothing. */
TEST_WITH(whole_items_change_no_step, begin, end)
{
        const uint32_t number = 1; /* the second type that was put */
        const struct step {
                uint32_t type;
                uint64_t a, b, sum;
        } cases[] = {{f.node, 24, 16, 24}, {f.node, 16, 24, 24}, {f.node, 24, 8, 8},
                     {f.node, 32, 16, 16}, {number, 24, 16, 8},  {number, 12, 8, 12}};

        for (size_t i = 0; i < LENGTH(cases); i++) {
                const struct place_value pointer = place_pointer(cases[i].type, 0);
                const struct place_value a = place_number(cases[i].a, 0);
                const struct place_value b = place_number(cases[i].b, 0);
                struct place_value sum = place_add(&f.types, &pointer, &a, 1);

                sum = place_add(&f.types, &sum, &b, 1);
                assert_int_equal(sum.kind, PLACE_POINTER);
                assert_int_equal(sum.stride_bytes, cases[i].sum);
        }
}

/* Nothing is accessed near address 0; further away are numbers that may be an index. */
TEST_WITH(null_pointers_of_two_ways, begin, end)
{
        const struct place_value pointer = place_pointer(f.node, 8);
        const int64_t nulls[] = {0, 8, -8, 4095};
        const struct place_value far = place_number(0, 4096);
        const struct place_value counted = place_number(8, 0);

        EACH(i, nulls)
        {
                const struct place_value null = place_number(0, nulls[i]);
                assert_same(place_meet(&f.types, &pointer, &null), pointer);
                assert_same(place_meet(&f.types, &null, &pointer), pointer);
        }
        struct place_value met = place_meet(&f.types, &pointer, &far);

        assert_int_equal(met.kind, PLACE_UNKNOWN);
        assert_kind(place_meet(&f.types, &pointer, &counted), PLACE_UNKNOWN);
}

/* A value read through a null pointer changes no join, and makes any sum unreached. */
TEST_WITH(what_null_pointers_lead_to, begin, end)
{
        const struct place_value pointer = place_pointer(f.node, 8);
        assert_same(place_meet(&f.types, &pointer, &place_unreached), pointer);
        assert_kind(place_add(&f.types, &pointer, &place_unreached, 1), PLACE_UNREACHED);
        assert_kind(place_add(&f.types, &place_unreached, &pointer, 1), PLACE_UNREACHED);
}

/* A variable in the frame, or another one behind it: the first need not contain both. */
TEST_WITH(one_of_two_variables, begin, end)
{
        const struct place_value low = {
            .kind = PLACE_FRAME, .type = TYPE_NONE, .offset = -48};
        const struct place_value high = place_add_constant(&low, 24);
        const struct place_value met = place_meet(&f.types, &high, &low);

        assert_int_equal(met.offset, -48);
        assert_true(met.indexed && met.stride_bytes == 24);
        assert_true(place_stays_in(&f.types, &low, f.node, 8));
        assert_false(place_stays_in(&f.types, &met, f.node, 8));
        assert_same(place_meet(&f.types, &low, &high), met);
}

/* An index counts if its stride is a node, on either side of the sum. */
TEST_WITH(indexes_of_pointers, begin, end)
{
        const struct place_value node = place_pointer(f.node, 0);
        const struct place_value whole = place_number(sizeof(struct node), 8);
        const struct place_value nothing = {.kind = PLACE_UNKNOWN, .type = TYPE_NONE};
        struct place_value sum = place_add(&f.types, &node, &whole, 1);

        assert_int_equal(sum.kind, PLACE_POINTER);
        assert_true(sum.indexed && !sum.guessed);
        assert_int_equal(place_offset(&f.types, &sum), 8);
        struct place_value swapped = place_add(&f.types, &whole, &node, 1);

        assert_true(place_same(&sum, &swapped));
        sum = place_add(&f.types, &node, &nothing, 1);
        assert_true(sum.kind == PLACE_POINTER && sum.indexed && sum.guessed);
        assert_true(sum.unknown_index && !swapped.unknown_index);
        const struct place_value counted = place_number(sizeof(struct node), 0);
        struct place_value other = place_add(&f.types, &node, &counted, 1);

        sum = place_meet(&f.types, &other, &sum);
        assert_true(sum.kind == PLACE_POINTER && sum.unknown_index);
        sum = place_add(&f.types, &whole, &node, 2); /* nobody doubles a pointer */
        assert_int_equal(sum.kind, PLACE_UNKNOWN);
        assert_kind(place_add(&f.types, &node, &node, 1), PLACE_UNKNOWN);
}

/* The beginning of an index of VALUE nodes, from a node's second field. */
static int64_t begins(const struct place_value *value)
{
        const struct place_value node = place_pointer(f.node, 8);
        struct place_value place = place_add(&f.types, &node, value, sizeof(struct node));

        assert_int_equal(place.kind, PLACE_POINTER);
        assert_int_equal(place_offset(&f.types, &place), 8);
        place = place_settled(&f.types, &place, 8);
        assert_int_equal(place.shifted,
                         place_begin(&place) >= (int64_t)sizeof(struct node));
        return place_begin(&place);
}

/* The constant added to an unknown number gives the beginning of the index. */
TEST_WITH(where_indexes_begin, begin, end)
{
        struct place_value any = place_any_number, unknown = place_unknown;
        struct place_value one_more = place_add_constant(&unknown, 1);

        assert_int_equal(begins(&any), 8);
        assert_int_equal(begins(&one_more), 8 + 16);
        struct place_value back = place_add_constant(&one_more, -1);

        assert_int_equal(begins(&back), 8);
        struct place_value half = place_half(&one_more, 2);

        assert_int_equal(begins(&half), 8 + 3 * 16);
        struct place_value odd = place_or(&any, 1);

        assert_int_equal(begins(&odd), 8 + 16);
        /* A loop that begins at 1, and one that begins at 0. */
        const struct place_value one = place_number(0, 1), zero = place_number(0, 0);
        struct place_value next = place_half(&one, 1);
        struct place_value loop = place_meet(&f.types, &one, &next);

        assert_int_equal(begins(&loop), 8 + 16);
        next = place_half(&loop, 1);
        next = place_meet(&f.types, &loop, &next);
        assert_true(place_same(&loop, &next));
        next = place_half(&zero, 1);
        loop = place_meet(&f.types, &zero, &next);
        assert_int_equal(begins(&loop), 8);
        /* On one path it begins behind the first item, on the other at the first item. */
        loop = place_meet(&f.types, &one_more, &unknown);
        assert_int_equal(begins(&loop), 8);
}

/* Setting the lowest bit of an even number gives the next one; else it is unknown. */
TEST(bits_that_are_set)
{
        const struct place_value even = place_number(2, 0), three = place_number(3, 0);
        const struct place_value odd = place_number(2, 1);
        struct place_value set = place_or(&even, 1);

        assert_true(place_same(&set, &odd));
        set = place_or(&three, 1);
        assert_true(set.kind == PLACE_UNKNOWN);
        set = place_or(&even, 2);
        assert_true(set.kind == PLACE_UNKNOWN);
        set = place_or(&even, -2);
        assert_true(set.kind == PLACE_UNKNOWN);
}

/* Items of an array on the stack, in a loop. */
TEST_WITH(places_in_a_frame_of_two_ways, begin, end)
{
        const struct place_value first = {
            .kind = PLACE_FRAME, .type = TYPE_NONE, .offset = -64};
        const struct place_value next = place_add_constant(&first, 24);
        const struct place_value met = place_meet(&f.types, &first, &next);

        assert_int_equal(met.kind, PLACE_FRAME);
        assert_true(met.indexed);
        assert_int_equal(met.stride_bytes, 24);
        assert_false(place_same(&first, &next));
        assert_false(place_same(&first, &met));
        assert_true(place_same(&first, &first));
}

/* A known offset from the thread pointer gives the variable at that offset. */
TEST_WITH(thread_local_variables_by_their_offset, begin, end)
{
        const struct place_value pointer = {.kind = PLACE_THREAD, .type = TYPE_NONE};
        const struct place_value beside = place_add_constant(&pointer, 8);
        const struct place_value variable = {.kind = PLACE_ADDRESS,
                                             .type = TYPE_NONE,
                                             .offset = (int64_t)(64 | ELF_THREAD_LOCAL)};
        struct place_value sum = place_add(&f.types, &pointer, &variable, 1);

        assert_true(place_in_thread(&variable) && place_same(&sum, &variable));
        assert_same(place_add(&f.types, &variable, &pointer, 1), variable);
        assert_kind(place_add(&f.types, &pointer, &variable, 2), PLACE_UNKNOWN);
        assert_kind(place_add(&f.types, &beside, &variable, 1), PLACE_UNKNOWN);
}

/* ---- blocks of items ---- */

enum { ITEM_BYTES = sizeof(struct node), THIRD = 3 * ITEM_BYTES };

/* The type that an access by PLACE to the third item gives to blocks of items. */
static struct block_type learn(const struct place_value *place)
{
        struct block_type blocks = {.type = f.node, .item = TYPE_NONE};

        block_type_learn_items(&blocks, &f.types, THIRD, place);
        return blocks;
}

/* A sampled access to items[i] may reach any item; an index of rows reaches no others. */
TEST_WITH(items_that_an_index_counts, begin, end)
{
        const struct place_value pointer = place_pointer(f.node, 0);
        const struct place_value items = place_number(ITEM_BYTES, 0);
        const struct place_value rows = place_number(THIRD, 0);
        struct place_value place = place_add(&f.types, &pointer, &items, 1);
        struct block_type blocks = learn(&place);

        assert_true(block_type_has_item(&blocks, &f.types, f.node, ITEM_BYTES));
        place = place_add(&f.types, &pointer, &rows, 1);
        blocks = learn(&place);
        assert_true(block_type_has_item(&blocks, &f.types, f.node, THIRD));
        assert_false(block_type_has_item(&blocks, &f.types, f.node, ITEM_BYTES));
        blocks = learn(&pointer);
        assert_true(block_type_has_item(&blocks, &f.types, f.node, THIRD));
        assert_false(block_type_has_item(&blocks, &f.types, f.node, ITEM_BYTES));
}
