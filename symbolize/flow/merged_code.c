/* SPDX-License-Identifier: MIT */
/* The end of one variable's block jumps into the code of another's, which is entered
 * there in its midst, or had another way in. Where it is the next in order instead, what
 * the first one left is of no use: the second is written before it is read. */
#include "merged_code.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "flow_effect.h"

/* Variables that share, steps times pairs of them, and ranges that are added: what is
 * beyond that is not told apart. */
enum { SHARERS_LIMIT = 64, WORK_LIMIT = 1 << 26, RANGES_LIMIT = 1 << 12 };

enum { INSIDE = 1, TOUCHED = 2 };

/* A variable that lies where another one does, too. */
struct sharer {
        size_t first; /* in variables.frames: its ranges */
        size_t count;
        uint8_t *steps; /* INSIDE its blocks, where it is TOUCHED */
        bool touched;   /* in code of its own, or before */
        bool leads;     /* this, to code of another that may be merged */
};

/* Whose block code is of two variables'. */
enum owner { OWNER_OTHER, OWNER_HERE, OWNER_THERE };

/* Whether code of HERE's may be THERE's as well, from a block on. */
enum doubt { DOUBT_NONE, DOUBT_UNTIL_TOUCHED, DOUBT_ALWAYS };

struct search {
        const struct flow_walk *walk;
        struct variables *variables;
        struct sharer sharers[SHARERS_LIMIT];
        size_t sharer_count; /* may be more than there is room for */
        size_t range_count;  /* of the variables, before any are added */
        size_t work;
        uint32_t *ways_in; /* of each block */
        /* of the pair in work */
        struct sharer *here;
        struct sharer *there;
        uint8_t *first; /* owner of each block's first step that has one */
        uint8_t *last;
        uint8_t *doubts;
        uint8_t *reached; /* INSIDE: on some way, TOUCHED: after HERE was touched */
        uint8_t *marks;   /* of each step: it may be THERE's */
        size_t *stack;
};

static const struct frame_variable *variable_of(const struct search *search,
                                                const struct sharer *sharer)
{
        return &search->variables->frames[sharer->first];
}

/* ---- who shares ---- */

static uint64_t bytes_of(const struct search *search,
                         const struct frame_variable *variable)
{
        return search->walk->context->input->reader->types->items[variable->type]
            .size_bytes;
}

static bool overlap(const struct search *search, const struct frame_variable *a,
                    const struct frame_variable *b)
{
        return a->in_frame == b->in_frame && (a->in_frame || a->reg == b->reg) &&
               ((uint64_t)b->offset - (uint64_t)a->offset < bytes_of(search, a) ||
                (uint64_t)a->offset - (uint64_t)b->offset < bytes_of(search, b));
}

/* The number of ranges of the variable whose first is number FIRST. */
static size_t ranges_from(const struct variables *variables, size_t first)
{
        size_t end = first + 1;

        while (end < variables->frame_count &&
               variables->frames[end].number == variables->frames[first].number)
                end++;
        return end - first;
}

/* By what their places count from, and then by these. */
static int compare_places(const void *left, const void *right)
{
        const struct frame_variable *a = *(const struct frame_variable *const *)left;
        const struct frame_variable *b = *(const struct frame_variable *const *)right;

        if (a->in_frame != b->in_frame)
                return a->in_frame - b->in_frame;
        if (!a->in_frame && a->reg != b->reg)
                return a->reg - b->reg;
        return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Calls EACH for the first range of every variable of LIST, COUNT in order of place, that
 * shares its place. */
static void visit_sharers(struct search *search, struct frame_variable **list,
                          size_t count, void (*each)(struct search *, size_t first))
{
        size_t widest = 0;
        bool told = false;

        for (size_t i = 1; i < count; i++) {
                if (overlap(search, list[widest], list[i])) {
                        if (!told)
                                each(search,
                                     (size_t)(list[widest] - search->variables->frames));
                        each(search, (size_t)(list[i] - search->variables->frames));
                        told = true;
                        if ((uint64_t)list[i]->offset - (uint64_t)list[widest]->offset +
                                bytes_of(search, list[i]) <=
                            bytes_of(search, list[widest]))
                                continue;
                } else {
                        told = false;
                }
                widest = i;
        }
}

static void add_sharer(struct search *search, size_t first)
{
        if (search->sharer_count < SHARERS_LIMIT)
                search->sharers[search->sharer_count] = (struct sharer){
                    .first = first, .count = ranges_from(search->variables, first)};
        search->sharer_count++;
}

/* Of all that share their places none is told. */
static void leave_open(struct search *search, size_t first)
{
        size_t count = ranges_from(search->variables, first);

        for (size_t i = first; i < first + count; i++)
                search->variables->frames[i].shared = true;
}

static int each_sharer(struct search *search, void (*each)(struct search *, size_t first))
{
        struct variables *variables = search->variables;
        struct frame_variable **list = malloc((search->range_count + 1) * sizeof(*list));
        size_t count = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < search->range_count; i += ranges_from(variables, i))
                if (variables->frames[i].scoped && !variables->frames[i].shared)
                        list[count++] = &variables->frames[i];
        if (count > 1)
                qsort(list, count, sizeof(*list), compare_places);
        visit_sharers(search, list, count, each);
        free(list);
        return 0;
}

/* ---- where they are touched ---- */

static int mark_inside(struct search *search)
{
        const struct flow_code *code = search->walk->code;

        for (size_t i = 0; i < search->sharer_count; i++) {
                struct sharer *sharer = &search->sharers[i];

                sharer->steps = calloc(code->step_count + 1, 1);
                if (!sharer->steps)
                        return -ENOMEM;
                for (size_t r = 0; r < sharer->count; r++) {
                        const struct frame_variable *range =
                            &search->variables->frames[sharer->first + r];

                        for (size_t at = flow_code_from(code, range->low);
                             at < code->step_count && code->steps[at].vaddr < range->high;
                             at++)
                                sharer->steps[at] |= INSIDE;
                }
        }
        return 0;
}

/* An inlined function's parameter is written before the code that counts as that
 * function's, in code that is in no such block. */
static void touch_before(struct search *search, const struct flow_state *state,
                         const struct place_value *place)
{
        struct sharer *only = NULL;
        int64_t offset;

        for (size_t i = 0; i < search->sharer_count; i++) {
                struct sharer *sharer = &search->sharers[i];
                const struct frame_variable *variable = variable_of(search, sharer);

                if (!variable->parameter || !flow_state_in(search->walk->context, state,
                                                           place, variable, &offset))
                        continue;
                if (only) /* it may be the other's */
                        return;
                only = sharer;
        }
        if (only)
                only->touched = true;
}

static void touch(struct search *search, const struct flow_state *state,
                  const struct place_value *place, size_t step)
{
        bool owned = false;
        int64_t offset;

        if (!place_in_frame(place))
                return;
        for (size_t i = 0; i < search->sharer_count; i++) {
                const struct sharer *sharer = &search->sharers[i];

                if (!(sharer->steps[step] & INSIDE))
                        continue;
                owned = true;
                if (flow_state_in(search->walk->context, state, place,
                                  variable_of(search, sharer), &offset))
                        sharer->steps[step] |= TOUCHED;
        }
        if (!owned)
                touch_before(search, state, place);
}

/* What STEP reads or writes, or hands to the function that it calls. */
static void touch_by(struct search *search, struct flow_state *state, size_t step)
{
        static const uint8_t arguments[] = {REGISTER_RDI, REGISTER_RSI, 1, 2, 8, 9};
        const struct flow_context *flow = search->walk->context;
        const struct flow_step *at = &search->walk->code->steps[step];

        if (at->instruction.has_memory && at->instruction.access_bytes > 0) {
                struct place_value place = flow_state_operand(flow, state, at);

                touch(search, state, &place, step);
        }
        for (size_t i = 0;
             i < sizeof(arguments) && at->instruction.operation == OPERATION_CALL; i++)
                touch(search, state, &state->registers[arguments[i]], step);
}

static void mark_touched(struct search *search)
{
        const struct flow_walk *walk = search->walk;

        for (size_t b = 0; b < walk->code->block_count; b++) {
                const struct flow_block *block = &walk->code->blocks[b];
                struct flow_state state = walk->visits[b].entry;

                for (size_t i = 0; i < block->count && state.reached; i++) {
                        touch_by(search, &state, block->first + i);
                        flow_effect(walk->context, &state,
                                    &walk->code->steps[block->first + i]);
                }
        }
}

/* ---- two of them ---- */

/* Of blocks of which one is within the other, code is the inner one's. */
static enum owner owner_of(const struct search *search, size_t step)
{
        bool here = search->here->steps[step] & INSIDE;
        bool there = search->there->steps[step] & INSIDE;
        uint16_t depth_here = variable_of(search, search->here)->depth;
        uint16_t depth_there = variable_of(search, search->there)->depth;

        if (here && there)
                return depth_here > depth_there   ? OWNER_HERE
                       : depth_there > depth_here ? OWNER_THERE
                                                  : OWNER_OTHER;
        return here ? OWNER_HERE : there ? OWNER_THERE : OWNER_OTHER;
}

static bool touches_here(const struct search *search, size_t step)
{
        return search->here->steps[step] & TOUCHED &&
               owner_of(search, step) == OWNER_HERE;
}

/* Whose each block's code is, and whether THERE is touched in its own. */
static void find_owners(struct search *search)
{
        const struct flow_code *code = search->walk->code;

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
                            owner == OWNER_THERE && search->there->steps[step] & TOUCHED;
                }
        }
}

/* Whether BLOCK is also led to, without having been there before, from code of HERE's
 * that has touched it. */
static bool is_joined(struct search *search, size_t joined)
{
        const struct flow_code *code = search->walk->code;
        size_t waiting = 0;
        bool found = false;

        search->work += code->block_count;
        if (search->work > WORK_LIMIT)
                return true;
        memset(search->reached, 0, code->block_count);
        for (size_t b = 0; b < code->block_count; b++)
                if (b != joined &&
                    (search->ways_in[b] == 0 || b == search->walk->entry)) {
                        search->reached[b] = INSIDE;
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

/* Marks what of BLOCK is in doubt, and returns how much of what follows is. */
static enum doubt mark_block(const struct search *search, size_t block)
{
        const struct flow_block *at = &search->walk->code->blocks[block];
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

/* Whether THERE's block number BLOCK leads to its successor NEXT, which is not its own
 * and may be merged code: others lead there, too. */
static bool leads(const struct search *search, size_t block, size_t next)
{
        return search->last[block] == OWNER_THERE && next != SIZE_MAX &&
               search->ways_in[next] > 1 && search->first[next] != OWNER_THERE;
}

static bool leads_anywhere(const struct search *search)
{
        const struct flow_block *blocks = search->walk->code->blocks;

        for (size_t b = 0; b < search->walk->code->block_count; b++)
                if (leads(search, b, blocks[b].next[0]) ||
                    leads(search, b, blocks[b].next[1]))
                        return true;
        return false;
}

static void find_joins(struct search *search)
{
        const struct flow_code *code = search->walk->code;
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

/* Adds what is marked to THERE's ranges. */
static int add_marked(struct search *search, bool *found)
{
        const struct flow_code *code = search->walk->code;
        const struct frame_variable variable = *variable_of(search, search->there);
        int error = 0;

        for (size_t i = 0; i < code->step_count && !error; i++) {
                if (!search->marks[i])
                        continue;
                uint64_t low = code->steps[i].vaddr;

                while (i + 1 < code->step_count && search->marks[i + 1])
                        i++;
                *found = true;
                error = add_range(search->variables, &variable, low,
                                  code->steps[i].vaddr +
                                      code->steps[i].instruction.length_bytes);
        }
        return error;
}

static void begin_pair(struct search *search, size_t pair)
{
        search->here = &search->sharers[pair / search->sharer_count];
        search->there = &search->sharers[pair % search->sharer_count];
}

/* Whether the two share a place, and are not called the same. */
static bool differ(const struct search *search)
{
        const struct frame_variable *here = variable_of(search, search->here);
        const struct frame_variable *there = variable_of(search, search->there);

        return here != there && overlap(search, here, there) &&
               !variables_called_same(here, there);
}

/* A variable that is not touched in its own blocks is in another's. When these lead
 * nowhere that may be merged code, any other's may be. */
static int compare_pair(struct search *search, bool *found)
{
        const struct flow_code *code = search->walk->code;

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
        const struct flow_code *code = search->walk->code;
        size_t blocks = code->block_count + 1;

        search->ways_in = calloc(blocks, sizeof(*search->ways_in));
        search->first = calloc(blocks, 3);
        search->reached = calloc(blocks, 1);
        search->marks = calloc(code->step_count + 1, 1);
        /* A block waits at most twice: as often as more is known of it. */
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
        return mark_inside(search);
}

/* The function is entered from outside, too. */
static void count_entry(const struct search *search)
{
        if (search->walk->entry != SIZE_MAX)
                search->ways_in[search->walk->entry]++;
}

static int compare_pairs(struct search *search, bool *found)
{
        size_t pairs = search->sharer_count * search->sharer_count;
        int error = 0;

        count_entry(search);
        mark_touched(search);
        for (size_t i = 0; i < pairs; i++) {
                begin_pair(search, i);
                if (!differ(search))
                        continue;
                find_owners(search);
                search->there->leads |= leads_anywhere(search);
        }
        for (size_t i = 0;
             i < pairs && !error &&
             search->variables->frame_count - search->range_count <= RANGES_LIMIT;
             i++) {
                begin_pair(search, i);
                if (differ(search))
                        error = compare_pair(search, found);
        }
        return error;
}

static bool too_much(const struct search *search)
{
        return search->sharer_count > SHARERS_LIMIT || search->walk->code->step_count *
                                                               search->sharer_count *
                                                               search->sharer_count >
                                                           WORK_LIMIT;
}

static void search_free(struct search *search)
{
        for (size_t i = 0; i < search->sharer_count && i < SHARERS_LIMIT; i++)
                free(search->sharers[i].steps);
        free(search->ways_in);
        free(search->first);
        free(search->reached);
        free(search->marks);
        free(search->stack);
}

int merged_code_find(const struct flow_walk *walk, struct variables *variables,
                     bool *found)
{
        struct search search = {
            .walk = walk, .variables = variables, .range_count = variables->frame_count};
        int error = each_sharer(&search, add_sharer);

        *found = false;
        if (!error && search.sharer_count > 0 && !too_much(&search)) {
                error = prepare(&search);
                if (!error)
                        error = compare_pairs(&search, found);
        }
        if (!error && (too_much(&search) ||
                       variables->frame_count - search.range_count > RANGES_LIMIT)) {
                variables->frame_count = search.range_count;
                error = each_sharer(&search, leave_open);
                *found = true;
        }
        search_free(&search);
        return error;
}
