/* SPDX-License-Identifier: MIT */
/* Reads the functions of a unit that contain the addresses, once, into a flat map.
 * Answers from the map, and frees it. */
#include "code_unit.h"

#include <errno.h>
#include <string.h>

#include "append.h"
#include "declared.h"
#include "die_walk.h"
#include "line_program.h"
#include "unit_kind.h"

/* A function, or a function inlined into NODE number outer. */
struct node {
        Dwarf_Die die;
        uint32_t outer; /* index + 1; 0: not inlined */
        struct code_name name;
        struct code_frame call; /* the call, if it is inlined */
        bool named;
        bool call_known;
        bool local; /* of a class inside a function */
};

/* The traversal passes a value from an entry to its children. It holds the innermost
 * wanted function with code, as node.outer, and whether the entry is inside a function
 * at all. */
#define INSIDE_FUNCTION UINT32_C(0x80000000)

struct unit {
        const struct code_reader *with;
        const struct code_question *asked; /* by address */
        size_t asked_count;
        struct line_answer *answers; /* of the places, by address */
        struct code_entries entries;
        LIST(struct node) nodes;
        struct range_map functions; /* value: index in nodes */
        bool assembler;             /* the unit's language */
        bool classes_declare;       /* classes outside of functions contain no code */
};

/* ---- ranges ---- */

struct asked_ranges {
        struct code_ranges ranges;
        const struct unit *unit;
};

/* Whether a question's address is from LOW up to HIGH. */
static bool is_asked(const struct unit *unit, uint64_t low, uint64_t high)
{
        size_t from = NUMBER_FROM(unit->asked, unit->asked_count, low);

        return from < unit->asked_count && unit->asked[from].vaddr < high;
}

int code_ranges_add(void *context, uint64_t low, uint64_t high)
{
        const struct code_ranges *ranges = context;

        return elf_file_has_code(ranges->file, low)
                   ? range_map_add(ranges->map, low, high, ranges->value)
                   : 0;
}

static int add_asked_range(void *context, uint64_t low, uint64_t high)
{
        struct asked_ranges *asked = context;

        return is_asked(asked->unit, low, high)
                   ? code_ranges_add(&asked->ranges, low, high)
                   : 0;
}

/* ---- the functions of one unit ---- */

/* Adds the ranges that contain questions' addresses. */
static int add_ranges(struct unit *unit, struct die_entry *entry, uint32_t node)
{
        struct asked_ranges asked = {{unit->with->file, &unit->functions, node}, unit};
        int error = die_ranges(unit->with->dwarf, &entry->die, add_asked_range, &asked);

        return error == -ENOMEM ? error : 0;
}

/* Returns 1 if it contains a question's address. */
static int add_function(struct unit *unit, struct die_entry *entry, bool inlined)
{
        size_t before = unit->functions.count, index = unit->nodes.count;

        if (index >= INSIDE_FUNCTION - 1 ||
            array_reserve(&unit->nodes.items, &unit->nodes.capacity, index,
                          sizeof(*unit->nodes.items)) < 0 ||
            add_ranges(unit, entry, (uint32_t)index) < 0)
                return -ENOMEM;
        if (unit->functions.count == before)
                return 0;
        unit->nodes.items[unit->nodes.count++] =
            (struct node){.die = entry->die,
                          .outer = inlined ? entry->parent & ~INSIDE_FUNCTION : 0,
                          .local = !inlined && (entry->parent & INSIDE_FUNCTION)};
        entry->value = ((uint32_t)index + 1) | INSIDE_FUNCTION;
        return 1;
}

static bool has_code(Dwarf_Die *die)
{
        return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

static int visit_function(void *context, struct die_entry *entry)
{
        struct unit *unit = context;
        int error;

        switch (entry->tag) {
        case DW_TAG_subprogram: /* its body may hold a local class's code */
                entry->value = INSIDE_FUNCTION;
                if (dwarf_hasattr(&entry->die, DW_AT_declaration)) /* has no code */
                        return 0;
                if (!has_code(&entry->die))
                        return 1;
                error = add_function(unit, entry, false);
                return error < 0 ? error : 1;
        case DW_TAG_inlined_subroutine: /* lies in the function around it */
                if (!has_code(&entry->die))
                        return 1;
                return entry->parent == INSIDE_FUNCTION ? 0
                                                        : add_function(unit, entry, true);
        case DW_TAG_structure_type: /* functions of local classes, methods of Rust */
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
                return !unit->classes_declare || (entry->parent & INSIDE_FUNCTION);
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
                return 1;
        default:
                return 0;
        }
}

static int open_unit(struct unit *unit, size_t number)
{
        struct dwarf_file *dwarf = unit->with->dwarf;
        struct code_entries *own = &unit->entries;
        uint64_t language;

        own->with = unit->with;
        if (!die_open_unit(dwarf, number, &own->die, &own->entries))
                return 0;
        if (die_line_table(dwarf, &own->die, &own->lines) == -ENOMEM)
                return -ENOMEM;
        own->directory = die_string(dwarf, &own->die, DW_AT_comp_dir);
        /* The assembler makes an entry for one of a function's names, any one. */
        if (die_number(dwarf, &own->entries, DW_AT_language, &language) &&
            language == DW_LANG_Mips_Assembler) {
                unit->assembler = true;
                return 0;
        }
        unit->classes_declare = unit_classes_declare(dwarf, &own->entries);
        own->source = die_string(dwarf, &own->entries, DW_AT_name);
        own->cplusplus = unit_is_cplusplus(dwarf, &own->entries);
        own->links_external = function_is_of_gcc(dwarf, &own->entries);
        if (die_walk(dwarf, &own->entries, visit_function, unit) == -ENOMEM)
                return -ENOMEM;
        return range_map_build(&unit->functions);
}

/* ---- answers ---- */

/* Sets NAME to the name of NODE, whose code is at VADDR. */
static int node_name(struct unit *unit, struct node *node, uint64_t vaddr,
                     struct code_name *name)
{
        int error = node->named
                        ? 0
                        : code_entry_name(&unit->entries, &node->die, node->outer != 0,
                                          node->local, vaddr, &node->name);

        node->named = !error;
        *name = node->name;
        return error;
}

static uint32_t narrow(uint64_t number)
{
        return number <= INT32_MAX ? (uint32_t)number : 0;
}

/* The call of NODE, which is inlined. */
static const struct code_frame *node_call(struct unit *unit, struct node *node)
{
        struct die_call call;

        if (node->call_known)
                return &node->call;
        node->call_known = true;
        die_call(&node->die, &call);
        node->call.call_line = narrow(call.line);
        if (node->call.call_line) {
                node->call.call_file =
                    call.has_file ? declared_put_file(&unit->entries, call.file) : 0;
                node->call.call_column = narrow(call.column);
        }
        return &node->call;
}

static int add_frame(struct unit *unit, struct code_place *place, uint32_t index)
{
        struct node *node = &unit->nodes.items[index];
        struct code_name name = node->name;
        struct code_frame frame = {0};

        if (node->outer) {
                frame = *node_call(unit, node);
        } else {
                place->function_die = node->die;
                if (!name.name && code_symbol_name(unit->with, place->vaddr, &name) < 0)
                        return -ENOMEM;
        }
        frame.function = name.name;
        frame.number = name.number;
        place->frame_count++;
        return PUSH(unit->with->frames, frame);
}

/* Whether the name of NODE, inlined, is in the missing alternate file. */
static bool inlined_lost(const struct unit *unit, struct node *node)
{
        struct dwarf_file *dwarf = unit->with->dwarf;
        Dwarf_Die origin;

        return die_lost(dwarf, &node->die, DW_AT_abstract_origin) ||
               (die_reference(dwarf, &node->die, DW_AT_abstract_origin, &origin) &&
                (die_lost(dwarf, &origin, DW_AT_name) ||
                 die_lost(dwarf, &origin, DW_AT_specification)));
}

/* A row without a line may have the file of the row before it, which may be inlined
 * code. Therefore take the file that declares the function. */
static void find_lineless_file(struct unit *unit, const struct node *function,
                               struct code_place *place)
{
        bool own;

        if (place->lineless)
                place->file = declared_file(&unit->entries, &function->die, &own);
}

static int find_function(struct unit *unit, struct code_place *place)
{
        const struct range *range = range_map_find(&unit->functions, place->vaddr);
        int error = 0;

        if (!range)
                return 0;
        place->first_frame = unit->with->frames->count;
        for (uint32_t at = range->value + 1; at && !error;
             at = unit->nodes.items[at - 1].outer) {
                struct node *node = &unit->nodes.items[at - 1];
                struct code_name name;

                error = node_name(unit, node, place->vaddr, &name);
                if (error)
                        break;
                place->inlined_lost |=
                    node->outer && !name.name && inlined_lost(unit, node);
                if (place->frame_count == 0 && (!node->outer || name.name))
                        find_lineless_file(unit, node, place);
                if (place->frame_count > 0 || !node->outer || name.name)
                        error = add_frame(unit, place, at - 1);
        }
        if (error)
                return error;
        place->function = unit->with->frames->items[place->first_frame].function;
        place->number = unit->with->frames->items[place->first_frame].number;
        if (place->frame_count == 1) { /* the function itself: no need for a chain */
                unit->with->frames->count--;
                place->frame_count = 0;
        }
        return 0;
}

/* Finds the lines of all places of the unit. 0 or -ENOMEM. */
static int find_lines(struct unit *unit)
{
        unit->answers = calloc(unit->asked_count, sizeof(*unit->answers));
        if (!unit->answers)
                return -ENOMEM;
        for (size_t i = 0; i < unit->asked_count; i++)
                unit->answers[i].vaddr = unit->asked[i].vaddr;
        if (line_program_run(&unit->entries.lines, unit->answers, unit->asked_count,
                             &unit->with->dwarf->budget) < 0)
                return -ENOMEM;
        unit->entries.files =
            calloc(unit->entries.lines.files.count + 1, sizeof(*unit->entries.files));
        if (!unit->entries.files)
                return -ENOMEM;
        for (size_t i = 0; i < unit->asked_count; i++) {
                const struct line_answer *answer = &unit->answers[i];
                struct code_place *place = unit->asked[i].place;

                if (answer->found && answer->line)
                        place->file = declared_put_file(&unit->entries, answer->file);
                place->line = place->file ? answer->line : 0;
                place->column = place->line ? answer->column : 0;
                place->lineless = answer->found && answer->line == 0;
                place->assembler = unit->assembler;
                place->unread =
                    unit->with->dwarf->budget == 0 && !place->line && !place->lineless;
        }
        return 0;
}

int code_unit_find(const struct code_reader *reader, const struct code_question *asked,
                   size_t count)
{
        struct unit unit = {.with = reader, .asked = asked, .asked_count = count};
        int error = open_unit(&unit, asked->unit);

        if (!error)
                error = find_lines(&unit);
        for (size_t i = 0; i < count && !error; i++)
                error = find_function(&unit, asked[i].place);
        range_map_free(&unit.functions);

        free(unit.answers);
        free(unit.nodes.items);
        code_entries_free(&unit.entries);
        if (!error && unit.entries.no_memory)
                error = -ENOMEM;
        return error ? error : string_pool_failed(reader->names);
}
