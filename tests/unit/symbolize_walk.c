/* SPDX-License-Identifier: MIT */
/* Traverses the entries of all units of this program, and compares with libdw. */
#define TEST_SETUP    open_self
#define TEST_TEARDOWN close_self
#include "dwarf_test.h"

#include "code_names.h"
#include "die_walk.h"

static struct elf_file file;
static struct dwarf_file dwarf;

static int open_self(void **state)
{
        open_own_dwarf(&file, &dwarf);
        return 0;
}

static int close_self(void **state)
{
        dwarf_file_close(&dwarf);
        elf_file_close(&file);
        return 0;
}

static bool goes_down(bool skip_types, unsigned tag)
{
        return !skip_types || (tag != DW_TAG_structure_type && tag != DW_TAG_subprogram);
}

struct seen {
        uint64_t offset;
        unsigned tag;
        uint32_t depth;
};

struct list {
        bool skip_types;
        struct seen *items;
        size_t count;
        size_t capacity;
};

static void put(struct list *list, struct seen seen)
{
        if (list->count == list->capacity) {
                list->capacity = 2 * list->capacity + 1024;
                list->items = realloc(list->items, list->capacity * sizeof(seen));
                assert_non_null(list->items);
        }
        list->items[list->count++] = seen;
}

static void walk_by_libdw(struct list *list, Dwarf_Die *parent, uint32_t depth)
{
        Dwarf_Die die;

        if (dwarf_child(parent, &die) != 0)
                return;
        do {
                unsigned tag = (unsigned)dwarf_tag(&die);

                put(list, (struct seen){dwarf_dieoffset(&die), tag, depth});
                if (goes_down(list->skip_types, tag))
                        walk_by_libdw(list, &die, depth + 1);
        } while (dwarf_siblingof(&die, &die) == 0);
}

static int look(void *context, struct die_entry *entry)
{
        struct list *list = context;

        entry->value = entry->parent + 1;
        put(list, (struct seen){dwarf_dieoffset(&entry->die), entry->tag, entry->parent});
        assert_int_equal(dwarf_tag(&entry->die), entry->tag);
        return goes_down(list->skip_types, entry->tag);
}

static void assert_same(const struct list *ours, const struct list *theirs)
{
        assert_int_equal(ours->count, theirs->count);
        for (size_t i = 0; i < ours->count; i++) {
                assert_true(ours->items[i].offset == theirs->items[i].offset);
                assert_int_equal(ours->items[i].tag, theirs->items[i].tag);
                assert_int_equal(ours->items[i].depth, theirs->items[i].depth);
        }
}

static void walks_like_libdw(bool skip_types)
{
        size_t entries = 0;

        for (size_t i = 0; i < dwarf.unit_count; i++) {
                struct list ours = {.skip_types = skip_types},
                            theirs = {.skip_types = skip_types};
                Dwarf_Die unit, root;

                assert_true(die_open_unit(&dwarf, i, &unit, &root));
                assert_ok(die_walk(&dwarf, &root, look, &ours));
                walk_by_libdw(&theirs, &root, 0);
                assert_same(&ours, &theirs);
                entries += ours.count;
                free(ours.items);
                free(theirs.items);
        }
        assert_true(entries > 1000);
}

TEST(comes_by_the_entries_that_libdw_does)
{
        walks_like_libdw(false);
        walks_like_libdw(true);
}

/* A traversal of an entry in the middle reads it like a unit, to its end. */
TEST(begins_at_any_entry)
{
        size_t entries = 0;

        for (size_t i = 0; i < dwarf.unit_count; i++) {
                Dwarf_Die unit, root, child;

                assert_true(die_open_unit(&dwarf, i, &unit, &root));
                if (dwarf_child(&root, &child) != 0)
                        continue;
                do {
                        struct list ours = {0}, theirs = {0};

                        assert_ok(die_walk_from(&dwarf, &child, 7, look, &ours));
                        walk_by_libdw(&theirs, &child, 7);
                        assert_same(&ours, &theirs);
                        entries += ours.count;
                        free(ours.items);
                        free(theirs.items);
                } while (dwarf_siblingof(&child, &child) == 0);
        }
        assert_true(entries > 500);
}

/* A hostile file may give any number of entries a text that is as long as a section. */
TEST(reads_texts_within_the_budget)
{
        Dwarf_Die unit, entries;

        assert_true(die_open_unit(&dwarf, 0, &unit, &entries));
        const char *options = die_string(&dwarf, &unit, DW_AT_producer);

        assert_non_null(options);
        if (strlen(options) < 64)
                skip_test("the compiler says little of itself");
        dwarf.budget = 0;
        assert_null(die_string(&dwarf, &unit, DW_AT_producer));
        dwarf.budget = strlen(options);
        assert_ptr_equal(die_string(&dwarf, &unit, DW_AT_producer), options);
        assert_true(dwarf.budget < strlen(options));
}

/* The address of a function in one piece in the first unit from *NUMBER on. */
static uint64_t function_from(size_t *number)
{
        for (; *number < dwarf.unit_count; ++*number) {
                Dwarf_Die unit, child;
                Dwarf_Addr low;

                assert_non_null(
                    dwarf_offdie(dwarf.dwarf, dwarf.units[*number].die_offset, &unit));
                if (dwarf_child(&unit, &child) != 0)
                        continue;
                do {
                        if (dwarf_tag(&child) == DW_TAG_subprogram &&
                            dwarf_lowpc(&child, &low) == 0)
                                return low;
                } while (dwarf_siblingof(&child, &child) == 0);
        }
        fail_msg("the program has no such function");
        return 0;
}

static uint64_t function_address(void)
{
        size_t unit = 0;

        return function_from(&unit);
}

static struct code_place find_place(uint64_t budget)
{
        const struct symbol_table symbols = {0};
        struct code_place place = {.vaddr = function_address()}, *places = &place;
        struct string_pool *names = string_pool_new();
        struct code_frames frames = {0};

        dwarf.budget = budget;
        assert_ok(code_find(&dwarf, &file, &symbols, &places, 1, names, &frames));
        string_pool_free(names);
        code_frames_free(&frames);
        return place;
}

TEST(says_when_the_budget_is_spent)
{
        struct code_place place;

        place = find_place(dwarf.budget);
        assert_int_not_equal(place.line, 0);
        assert_false(place.unread);
        place = find_place(100);
        assert_int_equal(place.line, 0);
        assert_true(place.unread);
}

/* Later units are not opened; their addresses are marked as unread. */
TEST(opens_no_unit_when_the_budget_is_spent)
{
        const struct symbol_table symbols = {0};
        struct code_place places[2] = {{0}}, *list[] = {&places[0], &places[1]};
        struct string_pool *names = string_pool_new();
        struct code_frames frames = {0};
        size_t units[2] = {0};

        places[0].vaddr = function_from(&units[0]);
        units[1] = units[0] + 1;
        places[1].vaddr = function_from(&units[1]);
        dwarf.budget = 100 + 8 * dwarf.unit_count; /* their ranges are asked for */
        assert_int_equal(code_find(&dwarf, &file, &symbols, list, 2, names, &frames), 0);
        assert_true(dwarf.units[units[0]].split_asked);
        assert_false(dwarf.units[units[1]].split_asked);
        assert_true(places[0].unread && places[1].unread);
        string_pool_free(names);
        code_frames_free(&frames);
}
