/* SPDX-License-Identifier: MIT */
/* SQL over samples and names. A line takes its numbers from its finding. A part of a line
 * sums its samples as findings do. */
#include "marked_places.h"

#include "statement.h"

/* SQL is laid out as SQL. */
/* clang-format off */

/* Selects memory samples as findings do (statement.h). A sample without latency costs its
 * timer stall. Whether contention is known follows reports by thread. */
static const char prepare_sql[] =
    "CREATE TEMP TABLE annotated_sample AS "
    "SELECT p.location_id, a.object_id, a.field_id, a.untyped_id,"
    " count(*) - count(e.faults) AS samples, total(e.kernel_cycles) AS fault_cycles,"
    " sum(nullif(v.level, 'NA') IN ('DRAM', 'REMOTE_DRAM')) AS dram_samples,"
    " count(nullif(v.level, 'NA')) AS level_samples,"
    " count(iif(s.latency_cycles >= 0, 1, NULL)) AS latencies,"
    " total(iif(s.latency_cycles >= 0, s.latency_cycles, 0)) AS latency_cycles,"
    " total(iif(s.latency_cycles >= 0, s.latency_cycles, max(coalesce(s.stall_ns, 0), 0)))"
    " AS cost,"
    " count(iif(s.retire_latency_cycles >= 0, 1, NULL)) AS retirements,"
    " total(iif(s.retire_latency_cycles >= 0," STATEMENT_STALL ", 0)) AS retire_cycles,"
    " total(v.contended) AS contended, count(iif(e.faults, NULL, v.contended)) AS told,"
    " count(iif(e.faults, NULL, v.contended + i.contended)) AS told_by_interval,"
    " min(a.type_source_id) AS first_source, max(a.type_source_id) AS last_source "
    "FROM sample AS s JOIN sample_view AS v USING (sample_id)"
    " JOIN sample_location AS p USING (sample_id)"
    " LEFT JOIN attribution AS a USING (sample_id)"
    " LEFT JOIN interval AS i USING (interval_id)"
    " LEFT JOIN page_fault AS e USING (sample_id) "
    "WHERE e.faults OR CASE WHEN s.data_source_id IS NULL THEN s.addr IS NOT NULL"
    "      ELSE v.op <> 'NA' OR v.level <> 'NA' END "
    "GROUP BY 1, 2, 3, 4;"

    /* Timer samples of a first run (record --with-clock), as shares of its CPU time. */
    "CREATE TEMP TABLE annotated_clock (location_id INTEGER PRIMARY KEY, ratio REAL);"
    "INSERT INTO annotated_clock SELECT location_id, sum(samples)"
    " * (SELECT sum(measured_ratio) / sum(samples) FROM line_clock_finding) "
    "FROM clock_sample JOIN clock_location USING (clock_sample_id) GROUP BY location_id;"

    "CREATE TEMP TABLE annotated_frame AS "
    "WITH sampled AS MATERIALIZED (SELECT location_id, path AS module, function,"
    "  function_offset, file, line"
    "  FROM location LEFT JOIN module USING (module_id)"
    "  WHERE location_id IN (SELECT location_id FROM annotated_sample"
    "   UNION SELECT location_id FROM annotated_clock)) "
    "SELECT location_id, 0 AS depth, module, function, function_offset, file, line "
    "FROM sampled "
    "UNION ALL "
    "SELECT location_id, f.depth, module, f.function, NULL, i.call_file, i.call_line "
    "FROM sampled JOIN inline_frame AS f USING (location_id)"
    " JOIN inline_frame AS i USING (location_id) WHERE f.depth > 0 AND i.depth = f.depth - 1;"
    "CREATE INDEX temp.annotated_frame_function ON annotated_frame (function);"
    "CREATE INDEX temp.annotated_frame_file ON annotated_frame (file);"

    /* choice_order: order of the user's arguments. */
    "CREATE TEMP TABLE annotated_block ("
    "  block_id INTEGER PRIMARY KEY, choice_order INTEGER, module TEXT, function TEXT,"
    "  function_offset INTEGER, file TEXT, first_line INTEGER, last_line INTEGER)";

/* Numbers from sums of annotated_sample. */
#define FIGURES \
    " coalesce(sum(s.samples), 0) AS samples, sum(s.dram_samples) AS dram_samples," \
    " sum(s.level_samples) AS level_samples," \
    " sum(s.latency_cycles) / nullif(sum(s.latencies), 0) AS mean_latency_cycles," \
    " sum(s.cost) / coalesce(nullif(" STATEMENT_TIMED_NS ", 0)," \
    "     nullif((SELECT sum(cost) FROM annotated_sample), 0)) AS latency_share," \
    " iif(" STATEMENT_CONTENTION "AND (sum(s.told_by_interval)" \
    "      OR sum(s.told) = sum(s.samples))," \
    "     CAST(sum(s.contended) AS INTEGER), NULL) AS contended_samples," \
    " iif((SELECT sum(retirements) FROM annotated_sample), total(s.retire_cycles)" \
    "     * (SELECT sum(stalled_ratio - coalesce(fault_ratio, 0)) FROM function_finding)" \
    "     / (SELECT nullif(sum(retire_cycles), 0) FROM annotated_sample)" \
    "     + coalesce(sum(s.fault_cycles) * (SELECT sum(fault_ratio) FROM function_finding)" \
    "     / (SELECT nullif(sum(fault_cycles), 0) FROM annotated_sample), 0), NULL)" \
    " AS stalled_ratio"

static const char find_sql[] =
    "CREATE TEMP TABLE annotated_part AS "
    "WITH chosen AS ("
    /* The innermost frame of a function that is inlined into itself. */
    " SELECT block_id, f.location_id, min(f.depth) AS depth, f.file, f.line"
    " FROM annotated_block AS b JOIN annotated_frame AS f"
    "  ON f.function IS b.function AND f.module IS b.module"
    "  AND f.function_offset IS b.function_offset"
    " WHERE b.file IS NULL GROUP BY block_id, f.location_id"
    " UNION ALL"
    " SELECT block_id, f.location_id, min(f.depth), f.file, f.line"
    " FROM annotated_block AS b JOIN annotated_frame AS f ON f.file = b.file"
    "  AND (b.first_line IS NULL OR f.line BETWEEN b.first_line AND b.last_line)"
    " GROUP BY block_id, f.location_id) "
    "SELECT block_id, location_id, c.file, c.line, c.depth > 0 AS inlined,"
    " o.module, o.function, o.function_offset, o.file AS own_file, o.line AS own_line,"
    " dense_rank() OVER (ORDER BY block_id, c.file, c.line, c.depth > 0, o.module,"
    "                    o.function, o.function_offset, o.file, o.line) AS place_id "
    "FROM chosen AS c JOIN annotated_frame AS o USING (location_id) WHERE o.depth = 0;"

    "CREATE TEMP TABLE annotated_row AS "
    "SELECT 0 AS level, block_id, place_id, NULL AS location_id, p.inlined, p.file, p.line,"
    " p.module, p.function, p.function_offset, p.own_file, p.own_line,"
    " NULL AS address_offset, NULL AS object_kind, NULL AS object, NULL AS type,"
    " NULL AS field," FIGURES ", NULL AS p95_latency_cycles, NULL AS verdict,"
    " NULL AS cache_level,"
    " count(DISTINCT location_id) AS parts, NULL AS untyped, NULL AS told_by,"
    " NULL AS measured_ratio "
    "FROM annotated_part AS p LEFT JOIN annotated_sample AS s USING (location_id) "
    "GROUP BY place_id;"

    "INSERT INTO annotated_row "
    "SELECT 1, block_id, place_id, location_id, p.inlined, p.file, p.line,"
    " p.module, p.function, p.function_offset, p.own_file, p.own_line,"
    " l.address_offset, NULL, NULL, NULL, NULL," FIGURES ", NULL, NULL, NULL, count(*), NULL,"
    " NULL, NULL "
    "FROM annotated_part AS p JOIN annotated_sample AS s USING (location_id)"
    " JOIN code_location AS l USING (location_id) "
    "GROUP BY place_id, location_id;"

    "INSERT INTO annotated_row "
    "SELECT 2, block_id, place_id, location_id, p.inlined, p.file, p.line,"
    " p.module, p.function, p.function_offset, p.own_file, p.own_line,"
    " l.address_offset, o.kind, o.name, t.name, f.name," FIGURES ", NULL, NULL, NULL, 0,"
    " u.reason, iif(min(s.first_source) = max(s.last_source), min(s.first_source), NULL),"
    " NULL "
    "FROM annotated_part AS p JOIN annotated_sample AS s USING (location_id)"
    " JOIN code_location AS l USING (location_id)"
    " LEFT JOIN data_object AS o USING (object_id)"
    " LEFT JOIN type_field AS f USING (field_id)"
    " LEFT JOIN data_type AS t USING (type_id)"
    " LEFT JOIN untyped AS u USING (untyped_id) "
    "GROUP BY place_id, location_id, object_id, field_id, untyped_id;"

    "CREATE INDEX temp.annotated_row_place ON annotated_row (place_id, level, location_id);"

    /* Lines that are not inlined have all their samples here. */
    "UPDATE annotated_row AS r SET p95_latency_cycles = f.p95_latency_cycles,"
    " verdict = f.verdict, cache_level = f.cache_level, latency_share = f.latency_share,"
    " contended_samples = f.contended_samples, stalled_ratio = f.stalled_ratio,"
    " mean_latency_cycles = f.mean_latency_cycles "
    "FROM line_finding AS f WHERE r.level = 0 AND NOT r.inlined"
    " AND f.line IS r.own_line AND f.file IS r.own_file AND f.function IS r.function"
    " AND f.function_offset IS r.function_offset AND f.module IS r.module"
    " AND f.samples = r.samples;"

    "UPDATE annotated_row AS r SET measured_ratio = (SELECT total(ratio)"
    " FROM annotated_part AS p JOIN annotated_clock USING (location_id)"
    " WHERE p.place_id = r.place_id AND (r.level = 0 OR p.location_id = r.location_id)) "
    "WHERE level < 2 AND EXISTS (SELECT 1 FROM annotated_clock);"

    "CREATE TEMP TABLE annotated_code (location_id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TEMP TABLE annotated_neighbour (location_id INTEGER, address_offset INTEGER,"
    "  text TEXT NOT NULL);"
    "CREATE INDEX temp.annotated_neighbour_location ON annotated_neighbour (location_id)";
/* clang-format on */

int places_prepare(struct db *db, struct diag *diag)
{
        return statement_run_all(db, prepare_sql, diag);
}

int places_find(struct db *db, struct diag *diag)
{
        return statement_run_all(db, find_sql, diag);
}
