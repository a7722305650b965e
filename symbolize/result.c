/* SPDX-License-Identifier: MIT */
/* The rows of this stage. Ids follow the order of the samples, so that the same
 * recording and the same files give the same rows. */
#include "result.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#include "attribution.h"

struct writing {
        const struct object_sources *from;
        const struct attribution *attribution;
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
        const char *text = string_pool_text(writing->from->names, name);

        if (text)
                sqlite3_bind_text(writing->statement, column, text, -1, SQLITE_STATIC);
}

static void bind_module(struct writing *writing, int column, uint32_t module)
{
        if (module != RAW_NONE)
                sqlite3_bind_int64(writing->statement, column,
                                   writing->from->sweep->raw->modules[module].module_id);
}

static int write_locations(struct writing *writing)
{
        const struct sweep *sweep = writing->from->sweep;
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
        const struct sweep *sweep = writing->from->sweep;
        int error =
            prepare(writing, "INSERT INTO inline_frame (location_id, depth, function,"
                             " call_file, call_line) VALUES (?, ?, ?, ?, ?)");

        for (size_t i = 0; i < sweep->place_count && !error; i++) {
                const struct code_place *code = &sweep->places[i].code;

                for (uint32_t depth = 0; depth < code->frame_count && !error; depth++)
                        error = write_frame(
                            writing, i, depth,
                            &writing->from->frames->items[code->first_frame + depth]);
        }
        return error;
}

static int write_stack_locations(struct writing *writing)
{
        const struct raw *raw = writing->from->sweep->raw;
        int error = prepare(writing, "INSERT INTO stack_location (stack_id, location_id)"
                                     " VALUES (?, ?)");

        for (size_t i = 0; i < raw->stack_count && !error; i++) {
                if (writing->from->sweep->stack_places[i] == RAW_NONE)
                        continue;
                sqlite3_bind_int64(writing->statement, 1, raw->stack_ids[i]);
                bind_int(writing, 2, writing->from->sweep->stack_places[i] + UINT64_C(1));
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
        const struct objects *objects = &writing->attribution->objects;
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

/* One row for a stack of both blocks and regions, when these are one object. */
static int write_object_stacks(struct writing *writing)
{
        const struct raw *raw = writing->from->sweep->raw;
        const struct objects *objects = &writing->attribution->objects;
        int error =
            prepare(writing, "INSERT INTO object_stack (object_id, stack_id, samples)"
                             " VALUES (?, ?, ?)"
                             " ON CONFLICT DO UPDATE SET"
                             " samples = samples + excluded.samples");

        for (size_t i = 0; i < 2 * raw->stack_count && !error; i++) {
                const struct object_path *path =
                    objects_path(objects, (uint32_t)(i / 2), i % 2);

                if (!path->used)
                        continue;
                bind_int(writing, 1, path->object + UINT64_C(1));
                sqlite3_bind_int64(writing->statement, 2, raw->stack_ids[i / 2]);
                bind_int(writing, 3, path->samples);
                error = insert(writing);
        }
        return error;
}

static int write_types(struct writing *writing)
{
        const struct type_rows *rows = &writing->attribution->type_rows;
        const struct types *types = writing->from->types;
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
        const struct type_rows *rows = &writing->attribution->type_rows;
        const struct types *types = writing->from->types;
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

int result_write(const struct object_sources *from, struct db *db, struct diag *diag)
{
        struct attribution attribution = {0};
        struct writing writing = {
            .from = from, .attribution = &attribution, .db = db, .diag = diag};
        int error = db_exec(db,
                            "DELETE FROM attribution; DELETE FROM stack_location;"
                            "DELETE FROM inline_frame; DELETE FROM location;"
                            "DELETE FROM object_stack;"
                            "DELETE FROM data_object; DELETE FROM type_field;"
                            "DELETE FROM data_type; DELETE FROM resolution;"
                            "DELETE FROM ledger WHERE stage = 'symbolize'",
                            diag);

        if (!error)
                error = attribution_write(&attribution, from, db, diag);
        if (!error)
                error = write_locations(&writing);
        if (!error)
                error = write_inline_frames(&writing);
        if (!error)
                error = write_stack_locations(&writing);
        if (!error)
                error = write_objects(&writing);
        if (!error)
                error = write_object_stacks(&writing);
        if (!error)
                error = write_types(&writing);
        if (!error)
                error = write_fields(&writing);
        sqlite3_finalize(writing.statement);
        if (!error)
                error = resolution_write(&attribution.resolution, db, diag);
        attribution_free(&attribution);
        return error;
}
