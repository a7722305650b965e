/* SPDX-License-Identifier: MIT */
/* The mappings of a process, compared with the simplest model: one entry a page. */
#define TEST_SETUP    begin
#define TEST_TEARDOWN finish
#include "mapping_set.h"
#include "unit_test.h"

enum { PAGE = 4096, PAGES = 64, ROWS = 1000000 };

/* Rows as the listener makes them: which are open. */
struct rows {
        struct mapped row[ROWS];
        int open[ROWS];
        int count;
        int open_count;
};

static int ended(void *context, const struct mapped *piece)
{
        struct rows *rows = context;
        assert_true(rows->open[piece->mapping_id]);
        assert_int_equal(rows->row[piece->mapping_id].start_addr, piece->start_addr);
        rows->open[piece->mapping_id] = 0;
        rows->open_count--;
        return 0;
}

static int begun(void *context, struct mapped *piece)
{
        struct rows *rows = context;
        assert_true(rows->count < ROWS);
        piece->mapping_id = rows->count;
        rows->row[rows->count] = *piece;
        rows->open[rows->count++] = 1;
        rows->open_count++;
        return 0;
}

static struct rows rows;
static const struct mapping_listener listener = {ended, begun, &rows};
static struct mapping_set set;

static int begin(void **state)
{
        memset(&rows, 0, sizeof(rows));
        return 0;
}

static int finish(void **state)
{
        mapping_set_free(&set);
        return 0;
}

static struct mapped piece_of(uint64_t page, uint64_t pages, int64_t module,
                              uint64_t offset, const char *protection)
{
        struct mapped piece = {.start_addr = page * PAGE,
                               .length_bytes = pages * PAGE,
                               .module_id = module,
                               .file_offset_bytes = offset};
        memcpy(piece.protection, protection, 4);
        return piece;
}

TEST(any_sequence_agrees_with_a_table_of_pages)
{
        struct mapped page[PAGES];
        memset(page, 0, sizeof(page));
        srand(20261121);
        for (int step = 0; step < 20000; step++) {
                uint64_t first = (uint64_t)rand() % PAGES;
                uint64_t count = 1 + (uint64_t)rand() % (PAGES - first);
                if (rand() % 3 == 0) {
                        assert_ok(mapping_set_remove(&set, first * PAGE, count * PAGE,
                                                     &listener));
                        memset(page + first, 0, count * sizeof(*page));
                } else {
                        int64_t module = rand() % 3;
                        struct mapped piece = piece_of(
                            first, count, module,
                            module ? (uint64_t)(rand() % 2) * PAGE + first * PAGE : 0,
                            rand() % 2 ? "rw-" : "r-x");
                        assert_ok(mapping_set_add(&set, &piece, &listener));
                        for (uint64_t i = 0; i < count; i++) {
                                page[first + i] = piece;
                                page[first + i].file_offset_bytes += i * PAGE;
                        }
                }
                for (uint64_t i = 0; i < PAGES; i++) {
                        const struct mapped *found =
                            mapping_set_find(&set, i * PAGE + (uint64_t)(rand() % PAGE));
                        if (page[i].length_bytes == 0) {
                                assert_null(found);
                                continue;
                        }
                        assert_non_null(found);
                        assert_int_equal(found->module_id, page[i].module_id);
                        assert_string_equal(found->protection, page[i].protection);
                        if (found->module_id)
                                assert_int_equal(found->file_offset_bytes + i * PAGE -
                                                     found->start_addr,
                                                 page[i].file_offset_bytes);
                }
                assert_int_equal(rows.open_count, set.count);
        }
}

TEST(a_heap_told_again_as_it_grows_has_a_row_for_each_step)
{
        for (uint64_t pages = 1; pages <= 10; pages++) {
                struct mapped heap = piece_of(8, pages, 0, 0, "rw-");
                assert_ok(mapping_set_add(&set, &heap, &listener));
                assert_ok(mapping_set_add(&set, &heap, &listener));
        }
        assert_int_equal(rows.count, 10);
        assert_int_equal(rows.open_count, 10);
}

TEST(the_rest_of_a_file_keeps_its_offset)
{
        struct mapped file = piece_of(10, 10, 1, 3 * PAGE, "r-x");
        assert_ok(mapping_set_add(&set, &file, &listener));
        assert_ok(mapping_set_remove(&set, 14 * PAGE, 2 * PAGE, &listener));
        assert_int_equal(set.count, 2);
        assert_int_equal(set.items[1].start_addr, 16 * PAGE);
        assert_int_equal(set.items[1].file_offset_bytes, 9 * PAGE);
}

TEST(ranges_that_make_no_sense_change_nothing)
{
        struct mapped empty = piece_of(1, 0, 0, 0, "rw-");
        assert_int_equal(mapping_set_add(&set, &empty, &listener), -EINVAL);
        struct mapped wraps = empty;
        wraps.start_addr = UINT64_MAX - PAGE;
        wraps.length_bytes = 2 * PAGE;
        assert_int_equal(mapping_set_add(&set, &wraps, &listener), -EINVAL);
        assert_ok(mapping_set_remove(&set, UINT64_MAX - PAGE, 4 * PAGE, &listener));
        assert_int_equal(rows.count, 0);
}
