/* SPDX-License-Identifier: MIT */
/* Writes row by row, so memory does not grow with the samples. A block's type, and an
 * index's target, are certain only if all samples agree. Therefore a first pass reads
 * all samples. Samples without data addresses need no rows, because their addresses
 * determine their locations. */
#include "attribution.h"

#include "bulk_insert.h"

enum column {
        COLUMN_SAMPLE,
        COLUMN_LOCATION,
        COLUMN_OBJECT,
        COLUMN_OFFSET,
        COLUMN_FIELD,
        COLUMN_UNTYPED,
        COLUMN_TYPE_SOURCE
};

static void open_rows(struct bulk_insert *rows, struct db *db, struct diag *diag)
{
        bulk_insert_open(
            rows, "attribution",
            "sample_id, location_id, object_id, object_offset_bytes, field_id,"
            " untyped_id, type_source_id",
            db, diag);
}

static void put_place(struct bulk_insert *rows, const struct raw_sample *sample,
                      const struct sample_location *location)
{
        bulk_insert_int(rows, COLUMN_SAMPLE, sample->sample_id);
        bulk_insert_int(rows, COLUMN_LOCATION, location->place + INT64_C(1));
}

/* ---- samples without addresses ---- */

static int write_unusual(void *context, const struct raw_sample *sample,
                         const struct sample_location *location)
{
        if (location->usual)
                return 0;
        put_place(context, sample, location);
        return bulk_insert_row(context);
}

/* Writes rows for samples that have another place than the others at their address. */
static int write_unusual_places(struct sweep *sweep, struct db *db, struct diag *diag)
{
        struct bulk_insert rows;

        open_rows(&rows, db, diag);
        return bulk_insert_close(&rows, sweep_samples(sweep, write_unusual, &rows, diag));
}

static int compare_ips(const void *left, const void *right)
{
        const struct ip_place *a = left, *b = right;

        if (a->process != b->process)
                return a->process < b->process ? -1 : 1;
        return (int64_t)a->ip < (int64_t)b->ip ? -1 : (int64_t)a->ip > (int64_t)b->ip;
}

static bool put_ip(void *context, struct bulk_insert *insert, size_t i)
{
        const struct sweep *sweep = context;
        const struct ip_place *ip = &sweep->ips.items[i];

        bulk_insert_int(insert, 0, sweep->raw->process_ids[ip->process]);
        bulk_insert_int(insert, 1, (int64_t)ip->ip);
        bulk_insert_int(insert, 2, ip->place + INT64_C(1));
        return true;
}

/* Sorts by key, so SQLite appends rows. This breaks the sweep's index, now unused. */
static int write_ips(struct sweep *sweep, struct db *db, struct diag *diag)
{
        const struct bulk_table table = {"ip_location", "process_id, ip, location_id",
                                         put_ip, sweep->ips.count};

        SORT(sweep->ips.items, sweep->ips.count, compare_ips);
        return bulk_insert_tables(&table, 1, sweep, db, diag);
}

/* These samples have a place, and nothing else to write. */
static int write_places(struct attribution *attribution, struct sweep *sweep,
                        struct db *db, struct diag *diag)
{
        int error =
            sweep->unusual_samples > 0 ? write_unusual_places(sweep, db, diag) : 0;

        resolution_count(&attribution->resolution, NULL, UNTYPED_NO_ADDRESS,
                         sweep->sample_count);
        return error ? error : write_ips(sweep, db, diag);
}

/* ---- samples with addresses ---- */

struct pass {
        struct attribution *attribution;
        const struct object_sources *from;
        struct diag *diag;
        struct bulk_insert rows;
        bool without_row; /* some samples have none */
};

static int learn(void *context, const struct raw_sample *sample,
                 const struct sample_location *location)
{
        struct sample_types *types = context;
        const struct samples *samples = &types->sweep->samples;

        sample_types_learn(types, location,
                           !samples_is_store(samples, sample) &&
                               samples_is_access(samples, sample));
        return 0;
}

static int write_row(struct pass *pass, const struct raw_sample *sample,
                     const struct sample_location *location,
                     const struct sample_object *object, uint32_t field,
                     enum untyped untyped, uint32_t source)
{
        put_place(&pass->rows, sample, location);
        if (object->object != RAW_NONE) {
                bulk_insert_int(&pass->rows, COLUMN_OBJECT, object->object + INT64_C(1));
                if (!object->offset_unknown)
                        bulk_insert_int(&pass->rows, COLUMN_OFFSET,
                                        (int64_t)object->offset_bytes);
        }
        bulk_insert_nonzero(&pass->rows, COLUMN_FIELD, field);
        if (untyped != TYPED)
                bulk_insert_int(&pass->rows, COLUMN_UNTYPED, untyped);
        bulk_insert_nonzero(&pass->rows, COLUMN_TYPE_SOURCE, source);
        return bulk_insert_row(&pass->rows);
}

static int attribute_place(struct pass *pass, const struct raw_sample *sample,
                           const struct sample_location *location)
{
        resolution_count(&pass->attribution->resolution, NULL, UNTYPED_NO_ADDRESS, 1);
        pass->without_row |= location->usual;
        return write_unusual(&pass->rows, sample, location);
}

/* Notes the other fields that a load reads; stores read none. */
static int add_wide_read(struct pass *pass, const struct raw_sample *sample,
                         const struct sample_type *type, uint32_t field)
{
        struct attribution *to = pass->attribution;

        return samples_is_store(&pass->from->sweep->samples, sample)
                   ? 0
                   : wide_reads_add(&to->wide_reads, &to->type_rows, type, field,
                                    pass->from->types, pass->from->names);
}

static int attribute_object(struct pass *pass, const struct raw_sample *sample,
                            const struct sample_location *location)
{
        struct attribution *to = pass->attribution;
        struct sample_type type = sample_types_find(&to->sample_types, sample, location);
        struct sample_object object;
        uint32_t field, source;

        if (objects_of_sample(&to->objects, sample, location, &object) < 0 ||
            type_rows_add(&to->type_rows, &type, pass->from->types, pass->from->names,
                          &field) < 0 ||
            type_sources_add(&to->type_sources, &type.source, &source) < 0 ||
            add_wide_read(pass, sample, &type, field) < 0)
                return diag_no_memory(pass->diag);
        const struct object *touched =
            object.object == RAW_NONE ? NULL : &to->objects.items[object.object];

        resolution_count(&to->resolution, touched, type.reason, 1);
        return write_row(pass, sample, location, &object, field, type.reason, source);
}

static int attribute(void *context, const struct raw_sample *sample,
                     const struct sample_location *location)
{
        const struct pass *pass = context;

        /* An operand relative to the thread pointer names a variable. This works without
         * an address, too, if the source does not know the thread pointer. */
        return sample->has_addr || sweep_thread_answer(pass->from->sweep, location)
                   ? attribute_object(context, sample, location)
                   : attribute_place(context, sample, location);
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

static int write_rows(struct attribution *attribution, const struct object_sources *from,
                      struct db *db, struct diag *diag)
{
        struct pass pass = {.attribution = attribution, .from = from, .diag = diag};

        open_rows(&pass.rows, db, diag);
        int error = sweep_samples(from->sweep, learn, &attribution->sample_types, diag);

        if (!error && objects_tell_apart(&attribution->objects,
                                         attribution->sample_types.blocks) < 0)
                error = diag_no_memory(diag);
        if (!error)
                error = sweep_samples(from->sweep, attribute, &pass, diag);
        error = bulk_insert_close(&pass.rows, error);
        return error || !pass.without_row ? error : write_ips(from->sweep, db, diag);
}

int attribution_write(struct attribution *attribution, const struct object_sources *from,
                      struct db *db, struct diag *diag)
{
        int error = 0;

        *attribution = (struct attribution){0};
        if (open_all(attribution, from) < 0)
                return diag_no_memory(diag);
        if (from->sweep->samples.addressed)
                error = write_rows(attribution, from, db, diag);
        else
                error = write_places(attribution, from->sweep, db, diag);
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
        type_sources_free(&attribution->type_sources);
        wide_reads_free(&attribution->wide_reads);
}
