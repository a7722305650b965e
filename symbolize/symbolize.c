/* SPDX-License-Identifier: MIT */
/* The stage from beginning to end. It reads the raw rows. It finds each address's place
 * by the mappings of that time. It names the places module by module, and writes the
 * result. */
#include "symbolize.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"
#include "debuginfod.h"
#include "kallsyms.h"
#include "lost_names.h"
#include "name_source.h"
#include "perf_map.h"
#include "result.h"
#include "site.h"
#include "sweep.h"

struct stage {
        struct raw raw;
        struct sweep sweep;
        struct code_frames frames;
        struct types types;
        const char *const *allocators;
        bool *allocators_met; /* by allocator: a block's stack contains it */
        struct string_pool *names;
        struct debug_search search;
        struct module_search files;
        struct kallsyms kallsyms;
        struct name_sources sources;
        struct looked_for looked_for;
        struct debuginfod *debuginfod;
        uint64_t trace_types;                     /* from the options */
        int64_t perf_maps[PERF_MAP_OF_LATER + 1]; /* lists of code, by their owners */
};

static int check_modules(struct stage *stage)
{
        struct raw *raw = &stage->raw;
        int error = 0;

        for (size_t i = 0; i < raw->module_count && !error; i++) {
                raw->modules[i].files = &stage->files;
                error = module_check(&raw->modules[i]);
        }
        return error;
}

/* The kernel that needs a symbol list; NULL: none. */
static const struct module *listed_kernel(const struct stage *stage)
{
        for (size_t i = 0; i < stage->raw.module_count; i++)
                if (stage->raw.modules[i].kernel &&
                    stage->raw.modules[i].state != MODULE_READY &&
                    stage->raw.modules[i].wanted.build_id_bytes > 0)
                        return &stage->raw.modules[i];
        return NULL;
}

/* Reads the symbol list of the running kernel, if that is KERNEL and lies where it was
 * recorded. Otherwise the list stays empty, as when the running kernel hides its
 * addresses. */
static int read_running(struct stage *stage, const struct module *kernel)
{
        if (stage->files.symfs ||
            !kallsyms_runs(kernel->wanted.build_id, kernel->wanted.build_id_bytes))
                return 0;
        int error = kallsyms_read(&stage->kallsyms, kallsyms_running, stage->names, NULL);

        for (size_t i = 0; i < stage->raw.mapping_count; i++) {
                const struct raw_mapping *mapping = &stage->raw.mappings[i];

                if (mapping->module != RAW_NONE &&
                    &stage->raw.modules[mapping->module] == kernel &&
                    !kallsyms_has(&stage->kallsyms, stage->names,
                                  raw_kernel_text(mapping), "_text"))
                        kallsyms_free(&stage->kallsyms);
        }
        return error == -ENOMEM ? error : 0;
}

/* Reads the kernel's symbol list: the given one, the one in perf's cache, or the running
 * kernel's. The running kernel may have loaded its modules at other addresses since the
 * recording. */
static int read_kallsyms(struct stage *stage, const char *path, struct diag *diag)
{
        const struct module *kernel = path ? NULL : listed_kernel(stage);
        enum raw_kallsyms of = RAW_KALLSYMS_ALL;
        char *cached = NULL;
        int error = 0;

        if (kernel)
                path = cached = module_file_kallsyms(&kernel->wanted, &stage->files);
        if (path) {
                error = kallsyms_read(&stage->kallsyms, path, stage->names, diag);
        } else if (kernel) {
                of = RAW_KALLSYMS_KERNEL;
                error = read_running(stage, kernel);
                if (error)
                        diag_no_memory(diag);
        }
        free(cached);
        raw_find_biases(&stage->raw, stage->kallsyms.count > 0 ? of : RAW_KALLSYMS_NONE);
        return error;
}

enum { ALLOCATING_FRAMES = 8 };

/* Makes room for questions about PLACE; NULL when out of memory. */
static struct place_asks *ask_about(struct place *place)
{
        if (!place->asks)
                place->asks = calloc(1, sizeof(*place->asks));
        return place->asks;
}

/* Marks the innermost calls on STACK, through which its blocks were allocated. 0 or
 * -ENOMEM, as all. */
static int mark_calls(struct sweep *sweep, uint32_t stack)
{
        for (int i = 0; i < ALLOCATING_FRAMES && stack != RAW_NONE; i++) {
                uint32_t index = sweep->stack_places[stack];
                struct place *place =
                    index == RAW_NONE ? NULL : &sweep->places.items[index];

                if (place && place->in_image) {
                        if (!ask_about(place))
                                return -ENOMEM;
                        place->asks->call = (struct access){.code = &place->code,
                                                            .question = FLOW_RESULT};
                }
                stack = sweep->raw->stacks[stack].parent;
        }
        return 0;
}

/* Marks calls of C library functions that contain samples with an address: the caller may
 * know the type that such a function reads. */
static int mark_arguments(struct sweep *sweep)
{
        const struct raw *raw = sweep->raw;

        for (size_t i = 0; i < raw->stack_count; i++) {
                uint32_t parent = raw->stacks[i].parent, inner = sweep->stack_places[i];

                if (sweep->stack_samples[i] == 0 || parent == RAW_NONE ||
                    inner == RAW_NONE || sweep->stack_places[parent] == RAW_NONE)
                        continue;
                struct place *caller = &sweep->places.items[sweep->stack_places[parent]];

                if (!sweep->places.items[inner].accesses || !caller->in_image ||
                    !site_in_c_library(sweep, &sweep->places.items[inner]))
                        continue;
                if (!ask_about(caller))
                        return -ENOMEM;
                caller->asks->argument =
                    (struct access){.code = &caller->code, .question = FLOW_ARGUMENT};
        }
        return 0;
}

/* Marks the instructions whose memory operands need an analysis. */
static int mark_accesses(struct sweep *sweep)
{
        int error = 0;

        for (size_t i = 0; i < sweep->places.count; i++) {
                struct place *place = &sweep->places.items[i];

                /* Places that only stacks contain are not shown as instructions. */
                place->code.sampled = sweep->place_samples[i] > 0;
                /* Only the last sample shows whether any sample has an address. */
                if (!(place->accesses ||
                      (place->accesses_unaddressed && sweep->samples.addressed)) ||
                    !place->in_image)
                        continue;
                if (!ask_about(place))
                        return -ENOMEM;
                place->asks->access.code = &place->code;
        }
        for (size_t i = 0; i < sweep->raw->allocation_count && !error; i++)
                error = mark_calls(sweep, sweep->raw->allocations[i].stack);
        if (!error)
                error = mark_arguments(sweep);
        for (size_t i = 0; i < sweep->frames.count; i++)
                sweep->frames.items[i].access.code =
                    &sweep->places.items[sweep->frames.items[i].place].code;
        return error;
}

/* Marks the instructions at ADDRESS, in any process, for the trace. */
static void mark_traced(struct sweep *sweep, uint64_t address)
{
        for (size_t i = 0; address && i < sweep->ips.count; i++) {
                struct place *place = &sweep->places.items[sweep->ips.items[i].place];

                if (sweep->ips.items[i].ip == address && place->asks)
                        place->asks->access.traced = true;
        }
}

static int list_access(struct module_questions *questions, struct access *access)
{
        return access->code ? PUSH(&questions->accesses, access) : 0;
}

static int list_place(struct module_questions *questions, struct place *place)
{
        int error = PUSH(&questions->code, &place->code);

        if (error || !place->asks)
                return error;
        error = list_access(questions, &place->asks->access);
        if (!error)
                error = list_access(questions, &place->asks->call);
        return error ? error : list_access(questions, &place->asks->argument);
}

/* Lists the questions about each module in OF, which has room for all. */
static int list_questions(struct sweep *sweep, struct module_questions *of)
{
        int error = 0;

        for (size_t i = 0; i < sweep->places.count && !error; i++)
                if (sweep->places.items[i].in_image)
                        error = list_place(&of[sweep->places.items[i].module],
                                           &sweep->places.items[i]);
        for (size_t i = 0; i < sweep->frames.count && !error; i++)
                error = list_access(
                    &of[sweep->places.items[sweep->frames.items[i].place].module],
                    &sweep->frames.items[i].access);
        for (size_t i = 0; i < sweep->variables.count && !error; i++) {
                struct module_questions *at = &of[sweep->variables.items[i].module];

                error = PUSH(&at->data, &sweep->variables.items[i].data);
        }
        return error;
}

static void name_module(struct stage *stage, struct module *module,
                        const struct module_questions *questions)
{
        const struct module_answers answers = {stage->names, &stage->frames,
                                               &stage->types};

        if (module->state != MODULE_KALLSYMS) {
                if (questions->code.count + questions->data.count > 0)
                        module_name(module, &stage->search, questions, &answers);
                return;
        }
        for (size_t i = 0; i < questions->code.count; i++) {
                struct code_place *code = questions->code.items[i];

                code->function = kallsyms_find(&stage->kallsyms, code->vaddr);
        }
}

static int name_places(struct stage *stage)
{
        const size_t modules = stage->raw.module_count;
        struct module_questions *questions = calloc(modules + 1, sizeof(*questions));
        int error = questions ? mark_accesses(&stage->sweep) : -ENOMEM;

        if (!error) {

                mark_traced(&stage->sweep, stage->trace_types);
                error = list_questions(&stage->sweep, questions);
        }
        for (size_t i = 0; i < modules && questions; i++) {
                if (!error)
                        name_module(stage, &stage->raw.modules[i], &questions[i]);
                free(questions[i].code.items);
                free(questions[i].data.items);
                free(questions[i].accesses.items);
        }
        free(questions);
        return error;
}

/* Names code without a file, which a compiler made while PROCESS ran. MADE is that
 * process's list of code. */
static void name_made_code(struct stage *stage, uint32_t process,
                           const struct interval_map *made)
{
        for (size_t i = 0; i < stage->sweep.places.count; i++) {
                struct place *place = &stage->sweep.places.items[i];
                uint32_t name;

                if (place->process != process || place->module != RAW_NONE)
                        continue;
                name = interval_map_find(made, place->code.vaddr);
                if (name != INTERVAL_NONE)
                        place->code.function = name;
        }
}

/* Reads the list of code that PROCESS made. With files of another machine, the lists on
 * this machine belong to other processes. */
static int read_perf_map(struct stage *stage, uint32_t process, struct interval_map *made)
{
        const struct raw_process *raw = &stage->raw.processes[process];
        const struct perf_map_process owner = {raw->pid, raw->begun_s, raw->ended_s};
        enum perf_map_owner found = PERF_MAP_OWN;
        int error = stage->files.symfs ? 0
                                       : perf_map_read(&owner, made, stage->names,
                                                       &stage->looked_for, &found);

        stage->perf_maps[found]++;
        return error;
}

/* Gives general names to the remaining code. [vdso] is the kernel's code in a process, if
 * its file is not known or has no name there. [JIT code] was made at run time. */
static void name_the_rest(struct stage *stage)
{
        for (size_t i = 0; i < stage->sweep.places.count; i++) {
                struct place *place = &stage->sweep.places.items[i];

                if (place->code.function || !place->mapped)
                        continue;
                place->unlisted = place->module == RAW_NONE && !place->vdso;
                if (place->vdso || place->unlisted)
                        place->code.function = string_pool_put(
                            stage->names, place->vdso ? vdso_module : UNLISTED_CODE);
        }
}

static int name_places_without_file(struct stage *stage)
{
        bool *asked = calloc(stage->raw.process_count + 1, sizeof(*asked));
        int error = asked ? 0 : -ENOMEM;

        for (size_t i = 0; i < stage->sweep.places.count && !error; i++) {
                uint32_t process = stage->sweep.places.items[i].process;
                struct interval_map made = {0};

                if (process == RAW_NONE || asked[process])
                        continue;
                asked[process] = true;
                error = read_perf_map(stage, process, &made);
                if (!error)
                        name_made_code(stage, process, &made);
                interval_map_free(&made);
        }
        free(asked);
        name_the_rest(stage);
        return error;
}

static int find_names(struct stage *stage, struct diag *diag)
{
        int error = name_places(stage);

        if (!error)
                error = name_places_without_file(stage);
        return error ? diag_set(diag, error, "out of memory while naming the samples")
                     : 0;
}

static int write_names(struct stage *stage, struct db *db, struct diag *diag)
{
        const struct object_sources from = {&stage->sweep,     &stage->frames,
                                            &stage->types,     stage->names,
                                            stage->allocators, stage->allocators_met};
        const struct {
                const char *kind;
                int64_t count;
        } files[] = {
            {"perf maps of earlier processes", stage->perf_maps[PERF_MAP_OF_EARLIER]},
            {"perf maps of later processes", stage->perf_maps[PERF_MAP_OF_LATER]},
            {"debug files not delivered by servers",
             (int64_t)debuginfod_failures(stage->debuginfod)}};
        int error = result_write(&from, db, diag);

        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !error; i++)
                error = db_ledger_set(db, "symbolize", files[i].kind, files[i].count,
                                      "files", diag);
        return error ? error
                     : name_sources_write(&stage->sources, &stage->looked_for, db, diag);
}

static int note_allocators(struct stage *stage, const char *const *allocators,
                           struct diag *diag)
{
        size_t count = 0;

        while (allocators && allocators[count])
                count++;
        stage->allocators = allocators;
        stage->allocators_met = calloc(count + 1, sizeof(bool));
        return stage->allocators_met ? 0 : diag_no_memory(diag);
}

/* A function name that no stack contains has no effect. The user may not expect that. */
static void tell_unmet_allocators(const struct stage *stage)
{
        for (size_t i = 0; stage->allocators && stage->allocators[i]; i++)
                if (!stage->allocators_met[i])
                        diag_printf("symbolize",
                                    "--allocator: no block was allocated through a "
                                    "function '%s'; names are as in reports by function",
                                    stage->allocators[i]);
}

/* Looks for the sources of names. 1 when the names in DB were made from the same sources.
 * Only a request shows whether servers have other files now. */
static int prepare(struct stage *stage, struct db *db,
                   const struct symbolize_options *options, struct diag *diag)
{
        int error;

        stage->trace_types = options->trace_types;
        stage->search.directories = options->debuginfo_paths;
        stage->search.root = options->symfs;
        stage->search.looked_for = &stage->looked_for;
        error = note_allocators(stage, options->allocators, diag);
        if (error)
                return error;
        stage->files = (struct module_search){options->symfs, options->build_id_paths,
                                              options->vmlinux};
        error = options->debuginfod ? debuginfod_open(&stage->debuginfod, diag) : 0;
        if (!error)
                error = name_sources_find(&stage->sources, db, options, &stage->files,
                                          &stage->search, diag);
        if (error)
                return error;
        if (!options->debuginfod)
                return options->trace_types
                           ? 0
                           : name_sources_same(&stage->sources, db, diag);
        /* Only now, because most mapped files have no samples. */
        stage->search.fetch = debuginfod_fetch;
        stage->search.fetch_context = stage->debuginfod;
        return 0;
}

static int make_names(struct stage *stage, struct db *db,
                      const struct symbolize_options *options, struct diag *diag)
{
        bool any_before = false;
        int error;

        stage->names = string_pool_new();
        if (!stage->names)
                return diag_no_memory(diag);
        error = db_exec(db, "BEGIN IMMEDIATE", diag);
        if (error)
                return error;
        error = raw_read(&stage->raw, db, diag);
        if (!error && (error = check_modules(stage)))
                diag_no_memory(diag);
        if (!error)
                error = read_kallsyms(stage, options->kallsyms, diag);
        if (!error && !options->drop_names)
                error = lost_names_note(db, &any_before, diag);
        if (!error)
                error = result_clear(db, diag);
        if (!error)
                error = sweep_open(&stage->sweep, &stage->raw, &stage->search, db, diag);
        if (!error)
                error = sweep_run(&stage->sweep, diag);
        if (!error)
                error = find_names(stage, diag);
        if (!error)
                error = write_names(stage, db, diag);
        if (!error && any_before)
                error = lost_names_check(db, &stage->files, diag);
        if (!error)
                error = db_exec(db, "COMMIT", diag);
        if (error)
                db_exec(db, "ROLLBACK", NULL);
        return error;
}

int symbolize(struct db *db, const struct symbolize_options *options, struct diag *diag)
{
        struct stage stage = {0};
        int error = prepare(&stage, db, options, diag);

        if (error == 0)
                error = make_names(&stage, db, options, diag);
        if (error == 0 && stage.raw.allocation_count + stage.raw.total_count > 0)
                tell_unmet_allocators(&stage);
        free(stage.allocators_met);
        types_free(&stage.types);
        sweep_free(&stage.sweep);
        raw_free(&stage.raw);
        code_frames_free(&stage.frames);
        kallsyms_free(&stage.kallsyms);
        string_pool_free(stage.names);
        looked_for_free(&stage.sources.files);
        looked_for_free(&stage.looked_for);
        debuginfod_close(stage.debuginfod);
        return error > 0 ? 0 : error;
}
