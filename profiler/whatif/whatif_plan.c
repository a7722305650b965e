/* SPDX-License-Identifier: MIT */
/* See whatif_plan.h. */
#include "whatif_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "simpmu/path_hash.h"

struct plan {
        struct db *db;
        const struct whatif_target *target;
        uint32_t element_bytes; /* of a type */
        struct layout_member *members;
        size_t member_count;
        struct layout_result layout;
        struct simpmu_object *objects;
        size_t object_count;
        struct intern *known; /* objects, which stand there once */
        uint32_t frames;
        struct diag *diag;
};

/* An object that the fix may move. */
struct candidate {
        int64_t id;
        const char *kind;
        const char *name;
        int64_t header_bytes;
};

static int prepare(struct plan *plan, const char *sql, sqlite3_stmt **rows)
{
        return sqlite3_prepare_v2(db_sqlite(plan->db), sql, -1, rows, NULL) == SQLITE_OK
                   ? 0
                   : db_error(plan->db, "read", plan->diag);
}

static const char *text_of(sqlite3_stmt *row, int column)
{
        const unsigned char *text = sqlite3_column_text(row, column);
        return text ? (const char *)text : "";
}

/* Calls TAKE for each row of ROWS, which it finalizes, until TAKE returns an error. */
static int each_row(struct plan *plan, sqlite3_stmt *rows,
                    int (*take)(struct plan *plan, sqlite3_stmt *row))
{
        int code = 0, rc = SQLITE_DONE;
        while (!code && (rc = sqlite3_step(rows)) == SQLITE_ROW)
                code = take(plan, rows);
        sqlite3_finalize(rows);
        return !code && rc != SQLITE_DONE ? db_error(plan->db, "read", plan->diag) : code;
}

/* ---- the type ---- */

/* C's names of a type. */
#define IS_NAMED                                                                         \
        "(t.name = ?1 OR t.name IN ('struct ' || ?1, 'class ' || ?1, 'union ' || ?1))"

static int take_size(struct plan *plan, sqlite3_stmt *row)
{
        const uint32_t size = (uint32_t)sqlite3_column_int64(row, 0);
        if (sqlite3_column_int64(row, 0) > INT32_MAX)
                return diag_set(plan->diag, -EINVAL, "type '%s' is larger than 2 GiB",
                                plan->target->name);
        if (plan->element_bytes && plan->element_bytes != size)
                return diag_set(plan->diag, -EINVAL,
                                "several types are called '%s', with %u and %u bytes; "
                                "rename one",
                                plan->target->name, plan->element_bytes, size);
        plan->element_bytes = size;
        return 0;
}

/* The largest alignment that a field of SIZE bytes at OFFSET can have. */
static uint32_t alignment_of(uint32_t offset, uint32_t size, uint32_t whole)
{
        const uint32_t largest = 16;
        const uint32_t bits = offset | size | whole | largest;
        return bits & -bits;
}

/* Refuses a FIELD that goes on behind its type. The first LENGTH bytes of its name are
 * the member's. */
static int check_field(struct plan *plan, sqlite3_stmt *field, size_t length)
{
        const int64_t offset = sqlite3_column_int64(field, 1);
        const int64_t end = plan->element_bytes - sqlite3_column_int64(field, 2);
        if (offset <= end)
                return 0;
        return diag_set(plan->diag, -EINVAL,
                        "type '%s' has '%.*s' behind its %u bytes: its elements are of "
                        "variable length",
                        plan->target->name, (int)length, text_of(field, 0),
                        plan->element_bytes);
}

/* Fields come by their offsets; "a.x", "a.y" and "a[]" are of one member. Fields that
 * overlap are one member, too. */
static int take_field(struct plan *plan, sqlite3_stmt *row)
{
        const char *name = text_of(row, 0);
        const size_t length = strcspn(name, ".[");
        int rc = check_field(plan, row, length);
        if (rc < 0)
                return rc;
        const uint32_t offset = (uint32_t)sqlite3_column_int64(row, 1);
        const uint32_t size = (uint32_t)sqlite3_column_int64(row, 2);
        const uint32_t align = alignment_of(offset, size, plan->element_bytes);
        struct layout_member *last =
            plan->member_count ? &plan->members[plan->member_count - 1] : NULL;
        char *names = NULL;

        if (last && (offset < last->offset_bytes + last->size_bytes ||
                     (strncmp(last->names, name, length) == 0 && !last->names[length]))) {
                if (last->align_bytes < align)
                        last->align_bytes = align;
                if (offset + size > last->offset_bytes + last->size_bytes)
                        last->size_bytes = offset + size - last->offset_bytes;
                if (layout_is_called(last->names, name, length))
                        return 0;
                if (asprintf(&names, "%s|%.*s", last->names, (int)length, name) < 0)
                        return diag_no_memory(plan->diag);
                free(last->names);
                last->names = names;
                return 0;
        }
        struct layout_member *grown =
            reallocarray(plan->members, plan->member_count + 1, sizeof(*grown));
        if (!grown || !(names = strndup(name, length)))
                return diag_no_memory(plan->diag);
        plan->members = grown;
        grown[plan->member_count++] = (struct layout_member){names, offset, size, align};
        return 0;
}

/* Padding follows: FIELD's member ends before it. */
static void end_members(struct plan *plan)
{
        for (size_t i = 0; i < plan->member_count; i++) {
                const uint32_t end = i + 1 < plan->member_count
                                         ? plan->members[i + 1].offset_bytes
                                         : plan->element_bytes;
                plan->members[i].size_bytes = end - plan->members[i].offset_bytes;
        }
}

static int take_padding(struct plan *plan, sqlite3_stmt *row)
{
        const uint32_t offset = (uint32_t)sqlite3_column_int64(row, 0);
        const uint32_t end = offset + (uint32_t)sqlite3_column_int64(row, 1);
        for (size_t i = 0; i < plan->member_count; i++) {
                struct layout_member *member = &plan->members[i];
                if (offset > member->offset_bytes &&
                    end == member->offset_bytes + member->size_bytes)
                        member->size_bytes = offset - member->offset_bytes;
        }
        return 0;
}

static int rows_of_type(struct plan *plan, const char *sql,
                        int (*take)(struct plan *plan, sqlite3_stmt *row))
{
        sqlite3_stmt *rows;
        int rc = prepare(plan, sql, &rows);
        if (rc < 0)
                return rc;
        sqlite3_bind_text(rows, 1, plan->target->name, -1, SQLITE_STATIC);
        return each_row(plan, rows, take);
}

static int find_type(struct plan *plan)
{
        int rc = rows_of_type(
            plan, "SELECT size_bytes FROM data_type AS t WHERE " IS_NAMED, take_size);
        if (rc == 0 && !plan->element_bytes)
                return diag_set(plan->diag, -ENOENT,
                                "no sample is of a type '%s'; 'memlag report --by type' "
                                "has the types with samples",
                                plan->target->name);
        if (rc == 0)
                rc = rows_of_type(plan,
                                  "SELECT f.name, f.offset_bytes, f.size_bytes FROM"
                                  " type_field AS f WHERE type_id = (SELECT min(type_id)"
                                  " FROM data_type AS t WHERE " IS_NAMED
                                  ") AND f.name IS NOT NULL AND instr(f.name, '|') = 0"
                                  " AND f.size_bytes > 0"
                                  " ORDER BY f.offset_bytes, f.size_bytes DESC",
                                  take_field);
        if (rc < 0)
                return rc;
        end_members(plan);
        rc = rows_of_type(plan,
                          "SELECT offset_bytes, size_bytes FROM type_padding WHERE"
                          " type_id = (SELECT min(type_id) FROM data_type AS t"
                          " WHERE " IS_NAMED ") ORDER BY offset_bytes",
                          take_padding);
        if (rc < 0)
                return rc;
        struct diag reason;
        rc = layout_make(plan->members, plan->member_count, plan->element_bytes,
                         &plan->target->layout, &plan->layout, &reason);
        return rc < 0 ? diag_set(plan->diag, rc, "type '%s': %s", plan->target->name,
                                 reason.text)
                      : 0;
}

/* ---- objects ---- */

static int add_object(struct plan *plan, struct simpmu_object object)
{
        int64_t *place = intern_place(plan->known, &object, sizeof(object));
        if (place && *place)
                return 0;
        struct simpmu_object *grown =
            reallocarray(plan->objects, plan->object_count + 1, sizeof(*grown));
        if (grown)
                plan->objects = grown;
        if (!place || !grown)
                return diag_no_memory(plan->diag);
        grown[plan->object_count++] = object;
        *place = (int64_t)plan->object_count;
        if (object.frames > plan->frames)
                plan->frames = object.frames;
        return 0;
}

/* SQL is laid out as SQL. */
/* clang-format off */
static const char global_sql[] =
    "SELECT m.path, s.addr - a.object_offset_bytes - g.start_addr, o.size_bytes"
    " FROM attribution AS a JOIN sample AS s USING (sample_id)"
    " JOIN thread AS t USING (thread_id) JOIN data_object AS o USING (object_id)"
    " JOIN module AS m ON m.module_id = o.module_id"
    " JOIN mapping AS g ON g.process_id = t.process_id AND g.module_id = o.module_id"
    " AND g.file_offset_bytes = 0"
    " WHERE a.object_id = ?1 AND a.object_offset_bytes IS NOT NULL LIMIT 1";
/* The return addresses of an allocation's stack ?2, innermost first, up to the object's
 * site. The leaf of a stack is the byte before one. */
static const char frames_sql[] =
    "WITH RECURSIVE up (n, stack_id, parent_id, process_id, ip) AS ("
    " SELECT 1, stack_id, parent_id, process_id, ip FROM stack WHERE stack_id = ?2"
    " UNION ALL SELECT n + 1, s.stack_id, s.parent_id, s.process_id, s.ip"
    "  FROM up JOIN stack AS s ON s.stack_id = up.parent_id WHERE n < 128)"
    " SELECT m.path, up.ip + (n = 1) - g.start_addr + g.file_offset_bytes,"
    "  EXISTS (SELECT 1 FROM stack_location AS p JOIN location AS l USING (location_id)"
    "   LEFT JOIN inline_frame AS i USING (location_id)"
    "   WHERE p.stack_id = up.stack_id AND iif(o.alloc_line IS NULL,"
    "    o.alloc_function IN (l.function, i.function),"
    "    (l.line = o.alloc_line AND l.file = o.alloc_file)"
    "    OR (i.call_line = o.alloc_line AND i.call_file = o.alloc_file)))"
    " FROM up JOIN data_object AS o ON o.object_id = ?1"
    " LEFT JOIN mapping AS g ON g.mapping_id = (SELECT max(mapping_id) FROM mapping AS x"
    "  WHERE x.process_id = up.process_id AND x.kind = 'file' AND up.ip >= x.start_addr"
    "  AND up.ip < x.start_addr + x.length_bytes)"
    " LEFT JOIN module AS m ON m.module_id = g.module_id ORDER BY n";
static const char blocks_sql[] =
    "SELECT count(*), max(size_bytes), max((size_bytes - ?2) % ?3) FROM allocation"
    " WHERE stack_id IN (SELECT stack_id FROM object_stack WHERE object_id = ?1)";
static const char typed_sql[] =
    "WITH of (type_id, size) AS (SELECT type_id, size_bytes FROM data_type AS t WHERE "
    IS_NAMED ")"
    " SELECT o.object_id, o.kind, o.name,"
    /* The field of an array is its first item. */
    "  coalesce(min((a.object_offset_bytes - f.offset_bytes + size) % size)"
    "   FILTER (WHERE instr(f.name, '[') = 0), 0),"
    "  coalesce(max((a.object_offset_bytes - f.offset_bytes + size) % size)"
    "   FILTER (WHERE instr(f.name, '[') = 0), 0),"
    "  EXISTS (SELECT 1 FROM attribution AS b JOIN type_field AS h USING (field_id)"
    "   JOIN data_type AS d USING (type_id) WHERE b.object_id = o.object_id"
    "   AND h.name IS NOT NULL AND d.size_bytes > size)"
    " FROM attribution AS a JOIN type_field AS f USING (field_id)"
    " JOIN of USING (type_id) JOIN data_object AS o USING (object_id)"
    " WHERE a.object_offset_bytes IS NOT NULL AND f.name IS NOT NULL"
    " GROUP BY o.object_id";
static const char named_sql[] =
    "SELECT object_id, kind, name, 0, 0, 0 FROM data_object"
    " WHERE ?1 IN (name, alloc_function) OR substr(name, -length(?1) - 4) = ' at ' || ?1";
/* clang-format on */

static int refuse(struct plan *plan, const struct candidate *object, const char *reason)
{
        return diag_set(plan->diag, -EINVAL, "'%s' cannot be moved: %s", object->name,
                        reason);
}

static int add_global(struct plan *plan, const struct candidate *object)
{
        sqlite3_stmt *row;
        int rc = prepare(plan, global_sql, &row);
        if (rc < 0)
                return rc;
        sqlite3_bind_int64(row, 1, object->id);
        if (sqlite3_step(row) != SQLITE_ROW)
                rc = refuse(plan, object, "its address in its file is not known");
        else if (plan->element_bytes &&
                 sqlite3_column_int64(row, 2) <
                     object->header_bytes + (int64_t)plan->element_bytes)
                rc = refuse(plan, object, "it is smaller than one element");
        else
                rc = add_object(
                    plan, (struct simpmu_object){
                              .header_bytes = (uint32_t)object->header_bytes,
                              .where = path_hash(text_of(row, 0)),
                              .offset_bytes = (uint64_t)sqlite3_column_int64(row, 1),
                              .size_bytes = (uint64_t)sqlite3_column_int64(row, 2)});
        sqlite3_finalize(row);
        return rc;
}

/* Blocks whose call stack ends as STACK does. */
static int add_stack(struct plan *plan, const struct candidate *object, int64_t stack)
{
        struct simpmu_object blocks = {.header_bytes = (uint32_t)object->header_bytes};
        sqlite3_stmt *frames;
        int rc = prepare(plan, frames_sql, &frames);
        if (rc < 0)
                return rc;
        sqlite3_bind_int64(frames, 1, object->id);
        sqlite3_bind_int64(frames, 2, stack);
        for (bool found = false; !found && sqlite3_step(frames) == SQLITE_ROW;) {
                const bool in_file = sqlite3_column_type(frames, 0) != SQLITE_NULL;
                blocks.where =
                    place_hash(blocks.where, in_file ? path_hash(text_of(frames, 0)) : 0,
                               in_file ? (uint64_t)sqlite3_column_int64(frames, 1) : 0);
                blocks.frames++;
                found = sqlite3_column_int(frames, 2) != 0;
        }
        sqlite3_finalize(frames);
        return blocks.frames ? add_object(plan, blocks) : 0;
}

/* All blocks hold whole elements. */
static int check_blocks(struct plan *plan, const struct candidate *object)
{
        const int64_t element = plan->element_bytes;
        const bool soa = plan->target->layout.form == LAYOUT_SOA;
        sqlite3_stmt *row;
        int rc = prepare(plan, blocks_sql, &row);
        if (rc < 0 || !element)
                return sqlite3_finalize(row), rc;
        sqlite3_bind_int64(row, 1, object->id);
        sqlite3_bind_int64(row, 2, object->header_bytes);
        sqlite3_bind_int64(row, 3, element);
        if (sqlite3_step(row) != SQLITE_ROW || sqlite3_column_int64(row, 0) == 0)
                rc = refuse(plan, object, "no block of it is known");
        else if (sqlite3_column_int64(row, 2) != 0)
                rc = refuse(plan, object,
                            "its blocks are of variable length, and hold more than "
                            "whole elements");
        else if (soa && sqlite3_column_int64(row, 1) < 2 * element)
                rc = refuse(plan, object,
                            "each block holds one element; try split, reorder, pad or "
                            "align");
        sqlite3_finalize(row);
        return rc;
}

static int add_blocks(struct plan *plan, const struct candidate *object)
{
        const size_t before = plan->object_count;
        sqlite3_stmt *stacks;
        int rc = check_blocks(plan, object);
        if (rc == 0)
                rc = prepare(plan,
                             "SELECT stack_id FROM object_stack WHERE object_id = ?1",
                             &stacks);
        if (rc < 0)
                return rc;
        sqlite3_bind_int64(stacks, 1, object->id);
        while (rc == 0 && sqlite3_step(stacks) == SQLITE_ROW)
                rc = add_stack(plan, object, sqlite3_column_int64(stacks, 0));
        sqlite3_finalize(stacks);
        if (rc == 0 && plan->object_count == before)
                return refuse(plan, object, "its blocks have no call stacks");
        return rc;
}

static int add_candidate(struct plan *plan, sqlite3_stmt *row)
{
        const struct candidate object = {sqlite3_column_int64(row, 0), text_of(row, 1),
                                         text_of(row, 2), sqlite3_column_int64(row, 3)};
        if (sqlite3_column_int64(row, 5) ||
            sqlite3_column_int64(row, 3) != sqlite3_column_int64(row, 4))
                return refuse(plan, &object,
                              "there the type is a part of something larger; name the "
                              "larger type");
        if (strcmp(object.kind, "global") == 0)
                return add_global(plan, &object);
        if (strcmp(object.kind, "heap") == 0 || strcmp(object.kind, "mmap") == 0)
                return add_blocks(plan, &object);
        return refuse(plan, &object,
                      "only global variables and heap blocks can; "
                      "allocate it, or make it static");
}

/* An object that cannot be moved is left out where others can. */
static int take_candidate(struct plan *plan, sqlite3_stmt *row)
{
        int rc = add_candidate(plan, row);
        return rc == -EINVAL ? 0 : rc;
}

static int find_objects(struct plan *plan, const char *sql)
{
        plan->diag->text[0] = '\0';
        int rc = rows_of_type(plan, sql, take_candidate);
        if (rc < 0 || plan->object_count)
                return rc;
        if (plan->diag->text[0])
                return -EINVAL;
        return diag_set(plan->diag, -ENOENT,
                        "no sample is of an object of '%s'; 'memlag report --by object' "
                        "has the objects with samples",
                        plan->target->name);
}

/* ---- the whole ---- */

static int write_plan(const struct plan *plan, struct whatif_fix *fix)
{
        const struct layout_result *layout = &plan->layout;
        const struct simpmu_plan header = {
            .change = (uint32_t)plan->target->change,
            .part_count = (uint32_t)layout->part_count,
            .piece_count = (uint32_t)layout->piece_count,
            .object_count = (uint32_t)plan->object_count,
            .element_bytes = plan->element_bytes,
            .frames = plan->frames,
        };
        size_t size;
        FILE *out = open_memstream((char **)&fix->plan, &size);
        if (!out)
                return diag_no_memory(plan->diag);
        fwrite(&header, sizeof(header), 1, out);
        fwrite(layout->parts, sizeof(*layout->parts), layout->part_count, out);
        fwrite(layout->pieces, sizeof(*layout->pieces), layout->piece_count, out);
        fwrite(plan->objects, sizeof(*plan->objects), plan->object_count, out);
        if (fclose(out) != 0)
                return diag_no_memory(plan->diag);
        fix->plan_bytes = size;
        if (size > SIMPMU_PLAN_BYTES)
                return diag_set(plan->diag, -E2BIG,
                                "'%s' has %zu allocation sites and %zu members, and the "
                                "simulated PMU has room for fewer; name one object",
                                plan->target->name, plan->object_count,
                                plan->member_count);
        return 0;
}

int whatif_plan_make(struct db *db, const struct whatif_target *target,
                     struct whatif_fix *fix, struct diag *diag)
{
        struct plan plan = {
            .db = db, .target = target, .known = intern_new(), .diag = diag};
        int rc = plan.known ? 0 : diag_no_memory(diag);
        if (rc == 0 && target->subject == WHATIF_TYPE)
                rc = find_type(&plan);
        if (rc == 0)
                rc = find_objects(&plan,
                                  target->subject == WHATIF_TYPE ? typed_sql : named_sql);
        if (rc == 0)
                rc = write_plan(&plan, fix);
        for (size_t i = 0; i < plan.member_count; i++)
                free(plan.members[i].names);
        free(plan.members);
        free(plan.objects);
        intern_free(plan.known);
        layout_result_free(&plan.layout);
        return rc;
}

/* ---- which fix fits ---- */

/* The member that a field F is part of, and a type's name as C's typedefs would have it.
 */
#define MEMBER_SQL                                                                       \
        "substr(f.name, 1, min(instr(f.name || '.', '.'), instr(f.name || '[', '[')) - " \
        "1)"
#define TYPE_SQL "iif(type LIKE 'struct %', substr(type, 8), type)"

/* Huge pages fit all objects for which reports advise them, and other fixes the ?2 worst
 * objects. An object's main type is the struct that most of its samples are of. An array
 * of it is worth taking apart if samples are of at most half of its members. */
/* clang-format off */
static const char fitting_sql[] =
    "WITH member (type_id, members) AS MATERIALIZED ("
    "  SELECT type_id, count(DISTINCT " MEMBER_SQL ") FROM type_field AS f"
    "  WHERE f.name IS NOT NULL GROUP BY type_id),"
    " typed (object_id, type, size, used, members, samples) AS MATERIALIZED ("
    "  SELECT a.object_id, t.name, t.size_bytes, count(DISTINCT " MEMBER_SQL "),"
    "   members, count(*)"
    "  FROM attribution AS a JOIN type_field AS f USING (field_id)"
    "  JOIN data_type AS t USING (type_id) JOIN member USING (type_id)"
    "  WHERE f.name IS NOT NULL GROUP BY a.object_id, t.type_id),"
    " main (object_id, type, size, used, members, samples) AS ("
    "  SELECT object_id, type, size, used, members, max(samples) FROM typed"
    "  GROUP BY object_id),"
    " fitting (fix, stalled) AS ("
    "  SELECT CASE"
    "   WHEN verdict = 'remote-memory' THEN 'object:' || o.name || '=local'"
    "   WHEN verdict = 'sharing' AND size % 64 <> 0"
    "    THEN 'type:' || " TYPE_SQL " || '=align(64)'"
    "   WHEN verdict = 'dram-contention' AND NOT EXISTS (SELECT 1 FROM attribution AS a"
    "     JOIN sample USING (sample_id) JOIN data_source USING (data_source_id)"
    "     WHERE a.object_id = o.object_id AND op <> 'store')"
    "    THEN 'object:' || o.name || '=nontemporal'"
    "   WHEN verdict IN ('dram-latency', 'dram-contention', 'dram', 'in-core', 'cache')"
    "     AND 2 * used <= members THEN 'type:' || " TYPE_SQL " || '=soa'"
    "   END, stalled_ratio"
    "  FROM object_finding JOIN data_object AS o USING (object_id)"
    "  LEFT JOIN main USING (object_id)"
    "  WHERE o.kind IN ('heap', 'global', 'mmap') AND stalled_ratio >= ?1),"
    " huge (fix, stalled) AS ("
    "  SELECT 'object:' || o.name || '=hugepages', stalled_ratio"
    "  FROM object_finding JOIN data_object AS o USING (object_id)"
    "  LEFT JOIN object_gain_finding USING (object_id)"
    "  WHERE o.kind IN ('heap', 'global', 'mmap') AND o.size_bytes >= 2 << 20"
    "  AND max(iif(verdict IN ('tlb', 'page-faults'), coalesce(stalled_ratio, 0), 0),"
    "   coalesce(fault_ratio, 0), coalesce(gain_ratio, 0)) >= ?1)"
    " SELECT fix FROM (SELECT * FROM huge UNION ALL SELECT * FROM ("
    "  SELECT fix, max(stalled) AS most FROM fitting WHERE fix IS NOT NULL GROUP BY fix"
    "  ORDER BY most DESC, fix LIMIT ?2)) GROUP BY fix ORDER BY max(stalled) DESC, fix";
/* clang-format on */

int whatif_each_object(struct db *db, double least, int count,
                       int (*take)(void *context, const char *fix), void *context,
                       struct diag *diag)
{
        struct plan plan = {.db = db, .diag = diag};
        sqlite3_stmt *rows;
        int rc = prepare(&plan, fitting_sql, &rows), code = 0, step = SQLITE_DONE;
        if (rc < 0)
                return rc;
        sqlite3_bind_double(rows, 1, least);
        sqlite3_bind_int(rows, 2, count);
        while (!code && (step = sqlite3_step(rows)) == SQLITE_ROW)
                code = take(context, text_of(rows, 0));
        sqlite3_finalize(rows);
        return !code && step != SQLITE_DONE ? db_error(db, "read", diag) : code;
}
