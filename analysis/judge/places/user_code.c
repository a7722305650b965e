/* SPDX-License-Identifier: MIT */
/* Code is the user's if two conditions hold. Its source file is known and is not a system
 * file. Its machine code is in the program or in a library outside the system's
 * directories. A directory counts as a library of headers if samples met headers in it,
 * but no source file of the program. For such a header, its user matters. The tables only
 * have files that samples or inlined frames refer to: a directory of the program looks
 * like a library of headers until a sample meets its source files. */
#include "user_code.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>

#include "array.h"
#include "own_module.h"
#include "statement.h"

enum { NONE = UINT32_MAX };

/* The owner of a line's code. A LIBRARY line is attributed to the user's line that led
 * there, a HEADER line to the source line that uses it. */
enum kind { LIBRARY, HEADER, SOURCE };

/* The innermost places in the user's code; 0: none. */
struct nearest {
        uint32_t any;
        uint32_t own;    /* outside libraries of headers */
        uint32_t source; /* outside all headers */
};

struct user_code_location {
        int64_t location_id;
        enum kind kind;
        struct nearest nearest;
};

struct user_code_stack {
        int64_t stack_id;
        struct nearest nearest;
};

/* Directory of a file name, with the last slash. */
#define DIRECTORY " rtrim(text, replace(text, '/', '')) "

/* Every function at a location of samples or their stacks, innermost first, with its
 * current line. Leaves out other locations, such as allocation sites: they can be far
 * more. The patterns also match compilers' sources in other installation directories. */
static const char places_sql[] =
    "WITH sampled AS MATERIALIZED ("
    " SELECT location_id FROM ip_location UNION SELECT location_id FROM attribution"
    " UNION SELECT location_id FROM temp.calling_stack"
    "  JOIN node_location USING (stack_id)),"
    " system_file AS MATERIALIZED ("
    " SELECT name_id FROM name WHERE name_id IN (SELECT file_id FROM code_location"
    "  UNION SELECT call_file_id FROM code_frame)"
    " AND (text GLOB '/usr/include/*' OR text GLOB '/usr/lib*'"
    "  OR text GLOB '/usr/local/include/*' OR text GLOB '/usr/local/lib*'"
    "  OR text GLOB '/usr/bin/../*' OR text GLOB '*/include/c++/*' OR text GLOB "
    "'/rustc/*'"
    "  OR text GLOB '/rust/deps/*'"
    "  OR text GLOB '*/lib/rustlib/*' OR text GLOB '*/.cargo/registry/*')),"
    " header AS MATERIALIZED ("
    " SELECT name_id FROM name WHERE text GLOB '*.h' OR text GLOB '*.h[hp]'"
    "  OR text GLOB '*.hpp' OR text GLOB '*.hxx' OR text GLOB '*.h++'"
    "  OR text GLOB '*.in[cl]' OR text GLOB '*.ipp' OR text GLOB '*.tcc'),"
    " source_directory AS MATERIALIZED ("
    " SELECT DISTINCT" DIRECTORY "AS directory FROM name"
    " WHERE name_id IN (SELECT file_id FROM code_location"
    "  UNION SELECT call_file_id FROM code_frame)"
    " AND name_id NOT IN (SELECT name_id FROM system_file)"
    " AND name_id NOT IN (SELECT name_id FROM header)),"
    " lone_header AS MATERIALIZED ("
    " SELECT name_id FROM header JOIN name USING (name_id)"
    " WHERE" DIRECTORY "NOT IN (SELECT directory FROM source_directory)),"
    " system_module AS MATERIALIZED ("
    " SELECT module_id FROM module WHERE (path GLOB '/lib/*' OR path GLOB '/lib[36x]*/*'"
    "  OR path GLOB '/usr/lib*' OR path GLOB '/usr/local/lib*' OR path GLOB '[[]*'"
    "  OR " MEMLAG_MODULE_SQL ")"
    " AND path NOT IN (SELECT executable FROM process WHERE executable IS NOT NULL)),"
    " place AS ("
    " SELECT l.location_id, l.module_id, coalesce(f.depth, 0) AS depth,"
    "  iif(f.depth IS NULL, l.function_id, f.function_id) AS function_id,"
    "  iif(inner.depth IS NULL, l.file_id, inner.call_file_id) AS file_id,"
    "  iif(inner.depth IS NULL, l.line, inner.call_line) AS line"
    " FROM code_location AS l LEFT JOIN code_frame AS f USING (location_id)"
    " LEFT JOIN code_frame AS inner"
    "  ON inner.location_id = f.location_id AND inner.depth = f.depth - 1"
    " WHERE l.location_id IN (SELECT location_id FROM sampled)) "
    "SELECT location_id, depth, coalesce(function_id, 0), coalesce(file_id, 0),"
    " coalesce(line, 0), file_id IS NOT NULL"
    " AND file_id NOT IN (SELECT name_id FROM system_file)"
    " AND coalesce(module_id NOT IN (SELECT module_id FROM system_module), 0),"
    " file_id IN (SELECT name_id FROM header), coalesce(module_id, 0),"
    " file_id IN (SELECT name_id FROM lone_header) "
    "FROM place ORDER BY location_id, depth";

/* 0: none, or an id outside the range of symbolize. */
static uint32_t id_of_row(sqlite3_stmt *row, int column)
{
        int64_t id = sqlite3_column_int64(row, column);
        return id > 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

/* Adds ROW's place and returns its number in places, from 1; 0 without memory. */
static uint32_t add_place(struct user_code *code, sqlite3_stmt *row)
{
        if (code->place_count >= NONE - 1 ||
            array_reserve(&code->places, &code->place_capacity, code->place_count,
                          sizeof(*code->places)))
                return 0;
        code->places[code->place_count++] =
            (struct user_place){.function_id = id_of_row(row, 2),
                                .file_id = id_of_row(row, 3),
                                .line = id_of_row(row, 4),
                                .module_id = id_of_row(row, 7)};
        return (uint32_t)code->place_count;
}

/* The last location, or a new one if LOCATION_ID differs; NULL without memory. */
static struct user_code_location *location_at(struct user_code *code, int64_t location_id,
                                              enum kind kind)
{
        if (code->location_count > 0 &&
            code->locations[code->location_count - 1].location_id == location_id)
                return &code->locations[code->location_count - 1];
        if (array_reserve(&code->locations, &code->location_capacity,
                          code->location_count, sizeof(*code->locations)))
                return NULL;
        struct user_code_location *location = &code->locations[code->location_count++];
        *location = (struct user_code_location){.location_id = location_id, .kind = kind};
        return location;
}

static int take_place(void *context, sqlite3_stmt *row)
{
        struct user_code *code = context;
        bool own = sqlite3_column_int(row, 5), header = sqlite3_column_int(row, 6);
        enum kind kind = !own ? LIBRARY : header ? HEADER : SOURCE;
        struct user_code_location *location =
            location_at(code, sqlite3_column_int64(row, 0), kind);
        if (!location)
                return -ENOMEM;
        bool lone = sqlite3_column_int(row, 8);
        bool nearest_any = kind != LIBRARY && !location->nearest.any;
        bool nearest_own = kind != LIBRARY && !lone && !location->nearest.own;
        bool nearest_source = kind == SOURCE && !location->nearest.source;
        if (!nearest_any && !nearest_own && !nearest_source)
                return 0;
        uint32_t number = add_place(code, row);
        if (!number)
                return -ENOMEM;
        if (nearest_any)
                location->nearest.any = number;
        if (nearest_own)
                location->nearest.own = number;
        if (nearest_source)
                location->nearest.source = number;
        return 0;
}

static int compare_location(const void *id, const void *location)
{
        int64_t a = *(const int64_t *)id;
        int64_t b = ((const struct user_code_location *)location)->location_id;
        return (a > b) - (a < b);
}

static const struct user_code_location *find_location(const struct user_code *code,
                                                      int64_t location_id)
{
        return code->location_count
                   ? bsearch(&location_id, code->locations, code->location_count,
                             sizeof(*code->locations), compare_location)
                   : NULL;
}

static int compare_stack(const void *id, const void *stack)
{
        int64_t a = *(const int64_t *)id;
        int64_t b = ((const struct user_code_stack *)stack)->stack_id;
        return (a > b) - (a < b);
}

static const struct user_code_stack *find_stack(const struct user_code *code,
                                                int64_t stack_id)
{
        return code->stack_count ? bsearch(&stack_id, code->stacks, code->stack_count,
                                           sizeof(*code->stacks), compare_stack)
                                 : NULL;
}

/* A parent precedes its children. In a damaged file, a later row is no parent. */
static int take_stack(void *context, sqlite3_stmt *row)
{
        struct user_code *code = context;
        const struct user_code_location *location =
            find_location(code, sqlite3_column_int64(row, 2));
        const struct user_code_stack *parent =
            sqlite3_column_type(row, 1) == SQLITE_NULL
                ? NULL
                : find_stack(code, sqlite3_column_int64(row, 1));
        struct nearest nearest = location ? location->nearest : (struct nearest){0};

        if (!nearest.any && parent)
                nearest.any = parent->nearest.any;
        if (!nearest.own && parent)
                nearest.own = parent->nearest.own;
        if (!nearest.source && parent)
                nearest.source = parent->nearest.source;
        if (array_reserve(&code->stacks, &code->stack_capacity, code->stack_count,
                          sizeof(*code->stacks)))
                return -ENOMEM;
        code->stacks[code->stack_count++] = (struct user_code_stack){
            .stack_id = sqlite3_column_int64(row, 0), .nearest = nearest};
        return 0;
}

int user_code_read(struct db *db, struct user_code *code, struct diag *diag)
{
        *code = (struct user_code){
            .line_costs = {.value_bytes = sizeof(struct user_part)},
            .function_costs = {.value_bytes = sizeof(struct user_part)},
        };
        int error = statement_each(db, places_sql, take_place, code, diag);
        if (!error)
                error = statement_each(db,
                                       "SELECT stack_id, parent_id, location_id"
                                       " FROM temp.calling_stack"
                                       " CROSS JOIN stack_node USING (stack_id)"
                                       " LEFT JOIN node_location USING (stack_id)"
                                       " ORDER BY stack_id",
                                       take_stack, code, diag);
        return error;
}

void user_code_free(struct user_code *code)
{
        free(code->places);
        free(code->locations);
        free(code->stacks);
        pairs_free(&code->functions);
        pairs_free(&code->lines);
        pairs_free(&code->leaders);
        pairs_free(&code->line_costs);
        pairs_free(&code->function_costs);
}

static uint32_t leading_to(const struct user_code *code, int64_t location_id,
                           int64_t stack_id)
{
        const struct user_code_location *location = find_location(code, location_id);
        if (!location || location->kind == SOURCE)
                return 0;
        const struct user_code_stack *stack = find_stack(code, stack_id);
        const struct nearest *nearest = stack ? &stack->nearest : &location->nearest;
        if (location->kind == HEADER)
                return nearest->source;
        return nearest->own ? nearest->own : nearest->any;
}

/* Equal places at different locations are one leader. NONE without memory. */
static uint32_t leader_of(struct user_code *code, const struct user_place *place)
{
        uint32_t function =
            pairs_place(&code->functions, place->module_id, place->function_id);
        uint32_t line = pairs_place(&code->lines, place->file_id, place->line);
        return function == NONE || line == NONE
                   ? NONE
                   : pairs_place(&code->leaders, function, line);
}

static struct user_place place_of(const struct user_code *code, uint32_t leader)
{
        const struct pair *of = &code->leaders.pairs[leader];
        const struct pair *function = &code->functions.pairs[of->first];
        const struct pair *line = &code->lines.pairs[of->second];
        return (struct user_place){.module_id = function->first,
                                   .function_id = function->second,
                                   .file_id = line->first,
                                   .line = line->second};
}

static int add_cost(struct user_code *code, struct pairs *costs, uint32_t group,
                    const struct user_place *place, const struct user_part *sample)
{
        uint32_t leader = leader_of(code, place);
        struct user_part *part = leader == NONE ? NULL : pairs_get(costs, group, leader);
        if (!part)
                return -ENOMEM;
        part->samples += sample->samples;
        part->cost += sample->cost;
        part->retire_cycles += sample->retire_cycles;
        return 0;
}

int user_code_add(struct user_code *code, uint32_t line, uint32_t function,
                  int64_t location_id, int64_t stack_id, const struct user_part *sample)
{
        uint32_t number = leading_to(code, location_id, stack_id);
        if (!number)
                return 0;
        struct user_place place = code->places[number - 1];
        if (add_cost(code, &code->line_costs, line, &place, sample))
                return -ENOMEM;
        place.line = 0; /* all lines of the calling function are one leader */
        return add_cost(code, &code->function_costs, function, &place, sample);
}

int user_code_sort(struct user_code *code)
{
        int error = pairs_sort(&code->line_costs);
        return error ? error : pairs_sort(&code->function_costs);
}

static bool pair_is_below(const void *item, const void *key)
{
        const struct pair *pair = item;
        return pair->first < *(const uint32_t *)key;
}

/* The first of GROUP's pairs; pairs are sorted by group (line or function). */
static size_t first_of(const struct pairs *costs, uint32_t group)
{
        return array_count_before(costs->pairs, costs->count, sizeof(*costs->pairs),
                                  pair_is_below, &group);
}

/* Whether A led to more than B. */
static bool is_more(const struct user_part *a, const struct user_part *b,
                    enum user_weight weight)
{
        if (weight == USER_RETIRE_CYCLES && a->retire_cycles != b->retire_cycles)
                return a->retire_cycles > b->retire_cycles;
        return a->cost != b->cost ? a->cost > b->cost : a->samples > b->samples;
}

/* The leader with the most WEIGHT of GROUP, and its sums. False: no leader. */
static bool most_of(const struct user_code *code, const struct pairs *costs,
                    uint32_t group, enum user_weight weight, struct user_place *place,
                    struct user_part *most)
{
        bool found = false;
        for (size_t i = first_of(costs, group);
             i < costs->count && costs->pairs[i].first == group; i++) {
                const struct user_part *part = pairs_value(costs, i);
                if (found && !is_more(part, most, weight))
                        continue;
                *most = *part;
                *place = place_of(code, costs->pairs[i].second);
                found = true;
        }
        return found;
}

bool user_code_of_line(const struct user_code *code, uint32_t line,
                       enum user_weight weight, struct user_place *place,
                       struct user_part *part)
{
        return most_of(code, &code->line_costs, line, weight, place, part);
}

bool user_code_of_function(const struct user_code *code, uint32_t function,
                           enum user_weight weight, struct user_place *place,
                           struct user_part *part)
{
        return most_of(code, &code->function_costs, function, weight, place, part);
}
