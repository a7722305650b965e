/* SPDX-License-Identifier: MIT */
/* The raw rows store stacks as a tree of addresses. This tree has functions as nodes: two
 * calls in one function share a node. Node 0 is the parent of all outermost functions. */
#include "callers.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "array.h"
#include "data_sources.h"
#include "intern.h"
#include "pairs.h"
#include "placing.h"
#include "statement.h"

enum { NONE = UINT32_MAX };

/* A function at a location: the function of the machine code, or an inlined one. */
struct frame {
        int64_t location_id;
        int64_t depth; /* 0: innermost */
        uint32_t function;
};

struct stack {
        int64_t stack_id;
        int64_t location_id;
        uint32_t parent; /* index of an earlier stack, or NONE */
        uint32_t node;   /* of its innermost function; NONE: not yet looked up */
        bool needed;
};

struct sums {
        int64_t samples;
        int64_t levels; /* samples with a known level, and among them DRAM samples */
        int64_t dram_samples;
        int64_t latencies;
        double latency_cycles;
        int64_t retirements;
        double retire_cycles;
};

struct callers {
        double loads_per_sample; /* NAN: not known */
        double loads_per_cycle;  /* loads per sample over total cycles; NAN: not known */
        struct placing placing;
        struct data_sources sources;
        struct frame *frames; /* by location, innermost first */
        size_t frame_count;
        size_t frame_capacity;
        struct stack *stacks; /* by stack_id */
        size_t stack_count;
        size_t stack_capacity;
        struct context_intern *functions; /* (path, name) → function + 1 */
        int64_t function_count;
        uint32_t *function_frame; /* some frame of each function */
        struct pairs tree;        /* pair I, of parent node and function, is node I + 1 */
        struct sums *own;         /* indexed by node */
        size_t own_capacity;
};

/* ---- reading ---- */

/* Functions are equal if their names and module paths are equal. Unnamed functions are
 * equal if they begin at the same offset; a bit unused by name numbers marks them. The
 * database stores each name once, so its number replaces it: sorting names is slow. */
static const char frames_sql[] =
    "WITH path AS MATERIALIZED ("
    " SELECT module_id, dense_rank() OVER (ORDER BY path) AS number FROM module) "
    "SELECT l.location_id, coalesce(f.depth, 0), coalesce(p.number, 0),"
    " coalesce(iif(f.location_id IS NULL, l.function_id, f.function_id),"
    "  s.function_offset | (1 << 62), 0) "
    "FROM code_location AS l LEFT JOIN code_frame AS f USING (location_id)"
    " LEFT JOIN function_start AS s USING (location_id)"
    " LEFT JOIN path AS p USING (module_id) ORDER BY l.location_id, f.depth";

static int take_frame(void *context, sqlite3_stmt *row)
{
        struct callers *callers = context;
        struct context_node *function = context_intern_place(
            callers->functions, (uint64_t)sqlite3_column_int64(row, 2),
            (uint64_t)sqlite3_column_int64(row, 3));
        if (!function || callers->frame_count >= NONE ||
            array_reserve(&callers->frames, &callers->frame_capacity,
                          callers->frame_count, sizeof(*callers->frames)))
                return -ENOMEM;
        if (function->id == 0)
                function->id = ++callers->function_count;
        callers->frames[callers->frame_count++] =
            (struct frame){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                           (uint32_t)(function->id - 1)};
        return 0;
}

static int compare_stack(const void *id, const void *stack)
{
        int64_t a = *(const int64_t *)id, b = ((const struct stack *)stack)->stack_id;
        return (a > b) - (a < b);
}

static struct stack *find_stack(const struct callers *callers, int64_t stack_id)
{
        return callers->stack_count
                   ? bsearch(&stack_id, callers->stacks, callers->stack_count,
                             sizeof(*callers->stacks), compare_stack)
                   : NULL;
}

/* A parent precedes its children. In a damaged file, a later row is no parent. */
static int take_stack(void *context, sqlite3_stmt *row)
{
        struct callers *callers = context;
        struct stack *parent = sqlite3_column_type(row, 1) == SQLITE_NULL
                                   ? NULL
                                   : find_stack(callers, sqlite3_column_int64(row, 1));
        uint32_t parent_index = parent ? (uint32_t)(parent - callers->stacks) : NONE;
        if (callers->stack_count >= NONE ||
            array_reserve(&callers->stacks, &callers->stack_capacity,
                          callers->stack_count, sizeof(*callers->stacks)))
                return -ENOMEM;
        callers->stacks[callers->stack_count++] =
            (struct stack){.stack_id = sqlite3_column_int64(row, 0),
                           .location_id = sqlite3_column_int64(row, 2),
                           .parent = parent_index,
                           .node = NONE};
        return 0;
}

static int index_functions(struct callers *callers)
{
        callers->function_frame =
            calloc((size_t)callers->function_count + 1, sizeof(*callers->function_frame));
        if (!callers->function_frame)
                return -ENOMEM;
        for (size_t i = callers->frame_count; i-- > 0;)
                callers->function_frame[callers->frames[i].function] = (uint32_t)i;
        return 0;
}

/* ---- the tree ---- */

static int compare_frame(const void *id, const void *frame)
{
        int64_t a = *(const int64_t *)id, b = ((const struct frame *)frame)->location_id;
        return (a > b) - (a < b);
}

/* Descends from NODE through the functions of the location, outermost first, and creates
 * missing nodes. Returns NONE without memory. */
static uint32_t descend(struct callers *callers, uint32_t node, int64_t location_id)
{
        const struct frame *found =
            callers->frame_count
                ? bsearch(&location_id, callers->frames, callers->frame_count,
                          sizeof(*found), compare_frame)
                : NULL;
        if (!found)
                return node;
        size_t first = (size_t)(found - callers->frames), last = first;
        while (first > 0 && callers->frames[first - 1].location_id == location_id)
                first--;
        while (last + 1 < callers->frame_count &&
               callers->frames[last + 1].location_id == location_id)
                last++;
        for (size_t i = last + 1; i-- > first && node != NONE;) {
                uint32_t place =
                    pairs_place(&callers->tree, node, callers->frames[i].function);
                node = place == NONE ? NONE : place + 1;
        }
        return node;
}

static int take_needed(void *context, sqlite3_stmt *row)
{
        struct callers *callers = context;
        struct stack *stack = find_stack(callers, sqlite3_column_int64(row, 0));
        if (stack)
                stack->needed = true;
        return 0;
}

static int grow_tree(struct callers *callers)
{
        for (size_t i = callers->stack_count; i-- > 0;)
                if (callers->stacks[i].needed && callers->stacks[i].parent != NONE)
                        callers->stacks[callers->stacks[i].parent].needed = true;
        for (size_t i = 0; i < callers->stack_count; i++) {
                struct stack *stack = &callers->stacks[i];
                if (!stack->needed)
                        continue;
                uint32_t above =
                    stack->parent == NONE ? 0 : callers->stacks[stack->parent].node;
                stack->node = descend(callers, above, stack->location_id);
                if (stack->node == NONE)
                        return -ENOMEM;
        }
        return 0;
}

enum {
        COLUMN_STACK,
        COLUMN_SOURCE,
        COLUMN_LATENCY = COLUMN_SOURCE + 2,
        COLUMN_STALL,
        COLUMN_RETIRE,
        COLUMN_PLACING
};

static void add_cycles(sqlite3_stmt *row, int column, int64_t *count, double *sum)
{
        int64_t cycles = sqlite3_column_int64(row, column);
        if (sqlite3_column_type(row, column) == SQLITE_NULL || cycles < 0)
                return;
        ++*count;
        *sum += (double)cycles;
}

/* The sums of ROW's node; its PLACING_COLUMNS begin at PLACING. A sample without a stack
 * has a location but no callers. NULL without memory. */
static struct sums *sums_of_row(struct callers *callers, sqlite3_stmt *row, int placing)
{
        struct stack *stack =
            sqlite3_column_type(row, COLUMN_STACK) == SQLITE_NULL
                ? NULL
                : find_stack(callers, sqlite3_column_int64(row, COLUMN_STACK));
        uint32_t node =
            stack ? stack->node
                  : descend(callers, 0, placing_of_row(&callers->placing, row, placing));
        if (node == NONE)
                return NULL;
        if (node >= callers->own_capacity) {
                size_t capacity = 2 * (callers->tree.count + 1);
                struct sums *grown = reallocarray(callers->own, capacity, sizeof(*grown));
                if (!grown)
                        return NULL;
                for (size_t i = callers->own_capacity; i < capacity; i++)
                        grown[i] = (struct sums){0};
                callers->own = grown;
                callers->own_capacity = capacity;
        }
        return &callers->own[node];
}

static int take_sample(void *context, sqlite3_stmt *row)
{
        struct callers *callers = context;
        const struct data_source *source =
            data_sources_of_row(&callers->sources, row, COLUMN_SOURCE);
        if (!source)
                return 0;
        struct sums *own = sums_of_row(callers, row, COLUMN_PLACING);
        if (!own)
                return -ENOMEM;
        own->samples++;
        own->levels += source->level != LEVEL_NA;
        own->dram_samples += level_is_dram(source->level);
        add_cycles(row, COLUMN_LATENCY, &own->latencies, &own->latency_cycles);
        add_cycles(row, COLUMN_RETIRE, &own->retirements, &own->retire_cycles);
        if (sqlite3_column_type(row, COLUMN_LATENCY) == SQLITE_NULL)
                own->latency_cycles += fmax(0, sqlite3_column_double(row, COLUMN_STALL));
        return 0;
}

/* Adds a page fault as loads that stalled for the same time. */
static int take_fault(void *context, sqlite3_stmt *row)
{
        struct callers *callers = context;
        struct sums *own = sums_of_row(callers, row, 2);
        if (!own)
                return -ENOMEM;
        own->retirements++;
        own->retire_cycles += sqlite3_column_double(row, 1) / callers->loads_per_sample;
        return 0;
}

static int read_tree(struct db *db, struct callers *callers, struct diag *diag)
{
        int code = statement_each(db, frames_sql, take_frame, callers, diag);
        if (!code && index_functions(callers))
                code = diag_no_memory(diag);
        if (!code)
                code = statement_each(db,
                                      "SELECT stack_id, parent_id, location_id"
                                      " FROM temp.calling_stack"
                                      " CROSS JOIN stack_node USING (stack_id)"
                                      " LEFT JOIN node_location USING (stack_id)"
                                      " ORDER BY stack_id",
                                      take_stack, callers, diag);
        if (!code)
                code = statement_each(db, "SELECT stack_id FROM temp.sampled_stack",
                                      take_needed, callers, diag);
        if (!code && grow_tree(callers))
                code = diag_no_memory(diag);
        if (!code)
                code = statement_each(db,
                                      "SELECT s.stack_id, " DATA_SOURCE_COLUMNS
                                      ", s.latency_cycles,"
                                      " s.stall_ns," STATEMENT_STALL ", " PLACING_COLUMNS
                                      " " PLACING_SAMPLES " ORDER BY s.sample_id",
                                      take_sample, callers, diag);
        if (!code && callers->loads_per_sample > 0)
                code = statement_each(
                    db,
                    "SELECT s.stack_id, f.kernel_cycles, " PLACING_COLUMNS
                    " FROM page_fault AS f JOIN sample AS s USING (sample_id)"
                    " LEFT JOIN attribution AS a USING (sample_id)"
                    " WHERE EXISTS (SELECT 1 FROM sample WHERE retire_latency_cycles >= "
                    "0)"
                    " ORDER BY f.sample_id",
                    take_fault, callers, diag);
        return code;
}

/* ---- writing ---- */

/* A node with its sums and the range of its children in the list of nodes. */
struct node {
        uint32_t number;
        uint32_t parent;
        struct sums all; /* the node and its descendants */
};

static void add(struct sums *to, const struct sums *from)
{
        to->samples += from->samples;
        to->levels += from->levels;
        to->dram_samples += from->dram_samples;
        to->latencies += from->latencies;
        to->latency_cycles += from->latency_cycles;
        to->retirements += from->retirements;
        to->retire_cycles += from->retire_cycles;
}

/* Groups siblings; the most important sibling comes first. */
static int compare_nodes(const void *left, const void *right)
{
        const struct node *a = left, *b = right;
        if (a->parent != b->parent)
                return a->parent < b->parent ? -1 : 1;
        if (a->all.retire_cycles != b->all.retire_cycles)
                return a->all.retire_cycles > b->all.retire_cycles ? -1 : 1;
        if (a->all.latency_cycles != b->all.latency_cycles)
                return a->all.latency_cycles > b->all.latency_cycles ? -1 : 1;
        if (a->all.samples != b->all.samples)
                return a->all.samples > b->all.samples ? -1 : 1;
        return a->number < b->number ? -1 : a->number > b->number;
}

/* NAN: not known. */
static double stalled(const struct callers *callers, const struct sums *sums)
{
        return sums->retirements ? sums->retire_cycles * callers->loads_per_cycle : NAN;
}

struct writing {
        struct db *db;
        const struct callers *callers;
        const struct node *nodes; /* in the order of compare_nodes, without node 0 */
        const uint32_t *first;    /* first child of each node, and an end mark */
        double latency_cycles;    /* over all samples; for timer samples: stall time */
        sqlite3_stmt *insert;
        struct diag *diag;
};

static int write_node(const struct writing *writing, const struct node *node,
                      int64_t caller_id, int64_t parent_id, int64_t depth)
{
        const struct callers *callers = writing->callers;
        const struct pair *pair = &callers->tree.pairs[node->number - 1];
        const struct frame *frame =
            &callers->frames[callers->function_frame[pair->second]];
        struct sums own = node->number < callers->own_capacity
                              ? callers->own[node->number]
                              : (struct sums){0};
        sqlite3_stmt *insert = writing->insert;
        sqlite3_bind_int64(insert, 1, caller_id);
        if (parent_id)
                sqlite3_bind_int64(insert, 2, parent_id);
        else
                sqlite3_bind_null(insert, 2);
        sqlite3_bind_int64(insert, 3, depth);
        sqlite3_bind_int64(insert, 4, frame->location_id);
        sqlite3_bind_int64(insert, 5, frame->depth);
        sqlite3_bind_int64(insert, 6, node->all.samples);
        sqlite3_bind_int64(insert, 7, own.samples);
        if (node->all.levels > 0)
                sqlite3_bind_int64(insert, 8, node->all.dram_samples);
        else
                sqlite3_bind_null(insert, 8);
        statement_bind_real(insert, 9,
                            node->all.latencies
                                ? node->all.latency_cycles / (double)node->all.latencies
                                : NAN);
        statement_bind_real(insert, 10,
                            node->all.latency_cycles / writing->latency_cycles);
        statement_bind_real(insert, 11, own.latency_cycles / writing->latency_cycles);
        statement_bind_real(insert, 12, stalled(callers, &node->all));
        statement_bind_real(insert, 13, stalled(callers, &own));
        sqlite3_bind_int64(insert, 14, node->all.levels);
        return statement_run(writing->db, insert, writing->diag);
}

/* Traversal state at one level: the next child to write, and the end of the children. */
struct step {
        uint32_t next;
        uint32_t end;
        int64_t caller_id;
};

/* Writes parents before children: readers rely on ascending caller_id. */
static int write_tree(const struct writing *writing, size_t node_count)
{
        struct step *levels = calloc(node_count + 2, sizeof(*levels));
        int64_t caller_id = 0;
        size_t depth = 0;
        int code = levels ? 0 : diag_no_memory(writing->diag);
        if (levels)
                levels[0] = (struct step){writing->first[0], writing->first[1], 0};
        while (code == 0) {
                struct step *level = &levels[depth];
                if (level->next == level->end) {
                        if (depth-- == 0)
                                break;
                        continue;
                }
                const struct node *node = &writing->nodes[level->next++];
                code = write_node(writing, node, ++caller_id, level->caller_id,
                                  (int64_t)depth);
                levels[++depth] =
                    (struct step){writing->first[node->number],
                                  writing->first[node->number + 1], caller_id};
        }
        free(levels);
        return code;
}

/* Children have higher numbers than their parents. */
static void sum_up(const struct callers *callers, struct node *nodes, struct sums *whole)
{
        for (size_t i = callers->tree.count; i-- > 0;) {
                struct node *node = &nodes[i];
                node->number = (uint32_t)i + 1;
                node->parent = callers->tree.pairs[i].first;
                if (node->number < callers->own_capacity)
                        add(&node->all, &callers->own[node->number]);
                add(node->parent ? &nodes[node->parent - 1].all : whole, &node->all);
        }
        if (callers->own_capacity)
                add(whole, &callers->own[0]);
}

static const char insert_sql[] =
    "INSERT INTO caller_finding SELECT ?1, ?2, ?3, m.path,"
    " iif(f.location_id IS NULL, l.function, f.function), ?6, ?7, ?8, ?9, ?10, ?11,"
    " iif(f.location_id IS NULL, l.function_offset, NULL), ?12, ?13, ?14 "
    "FROM (SELECT 1) LEFT JOIN location AS l ON l.location_id = ?4"
    " LEFT JOIN module AS m USING (module_id)"
    " LEFT JOIN inline_frame AS f ON f.location_id = ?4 AND f.depth = ?5";

/* Leaves NS unchanged if the run has no timer samples. */
static int timed_ns(struct db *db, double *ns, struct diag *diag)
{
        int64_t all_ns;
        int code = statement_number(db, "SELECT CAST(" STATEMENT_TIMED_NS "AS INTEGER)",
                                    &all_ns, diag);
        if (code >= 0 && all_ns > 0)
                *ns = (double)all_ns;
        return code < 0 ? code : 0;
}

static int store_tree(struct db *db, const struct callers *callers, struct diag *diag)
{
        size_t count = callers->tree.count;
        struct node *nodes = calloc(count + 1, sizeof(*nodes));
        uint32_t *first = calloc(count + 3, sizeof(*first));
        struct sums whole = {0};
        struct writing writing = {
            .db = db, .callers = callers, .nodes = nodes, .first = first, .diag = diag};
        int code = nodes && first
                       ? statement_prepare(db, insert_sql, &writing.insert, diag)
                       : diag_no_memory(diag);
        if (!code) {
                sum_up(callers, nodes, &whole);
                writing.latency_cycles = whole.latency_cycles;
                code = whole.latencies ? 0 : timed_ns(db, &writing.latency_cycles, diag);
        }
        if (!code) {
                if (count)
                        qsort(nodes, count, sizeof(*nodes), compare_nodes);
                for (size_t i = 0; i < count; i++)
                        first[nodes[i].parent + 1]++;
                for (size_t i = 0; i <= count; i++)
                        first[i + 1] += first[i];
                code = write_tree(&writing, count);
        }
        sqlite3_finalize(writing.insert);
        free(nodes);
        free(first);
        return code;
}

int callers_make(struct db *db, double loads_per_sample, double total_cycles,
                 struct diag *diag)
{
        struct callers callers = {.loads_per_sample = loads_per_sample,
                                  .loads_per_cycle = loads_per_sample / total_cycles,
                                  .functions = context_intern_new()};
        int code = callers.functions ? placing_read(db, &callers.placing, diag)
                                     : diag_no_memory(diag);
        if (!code)
                code = data_sources_read(db, &callers.sources, diag);
        if (!code)
                code = read_tree(db, &callers, diag);
        if (!code)
                code = store_tree(db, &callers, diag);
        placing_free(&callers.placing);
        data_sources_free(&callers.sources);
        free(callers.frames);
        free(callers.stacks);
        context_intern_free(callers.functions);
        free(callers.function_frame);
        free(callers.own);
        pairs_free(&callers.tree);
        return code;
}
