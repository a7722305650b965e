-- SPDX-License-Identifier: MIT
-- The published interface of the sample database: these names and columns stay.
-- doc/schema.md explains them. Findings are made by `memlag analyze`; what can be
-- derived from a row of its own costs nothing to derive, and is derived here.

DROP VIEW IF EXISTS run_info;
DROP VIEW IF EXISTS sample_view;
DROP VIEW IF EXISTS interval_view;
DROP VIEW IF EXISTS line_view;
DROP VIEW IF EXISTS object_view;
DROP VIEW IF EXISTS line_object_view;
DROP VIEW IF EXISTS line_asker_view;
DROP VIEW IF EXISTS phase_view;
DROP VIEW IF EXISTS caller_view;
DROP VIEW IF EXISTS allocation_view;
DROP VIEW IF EXISTS type_view;
DROP VIEW IF EXISTS stall_view;
DROP VIEW IF EXISTS utilisation_view;
DROP VIEW IF EXISTS phase_interval_view;
DROP VIEW IF EXISTS phase_limit_view;
DROP VIEW IF EXISTS calibration_view;
DROP VIEW IF EXISTS unresolved_view;
DROP VIEW IF EXISTS process_view;
DROP VIEW IF EXISTS library_view;
DROP VIEW IF EXISTS gain_view;
DROP VIEW IF EXISTS line_gain_view;
DROP VIEW IF EXISTS function_view;
DROP VIEW IF EXISTS line_measured_view;
DROP VIEW IF EXISTS sharing_view;
DROP VIEW IF EXISTS sharing_pair_view;
DROP VIEW IF EXISTS line_use_view;
DROP VIEW IF EXISTS field_use_view;
DROP VIEW IF EXISTS working_set_view;
DROP VIEW IF EXISTS object_gain_view;
DROP VIEW IF EXISTS prefetch_view;

-- A recording that was cut off has no duration: its last event stands in.
CREATE VIEW run_info (key, value) AS
SELECT key, value FROM run
WHERE key NOT IN ('samples', 'memory_samples', 'lost', 'duration_ns', 'calibration')
UNION ALL
SELECT 'duration_ns', coalesce(
        (SELECT value FROM run WHERE key = 'duration_ns'),
        max(coalesce((SELECT max(time_ns) FROM sample), 0),
            coalesce((SELECT max(end_ns) FROM reading), 0)))
UNION ALL
SELECT 'samples', (SELECT count(*) FROM sample)
UNION ALL
SELECT 'memory_samples',
        (SELECT count(*) FROM sample
         WHERE data_source_id IS NULL AND addr IS NOT NULL OR data_source_id IN
               (SELECT data_source_id FROM data_source WHERE op <> 'NA' OR level <> 'NA'))
UNION ALL
SELECT 'lost',
        -- Of a recording that has not ended, none known is not none.
        (SELECT CASE WHEN (SELECT value FROM run WHERE key = 'state') = 'recording'
                     THEN nullif(coalesce(sum(value), 0), 0)
                     ELSE coalesce(sum(value), 0) END
         FROM ledger WHERE unit = 'records');

-- The calibration that was used, each of its figures by its path.
CREATE VIEW calibration_view (path, value) AS
SELECT replace(substr(fullkey, length('$.') + 1), '"', ''), atom
FROM run, json_tree(run.value)
WHERE run.key = 'calibration' AND atom IS NOT NULL;

-- A sample is contended when it lies in an interval that was contended or at DRAM's limit,
-- may have waited for DRAM, and waited longer than loads do on an idle memory, or for the
-- rest of a prefetch that came late (method.md).
CREATE VIEW sample_view (
        sample_id, time_ns, pid, tid, cpu, ip, addr, op, latency_cycles, level, tlb,
        snoop, locked, module, function, file, line, object_kind, object, interval_id,
        contended, type, field, retire_latency_cycles, function_offset, object_id,
        field_id, address_offset, instruction, access_bytes, type_source, type_pointer,
        type_function, type_file, type_line) AS
SELECT
        s.sample_id, s.time_ns, p.pid, t.tid, s.cpu,
        printf('0x%x', s.ip),
        CASE WHEN s.addr IS NOT NULL THEN printf('0x%x', s.addr) END,
        coalesce(d.op, 'NA'), s.latency_cycles, coalesce(d.level, 'NA'),
        coalesce(d.tlb, 'NA'), coalesce(d.snoop, 'NA'), d.locked,
        m.path, l.function, l.file, l.line,
        coalesce(o.kind, CASE WHEN s.addr IS NOT NULL THEN 'unknown' END), o.name,
        i.interval_id,
        CASE WHEN coalesce(d.level, 'NA') NOT IN ('DRAM', 'REMOTE_DRAM', 'PMEM', 'LFB')
                  OR coalesce(s.latency_cycles, 0) <= (
                        SELECT value FROM threshold WHERE name = 'high_latency_cycles')
                     AND NOT coalesce(d.level IN ('DRAM', 'REMOTE_DRAM')
                        AND s.latency_cycles < (SELECT value FROM threshold
                                WHERE name = 'prefetched_latency_cycles'), 0)
             THEN 0
             WHEN EXISTS (SELECT 1 FROM threshold WHERE name = 'high_latency_cycles')
             THEN iif(i.bound = 'bandwidth', 1, i.contended) END,
        y.name, f.name, s.retire_latency_cycles, l.function_offset, o.object_id, f.field_id,
        l.address_offset, n.text, n.access_bytes, w.source, w.pointer, k.function, k.file,
        k.line
FROM sample AS s
LEFT JOIN thread AS t ON t.thread_id = s.thread_id
LEFT JOIN process AS p ON p.process_id = t.process_id
LEFT JOIN data_source AS d ON d.data_source_id = s.data_source_id
LEFT JOIN attribution AS a ON a.sample_id = s.sample_id
LEFT JOIN ip_location AS c ON c.process_id = t.process_id AND c.ip = s.ip
LEFT JOIN location AS l ON l.location_id = coalesce(a.location_id, c.location_id)
LEFT JOIN instruction AS n ON n.location_id = l.location_id
LEFT JOIN module AS m ON m.module_id = l.module_id
LEFT JOIN data_object AS o ON o.object_id = a.object_id
LEFT JOIN type_field AS f ON f.field_id = a.field_id
LEFT JOIN data_type AS y ON y.type_id = f.type_id
LEFT JOIN type_source AS w ON w.type_source_id = a.type_source_id
LEFT JOIN location AS k ON k.location_id = w.location_id
LEFT JOIN interval AS i
        ON i.interval_id = s.time_ns / (SELECT CAST(value AS INTEGER) FROM run
                                        WHERE key = 'interval_ns');

-- Samples whose line, function, stack, object or type is not known, each with the reason:
-- counted by it they are what resolution and the ledger say. A stack's is that of its
-- innermost function without a name.
CREATE VIEW unresolved_view (sample_id, subject, reason) AS
WITH RECURSIVE unnamed_stack (stack_id, reason) AS (
        SELECT stack_id, iif(location_id IS NULL, 'no mapping', function_reason)
        FROM stack_node LEFT JOIN node_location USING (stack_id)
        LEFT JOIN unnamed USING (location_id)
        WHERE parent_id IS NULL
        UNION ALL
        SELECT s.stack_id,
                coalesce(iif(l.location_id IS NULL, 'no mapping', u.function_reason), p.reason)
        FROM unnamed_stack AS p JOIN stack_node AS s ON s.parent_id = p.stack_id
        LEFT JOIN node_location AS l ON l.stack_id = s.stack_id
        LEFT JOIN unnamed AS u ON u.location_id = l.location_id)
SELECT sample_id, 'line', line_reason
FROM sample_location JOIN unnamed USING (location_id)
WHERE line_reason IS NOT NULL
UNION ALL
SELECT sample_id, 'function', function_reason
FROM sample_location JOIN unnamed USING (location_id)
WHERE function_reason IS NOT NULL
UNION ALL
SELECT sample_id, 'stack', 'no stack'
FROM sample
WHERE stack_id IS NULL
UNION ALL
SELECT sample_id, 'stack', reason
FROM sample JOIN unnamed_stack USING (stack_id)
WHERE reason IS NOT NULL
UNION ALL
SELECT s.sample_id, 'object',
        CASE WHEN s.addr IS NULL AND a.object_id IS NULL THEN 'no data address'
                WHEN o.name = '[unmapped]' THEN 'nothing mapped'
                ELSE 'stack or thread-local memory' END
FROM sample AS s
LEFT JOIN attribution AS a USING (sample_id)
LEFT JOIN data_object AS o USING (object_id)
WHERE (s.addr IS NULL AND a.object_id IS NULL) OR o.kind = 'unknown'
UNION ALL
SELECT s.sample_id, 'type',
        iif(s.addr IS NULL AND a.object_id IS NULL, 'no data address', u.reason)
FROM sample AS s
LEFT JOIN attribution AS a USING (sample_id)
LEFT JOIN untyped AS u USING (untyped_id)
WHERE (s.addr IS NULL AND a.object_id IS NULL) OR a.untyped_id IS NOT NULL;

-- Programs in the processes of the recording: a process that executes another program, or
-- is forked, begins a new row. One that was forked runs its parent's program.
CREATE VIEW process_view (
        process_id, pid, parent_pid, process, name, executable, threads, start_ns, end_ns) AS
WITH RECURSIVE named (process_id, executable) AS (
        SELECT process_id, executable FROM process
        WHERE executable IS NOT NULL OR parent_process_id IS NULL
        UNION ALL
        SELECT p.process_id, n.executable
        FROM named AS n JOIN process AS p ON p.parent_process_id = n.process_id
        WHERE p.executable IS NULL)
SELECT
        p.process_id, p.pid, q.pid,
        substr(n.executable, length(rtrim(n.executable,
                                          replace(n.executable, '/', ''))) + 1),
        t.name, n.executable, t.threads, p.start_ns, p.end_ns
FROM process AS p
JOIN named AS n USING (process_id)
JOIN (SELECT process_id, count(*) AS threads, max(iif(tid = pid, name, NULL)) AS name
      FROM thread JOIN process USING (process_id) GROUP BY process_id) AS t
        USING (process_id)
LEFT JOIN process AS q ON q.process_id = p.parent_process_id
WHERE p.executable IS NOT '[CPUs]'
ORDER BY p.process_id;

-- Samples in libraries that poll for other processes: time there is no work of the
-- program. Transports such as UCX count where a library of MPI is mapped too. Samples in
-- the C library that such a library calls do not count.
CREATE VIEW library_view (library, samples, sample_ratio) AS
WITH known (library, pattern) AS (
        VALUES ('MPI', 'libmpi*.so*'), ('MPI', 'libmpich*.so*'), ('MPI', 'libopen-pal.so*'),
               ('MPI', 'libopen-rte.so*'), ('MPI', 'libpmix.so*'), ('MPI', 'libprrte.so*'),
               ('MPI', 'mca_*.so'), ('MPI', 'libmca_*.so*'), ('MPI', 'libuc[pmst].so*'),
               ('MPI', 'libuct_*.so*'), ('MPI', 'libfabric.so*'), ('MPI', 'libpsm2.so*'),
               ('MPI', 'libhcoll.so*')),
grouped AS MATERIALIZED (
        SELECT m.module_id, min(k.library) AS library
        FROM module AS m JOIN known AS k
                ON substr(m.path, length(rtrim(m.path, replace(m.path, '/', ''))) + 1)
                   GLOB k.pattern
        WHERE EXISTS (SELECT 1 FROM module WHERE path GLOB '*/libmpi*.so*')
        GROUP BY m.module_id)
SELECT
        g.library, count(*), 1.0 * count(*) / (SELECT count(*) FROM sample)
FROM sample AS s
JOIN sample_location AS p USING (sample_id)
JOIN code_location AS l USING (location_id)
JOIN grouped AS g USING (module_id)
GROUP BY g.library;

-- Both sides of the cache lines that cores fight for, of which a sample was HITM: the places
-- of a line that code and threads read and write. A locked instruction writes.
CREATE VIEW sharing_view (
        object_kind, object, line_address, offset, field, function, file, line, tid, reads,
        writes, hitm, stalled_ratio, pid, module, function_offset, type, object_id, field_id,
        access_bytes, object_offset_bytes, mean_latency_cycles, process_id) AS
WITH fought AS MATERIALIZED (
        SELECT t.process_id, s.addr & -64 AS line_start
        FROM sample AS s JOIN thread AS t USING (thread_id)
        WHERE s.addr IS NOT NULL AND s.data_source_id IN (
                SELECT data_source_id FROM data_source WHERE snoop = 'hitm')
        GROUP BY t.process_id, s.addr & -64),
stall AS MATERIALIZED (
        SELECT coalesce((SELECT value FROM threshold WHERE name = 'stall_limit_cycles'),
                        9e18) AS most),
stalled AS MATERIALIZED (
        SELECT (SELECT sum(stalled_ratio - coalesce(fault_ratio, 0)) FROM function_finding)
               / nullif(total(min(retire_latency_cycles, most)), 0) AS a_cycle
        FROM sample, stall WHERE retire_latency_cycles > 0),
accessed AS (
        SELECT v.*, s.addr AS address, f.line_start, t.process_id,
               min(s.retire_latency_cycles, most) AS cycles, a.object_offset_bytes
        FROM sample AS s CROSS JOIN thread AS t USING (thread_id)
        CROSS JOIN fought AS f
                ON f.process_id = t.process_id AND f.line_start = s.addr & -64
        CROSS JOIN sample_view AS v USING (sample_id)
        CROSS JOIN stall
        LEFT JOIN attribution AS a ON a.sample_id = s.sample_id
        WHERE v.op IN ('load', 'store'))
SELECT
        object_kind, object, printf('0x%x', line_start), address - line_start, field,
        function, file, line, tid, sum(op = 'load' AND locked IS NOT 1),
        sum(op = 'store' OR locked IS 1), sum(snoop = 'hitm'),
        iif(count(cycles), coalesce(total(cycles) * (SELECT a_cycle FROM stalled), 0), NULL),
        pid, module, function_offset, type, object_id, field_id, max(access_bytes),
        min(object_offset_bytes), avg(latency_cycles), process_id
FROM accessed
GROUP BY process_id, line_start, address, object_id, field_id, module, function,
        function_offset, file, line, tid
ORDER BY sum(sum(snoop = 'hitm')) OVER (PARTITION BY process_id, line_start) DESC,
        process_id, line_start, address, sum(snoop = 'hitm') DESC, tid, file, line;

-- Places of such a line with no byte in common that different threads access, and of which
-- one is written: on lines of their own nobody fights for them. Where no write was sampled,
-- each may be the one.
CREATE VIEW sharing_pair_view (
        object_kind, object, line_address, offset, field, other_object, other_offset,
        other_field, hitm, pid, object_id, other_object_id) AS
WITH place AS MATERIALIZED (
        SELECT process_id, pid, line_address, offset, field, object_kind, object, object_id,
               max(coalesce(access_bytes, 1)) AS bytes, min(tid) AS first_tid,
               max(tid) AS last_tid, sum(writes) AS writes, sum(hitm) AS hitm,
               sum(sum(writes)) OVER (PARTITION BY process_id, line_address) AS line_writes
        FROM sharing_view GROUP BY process_id, line_address, offset, object_id, field_id)
SELECT
        p.object_kind, p.object, p.line_address, p.offset, p.field, q.object, q.offset,
        q.field, p.hitm + q.hitm, p.pid, p.object_id, q.object_id
FROM place AS p JOIN place AS q
        ON q.process_id = p.process_id AND q.line_address = p.line_address
        AND q.offset >= p.offset + p.bytes
WHERE (p.writes + q.writes > 0 OR p.line_writes = 0)
AND NOT (p.first_tid = q.last_tid AND p.last_tid = q.first_tid)
ORDER BY p.hitm + q.hitm DESC, p.pid, p.line_address, p.offset, q.offset;

CREATE VIEW interval_view (
        interval_id, start_ns, end_ns, lmrl_cycles, l1_miss_latency_cycles, fb_full_ratio,
        active_cores, read_gbs, write_gbs, contended, bound) AS
SELECT
        interval_id, start_ns, end_ns, lmrl_cycles, l1_miss_latency_cycles, fb_full_ratio,
        active_cores, read_gbs, write_gbs, contended, bound
FROM interval
ORDER BY interval_id;

CREATE VIEW line_view (
        module, function, file, line, samples, dram_samples, mean_latency_cycles,
        p95_latency_cycles, latency_share, contended_samples, verdict, caller_module,
        caller_function, caller_file, caller_line, caller_share, function_offset,
        stalled_ratio, line_id, cache_level, level_samples, page_faults, fault_ratio,
        measured_ratio, measured_ratio_low, measured_ratio_high, certainty, certainty_margin,
        other_verdict) AS
SELECT
        f.module, f.function, f.file, f.line, f.samples, dram_samples, mean_latency_cycles,
        p95_latency_cycles, latency_share, contended_samples, verdict, caller_module,
        caller_function, caller_file, caller_line, caller_share, f.function_offset,
        stalled_ratio, f.line_id, cache_level, level_samples, page_faults, fault_ratio,
        iif(measured AND f.module IS NOT NULL, coalesce(measured_ratio, 0), measured_ratio),
        measured_ratio_low,
        measured_ratio_high, s.certainty, s.margin, s.other_verdict
FROM line_finding AS f LEFT JOIN line_clock_finding AS c USING (line_id)
LEFT JOIN certainty_finding AS s ON s.subject = 'line' AND s.id = f.line_id,
     (SELECT EXISTS (SELECT 1 FROM line_clock_finding) AS measured)
ORDER BY stalled_ratio DESC, latency_share DESC, f.samples DESC, f.line_id;

CREATE VIEW function_view (
        module, function, samples, dram_samples, mean_latency_cycles, p95_latency_cycles,
        latency_share, contended_samples, verdict, caller_module, caller_function,
        caller_file, caller_share, function_offset, stalled_ratio, cache_level,
        level_samples, page_faults, fault_ratio, function_id, measured_ratio,
        measured_ratio_low, measured_ratio_high, certainty, certainty_margin,
        other_verdict) AS
SELECT
        f.module, f.function, f.samples, dram_samples, mean_latency_cycles,
        p95_latency_cycles, latency_share, contended_samples, verdict, caller_module,
        caller_function, caller_file, caller_share, f.function_offset, stalled_ratio,
        cache_level, level_samples, page_faults, fault_ratio, f.function_id,
        iif(measured AND f.module IS NOT NULL, coalesce(measured_ratio, 0), measured_ratio),
        measured_ratio_low,
        measured_ratio_high, s.certainty, s.margin, s.other_verdict
FROM function_finding AS f LEFT JOIN function_clock_finding AS c USING (function_id)
LEFT JOIN certainty_finding AS s ON s.subject = 'function' AND s.id = f.function_id,
     (SELECT EXISTS (SELECT 1 FROM function_clock_finding) AS measured)
ORDER BY stalled_ratio DESC, latency_share DESC, f.samples DESC, f.function_id;

-- Lines with measured time, and lines that the model stalls at, most time first. The first
-- run has no names of code in no file. The timer does not see the kernel: stalled_ratio is
-- without page faults. unexplained: the ranges say that a line has at least 5 % of the time
-- and that less than a quarter of it is stalls; overrated: stalls are at least 5 % of the
-- cycles and over twice the measured time.
CREATE VIEW line_measured_view (
        module, function, function_offset, file, line, line_id, samples, measured_ratio,
        measured_ratio_low, measured_ratio_high, stalled_ratio, agreement,
        modelled_ratio) AS
WITH both AS (
        SELECT
                c.module, c.function, c.function_offset, c.file, c.line, c.line_id, c.samples,
                measured_ratio, measured_ratio_low, measured_ratio_high,
                coalesce(stalled_ratio, 0) - coalesce(fault_ratio, 0) AS stalled,
                coalesce(stalled_ratio_low, 0) - coalesce(fault_ratio, 0) AS low,
                coalesce(stalled_ratio_high, 0) - coalesce(fault_ratio, 0) AS high,
                modelled_ratio
        FROM line_clock_finding AS c LEFT JOIN line_finding USING (line_id)
        UNION ALL
        SELECT
                module, function, function_offset, file, line, line_id,
                0, iif(module IS NULL, NULL, 0), 0, iif(module IS NULL, NULL, 0),
                stalled_ratio - coalesce(fault_ratio, 0),
                stalled_ratio_low - coalesce(fault_ratio, 0),
                stalled_ratio_high - coalesce(fault_ratio, 0),
                iif(EXISTS (SELECT 1 FROM instruction_sample),
                    stalled_ratio - coalesce(fault_ratio, 0), NULL)
        FROM line_finding
        WHERE stalled_ratio > 0 AND EXISTS (SELECT 1 FROM line_clock_finding)
        AND line_id NOT IN (SELECT line_id FROM line_clock_finding WHERE line_id IS NOT NULL))
SELECT
        module, function, function_offset, file, line, line_id, samples, measured_ratio,
        measured_ratio_low, measured_ratio_high, stalled,
        CASE WHEN measured_ratio_low >= 0.05 AND measured_ratio_low > 4 * high
             THEN 'unexplained'
             WHEN low >= 0.05 AND low > 2 * measured_ratio_high THEN 'overrated' END,
        modelled_ratio
FROM both
ORDER BY measured_ratio DESC, stalled DESC, line_id;

CREATE VIEW object_view (
        object_kind, object, alloc_function, alloc_file, alloc_line, size_bytes,
        allocations, samples, dram_samples, mean_latency_cycles, latency_share,
        contended_samples, verdict, stalled_ratio, object_id, cache_level,
        level_samples, page_faults, fault_ratio, certainty, certainty_margin,
        other_verdict, measured_ratio, measured_ratio_low, measured_ratio_high) AS
SELECT
        o.kind, o.name, o.alloc_function, o.alloc_file, o.alloc_line, o.size_bytes,
        o.allocations, f.samples, f.dram_samples, f.mean_latency_cycles, f.latency_share,
        f.contended_samples, f.verdict, f.stalled_ratio, f.object_id, f.cache_level,
        f.level_samples, f.page_faults, f.fault_ratio, s.certainty, s.margin, s.other_verdict,
        c.measured_ratio, c.measured_ratio_low, c.measured_ratio_high
FROM object_finding AS f JOIN data_object AS o USING (object_id)
LEFT JOIN object_clock_finding AS c USING (object_id)
LEFT JOIN certainty_finding AS s ON s.subject = 'object' AND s.id = f.object_id
ORDER BY f.stalled_ratio DESC, f.latency_share DESC, f.samples DESC, f.object_id;

CREATE VIEW line_object_view (
        file, line, function, object_kind, object, type, field, samples,
        mean_latency_cycles, contended_samples, module, function_offset, line_id, object_id,
        field_id, stalled_ratio) AS
SELECT
        l.file, l.line, l.function, o.kind, o.name, d.name, t.name, f.samples,
        f.mean_latency_cycles, f.contended_samples, l.module, l.function_offset, f.line_id,
        f.object_id, f.field_id, f.stalled_ratio
FROM line_object_finding AS f
JOIN line_finding AS l USING (line_id)
LEFT JOIN data_object AS o USING (object_id)
LEFT JOIN type_field AS t USING (field_id)
LEFT JOIN data_type AS d USING (type_id)
ORDER BY f.stalled_ratio DESC, f.samples * f.mean_latency_cycles DESC, f.samples DESC,
        f.line_id, f.object_id, f.field_id;

-- Lines that wait for what another line has asked for, and that one (NULL: it is in another
-- function).
CREATE VIEW line_asker_view (
        file, line, function, samples, share, asker_file, asker_line, asker_function,
        line_id, asker_id) AS
SELECT
        l.file, l.line, l.function, f.samples, f.share, a.file, a.line, a.function,
        f.line_id, f.asker_id
FROM line_asker_finding AS f
JOIN line_finding AS l USING (line_id)
LEFT JOIN line_finding AS a ON a.line_id = f.asker_id
ORDER BY l.latency_share DESC, f.line_id, f.samples DESC, f.asker_id;

-- Every field of each type that samples met, in layout order, the type that held up most
-- first, or that with the most latency. cache_line counts from the type's first byte. A row
-- of several fields has last steps, "u.word|half", whole names, "u.word|u.half[].low|.other",
-- or these and how many more, "a|4 more": then each that lies there may be meant. An earlier
-- memlag named structures, in which each field may be.
CREATE VIEW type_view (
        type_id, type, type_size_bytes, field, field_type, offset_bytes, size_bytes, cache_line,
        samples, dram_samples, mean_latency_cycles, latency_share, contended_samples,
        verdict, stalled_ratio, wide_samples, field_id, undecided_samples, cache_level,
        level_samples, page_faults, fault_ratio, certainty, certainty_margin,
        other_verdict) AS
WITH several AS MATERIALIZED (
        SELECT type_id, offset_bytes, size_bytes, samples, way, '|' || name || '|' AS names,
               '|' || substr(name, length(way) + 1) || '|' AS steps,
               name GLOB '*|[0-9]* more' AS has_more
        FROM (SELECT *, rtrim(substr(name, 1, instr(name, '|') - 1),
                           replace(substr(name, 1, instr(name, '|') - 1), '.', '')) AS way
              FROM type_field JOIN field_finding USING (field_id)
              WHERE instr(name, '|'))),
undecided AS MATERIALIZED (
        SELECT field_id, sum(samples) AS samples
        FROM (SELECT field_id, s.samples, names, steps, has_more, t.name,
                     iif(substr(name, 1, length(way)) = way,
                         substr(name, length(way) + 1), NULL) AS rest,
                     t.offset_bytes < s.offset_bytes + s.size_bytes
                     AND t.offset_bytes + t.size_bytes > s.offset_bytes AS lies_there
              FROM several AS s JOIN type_field AS t USING (type_id)
              WHERE NOT instr(name, '|'))
        WHERE instr(names, '|' || name || '|') OR instr(names, '|.' || name || '|')
        OR instr(steps, '|' || rest || '|')
        OR (lies_there AND (
                has_more OR (rest IS NOT NULL AND instr(steps, '|(anonymous)|'))
                OR instr(steps, '|' || substr(rest, 1, min(instr(rest || '.', '.'),
                                                           instr(rest || '[', '[')) - 1) || '|')))
        GROUP BY field_id)
SELECT
        t.type_id, d.name, d.size_bytes, t.name, t.type, t.offset_bytes, t.size_bytes,
        t.offset_bytes / 64, coalesce(f.samples, 0), iif(f.field_id IS NULL, 0, f.dram_samples),
        f.mean_latency_cycles, f.latency_share, iif(f.field_id IS NULL, 0, f.contended_samples),
        f.verdict, f.stalled_ratio, coalesce(w.wide_samples, 0), t.field_id,
        coalesce(u.samples, 0), f.cache_level, coalesce(f.level_samples, 0),
        coalesce(f.page_faults, 0), f.fault_ratio, s.certainty, s.margin, s.other_verdict
FROM type_field AS t
JOIN data_type AS d USING (type_id)
LEFT JOIN field_finding AS f USING (field_id)
LEFT JOIN certainty_finding AS s ON s.subject = 'field' AND s.id = t.field_id
LEFT JOIN wide_field AS w USING (field_id)
LEFT JOIN undecided AS u USING (field_id)
ORDER BY sum(f.stalled_ratio) OVER (PARTITION BY t.type_id) DESC,
        sum(f.latency_share) OVER (PARTITION BY t.type_id) DESC,
        sum(f.samples) OVER (PARTITION BY t.type_id) DESC, t.type_id, t.offset_bytes,
        t.field_id;

CREATE VIEW caller_view (
        caller_id, parent_id, depth, module, function, samples, self_samples,
        dram_samples, mean_latency_cycles, latency_share, self_latency_share,
        function_offset, stalled_ratio, self_stalled_ratio, level_samples) AS
SELECT
        caller_id, parent_id, depth, module, function, samples, self_samples,
        dram_samples, mean_latency_cycles, latency_share, self_latency_share,
        function_offset, stalled_ratio, self_stalled_ratio, level_samples
FROM caller_finding
ORDER BY caller_id;

-- For each object the tree of the calls that allocated its blocks: first the innermost
-- function, below it its callers. Steps are places, inlined functions included. path names
-- a place by the location and the depth of inlining, after those of the places it called;
-- place sorts an object's steps so that each stands below the one that it called, those
-- with more samples first.
CREATE VIEW allocation_view (
        object_id, object_kind, object, path, depth, function, file, line, samples,
        allocations, total_bytes, peak_bytes, place, module, function_offset) AS
SELECT
        a.object_id, d.kind, d.name, a.path, a.depth,
        iif(f.location_id IS NULL, l.function, f.function),
        iif(inner.location_id IS NULL, l.file, inner.call_file),
        iif(inner.location_id IS NULL, l.line, inner.call_line), a.samples, a.allocations,
        a.total_bytes, a.peak_bytes, a.place, m.path,
        iif(f.location_id IS NULL, l.function_offset, NULL)
FROM allocation_finding AS a
JOIN data_object AS d USING (object_id)
LEFT JOIN location AS l ON l.location_id = a.location_id
LEFT JOIN module AS m ON m.module_id = l.module_id
LEFT JOIN inline_frame AS f ON f.location_id = a.location_id AND f.depth = a.inlined
LEFT JOIN inline_frame AS inner
        ON inner.location_id = a.location_id AND inner.depth = a.inlined - 1
LEFT JOIN object_finding AS o ON o.object_id = a.object_id
ORDER BY o.stalled_ratio DESC, o.latency_share DESC, o.samples DESC, a.object_id, a.place;

-- Which phase each interval belongs to: neighbouring intervals with the same bound. A
-- time in which nothing was counted parts phases.
CREATE VIEW phase_interval_view (phase_id, interval_id) AS
WITH step AS (
        SELECT interval_id,
               bound IS NOT lag(bound) OVER before
               OR interval_id <> 1 + lag(interval_id) OVER before AS begins
        FROM interval
        WINDOW before AS (ORDER BY interval_id))
SELECT sum(begins) OVER (ORDER BY interval_id), interval_id
FROM step
ORDER BY interval_id;

-- Phases, for tools that change clock or placement by phase. Means are over time.
CREATE VIEW phase_view (
        start_ns, end_ns, bound, intervals, contended_intervals, lmrl_cycles, read_gbs,
        write_gbs, bandwidth_use_ratio) AS
SELECT min(start_ns), max(end_ns), bound, count(*), sum(contended),
       sum(lmrl_cycles * length_ns) / sum(iif(lmrl_cycles IS NULL, 0, length_ns)),
       sum(read_gbs * length_ns) / sum(iif(read_gbs IS NULL, 0, length_ns)),
       sum(write_gbs * length_ns) / sum(iif(write_gbs IS NULL, 0, length_ns)),
       sum((read_gbs + write_gbs) / dram_nodes * length_ns) / sum(iif(read_gbs IS NULL, 0, length_ns))
               / (SELECT value FROM machine WHERE key = 'dram_bandwidth_gbs')
FROM phase_interval_view
JOIN (SELECT *, end_ns - start_ns AS length_ns FROM interval) USING (interval_id)
GROUP BY phase_id
ORDER BY min(start_ns);

-- Where the cycles of each interval went: M17's classes as shares of the cycles, which
-- add up to 1 (method.md). Stores can wait in cycles that execute: such are no
-- productive ones.
CREATE VIEW stall_view (
        interval_id, start_ns, end_ns, productive_ratio, latency_ratio, bandwidth_ratio,
        other_stall_ratio, l2_ratio, beyond_l2_ratio, l3_ratio, dram_ratio) AS
SELECT
        interval_id, start_ns, end_ns,
        1 - max(stall_ratio, memory_stall_ratio),
        memory_stall_ratio - bandwidth_stall_ratio,
        bandwidth_stall_ratio,
        max(stall_ratio - memory_stall_ratio, 0),
        l2_stall_ratio,
        beyond_l2_stall_ratio,
        l3_stall_ratio,
        dram_stall_ratio
FROM interval
ORDER BY interval_id;

-- How much of what the memory can deliver each interval used. Peaks are those of as many
-- cores as worked on memory, where the calibration measured them, else the machine's; a
-- machine whose peak of writes is not known has that of reads.
CREATE VIEW utilisation_view (
        interval_id, start_ns, end_ns, active_cores, saturating_cores, peak_gbs,
        read_use_ratio, write_use_ratio, use_ratio, peak_write_gbs, busy_ratio,
        busy_use_ratio) AS
WITH core_peak AS MATERIALIZED (
        SELECT rtrim(key, '0123456789') AS peak,
               CAST(replace(key, rtrim(key, '0123456789'), '') AS INTEGER) AS cores,
               value AS gbs
        FROM machine WHERE key GLOB 'dram_*bandwidth_gbs_[1-9]*'),
peaked AS (
        SELECT *,
               coalesce((SELECT max(gbs) FROM core_peak
                         WHERE peak = 'dram_bandwidth_gbs_'
                         AND cores < max(active_cores, 0.5) + 1),
                        (SELECT value FROM machine WHERE key = 'dram_bandwidth_gbs'))
                       AS peak_gbs, min(read_gbs, write_gbs) AS both_gbs,
               coalesce((SELECT max(gbs) FROM core_peak
                         WHERE peak = 'dram_write_bandwidth_gbs_'
                         AND cores < max(active_cores, 0.5) + 1),
                        (SELECT value FROM machine
                         WHERE key = 'dram_write_bandwidth_gbs')) AS known_write_gbs
        FROM interval)
SELECT
        interval_id, start_ns, end_ns, active_cores,
        (SELECT value FROM machine WHERE key = 'saturating_cores'), peak_gbs,
        read_gbs / dram_nodes / peak_gbs,
        write_gbs / dram_nodes / coalesce(known_write_gbs, peak_gbs),
        use_ratio, coalesce(known_write_gbs, peak_gbs),
        -- Stores and prefetches have traffic that no sample waited for.
        max(busy_ratio, min(use_ratio, 1)),
        min(use_ratio / coalesce(busy_ratio, 1), max(use_ratio, 1))
FROM (SELECT *, max((read_gbs + write_gbs) / peak_gbs,
                    both_gbs / coalesce(known_write_gbs, peak_gbs)
                            + (write_gbs - both_gbs) / peak_gbs) / dram_nodes
                    AS use_ratio FROM peaked)
ORDER BY interval_id;

-- What limited each phase, in figures: means over time of utilisation_view, stall_view;
-- busy_use_ratio over the time in which DRAM was busy.
CREATE VIEW phase_limit_view (
        start_ns, end_ns, bound, duration_ns, active_cores, use_ratio, productive_ratio,
        latency_ratio, bandwidth_ratio, other_stall_ratio, busy_ratio, busy_use_ratio) AS
SELECT min(i.start_ns), max(i.end_ns), i.bound, sum(length_ns),
       sum(u.active_cores * length_ns) / sum(iif(u.active_cores IS NULL, 0, length_ns)),
       sum(u.use_ratio * length_ns) / sum(iif(u.use_ratio IS NULL, 0, length_ns)),
       sum(productive_ratio * length_ns)
               / sum(iif(productive_ratio IS NULL, 0, length_ns)),
       sum(latency_ratio * length_ns) / sum(iif(latency_ratio IS NULL, 0, length_ns)),
       sum(bandwidth_ratio * length_ns)
               / sum(iif(bandwidth_ratio IS NULL, 0, length_ns)),
       sum(other_stall_ratio * length_ns)
               / sum(iif(other_stall_ratio IS NULL, 0, length_ns)),
       sum(u.busy_ratio * length_ns) / sum(iif(u.busy_ratio IS NULL, 0, length_ns)),
       sum(u.use_ratio * length_ns) / sum(iif(u.use_ratio IS NULL, 0,
                                              coalesce(u.busy_ratio, 1) * length_ns))
FROM phase_interval_view
JOIN (SELECT *, end_ns - start_ns AS length_ns FROM interval) AS i USING (interval_id)
JOIN utilisation_view AS u USING (interval_id)
JOIN stall_view USING (interval_id)
GROUP BY phase_id
ORDER BY min(i.start_ns);

-- What fixes would gain, as a part of the run's cycles: of the whole run, and of each line.
CREATE VIEW gain_view (fix, gain_ratio, low, high, kind) AS
SELECT fix, gain_ratio, gain_low, gain_high, kind
FROM gain_finding
WHERE line_id IS NULL
ORDER BY kind DESC, gain_ratio DESC, fix;

CREATE VIEW line_gain_view (
        file, line, function, fix, gain_ratio, low, high, kind, module, function_offset,
        line_id) AS
SELECT
        l.file, l.line, l.function, g.fix, g.gain_ratio, g.gain_low, g.gain_high, g.kind,
        l.module, l.function_offset, l.line_id
FROM gain_finding AS g JOIN line_finding AS l USING (line_id)
ORDER BY g.kind DESC, g.gain_ratio DESC, l.line_id, g.fix;

-- The same of huge pages for each object.
CREATE VIEW object_gain_view (
        object_kind, object, fix, gain_ratio, low, high, kind, object_id) AS
SELECT o.kind, o.name, g.fix, g.gain_ratio, g.gain_low, g.gain_high, g.kind, object_id
FROM object_gain_finding AS g JOIN data_object AS o USING (object_id)
ORDER BY g.gain_ratio DESC, object_id;

-- How the addresses of the accesses that requested cache lines follow in their loops, and how
-- many iterations ahead a prefetch must be.
CREATE VIEW prefetch_view (
        file, line, function, instruction, pattern, stride_bytes, iteration_instructions,
        latency_cycles, distance_iterations, samples, module, function_offset, line_id) AS
SELECT
        l.file, l.line, l.function, i.text, p.pattern, p.stride_bytes,
        p.iteration_instructions, f.latency_cycles, f.distance_iterations, f.samples,
        m.path, l.function_offset, f.line_id
FROM prefetch_finding AS f
JOIN access_pattern AS p USING (location_id)
JOIN location AS l USING (location_id)
LEFT JOIN instruction AS i USING (location_id)
LEFT JOIN module AS m USING (module_id)
ORDER BY f.samples * f.latency_cycles DESC, location_id;

-- How many bytes of a cache line are used between its coming from beyond L2 and its leaving
-- L1 and L2, by the code, object and field whose access brought it.
CREATE VIEW line_use_view (
        object_kind, object, type, field, file, line, bytes_used_per_line, lines, function,
        module, function_offset, object_id, field_id) AS
SELECT
        o.kind, o.name, d.name, f.name, l.file, l.line, avg(u.used_bytes), count(*),
        l.function, m.path, l.function_offset, o.object_id, f.field_id
FROM line_use AS u
JOIN sample USING (sample_id)
JOIN sample_location USING (sample_id)
LEFT JOIN location AS l USING (location_id)
LEFT JOIN module AS m USING (module_id)
LEFT JOIN attribution AS a USING (sample_id)
LEFT JOIN data_object AS o USING (object_id)
LEFT JOIN type_field AS f USING (field_id)
LEFT JOIN data_type AS d USING (type_id)
GROUP BY l.file, l.line, l.function, m.path, l.function_offset, o.object_id, f.field_id
ORDER BY count(*) DESC, l.file, l.line, l.function, o.object_id, f.field_id;

-- Which other fields of the structure are used before a line goes that an access to a field
-- has brought: of the lines in which some byte of with_field lies, so many have it used. A
-- field that is wider than a register, or that shares its place, brings no line here.
CREATE VIEW field_use_view (
        type, field, with_field, lines, used_lines, type_id, field_id, with_field_id) AS
WITH brought AS (
        SELECT f.type_id, f.field_id, (s.addr & 63) - f.offset_bytes AS start, used_mask,
               count(*) AS lines
        FROM line_use JOIN sample AS s USING (sample_id)
        JOIN attribution USING (sample_id) JOIN type_field AS f USING (field_id)
        WHERE f.size_bytes <= 8 AND f.name NOT GLOB '*[[|]*'
        GROUP BY f.field_id, start, used_mask),
together AS (
        SELECT b.*, w.field_id AS with_id, max(start + w.offset_bytes, 0) AS first,
               min(start + w.offset_bytes + w.size_bytes, 64) AS behind
        FROM brought AS b JOIN type_field AS w USING (type_id)
        WHERE w.field_id <> b.field_id)
SELECT
        d.name, f.name, w.name, sum(lines),
        sum(iif(used_mask >> first & ~(-1 << (behind - first)), lines, 0)), f.type_id,
        t.field_id, with_id
FROM together AS t
JOIN type_field AS f ON f.field_id = t.field_id
JOIN type_field AS w ON w.field_id = with_id
JOIN data_type AS d ON d.type_id = f.type_id
WHERE behind > first
GROUP BY t.field_id, with_id
ORDER BY sum(sum(lines)) OVER (PARTITION BY t.field_id) DESC, t.field_id, w.offset_bytes,
        with_id;

-- Of the lines brought to L1 that were requested before, the part that a fully associative
-- LRU cache of this size behind L1 lacks: of the whole run (object_id is NULL), and of each
-- object with at least 100 samples of such lines. A line's first request counts nowhere: the
-- kernel has mostly brought the line, when it zeroed the page.
CREATE VIEW working_set_view (
        object_kind, object, cache_bytes, miss_ratio, lines, object_id) AS
WITH RECURSIVE every_size (bytes, next) AS (
        SELECT 32768, 49152
        UNION ALL
        SELECT next, 2 * bytes FROM every_size
        WHERE bytes < (SELECT coalesce(max(cache_bytes), 0) FROM line_reuse)
        AND bytes < 1 << 40),
size AS MATERIALIZED (
        SELECT bytes FROM every_size
        WHERE bytes >= coalesce((SELECT value FROM machine WHERE key = 'l1d_bytes'), 0)),
reused AS MATERIALIZED (
        SELECT object_id, cache_bytes AS needed, count(*) AS lines
        FROM line_reuse JOIN sample USING (sample_id) LEFT JOIN attribution USING (sample_id)
        WHERE cache_bytes IS NOT NULL
        GROUP BY object_id, cache_bytes),
requested AS (
        SELECT NULL AS object_id, needed, sum(lines) AS lines FROM reused GROUP BY needed
        UNION ALL
        SELECT object_id, needed, lines FROM reused
        WHERE object_id IN (SELECT object_id FROM reused GROUP BY object_id
                            HAVING sum(lines) >= 100))
SELECT
        o.kind, o.name, s.bytes,
        total(iif(needed > s.bytes, lines, 0)) / sum(lines), sum(lines),
        r.object_id
FROM requested AS r CROSS JOIN size AS s
LEFT JOIN data_object AS o ON o.object_id = r.object_id
GROUP BY r.object_id, s.bytes
ORDER BY r.object_id IS NOT NULL, sum(lines) DESC, r.object_id, s.bytes;
