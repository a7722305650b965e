/* SPDX-License-Identifier: MIT */
/* SQL fragments that tables of samples and tables of timer samples share. */
#ifndef MEMLAG_REPORT_SQL_H
#define MEMLAG_REPORT_SQL_H

/* SQL is laid out as SQL. */
/* clang-format off */

/* The last part of a path. */
#define REPORT_BASE(file) \
        " substr(" file ", length(rtrim(" file ", replace(" file ", '/', ''))) + 1) "

/* Prints the file's base name if it is unambiguous in the table; rows have a column base.
 * Code without a line has ":?" after its file, as in addr2line. */
#define REPORT_PLACE(file, line) \
        " CASE WHEN " file " IS NULL THEN '-' " \
        "      WHEN min(" file ") OVER (PARTITION BY base) =" \
        "           max(" file ") OVER (PARTITION BY base) THEN base ELSE " file " END " \
        " || iif(" file " IS NULL, '', ':' || coalesce(" line ", '?')) "

/* BOUND, of an interval, in words. Its class "compute" has all cycles outside of M17's
 * memory stalls. Most of these cycles can be other stalls. */
#define REPORT_BOUND(bound)                                                              \
        " iif(" bound " = 'compute' AND other_stall_ratio >= 0.5, 'other stalls', " bound ") "

/* Function names. A function without a name gets its module and start offset, or its
 * module only. A separate column may name the module. */
#define REPORT_FUNCTION_START \
        " iif(function_offset IS NULL, NULL," \
        "     printf('%s+0x%x'," REPORT_BASE("module") ", function_offset)) "
#define REPORT_NAMELESS \
        " iif(module GLOB '[[]*', module, '[' ||" REPORT_BASE("module") "|| ']') "
#define REPORT_FUNCTION_NAME \
        " coalesce(function," REPORT_FUNCTION_START "," REPORT_NAMELESS ", '[unknown]') "
#define REPORT_FUNCTION REPORT_FUNCTION_NAME "AS function"
/* The function with the user's line that led there: for a library's line, this is the
 * line to change. */
#define REPORT_FUNCTION_AND_CALLER \
        REPORT_FUNCTION_NAME REPORT_CALLER(" || coalesce(':' || caller_line, '')") \
        " AS function"
#define REPORT_CALLER(line) \
        REPORT_CALLED_FROM("coalesce(caller_function || ' at ', '') ||" REPORT_BASE("caller_file") line)
#define REPORT_CALLED_FROM(place) \
        "|| iif(" REPORT_HAS_CALLER ", iif(caller_share < 0.995," \
        " printf(', %.0f%% from ', 100 * caller_share), ', from ') || " place ", '')"
/* The same without the caller's function. */
#define REPORT_FUNCTION_AND_CALLING_LINE \
        REPORT_FUNCTION_NAME REPORT_CALLED_FROM(REPORT_BASE("caller_file") \
                                                " || coalesce(':' || caller_line, '')") \
        " AS function"
/* A caller with a smaller part of the cost says little. */
#define REPORT_HAS_CALLER " (caller_file IS NOT NULL AND caller_share >= 0.1) "
#define REPORT_MODULE_NAME " coalesce(" REPORT_BASE("module") ", '-') "
#define REPORT_MODULE_FUNCTION_AND_CALLER \
        REPORT_MODULE_NAME "AS module, coalesce(function," \
        REPORT_FUNCTION_START ", '[unknown]')" REPORT_CALLER("") \
        " AS function"

/* A share of the latency or stalled time of all samples. */
#define REPORT_SHARE(column) \
        " iif(" column " IS NULL, '-', printf('%.1f%%', 100 * " column "))"
#define REPORT_SHARE_RANGE \
        " iif(latency_share IS NULL, '-', printf('%.1f-%.1f', 100 * latency_share_low," \
        "     100 * latency_share_high)) AS \"95% range\","

/* Share of samples that DRAM served, among samples with a level. */
#define REPORT_DRAM \
        " iif(level_samples > 0," \
        "     printf('%.0f%%', 100.0 * dram_samples / level_samples), '-') "

/* The verdict; a cache verdict also names the cache. */
#define REPORT_VERDICT_NAME \
        " (verdict || coalesce(' (' || cache_level || ')', '')) "

/* Legends of the columns above. */
#define REPORT_SHARE_LEGEND "latency: share of the latency of all samples"
#define REPORT_DRAM_LEGEND "; DRAM: samples served by DRAM; mean"
#define REPORT_CONTENDED_LEGEND \
        "; contended: samples that were slow because DRAM bandwidth was short"
#define REPORT_STALLED_LEGEND \
        "stalled: share of the run's cycles for which these accesses or page faults " \
        "stalled the program: about the most that can be saved here"
/* Begins the brief legend of kinds whose column of stalls may be left out. */
#define REPORT_BRIEF_STALLED \
        "stalled: share of the run's cycles that these accesses stalled, page faults " \
        "included; "
#define REPORT_STALLS_LEGEND "stalled: share of the time of all timer samples"

/* The largest stall time comes first; all that is shown as 0.0% is equal. If it is not
 * known, or ?4 asks for it, the largest latency comes first. */
#define REPORT_STALLED \
        " iif(?4, NULL, iif(stalled_ratio < 0.0005, 0.0, stalled_ratio)) "
#define REPORT_ORDER " ORDER BY" REPORT_STALLED "DESC, latency_share DESC, samples DESC, "
#define REPORT_STALLED_COLUMN REPORT_SHARE("stalled_ratio") " AS stalled,"

/* Whether PATTERN matches the function (function_pattern.h). */
#define REPORT_FUNCTION_LIKE(pattern) \
        " function_matches(" pattern "," REPORT_FUNCTION_NAME ") "

/* Chooses rows by function (?2) and module (?3, with or without path); NULL: any. A name
 * that occurs in the run is not a pattern. */
#define REPORT_CHOSEN \
        " (?2 IS NULL OR ?2 IN (" REPORT_FUNCTION_NAME ", coalesce(function, '[unknown]')," \
        "                       iif(function IS NULL," REPORT_NAMELESS ", NULL))" \
        "  OR ?2 NOT IN (SELECT" REPORT_FUNCTION_NAME "FROM function_finding" \
        "                UNION ALL SELECT" REPORT_NAMELESS "FROM function_finding" \
        "                WHERE function IS NULL AND module IS NOT NULL" \
        "                UNION ALL SELECT '[unknown]')" \
        "     AND" REPORT_FUNCTION_LIKE("?2") ")" \
        " AND (?3 IS NULL OR ?3 IN (" REPORT_MODULE_NAME ", module)" \
        "      OR ?3 NOT IN (SELECT" REPORT_MODULE_NAME "FROM function_finding" \
        "                    UNION ALL SELECT coalesce(module, '-') FROM function_finding)" \
        "         AND (" REPORT_MODULE_NAME "GLOB ?3 OR module GLOB ?3)) "

/* Whether the user chose rows: chosen rows are shown even if they are small. */
#define REPORT_HAS_CHOICE " coalesce(?2, ?3) IS NOT NULL "

/* Objects or types that chosen lines accessed; ID is their key in JOINED. */
#define REPORT_TOUCHED(id, joined) \
        " (NOT" REPORT_HAS_CHOICE "OR " id " IN (SELECT " id " FROM line_object_finding" \
        "  JOIN line_finding USING (line_id)" joined " WHERE" REPORT_CHOSEN ")) "
#define REPORT_TOUCHED_OBJECTS REPORT_TOUCHED("object_id", "")
#define REPORT_TOUCHED_TYPES REPORT_TOUCHED("type_id", " JOIN type_field USING (field_id)")

/* Leaves out rows of a few stray samples, or of none; --top=0 lists them. Chosen code is
 * always shown. Where stall time is known, a small share of the latency is no reason. */
#define REPORT_NOTABLE \
        " (?1 < 0 OR" REPORT_HAS_CHOICE "OR verdict NOT IN ('too-few-samples', 'none')" \
        "  OR latency_share IS NULL OR stalled_ratio >= 0.005" \
        "  OR latency_share >= iif(stalled_ratio IS NULL, 0.001, 0.01)) "

/* The ?1 first lines of a table. */
#define REPORT_TOP_LINES \
        " (SELECT * FROM line_finding WHERE" REPORT_NOTABLE "AND" REPORT_CHOSEN \
        REPORT_ORDER "line_id LIMIT ?1) "

/* Lines with their weight: stall time, or latency if no sample has stall time (stalled is
 * 0). */
#define REPORT_WEIGHED_LINES \
        " (SELECT *, iif(stalled, coalesce(stalled_ratio, 0), latency_share) AS weight FROM" \
        "  (SELECT *, total(stalled_ratio) OVER () > 0 AS stalled FROM line_finding)) "

/* The MOST lines in the first part of a report; ALL: any verdict. A library's line comes
 * with the program's own line that led there. */
#define REPORT_PLACES(most, all) \
        " (SELECT *, coalesce(caller_share >= 0.5, 0) AND caller_file IS NOT NULL AS led" \
        "  FROM" REPORT_WEIGHED_LINES \
        "  WHERE verdict NOT IN ('none', 'too-few-samples') OR " all \
        "  ORDER BY weight DESC, line_id LIMIT " most ") "

/* The ?1 first functions of a table. */
#define REPORT_TOP_FUNCTIONS \
        " (SELECT * FROM function_finding WHERE" REPORT_NOTABLE "AND" REPORT_CHOSEN \
        REPORT_ORDER "function_id LIMIT ?1) "

/* The ?1 first objects of a table, and the fields of its types. */
#define REPORT_TOP_OBJECTS \
        " (SELECT * FROM object_finding WHERE" REPORT_NOTABLE "AND" REPORT_TOUCHED_OBJECTS \
        REPORT_ORDER "object_id LIMIT ?1) "
#define REPORT_TOP_FIELDS \
        " (SELECT * FROM field_finding WHERE field_id IN (SELECT field_id FROM type_field" \
        "  WHERE type_id IN" REPORT_TOP_TYPES(REPORT_NOTABLE_TYPES) ")) "

/* Threads by stall time, then latency; for timer samples, time at loads replaces latency.
 * If all threads are wanted, includes threads without samples, but not the CPUs of
 * system-wide counters. A thread without a name gets its program's name. */
#define REPORT_THREADS \
        "SELECT p.pid, t.tid, coalesce(t.name," REPORT_BASE("p.executable") ") AS name," \
        " coalesce(g.samples, 0) AS samples, iif(g.samples, g.dram_samples, 0) AS dram_samples," \
        " coalesce(g.level_samples, 0) AS level_samples," \
        " g.mean_latency_cycles, g.latency_share, g.contended_samples, g.stalled_ratio " \
        "FROM thread AS t JOIN process AS p USING (process_id) LEFT JOIN" \
        REPORT_SAMPLED("thread_id") "AS g USING (thread_id) " \
        "WHERE g.samples > 0 OR ?1 < 0 AND p.executable IS NOT '[CPUs]' " \
        "ORDER BY g.stalled_ratio DESC, g.latency_share DESC, g.samples DESC, p.pid," \
        " t.tid, t.thread_id"

/* Programs in processes, in the same order. */
#define REPORT_PROCESSES \
        "SELECT p.pid, p.parent_pid, p.process, p.name, p.executable, p.threads," \
        " coalesce(g.samples, 0) AS samples, iif(g.samples, g.dram_samples, 0) AS dram_samples," \
        " coalesce(g.level_samples, 0) AS level_samples," \
        " g.mean_latency_cycles, g.latency_share, g.contended_samples, g.stalled_ratio," \
        " p.start_ns, p.end_ns " \
        "FROM process_view AS p LEFT JOIN" \
        REPORT_SAMPLED("process_id") "AS g USING (process_id) " \
        "WHERE g.samples > 0 OR ?1 < 0 " \
        "ORDER BY g.stalled_ratio DESC, g.latency_share DESC, g.samples DESC, p.process_id"

/* The program of a process, and its name if different, such as a script's. */
#define REPORT_PROCESS \
        " coalesce(process, '-')" \
        " || iif(name <> substr(process, 1, 15), ' (' || name || ')', '') AS process"

/* Sums over the samples of each thread_id or process_id. */
#define REPORT_SAMPLED(id) \
        " (SELECT " id ", count(*) - count(e.faults) AS samples," \
        "  sum(nullif(v.level, 'NA') IN ('DRAM', 'REMOTE_DRAM')) AS dram_samples," \
        "  count(nullif(v.level, 'NA')) AS level_samples," \
        "  avg(v.latency_cycles) AS mean_latency_cycles," \
        "  total(iif(timed, s.stall_ns, v.latency_cycles))" \
        "      / nullif(iif(timed," STATEMENT_TIMED_NS ", total(total(v.latency_cycles)) OVER ()), 0)" \
        "      AS latency_share," \
        "  iif(count(s.retire_latency_cycles)," \
        "      total(" STATEMENT_STALL ")" \
        "      / nullif(total(total(" STATEMENT_STALL ")) OVER (), 0)" \
        "      * (SELECT sum(stalled_ratio - coalesce(fault_ratio, 0)) FROM function_finding)" \
        "      + coalesce(sum(e.kernel_cycles) * (SELECT sum(fault_ratio) FROM function_finding)" \
        "                 / (SELECT sum(kernel_cycles) FROM page_fault), 0), NULL)" \
        "      AS stalled_ratio," \
        "  iif(" STATEMENT_CONTENTION \
        "      AND (count(iif(e.faults, NULL, v.contended + i.contended)) OR" \
        "      count(v.contended) = count(*)), sum(v.contended), NULL) AS contended_samples" \
        "  FROM sample AS s JOIN sample_view AS v USING (sample_id)" \
        "  JOIN thread USING (thread_id) LEFT JOIN interval AS i USING (interval_id)" \
        "  LEFT JOIN page_fault AS e USING (sample_id)," \
        "  (SELECT EXISTS (SELECT 1 FROM sample WHERE stall_ns > 0) AS timed)" \
        "  WHERE iif(timed, s.stall_ns > 0, v.op <> 'NA' OR v.level <> 'NA'" \
        "                                   OR v.addr IS NOT NULL)" \
        "  GROUP BY " id ") "

/* The ?1 most costly objects with known allocations. */
#define REPORT_TOP_ALLOCATED \
        " (SELECT object_id FROM object_finding" \
        "  WHERE object_id IN (SELECT object_id FROM object_stack)" \
        "  ORDER BY" REPORT_ALLOCATED_ORDER "LIMIT ?1) "
#define REPORT_ALLOCATED_ORDER \
        " stalled_ratio DESC, latency_share DESC, object_finding.samples DESC, object_id "

/* The ?1 cache lines with most HITM samples, and at least LEAST; --top=0: all. */
#define REPORT_TOP_CACHELINES(least) \
        " (SELECT process_id, line_address, sum(hitm) AS of_line FROM sharing_view" \
        "  GROUP BY 1, 2 HAVING ?1 < 0 OR of_line >= " least " ORDER BY of_line DESC, 1, 2 LIMIT ?1) "
/* With fewer, a table does not show a cache line: chance may have made them. */
#define REPORT_HITM_MIN "5"

/* Both sides of these cache lines, with COLUMNS behind the source line. */
#define REPORT_SHARED_LINES(columns) \
        "WITH shown AS (SELECT v.*, of_line, row_number() OVER (PARTITION BY process_id," \
        "  line_address ORDER BY offset, v.hitm DESC, tid, file, line) AS place" \
        "  FROM sharing_view AS v JOIN" REPORT_TOP_CACHELINES(REPORT_HITM_MIN) "USING (process_id, line_address)) " \
        "SELECT" REPORT_STALLED_COLUMN " hitm AS HITM, reads, writes, offset," \
        " coalesce(field, '-') AS field, tid AS thread," \
        " iif(file IS NULL, '-'," REPORT_BASE("file") " || ':' || coalesce(line, '?'))" \
        " AS line," columns \
        " iif(place = 1, coalesce(object, '[unknown]') || ' at ' || line_address, '')" \
        " AS \"cache line\" " \
        "FROM shown ORDER BY of_line DESC, process_id, line_address, place"

#define REPORT_SIZE(bytes) \
        " CASE WHEN " bytes " IS NULL THEN '-'" \
        "      WHEN " bytes " < 10240 THEN " bytes " || ' B'" \
        "      WHEN " bytes " < 10485760 THEN printf('%.0f KiB', " bytes " / 1024.0)" \
        "      ELSE printf('%.0f MiB', " bytes " / 1048576.0) END"

/* The call trees of allocations. A caller with the same numbers as its callee above gets
 * empty cells: numbers appear where paths diverge. */
#define REPORT_ALLOCATIONS(shares) \
        "WITH found AS MATERIALIZED (" \
        "        SELECT object_id, object, depth, function, module, function_offset, file, line," \
        "         samples, allocations, total_bytes, peak_bytes, place," \
        REPORT_BASE("file") "AS base" \
        "        FROM allocation_view WHERE object_id IN" REPORT_TOP_ALLOCATED ")," \
        " shown AS (" \
        "        SELECT *, lag(object_id) OVER above IS NULL AS first," \
        "         depth > 0 AND depth = 1 + lag(depth) OVER above" \
        "         AND samples = lag(samples) OVER above" \
        "         AND allocations IS lag(allocations) OVER above" \
        "         AND total_bytes IS lag(total_bytes) OVER above" \
        "         AND peak_bytes IS lag(peak_bytes) OVER above AS same" \
        "        FROM found WINDOW above AS (PARTITION BY object_id ORDER BY place)) " \
        "SELECT" shares " iif(same, '', shown.samples) AS samples," \
        " iif(same, '', coalesce(allocations, '-')) AS blocks," \
        " iif(same, ''," REPORT_SIZE("total_bytes") ") AS total," \
        " iif(same, ''," REPORT_SIZE("peak_bytes") ") AS peak," \
        " iif(first, object, '') AS object," \
        " printf('%*s', 2 * depth, '') || coalesce(function," \
        REPORT_FUNCTION_START ", '[unknown]')" \
        " || iif(file IS NULL, '', ' (' ||" REPORT_PLACE("file", "line") "|| ')')" \
        " AS \"allocated by\" FROM shown JOIN object_finding USING (object_id)" \
        " ORDER BY" REPORT_ALLOCATED_ORDER ", place"
#define REPORT_ALLOCATED_SHARE(column) \
        " iif(first," REPORT_SHARE(column) ", '') "
#define REPORT_ALLOCATIONS_LEGEND \
        "below each object the function that allocated its blocks, and below that its " \
        "callers, with figures where they differ; samples: in blocks of this path; total: of " \
        "all its blocks, one after the other; peak: the most that was live at once"
#define REPORT_ALLOCATIONS_BRIEF \
        "below each object the function that allocated its blocks, and below that its " \
        "callers, with figures where they differ; samples: in blocks of this path; total: of " \
        "all its blocks; peak: the most that was live at once"

#define REPORT_NOTABLE_TYPES \
        " HAVING ?1 < 0 OR" REPORT_HAS_CHOICE "OR sum(latency_share) >= 0.001 OR sum(stalled_ratio) >= 0.001 "

/* The ?1 types with the most latency, each with all fields. */
#define REPORT_TOP_TYPES(having) \
        " (SELECT type_id FROM field_finding JOIN type_field USING (field_id)" \
        "  WHERE" REPORT_TOUCHED_TYPES "GROUP BY type_id" having \
        "  ORDER BY sum(" REPORT_STALLED ") DESC, sum(latency_share) DESC," \
        "  sum(samples) DESC, type_id LIMIT ?1) "

/* The same order for rows of type_view. */
#define REPORT_TYPES_IN_ORDER \
        " ORDER BY sum(" REPORT_STALLED ") OVER (PARTITION BY type_id) DESC," \
        " sum(latency_share) OVER (PARTITION BY type_id) DESC," \
        " sum(samples) OVER (PARTITION BY type_id) DESC, type_id, offset_bytes"

/* The fields of the ?1 types in layout order, as rows of type_view with FIGURES first.
 * Padding is printed at the field before it. Unless all rows are wanted, consecutive
 * fields without samples share a row, to keep the loaded fields visible. */
#define REPORT_FOLDED_MIN "3"
#define REPORT_BYTES(number) \
        " printf('%d byte%s', " number ", iif(" number " = 1, '', 's')) "
#define REPORT_FIELDS(figures) \
        "WITH whole AS (" \
        "        SELECT *, sum(" REPORT_STALLED ") OVER of_type AS type_stalled," \
        "         sum(latency_share) OVER of_type AS type_latency," \
        "         sum(samples) OVER of_type AS type_samples," \
        "         samples + wide_samples + undecided_samples > 0 AS met," \
        "         row_number() OVER (of_type ORDER BY offset_bytes, field_id) = 1 AS first," \
        "         lead(offset_bytes) OVER (of_type ORDER BY offset_bytes, field_id) AS next" \
        "        FROM type_view WHERE type_id IN" REPORT_TOP_TYPES(REPORT_NOTABLE_TYPES) \
        "        WINDOW of_type AS (PARTITION BY type_id))," \
        " parted AS (" \
        "        SELECT *, row_number() OVER of_type - row_number() OVER alike AS part," \
        "         (SELECT total(p.size_bytes) FROM type_padding AS p" \
        "          WHERE p.type_id = whole.type_id AND p.offset_bytes > whole.offset_bytes" \
        "          AND (next IS NULL OR p.offset_bytes <= next)) AS padding_bytes" \
        "        FROM whole WINDOW of_type AS (PARTITION BY type_id ORDER BY" \
        "         offset_bytes, field_id), alike AS (PARTITION BY type_id, met ORDER BY" \
        "         offset_bytes, field_id))," \
        " counted AS (" \
        "        SELECT *, count(*) OVER run AS fields," \
        "         sum(padding_bytes) OVER run AS run_padding_bytes," \
        "         max(offset_bytes + size_bytes) OVER run AS end_bytes," \
        "         row_number() OVER (run ORDER BY offset_bytes, field_id) AS place" \
        "        FROM parted WINDOW run AS (PARTITION BY type_id, met, part))," \
        " shown AS (" \
        "        SELECT *, ?1 >= 0 AND NOT met AND fields >= " REPORT_FOLDED_MIN \
        "         AS folded FROM counted) " \
        "SELECT" figures " offset_bytes AS offset," \
        " iif(folded, end_bytes - offset_bytes, size_bytes) AS size," \
        " cache_line || iif(folded AND (end_bytes - 1) / 64 > cache_line," \
        "                   '-' || (end_bytes - 1) / 64, '') AS line," \
        " type || iif(first, ' (' ||" REPORT_BYTES("type_size_bytes") "|| ')', '') AS type," \
        " iif(folded, printf('... %d unsampled', fields)" \
        "             || iif(run_padding_bytes, ', ' ||" REPORT_BYTES("run_padding_bytes") \
        "                                       || ' of padding', '')," \
        "     coalesce(field, '')" \
        "     || iif(padding_bytes, ', then ' ||" REPORT_BYTES("padding_bytes") \
        "                           || ' of padding', '')) AS field " \
        "FROM shown WHERE NOT folded OR place = 1 " \
        "ORDER BY type_stalled DESC, type_latency DESC, type_samples DESC, type_id," \
        " offset_bytes, field_id"
/* A field's number; empty for a row of several fields. */
#define REPORT_FIELD_FIGURE(value, name) " iif(folded, ''," value ") AS " name ","
#define REPORT_FIELD_BRIEF_SAMPLES \
        REPORT_FIELD_FIGURE(" iif(undecided_samples, printf('%d-%d', samples," \
                            " samples + undecided_samples), samples)", "samples")
#define REPORT_FIELD_SAMPLES \
        REPORT_FIELD_BRIEF_SAMPLES \
        REPORT_FIELD_FIGURE(" iif(wide_samples, wide_samples, '-')", "wide")
#define REPORT_FIELDS_LEGEND \
        "offset and size: bytes, in layout order; line: of 64 bytes, if the type begins " \
        "at one; 2-9 samples: 2, and up to 7 that may be of other fields; wide: more samples " \
        "of loads that also read an earlier field and count for it"
#define REPORT_FIELDS_BRIEF \
        "offset, size: bytes; line: of 64 bytes; 2-9 samples: 2, and up to 7 that may be of " \
        "other fields"

/* The ?1 most important callers. A caller's share is at least its callee's: the rows form
 * a tree. */
#define REPORT_CALLERS \
        " printf('%*s', 2 * min(depth, 60), '') ||" REPORT_FUNCTION \
        " FROM caller_finding WHERE caller_id IN" \
        " (SELECT caller_id FROM caller_finding" \
        "  WHERE ?1 < 0 OR latency_share IS NULL OR latency_share >= 0.005" \
        "        OR stalled_ratio >= 0.005" \
        REPORT_ORDER "caller_id LIMIT ?1)" \
        " ORDER BY caller_id"

/* clang-format on */

#endif
