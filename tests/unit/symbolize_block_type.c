/* SPDX-License-Identifier: MIT */
/* What pointers into a block tell of the items in it. */
#define TEST_SETUP    begin
#define TEST_TEARDOWN end
#include "block_type.h"
#include "unit_test.h"

enum { ITEM_BYTES = 16, THIRD = 3 * ITEM_BYTES };

struct fixture {
        struct types types;
        uint32_t item;
};

static int begin(void **state)
{
        static struct fixture fixture;
        const struct type number = {.kind = TYPE_INTEGER, .name = 1, .size_bytes = 8};
        const struct type item = {
            .kind = TYPE_STRUCT, .name = 2, .size_bytes = ITEM_BYTES, .member_count = 1};
        struct member member = {.name = 3, .offset_bytes = 0};

        fixture = (struct fixture){.item = TYPE_NONE};
        *state = &fixture;
        return types_put(&fixture.types, &number, NULL, &member.type) ||
               types_put(&fixture.types, &item, &member, &fixture.item);
}

static int end(void **state)
{
        types_free(&((struct fixture *)*state)->types);
        return 0;
}

/* What is known of blocks of items after an access by PLACE to the third one. */
static struct block_type learn(const struct fixture *f, const struct place_value *place)
{
        struct block_type blocks = {.type = f->item, .item = TYPE_NONE};

        block_type_learn_items(&blocks, &f->types, THIRD, place);
        return blocks;
}

/* items[i], of which a sample has met one, is any of them; rows tell of no others. */
TEST(items_that_an_index_counts)
{
        const struct fixture *f = *state;
        const struct place_value pointer = place_pointer(f->item, 0);
        const struct place_value items = place_number(ITEM_BYTES, 0);
        const struct place_value rows = place_number(THIRD, 0);
        struct place_value place = place_add(&f->types, &pointer, &items, 1);
        struct block_type blocks = learn(f, &place);

        assert_true(block_type_has_item(&blocks, &f->types, f->item, ITEM_BYTES));
        place = place_add(&f->types, &pointer, &rows, 1);
        blocks = learn(f, &place);
        assert_true(block_type_has_item(&blocks, &f->types, f->item, THIRD));
        assert_false(block_type_has_item(&blocks, &f->types, f->item, ITEM_BYTES));
        blocks = learn(f, &pointer);
        assert_true(block_type_has_item(&blocks, &f->types, f->item, THIRD));
        assert_false(block_type_has_item(&blocks, &f->types, f->item, ITEM_BYTES));
}
