/* SPDX-License-Identifier: MIT */
/* The rows of this stage. Ids follow the order of the samples: the same recording and the
 * same files give the same rows. */
#include "result.h"

#include <stdlib.h>

#include "attribution.h"
#include "bulk_insert.h"
#include "stack_rows.h"
#include "type_padding.h"
#include "unnamed.h"

struct writing {
        const struct sweep *sweep;
        const struct code_frames *frames;
        const struct types *types;
        const struct string_pool *names;
        const struct attribution *attribution;
        bool *named;            /* of the pool: a place in code uses the name */
        uint64_t *wide_samples; /* by field: samples that read it beside another field */
};

static void put_name(const struct writing *writing, struct bulk_insert *insert,
                     int column, uint32_t name)
{
        bulk_insert_text(insert, column, string_pool_text(writing->names, name));
}

static void put_name_id(struct writing *writing, struct bulk_insert *insert, int column,
                        uint32_t name)
{
        bulk_insert_nonzero(insert, column, name);
        writing->named[name] = true;
}

static void put_id(struct bulk_insert *insert, size_t i)
{
        bulk_insert_int(insert, 0, (int64_t)i + 1);
}

static void put_module(const struct writing *writing, struct bulk_insert *insert,
                       int column, uint32_t module)
{
        if (module != RAW_NONE)
                bulk_insert_int(insert, column,
                                writing->sweep->raw->modules[module].module_id);
}

/* ---- of each place ---- */

static bool put_location(void *context, struct bulk_insert *insert, size_t i)
{
        struct writing *writing = context;
        const struct place *place = &writing->sweep->places.items[i];
        const struct code_place *code = &place->code;

        put_id(insert, i);
        put_module(writing, insert, 1, place->module);
        bulk_insert_int(insert, 2, (int64_t)code->vaddr);
        put_name_id(writing, insert, 3,
                    code_label(writing->frames, code->function, code->number));
        put_name_id(writing, insert, 4, code->file);
        bulk_insert_nonzero(insert, 5, code->line);
        return true;
}

/* The calls inlined at place number I. */
static bool put_frames(void *context, struct bulk_insert *insert, size_t i)
{
        struct writing *writing = context;
        const struct code_place *code = &writing->sweep->places.items[i].code;

        for (uint32_t depth = 0; depth < code->frame_count; depth++) {
                const struct code_frame *frame =
                    &writing->frames->items[code->first_frame + depth];

                put_id(insert, i);
                bulk_insert_int(insert, 1, depth);
                put_name_id(writing, insert, 2,
                            code_label(writing->frames, frame->function, frame->number));
                put_name_id(writing, insert, 3, frame->call_file);
                bulk_insert_nonzero(insert, 4, frame->call_line);
                bulk_insert_row(insert);
        }
        return false;
}

/* The reason for a missing line or function. Most places have both, and no row. */
static bool put_unnamed(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        const struct raw *raw = writing->sweep->raw;
        const char *line = unnamed_line_reason(raw, &writing->sweep->places.items[i]);
        const char *function =
            unnamed_function_reason(raw, &writing->sweep->places.items[i]);

        put_id(insert, i);
        bulk_insert_text(insert, 1, line);
        bulk_insert_text(insert, 2, function);
        return line || function;
}

static bool put_function_start(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        const struct code_place *code = &writing->sweep->places.items[i].code;

        put_id(insert, i);
        bulk_insert_int(insert, 1, (int64_t)code->start);
        return code->has_start;
}

/* Only places with samples have a row. */
static bool put_instruction(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        const struct code_place *code = &writing->sweep->places.items[i].code;

        if (!code->instruction)
                return false;
        put_id(insert, i);
        put_name(writing, insert, 1, code->instruction);
        bulk_insert_nonzero(insert, 2, code->access_bytes);
        return true;
}

/* Only sampled accesses have a row, in functions with data-flow analysis. */
static bool put_access_pattern(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        const struct access *access =
            &place_asks(&writing->sweep->places.items[i])->access;
        const struct address_pattern *pattern = &access->flow.pattern;

        if (!access->asked || pattern->kind == PATTERN_UNKNOWN)
                return false;
        put_id(insert, i);
        bulk_insert_text(insert, 1, address_pattern_name(pattern->kind));
        if (pattern->kind == PATTERN_STRIDE)
                bulk_insert_int(insert, 2, pattern->stride_bytes);
        bulk_insert_nonzero(insert, 3, pattern->instructions);
        return true;
}

/* ---- of the others ---- */

/* Puts a name of the pool that places in code use, with its number. */
static bool put_pool_name(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        uint32_t name = (uint32_t)i + 1;

        if (!writing->named[name])
                return false;
        bulk_insert_int(insert, 0, name);
        put_name(writing, insert, 1, name);
        return true;
}

static bool put_clock(const struct writing *writing, struct bulk_insert *insert, size_t i,
                      bool executed)
{
        if (writing->sweep->raw->clocks[i].executed != executed)
                return false;
        bulk_insert_int(insert, 0, writing->sweep->raw->clock_ids[i]);
        bulk_insert_int(insert, 1, writing->sweep->clock_places[i] + INT64_C(1));
        return true;
}

static bool put_clock_sample(void *context, struct bulk_insert *insert, size_t i)
{
        return put_clock(context, insert, i, false);
}

static bool put_instruction_sample(void *context, struct bulk_insert *insert, size_t i)
{
        return put_clock(context, insert, i, true);
}

static bool put_object(void *context, struct bulk_insert *insert, size_t i)
{
        static const char *const kinds[] = {
            [OBJECT_GLOBAL] = "global",  [OBJECT_HEAP] = "heap", [OBJECT_STACK] = "stack",
            [OBJECT_TLS] = "tls",        [OBJECT_MMAP] = "mmap", [OBJECT_CODE] = "code",
            [OBJECT_UNKNOWN] = "unknown"};
        const struct writing *writing = context;
        const struct object *object = &writing->attribution->objects.items[i];

        put_id(insert, i);
        bulk_insert_text(insert, 1, kinds[object->kind]);
        put_name(writing, insert, 2, object->name);
        put_module(writing, insert, 3, object->module);
        put_name(writing, insert, 4,
                 code_label(writing->frames, object->site.function, object->site.number));
        put_name(writing, insert, 5, object->site.file);
        bulk_insert_nonzero(insert, 6, object->site.line);
        if (object->has_size)
                bulk_insert_int(insert, 7, (int64_t)object->size_bytes);
        bulk_insert_nonzero(insert, 8, object->allocations);
        bulk_insert_nonzero(insert, 9, object->total_bytes);
        return true;
}

static bool put_type(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        const struct type *type =
            &writing->types->items[writing->attribution->type_rows.types.items[i]];

        put_id(insert, i);
        put_name(writing, insert, 1, type->name);
        bulk_insert_int(insert, 2, (int64_t)type->size_bytes);
        return true;
}

static bool put_field(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        const struct type_rows *rows = &writing->attribution->type_rows;
        const struct field *field = &rows->fields.items[i].field;

        put_id(insert, i);
        bulk_insert_int(insert, 1, rows->fields.items[i].type + INT64_C(1));
        put_name(writing, insert, 2, field->name);
        if (field->type != TYPE_NONE)
                put_name(writing, insert, 3, writing->types->items[field->type].name);
        bulk_insert_int(insert, 4, (int64_t)field->offset_bytes);
        bulk_insert_int(insert, 5, (int64_t)field->size_bytes);
        return true;
}

/* All padding of a type. */
static bool put_padding(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        struct padding *found = NULL;
        size_t count = 0;

        if (type_padding(writing->types, writing->attribution->type_rows.types.items[i],
                         &found, &count) < 0)
                insert->error = diag_no_memory(insert->diag);
        for (size_t at = 0; at < count && !insert->error; at++) {
                put_id(insert, i);
                bulk_insert_int(insert, 1, (int64_t)found[at].offset_bytes);
                bulk_insert_int(insert, 2, (int64_t)found[at].size_bytes);
                bulk_insert_row(insert);
        }
        free(found);
        return false;
}

static bool put_wide_field(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;

        put_id(insert, i);
        bulk_insert_int(insert, 1, (int64_t)writing->wide_samples[i]);
        return writing->wide_samples[i] > 0;
}

static bool put_type_source(void *context, struct bulk_insert *insert, size_t i)
{
        const struct writing *writing = context;
        const struct type_source *source = &writing->attribution->type_sources.items[i];

        put_id(insert, i);
        bulk_insert_text(insert, 1, type_source_word(source->kind));
        put_name(writing, insert, 2, source->pointer);
        if (source->place != TYPE_SOURCE_NO_PLACE)
                bulk_insert_int(insert, 3, source->place + INT64_C(1));
        return true;
}

/* The numbers are the ones in the samples' rows. */
static bool put_reason(void *context, struct bulk_insert *insert, size_t i)
{
        (void)context;
        bulk_insert_int(insert, 0, (int64_t)i);
        bulk_insert_text(insert, 1, untyped_reason((enum untyped)i));
        return i > UNTYPED_NO_ADDRESS;
}

/* ---- all ---- */

/* Findings depend on the names, so they are deleted too. */
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

static int write_tables(struct writing *writing, struct db *db, struct diag *diag)
{
        const struct attribution *attribution = writing->attribution;
        const size_t places = writing->sweep->places.count,
                     clocks = writing->sweep->raw->clock_count,
                     types = attribution->type_rows.types.count,
                     fields = attribution->type_rows.fields.count;
        const struct bulk_table tables[] = {
            {"code_location",
             "location_id, module_id, address_offset, function_id, file_id, line",
             put_location, places},
            {"code_frame", "location_id, depth, function_id, call_file_id, call_line",
             put_frames, places},
            {"name", "name_id, text", put_pool_name, string_pool_count(writing->names)},
            {"unnamed", "location_id, line_reason, function_reason", put_unnamed, places},
            {"function_start", "location_id, function_offset", put_function_start,
             places},
            {"instruction", "location_id, text, access_bytes", put_instruction, places},
            {"access_pattern",
             "location_id, pattern, stride_bytes, iteration_instructions",
             put_access_pattern, places},
            {"clock_location", "clock_sample_id, location_id", put_clock_sample, clocks},
            {"instruction_sample_location", "instruction_sample_id, location_id",
             put_instruction_sample, clocks},
            {"data_object",
             "object_id, kind, name, module_id, alloc_function, alloc_file, alloc_line,"
             " size_bytes, allocations, total_bytes",
             put_object, attribution->objects.count},
            {"data_type", "type_id, name, size_bytes", put_type, types},
            {"type_field", "field_id, type_id, name, type, offset_bytes, size_bytes",
             put_field, fields},
            {"type_padding", "type_id, offset_bytes, size_bytes", put_padding, types},
            {"wide_field", "field_id, wide_samples", put_wide_field, fields},
            {"type_source", "type_source_id, source, pointer, location_id",
             put_type_source, attribution->type_sources.count},
            {"untyped", "untyped_id, reason", put_reason, UNTYPED_COUNT}};

        return bulk_insert_tables(tables, sizeof(tables) / sizeof(*tables), writing, db,
                                  diag);
}

int result_write(const struct object_sources *from, struct db *db, struct diag *diag)
{
        struct attribution attribution = {0};
        int error = attribution_write(&attribution, from, db, diag);
        struct writing writing = {
            .sweep = from->sweep,
            .frames = from->frames,
            .types = from->types,
            .names = from->names,
            .attribution = &attribution,
            .named = calloc(string_pool_count(from->names) + 1, sizeof(bool)),
            .wide_samples =
                calloc(attribution.type_rows.fields.count + 1, sizeof(uint64_t))};

        if (!error && (!writing.named || !writing.wide_samples))
                error = diag_no_memory(diag);
        if (!error) {
                wide_reads_count(&attribution.wide_reads, writing.wide_samples);
                error = write_tables(&writing, db, diag);
        }
        if (!error)
                error = stack_rows_write(from, &attribution.objects, db, diag);
        if (!error)
                error = resolution_write(&attribution.resolution, db, diag);
        free(writing.named);
        free(writing.wide_samples);
        attribution_free(&attribution);
        return error;
}
