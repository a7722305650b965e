/* SPDX-License-Identifier: MIT */
/* One row after the other, so that memory does not grow with the samples. What a block
 * holds is certain only when all samples in it agree: they are heard first. */
#include "attribution.h"

#include <errno.h>
#include <sqlite3.h>

struct pass {
        struct attribution *attribution;
        const struct object_sources *from;
        struct db *db;
        struct diag *diag;
        sqlite3_stmt *insert;
};

static int learn(void *context, const struct raw_sample *sample,
                 const struct sample_location *location)
{
        (void)sample;
        sample_types_learn(context, location);
        return 0;
}

static int write_row(struct pass *pass, const struct raw_sample *sample,
                     const struct sample_location *location,
                     const struct sample_object *object, uint32_t field)
{
        sqlite3_stmt *insert = pass->insert;

        sqlite3_bind_int64(insert, 1, sample->sample_id);
        sqlite3_bind_int64(insert, 2, location->place + INT64_C(1));
        if (object->object != RAW_NONE) {
                sqlite3_bind_int64(insert, 3, object->object + INT64_C(1));
                sqlite3_bind_int64(insert, 4, (int64_t)object->offset_bytes);
        }
        if (field)
                sqlite3_bind_int64(insert, 5, field);
        if (sqlite3_step(insert) != SQLITE_DONE)
                return diag_set(pass->diag, -EIO, "cannot write the names: %s",
                                sqlite3_errmsg(db_sqlite(pass->db)));
        sqlite3_reset(insert);
        sqlite3_clear_bindings(insert);
        return 0;
}

static int attribute(void *context, const struct raw_sample *sample,
                     const struct sample_location *location)
{
        struct pass *pass = context;
        struct attribution *to = pass->attribution;
        struct sample_type type = sample_types_find(&to->sample_types, sample, location);
        struct sample_object object;
        uint32_t field;

        if (objects_of_sample(&to->objects, sample, location, &object) < 0 ||
            type_rows_add(&to->type_rows, &type, pass->from->types, pass->from->names,
                          &field) < 0)
                return diag_no_memory(pass->diag);
        const struct object *touched =
            object.object == RAW_NONE ? NULL : &to->objects.items[object.object];

        resolution_count(&to->resolution, sample, location, touched, type.reason);
        return write_row(pass, sample, location, &object, field);
}

static int open_all(struct attribution *attribution, const struct object_sources *from)
{
        int error = objects_open(&attribution->objects, from);

        if (!error)
                error = sample_types_open(&attribution->sample_types, from->sweep,
                                          from->types, from->names);
        if (!error)
                error = type_rows_open(&attribution->type_rows, from->types);
        return error ? error : resolution_open(&attribution->resolution, from->sweep);
}

int attribution_write(struct attribution *attribution, const struct object_sources *from,
                      struct db *db, struct diag *diag)
{
        struct pass pass = {
            .attribution = attribution, .from = from, .db = db, .diag = diag};
        int error;

        *attribution = (struct attribution){0};
        if (open_all(attribution, from) < 0)
                return diag_no_memory(diag);
        if (sqlite3_prepare_v2(db_sqlite(db),
                               "INSERT INTO attribution (sample_id, location_id,"
                               " object_id, object_offset_bytes, field_id)"
                               " VALUES (?, ?, ?, ?, ?)",
                               -1, &pass.insert, NULL) != SQLITE_OK)
                return diag_set(diag, -EIO, "cannot write the names: %s",
                                sqlite3_errmsg(db_sqlite(db)));
        error = attribution->sample_types.learns
                    ? sweep_samples(from->sweep, learn, &attribution->sample_types, diag)
                    : 0;
        if (!error)
                error = sweep_samples(from->sweep, attribute, &pass, diag);
        sqlite3_finalize(pass.insert);
        objects_count_blocks(&attribution->objects);
        if (!error && string_pool_failed(from->names))
                error = diag_no_memory(diag);
        return error;
}

void attribution_free(struct attribution *attribution)
{
        objects_free(&attribution->objects);
        sample_types_free(&attribution->sample_types);
        type_rows_free(&attribution->type_rows);
        resolution_free(&attribution->resolution);
}
