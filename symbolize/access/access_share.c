/* SPDX-License-Identifier: MIT */
/* Each lane reads types into a table; the types in answers are merged at the end. The
 * number of lanes depends on the questions only, not on the processors: so the answers
 * are the same. */
#include "access_share.h"

#include <errno.h>

#include "parallel.h"
#include "type_import.h"

enum { LANES = 4, LANE_LEAST = 512 };

struct lane {
        struct access **accesses;
        size_t count;
        struct types types;
        struct string_pool *names;
        bool spent; /* its budget */
};

struct lanes {
        struct type_reader *reader;
        const struct elf_file *file;
        const struct linkage *linkage;
        struct lane items[LANES];
};

static int find_in_lane(void *context, size_t worker, size_t job)
{
        struct lanes *lanes = context;
        struct lane *lane = &lanes->items[job];
        struct dwarf_file copy;
        struct type_reader reader;

        (void)worker;
        lane->names = string_pool_new();
        if (!lane->names || dwarf_file_share(&copy, lanes->reader->dwarf) < 0)
                return -ENOMEM;
        copy.budget /= LANES / 2; /* all together twice as much as without lanes */
        type_reader_open(&reader, &copy, &lane->types, lane->names);
        int error = access_find_in_functions(&reader, lanes->file, lanes->linkage,
                                             lane->accesses, lane->count);

        lane->spent = copy.budget == 0;
        type_reader_close(&reader);
        dwarf_file_close(&copy);
        return error ? error : string_pool_failed(lane->names);
}

/* Whether both are in one function, which is for one lane. */
static bool together(const struct access *a, const struct access *b)
{
        return a->code->function_die.addr == b->code->function_die.addr;
}

static void divide(struct lanes *lanes, struct access **accesses, size_t count)
{
        size_t at = 0;

        for (size_t i = 0; i < LANES; i++) {
                size_t end = count * (i + 1) / LANES;

                if (end < at)
                        end = at;
                while (end > at && end < count &&
                       together(accesses[end - 1], accesses[end]))
                        end++;
                lanes->items[i].accesses = accesses + at;
                lanes->items[i].count = end - at;
                at = end;
        }
}

/* Merges LANE's answers. */
static int take_lane(const struct lanes *lanes, const struct lane *lane)
{
        struct type_import import;
        int error = type_import_begin(&import, lanes->reader->types, lanes->reader->names,
                                      &lane->types, lane->names);

        for (size_t i = 0; i < lane->count && !error; i++) {
                struct flow_answer *flow = &lane->accesses[i]->flow;

                if (!lane->accesses[i]->asked)
                        continue;
                error = type_import(&import, &flow->place.type);
                if (!error)
                        error = type_import(&import, &flow->variable.type);
                flow->pointer = type_import_name(&import, flow->pointer);
                flow->variable.name = type_import_name(&import, flow->variable.name);
                flow->variable.inlined =
                    type_import_name(&import, flow->variable.inlined);
        }
        type_import_end(&import);
        lanes->reader->dwarf->spent |= lane->spent;
        return error;
}

static void free_lane(struct lane *lane)
{
        types_free(&lane->types);
        string_pool_free(lane->names);
}

int access_share(struct type_reader *reader, const struct elf_file *file,
                 const struct linkage *linkage, struct access **accesses, size_t count)
{
        struct lanes lanes = {reader, file, linkage, {{0}}};

        if (count < LANES * LANE_LEAST || !dwarf_file_shareable(reader->dwarf))
                return access_find_in_functions(reader, file, linkage, accesses, count);
        divide(&lanes, accesses, count);
        int error = parallel_run(find_in_lane, &lanes, LANES);

        for (size_t i = 0; i < LANES; i++) {
                if (!error)
                        error = take_lane(&lanes, &lanes.items[i]);
                free_lane(&lanes.items[i]);
        }
        return error;
}
