/* SPDX-License-Identifier: MIT */
/* The end of one variable's block jumps into the code of another's, which is entered
 * there in its middle, or had another way in. If the second block only follows in memory,
 * it writes the variable before it reads it. */
#include "merged_code.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "place_sharers.h"

/* Steps times pairs of variables, and added ranges; larger functions stay unresolved. */
enum { WORK_LIMIT = 1 << 26, RANGES_LIMIT = 1 << 12 };

/* Whose block code is of two variables'. */
enum owner { OWNER_OTHER, OWNER_HERE, OWNER_THERE };

/* Whether code of HERE's may be THERE's as well, from a block on. */
enum doubt { DOUBT_NONE, DOUBT_UNTIL_TOUCHED, DOUBT_ALWAYS };

enum { REACHED = 1, TOUCHED = 2 };

struct search {
        struct place_sharers sharers;
        size_t work;
        uint32_t *ways_in; /* of each block */
        /* of the pair in work */
        struct sharer *here;
        struct sharer *there;
        uint8_t *first; /* owner of each block's first step that has one */
        uint8_t *last;
        uint8_t *doubts;
        uint8_t *reached; /* REACHED on some way, TOUCHED: after HERE was */
        uint8_t *marks;   /* of each step: it may be THERE's */
        size_t *stack;
};

/* ---- a pair ---- */

/* If one block contains the other, the code belongs to the inner one. */
static enum owner owner_of(const struct search *search, size_t step)
{
        bool here = search->here->steps[step] & SHARER_INSIDE;
        bool there = search->there->steps[step] & SHARER_INSIDE;
        uint16_t depth_here =
            place_sharer_variable(&search->sharers, search->here)->depth;
        uint16_t depth_there =
            place_sharer_variable(&search->sharers, search->there)->depth;

        if (here && there)
                return depth_here > depth_there   ? OWNER_HERE
                       : depth_there > depth_here ? OWNER_THERE
                                                  : OWNER_OTHER;
        return here ? OWNER_HERE : there ? OWNER_THERE : OWNER_OTHER;
}

static bool touches_here(const struct search *search, size_t step)
{
        return search->here->steps[step] & SHARER_TOUCHED &&
               owner_of(search, step) == OWNER_HERE;
}

/* Finds the owner of each block's code, and whether code of THERE touches it. */
static void find_owners(struct search *search)
{
        const struct flow_code *code = search->sharers.walk->code;

        for (size_t b = 0; b < code->block_count; b++) {
                search->first[b] = search->last[b] = OWNER_OTHER;
                search->doubts[b] = DOUBT_NONE;
                for (size_t i = 0; i < code->blocks[b].count; i++) {
                        size_t step = code->blocks[b].first + i;
                        enum owner owner = owner_of(search, step);

                        if (owner == OWNER_OTHER)
                                continue;
                        if (search->first[b] == OWNER_OTHER)
                                search->first[b] = (uint8_t)owner;
                        search->last[b] = (uint8_t)owner;
                        search->there->touched |=
                            owner == OWNER_THERE &&
                            search->there->steps[step] & SHARER_TOUCHED;
                }
        }
}

/* Whether BLOCK is also led to, without having been there before, from code of HERE's
 * that has touched it. */
static bool is_joined(struct search *search, size_t joined)
{
        const struct flow_code *code = search->sharers.walk->code;
        size_t waiting = 0;
        bool found = false;

        search->work += code->block_count;
        if (search->work > WORK_LIMIT)
                return true;
        memset(search->reached, 0, code->block_count);
        for (size_t b = 0; b < code->block_count; b++)
                if (b != joined &&
                    (search->ways_in[b] == 0 || b == search->sharers.walk->entry)) {
                        search->reached[b] = REACHED;
                        search->stack[waiting++] = b;
                }
        while (waiting > 0 && !found) {
                size_t b = search->stack[--waiting];
                uint8_t reached = search->reached[b];

                for (size_t i = 0; i < code->blocks[b].count && !(reached & TOUCHED); i++)
                        if (touches_here(search, code->blocks[b].first + i))
                                reached |= TOUCHED;
                for (int n = 0; n < 2; n++) {
                        size_t next = code->blocks[b].next[n];

                        if (next == joined)
                                found |=
                                    reached & TOUCHED && search->last[b] != OWNER_THERE;
                        if (next == SIZE_MAX || next == joined ||
                            (search->reached[next] | reached) == search->reached[next])
                                continue;
                        search->reached[next] |= reached;
                        search->stack[waiting++] = next;
                }
        }
        return found;
}

static void doubt(struct search *search, size_t block, enum doubt doubt, size_t *waiting)
{
        if (search->first[block] != OWNER_HERE || search->doubts[block] >= doubt)
                return;
        search->doubts[block] = (uint8_t)doubt;
        search->stack[(*waiting)++] = block;
}

/* Marks the doubtful part of BLOCK, and returns the doubt about its successors. */
static enum doubt mark_block(const struct search *search, size_t block)
{
        const struct flow_block *at = &search->sharers.walk->code->blocks[block];
        enum doubt left = (enum doubt)search->doubts[block];

        for (size_t step = at->first; step < at->first + at->count && left; step++) {
                enum owner owner = owner_of(search, step);

                if (owner == OWNER_THERE)
                        left = DOUBT_NONE;
                if (owner != OWNER_HERE)
                        continue;
                search->marks[step] = 1;
                if (left == DOUBT_UNTIL_TOUCHED && touches_here(search, step))
                        left = DOUBT_NONE;
        }
        return search->last[block] == OWNER_HERE ? left : DOUBT_NONE;
}

/* Whether block number BLOCK of THERE leads to NEXT, a successor that may be merged code:
 * it is not THERE's, and other blocks lead there, too. */
static bool leads(const struct search *search, size_t block, size_t next)
{
        return search->last[block] == OWNER_THERE && next != SIZE_MAX &&
               search->ways_in[next] > 1 && search->first[next] != OWNER_THERE;
}

static bool leads_anywhere(const struct search *search)
{
        const struct flow_block *blocks = search->sharers.walk->code->blocks;

        for (size_t b = 0; b < search->sharers.walk->code->block_count; b++)
                if (leads(search, b, blocks[b].next[0]) ||
                    leads(search, b, blocks[b].next[1]))
                        return true;
        return false;
}

static void find_joins(struct search *search)
{
        const struct flow_code *code = search->sharers.walk->code;
        bool touched = search->there->touched;
        size_t waiting = 0;

        for (size_t b = 0; b < code->block_count; b++)
                for (int n = 0; n < 2; n++) {
                        size_t next = code->blocks[b].next[n];

                        if (leads(search, b, next) && search->first[next] == OWNER_HERE &&
                            search->doubts[next] == DOUBT_NONE)
                                search->doubts[next] = touched && !is_joined(search, next)
                                                           ? DOUBT_UNTIL_TOUCHED
                                                           : DOUBT_ALWAYS;
                }
        for (size_t b = 0; b < code->block_count; b++)
                if (search->doubts[b] != DOUBT_NONE)
                        search->stack[waiting++] = b;
        while (waiting > 0) {
                size_t b = search->stack[--waiting];
                enum doubt left = mark_block(search, b);

                for (int n = 0; n < 2; n++)
                        if (code->blocks[b].next[n] != SIZE_MAX)
                                doubt(search, code->blocks[b].next[n], left, &waiting);
        }
}

static int add_range(struct variables *variables, const struct frame_variable *of,
                     uint64_t low, uint64_t high)
{
        struct frame_variable range = *of;

        range.low = low;
        range.high = high;
        range.shared = true;
        if (array_reserve(&variables->frames, &variables->frame_capacity,
                          variables->frame_count, sizeof(*variables->frames)) < 0)
                return -ENOMEM;
        variables->frames[variables->frame_count++] = range;
        return 0;
}

/* Adds the marked ranges to THERE's. */
static int add_marked(struct search *search, bool *found)
{
        const struct flow_code *code = search->sharers.walk->code;
        const struct frame_variable variable =
            *place_sharer_variable(&search->sharers, search->there);
        int error = 0;

        for (size_t i = 0; i < code->step_count && !error; i++) {
                if (!search->marks[i])
                        continue;
                uint64_t low = code->steps[i].vaddr;

                while (i + 1 < code->step_count && search->marks[i + 1])
                        i++;
                *found = true;
                error = add_range(search->sharers.variables, &variable, low,
                                  code->steps[i].vaddr +
                                      code->steps[i].instruction.length_bytes);
        }
        return error;
}

static void begin_pair(struct search *search, size_t pair)
{
        search->here = &search->sharers.items[pair / search->sharers.count];
        search->there = &search->sharers.items[pair % search->sharers.count];
}

/* Whether the two share a place, and are not called the same. */
static bool differ(const struct search *search)
{
        const struct frame_variable *here =
            place_sharer_variable(&search->sharers, search->here);
        const struct frame_variable *there =
            place_sharer_variable(&search->sharers, search->there);

        return here != there && place_sharers_overlap(&search->sharers, here, there) &&
               !variables_called_same(here, there);
}

/* A variable that its own blocks do not touch is in another's code. If its blocks lead to
 * no merged code, it may be in any. */
static int compare_pair(struct search *search, bool *found)
{
        const struct flow_code *code = search->sharers.walk->code;

        memset(search->marks, 0, code->step_count);
        find_owners(search);
        if (search->there->touched || search->there->leads)
                find_joins(search);
        else
                for (size_t i = 0; i < code->step_count; i++)
                        search->marks[i] = owner_of(search, i) == OWNER_HERE;
        return add_marked(search, found);
}

/* ---- all ---- */

static int prepare(struct search *search)
{
        const struct flow_code *code = search->sharers.walk->code;
        size_t blocks = code->block_count + 1;

        search->ways_in = calloc(blocks, sizeof(*search->ways_in));
        search->first = calloc(blocks, 3);
        search->reached = calloc(blocks, 1);
        search->marks = calloc(code->step_count + 1, 1);
        /* A block waits at most twice: its facts can grow only as often. */
        search->stack = calloc(blocks, 3 * sizeof(*search->stack));
        if (!search->ways_in || !search->first || !search->reached || !search->marks ||
            !search->stack)
                return -ENOMEM;
        search->last = search->first + blocks;
        search->doubts = search->last + blocks;
        for (size_t b = 0; b < code->block_count; b++)
                for (int n = 0; n < 2; n++)
                        if (code->blocks[b].next[n] != SIZE_MAX)
                                search->ways_in[code->blocks[b].next[n]]++;
        return place_sharers_mark(&search->sharers);
}

/* The function is entered from outside, too. */
static void count_entry(const struct search *search)
{
        if (search->sharers.walk->entry != SIZE_MAX)
                search->ways_in[search->sharers.walk->entry]++;
}

static int compare_pairs(struct search *search, bool *found)
{
        size_t pairs = search->sharers.count * search->sharers.count;
        int error = 0;

        count_entry(search);
        for (size_t i = 0; i < pairs; i++) {
                begin_pair(search, i);
                if (!differ(search))
                        continue;
                find_owners(search);
                search->there->leads |= leads_anywhere(search);
        }
        for (size_t i = 0;
             i < pairs && !error &&
             search->sharers.variables->frame_count - search->sharers.range_count <=
                 RANGES_LIMIT;
             i++) {
                begin_pair(search, i);
                if (differ(search))
                        error = compare_pair(search, found);
        }
        return error;
}

static bool too_much(const struct search *search)
{
        return search->sharers.count > SHARERS_LIMIT ||
               search->sharers.walk->code->step_count * search->sharers.count *
                       search->sharers.count >
                   WORK_LIMIT;
}

static void search_free(struct search *search)
{
        place_sharers_free(&search->sharers);
        free(search->ways_in);
        free(search->first);
        free(search->reached);
        free(search->marks);
        free(search->stack);
}

int merged_code_find(const struct flow_walk *walk, struct variables *variables,
                     bool *found)
{
        struct search search = {.sharers = {.walk = walk, .variables = variables}};
        int error = place_sharers_find(&search.sharers);

        *found = false;
        if (!error && search.sharers.count > 0 && !too_much(&search)) {
                error = prepare(&search);
                if (!error)
                        error = compare_pairs(&search, found);
        }
        if (!error &&
            (too_much(&search) ||
             variables->frame_count - search.sharers.range_count > RANGES_LIMIT)) {
                variables->frame_count = search.sharers.range_count;
                error = place_sharers_leave_open(&search.sharers);
                *found = true;
        }
        search_free(&search);
        return error;
}
