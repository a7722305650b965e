/* SPDX-License-Identifier: MIT */
/* Addresses are answered unit by unit: those of a compilation unit's functions that have
 * any of its addresses are read once, made into a flat map, asked, and forgotten. */
#include "code.h"

#include <errno.h>

#include "array.h"
#include "die_walk.h"
#include "name.h"
#include "path.h"

/* A function, or a function inlined into NODE number outer. */
struct node {
        Dwarf_Die die;
        uint32_t outer; /* index + 1; 0: not inlined */
        uint32_t name;
        bool named;
        bool local; /* of a class inside a function */
};

/* What the walk passes from an entry to those in it: the innermost function with code
 * that is asked about, as node.outer, and whether it is inside a function at all. */
#define INSIDE_FUNCTION UINT32_C(0x80000000)

/* Orders the places by unit, so that each unit is read once. */
struct asked {
        uint32_t unit;
        uint32_t place;
};

struct finder {
        struct dwarf_file *dwarf;
        const struct elf_file *file;
        const struct symbol_table *symbols;
        struct string_pool *names;
        struct code_frames *frames;
        struct range_map units; /* value: index in dwarf->units */
        struct code_place *const *places;
        /* of the unit in work */
        const struct asked *asked; /* by address */
        size_t asked_count;
        Dwarf_Die unit;
        const char *directory;
        struct line_table lines;
        uint32_t *files;      /* names of the table's files, once asked for; 0: not yet */
        bool has_split_files; /* entries mean these, not those of the table */
        Dwarf_Files *split_files;
        size_t split_file_count;
        struct line_answer *answers; /* of the places of the unit, by address */
        size_t answer_capacity;
        struct node *nodes;
        size_t node_count;
        size_t node_capacity;
        struct range_map functions; /* value: index in nodes */
        bool no_memory;             /* for some name */
};

/* ---- ranges ---- */

struct range_target {
        const struct finder *finder;
        struct range_map *map;
        uint32_t value;
};

/* Whether any of the unit's addresses is from LOW up to HIGH. */
static bool is_asked(const struct finder *finder, uint64_t low, uint64_t high)
{
        size_t from = 0, to = finder->asked_count;

        while (from < to) {
                size_t middle = from + (to - from) / 2;

                if (finder->places[finder->asked[middle].place]->vaddr < low)
                        from = middle + 1;
                else
                        to = middle;
        }
        return from < finder->asked_count &&
               finder->places[finder->asked[from].place]->vaddr < high;
}

/* Functions that the linker dropped keep entries, with addresses where no code is. */
static int add_code_range(void *context, uint64_t low, uint64_t high)
{
        const struct range_target *target = context;

        return elf_file_has_code(target->finder->file, low)
                   ? range_map_add(target->map, low, high, target->value)
                   : 0;
}

static int add_asked_range(void *context, uint64_t low, uint64_t high)
{
        const struct range_target *target = context;

        return is_asked(target->finder, low, high) ? add_code_range(context, low, high)
                                                   : 0;
}

/* Of the copies that units have of an inline function, the linker keeps the first and
 * gives its address to all: the first unit, as the last one added, is the one found. */
static int map_units(struct finder *finder)
{
        for (size_t i = finder->dwarf->unit_count; i-- > 0;) {
                struct range_target target = {finder, &finder->units, (uint32_t)i};
                Dwarf_Die die;

                if (dwarf_offdie(finder->dwarf->dwarf, finder->dwarf->units[i].die_offset,
                                 &die) &&
                    die_ranges(finder->dwarf, &die, add_code_range, &target) == -ENOMEM)
                        return -ENOMEM;
        }
        return range_map_build(&finder->units);
}

/* ---- the functions of one unit ---- */

/* Adds the ranges with addresses that are asked about. */
static int add_ranges(struct finder *finder, struct die_entry *entry, uint32_t node)
{
        struct range_target target = {finder, &finder->functions, node};
        int error =
            entry->place.has_range
                ? add_asked_range(&target, entry->place.low, entry->place.high)
                : die_ranges(finder->dwarf, &entry->die, add_asked_range, &target);

        return error == -ENOMEM ? error : 0;
}

/* 1 when any of its addresses is asked about: *VALUE is for the entries in it. */
static int add_function(struct finder *finder, struct die_entry *entry, bool inlined,
                        uint32_t parent, uint32_t *value)
{
        size_t before = finder->functions.count, index = finder->node_count;

        if (index >= INSIDE_FUNCTION - 1 ||
            array_reserve(&finder->nodes, &finder->node_capacity, index,
                          sizeof(*finder->nodes)) < 0 ||
            add_ranges(finder, entry, (uint32_t)index) < 0)
                return -ENOMEM;
        if (finder->functions.count == before)
                return 0;
        finder->nodes[finder->node_count++] =
            (struct node){.die = entry->die,
                          .outer = inlined ? parent & ~INSIDE_FUNCTION : 0,
                          .local = !inlined && (parent & INSIDE_FUNCTION)};
        *value = ((uint32_t)index + 1) | INSIDE_FUNCTION;
        return 1;
}

static int visit_function(void *context, struct die_entry *entry, uint32_t parent,
                          uint32_t *value)
{
        struct finder *finder = context;
        int error;

        switch (entry->tag) {
        case DW_TAG_subprogram: /* whatever its own code, it may hold a local class's */
                *value = INSIDE_FUNCTION;
                error = entry->has_code
                            ? add_function(finder, entry, false, parent, value)
                            : 0;
                return error < 0 ? error : 1;
        case DW_TAG_inlined_subroutine: /* lies in what it is inlined into */
                if (!entry->has_code)
                        return 1;
                return parent == INSIDE_FUNCTION
                           ? 0
                           : add_function(finder, entry, true, parent, value);
        case DW_TAG_structure_type: /* functions of local classes, methods of Rust */
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
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

/* The table of lines, and of the files that entries mean. */
static int open_lines(struct finder *finder, Dwarf_Die *entries)
{
        finder->split_file_count = 0;
        line_table_free(&finder->lines);
        free(finder->files);
        finder->files = NULL;
        if (!finder->unit.addr)
                return 0;
        int error = die_line_table(finder->dwarf, &finder->unit, &finder->lines);

        finder->has_split_files =
            entries->cu != finder->unit.cu && die_has_files(finder->dwarf, entries);
        if (finder->has_split_files && dwarf_getsrcfiles(entries, &finder->split_files,
                                                         &finder->split_file_count) != 0)
                finder->split_file_count = 0;
        return error == -ENOMEM ? error : 0;
}

static int open_unit(struct finder *finder, size_t unit)
{
        uint64_t language;
        Dwarf_Die entries;

        finder->node_count = 0;
        range_map_free(&finder->functions);
        if (!die_open_unit(finder->dwarf, unit, &finder->unit, &entries))
                finder->unit.addr = NULL;
        if (open_lines(finder, &entries) < 0)
                return -ENOMEM;
        if (!finder->unit.addr)
                return 0;
        finder->directory = die_string(finder->dwarf, &finder->unit, DW_AT_comp_dir);
        /* The assembler makes an entry of any one of a function's names. */
        if (die_number(finder->dwarf, &entries, DW_AT_language, &language) &&
            language == DW_LANG_Mips_Assembler)
                return 0;
        if (die_walk(finder->dwarf, &entries, visit_function, finder) == -ENOMEM)
                return -ENOMEM;
        return range_map_build(&finder->functions);
}

/* ---- answers ---- */

static char *join(struct finder *finder, const char *directory, const char *path)
{
        char *joined = path_join(directory, path);

        finder->no_memory |= !joined;
        return joined;
}

static uint32_t put_path(struct finder *finder, const char *path)
{
        char *full = path ? join(finder, finder->directory, path) : NULL;
        uint32_t id = string_pool_put(finder->names, full);

        free(full);
        return id;
}

/* The name of the file of that number in the table of lines. */
static uint32_t put_line_file(struct finder *finder, uint64_t number)
{
        if (number >= finder->lines.file_count || !finder->lines.files[number].name)
                return 0;
        if (!finder->files[number]) {
                const struct line_file *file = &finder->lines.files[number];
                char *path = join(finder, file->directory, file->name);

                finder->files[number] = put_path(finder, path);
                free(path);
        }
        return finder->files[number];
}

/* That which entries mean by it. */
static uint32_t put_file_number(struct finder *finder, uint64_t number)
{
        if (!finder->has_split_files)
                return put_line_file(finder, number);
        return number < finder->split_file_count
                   ? put_path(finder,
                              dwarf_filesrc(finder->split_files, number, NULL, NULL))
                   : 0;
}

static uint32_t symbol_name(struct finder *finder, uint64_t vaddr)
{
        const struct symbol *symbol = symbol_table_function(finder->symbols, vaddr);

        return symbol ? name_put_symbol(finder->names, symbol->name) : 0;
}

/* Whether DIE is the code of an entry in another compilation unit, as optimisation at
 * link time by gcc leaves it; the units that dwz makes are partial ones. */
static bool linked_elsewhere(const struct finder *finder, Dwarf_Die *die)
{
        Dwarf_Die origin, unit;

        return die_reference(finder->dwarf, die, DW_AT_abstract_origin, &origin) &&
               origin.cu != die->cu && dwarf_diecu(&origin, &unit, NULL, NULL) &&
               dwarf_tag(&unit) == DW_TAG_compile_unit;
}

/* Lambdas and what else is local to a function have no name for linking in their entry,
 * but one in the symbol table, which says where they belong
 * ("f()::{lambda()#1}::operator()"). */
static uint32_t local_name(struct finder *finder, uint64_t vaddr)
{
        const struct symbol *symbol = symbol_table_function(finder->symbols, vaddr);

        return symbol && name_mangled(symbol->name)
                   ? name_put_part(finder->names, symbol->name)
                   : 0;
}

static uint32_t node_name(struct finder *finder, struct node *node, uint64_t vaddr)
{
        const char *name;

        if (node->named)
                return node->name;
        if ((node->local || (!node->outer && linked_elsewhere(finder, &node->die))) &&
            !die_linkage_name(finder->dwarf, &node->die))
                node->name = local_name(finder, vaddr);
        if (!node->name && (name = die_name(finder->dwarf, &node->die)) != NULL)
                node->name = name_put_linkage(finder->names, name);
        node->named = true;
        return node->name;
}

static int add_frame(struct finder *finder, struct code_place *place, uint32_t index)
{
        struct node *node = &finder->nodes[index];
        struct code_frame frame = {.function = node_name(finder, node, place->vaddr)};
        uint64_t number;

        if (array_reserve(&finder->frames->items, &finder->frames->capacity,
                          finder->frames->count, sizeof(*finder->frames->items)) < 0)
                return -ENOMEM;
        if (node->outer) {
                if (die_number(finder->dwarf, &node->die, DW_AT_call_line, &number) &&
                    number <= INT32_MAX)
                        frame.call_line = (uint32_t)number;
                if (frame.call_line &&
                    die_number(finder->dwarf, &node->die, DW_AT_call_file, &number))
                        frame.call_file = put_file_number(finder, number);
        } else {
                place->function_die = node->die;
                if (!frame.function)
                        frame.function = symbol_name(finder, place->vaddr);
        }
        finder->frames->items[finder->frames->count++] = frame;
        place->frame_count++;
        return 0;
}

static int find_function(struct finder *finder, struct code_place *place)
{
        const struct range *range = range_map_find(&finder->functions, place->vaddr);
        int error = 0;

        if (!range)
                return 0;
        place->first_frame = finder->frames->count;
        for (uint32_t at = range->value + 1; at && !error;
             at = finder->nodes[at - 1].outer)
                error = add_frame(finder, place, at - 1);
        if (error)
                return error;
        place->function = finder->frames->items[place->first_frame].function;
        if (place->frame_count == 1) { /* the function itself: no need for a chain */
                finder->frames->count--;
                place->frame_count = 0;
        }
        return 0;
}

/* The lines of all places of the unit. 0 or -ENOMEM. */
static int find_lines(struct finder *finder)
{
        if (array_reserve(&finder->answers, &finder->answer_capacity, finder->asked_count,
                          sizeof(*finder->answers)) < 0)
                return -ENOMEM;
        for (size_t i = 0; i < finder->asked_count; i++)
                finder->answers[i] = (struct line_answer){
                    .vaddr = finder->places[finder->asked[i].place]->vaddr};
        if (line_table_find(&finder->lines, finder->answers, finder->asked_count,
                            &finder->dwarf->budget) < 0)
                return -ENOMEM;
        finder->files = calloc(finder->lines.file_count + 1, sizeof(*finder->files));
        if (!finder->files)
                return -ENOMEM;
        for (size_t i = 0; i < finder->asked_count; i++) {
                const struct line_answer *answer = &finder->answers[i];
                struct code_place *place = finder->places[finder->asked[i].place];

                if (answer->found && answer->line > 0)
                        place->file = put_line_file(finder, answer->file);
                place->line = place->file ? answer->line : 0;
        }
        return 0;
}

static int compare_places(const void *left, const void *right)
{
        const struct code_place *a = *(struct code_place *const *)left;
        const struct code_place *b = *(struct code_place *const *)right;

        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static int compare_asked(const void *left, const void *right)
{
        const struct asked *a = left, *b = right;

        if (a->unit != b->unit)
                return a->unit < b->unit ? -1 : 1;
        return a->place < b->place ? -1 : a->place > b->place;
}

/* Answers the first of ASKED, COUNT questions, that are of one unit. */
static int find_in_unit(struct finder *finder, const struct asked *asked, size_t count)
{
        size_t of_unit = 1;
        int error;

        while (of_unit < count && asked[of_unit].unit == asked[0].unit)
                of_unit++;
        finder->asked = asked;
        finder->asked_count = of_unit;
        error = open_unit(finder, asked[0].unit);
        if (!error)
                error = find_lines(finder);
        for (size_t i = 0; i < of_unit && !error; i++)
                error = find_function(finder, finder->places[asked[i].place]);
        return error;
}

static int find_in_dwarf(struct finder *finder, struct code_place **places, size_t count)
{
        struct asked *asked = malloc((count + 1) * sizeof(*asked));
        size_t asked_count = 0;
        int error = asked ? map_units(finder) : -ENOMEM;

        finder->places = places;
        for (size_t i = 0; i < count && !error; i++) {
                const struct range *unit =
                    range_map_find(&finder->units, places[i]->vaddr);

                if (unit)
                        asked[asked_count++] = (struct asked){unit->value, (uint32_t)i};
        }
        if (asked_count > 1)
                qsort(asked, asked_count, sizeof(*asked), compare_asked);
        for (size_t i = 0; i < asked_count && !error; i += finder->asked_count)
                error = find_in_unit(finder, asked + i, asked_count - i);
        free(asked);
        return error;
}

int code_find(struct dwarf_file *dwarf, const struct elf_file *file,
              const struct symbol_table *symbols, struct code_place **places,
              size_t count, struct string_pool *names, struct code_frames *frames)
{
        struct finder finder = {.dwarf = dwarf,
                                .file = file,
                                .symbols = symbols,
                                .names = names,
                                .frames = frames};
        int error = 0;

        if (count > UINT32_MAX)
                return -ENOMEM;
        if (count > 1)
                qsort(places, count, sizeof(*places), compare_places);
        if (dwarf)
                error = find_in_dwarf(&finder, places, count);
        for (size_t i = 0; i < count && !error; i++)
                if (!places[i]->function && places[i]->frame_count == 0)
                        places[i]->function = symbol_name(&finder, places[i]->vaddr);
        range_map_free(&finder.units);
        range_map_free(&finder.functions);
        line_table_free(&finder.lines);
        free(finder.files);
        free(finder.answers);
        free(finder.nodes);
        if (!error && finder.no_memory)
                error = -ENOMEM;
        return error ? error : string_pool_failed(names);
}
