/* SPDX-License-Identifier: MIT */
/* The rows of this stage. Ids follow the order of the samples, so that the same
 * recording and the same files give the same rows. */
#include "result.h"

#include <stdlib.h>

#include "attribution.h"
#include "bulk_insert.h"
#include "stack_rows.h"
#include "type_padding.h"
#include "unnamed.h"

struct writing {
        const struct object_sources *from;
        const struct attribution *attribution;
        struct db *db;
        struct diag *diag;
        struct bulk_insert insert; /* into the table in work */
        bool *named;               /* of the pool's names: some place in code has it */
};

static void begin(struct writing *writing, const char *table, const char *columns)
{
        bulk_insert_open(&writing->insert, table, columns, writing->db, writing->diag);
}

static int end(struct writing *writing)
{
        return bulk_insert_close(&writing->insert, 0);
}

static void end_row(struct writing *writing)
{
        bulk_insert_row(&writing->insert);
}

static void put_int(struct writing *writing, int column, uint64_t value)
{
        bulk_insert_int(&writing->insert, column, (int64_t)value);
}

static void put_nonzero(struct writing *writing, int column, uint64_t value)
{
        if (value != 0)
                put_int(writing, column, value);
}

static void put_name(struct writing *writing, int column, uint32_t name)
{
        bulk_insert_text(&writing->insert, column,
                         string_pool_text(writing->from->names, name));
}

static void put_name_id(struct writing *writing, int column, uint32_t name)
{
        put_nonzero(writing, column, name);
        writing->named[name] = true;
}

static void put_module(struct writing *writing, int column, uint32_t module)
{
        if (module != RAW_NONE)
                bulk_insert_int(&writing->insert, column,
                                writing->from->sweep->raw->modules[module].module_id);
}

static int write_locations(struct writing *writing)
{
        const struct sweep *sweep = writing->from->sweep;

        begin(writing, "code_location",
              "location_id, module_id, address_offset, function_id, file_id, line");

        for (size_t i = 0; i < sweep->place_count; i++) {
                const struct place *place = &sweep->places[i];

                put_int(writing, 0, i + 1);
                put_module(writing, 1, place->module);
                put_int(writing, 2, place->code.vaddr);
                put_name_id(writing, 3,
                            code_label(writing->from->frames, place->code.function,
                                       place->code.number));
                put_name_id(writing, 4, place->code.file);
                put_nonzero(writing, 5, place->code.line);
                end_row(writing);
        }
        return end(writing);
}

static int write_function_starts(struct writing *writing)
{
        const struct sweep *sweep = writing->from->sweep;

        begin(writing, "function_start", "location_id, function_offset");

        for (size_t i = 0; i < sweep->place_count; i++) {
                const struct code_place *code = &sweep->places[i].code;

                if (!code->has_start)
                        continue;
                put_int(writing, 0, i + 1);
                put_int(writing, 1, code->start);
                end_row(writing);
        }
        return end(writing);
}

/* Of the places that samples were at. */
static int write_instructions(struct writing *writing)
{
        const struct sweep *sweep = writing->from->sweep;

        begin(writing, "instruction", "location_id, text, access_bytes");

        for (size_t i = 0; i < sweep->place_count; i++) {
                const struct code_place *code = &sweep->places[i].code;

                if (!code->instruction)
                        continue;
                put_int(writing, 0, i + 1);
                put_name(writing, 1, code->instruction);
                put_nonzero(writing, 2, code->access_bytes);
                end_row(writing);
        }
        return end(writing);
}

/* Of the accesses that samples were at, where their function was followed. */
static int write_access_patterns(struct writing *writing)
{
        const struct sweep *sweep = writing->from->sweep;

        begin(writing, "access_pattern",
              "location_id, pattern, stride_bytes, iteration_instructions");

        for (size_t i = 0; i < sweep->place_count; i++) {
                const struct access *access = &place_asks(&sweep->places[i])->access;
                const struct address_pattern *pattern = &access->flow.pattern;

                if (!access->asked || pattern->kind == PATTERN_UNKNOWN)
                        continue;
                put_int(writing, 0, i + 1);
                bulk_insert_text(&writing->insert, 1,
                                 address_pattern_name(pattern->kind));
                if (pattern->kind == PATTERN_STRIDE)
                        bulk_insert_int(&writing->insert, 2, pattern->stride_bytes);
                put_nonzero(writing, 3, pattern->instructions);
                end_row(writing);
        }
        return end(writing);
}

/* Why places have no line or function: most have both, and no row. */
static int write_unnamed(struct writing *writing)
{
        const struct sweep *sweep = writing->from->sweep;

        begin(writing, "unnamed", "location_id, line_reason, function_reason");

        for (size_t i = 0; i < sweep->place_count; i++) {
                const struct place *place = &sweep->places[i];
                const char *line = unnamed_line_reason(sweep->raw, place);
                const char *function = unnamed_function_reason(sweep->raw, place);

                if (!line && !function)
                        continue;
                put_int(writing, 0, i + 1);
                bulk_insert_text(&writing->insert, 1, line);
                bulk_insert_text(&writing->insert, 2, function);
                end_row(writing);
        }
        return end(writing);
}

static void put_frame(struct writing *writing, size_t location, uint32_t depth,
                      const struct code_frame *frame)
{
        put_int(writing, 0, location + 1);
        put_int(writing, 1, depth);
        put_name_id(writing, 2,
                    code_label(writing->from->frames, frame->function, frame->number));
        put_name_id(writing, 3, frame->call_file);
        put_nonzero(writing, 4, frame->call_line);
        end_row(writing);
}

static int write_inline_frames(struct writing *writing)
{
        const struct sweep *sweep = writing->from->sweep;

        begin(writing, "code_frame",
              "location_id, depth, function_id, call_file_id, call_line");

        for (size_t i = 0; i < sweep->place_count; i++) {
                const struct code_place *code = &sweep->places[i].code;

                for (uint32_t depth = 0; depth < code->frame_count; depth++)
                        put_frame(
                            writing, i, depth,
                            &writing->from->frames->items[code->first_frame + depth]);
        }
        return end(writing);
}

/* Those of places in code, with their numbers in the pool. */
static int write_names(struct writing *writing)
{
        size_t count = string_pool_count(writing->from->names);

        begin(writing, "name", "name_id, text");

        for (uint32_t name = 1; name <= count; name++) {
                if (!writing->named[name])
                        continue;
                put_int(writing, 0, name);
                put_name(writing, 1, name);
                end_row(writing);
        }
        return end(writing);
}

/* Where the instructions of clock_sample are, or those of instruction_sample. */
static int write_clocks(struct writing *writing, bool executed)
{
        const struct sweep *sweep = writing->from->sweep;

        if (executed)
                begin(writing, "instruction_sample_location",
                      "instruction_sample_id, location_id");
        else
                begin(writing, "clock_location", "clock_sample_id, location_id");
        for (size_t i = 0; i < sweep->raw->clock_count; i++) {
                if (sweep->raw->clocks[i].executed != executed)
                        continue;
                bulk_insert_int(&writing->insert, 0, sweep->raw->clock_ids[i]);
                put_int(writing, 1, sweep->clock_places[i] + UINT64_C(1));
                end_row(writing);
        }
        return end(writing);
}

static int write_clock_locations(struct writing *writing)
{
        int error = write_clocks(writing, false);

        return error ? error : write_clocks(writing, true);
}

static int write_objects(struct writing *writing)
{
        static const char *const kinds[] = {
            [OBJECT_GLOBAL] = "global",  [OBJECT_HEAP] = "heap", [OBJECT_STACK] = "stack",
            [OBJECT_TLS] = "tls",        [OBJECT_MMAP] = "mmap", [OBJECT_CODE] = "code",
            [OBJECT_UNKNOWN] = "unknown"};
        const struct objects *objects = &writing->attribution->objects;

        begin(writing, "data_object",
              "object_id, kind, name, module_id, alloc_function, alloc_file, alloc_line, "
              "size_bytes, allocations, total_bytes");

        for (size_t i = 0; i < objects->count; i++) {
                const struct object *object = &objects->items[i];

                put_int(writing, 0, i + 1);
                bulk_insert_text(&writing->insert, 1, kinds[object->kind]);
                put_name(writing, 2, object->name);
                put_module(writing, 3, object->module);
                put_name(writing, 4,
                         code_label(writing->from->frames, object->site.function,
                                    object->site.number));
                put_name(writing, 5, object->site.file);
                put_nonzero(writing, 6, object->site.line);
                if (object->has_size)
                        put_int(writing, 7, object->size_bytes);
                put_nonzero(writing, 8, object->allocations);
                put_nonzero(writing, 9, object->total_bytes);
                end_row(writing);
        }
        return end(writing);
}

static int write_types(struct writing *writing)
{
        const struct type_rows *rows = &writing->attribution->type_rows;
        const struct types *types = writing->from->types;

        begin(writing, "data_type", "type_id, name, size_bytes");

        for (size_t i = 0; i < rows->type_count; i++) {
                const struct type *type = &types->items[rows->types[i].type];

                put_int(writing, 0, i + 1);
                put_name(writing, 1, type->name);
                put_int(writing, 2, type->size_bytes);
                end_row(writing);
        }
        return end(writing);
}

static int write_fields(struct writing *writing)
{
        const struct type_rows *rows = &writing->attribution->type_rows;
        const struct types *types = writing->from->types;

        begin(writing, "type_field",
              "field_id, type_id, name, type, offset_bytes, size_bytes");

        for (size_t i = 0; i < rows->field_count; i++) {
                const struct field *field = &rows->fields[i].field;

                put_int(writing, 0, i + 1);
                put_int(writing, 1, rows->fields[i].type + UINT64_C(1));
                put_name(writing, 2, field->name);
                put_name(writing, 3,
                         field->type == TYPE_NONE ? 0 : types->items[field->type].name);
                put_int(writing, 4, field->offset_bytes);
                put_int(writing, 5, field->size_bytes);
                end_row(writing);
        }
        return end(writing);
}

static int write_padding(struct writing *writing)
{
        const struct type_rows *rows = &writing->attribution->type_rows;
        int error = 0;

        begin(writing, "type_padding", "type_id, offset_bytes, size_bytes");
        for (size_t row = 0; row < rows->type_count && !error; row++) {
                struct padding *found = NULL;
                size_t count = 0;

                if (type_padding(writing->from->types, rows->types[row].type, &found,
                                 &count) < 0)
                        error = diag_no_memory(writing->diag);
                for (size_t i = 0; i < count && !error; i++) {
                        put_int(writing, 0, row + 1);
                        put_int(writing, 1, found[i].offset_bytes);
                        put_int(writing, 2, found[i].size_bytes);
                        end_row(writing);
                }
                free(found);
        }
        return bulk_insert_close(&writing->insert, error);
}

/* Those that are read beside others. */
static int write_wide_reads(struct writing *writing)
{
        size_t count = writing->attribution->type_rows.field_count;
        uint64_t *samples = calloc(count + 1, sizeof(*samples));

        if (!samples)
                return diag_no_memory(writing->diag);
        wide_reads_count(&writing->attribution->wide_reads, samples);

        begin(writing, "wide_field", "field_id, wide_samples");

        for (size_t i = 0; i < count; i++) {
                if (samples[i] == 0)
                        continue;
                put_int(writing, 0, i + 1);
                put_int(writing, 1, samples[i]);
                end_row(writing);
        }
        free(samples);
        return end(writing);
}

static int write_type_sources(struct writing *writing)
{
        const struct type_sources *sources = &writing->attribution->type_sources;

        begin(writing, "type_source", "type_source_id, source, pointer, location_id");

        for (size_t i = 0; i < sources->count; i++) {
                const struct type_source *source = &sources->items[i];

                put_int(writing, 0, i + 1);
                bulk_insert_text(&writing->insert, 1, type_source_word(source->kind));
                put_name(writing, 2, source->pointer);
                if (source->place != TYPE_SOURCE_NO_PLACE)
                        put_int(writing, 3, source->place + UINT64_C(1));
                end_row(writing);
        }
        return end(writing);
}

/* Numbered as the samples have them. */
static int write_reasons(struct writing *writing)
{

        begin(writing, "untyped", "untyped_id, reason");

        for (int i = UNTYPED_NO_ADDRESS + 1; i < UNTYPED_COUNT; i++) {
                put_int(writing, 0, (uint64_t)i);
                bulk_insert_text(&writing->insert, 1, untyped_reason((enum untyped)i));
                end_row(writing);
        }
        return end(writing);
}

/* Findings are made from names, and are none of those that come. */
int result_clear(struct db *db, struct diag *diag)
{
        int error = db_clear_findings(db, diag);

        if (error)
                return error;
        return db_exec(
            db,
            "DELETE FROM attribution; DELETE FROM ip_location;"
            "DELETE FROM node_location; DELETE FROM packed_location;"
            "DELETE FROM clock_location; DELETE FROM instruction_sample_location;"
            "DELETE FROM code_frame; DELETE FROM unnamed;"
            "DELETE FROM function_start; DELETE FROM instruction;"
            "DELETE FROM access_pattern;"
            "DELETE FROM code_location;"
            "DELETE FROM name;"
            "DELETE FROM object_stack; DELETE FROM object_context;"
            "DELETE FROM data_object; DELETE FROM wide_field; DELETE FROM type_field;"
            "DELETE FROM type_padding; DELETE FROM data_type; DELETE FROM untyped; "
            "DELETE FROM type_source;"
            "DELETE FROM resolution;"
            "DELETE FROM ledger WHERE stage = 'symbolize'",
            diag);
}

static int write_stacks(struct writing *writing)
{
        return stack_rows_write(writing->from, &writing->attribution->objects,
                                writing->db, writing->diag);
}

int result_write(const struct object_sources *from, struct db *db, struct diag *diag)
{
        static int (*const tables[])(struct writing * writing) = {
            write_locations,       write_inline_frames,   write_names,
            write_unnamed,         write_function_starts, write_instructions,
            write_access_patterns, write_clock_locations, write_objects,
            write_stacks,          write_types,           write_fields,
            write_padding,         write_wide_reads,      write_type_sources,
            write_reasons};
        struct attribution attribution = {0};
        struct writing writing = {
            .from = from, .attribution = &attribution, .db = db, .diag = diag};
        int error = attribution_write(&attribution, from, db, diag);

        writing.named =
            calloc(string_pool_count(from->names) + 1, sizeof(*writing.named));
        if (!error && !writing.named)
                error = diag_no_memory(diag);
        for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !error; i++)
                error = tables[i](&writing);
        if (!error)
                error = resolution_write(&attribution.resolution, db, diag);
        free(writing.named);
        attribution_free(&attribution);
        return error;
}
