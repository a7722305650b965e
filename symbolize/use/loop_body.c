/* SPDX-License-Identifier: MIT */
/* The header of the innermost loop around a block is on every cycle through the block. So
 * the blocks of one cycle are tried, and the smallest loop is taken. */
#include "loop_body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
        ROUND_LIMIT = 4096,    /* instructions of an iteration */
        SEARCH_LIMIT = 1 << 20 /* blocks, gone over for each block of a cycle */
};

/* ---- paths ---- */

struct search {
        const struct flow_code *code;
        size_t *queue;
        size_t *parents; /* of reached blocks; SIZE_MAX: a first one */
        bool *reached;
};

static int search_open(struct search *search, const struct flow_code *code)
{
        const size_t count = code->block_count + 1;

        *search = (struct search){.code = code,
                                  .queue = malloc(count * sizeof(size_t)),
                                  .parents = malloc(count * sizeof(size_t)),
                                  .reached = calloc(count, sizeof(bool))};
        return search->queue && search->parents && search->reached ? 0 : -ENOMEM;
}

static void search_close(struct search *search)
{
        free(search->queue);
        free(search->parents);
        free(search->reached);
}

static void reach(struct search *search, size_t block, size_t parent, size_t *count)
{
        if (block == SIZE_MAX || search->reached[block])
                return;
        search->reached[block] = true;
        search->parents[block] = parent;
        search->queue[(*count)++] = block;
}

/* Reaches what follows the COUNT blocks of the queue, in breadth, but nothing behind
 * STOP. */
static void spread(struct search *search, size_t count, size_t stop)
{
        for (size_t at = 0; at < count; at++) {
                const size_t block = search->queue[at];

                for (int n = 0; n < 2 && block != stop; n++)
                        reach(search, search->code->blocks[block].next[n], block, &count);
        }
}

/* Reaches all blocks that a path leads to from outside of the loop of HEADER. */
static void spread_past(struct search *search, size_t entry, size_t header)
{
        size_t count = 0;

        memset(search->reached, 0, search->code->block_count * sizeof(bool));
        reach(search, header, SIZE_MAX, &count);
        count = 0;
        if (entry != header)
                reach(search, entry, SIZE_MAX, &count);
        for (size_t i = 0; i < search->code->block_count; i++)
                if (search->code->blocks[i].orphan)
                        reach(search, i, SIZE_MAX, &count);
        spread(search, count, header);
}

/* Sets INSIDE for the loop of HEADER: blocks that no path leads to past HEADER, and that
 * lead back to it. Returns their number. */
static size_t fill(struct search *search, size_t entry, size_t header, bool *inside)
{
        const struct flow_code *code = search->code;
        bool changed = true;
        size_t count = 0;

        spread_past(search, entry, header);
        memset(inside, 0, code->block_count * sizeof(bool));
        while (changed) {
                changed = false;
                for (size_t i = code->block_count; i-- > 0;) {
                        const size_t *next = code->blocks[i].next;

                        if (inside[i] || (search->reached[i] && i != header))
                                continue;
                        for (int n = 0; n < 2 && !inside[i]; n++)
                                inside[i] = next[n] != SIZE_MAX &&
                                            (next[n] == header || inside[next[n]]);
                        count += inside[i];
                        changed |= inside[i];
                }
        }
        return inside[header] ? count : 0;
}

/* ---- the loop ---- */

/* Sets the header of BODY; INSIDE is room for as many blocks as the code has. 0,
 * -E2BIG or -ENOMEM. */
static int choose(struct loop_body *body, struct search *search, size_t entry,
                  size_t block, bool *inside)
{
        const struct flow_code *code = body->code;
        size_t count = 0, least = SIZE_MAX, length = 0;

        for (int n = 0; n < 2; n++)
                reach(search, code->blocks[block].next[n], SIZE_MAX, &count);
        spread(search, count, block);
        if (!search->reached[block])
                return 0;
        size_t *cycle = malloc(code->block_count * sizeof(*cycle));

        if (!cycle)
                return -ENOMEM;
        for (size_t at = block; at != SIZE_MAX; at = search->parents[at])
                cycle[length++] = at;
        if (length * code->block_count > SEARCH_LIMIT) {
                free(cycle);
                return -E2BIG;
        }
        for (size_t i = 0; i < length; i++) {
                const size_t blocks = fill(search, entry, cycle[i], inside);

                if (blocks == 0 || blocks >= least || !inside[block])
                        continue;
                least = blocks;
                body->header = cycle[i];
                memcpy(body->inside, inside, code->block_count * sizeof(bool));
        }
        free(cycle);
        return 0;
}

int loop_body_find(struct loop_body *body, const struct flow_code *code, size_t entry,
                   size_t block)
{
        struct search search;
        bool *inside = calloc(code->block_count + 1, sizeof(*inside));
        int error = search_open(&search, code);

        *body = (struct loop_body){
            .code = code,
            .header = SIZE_MAX,
            .blocks = malloc((code->block_count + 1) * sizeof(size_t)),
            .inside = calloc(code->block_count + 1, sizeof(bool)),
        };
        if (!inside || !body->blocks || !body->inside)
                error = -ENOMEM;
        if (!error)
                error = choose(body, &search, entry, block, inside);
        for (size_t i = 0; !error && i < code->block_count; i++)
                if (body->inside[i])
                        body->blocks[body->block_count++] = i;
        search_close(&search);
        free(inside);
        return error;
}

void loop_body_free(struct loop_body *body)
{
        free(body->blocks);
        free(body->inside);
        *body = (struct loop_body){.header = SIZE_MAX};
}

/* ---- the shortest way round ---- */

static bool calls(const struct flow_code *code, size_t first, size_t count)
{
        for (size_t i = first; i < first + count; i++)
                if (code->steps[i].instruction.operation == OPERATION_CALL)
                        return true;
        return false;
}

/* Improves the distances AT of BODY's blocks from the start of block FROM, in
 * instructions; returns whether one became shorter. */
static bool shorten(const struct loop_body *body, size_t from, uint32_t *at)
{
        const struct flow_code *code = body->code;
        bool shorter = false;

        for (size_t i = 0; i < body->block_count; i++) {
                const size_t index = body->blocks[i];
                const struct flow_block *block = &code->blocks[index];
                const uint64_t end =
                    (index == from ? 0 : (uint64_t)at[index]) + block->count;

                if (end > ROUND_LIMIT || calls(code, block->first, block->count))
                        continue;
                for (int n = 0; n < 2; n++) {
                        const size_t next = block->next[n];

                        if (next == SIZE_MAX || !body->inside[next] || end >= at[next])
                                continue;
                        at[next] = (uint32_t)end;
                        shorter = true;
                }
        }
        return shorter;
}

uint32_t loop_body_shortest(const struct loop_body *body, size_t from)
{
        const size_t bytes = body->code->block_count * sizeof(uint32_t);
        uint32_t *at = malloc(bytes);
        int rounds = 0;

        if (!at)
                return 0;
        memset(at, 0xff, bytes); /* not reached */
        while (rounds < LOOP_BODY_WORK && shorten(body, from, at))
                rounds++;
        const uint32_t shortest =
            rounds == LOOP_BODY_WORK || at[from] == UINT32_MAX ? 0 : at[from];

        free(at);
        return shortest;
}
