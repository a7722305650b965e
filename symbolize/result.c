/* SPDX-License-Identifier: MIT */
/* The rows of this stage. Ids follow the order of the samples, so that the same
 * recording and the same files give the same rows. */
#include "result.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include "resolution.h"
#include "result_type.h"

struct writing {
        const struct result *result;
        struct type_rows type_rows;
        struct db *db;
        struct diag *diag;
        sqlite3_stmt *statement;
};

static int sqlite_error(struct writing *writing)
{
        return diag_set(writing->diag, -EIO, "cannot write the names: %s",
                        sqlite3_errmsg(db_sqlite(writing->db)));
}

static int prepare(struct writing *writing, const char *sql)
{
        sqlite3_finalize(writing->statement);
        writing->statement = NULL;
        return sqlite3_prepare_v2(db_sqlite(writing->db), sql, -1, &writing->statement,
                                  NULL) == SQLITE_OK
                   ? 0
                   : sqlite_error(writing);
}

/* Writes the bound row; parameters that the next one leaves out are NULL again. */
static int insert(struct writing *writing)
{
        if (sqlite3_step(writing->statement) != SQLITE_DONE)
                return sqlite_error(writing);
        sqlite3_reset(writing->statement);
        sqlite3_clear_bindings(writing->statement);
        return 0;
}

static void bind_int(struct writing *writing, int column, uint64_t value)
{
        sqlite3_bind_int64(writing->statement, column, (int64_t)value);
}

static void bind_nonzero(struct writing *writing, int column, uint64_t value)
{
        if (value != 0)
                bind_int(writing, column, value);
}

static void bind_name(struct writing *writing, int column, uint32_t name)
{
        const char *text = string_pool_text(writing->result->names, name);

        if (text)
                sqlite3_bind_text(writing->statement, column, text, -1, SQLITE_STATIC);
}

static void bind_module(struct writing *writing, int column, uint32_t module)
{
        if (module != RAW_NONE)
                sqlite3_bind_int64(writing->statement, column,
                                   writing->result->raw->modules[module].module_id);
}

static int write_locations(struct writing *writing)
{
        const struct sweep *sweep = writing->result->sweep;
        int error = prepare(writing, "INSERT INTO location (location_id, module_id,"
                                     " address_offset, function, file, line)"
                                     " VALUES (?, ?, ?, ?, ?, ?)");

        for (size_t i = 0; i < sweep->place_count && !error; i++) {
                const struct place *place = &sweep->places[i];

                bind_int(writing, 1, i + 1);
                bind_module(writing, 2, place->module);
                bind_int(writing, 3, place->code.vaddr);
                bind_name(writing, 4, place->code.function);
                bind_name(writing, 5, place->code.file);
                bind_nonzero(writing, 6, place->code.line);
                error = insert(writing);
        }
        return error;
}

static int write_frame(struct writing *writing, size_t location, uint32_t depth,
                       const struct code_frame *frame)
{
        bind_int(writing, 1, location + 1);
        bind_int(writing, 2, depth);
        bind_name(writing, 3, frame->function);
        bind_name(writing, 4, frame->call_file);
        bind_nonzero(writing, 5, frame->call_line);
        return insert(writing);
}

static int write_inline_frames(struct writing *writing)
{
        const struct sweep *sweep = writing->result->sweep;
        int error =
            prepare(writing, "INSERT INTO inline_frame (location_id, depth, function,"
                             " call_file, call_line) VALUES (?, ?, ?, ?, ?)");

        for (size_t i = 0; i < sweep->place_count && !error; i++) {
                const struct code_place *code = &sweep->places[i].code;

                for (uint32_t depth = 0; depth < code->frame_count && !error; depth++)
                        error = write_frame(
                            writing, i, depth,
                            &writing->result->frames->items[code->first_frame + depth]);
        }
        return error;
}

static int write_stack_locations(struct writing *writing)
{
        const struct raw *raw = writing->result->raw;
        int error = prepare(writing, "INSERT INTO stack_location (stack_id, location_id)"
                                     " VALUES (?, ?)");

        for (size_t i = 0; i < raw->stack_count && !error; i++) {
                if (writing->result->sweep->stack_places[i] == RAW_NONE)
                        continue;
                sqlite3_bind_int64(writing->statement, 1, raw->stack_ids[i]);
                bind_int(writing, 2,
                         writing->result->sweep->stack_places[i] + UINT64_C(1));
                error = insert(writing);
        }
        return error;
}

static int write_objects(struct writing *writing)
{
        static const char *const kinds[] = {
            [OBJECT_GLOBAL] = "global",  [OBJECT_HEAP] = "heap", [OBJECT_STACK] = "stack",
            [OBJECT_TLS] = "tls",        [OBJECT_MMAP] = "mmap", [OBJECT_CODE] = "code",
            [OBJECT_UNKNOWN] = "unknown"};
        const struct objects *objects = writing->result->objects;
        int error = prepare(writing, "INSERT INTO data_object (object_id, kind, name,"
                                     " module_id, alloc_function, alloc_file, alloc_line,"
                                     " size_bytes, allocations, total_bytes)"
                                     " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

        for (size_t i = 0; i < objects->count && !error; i++) {
                const struct object *object = &objects->items[i];

                bind_int(writing, 1, i + 1);
                sqlite3_bind_text(writing->statement, 2, kinds[object->kind], -1,
                                  SQLITE_STATIC);
                bind_name(writing, 3, object->name);
                bind_module(writing, 4, object->module);
                bind_name(writing, 5, object->site.function);
                bind_name(writing, 6, object->site.file);
                bind_nonzero(writing, 7, object->site.line);
                if (object->has_size)
                        bind_int(writing, 8, object->size_bytes);
                bind_nonzero(writing, 9, object->allocations);
                bind_nonzero(writing, 10, object->total_bytes);
                error = insert(writing);
        }
        return error;
}

static int write_types(struct writing *writing)
{
        const struct type_rows *rows = &writing->type_rows;
        const struct types *types = writing->result->types;
        int error = prepare(writing, "INSERT INTO data_type (type_id, name, size_bytes)"
                                     " VALUES (?, ?, ?)");

        for (size_t i = 0; i < rows->type_count && !error; i++) {
                const struct type *type = &types->items[rows->types[i].type];

                bind_int(writing, 1, i + 1);
                bind_name(writing, 2, type->name);
                bind_int(writing, 3, type->size_bytes);
                error = insert(writing);
        }
        return error;
}

static int write_fields(struct writing *writing)
{
        const struct type_rows *rows = &writing->type_rows;
        const struct types *types = writing->result->types;
        int error = prepare(writing, "INSERT INTO type_field (field_id, type_id, name,"
                                     " type, offset_bytes, size_bytes)"
                                     " VALUES (?, ?, ?, ?, ?, ?)");

        for (size_t i = 0; i < rows->field_count && !error; i++) {
                const struct field *field = &rows->fields[i].field;

                bind_int(writing, 1, i + 1);
                bind_int(writing, 2, rows->fields[i].type + UINT64_C(1));
                bind_name(writing, 3, field->name);
                bind_name(writing, 4, types->items[field->type].name);
                bind_int(writing, 5, field->offset_bytes);
                bind_int(writing, 6, field->size_bytes);
                error = insert(writing);
        }
        return error;
}

static int write_attributions(struct writing *writing)
{
        const struct raw *raw = writing->result->raw;
        const struct objects *objects = writing->result->objects;
        int error = prepare(writing, "INSERT INTO attribution (sample_id, location_id,"
                                     " object_id, object_offset_bytes, field_id)"
                                     " VALUES (?, ?, ?, ?, ?)");

        for (size_t i = 0; i < raw->sample_count && !error; i++) {
                sqlite3_bind_int64(writing->statement, 1, raw->samples[i].sample_id);
                bind_int(writing, 2,
                         writing->result->sweep->sample_places[i] + UINT64_C(1));
                if (objects->sample_objects[i] != RAW_NONE) {
                        bind_int(writing, 3, objects->sample_objects[i] + UINT64_C(1));
                        bind_int(writing, 4, objects->sample_offsets[i]);
                }
                bind_nonzero(writing, 5, writing->type_rows.sample_fields[i]);
                error = insert(writing);
        }
        return error;
}

/* ---- the ledger ----------------------------------------------------------------------
 */

/* With the samples of a type the kinds add up to the samples with a data address. */
static int write_untyped(struct writing *writing)
{
        const struct result *result = writing->result;
        int64_t counts[UNTYPED_COUNT] = {0};
        int error = 0;

        for (size_t i = 0; i < result->raw->sample_count; i++)
                counts[result->sample_types->items[i].reason]++;
        for (int i = UNTYPED_NO_ADDRESS + 1; i < UNTYPED_COUNT && !error; i++) {
                char kind[80];

                snprintf(kind, sizeof(kind), "samples with no type: %s",
                         untyped_reason((enum untyped)i));
                error = db_ledger_set(writing->db, "symbolize", kind, counts[i],
                                      "samples", writing->diag);
        }
        return error;
}

/* What is counted apart from the reasons why a sample has no line. */
static int write_doubts(struct writing *writing)
{
        const struct result *result = writing->result;
        int64_t no_object = 0, unverified = 0;

        for (size_t i = 0; i < result->raw->sample_count; i++) {
                const struct place *place =
                    &result->sweep->places[result->sweep->sample_places[i]];
                uint32_t object = result->objects->sample_objects[i];

                if (place->in_image && !result->raw->modules[place->module].verified)
                        unverified++;
                if (object != RAW_NONE &&
                    result->objects->items[object].kind == OBJECT_UNKNOWN)
                        no_object++;
        }
        int error = db_ledger_set(writing->db, "symbolize", "samples with no object",
                                  no_object, "samples", writing->diag);

        return error ? error
                     : db_ledger_set(writing->db, "symbolize",
                                     "samples in unverified binary", unverified,
                                     "samples", writing->diag);
}

int result_write(const struct result *result, struct db *db, struct diag *diag)
{
        struct writing writing = {.result = result, .db = db, .diag = diag};
        int error = db_exec(db,
                            "DELETE FROM attribution; DELETE FROM stack_location;"
                            "DELETE FROM inline_frame; DELETE FROM location;"
                            "DELETE FROM data_object; DELETE FROM type_field;"
                            "DELETE FROM data_type; DELETE FROM resolution;"
                            "DELETE FROM ledger WHERE stage = 'symbolize'",
                            diag);

        if (!error &&
            type_rows_make(&writing.type_rows, result->sample_types,
                           result->raw->sample_count, result->types, result->names) < 0)
                error = diag_set(diag, -ENOMEM, "out of memory while writing the names");
        if (!error)
                error = write_locations(&writing);
        if (!error)
                error = write_inline_frames(&writing);
        if (!error)
                error = write_stack_locations(&writing);
        if (!error)
                error = write_objects(&writing);
        if (!error)
                error = write_types(&writing);
        if (!error)
                error = write_fields(&writing);
        if (!error)
                error = write_attributions(&writing);
        sqlite3_finalize(writing.statement);
        if (!error)
                error = write_doubts(&writing);
        if (!error)
                error = write_untyped(&writing);
        if (!error)
                error = resolution_write(result, db, diag);
        type_rows_free(&writing.type_rows);
        return error;
}
