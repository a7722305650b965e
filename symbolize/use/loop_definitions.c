/* SPDX-License-Identifier: MIT */
/* The header of the innermost loop around a block is on every cycle through the block.
 * Therefore the blocks of one cycle are tried as header, and the smallest loop wins. */
#include "loop_definitions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
        STEPS_LIMIT = 1 << 13,  /* only generated code has larger loops */
        ROUND_LIMIT = 4096,     /* instructions of an iteration */
        SEARCH_LIMIT = 1 << 20, /* blocks, read again for each block of a cycle */
        LOOP_BODY_WORK = 64     /* about how often it reads all blocks */
};

/* ---- paths ---- */

struct path_search {
        const struct flow_code *code;
        size_t *queue;
        size_t *parents; /* of reached blocks; SIZE_MAX: a start */
        bool *reached;
};

static int search_open(struct path_search *search, const struct flow_code *code)
{
        const size_t count = code->block_count + 1;

        *search = (struct path_search){.code = code,
                                       .queue = malloc(count * sizeof(size_t)),
                                       .parents = malloc(count * sizeof(size_t)),
                                       .reached = calloc(count, sizeof(bool))};
        return search->queue && search->parents && search->reached ? 0 : -ENOMEM;
}

static void search_close(struct path_search *search)
{
        free(search->queue);
        free(search->parents);
        free(search->reached);
}

static void reach(struct path_search *search, size_t block, size_t parent, size_t *count)
{
        if (block == SIZE_MAX || search->reached[block])
                return;
        search->reached[block] = true;
        search->parents[block] = parent;
        search->queue[(*count)++] = block;
}

/* Reaches the successors of the queue's COUNT blocks, but not behind STOP. */
static void spread(struct path_search *search, size_t count, size_t stop)
{
        for (size_t at = 0; at < count; at++) {
                const size_t block = search->queue[at];

                for (int n = 0; n < 2 && block != stop; n++)
                        reach(search, search->code->blocks[block].next[n], block, &count);
        }
}

/* Reaches all blocks that a path from outside leads to without passing HEADER. */
static void spread_past(struct path_search *search, size_t entry, size_t header)
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

/* Sets INSIDE for the loop of HEADER: blocks that every path reaches through HEADER and
 * that lead back to it. Returns their number. */
static size_t fill(struct path_search *search, size_t entry, size_t header, bool *inside)
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

/* Sets the header of BODY. INSIDE has room for all blocks of the code. 0, -E2BIG or
 * -ENOMEM. */
static int choose(struct loop_body *body, struct path_search *search, size_t entry,
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

/* Finds the innermost loop around BLOCK of CODE, a function that begins with block ENTRY.
 * 0, -E2BIG if that takes too long, or -ENOMEM; freed in any case. */
static int loop_body_find(struct loop_body *body, const struct flow_code *code,
                          size_t entry, size_t block)
{
        struct path_search search;
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

static void loop_body_free(struct loop_body *body)
{
        free(body->blocks);
        free(body->inside);
        *body = (struct loop_body){.header = SIZE_MAX};
}

/* ---- the shortest cycle ---- */

static bool calls(const struct flow_code *code, size_t first, size_t count)
{
        for (size_t i = first; i < first + count; i++)
                if (code->steps[i].instruction.operation == OPERATION_CALL)
                        return true;
        return false;
}

/* Improves AT, the distances of BODY's blocks from the start of block FROM in
 * instructions. Returns whether one became shorter. */
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

/* The fewest instructions on a cycle through block FROM of BODY. 0: every cycle calls a
 * function, or has too many instructions. */
static uint32_t loop_body_shortest(const struct loop_body *body, size_t from)
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

/* ---- the instructions of the loop ---- */

static int read_values(struct pattern_loop *loop)
{
        const struct flow_code *code = loop->body.code;
        size_t count = 0;

        for (size_t i = 0; i < loop->body.block_count; i++)
                count += code->blocks[loop->body.blocks[i]].count;
        if (count > STEPS_LIMIT)
                return 0;
        loop->first = calloc(code->block_count + 1, sizeof(*loop->first));
        loop->values = calloc(count + 1, sizeof(*loop->values));
        if (!loop->first || !loop->values)
                return -ENOMEM;
        count = 0;
        for (size_t i = 0; i < loop->body.block_count; i++) {
                const struct flow_block *block = &code->blocks[loop->body.blocks[i]];

                loop->first[loop->body.blocks[i]] = count;
                for (size_t k = 0; k < block->count; k++, count++) {
                        struct instruction_values *values = &loop->values[count];

                        if (!instruction_values_read(values, code,
                                                     &code->steps[block->first + k]))
                                values->unknown = true;
                        loop->written |= values->writes;
                }
        }
        return 0;
}

void pattern_loop_free(struct pattern_loop *loop)
{
        if (loop->known)
                loop_body_free(&loop->body);
        free(loop->values);
        free(loop->first);
        *loop = (struct pattern_loop){.work = loop->work};
}

int pattern_loop_enter(struct pattern_loop *loop, const struct flow_code *code,
                       size_t entry, size_t block)
{
        if (loop->known && loop->block == block)
                return 0;
        pattern_loop_free(loop);
        loop->known = true;
        loop->block = block;
        loop->work += LOOP_BODY_WORK * code->block_count;
        int error = loop_body_find(&loop->body, code, entry, block);

        if (!error && loop->body.header != SIZE_MAX)
                error = read_values(loop);
        if (!error && loop->values)
                loop->shortest = loop_body_shortest(&loop->body, block);
        if (error)
                pattern_loop_free(loop);
        return error;
}

/* ---- definitions ---- */

const struct instruction_values *loop_values_at(const struct pattern_loop *loop,
                                                size_t step)
{
        const size_t block = flow_code_block(loop->body.code, step);

        return &loop->values[loop->first[block] + step -
                             loop->body.code->blocks[block].first];
}

bool loop_is_slot(const struct pattern_loop *loop, size_t step)
{
        const struct instruction_values *values = loop_values_at(loop, step);

        return loop->body.code->steps[step].instruction.has_memory &&
               (values->reads_memory || values->writes_memory) &&
               !(values->address & loop->written);
}

static bool same_operand(const struct pattern_loop *loop, size_t a, size_t b)
{
        const struct memory_operand *x = &loop->body.code->steps[a].instruction.memory;
        const struct memory_operand *y = &loop->body.code->steps[b].instruction.memory;

        return x->base == y->base && x->index == y->index && x->scale == y->scale &&
               x->displacement == y->displacement && x->thread_local == y->thread_local;
}

static bool defines(const struct loop_search *search, size_t step,
                    const struct instruction_values *values)
{
        if (search->subject.value != VALUE_MEMORY)
                return values->writes >> search->subject.value & 1;
        return values->writes_memory && loop_is_slot(search->loop, step) &&
               same_operand(search->loop, step, search->subject.step);
}

static void look_through(struct loop_search *search, size_t block)
{
        if (search->seen[block])
                return;
        search->seen[block] = true;
        search->blocks[search->count++] = block;
}

static void spend(struct loop_search *search, uint64_t work)
{
        search->work_left -= work < search->work_left ? work : search->work_left;
}

/* Looks also in BLOCK's predecessors. Reading an edge is little work. */
static void look_before(struct loop_search *search, size_t block)
{
        const struct loop_body *body = &search->loop->body;

        spend(search, body->block_count / 8);
        for (size_t i = 0; i < body->block_count; i++) {
                const size_t *next = body->code->blocks[body->blocks[i]].next;

                if (next[0] == block || next[1] == block)
                        look_through(search, body->blocks[i]);
        }
}

/* Searches BLOCK backwards from STEP, then the blocks before it. */
static void look_in(struct loop_search *search, size_t block, size_t step,
                    struct loop_definitions *found)
{
        const struct pattern_loop *loop = search->loop;
        const size_t first = loop->body.code->blocks[block].first;
        const struct instruction_values *values = &loop->values[loop->first[block]];

        spend(search, step - first + 1);
        while (step-- > first) {
                if (!defines(search, step, &values[step - first]))
                        continue;
                found->mixed |= found->step != SIZE_MAX && found->step != step;
                found->step = step;
                return;
        }
        if (block == loop->body.header)
                search->reached_top = true;
        else
                look_before(search, block);
}

static void look_on(struct loop_search *search, struct loop_definitions *found)
{
        const struct flow_code *code = search->loop->body.code;

        for (size_t at = 0; at < search->count; at++) {
                const struct flow_block *block = &code->blocks[search->blocks[at]];

                look_in(search, search->blocks[at], block->first + block->count, found);
        }
        found->mixed |= search->reached_top && found->step != SIZE_MAX;
}

struct loop_definitions loop_definitions_of(struct loop_search *search,
                                            struct loop_subject subject, size_t step)
{
        struct loop_definitions found = {.step = SIZE_MAX};
        const struct loop_body *body = &search->loop->body;

        search->subject = subject;
        for (int before = 0; before < 2; before++) {
                memset(search->seen, 0, body->code->block_count * sizeof(bool));
                search->count = 0;
                search->reached_top = false;
                if (before)
                        look_before(search, body->header);
                else
                        look_in(search, flow_code_block(body->code, step), step, &found);
                look_on(search, &found);
                found.before = before;
                if (found.step != SIZE_MAX || !search->reached_top)
                        break;
        }
        return found;
}

int loop_search_begin(struct loop_search *search, struct pattern_loop *loop,
                      uint64_t work)
{
        const size_t blocks = loop->body.code->block_count + 1;

        *search = (struct loop_search){.loop = loop,
                                       .blocks = malloc(blocks * sizeof(size_t)),
                                       .seen = malloc(blocks * sizeof(bool)),
                                       .work_left = work};
        return search->blocks && search->seen ? 0 : -ENOMEM;
}

void loop_search_end(struct loop_search *search)
{
        free(search->blocks);
        free(search->seen);
}
