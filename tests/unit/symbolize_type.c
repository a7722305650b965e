/* SPDX-License-Identifier: MIT */
/* Which field lies at an offset, and what instructions are; offsets are offsetof's. */
#define TEST_SETUP    begin
#define TEST_TEARDOWN end
#include "base_names.h"
#include "block_type.h"
#include "flow_instruction.h"
#include "type_import.h"
#include "type_index.h"
#include "type_list.h"
#include "type_padding.h"
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

static uint32_t put_type(struct fixture *f, const struct type *type,
                         const struct member *members)
{
        uint32_t id;

        assert_ok(types_put(&f->types, type, members, &id));
        return id;
}

static uint32_t put(struct fixture *f, enum type_kind kind, const char *name,
                    uint64_t bytes)
{
        const struct type type = {
            .kind = kind, .name = string_pool_put(f->names, name), .size_bytes = bytes};

        return put_type(f, &type, NULL);
}

static uint32_t put_array(struct fixture *f, uint32_t element, uint64_t items)
{
        const uint64_t bytes = items * f->types.items[element].size_bytes;
        const struct type type = {
            .kind = TYPE_ARRAY, .element = element, .items = items, .size_bytes = bytes};

        return put_type(f, &type, NULL);
}

static uint32_t put_record(struct fixture *f, enum type_kind kind, const char *name,
                           uint64_t bytes, const struct member *members, uint32_t count)
{
        const struct type type = {.kind = kind,
                                  .name = string_pool_put(f->names, name),
                                  .size_bytes = bytes,
                                  .member_count = count};

        return put_type(f, &type, members);
}

static struct member member(struct fixture *f, const char *name, uint32_t type,
                            uint64_t offset)
{
        return (struct member){
            string_pool_put(f->names, name), type, offset, 0, 0, false};
}

static struct member bit_field(struct fixture *f, const char *name, uint64_t offset,
                               uint32_t bit_offset, uint32_t bits)
{
        struct member made = member(f, name, f->number, offset);

        made.bit_offset = bit_offset;
        made.bit_size = bits;
        return made;
}

static int begin(void **state)
{
        static struct fixture fixture;
        struct fixture *f = &fixture;

        *f = (struct fixture){.names = string_pool_new()};
        *state = f;
        f->number = put(f, TYPE_INTEGER, "int", 4);
        f->real = put(f, TYPE_FLOAT, "double", 8);
        f->pointer = put(f, TYPE_POINTER, "struct sample *", 8);
        f->byte = put(f, TYPE_INTEGER, "char", 1);
        f->half = put(f, TYPE_INTEGER, "short", 2);
        f->wide = put(f, TYPE_INTEGER, "long", 8);
        const struct member inner[] = {
            member(f, "low", f->half, offsetof(struct inner, low)),
            member(f, "pair", put_array(f, f->number, 3), offsetof(struct inner, pair))};

        f->inner =
            put_record(f, TYPE_STRUCT, "struct inner", sizeof(struct inner), inner, 2);
        const struct member as[] = {member(f, "ratio", f->real, 0),
                                    member(f, "count", f->wide, 0),
                                    member(f, "link", f->pointer, 0)};
        const struct member sample[] = {
            member(f, "next", f->pointer, offsetof(struct sample, next)),
            member(f, "as", put_record(f, TYPE_UNION, NULL, 8, as, 3),
                   offsetof(struct sample, as)),
            member(f, "part", put_array(f, f->inner, 4), offsetof(struct sample, part)),
            member(f, NULL, f->inner, offsetof(struct sample, low)),
            member(f, "letters", put_array(f, f->byte, 0),
                   offsetof(struct sample, letters))};

        f->sample =
            put_record(f, TYPE_STRUCT, "struct sample", sizeof(struct sample), sample, 5);
        return 0;
}

static int end(void **state)
{
        struct fixture *f = *state;

        types_free(&f->types);
        string_pool_free(f->names);
        return 0;
}

static const char *field_at(struct fixture *f, uint32_t type, uint64_t offset,
                            struct type_access access)
{
        struct field field;

        return type_field(&f->types, f->names, type, offset, &access, &field) ==
                       FIELD_FOUND
                   ? string_pool_text(f->names, field.name)
                   : "-";
}

static void assert_field(struct fixture *f, uint32_t type, uint64_t offset,
                         uint32_t bytes, enum access_number number, const char *name)
{
        const struct type_access access = {.bytes = bytes, .number = number};

        assert_string_equal(field_at(f, type, offset, access), name);
}

static enum field_outcome outcome_at(struct fixture *f, uint32_t type, uint64_t offset)
{
        const struct type_access access = {.bytes = 1};
        struct field field;

        return type_field(&f->types, f->names, type, offset, &access, &field);
}

/* ---- tests ---- */

TEST(fields_are_named_by_their_way)
{
        struct fixture *f = *state;

        assert_field(f, f->sample, 0, 8, NUMBER_INTEGER, "next");
        for (int i = 0; i < 4; i++) {
                assert_field(f, f->sample, offsetof(struct sample, part[i].low), 2,
                             NUMBER_ANY, "part[].low");
                assert_field(f, f->sample, offsetof(struct sample, part[i].pair[2]), 4,
                             NUMBER_ANY, "part[].pair[]");
        }
        assert_field(f, f->sample, offsetof(struct sample, pair[1]), 4, NUMBER_ANY,
                     "pair[]");
        /* The last array goes on after the end. */
        assert_field(f, f->sample, sizeof(struct sample) + 999, 1, NUMBER_ANY,
                     "letters[]");
        assert_true(type_open_ended(&f->types, f->sample));
}

TEST(padding_and_the_outside_are_no_fields)
{
        struct fixture *f = *state;

        assert_int_equal(outcome_at(f, f->inner, 2), FIELD_PADDING);
        assert_int_equal(outcome_at(f, f->inner, sizeof(struct inner)), FIELD_BEYOND);
        assert_int_equal(outcome_at(f, f->number, 0), FIELD_WHOLE);
        assert_int_equal(outcome_at(f, TYPE_NONE, 0), FIELD_OPAQUE);
}

/* The kind and size of the access tell the members of a union apart, or not. */
TEST(union_members_fit_their_access)
{
        struct fixture *f = *state;
        const uint64_t at = offsetof(struct sample, as);

        assert_field(f, f->sample, at, 8, NUMBER_FLOAT, "as.ratio");
        assert_field(f, f->sample, at, 8, NUMBER_INTEGER, "as.count|link");
        /* What is only moved may be any of them, or all. */
        assert_field(f, f->sample, at, 8, NUMBER_ANY, "as.ratio|count|link");
}

/* Numbers at the start of one union, and two floats in a structure. */
TEST(wider_members_are_told_as_far_as_the_access_shows)
{
        struct fixture *f = *state;
        uint32_t single = put(f, TYPE_FLOAT, "float", 4);
        const struct member pair[] = {member(f, "x", single, 0),
                                      member(f, "y", single, 4)};
        const struct member members[] = {
            member(f, "real", f->real, 0), member(f, "wide", f->wide, 0),
            member(f, "number", f->number, 0), member(f, "byte", f->byte, 0),
            member(f, "pair", put_record(f, TYPE_STRUCT, "struct pair", 8, pair, 2), 0)};
        uint32_t value = put_record(f, TYPE_UNION, "union value", 8, members, 5);
        const struct {
                uint64_t offset;
                uint32_t bytes;
                enum access_number number;
                const char *name;
        } cases[] = {
            /* Those of the access's size are the first. */
            {0, 8, NUMBER_ANY, "real|wide|number|byte|pair.x"},
            {0, 4, NUMBER_ANY, "number|pair.x|real|wide|byte"},
            {0, 8, NUMBER_FLOAT, "real"},
            {0, 8, NUMBER_FLOATS, "real|pair.x"},
            {0, 4, NUMBER_FLOAT, "pair.x"},
            {4, 4, NUMBER_FLOAT, "pair.y"},
            {0, 8, NUMBER_INTEGER, "wide"},
            {0, 8, NUMBER_BITS, "wide"},
            {0, 8, NUMBER_LOW, "wide"},
            /* Any integer may be cut out of a wider number. */
            {0, 4, NUMBER_INTEGER, "number|pair.x|real|wide|byte"},
            {0, 1, NUMBER_LOW, "byte|real|wide|number|pair.x"},
            {4, 4, NUMBER_LOW, "pair.y|.real|.wide"},
            {2, 2, NUMBER_INTEGER, "real|wide|number|pair.x"},
            {4, 4, NUMBER_ANY, "pair.y|.real|.wide"},
        };

        for (size_t i = 0; i < LENGTH(cases); i++)
                assert_field(f, value, cases[i].offset, cases[i].bytes, cases[i].number,
                             cases[i].name);
}

/* Rows may lie in a page's bytes, unless it is proved where an index leads. */
TEST(bytes_may_be_what_an_unproved_index_leads_to)
{
        struct fixture *f = *state;
        const struct member members[] = {member(f, "keys", put_array(f, f->wide, 8), 0),
                                         member(f, "reals", put_array(f, f->real, 8), 0),
                                         member(f, "raw", put_array(f, f->byte, 64), 0)};
        const struct member small[] = {member(f, "wide", f->wide, 0),
                                       member(f, "raw", put_array(f, f->byte, 8), 0)};
        uint32_t page = put_record(f, TYPE_UNION, "union page", 64, members, 3);
        uint32_t word = put_record(f, TYPE_UNION, "union word", 8, small, 2);
        struct type_access access = {.bytes = 8, .number = NUMBER_LOW};

        assert_string_equal(field_at(f, page, 16, access), "keys[]");
        access.unproved = true;
        assert_string_equal(field_at(f, page, 16, access), "keys[]|reals[]|raw[]");
        assert_string_equal(field_at(f, page, 56, access), "keys[]|reals[]|raw[]");
        assert_string_equal(field_at(f, word, 0, access), "wide");
        access.number = NUMBER_FLOAT;
        assert_string_equal(field_at(f, page, 16, access), "keys[]|reals[]|raw[]");
}

/* An index among the bytes of a member tells of no further items, wherever it leads. */
TEST(items_are_known_by_indexes_that_count_them)
{
        struct fixture *f = *state;
        const uint64_t bytes = sizeof(struct inner);
        struct block_type blocks = {.type = f->inner, .item = TYPE_NONE};
        struct place_value place = {
            .kind = PLACE_POINTER, .type = f->inner, .indexed = true};

        block_type_learn_items(&blocks, &f->types, 4 * bytes, &place);
        place.stride_bytes = 1;
        block_type_learn_items(&blocks, &f->types, 4 * bytes, &place);
        place.stride_bytes = 2 * bytes;
        place.unknown_index = true;
        block_type_learn_items(&blocks, &f->types, 4 * bytes, &place);
        assert_false(block_type_has_item(&blocks, &f->types, f->inner, 4 * bytes));
        place.unknown_index = false;
        block_type_learn_items(&blocks, &f->types, 4 * bytes, &place);
        assert_true(block_type_has_item(&blocks, &f->types, f->inner, 4 * bytes));
        assert_false(block_type_has_item(&blocks, &f->types, f->inner, bytes));
}

/* What is also done to the bits of floating point tells nothing where some lies, too. */
TEST(bits_of_floating_point_are_told_from_no_integer)
{
        struct fixture *f = *state;
        const struct member reals[] = {member(f, "real", f->real, 0),
                                       member(f, "wide", f->wide, 0),
                                       member(f, "number", f->number, 0)};
        struct type_access access = {
            .bytes = 4, .number = NUMBER_INTEGER, .perhaps_float = true};
        uint32_t among = put_record(f, TYPE_UNION, "union among", 8, reals, 3);
        uint32_t none = put_record(f, TYPE_UNION, "union none", 8, reals + 1, 2);

        assert_string_equal(field_at(f, among, 0, access), "number|real|wide");
        assert_string_equal(field_at(f, none, 0, access), "number|wide");
        assert_string_equal(field_at(f, none, 2, access), "wide");
        access.bytes = 8;
        assert_string_equal(field_at(f, among, 0, access), "real|wide|number");
        access.perhaps_float = false;
        assert_string_equal(field_at(f, among, 0, access), "wide");
}

/* lo == 0 && hi == 0 is one comparison of 8 bytes, and so it is of bit-fields. */
TEST(neighbours_are_tested_at_once)
{
        struct fixture *f = *state;
        const struct member halves[] = {member(f, "lo", f->number, 0),
                                        member(f, "hi", f->number, 4)};
        uint32_t pair = put_record(f, TYPE_STRUCT, "struct halves", 8, halves, 2);
        const struct member members[] = {member(f, "wide", f->wide, 0),
                                         member(f, "halves", pair, 0)};
        const struct member single[] = {member(f, "wide", f->wide, 0),
                                        member(f, "number", f->number, 0)};
        uint32_t value = put_record(f, TYPE_UNION, "union value", 8, members, 2);
        uint32_t alone = put_record(f, TYPE_UNION, "union alone", 8, single, 2);
        struct type_access access = {.bytes = 8, .number = NUMBER_INTEGER};

        assert_string_equal(field_at(f, value, 0, access), "wide");
        access.perhaps_several = true;
        assert_string_equal(field_at(f, value, 0, access), "wide|halves.lo");
        assert_string_equal(field_at(f, alone, 0, access), "wide");
        assert_string_equal(field_at(f, pair, 0, access), "lo|hi");
        const struct member parts[] = {bit_field(f, "lo", 0, 0, 4),
                                       bit_field(f, "high", 0, 4, 4)};
        uint32_t bits = put_record(f, TYPE_STRUCT, "struct bits", 4, parts, 2);
        const struct member both[] = {member(f, "word", f->number, 0),
                                      member(f, "bits", bits, 0)};
        uint32_t flags = put_record(f, TYPE_UNION, "union flags", 4, both, 2);

        access.bytes = 4;
        assert_string_equal(field_at(f, flags, 0, access), "word|bits.lo|bits.high");
}

TEST(halves_of_a_complex_number_are_its_own)
{
        struct fixture *f = *state;
        const struct type complex_float = {.kind = TYPE_FLOAT,
                                           .name =
                                               string_pool_put(f->names, "complex float"),
                                           .size_bytes = 8,
                                           .is_complex = true};
        uint32_t complex_id = put_type(f, &complex_float, NULL);
        uint32_t single = put(f, TYPE_FLOAT, "float", 4);

        const struct member members[] = {member(f, "real", f->real, 0),
                                         member(f, "both", complex_id, 0),
                                         member(f, "half", single, 0)};
        uint32_t value = put_record(f, TYPE_UNION, "union complex", 8, members, 3);

        assert_field(f, value, 0, 4, NUMBER_FLOAT, "half|both");
        assert_field(f, value, 4, 4, NUMBER_FLOAT, "both");
        assert_field(f, value, 0, 8, NUMBER_FLOAT, "real");
        /* Each half is handed on in a register of its own, or both in one. */
        assert_field(f, value, 0, 4, NUMBER_FLOATS, "half|both");
}

TEST(bit_fields_beside_a_number_are_named_with_it)
{
        struct fixture *f = *state;
        const struct member bits[] = {bit_field(f, "low", 0, 0, 8),
                                      bit_field(f, "high", 0, 8, 24)};
        const struct member members[] = {
            member(f, "bits", put_record(f, TYPE_STRUCT, "struct parts", 4, bits, 2), 0),
            member(f, "word", f->number, 0)};
        uint32_t flags = put_record(f, TYPE_UNION, "union flags", 4, members, 2);

        assert_field(f, flags, 0, 4, NUMBER_INTEGER, "word|bits.low|bits.high");
        assert_field(f, flags, 0, 4, NUMBER_BITS, "word|bits.low|bits.high");
        assert_field(f, flags, 0, 1, NUMBER_INTEGER, "bits.low|.word");
}

/* Structures in unions: what lies at the offset is named, and where it lies. */
TEST(fields_of_structures_in_unions_are_those_at_the_offset)
{
        struct fixture *f = *state;
        struct field field;
        const struct type_access word = {.bytes = 8}, half = {.bytes = 4};
        const struct member marks[] = {member(f, "count", f->number, 0),
                                       bit_field(f, "low", 4, 0, 3),
                                       bit_field(f, "high", 4, 3, 5)};
        const struct member hash[] = {member(f, "next", f->pointer, 0),
                                      member(f, "code", f->wide, 8),
                                      member(f, "name", f->pointer, 16)};
        const struct member items[] = {member(f, "next", f->pointer, 0),
                                       member(f, "val", put_array(f, f->pointer, 2), 8)};
        const struct member unnamed[] = {
            member(f, "hs", put_record(f, TYPE_STRUCT, "struct hash", 24, hash, 3), 0),
            member(f, "hi", put_record(f, TYPE_STRUCT, "struct items", 24, items, 2), 0),
            member(f, NULL, put_record(f, TYPE_STRUCT, NULL, 8, marks, 3), 0)};
        const struct member members[] = {
            member(f, "id", f->wide, 0),
            member(f, NULL, put_record(f, TYPE_UNION, NULL, 24, unnamed, 3), 8)};
        uint32_t item = put_record(f, TYPE_STRUCT, "struct item", 32, members, 2);
        const struct member outer[] = {member(f, "list", put_array(f, item, 3), 16)};
        uint32_t list = put_record(f, TYPE_STRUCT, "struct list", 112, outer, 1);
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
                assert_string_equal(field_at(f, item, cases[i].offset, *cases[i].access),
                                    cases[i].name);
                type_field(&f->types, f->names, item, cases[i].offset, cases[i].access,
                           &field);
                assert_true(field.shared);
                assert_int_equal(field.offset_bytes, cases[i].start);
                assert_int_equal(field.size_bytes, cases[i].bytes);
                if (cases[i].type)
                        assert_string_equal(
                            string_pool_text(f->names, f->types.items[field.type].name),
                            cases[i].type);
                else
                        assert_int_equal(field.type, TYPE_NONE);
        }
        assert_string_equal(field_at(f, list, 16 + 32 + 24, word),
                            "list[].hs.name|list[].hi.val[]");
        type_field(&f->types, f->names, list, 16 + 32 + 24, &word, &field);
        assert_int_equal(field.offset_bytes, 16 + 24);
}

/* Of a union of many the first are named, and of bit-fields all. */
TEST(of_many_fields_at_a_place_the_first_are_named)
{
        struct fixture *f = *state;
        struct member members[70], bits[12];
        for (int i = 0; i < 70; i++)
                members[i] =
                    member(f, text_of("m%d", i), i == 20 ? f->number : f->real, 0);
        for (uint32_t i = 0; i < 12; i++)
                bits[i] = bit_field(f, text_of("b%u", i), 0, i, 1);
        uint32_t few = put_record(f, TYPE_UNION, "union few", 8, members, 8);
        uint32_t many = put_record(f, TYPE_UNION, "union many", 8, members, 21);
        uint32_t flags = put_record(f, TYPE_STRUCT, "struct flags", 4, bits, 12);

        assert_field(f, few, 0, 8, NUMBER_ANY, "m0|m1|m2|m3|m4|m5|m6|m7");
        assert_field(f, many, 0, 8, NUMBER_ANY, "m0|m1|m2|m3|m4|m5|m6|m7|13 more");
        assert_field(f, many, 0, 4, NUMBER_ANY, "m20|m0|m1|m2|m3|m4|m5|m6|13 more");
        assert_field(f, flags, 0, 2, NUMBER_ANY, "b0|b1|b2|b3|b4|b5|b6|b7|b8|b9|b10|b11");
        assert_field(f, put_record(f, TYPE_UNION, "union most", 8, members, 70), 0, 8,
                     NUMBER_ANY, "m0|m1|m2|m3|m4|m5|m6|m7|62 more");
}

TEST(bit_fields_of_the_bytes_are_named_together)
{
        struct fixture *f = *state;
        const struct member bits[] = {bit_field(f, "a", 0, 0, 3),
                                      bit_field(f, "b", 0, 3, 5),
                                      bit_field(f, "c", 1, 0, 24)};
        uint32_t flags = put_record(f, TYPE_STRUCT, "struct flags", 4, bits, 3);

        assert_field(f, flags, 0, 1, NUMBER_ANY, "a|b");
        assert_field(f, flags, 0, 4, NUMBER_ANY, "a|b|c");
        assert_field(f, flags, 2, 1, NUMBER_ANY, "c");
}

/* Bit-fields of whole bytes are numbers in the debug information. */
TEST(numbers_that_are_read_at_once_are_named_together)
{
        struct fixture *f = *state;
        const struct member halves[] = {member(f, "lo", f->half, 0),
                                        member(f, "hi", f->half, 2)};
        uint32_t pair = put_record(f, TYPE_STRUCT, "struct halves", 4, halves, 2);
        struct type_access access = {.bytes = 4, .each = true};

        assert_string_equal(field_at(f, pair, 0, access), "lo|hi");
        access.each = false;
        assert_string_equal(field_at(f, pair, 0, access), "lo"); /* copied */
        access.number = NUMBER_LOW;
        assert_string_equal(field_at(f, pair, 0, access), "lo|hi");
}

TEST(a_bit_field_of_no_known_type_has_its_name)
{
        struct fixture *f = *state;
        struct member bits = bit_field(f, "a", 0, 0, 8);

        bits.type = TYPE_NONE;
        uint32_t flags = put_record(f, TYPE_STRUCT, "struct untyped", 4, &bits, 1);

        assert_field(f, flags, 0, 4, NUMBER_ANY, "a");
}

TEST(what_repeats_and_what_holds)
{
        struct fixture *f = *state;
        const uint64_t pair = offsetof(struct sample, part[1].pair[1]);

        assert_true(type_repeats(&f->types, f->sample, pair, sizeof(int)));
        assert_true(type_repeats(&f->types, f->sample, pair, 3 * sizeof(struct inner)));
        assert_false(type_repeats(&f->types, f->sample, 0, 8));
        assert_true(type_repeats(&f->types, f->inner, 4, 5 * sizeof(struct inner)));
        assert_true(
            type_holds(&f->types, f->sample, offsetof(struct sample, part[2]), f->inner));
        assert_false(type_holds(&f->types, f->sample,
                                offsetof(struct sample, part[2]) + 2, f->inner));
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

TEST(an_array_reaches_around_its_items)
{
        struct fixture *f = *state;
        const uint64_t part = offsetof(struct sample, part);
        const uint64_t letters = offsetof(struct sample, letters);
        const struct {
                uint32_t type;
                uint64_t offset, low, high; /* 0: there is none */
        } cases[] = {
            /* Around what an item holds is the outer array. */
            {f->sample, part + 2 * sizeof(struct inner) + 8, part,
             part + 4 * sizeof(struct inner)},
            {f->inner, 8, offsetof(struct inner, pair), sizeof(struct inner)},
            {f->sample, letters + 99, letters, UINT64_MAX},
            {f->sample, offsetof(struct sample, as), 0, 0},
            {f->inner, 0, 0, 0},
            {f->number, 0, 0, 0},
        };

        for (size_t i = 0; i < LENGTH(cases); i++) {
                uint64_t low = 0, high = 0;

                assert_int_equal(type_array_around(&f->types, cases[i].type,
                                                   cases[i].offset, &low, &high),
                                 cases[i].high != 0);
                assert_int_equal(low, cases[i].low);
                assert_int_equal(high, cases[i].high);
        }
}

/* Two ways at each of 60 levels: no machine goes all of them. */
TEST(an_array_is_looked_for_with_bounded_work)
{
        struct fixture *f = *state;
        uint32_t type = f->number;
        uint64_t low, high;

        for (int level = 0; level < 60; level++) {
                const struct member ways[] = {member(f, "left", type, 0),
                                              member(f, "right", type, 0)};

                type = put_record(f, TYPE_UNION, NULL, 4, ways, 2);
        }
        assert_false(type_array_around(&f->types, type, 0, &low, &high));
}

/* Only the last member of a structure goes on after its end. */
TEST(an_array_of_no_size_before_others_is_around_nothing)
{
        struct fixture *f = *state;
        const struct member members[] = {
            member(f, "none", put_array(f, f->byte, 0), 0),
            member(f, "number", f->number, 0),
        };
        uint32_t type = put_record(f, TYPE_STRUCT, "struct marked", 4, members, 2);
        uint64_t low, high;

        assert_false(type_array_around(&f->types, type, 2, &low, &high));
}

TEST(an_index_leads_to_one_field_or_none)
{
        struct fixture *f = *state;
        const struct member level[] = {
            member(f, "forward", f->pointer, offsetof(struct level, forward)),
            member(f, "span", f->real, offsetof(struct level, span))};
        uint32_t levels = put_array(
            f, put_record(f, TYPE_STRUCT, "struct level", sizeof(struct level), level, 2),
            0);
        const struct member tower[] = {
            member(f, "key", f->pointer, offsetof(struct tower, key)),
            member(f, "weight", f->real, offsetof(struct tower, weight)),
            member(f, "level", levels, offsetof(struct tower, level))};
        uint32_t open =
            put_record(f, TYPE_STRUCT, "struct tower", sizeof(struct tower), tower, 3);
        const struct member both[] = {
            member(f, "u", f->number, offsetof(struct both, u)),
            member(f, "v", f->number, offsetof(struct both, v))};
        uint32_t pair = put_array(
            f, put_record(f, TYPE_STRUCT, "struct both", sizeof(struct both), both, 2),
            3);
        const struct member group[] = {
            member(f, "low", f->byte, offsetof(struct group, low)),
            member(f, "pair", pair, offsetof(struct group, pair))};
        uint32_t groups = put_array(
            f, put_record(f, TYPE_STRUCT, "struct group", sizeof(struct group), group, 2),
            4);
        const struct member cell[] = {
            member(f, "stamp", f->real, offsetof(struct cell, stamp)),
            member(f, "group", groups, offsetof(struct cell, group))};
        uint32_t closed =
            put_record(f, TYPE_STRUCT, "struct cell", sizeof(struct cell), cell, 2);
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

                assert_int_equal(type_indexed(&f->types, cases[i].type, cases[i].offset,
                                              cases[i].stride, 0, &field),
                                 cases[i].outcome);
                if (cases[i].outcome != INDEX_OPEN)
                        assert_int_equal(field, cases[i].field);
        }
        /* More bytes than an item has are something else's, further on. */
        uint64_t item;

        assert_int_equal(type_indexed(&f->types, open, (int64_t)forward,
                                      sizeof(struct level), sizeof(void *), &item),
                         INDEX_FOUND);
        assert_int_equal(item, forward);
        assert_int_equal(type_indexed(&f->types, open, (int64_t)forward,
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

/* Of two indexes that are added only what their strides have in common is known: a long,
 * which values are no more likely than keys. */
TEST(an_index_may_count_items_that_are_larger_than_its_stride)
{
        struct fixture *f = *state;
        const struct member way[] = {
            member(f, "key", f->number, offsetof(struct way, key)),
            member(f, "count", f->number, offsetof(struct way, count)),
            member(f, "values", put_array(f, f->number, 6),
                   offsetof(struct way, values))};
        const struct member set[] = {
            member(f, "ways",
                   put_array(f,
                             put_record(f, TYPE_STRUCT, "struct way", sizeof(struct way),
                                        way, 3),
                             7),
                   offsetof(struct set, ways)),
            member(f, "next", f->pointer, offsetof(struct set, next)),
            member(f, "costs", put_array(f, f->real, 4), offsetof(struct set, costs))};
        uint32_t type =
            put_record(f, TYPE_STRUCT, "struct set", sizeof(struct set), set, 3);
        uint64_t field;

        const uint64_t key = offsetof(struct way, key),
                       count = offsetof(struct way, count);
        const uint64_t costs = offsetof(struct set, costs);

        assert_int_equal(type_indexed(&f->types, type, key, 8, 4, &field), INDEX_OPEN);
        assert_int_equal(type_indexed(&f->types, type, count, 8, 4, &field), INDEX_OPEN);
        /* Nor is the offset in that of the array where the rest of it is in the index. */
        assert_int_equal(type_indexed(&f->types, type, costs, 4, 4, &field), INDEX_OPEN);
        assert_int_equal(type_indexed(&f->types, type, costs, 8, 8, &field), INDEX_FOUND);
        assert_int_equal(field, costs);
}

struct listing {
        struct fixture *fixture;
        char text[512];
};

static int list(void *context, const struct field *field)
{
        struct listing *listing = context;

        strcat(listing->text, string_pool_text(listing->fixture->names, field->name));
        strcat(listing->text, " ");
        return 0;
}

TEST(all_fields_come_in_their_order)
{
        struct listing listing = {.fixture = *state};

        assert_ok(type_fields(&listing.fixture->types, listing.fixture->names,
                              listing.fixture->sample, list, &listing));
        assert_string_equal(listing.text,
                            "next as.ratio as.count as.link part[].low part[].pair[] low "
                            "pair[] letters[] ");
}

static void assert_padding(struct fixture *f, uint32_t type, uint64_t offset,
                           uint64_t bytes)
{
        struct padding *found;
        size_t count;

        assert_ok(type_padding(&f->types, type, &found, &count));
        assert_int_equal(count, 1);
        assert_int_equal(found[0].offset_bytes, offset);
        assert_int_equal(found[0].size_bytes, bytes);
        free(found);
}

/* The array at the end has no length, and may go on in what the compiler adds there. */
TEST(padding_is_where_no_field_lies)
{
        struct fixture *f = *state;
        const uint64_t hole = offsetof(struct inner, pair) - sizeof(short);

        assert_padding(f, f->inner, sizeof(short), hole);
        assert_padding(f, f->sample, offsetof(struct sample, low) + sizeof(short), hole);
}

TEST(a_type_that_is_not_known_whole_has_no_padding)
{
        struct fixture *f = *state;
        const struct member far = member(f, "far", f->number, UINT64_MAX - 1);
        uint32_t odd = put_record(f, TYPE_STRUCT, "odd", 8, &far, 1);
        struct padding *found;
        size_t count;

        f->types.items[f->inner].partial = true;
        assert_ok(type_padding(&f->types, f->sample, &found, &count));
        assert_int_equal(count, 0);
        free(found);
        assert_ok(type_padding(&f->types, odd, &found, &count));
        for (size_t i = 0; i < count; i++)
                assert_true(found[i].offset_bytes + found[i].size_bytes <= 8);
        free(found);
}

TEST(equal_types_are_one)
{
        struct fixture *f = *state;
        const struct member a[] = {member(f, "x", f->number, 0)};
        const struct member b[] = {member(f, "y", f->number, 0)};
        uint32_t first = put_record(f, TYPE_STRUCT, "struct point", 4, a, 1);
        uint32_t same = put_record(f, TYPE_STRUCT, "struct point", 4, a, 1);
        uint32_t other = put_record(f, TYPE_STRUCT, "struct point", 4, b, 1);

        assert_int_equal(f->types.items[same].canonical, first);
        assert_int_not_equal(f->types.items[other].canonical, first);
}

/* Into a table and a pool where all numbers are others. */
TEST(imported_types_look_the_same)
{
        struct fixture *f = *state;
        struct fixture to = {.names = string_pool_new()};
        struct type_import import;
        uint32_t sample = f->sample, none = TYPE_NONE;

        string_pool_put(to.names, "another");
        uint32_t number = put(&to, TYPE_INTEGER, "int", 4);

        assert_ok(type_import_begin(&import, &to.types, to.names, &f->types, f->names));
        assert_ok(type_import(&import, &sample));
        assert_ok(type_import(&import, &none));
        assert_int_equal(none, TYPE_NONE);
        size_t count = to.types.count;
        uint32_t again = f->sample;

        assert_ok(type_import(&import, &again));
        assert_int_equal(again, sample);
        assert_int_equal(to.types.count, count);
        type_import_end(&import);
        assert_int_equal(to.types.items[number].kind, TYPE_INTEGER);
        assert_string_equal(string_pool_text(to.names, to.types.items[sample].name),
                            "struct sample");
        for (uint64_t at = 0; at < sizeof(struct sample); at++) {
                const struct type_access access = {.bytes = 1};

                assert_string_equal(field_at(&to, sample, at, access),
                                    text_of("%s", field_at(f, f->sample, at, access)));
        }
        types_free(&to.types);
        string_pool_free(to.names);
}

TEST(types_are_imported_from_any_depth)
{
        struct fixture *f = *state;
        struct fixture to = {.names = string_pool_new()};
        struct type_import import;
        uint32_t type = f->number;
        const uint32_t depth = 300000;

        for (uint32_t i = 0; i < depth; i++) {
                const struct member inner[] = {member(f, "in", type, 0)};

                type = put_record(f, TYPE_STRUCT, "struct nest", 4 + i, inner, 1);
        }
        assert_ok(type_import_begin(&import, &to.types, to.names, &f->types, f->names));
        assert_ok(type_import(&import, &type));
        type_import_end(&import);
        assert_int_equal(to.types.count, depth + 1);
        for (uint32_t i = 0; i < depth; i++)
                type = to.types.members[to.types.items[type].first_member].type;
        assert_int_equal(to.types.items[type].kind, TYPE_INTEGER);
        types_free(&to.types);
        string_pool_free(to.names);
}

static struct member base(const struct fixture *f, uint32_t type, uint64_t offset)
{
        return (struct member){.name = f->types.items[type].name,
                               .type = type,
                               .offset_bytes = offset,
                               .base = true};
}

/* struct owed { double amount; int since; }; struct paid : owed { int amount; };
 * struct settled { int by; }; struct account : paid, settled { double sum; }; */
TEST(fields_of_bases_are_told_with_them_where_their_names_are_others_too)
{
        struct fixture *f = *state;
        const struct member owed[] = {member(f, "amount", f->real, 0),
                                      member(f, "since", f->number, 8)};
        uint32_t owed_type = put_record(f, TYPE_STRUCT, "owed", 16, owed, 2);
        struct member paid[] = {base(f, owed_type, 0),
                                member(f, "amount", f->number, 12)};

        assert_ok(base_names_settle(&f->types, paid, 2));
        uint32_t paid_type = put_record(f, TYPE_STRUCT, "paid", 16, paid, 2);
        const struct member by = member(f, "by", f->number, 0);
        uint32_t settled_type = put_record(f, TYPE_STRUCT, "settled", 4, &by, 1);
        struct member account[] = {base(f, paid_type, 0), base(f, settled_type, 16),
                                   member(f, "sum", f->real, 24)};

        assert_ok(base_names_settle(&f->types, account, 3));
        uint32_t type = put_record(f, TYPE_STRUCT, "account", 32, account, 3);

        assert_field(f, paid_type, 0, 8, NUMBER_ANY, "owed::amount");
        assert_field(f, paid_type, 12, 4, NUMBER_ANY, "amount");
        assert_field(f, type, 0, 8, NUMBER_ANY, "owed::amount");
        assert_field(f, type, 12, 4, NUMBER_ANY, "amount");
        assert_field(f, type, 16, 4, NUMBER_ANY, "by");

        /* Two bases of one name in each of them, in a class of their own. */
        struct member both[] = {base(f, paid_type, 0), base(f, owed_type, 16)};

        assert_ok(base_names_settle(&f->types, both, 2));
        uint32_t both_type = put_record(f, TYPE_STRUCT, "both", 32, both, 2);

        assert_field(f, both_type, 12, 4, NUMBER_ANY, "paid::amount");
        assert_field(f, both_type, 16, 8, NUMBER_ANY, "owed::amount");
        assert_field(f, f->sample, 0, 8, NUMBER_ANY, "next");
}

/* A repeated instruction accesses what comes behind its operand, too. */
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
