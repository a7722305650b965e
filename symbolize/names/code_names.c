/* SPDX-License-Identifier: MIT */
/* Addresses are answered unit by unit. Units are divided into parts with a separate
 * work budget; the division does not depend on the processor count. Names belong to
 * the thread that makes them, until the parts are merged in order. */
#include "code_names.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "code_instruction.h"
#include "code_unit.h"
#include "function_start.h"
#include "name.h"
#include "parallel.h"

enum {
        PARTS = 16,
        /* Entries of less are read before another thread has begun. */
        PART_BYTES_LEAST = 1 << 18,
};

/* ---- the units ---- */

/* Units may have copies of an inline function. The linker keeps the first copy and
 * gives its address to all. The first unit is added last, so a lookup finds it. */
static int map_units(struct dwarf_file *dwarf, const struct elf_file *file,
                     struct range_map *units)
{
        struct code_ranges ranges = {.file = file, .map = units};
        int error = 0;

        for (size_t i = dwarf->unit_count; i-- > 0 && error != -ENOMEM;) {
                Dwarf_Die die;

                ranges.value = (uint32_t)i;
                if (dwarf_offdie(dwarf->dwarf, dwarf->units[i].die_offset, &die))
                        error = die_ranges(dwarf, &die, code_ranges_add, &ranges);
        }
        return error == -ENOMEM ? error : range_map_build(units);
}

/* ---- the parts ---- */

struct part {
        size_t first; /* of its questions */
        size_t count;
        uint64_t bytes; /* of its units' entries */
        bool spent;     /* its budget */
        size_t worker;  /* that did it */
        struct code_frames frames;
};

/* A thread, once it has begun: functions that are inlined in many units are named once.
 */
struct part_worker {
        struct dwarf_file dwarf; /* a copy of the reader's */
        struct string_pool *names;
        struct linked_names linked;
        struct named_functions functions;
        uint32_t first_function; /* the number of earlier functions of the reader */
        uint32_t *known; /* of its names, when all are made: the reader's; 0: not yet */
};

struct parts {
        const struct code_reader *reader;
        const struct code_question *asked;
        struct part items[PARTS];
        size_t count;
        struct part_worker workers[PARALLEL_WORKERS];
};

static void leave_unread(const struct code_question *asked, size_t count)
{
        for (size_t i = 0; i < count; i++)
                asked[i].place->unread = true;
}

static int find_in_units(const struct code_reader *reader,
                         const struct code_question *asked, size_t count)
{
        int error = 0;

        for (size_t i = 0, end; i < count && !error; i = end) {
                for (end = i + 1; end < count && asked[end].unit == asked[i].unit;)
                        end++;
                if (reader->dwarf->budget > 0)
                        error = code_unit_find(reader, asked + i, end - i);
                else
                        leave_unread(asked + i, end - i);
        }
        return error;
}

/* The budget for the part's own entries, as if it owned all lines, and a share for the
 * entries elsewhere that they refer to. */
static uint64_t part_budget(const struct dwarf_file *dwarf, const struct part *part)
{
        uint64_t lines = (uint64_t)(dwarf->lines.end - dwarf->lines.start);

        return dwarf_work(part->bytes, lines) + dwarf->budget / (PARTS / 2);
}

static int begin_worker(struct part_worker *worker, const struct dwarf_file *dwarf)
{
        worker->names = string_pool_new();
        return worker->names ? dwarf_file_share(&worker->dwarf, dwarf) : -ENOMEM;
}

static int find_in_part(void *context, size_t number, size_t job)
{
        struct parts *parts = context;
        struct part *part = &parts->items[job];
        struct part_worker *worker = &parts->workers[number];
        struct code_reader reader = *parts->reader;
        int error = worker->names ? 0 : begin_worker(worker, reader.dwarf);

        if (error)
                return error;
        worker->dwarf.budget = part_budget(reader.dwarf, part);
        reader.dwarf = &worker->dwarf;
        reader.names = worker->names;
        reader.linked = &worker->linked;
        reader.frames = &part->frames;
        reader.functions = &worker->functions;
        error = find_in_units(&reader, parts->asked + part->first, part->count);
        part->spent = worker->dwarf.budget == 0;
        part->worker = number;
        return error;
}

static uint32_t common_name(const struct parts *parts, const struct part_worker *worker,
                            uint32_t name)
{
        return string_pool_take(parts->reader->names, worker->names, worker->known, name);
}

static int take_frames(const struct parts *parts, const struct part *part,
                       const struct part_worker *worker)
{
        struct code_frames *frames = parts->reader->frames;

        for (size_t i = 0; i < part->frames.count; i++) {
                struct code_frame frame = part->frames.items[i];

                frame.function = common_name(parts, worker, frame.function);
                frame.call_file = common_name(parts, worker, frame.call_file);
                frame.number += frame.number ? worker->first_function : 0;
                if (PUSH(frames, frame) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* The entry of the place's function as the reader that is not a copy has it: bytes are
 * the same, all else is the reader's own. */
static void take_function(const struct parts *parts, const struct code_question *asked)
{
        struct dwarf_file *dwarf = parts->reader->dwarf;
        Dwarf_Die *die = &asked->place->function_die, unit;

        if (!die->addr)
                return;
        if (dwarf_offdie(dwarf->dwarf, dwarf->units[asked->unit].die_offset, &unit))
                *die = (Dwarf_Die){.addr = die->addr, .cu = unit.cu};
        else
                *die = (Dwarf_Die){0};
}

/* Merges the answers of PART into the whole. */
static int take_part(const struct parts *parts, const struct part *part)
{
        const struct part_worker *worker = &parts->workers[part->worker];
        size_t first_frame = parts->reader->frames->count;
        int error = take_frames(parts, part, worker);

        for (size_t i = part->first; i < part->first + part->count && !error; i++) {
                struct code_place *place = parts->asked[i].place;

                place->function = common_name(parts, worker, place->function);
                place->file = common_name(parts, worker, place->file);
                place->number += place->number ? worker->first_function : 0;
                place->first_frame += first_frame;
                take_function(parts, &parts->asked[i]);
        }
        parts->reader->dwarf->spent |= part->spent;
        return error;
}

static uint64_t unit_bytes(const struct dwarf_file *dwarf, uint32_t unit)
{
        return unit + 1 < dwarf->unit_count
                   ? dwarf->units[unit + 1].die_offset - dwarf->units[unit].die_offset
                   : dwarf->units_end - dwarf->units[unit].die_offset;
}

static bool same_unit(const struct code_question *asked, size_t i)
{
        return i > 0 && asked[i].unit == asked[i - 1].unit;
}

/* Parts of about the same size, in bytes of entries. */
static void divide(struct parts *parts, size_t count)
{
        const struct dwarf_file *dwarf = parts->reader->dwarf;
        uint64_t all = 0, size;

        for (size_t i = 0; i < count; i++)
                all += same_unit(parts->asked, i)
                           ? 0
                           : unit_bytes(dwarf, parts->asked[i].unit);
        size = all / PARTS > PART_BYTES_LEAST ? all / PARTS : PART_BYTES_LEAST;
        for (size_t i = 0; i < count; i++) {
                struct part *part = &parts->items[parts->count - (parts->count > 0)];
                bool same = same_unit(parts->asked, i);

                if (i == 0 || (!same && part->bytes >= size && parts->count < PARTS)) {
                        part = &parts->items[parts->count++];
                        part->first = i;
                }
                part->count++;
                part->bytes += same ? 0 : unit_bytes(dwarf, parts->asked[i].unit);
        }
}

/* Ends the worker's reading; the names that it made stay. */
static int end_worker(struct part_worker *worker)
{
        if (!worker->names)
                return 0;
        if (worker->dwarf.dwarf)
                dwarf_file_close(&worker->dwarf);
        linked_names_free(&worker->linked);
        worker->known =
            calloc(string_pool_count(worker->names) + 1, sizeof(*worker->known));
        return worker->known ? 0 : -ENOMEM;
}

/* Functions that workers numbered follow the existing functions. */
static void place_functions(struct parts *parts)
{
        size_t count = parts->reader->functions->count;

        for (size_t i = 0; i < PARALLEL_WORKERS; i++) {
                parts->workers[i].first_function = (uint32_t)count;
                count += parts->workers[i].functions.count;
        }
}

/* Makes the functions that WORKER numbered some of all. */
static int take_functions(const struct parts *parts, struct part_worker *worker)
{
        struct named_functions *functions = parts->reader->functions;
        uint32_t number;
        int error = 0;

        for (size_t i = 0; i < worker->functions.count && !error; i++) {
                struct named_function function = worker->functions.items[i];

                function.name = common_name(parts, worker, function.name);
                function.file = common_name(parts, worker, function.file);
                error = named_functions_add(functions, &function, &number);
        }
        return error;
}

static int find_in_parts(struct parts *parts)
{
        int error = parallel_run(find_in_part, parts, parts->count);

        for (size_t i = 0; i < PARALLEL_WORKERS; i++)
                if (end_worker(&parts->workers[i]) < 0)
                        error = -ENOMEM;
        place_functions(parts);
        for (size_t i = 0; i < parts->count; i++) {
                if (!error)
                        error = take_part(parts, &parts->items[i]);
                free(parts->items[i].frames.items);
        }
        /* After the parts, whose names get their numbers in an order that does not depend
         * on the threads. */
        for (size_t i = 0; i < PARALLEL_WORKERS && !error; i++)
                error = take_functions(parts, &parts->workers[i]);
        for (size_t i = 0; i < PARALLEL_WORKERS; i++) {
                string_pool_free(parts->workers[i].names);
                named_functions_free(&parts->workers[i].functions);
                free(parts->workers[i].known);
        }
        return error;
}

/* ---- all addresses ---- */

static int compare_asked(const void *left, const void *right)
{
        const struct code_question *a = left, *b = right;

        if (a->unit != b->unit)
                return a->unit < b->unit ? -1 : 1;
        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Lists the PLACES that lie in a unit, by unit. If the ranges of some units are
 * unknown, the units of the remaining places are unknown. */
static size_t list_asked(const struct range_map *units, bool all_units,
                         struct code_place **places, size_t count,
                         struct code_question *asked)
{
        size_t listed = 0;

        for (size_t i = 0; i < count; i++) {
                const struct range *unit = range_map_find(units, places[i]->vaddr);

                if (unit)
                        asked[listed++] = (struct code_question){places[i]->vaddr,
                                                                 places[i], unit->value};
                else
                        places[i]->unread = !all_units;
        }
        if (listed > 1)
                qsort(asked, listed, sizeof(*asked), compare_asked);
        return listed;
}

static int find_in_dwarf(const struct code_reader *reader, struct code_place **places,
                         size_t count)
{
        struct code_question *asked = malloc((count + 1) * sizeof(*asked));
        struct parts parts = {.reader = reader, .asked = asked};
        struct range_map units = {0};
        int error = asked ? map_units(reader->dwarf, reader->file, &units) : -ENOMEM;

        if (!error) {
                size_t listed =
                    list_asked(&units, reader->dwarf->budget > 0, places, count, asked);

                if (dwarf_file_shareable(reader->dwarf))
                        divide(&parts, listed);
                error = parts.count > 1 ? find_in_parts(&parts)
                                        : find_in_units(reader, asked, listed);
        }
        range_map_free(&units);
        free(asked);
        return error;
}

static bool is_unnamed(const struct code_place *place)
{
        return !place->function && place->frame_count == 0;
}

/* Where functions begin that no symbol or entry names. */
static int find_starts(const struct elf_file *file, struct code_place **places,
                       size_t count)
{
        size_t unnamed = 0, asked = 0;

        for (size_t i = 0; i < count; i++)
                unnamed += is_unnamed(places[i]);
        if (unnamed == 0)
                return 0;
        struct function_start *starts = calloc(unnamed, sizeof(*starts));

        if (!starts)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                if (is_unnamed(places[i]))
                        starts[asked++].vaddr = places[i]->vaddr;
        qsort(starts, unnamed, sizeof(*starts), number_order);
        function_starts_find(file, starts, unnamed);
        for (size_t i = 0; i < count; i++) {
                const struct function_start key = {.vaddr = places[i]->vaddr}, *found;

                if (!is_unnamed(places[i]))
                        continue;
                found = bsearch(&key, starts, unnamed, sizeof(key), number_order);
                places[i]->has_start = found->found;
                places[i]->start = found->start;
        }
        free(starts);
        return 0;
}

uint32_t code_label(const struct code_frames *frames, uint32_t function, uint32_t number)
{
        return number ? frames->functions.items[number - 1].label : function;
}

void code_frames_free(struct code_frames *frames)
{
        free(frames->items);
        named_functions_free(&frames->functions);
        *frames = (struct code_frames){0};
}

static int name_by_symbol(const struct code_reader *reader, struct code_place *place)
{
        struct code_name name;
        int error = code_symbol_name(reader, place->vaddr, &name);
        const struct symbol *symbol =
            symbol_table_function(reader->symbols, place->vaddr);

        place->thunk = symbol && !symbol->stub && name_of_thunk(symbol->name);

        place->function = name.name;
        place->number = name.number;
        return error;
}

/* The kernel, not a call, makes a signal's handler return to its trampoline. The byte
 * before the trampoline, where a call would be looked for, belongs to another function
 * or to none. Samples are at one of its two instructions. */
static void name_trampoline(const struct code_reader *reader, struct code_place *place)
{
        const struct elf_file *file = reader->file;
        uint64_t vaddr = place->vaddr;

        if (place->sampled ? code_returns_from_signal(file, vaddr) ||
                                 code_returns_from_signal(file, vaddr - 7)
                           : code_returns_from_signal(file, vaddr + 1))
                place->function = string_pool_put(reader->names, "__restore_rt");
}

int code_find(struct dwarf_file *dwarf, const struct elf_file *file,
              const struct symbol_table *symbols, struct code_place **places,
              size_t count, struct string_pool *names, struct code_frames *frames)
{
        struct linked_names linked = {0};
        const struct code_reader reader = {dwarf,   file,   symbols,           names,
                                           &linked, frames, &frames->functions};
        size_t first_function = frames->functions.count;
        int error = 0;

        if (dwarf)
                error = find_in_dwarf(&reader, places, count);
        for (size_t i = 0; i < count && !error; i++)
                if (is_unnamed(places[i]))
                        error = name_by_symbol(&reader, places[i]);
        for (size_t i = 0; i < count && !error; i++)
                if (is_unnamed(places[i]))
                        name_trampoline(&reader, places[i]);
        linked_names_free(&linked);
        if (!error)
                error =
                    named_functions_tell_apart(&frames->functions, first_function, names);
        if (!error)
                error = find_starts(file, places, count);
        return error ? error : string_pool_failed(names);
}
