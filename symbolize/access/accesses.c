/* SPDX-License-Identifier: MIT */
/* One data-flow analysis of a function serves all its places. */
#include "accesses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "append.h"
#include "code_names.h"
#include "data.h"
#include "globals.h"
#include "rule.h"
#include "type_field.h"
#include "type_table.h"
#include "unit_kind.h"

/* Names the function or variable that an address or a word of a file belongs to. */
struct linkage {
        const struct symbol_table *symbols;
        struct relocations slots;
        struct thread_slots threads;
};

static int compare_accesses(const void *left, const void *right)
{
        const struct access *a = *(struct access *const *)left;
        const struct access *b = *(struct access *const *)right;

        COMPARE((uintptr_t)a->code->function_die.addr,
                (uintptr_t)b->code->function_die.addr);
        COMPARE(a->code->vaddr, b->code->vaddr);
        return 0;
}

static int find_in_function(struct type_reader *reader, const struct elf_file *file,
                            const struct linkage *linkage, struct globals *globals,
                            struct access **accesses, size_t count)
{
        Dwarf_Die function = accesses[0]->code->function_die;
        Dwarf_Addr entry;
        struct flow_context flow = {.reader = reader,
                                    .types = reader->types,
                                    .file = file,
                                    .slots = &linkage->threads,
                                    .function = &function,
                                    .globals = globals};
        struct flow_answer *answers = calloc(count, sizeof(*answers));

        if (!answers)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                answers[i] = (struct flow_answer){.vaddr = accesses[i]->code->vaddr,
                                                  .question = accesses[i]->question,
                                                  .traced = accesses[i]->traced,
                                                  .lineless = accesses[i]->code->lineless,
                                                  .cfa_offset_bytes =
                                                      accesses[i]->cfa_offset_bytes,
                                                  .place = {.type = TYPE_NONE},
                                                  .variable = {.type = TYPE_NONE}};
        int error = globals_of_unit(globals, &function);

        flow.folded = !error && die_entry_address(reader->dwarf, &function, &entry) &&
                      globals_folded(globals, entry);
        if (!error)
                error = flow_function(&flow, answers, count);
        bool of_gcc = function_is_of_gcc(reader->dwarf, &function);

        for (size_t i = 0; i < count && !error; i++) {
                accesses[i]->flow = answers[i];
                accesses[i]->flow.access.members_of_one = of_gcc;
                accesses[i]->asked = true;
        }
        free(answers);
        return error;
}

/* Answers everything except the names of thread-local variables. */
static int find_in_functions(struct type_reader *reader, const struct elf_file *file,
                             const struct linkage *linkage, struct access **accesses,
                             size_t count)
{
        struct globals globals = {.reader = reader,
                                  .symbols = linkage->symbols,
                                  .slots = &linkage->slots,
                                  .file = file};
        int error = 0;

        for (size_t i = 0, end; i < count && !error; i = end) {
                const void *function = accesses[i]->code->function_die.addr;

                for (end = i + 1;
                     end < count && accesses[end]->code->function_die.addr == function;)
                        end++;
                if (function)
                        error = find_in_function(reader, file, linkage, &globals,
                                                 accesses + i, end - i);
        }
        globals_free(&globals);
        return error;
}

/* ---- thread-local variables ---- */

static bool in_thread(const struct access *access)
{
        return access->asked && access->question == FLOW_OPERAND &&
               access->flow.outcome == FLOW_FOUND && place_in_thread(&access->flow.place);
}

/* Whether an index from the start of a variable of TYPE counts its items. */
static bool counts_items(const struct types *types, uint32_t type, uint64_t stride_bytes,
                         uint64_t *item_bytes)
{
        const struct type *array = &types->items[type];

        if (array->kind != TYPE_ARRAY)
                return false;
        *item_bytes = types->items[array->element].size_bytes;
        return *item_bytes > 0 && type_repeats(types, type, 0, stride_bytes);
}

/* Finds the variable at FLOW's place. An offset to an index (a[i - 1]) may lead into the
 * preceding variable, so an array must begin there. FIXED: the code has the variables'
 * addresses as constants. An index may then count from an array's end, unless FILE has no
 * room for a second array. */
static void take_variable(const struct types *types, const struct elf_file *file,
                          bool fixed, const struct data_place *data,
                          struct flow_answer *flow)
{
        uint64_t offset = data->vaddr - data->start, item_bytes;

        if (!data->variable || data->type == TYPE_NONE || offset >= data->size_bytes)
                return;
        if (flow->place.indexed) {
                if (!counts_items(types, data->type, flow->place.stride_bytes,
                                  &item_bytes) ||
                    (fixed ? file->thread_bytes - data->size_bytes >= 2 * item_bytes
                           : offset > 0))
                        return;
                int64_t rest = ((int64_t)(offset % item_bytes) + flow->variable_offset) %
                               (int64_t)item_bytes;

                offset = (uint64_t)(rest < 0 ? rest + (int64_t)item_bytes : rest);
        }
        flow->variable = (struct frame_variable){
            .offset = (int64_t)data->start, .type = data->type, .name = data->name};
        flow->variable_offset = (int64_t)offset;
}

static int name_thread_variables(struct type_reader *reader, const struct elf_file *file,
                                 const struct linkage *linkage, struct access **accesses,
                                 size_t count)
{
        struct data_place *data = calloc(count + 1, sizeof(*data));
        struct data_place **list = calloc(count + 1, sizeof(*list));
        size_t listed = 0;
        int error = data && list ? 0 : -ENOMEM;

        for (size_t i = 0; i < count && !error; i++) {
                if (!in_thread(accesses[i]))
                        continue;
                data[i].vaddr = (uint64_t)accesses[i]->flow.place.offset;
                list[listed++] = &data[i];
        }
        if (!error && listed > 0)
                error = data_find(reader, file, linkage->symbols, list, listed,
                                  reader->names);
        for (size_t i = 0; i < count && !error && listed > 0; i++)
                if (in_thread(accesses[i]))
                        take_variable(reader->types, file,
                                      thread_slots_none(&linkage->threads), &data[i],
                                      &accesses[i]->flow);
        free(data);
        free(list);
        return error;
}

/* Allocation functions of GNU's library, also of older versions, and of LLVM's: the texts
 * before and behind the type's name. */
static const struct {
        const char *before;
        const char *after;
} functions[] = {
    {"std::__new_allocator<", ">::allocate"},
    {"__gnu_cxx::new_allocator<", ">::allocate"},
    {"std::allocator<", ">::allocate"},
    {"std::__1::allocator<", ">::allocate"},
    {"std::make_unique<", "[]>"},
    {"std::__1::make_unique<", "[]>"},
};

/* The rest of TEXT behind PREFIX; NULL: it does not begin with PREFIX. */
static const char *behind(const char *text, const char *prefix)
{
        size_t length = strlen(prefix);

        return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* Whether FUNCTION allocates items of the type named ITEM. */
static bool allocates(const char *function, const char *item)
{
        for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
                const char *rest = behind(function, functions[i].before);

                rest = rest ? behind(rest, item) : NULL;
                rest = rest ? behind(rest + (*rest == ' '), functions[i].after) : NULL;
                if (rest && (*rest == '\0' || *rest == '(' || *rest == '['))
                        return true;
        }
        return false;
}

/* Whether the call at PLACE allocates items of TYPE: in std::allocator<TYPE>::allocate(),
 * std::make_unique<TYPE[]>() or a function inlined into these. */
static bool allocated_items(const struct code_frames *frames,
                            const struct code_place *place, const struct types *types,
                            const struct string_pool *names, uint32_t type)
{
        const char *item =
            type < types->count ? string_pool_text(names, types->items[type].name) : NULL;
        uint32_t levels = place->frame_count ? place->frame_count : 1;

        for (uint32_t i = 0; item && *item && i < levels; i++) {
                uint32_t name = place->frame_count
                                    ? frames->items[place->first_frame + i].function
                                    : place->function;
                const char *function = string_pool_text(names, name);

                if (function && allocates(function, item))
                        return true;
        }
        return false;
}

/* ---- items that allocators of C++'s library are asked for ---- */

static void take_items(const struct type_reader *reader, const struct code_frames *frames,
                       struct access *access)
{
        const struct place_value *block = &access->flow.place;

        if (rule_applies("allocated-items") && access->asked &&
            access->question == FLOW_RESULT && block->kind == PLACE_POINTER &&
            allocated_items(frames, access->code, reader->types, reader->names,
                            block->type))
                access->flow.item_bytes = type_size(reader->types, block->type);
}

int access_find(struct type_reader *reader, const struct elf_file *file,
                const struct symbol_table *symbols, const struct code_frames *frames,
                struct access **accesses, size_t count)
{
        struct linkage linkage = {.symbols = symbols};
        int error = count > 0 ? relocations_read(&linkage.slots, file) : 0;

        if (!error)
                error = thread_slots_read(&linkage.threads, file, &linkage.slots);
        SORT(accesses, count, compare_accesses);
        if (!error)
                error = find_in_functions(reader, file, &linkage, accesses, count);
        if (!error && count > 0)
                error = name_thread_variables(reader, file, &linkage, accesses, count);
        for (size_t i = 0; i < count && !error; i++)
                take_items(reader, frames, accesses[i]);
        relocations_free(&linkage.slots);
        thread_slots_free(&linkage.threads);
        return error;
}
