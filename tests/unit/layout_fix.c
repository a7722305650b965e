/* SPDX-License-Identifier: MIT */
/* Other layouts of a struct, and the map to them, against the compiler's layouts. */
#define TEST_SETUP fill_rows
#include "layout_fix.h"
#include "simpmu/model/layout.h"
#include "unit_test.h"

enum { ELEMENTS = 5 };

struct inner {
        int a;
        short b;
};

/* Holes, arrays, a struct in a struct, and padding at the end. */
struct row {
        char tag;
        double x;
        short small;
        char name[5];
        struct inner in[2];
        void *link;
        int last;
};

struct named_first {
        void *link;
        char tag;
        double x;
        short small;
        char name[5];
        struct inner in[2];
        int last;
};

struct hot {
        double x;
        int last;
};

struct cold {
        char tag;
        short small;
        char name[5];
        struct inner in[2];
        void *link;
};

struct padded {
        struct row row;
        char more[12];
};

struct aligned {
        _Alignas(64) struct row row;
};

#define MEMBER(field, type)                                                              \
        {                                                                                \
#field, offsetof(struct row, field), sizeof(((struct row *)0)->field),   \
                    _Alignof(type)                                                       \
        }

static struct layout_member members[] = {
    MEMBER(tag, char),  MEMBER(x, double),        MEMBER(small, short),
    MEMBER(name, char), MEMBER(in, struct inner), MEMBER(link, void *),
    MEMBER(last, int),
};
enum { MEMBERS = LENGTH(members) };

static struct row rows[ELEMENTS];

static int fill_rows(void **state)
{
        memset(rows, 0xee, sizeof(rows));
        for (int i = 0; i < ELEMENTS; i++) {
                rows[i].tag = (char)('a' + i);
                rows[i].x = 1.5 * i;
                rows[i].small = (short)(100 + i);
                memcpy(rows[i].name, "name", 5);
                rows[i].name[0] = (char)('A' + i);
                rows[i].in[1].b = (short)(200 + i);
                rows[i].link = &rows[i];
                rows[i].last = 1000 + i;
        }
        return 0;
}

/* The rows in another layout. */
static struct {
        struct layout_result made;
        struct layout layout;
        char *parts[MEMBERS];
} moved;

/* Moves the bytes of all rows, member by member. */
static void move_bytes(void)
{
        for (size_t i = 0; i < ELEMENTS * (size_t)MEMBERS; i++) {
                const struct layout_member *member = &members[i % MEMBERS];
                const uint64_t from =
                    i / MEMBERS * sizeof(struct row) + member->offset_bytes;
                for (uint64_t at = from; at < from + member->size_bytes; at++) {
                        struct layout_run run = layout_find(&moved.layout, at);
                        assert_true(run.bytes > 0);
                        moved.parts[run.part][run.offset_bytes] = ((char *)rows)[at];
                }
        }
}

static void move(enum layout_form form, const char *fields, uint32_t bytes)
{
        const struct layout_request request = {form, fields, bytes};
        struct diag diag;
        assert_ok(layout_make(members, MEMBERS, sizeof(struct row), &request, &moved.made,
                              &diag));
        moved.layout = (struct layout){
            sizeof(struct row), (uint32_t)moved.made.part_count,
            (uint32_t)moved.made.piece_count, moved.made.parts, moved.made.pieces};
        assert_true(layout_is_valid(&moved.layout));
        for (size_t i = 0; i < moved.made.part_count; i++)
                moved.parts[i] = calloc(ELEMENTS, moved.made.parts[i].element_bytes);
        move_bytes();
}

static void end(void)
{
        for (size_t i = 0; i < moved.made.part_count; i++)
                free(moved.parts[i]);
        layout_result_free(&moved.made);
}

TEST(members_become_arrays)
{
        move(LAYOUT_SOA, NULL, 0);
        assert_int_equal(moved.made.part_count, MEMBERS);
        for (int i = 0; i < ELEMENTS; i++) {
                assert_int_equal(moved.parts[0][i], rows[i].tag);
                assert_true(((double *)moved.parts[1])[i] == rows[i].x);
                assert_int_equal(((short *)moved.parts[2])[i], rows[i].small);
                assert_string_equal(&moved.parts[3][5 * i], rows[i].name);
                assert_int_equal(((struct inner(*)[2])moved.parts[4])[i][1].b,
                                 rows[i].in[1].b);
                assert_ptr_equal(((void **)moved.parts[5])[i], rows[i].link);
                assert_int_equal(((int *)moved.parts[6])[i], rows[i].last);
        }
        end();
}

TEST(a_split_is_two_structs)
{
        move(LAYOUT_SPLIT, "x,last", 0);
        assert_int_equal(moved.made.part_count, 2);
        assert_int_equal(moved.made.parts[0].element_bytes, sizeof(struct hot));
        assert_int_equal(moved.made.parts[1].element_bytes, sizeof(struct cold));
        for (int i = 0; i < ELEMENTS; i++) {
                const struct hot *hot = (struct hot *)moved.parts[0] + i;
                const struct cold *cold = (struct cold *)moved.parts[1] + i;
                assert_true(hot->x == rows[i].x && hot->last == rows[i].last);
                assert_int_equal(cold->tag, rows[i].tag);
                assert_int_equal(cold->small, rows[i].small);
                assert_string_equal(cold->name, rows[i].name);
                assert_int_equal(cold->in[1].b, rows[i].in[1].b);
                assert_ptr_equal(cold->link, rows[i].link);
        }
        end();
}

TEST(named_members_come_first)
{
        move(LAYOUT_REORDER, "link,tag", 0);
        assert_int_equal(moved.made.parts[0].element_bytes, sizeof(struct named_first));
        for (int i = 0; i < ELEMENTS; i++) {
                const struct named_first *row = (struct named_first *)moved.parts[0] + i;
                assert_ptr_equal(row->link, rows[i].link);
                assert_int_equal(row->tag, rows[i].tag);
                assert_true(row->x == rows[i].x);
                assert_int_equal(row->small, rows[i].small);
                assert_string_equal(row->name, rows[i].name);
                assert_int_equal(row->in[1].b, rows[i].in[1].b);
                assert_int_equal(row->last, rows[i].last);
        }
        end();
}

TEST(elements_move_apart)
{
        move(LAYOUT_PAD, NULL, 12);
        assert_int_equal(moved.made.parts[0].element_bytes, sizeof(struct padded));
        assert_int_equal(((struct padded *)moved.parts[0])[3].row.last, rows[3].last);
        end();
        move(LAYOUT_ALIGN, NULL, 64);
        assert_int_equal(moved.made.parts[0].element_bytes, sizeof(struct aligned));
        assert_int_equal(moved.made.parts[0].align_bytes, _Alignof(struct aligned));
        assert_int_equal(*(int *)(moved.parts[0] + 3 * sizeof(struct aligned) +
                                  offsetof(struct row, last)),
                         rows[3].last);
        end();
}

static void refuse(const char *fields, enum layout_form form)
{
        const struct layout_request request = {form, fields, 0};
        struct layout_result made;
        struct diag diag;
        assert_int_equal(
            layout_make(members, MEMBERS, sizeof(struct row), &request, &made, &diag),
            -EINVAL);
        layout_result_free(&made);
}

TEST(members_are_known_by_name)
{
        refuse("x,nothing", LAYOUT_SPLIT);
        refuse("tag,x,small,name,in,link,last", LAYOUT_SPLIT);
        refuse("na", LAYOUT_REORDER);
        assert_true(layout_is_called("value|v", "value", 5));
        assert_true(layout_is_called("value|v", "v.x", 1));
        assert_false(layout_is_called("value|w", "v", 1));
        assert_false(layout_is_called("v", "value", 5));
}
