/* SPDX-License-Identifier: MIT */
/* Fields at the offsets of types, and decoded instructions; offsets are offsetof's. */
#define TEST_SETUP    begin
#define TEST_TEARDOWN end
#include "base_names.h"
#include "block_type.h"
#include "flow_instruction.h"
#include "type_index.h"
#include "type_padding.h"
#include "type_path.h"
#include "unit_test.h"

/* ---- struct sample, as the compiler lays it out and as a table ---- */

struct inner {
        short low;
        int pair[3];
};

struct sample {
        struct sample *next;
        union {
                double ratio;
                long count;
                struct inner *link;
        } as;
        struct inner part[4];
        struct inner; /* its fields are used directly */
        char letters[];
};

struct fixture {
        struct types types;
        struct string_pool *names;
        uint32_t number, real, pointer, byte, half, wide, inner, sample;
};

/* The fixture of all tests. */
static struct fixture f;

static uint32_t put_type(const struct type *type, const struct member *members)
{
        uint32_t id;

        assert_ok(types_put(&f.types, type, members, &id));
        return id;
}

static uint32_t put(enum type_kind kind, const char *name, uint64_t bytes)
{
        const struct type type = {
            .kind = kind, .name = string_pool_put(f.names, name), .size_bytes = bytes};

        return put_type(&type, NULL);
}

static uint32_t put_array(uint32_t element, uint64_t items)
{
        const uint64_t bytes = items * f.types.items[element].size_bytes;
        const struct type type = {
            .kind = TYPE_ARRAY, .element = element, .items = items, .size_bytes = bytes};

        return put_type(&type, NULL);
}

static uint32_t put_record(enum type_kind kind, const char *name, uint64_t bytes,
                           const struct member *members, uint32_t count)
{
        const struct type type = {.kind = kind,
                                  .name = string_pool_put(f.names, name),
                                  .size_bytes = bytes,
                                  .member_count = count};

        return put_type(&type, members);
}

static struct member member(const char *name, uint32_t type, uint64_t offset)
{
        return (struct member){string_pool_put(f.names, name), type, offset, 0, 0, false};
}

/* As the compiler lays out the member NAME of TYPE. */
#define MEMBER(type, name, its_type) member(#name, its_type, offsetof(type, name))

/* A type of so many bytes and of the members that follow. */
#define RECORD(kind, name, bytes, ...)                                                   \
        put_record(kind, name, bytes, (const struct member[]){__VA_ARGS__},              \
                   LENGTH(((const struct member[]){__VA_ARGS__})))
#define STRUCT(name, bytes, ...) RECORD(TYPE_STRUCT, name, bytes, __VA_ARGS__)
#define UNION(name, bytes, ...)  RECORD(TYPE_UNION, name, bytes, __VA_ARGS__)

static struct member bit_field(const char *name, uint64_t offset, uint32_t bit_offset,
                               uint32_t bits)
{
        struct member made = member(name, f.number, offset);

        made.bit_offset = bit_offset;
        made.bit_size = bits;
        return made;
}

static int begin(void **state)
{
        f = (struct fixture){.names = string_pool_new()};
        f.number = put(TYPE_INTEGER, "int", 4);
        f.real = put(TYPE_FLOAT, "double", 8);
        f.pointer = put(TYPE_POINTER, "struct sample *", 8);
        f.byte = put(TYPE_INTEGER, "char", 1);
        f.half = put(TYPE_INTEGER, "short", 2);
        f.wide = put(TYPE_INTEGER, "long", 8);
        f.inner = STRUCT("struct inner", sizeof(struct inner),
                         MEMBER(struct inner, low, f.half),
                         MEMBER(struct inner, pair, put_array(f.number, 3)));
        f.sample = STRUCT(
            "struct sample", sizeof(struct sample),
            MEMBER(struct sample, next, f.pointer),
            MEMBER(struct sample, as,
                   UNION(NULL, 8, member("ratio", f.real, 0), member("count", f.wide, 0),
                         member("link", f.pointer, 0))),
            MEMBER(struct sample, part, put_array(f.inner, 4)),
            member(NULL, f.inner, offsetof(struct sample, low)),
            MEMBER(struct sample, letters, put_array(f.byte, 0)));
        return 0;
}

static int end(void **state)
{
        types_free(&f.types);
        string_pool_free(f.names);
        return 0;
}

static const char *field_at(uint32_t type, uint64_t offset, struct type_access access)
{
        struct field field;

        return type_field(&f.types, f.names, type, offset, &access, &field) == FIELD_FOUND
                   ? string_pool_text(f.names, field.name)
                   : "-";
}

static void assert_field(uint32_t type, uint64_t offset, uint32_t bytes,
                         enum access_number number, const char *name)
{
        const struct type_access access = {.bytes = bytes, .number = number};

        assert_string_equal(field_at(type, offset, access), name);
}

static enum field_outcome outcome_at(uint32_t type, uint64_t offset)
{
        const struct type_access access = {.bytes = 1};
        struct field field;

        return type_field(&f.types, f.names, type, offset, &access, &field);
}

/* ---- tests ---- */

TEST(fields_are_named_by_their_way)
{
        assert_field(f.sample, 0, 8, NUMBER_INTEGER, "next");
        for (int i = 0; i < 4; i++) {
                assert_field(f.sample, offsetof(struct sample, part[i].low), 2,
                             NUMBER_ANY, "part[].low");
                assert_field(f.sample, offsetof(struct sample, part[i].pair[2]), 4,
                             NUMBER_ANY, "part[].pair[]");
        }
        assert_field(f.sample, offsetof(struct sample, pair[1]), 4, NUMBER_ANY, "pair[]");
        /* The last array is flexible: it continues behind the end. */
        assert_field(f.sample, sizeof(struct sample) + 999, 1, NUMBER_ANY, "letters[]");
        assert_true(type_open_ended(&f.types, f.sample));
}

TEST(padding_and_the_outside_are_no_fields)
{
        assert_int_equal(outcome_at(f.inner, 2), FIELD_PADDING);
        assert_int_equal(outcome_at(f.inner, sizeof(struct inner)), FIELD_BEYOND);
        assert_int_equal(outcome_at(f.number, 0), FIELD_WHOLE);
        assert_int_equal(outcome_at(TYPE_NONE, 0), FIELD_OPAQUE);
}

/* The kind and size of the access may distinguish the members of a union. */
TEST(union_members_fit_their_access)
{
        const uint64_t at = offsetof(struct sample, as);

        assert_field(f.sample, at, 8, NUMBER_FLOAT, "as.ratio");
        assert_field(f.sample, at, 8, NUMBER_INTEGER, "as.count|link");
        /* A value that is only moved may be any member, or all. */
        assert_field(f.sample, at, 8, NUMBER_ANY, "as.ratio|count|link");
}

/* Numbers at the start of one union, and two floats in a structure. */
TEST(wider_members_are_told_as_far_as_the_access_shows)
{
        uint32_t single = put(TYPE_FLOAT, "float", 4);
        uint32_t pair =
            STRUCT("struct pair", 8, member("x", single, 0), member("y", single, 4));
        uint32_t value = UNION("union value", 8, member("real", f.real, 0),
                               member("wide", f.wide, 0), member("number", f.number, 0),
                               member("byte", f.byte, 0), member("pair", pair, 0));
        const struct {
                uint64_t offset;
                uint32_t bytes;
                enum access_number number;
                const char *name;
        } cases[] = {
            /* Members of the access's size come first. */
            {0, 8, NUMBER_ANY, "real|wide|number|byte|pair.x"},
            {0, 4, NUMBER_ANY, "number|pair.x|real|wide|byte"},
            {0, 8, NUMBER_FLOAT, "real"},
            {0, 8, NUMBER_FLOATS, "real|pair.x"},
            {0, 4, NUMBER_FLOAT, "pair.x"},
            {4, 4, NUMBER_FLOAT, "pair.y"},
            {0, 8, NUMBER_INTEGER, "wide"},
            {4, 4, NUMBER_ANY, "pair.y|.real|.wide"},
        };

        for (size_t i = 0; i < LENGTH(cases); i++)
                assert_field(value, cases[i].offset, cases[i].bytes, cases[i].number,
                             cases[i].name);
}

/* Rows may lie in a page's bytes, unless the index is proved. */
TEST(bytes_may_be_what_an_unproved_index_leads_to)
{
        uint32_t page = UNION("union page", 64, member("keys", put_array(f.wide, 8), 0),
                              member("reals", put_array(f.real, 8), 0),
                              member("raw", put_array(f.byte, 64), 0));
        uint32_t word = UNION("union word", 8, member("wide", f.wide, 0),
                              member("raw", put_array(f.byte, 8), 0));
        struct type_access access = {.bytes = 8, .number = NUMBER_INTEGER};

        assert_string_equal(field_at(page, 16, access), "keys[]");
        access.unproved = true;
        assert_string_equal(field_at(page, 16, access), "keys[]|reals[]|raw[]");
        assert_string_equal(field_at(page, 56, access), "keys[]|reals[]|raw[]");
        assert_string_equal(field_at(word, 0, access), "wide");
        access.number = NUMBER_FLOAT;
        assert_string_equal(field_at(page, 16, access), "keys[]|reals[]|raw[]");
}

/* An index over the bytes of a member shows no items. */
TEST(items_are_known_by_indexes_that_count_them)
{
        const uint64_t bytes = sizeof(struct inner);
        struct block_type blocks = {.type = f.inner, .item = TYPE_NONE};
        struct place_value place = {
            .kind = PLACE_POINTER, .type = f.inner, .indexed = true};

        block_type_learn_items(&blocks, &f.types, 4 * bytes, &place);
        place.stride_bytes = 1;
        block_type_learn_items(&blocks, &f.types, 4 * bytes, &place);
        place.stride_bytes = 2 * bytes;
        place.unknown_index = true;
        block_type_learn_items(&blocks, &f.types, 4 * bytes, &place);
        assert_false(block_type_has_item(&blocks, &f.types, f.inner, 4 * bytes));
        place.unknown_index = false;
        block_type_learn_items(&blocks, &f.types, 4 * bytes, &place);
        assert_true(block_type_has_item(&blocks, &f.types, f.inner, 4 * bytes));
        assert_false(block_type_has_item(&blocks, &f.types, f.inner, bytes));
}

/* An operation that also suits bits of a float decides nothing beside a float. */
TEST(bits_of_floating_point_are_told_from_no_integer)
{
        const struct member reals[] = {member("real", f.real, 0),
                                       member("wide", f.wide, 0),
                                       member("number", f.number, 0)};
        struct type_access access = {
            .bytes = 4, .number = NUMBER_INTEGER, .perhaps_float = true};
        uint32_t among = put_record(TYPE_UNION, "union among", 8, reals, 3);
        uint32_t none = put_record(TYPE_UNION, "union none", 8, reals + 1, 2);

        assert_string_equal(field_at(among, 0, access), "number|real|wide");
        assert_string_equal(field_at(none, 0, access), "number|wide");
        assert_string_equal(field_at(none, 2, access), "wide");
        access.bytes = 8;
        assert_string_equal(field_at(among, 0, access), "real|wide|number");
        access.perhaps_float = false;
        assert_string_equal(field_at(among, 0, access), "wide");
}

TEST(halves_of_a_complex_number_are_its_own)
{
        const struct type complex_float = {.kind = TYPE_FLOAT,
                                           .name =
                                               string_pool_put(f.names, "complex float"),
                                           .size_bytes = 8,
                                           .is_complex = true};
        uint32_t complex_id = put_type(&complex_float, NULL);
        uint32_t single = put(TYPE_FLOAT, "float", 4);
        uint32_t value = UNION("union complex", 8, member("real", f.real, 0),
                               member("both", complex_id, 0), member("half", single, 0));

        assert_field(value, 0, 4, NUMBER_FLOAT, "half|both");
        assert_field(value, 4, 4, NUMBER_FLOAT, "both");
        assert_field(value, 0, 8, NUMBER_FLOAT, "real");
        /* The halves are handed on in separate registers, or both in one. */
        assert_field(value, 0, 4, NUMBER_FLOATS, "half|both");
}

TEST(bit_fields_beside_a_number_are_named_with_it)
{
        uint32_t bits = STRUCT("struct parts", 4, bit_field("low", 0, 0, 8),
                               bit_field("high", 0, 8, 24));
        uint32_t flags =
            UNION("union flags", 4, member("bits", bits, 0), member("word", f.number, 0));

        assert_field(flags, 0, 4, NUMBER_ANY, "word|bits.low|bits.high");
        assert_field(flags, 0, 1, NUMBER_ANY, "bits.low|.word");
}

/* In unions of structures, the field at the offset is found, and its offset. */
TEST(fields_of_structures_in_unions_are_those_at_the_offset)
{
        struct field field;
        const struct type_access word = {.bytes = 8}, half = {.bytes = 4};
        uint32_t hash = STRUCT("struct hash", 24, member("next", f.pointer, 0),
                               member("code", f.wide, 8), member("name", f.pointer, 16));
        uint32_t items = STRUCT("struct items", 24, member("next", f.pointer, 0),
                                member("val", put_array(f.pointer, 2), 8));
        uint32_t marks = STRUCT(NULL, 8, member("count", f.number, 0),
                                bit_field("low", 4, 0, 3), bit_field("high", 4, 3, 5));
        uint32_t unnamed = UNION(NULL, 24, member("hs", hash, 0), member("hi", items, 0),
                                 member(NULL, marks, 0));
        uint32_t item =
            STRUCT("struct item", 32, member("id", f.wide, 0), member(NULL, unnamed, 8));
        uint32_t list =
            STRUCT("struct list", 112, member("list", put_array(item, 3), 16));
        const struct {
                uint64_t offset;
                const struct type_access *access;
                const char *name;
                uint64_t start, bytes;
                const char *type;
        } cases[] = {
            {8, &word, "hs.next|hi.next|.count|.low|.high", 8, 8, NULL},
            {8, &half, "count|hs.next|hi.next", 8, 8, NULL},
            {12, &half, "hs.next|hi.next|.low|.high", 8, 8, NULL},
            {16, &word, "hs.code|hi.val[]", 16, 8, NULL},
            /* The array's second item, where the other begins. */
            {24, &word, "hs.name|hi.val[]", 24, 8, "struct sample *"},
        };

        for (size_t i = 0; i < LENGTH(cases); i++) {
                assert_string_equal(field_at(item, cases[i].offset, *cases[i].access),
                                    cases[i].name);
                type_field(&f.types, f.names, item, cases[i].offset, cases[i].access,
                           &field);
                assert_true(field.shared);
                assert_int_equal(field.offset_bytes, cases[i].start);
                assert_int_equal(field.size_bytes, cases[i].bytes);
                if (cases[i].type)
                        assert_string_equal(
                            string_pool_text(f.names, f.types.items[field.type].name),
                            cases[i].type);
                else
                        assert_int_equal(field.type, TYPE_NONE);
        }
        assert_string_equal(field_at(list, 16 + 32 + 24, word),
                            "list[].hs.name|list[].hi.val[]");
        type_field(&f.types, f.names, list, 16 + 32 + 24, &word, &field);
        assert_int_equal(field.offset_bytes, 16 + 24);
}

/* A large union names its first members, a bit-field unit all of its bit-fields. */
TEST(of_many_fields_at_a_place_the_first_are_named)
{
        struct member members[70], bits[12];
        for (int i = 0; i < 70; i++)
                members[i] = member(text_of("m%d", i), i == 20 ? f.number : f.real, 0);
        for (uint32_t i = 0; i < 12; i++)
                bits[i] = bit_field(text_of("b%u", i), 0, i, 1);
        uint32_t few = put_record(TYPE_UNION, "union few", 8, members, 8);
        uint32_t many = put_record(TYPE_UNION, "union many", 8, members, 21);
        uint32_t flags = put_record(TYPE_STRUCT, "struct flags", 4, bits, 12);

        assert_field(few, 0, 8, NUMBER_ANY, "m0|m1|m2|m3|m4|m5|m6|m7");
        assert_field(many, 0, 8, NUMBER_ANY, "m0|m1|m2|m3|m4|m5|m6|m7|13 more");
        assert_field(many, 0, 4, NUMBER_ANY, "m20|m0|m1|m2|m3|m4|m5|m6|13 more");
        assert_field(flags, 0, 2, NUMBER_ANY, "b0|b1|b2|b3|b4|b5|b6|b7|b8|b9|b10|b11");
        assert_field(put_record(TYPE_UNION, "union most", 8, members, 70), 0, 8,
                     NUMBER_ANY, "m0|m1|m2|m3|m4|m5|m6|m7|62 more");
}

TEST(bit_fields_of_the_bytes_are_named_together)
{
        uint32_t flags = STRUCT("struct flags", 4, bit_field("a", 0, 0, 3),
                                bit_field("b", 0, 3, 5), bit_field("c", 1, 0, 24));

        assert_field(flags, 0, 1, NUMBER_ANY, "a|b");
        assert_field(flags, 0, 4, NUMBER_ANY, "a|b|c");
        assert_field(flags, 2, 1, NUMBER_ANY, "c");
}

TEST(a_bit_field_of_no_known_type_has_its_name)
{
        struct member bits = bit_field("a", 0, 0, 8);

        bits.type = TYPE_NONE;
        uint32_t flags = put_record(TYPE_STRUCT, "struct untyped", 4, &bits, 1);

        assert_field(flags, 0, 4, NUMBER_ANY, "a");
}

TEST(what_repeats_and_what_holds)
{
        const uint64_t pair = offsetof(struct sample, part[1].pair[1]);

        assert_true(type_repeats(&f.types, f.sample, pair, sizeof(int)));
        assert_true(type_repeats(&f.types, f.sample, pair, 3 * sizeof(struct inner)));
        assert_false(type_repeats(&f.types, f.sample, 0, 8));
        assert_true(type_repeats(&f.types, f.inner, 4, 5 * sizeof(struct inner)));
        assert_true(
            type_holds(&f.types, f.sample, offsetof(struct sample, part[2]), f.inner));
        assert_false(type_holds(&f.types, f.sample, offsetof(struct sample, part[2]) + 2,
                                f.inner));
}

struct tower {
        long key;
        double weight;
        struct level {
                struct tower *forward;
                long span;
        } level[];
};

struct cell {
        long stamp;
        struct group {
                short low;
                struct both {
                        int u;
                        int v;
                } pair[3];
        } group[4];
};

TEST(an_index_leads_to_one_field_or_none)
{
        uint32_t levels = put_array(STRUCT("struct level", sizeof(struct level),
                                           MEMBER(struct level, forward, f.pointer),
                                           MEMBER(struct level, span, f.real)),
                                    0);
        uint32_t open = STRUCT(
            "struct tower", sizeof(struct tower), MEMBER(struct tower, key, f.pointer),
            MEMBER(struct tower, weight, f.real), MEMBER(struct tower, level, levels));
        uint32_t pair = put_array(STRUCT("struct both", sizeof(struct both),
                                         MEMBER(struct both, u, f.number),
                                         MEMBER(struct both, v, f.number)),
                                  3);
        uint32_t groups = put_array(STRUCT("struct group", sizeof(struct group),
                                           MEMBER(struct group, low, f.byte),
                                           MEMBER(struct group, pair, pair)),
                                    4);
        uint32_t closed =
            STRUCT("struct cell", sizeof(struct cell), MEMBER(struct cell, stamp, f.real),
                   MEMBER(struct cell, group, groups));
        const uint64_t forward = offsetof(struct tower, level[0].forward);
        const uint64_t span = offsetof(struct tower, level[0].span);
        const uint64_t v = offsetof(struct cell, group[0].pair[0].v);
        const struct {
                uint32_t type;
                int64_t offset;
                uint64_t stride;
                enum index_outcome outcome;
                uint64_t field;
        } cases[] = {
            {open, (int64_t)forward, sizeof(struct level), INDEX_FOUND, forward},
            {open, (int64_t)(span + 5 * sizeof(struct level)), sizeof(struct level),
             INDEX_FOUND, span},
            /* level[i - 1] */
            {open, (int64_t)(span - sizeof(struct level)), sizeof(struct level),
             INDEX_SHIFTED, span},
            {open, (int64_t)(forward - 2 * sizeof(struct level)), sizeof(struct level),
             INDEX_OPEN, 0},
            {open, (int64_t)forward, sizeof(struct level) / 2, INDEX_OPEN, 0},
            /* every fourth, in an unrolled loop; every third is of something else */
            {closed, 0, 4 * sizeof(struct cell), INDEX_FOUND, 0},
            {closed, 0, 3 * sizeof(struct cell), INDEX_OPEN, 0},
            {closed, (int64_t)offsetof(struct cell, group[2].pair[1].v),
             sizeof(struct group), INDEX_FOUND, v},
            /* group[1].pair[i].v may be at the distance of group[0].pair[i].u */
            {closed, (int64_t)v, sizeof(struct both), INDEX_OPEN, 0},
            {closed, (int64_t)sizeof(struct cell), sizeof(struct group), INDEX_OPEN, 0},
        };

        for (size_t i = 0; i < LENGTH(cases); i++) {
                uint64_t field;

                assert_int_equal(type_indexed(&f.types, cases[i].type, cases[i].offset,
                                              cases[i].stride, 0, &field),
                                 cases[i].outcome);
                if (cases[i].outcome != INDEX_OPEN)
                        assert_int_equal(field, cases[i].field);
        }
        /* More bytes than an item has belong to something else behind it. */
        uint64_t item;

        assert_int_equal(type_indexed(&f.types, open, (int64_t)forward,
                                      sizeof(struct level), sizeof(void *), &item),
                         INDEX_FOUND);
        assert_int_equal(item, forward);
        assert_int_equal(type_indexed(&f.types, open, (int64_t)forward,
                                      sizeof(struct level), 2 * sizeof(void *), &item),
                         INDEX_OPEN);
}

struct way {
        int key;
        int count;
        int values[6];
};

struct set {
        struct way ways[7];
        long next;
        double costs[4];
};

/* The sum of two indexes shows only the common divisor of their strides. Here it is the
 * size of a long, which fits values no better than keys. */
TEST(an_index_may_count_items_that_are_larger_than_its_stride)
{
        uint32_t way =
            STRUCT("struct way", sizeof(struct way), MEMBER(struct way, key, f.number),
                   MEMBER(struct way, count, f.number),
                   MEMBER(struct way, values, put_array(f.number, 6)));
        uint32_t type = STRUCT("struct set", sizeof(struct set),
                               MEMBER(struct set, ways, put_array(way, 7)),
                               MEMBER(struct set, next, f.pointer),
                               MEMBER(struct set, costs, put_array(f.real, 4)));
        const uint64_t costs = offsetof(struct set, costs);
        uint64_t field;

        assert_int_equal(
            type_indexed(&f.types, type, offsetof(struct way, key), 8, 4, &field),
            INDEX_OPEN);
        assert_int_equal(
            type_indexed(&f.types, type, offsetof(struct way, count), 8, 4, &field),
            INDEX_OPEN);
        /* Nor is the array known if the index may contain a part of its offset. */
        assert_int_equal(type_indexed(&f.types, type, costs, 4, 4, &field), INDEX_OPEN);
        assert_int_equal(type_indexed(&f.types, type, costs, 8, 8, &field), INDEX_FOUND);
        assert_int_equal(field, costs);
}

static int list(void *text, const struct field *field)
{
        strcat(text, string_pool_text(f.names, field->name));
        strcat(text, " ");
        return 0;
}

TEST(all_fields_come_in_their_order)
{
        char text[512] = "";

        assert_ok(type_fields(&f.types, f.names, f.sample, list, text));
        assert_string_equal(text,
                            "next as.ratio as.count as.link part[].low part[].pair[] low "
                            "pair[] letters[] ");
}

static void assert_padding(uint32_t type, uint64_t offset, uint64_t bytes)
{
        struct padding *found;
        size_t count;

        assert_ok(type_padding(&f.types, type, &found, &count));
        assert_int_equal(count, 1);
        assert_int_equal(found[0].offset_bytes, offset);
        assert_int_equal(found[0].size_bytes, bytes);
        free(found);
}

/* The array at the end has no length, and may go on in the compiler's padding. */
TEST(padding_is_where_no_field_lies)
{
        const uint64_t hole = offsetof(struct inner, pair) - sizeof(short);

        assert_padding(f.inner, sizeof(short), hole);
        assert_padding(f.sample, offsetof(struct sample, low) + sizeof(short), hole);
}

TEST(a_type_that_is_not_known_whole_has_no_padding)
{
        uint32_t odd = STRUCT("odd", 8, member("far", f.number, UINT64_MAX - 1));
        struct padding *found;
        size_t count;

        f.types.items[f.inner].partial = true;
        assert_ok(type_padding(&f.types, f.sample, &found, &count));
        assert_int_equal(count, 0);
        free(found);
        assert_ok(type_padding(&f.types, odd, &found, &count));
        for (size_t i = 0; i < count; i++)
                assert_true(found[i].offset_bytes + found[i].size_bytes <= 8);
        free(found);
}

TEST(equal_types_are_one)
{
        uint32_t first = STRUCT("struct point", 4, member("x", f.number, 0));
        uint32_t same = STRUCT("struct point", 4, member("x", f.number, 0));
        uint32_t other = STRUCT("struct point", 4, member("y", f.number, 0));

        assert_int_equal(f.types.items[same].canonical, first);
        assert_int_not_equal(f.types.items[other].canonical, first);
}

static struct member base(uint32_t type, uint64_t offset)
{
        return (struct member){.name = f.types.items[type].name,
                               .type = type,
                               .offset_bytes = offset,
                               .base = true};
}

/* struct owed { double amount; int since; }; struct paid : owed { int amount; };
 * struct settled { int by; }; struct account : paid, settled { double sum; }; */
TEST(fields_of_bases_are_told_with_them_where_their_names_are_others_too)
{
        uint32_t owed_type =
            STRUCT("owed", 16, member("amount", f.real, 0), member("since", f.number, 8));
        struct member paid[] = {base(owed_type, 0), member("amount", f.number, 12)};

        assert_ok(base_names_settle(&f.types, paid, 2));
        uint32_t paid_type = put_record(TYPE_STRUCT, "paid", 16, paid, 2);
        uint32_t settled_type = STRUCT("settled", 4, member("by", f.number, 0));
        struct member account[] = {base(paid_type, 0), base(settled_type, 16),
                                   member("sum", f.real, 24)};

        assert_ok(base_names_settle(&f.types, account, 3));
        uint32_t type = put_record(TYPE_STRUCT, "account", 32, account, 3);

        assert_field(paid_type, 0, 8, NUMBER_ANY, "owed::amount");
        assert_field(paid_type, 12, 4, NUMBER_ANY, "amount");
        assert_field(type, 0, 8, NUMBER_ANY, "owed::amount");
        assert_field(type, 12, 4, NUMBER_ANY, "amount");
        assert_field(type, 16, 4, NUMBER_ANY, "by");

        /* Two bases have a field of one name: each is named with its class. */
        struct member both[] = {base(paid_type, 0), base(owed_type, 16)};

        assert_ok(base_names_settle(&f.types, both, 2));
        uint32_t both_type = put_record(TYPE_STRUCT, "both", 32, both, 2);

        assert_field(both_type, 12, 4, NUMBER_ANY, "paid::amount");
        assert_field(both_type, 16, 8, NUMBER_ANY, "owed::amount");
        assert_field(f.sample, 0, 8, NUMBER_ANY, "next");
}

/* A repeated instruction accesses memory behind its operand, too. */
TEST(repeated_instructions_are_told_from_others)
{
        /* rep movsl; repne scasb; movsl; repz ret, whose prefix does nothing */
        static const uint8_t repeated[][2] = {{0xf3, 0xa5}, {0xf2, 0xae}};
        static const uint8_t others[][2] = {{0xa5, 0x90}, {0xf3, 0xc3}};
        struct instruction made;

        for (size_t i = 0; i < 2; i++) {
                assert_true(instruction_decode(&made, repeated[i], 2, 0));
                assert_true(made.repeated);
                assert_true(instruction_decode(&made, others[i], 2, 0));
                assert_false(made.repeated);
        }
}

TEST(instructions_are_what_the_assembler_wrote)
{
        enum { NONE = REGISTER_NONE };
        static const struct {
                uint8_t code[9];
                enum operation operation;
                uint8_t destination, base, index, scale;
                int64_t displacement;
                uint32_t bytes;
        } cases[] = {
            /* mov 8(%rdi), %rax */
            {{0x48, 0x8b, 0x47, 0x08}, OPERATION_LOAD, 0, 5, NONE, 0, 8, 8},
            /* mov (%r9,%rcx,4), %r15 */
            {{0x4d, 0x8b, 0x3c, 0x89}, OPERATION_LOAD, 15, 9, 2, 4, 0, 8},
            /* movss 4(%rdi), %xmm0 */
            {{0xf3, 0x0f, 0x10, 0x47, 4}, OPERATION_OTHER, NONE, 5, NONE, 0, 4, 4},
            /* lea 0x10(%rbp,%rdx,8), %rsi */
            {{0x48, 0x8d, 0x74, 0xd5, 0x10}, OPERATION_ADDRESS, 4, 6, 1, 8, 0x10, 0},
            /* mov 0x100(%rip), %rbx, at 0x1000 */
            {{0x48, 0x8b, 0x1d, 0, 1}, OPERATION_LOAD, 3, NONE, NONE, 0, 0x1107, 8},
        };

        for (size_t i = 0; i < LENGTH(cases); i++) {
                struct instruction made;

                assert_true(instruction_decode(&made, cases[i].code,
                                               sizeof(cases[i].code), 0x1000));
                assert_int_equal(made.operation, cases[i].operation);
                assert_int_equal(made.destination, cases[i].destination);
                assert_true(made.has_memory);
                assert_int_equal(made.memory.base, cases[i].base);
                assert_int_equal(made.memory.index, cases[i].index);
                assert_int_equal(made.memory.scale, cases[i].scale);
                assert_int_equal(made.memory.displacement, cases[i].displacement);
                assert_int_equal(made.access_bytes, cases[i].bytes);
        }
        struct instruction half;

        assert_false(instruction_decode(&half, cases[0].code, 3, 0));
}
