/* SPDX-License-Identifier: MIT */
/* A line and a column identify an expression of the source. A header and the items behind
 * it are two expressions. gcc may give both the column of an operator between them. The
 * line table repeats a statement for each of its copies, except in vector code. */
#include "unrolled.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "flow_operand.h"
#include "flow_walk.h"
#include "line_program.h"
#include "unit_kind.h"

enum { COPIES_LIMIT = 64, COMPARISONS_LIMIT = 1 << 22 };

/* An access to an item that an index counts. */
struct load {
        uint64_t vaddr;
        struct place_value place;
        uint32_t bytes;
        bool vector;
        struct line_answer source;
};

struct loads {
        const struct flow_walk *walk;
        LIST(struct load); /* by address */
        bool in_rows;      /* each copy of an expression has a separate row */
        size_t comparisons_left;
};

/* ---- candidates for copies ---- */

static uint64_t item_bytes(const struct loads *loads, const struct place_value *place)
{
        return type_size(loads->walk->context->types, place->type);
}

static bool counts_structures(const struct loads *loads, const struct place_value *place)
{
        const struct types *types = loads->walk->context->types;

        return place->kind == PLACE_POINTER && !place->guessed &&
               type_has_fields(types, place->type) && item_bytes(loads, place) > 0 &&
               !type_open_ended(types, place->type) &&
               item_bytes(loads, place) <= place->stride_bytes &&
               place->stride_bytes % item_bytes(loads, place) == 0;
}

static int add_load(struct loads *loads, struct flow_state *state,
                    const struct flow_step *step)
{
        const struct instruction *instruction = &step->instruction;
        const struct flow_context *flow = loads->walk->context;

        if (!instruction->has_memory || instruction->access_bytes == 0 ||
            instruction->memory.thread_local || instruction->repeated)
                return 0;
        struct flow_state before = *state;
        struct place_value place = flow_operand(flow, &before, step);

        if (!counts_structures(loads, &place))
                return 0;
        return PUSH(loads, (struct load){.vaddr = step->vaddr,
                                         .place = place,
                                         .bytes = instruction->access_bytes,
                                         .vector = instruction->vector});
}

static int find_loads(struct loads *loads)
{
        const struct flow_code *code = loads->walk->code;
        int error = 0;

        for (size_t i = 0; i < code->block_count && !error; i++) {
                const struct flow_block *block = &code->blocks[i];
                struct flow_state state = loads->walk->visits[i].entry;

                for (size_t at = 0; at < block->count && state.reached && !error; at++) {
                        const struct flow_step *step = &code->steps[block->first + at];

                        error = add_load(loads, &state, step);
                        flow_effect(loads->walk->context, &state, step);
                }
        }
        return error;
}

/* ---- expressions of the source ---- */

/* Fills in ANSWERS, COUNT addresses of one function in ascending order, from the line
 * program of the UNIT. A separate budget, and a few runs for each unit, bound the cost.
 * 0; -ENOENT: some are missing; -ENOMEM. */
static int run_lines(struct dwarf_file *dwarf, Dwarf_Die *unit,
                     struct line_answer *answers, size_t count)
{
        uint64_t budget = dwarf->budget;
        struct line_table table;

        if (dwarf->line_budget == 0)
                return -ENOENT;
        dwarf->budget = dwarf->line_budget;
        int error = die_line_table(dwarf, unit, &table);

        if (!error) {
                error = line_program_run(&table, answers, count, &dwarf->budget);
                line_table_free(&table);
        }
        dwarf->line_budget = dwarf->budget;
        dwarf->budget = budget;
        return !error && dwarf->line_budget == 0 ? -ENOENT : error;
}

static int find_lines(struct loads *loads)
{
        const struct flow_context *flow = loads->walk->context;
        struct line_answer *answers = calloc(loads->count, sizeof(*answers));

        if (!answers)
                return -ENOMEM;
        for (size_t i = 0; i < loads->count; i++)
                answers[i].vaddr = loads->items[i].vaddr;
        struct dwarf_file *dwarf = flow->reader->dwarf;
        Dwarf_Die unit;
        size_t number;
        int error = die_lines_unit(dwarf, flow->function, &unit, &number) &&
                            dwarf->units[number].line_runs++ < DWARF_LINE_RUNS
                        ? run_lines(dwarf, &unit, answers, loads->count)
                        : -ENOENT;

        for (size_t i = 0; i < loads->count && !error; i++)
                loads->items[i].source = answers[i];
        free(answers);
        loads->in_rows = function_in_rows(dwarf, flow->function);
        return error == -ENOMEM ? error : 0;
}

/* ---- copies ---- */

/* Whether A and B are loads of one expression, with the same kind of index. */
static bool same_expression(const struct load *a, const struct load *b)
{
        return a->source.file == b->source.file && a->source.line == b->source.line &&
               a->source.column == b->source.column && a->place.type == b->place.type &&
               a->place.origin == b->place.origin &&
               a->place.stride_bytes == b->place.stride_bytes && a->bytes == b->bytes &&
               a->vector == b->vector;
}

/* Whether a copy of LOAD has an index that starts at BEGIN. */
static bool begins_at(struct loads *loads, const struct load *load, int64_t begin)
{
        for (size_t i = 0; i < loads->count && loads->comparisons_left > 0;
             i++, loads->comparisons_left--)
                if (place_begin(&loads->items[i].place) == begin &&
                    (!loads->in_rows || &loads->items[i] == load ||
                     loads->items[i].source.row != load->source.row) &&
                    same_expression(&loads->items[i], load))
                        return true;
        return false;
}

/* Whether copies of LOAD read the first COPIES items, too. */
static bool has_copies(struct loads *loads, const struct load *load, uint64_t copies)
{
        int64_t bytes = (int64_t)item_bytes(loads, &load->place);
        int64_t first = place_begin(&load->place) % bytes;

        if (!load->source.found || load->source.column == 0 || copies > COPIES_LIMIT)
                return false;
        for (int64_t i = 0; i < (int64_t)copies; i++)
                if (!begins_at(loads, load, first + i * bytes))
                        return false;
        return true;
}

static void judge(struct loads *loads, struct flow_answer *answer)
{
        const struct load *load = NUMBER_FIND(loads->items, loads->count, answer->vaddr);

        if (!load || place_begin(&load->place) < 0)
                return;
        uint64_t bytes = item_bytes(loads, &load->place);
        uint64_t before = (uint64_t)place_begin(&load->place) / bytes;
        uint64_t counted = load->place.stride_bytes / bytes;

        if (!has_copies(loads, load,
                        answer->place.guessed && counted > before ? counted : before))
                return;
        answer->place.shifted = false;
        if (counted > before) {
                answer->place.guessed = false;
                answer->place.offset = load->place.offset;
        }
}

static bool is_asked(const struct flow_answer *answer)
{
        return answer->question == FLOW_OPERAND && answer->outcome == FLOW_FOUND &&
               answer->place.kind == PLACE_POINTER &&
               (answer->place.shifted ||
                (answer->place.guessed && answer->place.strided));
}

int unrolled_find(const struct flow_walk *walk, struct flow_answer *answers, size_t count)
{
        struct loads loads = {.walk = walk, .comparisons_left = COMPARISONS_LIMIT};
        bool asked = false;
        int error = 0;

        for (size_t i = 0; i < count; i++)
                asked |= is_asked(&answers[i]);
        if (asked)
                error = find_loads(&loads);
        if (!error && loads.count > 0)
                error = find_lines(&loads);
        for (size_t i = 0; i < count && !error && loads.count > 0; i++)
                if (is_asked(&answers[i]))
                        judge(&loads, &answers[i]);
        free(loads.items);
        return error;
}
