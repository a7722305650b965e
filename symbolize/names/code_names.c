/* SPDX-License-Identifier: MIT */
/* Addresses are answered unit by unit. */
#include "code_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "code_unit.h"
#include "disassembly.h"
#include "flow_instruction.h"
#include "function_start.h"
#include "name.h"

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

static int compare_asked(const void *left, const void *right)
{
        const struct code_question *a = left, *b = right;

        if (a->unit != b->unit)
                return a->unit < b->unit ? -1 : 1;
        return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

/* Lists the PLACES inside units, sorted by unit. If the ranges of some units are unknown,
 * the units of the remaining places are unknown. */
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
        SORT(asked, listed, compare_asked);
        return listed;
}

static int find_in_dwarf(const struct code_reader *reader, struct code_place **places,
                         size_t count)
{
        struct code_question *asked = malloc((count + 1) * sizeof(*asked));
        struct range_map units = {0};
        int error = asked ? map_units(reader->dwarf, reader->file, &units) : -ENOMEM;

        if (!error) {
                size_t listed =
                    list_asked(&units, reader->dwarf->budget > 0, places, count, asked);

                error = find_in_units(reader, asked, listed);
        }
        range_map_free(&units);
        free(asked);
        return error;
}

static bool is_unnamed(const struct code_place *place)
{
        return !place->function && place->frame_count == 0;
}

/* Finds the starts of functions without a symbol or entry. */
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
                const struct function_start *found;

                if (!is_unnamed(places[i]))
                        continue;
                found = NUMBER_FIND(starts, unnamed, places[i]->vaddr);
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

static const uint8_t return_of_signals[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

static bool returns_from_signal(const struct elf_file *file, uint64_t vaddr)
{
        uint8_t bytes[sizeof(return_of_signals)];

        return elf_file_read_code(file, vaddr, bytes, sizeof(bytes)) == sizeof(bytes) &&
               memcmp(bytes, return_of_signals, sizeof(bytes)) == 0;
}

/* The kernel, not a call, makes a signal handler return to its trampoline. The byte
 * before the trampoline is therefore no call: it belongs to another function or to none.
 * Samples are at one of the trampoline's two instructions. */
static void name_trampoline(const struct code_reader *reader, struct code_place *place)
{
        const struct elf_file *file = reader->file;
        uint64_t vaddr = place->vaddr;

        if (place->sampled
                ? returns_from_signal(file, vaddr) || returns_from_signal(file, vaddr - 7)
                : returns_from_signal(file, vaddr + 1))
                place->function = string_pool_put(reader->names, "__restore_rt");
}

int code_find(struct dwarf_file *dwarf, const struct elf_file *file,
              const struct symbol_table *symbols, struct code_place **places,
              size_t count, struct string_pool *names, struct code_frames *frames)
{
        struct linked_names linked = {0};
        const struct code_reader reader = {dwarf, file, symbols, names, &linked, frames};
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
        HASH_FREE(&linked);
        if (!error)
                error =
                    named_functions_tell_apart(&frames->functions, first_function, names);
        if (!error)
                error = find_starts(file, places, count);
        return error ? error : string_pool_failed(names);
}

/* The code around an address. One read serves several neighbouring addresses. */
struct code_window {
        uint64_t vaddr;
        size_t length;
        uint8_t bytes[4096];
};

/* Reads the instruction at one address, without its predecessors. */
static void read_instruction(const struct elf_file *file, struct code_window *window,
                             struct code_place *place, struct string_pool *names)
{
        char text[DISASSEMBLY_TEXT_BYTES];
        struct instruction instruction;
        uint64_t vaddr = place->vaddr, into = vaddr - window->vaddr;

        if (into >= window->length || window->length - into < DISASSEMBLY_CODE_BYTES) {
                window->vaddr = vaddr;
                window->length =
                    elf_file_read_code(file, vaddr, window->bytes, sizeof(window->bytes));
                into = 0;
        }
        const uint8_t *bytes = window->bytes + into;
        size_t length = window->length - into;

        if (!length || !instruction_decode(&instruction, bytes, length, vaddr) ||
            !disassembly_text(bytes, length, vaddr, DISASSEMBLY_ATT, text))
                return;
        place->access_bytes = instruction.access_bytes;
        place->instruction = string_pool_put(names, text);
}

int code_read_instructions(const struct elf_file *file, struct code_place **places,
                           size_t count, struct string_pool *names)
{
        struct code_window window = {.length = 0};

        for (size_t i = 0; i < count; i++)
                if (places[i]->sampled)
                        read_instruction(file, &window, places[i], names);
        return string_pool_failed(names);
}
