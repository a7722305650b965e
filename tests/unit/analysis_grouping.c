/* SPDX-License-Identifier: MIT */
/* Groups of locations, also in a database whose tables contradict each other. */
#include "db_test.h"

#include "grouping.h"

/* 40 locations of module 1, location N on line N / 10 of function N % 10. */
static void make_database(const char *path)
{
        struct diag diag;
        struct db *db;
        assert_ok(db_create(path, false, &db, &diag));
        db_close(db);
        plain_exec(path, "INSERT INTO module (module_id, path) VALUES (1, '/program');"
                         "INSERT INTO name (name_id, text) VALUES (2, 'f.c');"
                         "WITH RECURSIVE number (n) AS (VALUES (0)"
                         " UNION ALL SELECT n + 1 FROM number WHERE n < 9)"
                         "INSERT INTO name SELECT 10 + n, 'f' || n FROM number;"
                         "WITH RECURSIVE number (n) AS (VALUES (1)"
                         " UNION ALL SELECT n + 1 FROM number WHERE n < 40)"
                         "INSERT INTO code_location SELECT n, 1, n, 10 + n % 10, 2,"
                         " n / 10 FROM number");
}

static void read_groups(const char *path, struct grouping *grouping)
{
        struct diag diag;
        struct db *db;
        assert_ok(db_open(path, DB_READ_ONLY, &db, &diag));
        assert_ok(grouping_read(db, grouping, &diag));
        db_close(db);
}

TEST(numbers_lines_and_functions_from_1)
{
        struct grouping grouping;
        uint32_t line, function, other_line, other_function;
        make_database("groups.db");
        read_groups("groups.db", &grouping);
        assert_int_equal(grouping.location_count, 40);
        assert_int_equal(grouping.line_groups, 1 + 40);
        assert_int_equal(grouping.function_groups, 1 + 10);
        grouping_of_location(&grouping, 13, &line, &function);
        grouping_of_location(&grouping, 23, &other_line, &other_function);
        assert_int_not_equal(line, other_line);
        assert_int_equal(function, other_function);
        assert_int_equal(grouping.line_location[line], 13);
        assert_int_equal(grouping.line_function[line], function);
        grouping_of_location(&grouping, 41, &line, &function);
        assert_int_equal(line, 0);
        assert_int_equal(function, 0);
        grouping_free(&grouping);
}

/* With a module for each of 1000 paths of one number there are as many groups. */
TEST(takes_all_rows_of_a_contradictory_file)
{
        struct grouping grouping;
        make_database("contradictory.db");
        plain_exec("contradictory.db",
                   "PRAGMA foreign_keys = OFF; DROP TABLE module;"
                   "CREATE TABLE module (module_id, path, build_id);"
                   "WITH RECURSIVE number (n) AS (VALUES (1)"
                   " UNION ALL SELECT n + 1 FROM number WHERE n < 1000)"
                   "INSERT INTO module SELECT 1, '/program' || n, NULL FROM number");
        read_groups("contradictory.db", &grouping);
        assert_int_equal(grouping.location_count, 40 * 1000);
        for (size_t i = 0; i < grouping.location_count; i++) {
                assert_in_range(grouping.locations[i].line, 1, grouping.line_groups - 1);
                assert_in_range(grouping.locations[i].function, 1,
                                grouping.function_groups - 1);
        }
        grouping_free(&grouping);
}
