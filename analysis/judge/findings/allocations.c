/* SPDX-License-Identifier: MIT */
/* The raw rows store a stack for each allocating path. This tree begins at the allocating
 * function: paths share the calls nearest to it. Each level divides the blocks of a path
 * by their next caller, so that time grows with blocks and depth, not with all paths. */
#include "allocations.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "statement.h"

enum { DEPTH_MAX = 64, LEAST_PART = 1000 };

/* A function of a stack: that of the machine code, or an inlined one. */
struct step {
        int64_t stack_id;
        int64_t parent_id;   /* 0: outermost stack */
        int64_t location_id; /* -stack_id: not known */
        int64_t inlined;     /* 0: innermost */
};

struct sums {
        uint64_t samples;
        uint64_t allocations;
        uint64_t total_bytes;
        uint64_t peak_bytes;
        bool counted; /* whether allocations and bytes are known */
};

/* Blocks with one stack. */
struct block {
        int64_t object_id;
        const struct step *step; /* the one to look at next */
        struct sums sums;
};

/* Blocks with one caller at this level. */
struct run {
        struct block *blocks;
        size_t count;
        struct sums sums;
};

struct allocations {
        struct step *steps; /* by stack_id and inlined */
        size_t step_count;
        size_t step_capacity;
        struct block *blocks; /* by object */
        size_t block_count;
        size_t block_capacity;
        struct sums whole; /* of the object in work */
        int64_t place;     /* of the last row written */
        sqlite3_stmt *insert;
        struct db *db;
        struct diag *diag;
};

/* ---- reading ---- */

static const char steps_sql[] =
    "WITH RECURSIVE needed(stack_id, parent_id, location_id) AS ("
    " SELECT s.stack_id, iif(c.stack_id IS NULL, n.parent_id, c.parent_id), c.location_id"
    " FROM (SELECT DISTINCT stack_id FROM object_stack) AS s"
    " LEFT JOIN object_context AS c USING (stack_id)"
    " LEFT JOIN stack_node AS n USING (stack_id)"
    " UNION"
    " SELECT needed.parent_id, iif(c.stack_id IS NULL, n.parent_id, c.parent_id),"
    "  c.location_id"
    " FROM needed LEFT JOIN object_context AS c ON c.stack_id = needed.parent_id"
    " LEFT JOIN stack_node AS n ON n.stack_id = needed.parent_id"
    " WHERE needed.parent_id IS NOT NULL) "
    "SELECT needed.stack_id, needed.parent_id,"
    " coalesce(l.location_id, -needed.stack_id), coalesce(f.depth, 0)"
    " FROM needed LEFT JOIN node_location AS o ON o.stack_id = needed.stack_id"
    " LEFT JOIN code_location AS l"
    "  ON l.location_id = coalesce(needed.location_id, o.location_id)"
    " LEFT JOIN code_frame AS f ON f.location_id = l.location_id"
    " ORDER BY 1, 4";

static int take_step(void *context, sqlite3_stmt *row)
{
        struct allocations *all = context;
        if (array_reserve(&all->steps, &all->step_capacity, all->step_count,
                          sizeof(*all->steps)))
                return -ENOMEM;
        all->steps[all->step_count++] =
            (struct step){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                          sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3)};
        return 0;
}

static int compare_step(const void *id, const void *step)
{
        int64_t a = *(const int64_t *)id, b = ((const struct step *)step)->stack_id;
        return (a > b) - (a < b);
}

/* The innermost function of a stack; NULL: there is none. */
static const struct step *innermost(const struct allocations *all, int64_t stack_id)
{
        const struct step *step = all->step_count
                                      ? bsearch(&stack_id, all->steps, all->step_count,
                                                sizeof(*step), compare_step)
                                      : NULL;
        while (step && step > all->steps && step[-1].stack_id == stack_id)
                step--;
        return step;
}

/* Its caller. */
static const struct step *caller_of(const struct allocations *all,
                                    const struct step *step)
{
        const struct step *next = step + 1;
        if (next < all->steps + all->step_count && next->stack_id == step->stack_id)
                return next;
        return step->parent_id ? innermost(all, step->parent_id) : NULL;
}

/* ---- the tree ---- */

static void add(struct sums *to, const struct sums *from)
{
        to->samples += from->samples;
        to->allocations += from->allocations;
        to->total_bytes += from->total_bytes;
        to->peak_bytes += from->peak_bytes;
        to->counted |= from->counted;
}

static bool is_part(uint64_t part, uint64_t whole)
{
        return part && part >= whole / LEAST_PART;
}

/* Of an object without any figures all paths matter. */
static bool matters(const struct sums *sums, const struct sums *whole)
{
        return whole->samples + whole->allocations + whole->total_bytes == 0 ||
               is_part(sums->samples, whole->samples) ||
               is_part(sums->allocations, whole->allocations) ||
               is_part(sums->total_bytes, whole->total_bytes);
}

static int order(uint64_t a, uint64_t b)
{
        return (a > b) - (a < b);
}

static int compare_places(const struct step *a, const struct step *b)
{
        if (a->location_id != b->location_id)
                return a->location_id < b->location_id ? -1 : 1;
        return (a->inlined > b->inlined) - (a->inlined < b->inlined);
}

static int compare_blocks(const void *a, const void *b)
{
        return compare_places(((const struct block *)a)->step,
                              ((const struct block *)b)->step);
}

/* The most samples first. */
static int compare_runs(const void *one, const void *other)
{
        const struct run *a = one, *b = other;
        int sign = order(b->sums.samples, a->sums.samples);
        if (!sign)
                sign = order(b->sums.total_bytes, a->sums.total_bytes);
        return sign ? sign : compare_places(a->blocks->step, b->blocks->step);
}

/* Divides blocks by their step, without small runs. Returns their number; *RUNS is NULL
 * without memory. */
static size_t divide(const struct allocations *all, struct block *blocks, size_t count,
                     struct run **runs)
{
        size_t found = 0;
        *runs = reallocarray(NULL, count + 1, sizeof(**runs));
        if (!*runs || !count)
                return 0;
        qsort(blocks, count, sizeof(*blocks), compare_blocks);
        for (size_t i = 0; i < count;) {
                struct run run = {.blocks = &blocks[i]};
                while (i < count && compare_places(blocks[i].step, run.blocks->step) == 0)
                        add(&run.sums, &blocks[i++].sums);
                run.count = (size_t)(&blocks[i] - run.blocks);
                if (matters(&run.sums, &all->whole))
                        (*runs)[found++] = run;
        }
        if (found)
                qsort(*runs, found, sizeof(**runs), compare_runs);
        return found;
}

static int write_run(struct allocations *all, const struct run *run, int depth,
                     const char *path)
{
        const struct step *step = run->blocks->step;
        sqlite3_stmt *insert = all->insert;
        sqlite3_bind_int64(insert, 1, ++all->place);
        sqlite3_bind_int64(insert, 2, run->blocks->object_id);
        sqlite3_bind_text(insert, 3, path, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(insert, 4, depth);
        if (step->location_id > 0)
                sqlite3_bind_int64(insert, 5, step->location_id);
        sqlite3_bind_int64(insert, 6, step->inlined);
        sqlite3_bind_int64(insert, 7, (int64_t)run->sums.samples);
        if (run->sums.counted) {
                sqlite3_bind_int64(insert, 8, (int64_t)run->sums.allocations);
                sqlite3_bind_int64(insert, 9, (int64_t)run->sums.total_bytes);
                sqlite3_bind_int64(insert, 10, (int64_t)run->sums.peak_bytes);
        }
        int code = statement_run(all->db, insert, all->diag);
        sqlite3_clear_bindings(insert);
        return code;
}

/* Moves each block to its caller. Returns the number of blocks that have one. */
static size_t ascend(const struct allocations *all, struct run *run)
{
        size_t left = 0;
        for (size_t i = 0; i < run->count; i++) {
                run->blocks[left] = run->blocks[i];
                run->blocks[left].step = caller_of(all, run->blocks[i].step);
                left += run->blocks[left].step != NULL;
        }
        return left;
}

static int write_level(struct allocations *all, struct block *blocks, size_t count,
                       int depth, const char *below)
{
        struct run *runs;
        size_t run_count = divide(all, blocks, count, &runs);
        int code = runs ? 0 : diag_no_memory(all->diag);
        for (size_t i = 0; i < run_count && !code; i++) {
                const struct step *step = runs[i].blocks->step;
                char *path = NULL;
                if (asprintf(&path, "%s%s%" PRId64 ".%" PRId64, below, *below ? " " : "",
                             step->location_id, step->inlined) < 0)
                        code = diag_no_memory(all->diag);
                if (!code)
                        code = write_run(all, &runs[i], depth, path);
                if (!code && depth + 1 < DEPTH_MAX)
                        code = write_level(all, runs[i].blocks, ascend(all, &runs[i]),
                                           depth + 1, path);
                free(path);
        }
        free(runs);
        return code;
}

/* SQL is laid out as SQL. */
/* clang-format off */

/* Until version 8 a stack's row lacked totals. One stack may then have asked for both kinds
 * of memory. */
#define TOTAL_UNTIL_8(column) \
        " iif(p.allocations IS NOT NULL, p." column ", (SELECT sum(" column ")" \
        "  FROM allocation_site AS t WHERE t.stack_id = p.stack_id" \
        "  AND (t.function IN ('mmap', 'mremap')) = (d.kind = 'mmap')))"

static const char blocks_sql[] =
    "SELECT p.object_id, p.stack_id, p.samples,"
    TOTAL_UNTIL_8("allocations") "," TOTAL_UNTIL_8("total_bytes") "," TOTAL_UNTIL_8("peak_bytes")
    " FROM object_stack AS p JOIN data_object AS d USING (object_id)"
    " ORDER BY p.object_id, p.stack_id";
/* clang-format on */

static int take_block(void *context, sqlite3_stmt *row)
{
        struct allocations *all = context;
        const struct step *step = innermost(all, sqlite3_column_int64(row, 1));
        if (!step)
                return 0;
        if (array_reserve(&all->blocks, &all->block_capacity, all->block_count,
                          sizeof(*all->blocks)))
                return -ENOMEM;
        all->blocks[all->block_count++] =
            (struct block){sqlite3_column_int64(row, 0),
                           step,
                           {(uint64_t)sqlite3_column_int64(row, 2),
                            (uint64_t)sqlite3_column_int64(row, 3),
                            (uint64_t)sqlite3_column_int64(row, 4),
                            (uint64_t)sqlite3_column_int64(row, 5),
                            sqlite3_column_type(row, 3) != SQLITE_NULL}};
        return 0;
}

static int write_objects(struct allocations *all)
{
        int code = 0;
        for (size_t i = 0, end; i < all->block_count && !code; i = end) {
                all->whole = (struct sums){0};
                for (end = i; end < all->block_count &&
                              all->blocks[end].object_id == all->blocks[i].object_id;
                     end++)
                        add(&all->whole, &all->blocks[end].sums);
                code = write_level(all, &all->blocks[i], end - i, 0, "");
        }
        return code;
}

int allocations_make(struct db *db, struct diag *diag)
{
        struct allocations all = {.db = db, .diag = diag};
        int code = statement_prepare(db,
                                     "INSERT INTO allocation_finding VALUES"
                                     " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                                     &all.insert, diag);
        if (!code)
                code = statement_each(db, steps_sql, take_step, &all, diag);
        if (!code)
                code = statement_each(db, blocks_sql, take_block, &all, diag);
        if (!code)
                code = write_objects(&all);
        sqlite3_finalize(all.insert);
        free(all.steps);
        free(all.blocks);
        return code;
}
