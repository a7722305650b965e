/* SPDX-License-Identifier: MIT */
/* Fortran's common blocks as program units divide them; blocks and addresses are made. */
#include "common_block.h"
#include "unit_test.h"

enum { BLOCK_START = 0x1000, KEPT_VIEWS = 64 };

struct fixture {
        struct common_blocks blocks;
        struct types types;
        struct string_pool *names;
        uint32_t number; /* a type of 8 bytes */
};

static void begin(struct fixture *fixture)
{
        const struct type number = {.kind = TYPE_INTEGER, .size_bytes = 8};

        *fixture = (struct fixture){.names = string_pool_new()};
        assert_non_null(fixture->names);
        assert_int_equal(types_put(&fixture->types, &number, NULL, &fixture->number), 0);
}

static void end(struct fixture *fixture)
{
        common_blocks_free(&fixture->blocks);
        types_free(&fixture->types);
        string_pool_free(fixture->names);
}

/* FUNCTION divides the block NAME of BYTES from START on into numbers called after it. */
static void divide(struct fixture *fixture, const char *name, uint32_t function,
                   uint64_t start, uint64_t bytes)
{
        const struct common_block block = {.name = string_pool_put(fixture->names, name),
                                           .function = function};

        assert_int_equal(common_blocks_begin(&fixture->blocks, &block), 0);
        for (uint64_t at = 0; at < bytes; at += 8) {
                const struct common_member member = {
                    .placed = true,
                    .vaddr = start + at,
                    .name = string_pool_format(fixture->names, "m%u", function),
                    .type = fixture->number};

                assert_int_equal(common_blocks_add(&fixture->blocks, &member), 0);
        }
}

static void answer(struct fixture *fixture, struct data_place *places, size_t count)
{
        struct data_place **list = calloc(count, sizeof(*list));

        assert_non_null(list);
        for (size_t i = 0; i < count; i++)
                list[i] = &places[i];
        assert_int_equal(common_blocks_answer(&fixture->blocks, &fixture->types,
                                              fixture->names, list, count),
                         0);
        free(list);
}

TEST(units_beyond_those_that_are_kept_have_no_type)
{
        struct fixture fixture;
        struct data_place place = {.vaddr = BLOCK_START, .type = TYPE_NONE};

        begin(&fixture);
        for (uint32_t function = 1; function <= KEPT_VIEWS + 1; function++)
                divide(&fixture, "grid", function, BLOCK_START, 16);
        /* another of the name of the second */
        divide(&fixture, "grid", 2, BLOCK_START, 8);
        answer(&fixture, &place, 1);
        assert_int_not_equal(data_type_for(&place, 1), TYPE_NONE);
        assert_int_not_equal(data_type_for(&place, KEPT_VIEWS), TYPE_NONE);
        assert_int_equal(data_type_for(&place, KEPT_VIEWS + 1), TYPE_NONE);
        assert_int_equal(data_type_for(&place, 2), TYPE_NONE);
        assert_int_equal(data_type_for(&place, 1000), TYPE_NONE);
        assert_true(place.views_left_out);
        data_place_clear(&place);
        end(&fixture);
}

TEST(as_many_units_as_are_kept_have_all_their_types)
{
        struct fixture fixture;
        struct data_place place = {.vaddr = BLOCK_START, .type = TYPE_NONE};

        begin(&fixture);
        for (uint32_t function = 1; function <= KEPT_VIEWS; function++)
                divide(&fixture, "grid", function, BLOCK_START, 16);
        answer(&fixture, &place, 1);
        assert_false(place.views_left_out);
        assert_int_not_equal(data_type_for(&place, KEPT_VIEWS), TYPE_NONE);
        assert_int_not_equal(data_type_for(&place, 1000), TYPE_NONE); /* of any of them */
        data_place_clear(&place);
        end(&fixture);
}

/* Blocks of all sizes at all places, over places of which some are in variables of their
 * own, in each other too: each place is in those blocks that its variable holds. */
TEST(places_are_in_the_blocks_that_their_variables_hold)
{
        enum { PLACES = 64 };

        for (uint64_t start = 0; start < PLACES * 8; start += 40) {
                for (uint64_t bytes = 8; bytes <= 160; bytes += 8) {
                        struct fixture fixture;
                        struct data_place places[PLACES] = {{0}};

                        begin(&fixture);
                        for (size_t i = 0; i < PLACES; i++) {
                                bool inner = i % 16 == 4, variable = i % 32 < 16;

                                places[i] = (struct data_place){
                                    .vaddr = BLOCK_START + 8 * i,
                                    .start = BLOCK_START + 8 * (inner ? i : i / 16 * 16),
                                    .size_bytes = inner ? 8 : 128,
                                    .variable = variable,
                                    .type = TYPE_NONE};
                        }
                        divide(&fixture, "grid", 1, BLOCK_START + start, bytes);
                        answer(&fixture, places, PLACES);
                        for (size_t i = 0; i < PLACES; i++) {
                                uint64_t at = 8 * i;
                                uint64_t of = i % 16 == 4 ? at : i / 16 * 16 * 8;
                                uint64_t size = i % 16 == 4 ? 8 : 128;
                                bool in = i % 32 < 16
                                              ? of <= start && start + bytes <= of + size
                                              : at >= start && at < start + bytes;

                                assert_int_equal(places[i].view_count, in);
                                data_place_clear(&places[i]);
                        }
                        end(&fixture);
                }
        }
}
