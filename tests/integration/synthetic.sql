-- SPDX-License-Identifier: MIT
-- A recording whose truth is known, because it was made up: read into a database
-- that has the schema. The machine runs at 2 GHz; its DRAM takes 200 cycles and
-- delivers 100 GB/s. Four threads run for ten intervals of 1 ms:
--
--   0-3  one line at a time, 200 cycles each: latency
--   4-7  90 GB/s, 400 cycles a line: bandwidth is short
--   8    nothing misses: compute
--   9    hardly anything runs: idle
--
-- samples  line              latency  from     object
--     400  stream.c:10 stream    500  DRAM     orders, allocated at main.c:5
--     100  chase.c:20 walk       210  DRAM     ring, allocated at main.c:6
--     300  table.c:30 look_up      4  L1       table, a global
--      50  matrix.c:40 columns    60  L2, TLB missed: matrix, a global
--       5  few.c:50 once         200  DRAM     none
--      30  no line                60  L3       none
INSERT INTO run VALUES
        ('command', './made-up --quick'), ('source', 'sim'), ('numbers', 'modelled'),
        ('cpu', 'made-up'), ('kernel', 'Linux'), ('start', '2026-01-01T00:00:00Z'),
        ('duration_ns', 10000000), ('exit_status', 0), ('memlag_version', '0'),
        ('state', 'complete'), ('interval_ns', 1000000), ('period_loads', 1000),
        ('calibration', '{"made": "2026-01-02T03:04:05Z", "machine": {"memory_bytes":
                34359738368, "virtual": true}, "caches": {"levels": [{"latency_ns": 1.25}]},
                "loaded": {"knee_gbs": null}}');
INSERT INTO machine VALUES
        ('clock_mhz', 2000, 'MHz', 'preset made-up'),
        ('l1d_latency_cycles', 4, 'cycles', 'preset made-up'),
        ('l2_latency_cycles', 14, 'cycles', 'preset made-up'),
        ('l3_latency_cycles', 60, 'cycles', 'preset made-up'),
        ('dram_latency_cycles', 200, 'cycles', 'preset made-up'),
        ('dram_bandwidth_gbs', 100, 'GB/s', 'preset made-up');
INSERT INTO ledger VALUES
        ('record', 'records dropped', 7, 'records'),
        ('symbolize', 'no line', 30, 'samples');
INSERT INTO resolution VALUES ('line', 'resolved', 855), ('line', 'no line', 30);

INSERT INTO process VALUES (1, 100, NULL, '/bin/made-up', 0, 10000000);
INSERT INTO thread
SELECT value, 1, 100 + value, 'worker', 0, 10000000 FROM generate_series(1, 4);
INSERT INTO module VALUES (1, '/bin/made-up', NULL);
INSERT INTO mapping VALUES
        (1, 1, 'file', 0x400000, 0x10000, 0, 1, 'r-xp', NULL, 0, NULL);

INSERT INTO counter (counter_id, name, unit) VALUES
        (1, 'cpu_clk_unhalted.thread', 'cycles'), (2, 'inst_retired.any', 'events'),
        (3, 'l1d_pend_miss.pending', 'cycles'), (4, 'mem_load_retired.l1_miss', 'events'),
        (5, 'mem_load_retired.fb_hit', 'events'), (6, 'l1d_pend_miss.fb_full', 'cycles'),
        (7, 'dram.read_bytes', 'bytes'), (8, 'dram.write_bytes', 'bytes');
WITH gain (first, last, counter_id, value) AS (VALUES
        -- 10 000 lines of each thread: 2 000 000 cycles of 200 each.
        (0, 3, 1, 2000000), (0, 3, 2, 100000), (0, 3, 3, 2000000), (0, 3, 4, 10000),
        (0, 3, 7, 640000),
        -- 351 562 lines of each thread in 1 ms are 90 GB/s for the four of them.
        (4, 7, 1, 2000000), (4, 7, 2, 400000), (4, 7, 3, 140624800), (4, 7, 4, 351562),
        (4, 7, 6, 1000000), (4, 7, 7, 22499968),
        (8, 8, 1, 2000000), (8, 8, 2, 6000000),
        (9, 9, 1, 20000), (9, 9, 2, 10000))
INSERT INTO reading
SELECT i.value * 1000000, (i.value + 1) * 1000000, t.value, g.counter_id, g.value
FROM gain AS g, generate_series(g.first, g.last) AS i, generate_series(1, 4) AS t;

INSERT INTO data_source VALUES
        (1, 'load', 'L1', 'hit', 'none', 0, NULL),
        (2, 'load', 'L2', 'miss', 'none', 0, NULL),
        (3, 'load', 'L3', 'hit', 'none', 0, NULL),
        (4, 'load', 'DRAM', 'hit', 'none', 0, NULL);
INSERT INTO name VALUES
        (1, 'stream'), (2, '/src/stream.c'), (3, 'walk'), (4, '/src/chase.c'),
        (5, 'look_up'), (6, '/src/table.c'), (7, 'columns'), (8, '/src/matrix.c'),
        (9, 'once'), (10, '/src/few.c');
INSERT INTO code_location VALUES
        (1, 1, 0x1010, 1, 2, 10), (2, 1, 0x1020, 3, 4, 20), (3, 1, 0x1030, 5, 6, 30),
        (4, 1, 0x1040, 7, 8, 40), (5, 1, 0x1050, 9, 10, 50);
INSERT INTO data_object (object_id, kind, name, module_id, alloc_function, alloc_file,
                         alloc_line, size_bytes, allocations) VALUES
        (1, 'heap', 'orders', 1, 'main', '/src/main.c', 5, 1048576, 1),
        (2, 'heap', 'ring', 1, 'main', '/src/main.c', 6, 4096, 64),
        (3, 'global', 'table', 1, NULL, NULL, NULL, 32768, NULL),
        (4, 'global', 'matrix', 1, NULL, NULL, NULL, 8388608, NULL);

-- Each group's samples are spread evenly over its intervals, first to last.
CREATE TEMP TABLE made (
        first INTEGER, last INTEGER, samples INTEGER, ip INTEGER, latency INTEGER,
        data_source_id INTEGER, location_id INTEGER, object_id INTEGER);
INSERT INTO made VALUES
        (4, 7, 400, 0x401010, 500, 4, 1, 1), (0, 3, 100, 0x401020, 210, 4, 2, 2),
        (4, 7, 300, 0x401030, 4, 1, 3, 3), (8, 8, 50, 0x401040, 60, 2, 4, 4),
        (0, 0, 5, 0x401050, 200, 4, 5, NULL), (0, 3, 30, 0x700000, 60, 3, NULL, NULL);
INSERT INTO sample (time_ns, thread_id, cpu, ip, addr, latency_cycles, data_source_id)
SELECT m.first * 1000000 + (m.last - m.first + 1) * 1000000 * n.value / m.samples,
       1 + n.value % 4, n.value % 4, m.ip, 0x7fff00000000 + 64 * n.value, m.latency,
       m.data_source_id
FROM made AS m, generate_series(0, m.samples - 1) AS n;
INSERT INTO untyped VALUES (1, 'no debug information');
INSERT INTO attribution (sample_id, location_id, object_id, object_offset_bytes, untyped_id)
SELECT s.sample_id, m.location_id, m.object_id, 0, iif(m.location_id = 5, 1, NULL) FROM sample AS s JOIN made AS m USING (ip)
WHERE m.location_id IS NOT NULL;
DROP TABLE made;
