/* SPDX-License-Identifier: MIT */
/* Pieces of SQL that tables of samples and tables of timer samples have in common. */
#ifndef MEMLAG_REPORT_SQL_H
#define MEMLAG_REPORT_SQL_H

/* SQL is laid out as SQL. */
/* clang-format off */

/* The last part of a path. */
#define REPORT_BASE(file) \
        " substr(" file ", length(rtrim(" file ", replace(" file ", '/', ''))) + 1) "

/* A file is shown by its name alone while that is unambiguous in the table, whose rows
 * have it as base too. */
#define REPORT_PLACE(file, line) \
        " CASE WHEN " file " IS NULL THEN '-' " \
        "      WHEN min(" file ") OVER (PARTITION BY base) =" \
        "           max(" file ") OVER (PARTITION BY base) THEN base ELSE " file " END " \
        " || coalesce(':' || " line ", '') "

/* Names; code without one is told by its module. */
#define REPORT_FUNCTION \
        " coalesce(function, '[' ||" REPORT_BASE("module") "|| ']', '[unknown]')" \
        " AS function"
#define REPORT_MODULE_AND_FUNCTION \
        " coalesce(" REPORT_BASE("module") ", '-') AS module," \
        " coalesce(function, '[unknown]') AS function"

/* A share of the latency or stalled time of all samples. */
#define REPORT_SHARE(column) \
        " iif(" column " IS NULL, '-', printf('%.1f%%', 100 * " column "))"
#define REPORT_SHARE_RANGE \
        " iif(latency_share IS NULL, '-', printf('%.1f-%.1f', 100 * latency_share_low," \
        "     100 * latency_share_high)) AS \"95% range\","

/* The ?1 objects with the most latency whose blocks were seen being allocated. */
#define REPORT_TOP_ALLOCATED \
        " (SELECT object_id FROM object_finding" \
        "  WHERE object_id IN (SELECT object_id FROM object_stack)" \
        "  ORDER BY latency_share DESC, samples DESC, object_id LIMIT ?1) "

/* The ?1 types with the most latency: each is shown with all of its fields. */
#define REPORT_TOP_TYPES(having) \
        " (SELECT type_id FROM field_finding JOIN type_field USING (field_id)" \
        "  GROUP BY type_id" having " ORDER BY sum(latency_share) DESC," \
        "  sum(samples) DESC, type_id LIMIT ?1) "

/* The end of a row of a field, and where rows come from, in layout order. */
#define REPORT_FIELDS \
        " t.offset_bytes AS offset, t.size_bytes AS size, t.offset_bytes / 64 AS line," \
        " coalesce(d.name, '?') AS type, coalesce(t.name, '') AS field " \
        "FROM type_field AS t JOIN data_type AS d USING (type_id)" \
        " LEFT JOIN field_finding AS f USING (field_id) " \
        "WHERE t.type_id IN" \
        REPORT_TOP_TYPES(" HAVING ?1 < 0 OR sum(latency_share) >= 0.001 ") \
        "ORDER BY sum(latency_share) OVER (PARTITION BY t.type_id) DESC," \
        " sum(samples) OVER (PARTITION BY t.type_id) DESC," \
        " t.type_id, t.offset_bytes, t.field_id"
#define REPORT_FIELDS_LEGEND \
        "offset and size: bytes, in layout order; line: of 64 bytes, if the type begins " \
        "at one"

/* The ?1 most important callers; a caller has no smaller share than what it calls, so
 * that they are a tree too. */
#define REPORT_CALLERS \
        " printf('%*s', 2 * min(depth, 60), '') ||" REPORT_FUNCTION \
        " FROM caller_finding WHERE caller_id IN" \
        " (SELECT caller_id FROM caller_finding" \
        "  WHERE ?1 < 0 OR latency_share IS NULL OR latency_share >= 0.005" \
        "  ORDER BY latency_share DESC, samples DESC, caller_id LIMIT ?1)" \
        " ORDER BY caller_id"

/* clang-format on */

#endif
