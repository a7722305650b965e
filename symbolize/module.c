/* SPDX-License-Identifier: MIT */
/* Modules are opened one after the other: only one's debug information is in memory. */
#include "module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rule.h"
#include "source_members.h"
#include "thread_slots.h"

/* ---- opening and reading ---- */

/* The debug information of FILE: inside it, or in a separate file opened as DEBUG. */
struct debug_info {
        struct elf_file debug;
        struct elf_file alt;
        struct dwarf_file dwarf;
        bool has_debug;
        bool has_alt;
        bool needs_alt;
        bool has_dwarf;
};

struct module_reading {
        enum module_state state;
        struct elf_file file; /* only when READY, as the rest */
        struct debug_info info;
        struct symbol_table symbols;
};

/* Opens MODULE's file, when it is the one that was mapped. 0 or -ENOMEM. */
static int open_same(const struct module *module, struct elf_file *file,
                     enum module_state *state)
{
        static const struct module_search at_its_path = {0};

        int error = module_file_open(&module->wanted,
                                     module->files ? module->files : &at_its_path, file);

        *state = error == 0          ? MODULE_READY
                 : error == -ENOEXEC ? MODULE_NOT_ELF
                 : error == -ESTALE  ? MODULE_CHANGED
                                     : MODULE_MISSING;
        return error == -ENOMEM ? error : 0;
}

/* Opens the debug information in SOURCE, which belongs to the program at PROGRAM. */
static int open_dwarf(const struct elf_file *source, const char *program,
                      const struct debug_search *search, bool with_locations,
                      struct debug_info *info)
{
        int error = debug_file_find_alt(source, search, &info->alt);

        info->has_alt = error == 0;
        info->needs_alt = elf_section_named(source->elf, ".gnu_debugaltlink") != NULL;
        if (error == -ENOMEM)
                return error;
        error = dwarf_file_open(&info->dwarf, source, info->has_alt ? &info->alt : NULL,
                                with_locations);
        info->has_dwarf = error == 0;
        info->dwarf.package.looked_for = search->looked_for;
        info->dwarf.package.program = program;
        return error;
}

static void open_debug_info(struct module *module, const struct elf_file *file,
                            const struct debug_search *search, bool with_locations,
                            struct debug_info *info)
{
        int error = open_dwarf(file, file->path, search, with_locations, info);

        if (error == -ENOENT || error == -EINVAL) {
                int own = error;

                if (info->has_alt)
                        elf_file_close(&info->alt);
                info->has_alt = false;
                error = debug_file_find(file, search, &info->debug);
                info->has_debug = error == 0;
                if (error == 0)
                        error = open_dwarf(&info->debug, file->path, search,
                                           with_locations, info);
                module->debug_of_others = error == -ESTALE;
                if (error == -ENOENT || error == -ESTALE)
                        error = own;
        }
        module->too_large = error == -EFBIG;
        module->damaged = error == -EINVAL;
        module->no_memory = error == -ENOMEM;
}

static void close_debug_info(struct debug_info *info)
{
        if (info->has_dwarf)
                dwarf_file_close(&info->dwarf);
        if (info->has_alt)
                elf_file_close(&info->alt);
        if (info->has_debug)
                elf_file_close(&info->debug);
}

/* Reads the locations of variables only if WITH_LOCATIONS. 0 or -ENOMEM; the caller
 * closes READING in any case. */
static int open_reading(struct module_reading *reading, struct module *module,
                        const struct debug_search *search, bool with_locations)
{
        *reading = (struct module_reading){.state = MODULE_MISSING};
        int error = open_same(module, &reading->file, &reading->state);

        if (error || reading->state != MODULE_READY)
                return error;
        open_debug_info(module, &reading->file, search, with_locations, &reading->info);
        return symbol_table_read(&reading->symbols, &reading->file,
                                 reading->info.has_debug ? &reading->info.debug : NULL);
}

static void close_reading(struct module_reading *reading)
{
        symbol_table_free(&reading->symbols);
        close_debug_info(&reading->info);
        if (reading->state == MODULE_READY)
                elf_file_close(&reading->file);
}

/* ---- facts about the file ---- */

/* The address of the symbol _text in the kernel's file. perf records the kernel's
 * position by this symbol. */
static int find_kernel_text(const struct elf_file *file, uint64_t *vaddr)
{
        struct symbol_table symbols;
        int error = symbol_table_read(&symbols, file, NULL);

        if (error)
                return error;
        for (size_t i = 0; i < symbols.count; i++)
                if (strcmp(symbols.symbols[i].name, "_text") == 0)
                        *vaddr = symbols.symbols[i].vaddr;
        symbol_table_free(&symbols);
        return 0;
}

static int find_thread_memory(struct module *module)
{
        struct relocations relocations = {0};
        struct thread_slots slots = {0};
        int error = module->file.thread_bytes > 0
                        ? relocations_read(&relocations, &module->file)
                        : 0;

        if (!error)
                error = thread_slots_read(&slots, &module->file, &relocations);

        module->thread_memory_late = slots.asked_for;
        thread_slots_free(&slots);
        relocations_free(&relocations);
        return error;
}

int module_check(struct module *module)
{
        int error = open_same(module, &module->file, &module->state);

        module->kernel = strcmp(module->wanted.path, kernel_module) == 0;
        if (error || module->state != MODULE_READY)
                return error;
        module->verified = module->wanted.build_id_bytes > 0 || module->wanted.file.known;
        if (module->kernel)
                error = find_kernel_text(&module->file, &module->kernel_text);
        if (!error)
                error = find_thread_memory(module);
        elf_file_detach(&module->file);
        return error;
}

/* Each part has another value, because the map joins neighbours of one value. */
static int add_parts(const struct elf_file *file, const struct symbol_table *symbols,
                     bool has_dwarf, struct range_map *parts)
{
        int error = 0;

        for (size_t i = 0; i < symbols->objects.count && !error; i++)
                error =
                    range_map_add(parts, symbols->objects.items[i].low,
                                  symbols->objects.items[i].high, (uint32_t)parts->count);
        for (size_t i = 0; i < file->section_count && !error && !has_dwarf; i++)
                error =
                    range_map_add(parts, file->sections[i].vaddr,
                                  file->sections[i].vaddr + file->sections[i].size_bytes,
                                  (uint32_t)parts->count);
        return error ? error : range_map_build(parts);
}

int module_data_parts(const struct module *module, const struct debug_search *search,
                      struct range_map *parts)
{
        struct symbol_table symbols = {0};
        enum module_state state;
        struct elf_file file, debug;
        bool has_debug = false;
        int error = open_same(module, &file, &state);

        if (error || state != MODULE_READY)
                return error;
        if (!debug_file_has_dwarf(&file)) {
                error = debug_file_find(&file, search, &debug);
                has_debug = error == 0;
        }
        if (error != -ENOMEM)
                error = symbol_table_read(&symbols, &file, has_debug ? &debug : NULL);
        if (!error)
                error = add_parts(&file, &symbols,
                                  has_debug || debug_file_has_dwarf(&file), parts);
        symbol_table_free(&symbols);
        if (has_debug)
                elf_file_close(&debug);
        elf_file_close(&file);
        return error;
}

/* ---- naming ---- */

static int name_all(struct module_reading *reading, const struct module_questions *ask,
                    const struct module_answers *answers)
{
        struct dwarf_file *dwarf = reading->info.has_dwarf ? &reading->info.dwarf : NULL;
        const struct elf_file *file = &reading->file;
        const struct symbol_table *symbols = &reading->symbols;
        struct type_reader reader = {0};
        int error = code_find(dwarf, file, symbols, ask->code.items, ask->code.count,
                              answers->names, answers->frames);

        if (!error)
                error = code_read_instructions(file, ask->code.items, ask->code.count,
                                               answers->names);
        if (dwarf)
                type_reader_open(&reader, dwarf, answers->types, answers->names);
        if (!error)
                error = data_find(dwarf ? &reader : NULL, file, symbols, ask->data.items,
                                  ask->data.count, answers->names);
        if (!error && dwarf)
                error = access_find(&reader, file, symbols, answers->frames,
                                    ask->accesses.items, ask->accesses.count);
        if (!error && dwarf && rule_applies("source-members"))
                error = source_members_find(ask->accesses.items, ask->accesses.count,
                                            file->path, answers->names,
                                            dwarf->package.looked_for);
        type_reader_close(&reader);
        return error;
}

static void note_what_is_missing(struct module *module, const struct debug_info *info)
{
        module->too_costly |= info->has_dwarf && info->dwarf.budget == 0;
        module->alt_missing = info->has_dwarf && info->needs_alt && !info->dwarf.alt;
        module->splits_missing = info->dwarf.splits_missing;
        module->splits_too_many = info->dwarf.splits_too_many;
}

/* Turns all answers into questions again, because some may be half made. */
static void forget_answers(const struct module_questions *questions,
                           const struct module_answers *answers, size_t frame_count)
{
        for (size_t i = 0; i < questions->code.count; i++)
                *questions->code.items[i] =
                    (struct code_place){.vaddr = questions->code.items[i]->vaddr,
                                        .sampled = questions->code.items[i]->sampled};
        for (size_t i = 0; i < questions->data.count; i++)
                *questions->data.items[i] = (struct data_place){
                    .vaddr = questions->data.items[i]->vaddr, .type = TYPE_NONE};
        for (size_t i = 0; i < questions->accesses.count; i++) {
                questions->accesses.items[i]->asked = false;
                questions->accesses.items[i]->flow = (struct flow_answer){0};
        }
        answers->frames->count = frame_count;
        string_pool_recover(answers->names);
}

/* Names everything that fits into memory. */
static void name_in_memory(struct module *module, struct module_reading *reading,
                           const struct module_questions *questions,
                           const struct module_answers *answers)
{
        size_t frame_count = answers->frames->count;

        if (name_all(reading, questions, answers) == 0)
                return;
        module->no_memory = true;
        forget_answers(questions, answers, frame_count);
        if (!reading->info.has_dwarf)
                return;
        dwarf_file_close(&reading->info.dwarf);
        reading->info.has_dwarf = false;
        if (name_all(reading, questions, answers) != 0)
                forget_answers(questions, answers, frame_count);
}

void module_name(struct module *module, const struct debug_search *search,
                 const struct module_questions *questions,
                 const struct module_answers *answers)
{
        struct module_reading reading;
        /* Variables with location lists have no single address to search for. */
        int error = open_reading(&reading, module, search, questions->accesses.count > 0);

        module->no_memory |= error != 0;
        if (!error && reading.state != MODULE_READY) { /* changed since module_check */
                elf_file_close(&module->file);
                module->state = reading.state;
        }
        if (!error && module->state == MODULE_READY) {
                name_in_memory(module, &reading, questions, answers);
                note_what_is_missing(module, &reading.info);
        }
        close_reading(&reading);
}

void module_close(struct module *module)
{
        free((char *)module->wanted.path);
        free((uint8_t *)module->wanted.build_id);
        if (module->state == MODULE_READY)
                elf_file_close(&module->file);
}
