-- SPDX-License-Identifier: MIT
-- The sample database, version 9. Three groups of tables: raw rows (written
-- once, by the profiler), names (by symbolize) and findings (by analysis).
-- Times are CLOCK_MONOTONIC nanoseconds from the start of the run; under the
-- simulated PMU they are the model's virtual time. Addresses are 64-bit values
-- stored as two's complement integers. doc/schema.md explains every column.

-- Rows are written and read in the order of time: larger pages than SQLite's own take
-- fewer calls.
PRAGMA page_size = 8192;

-- The application id is "mlag": it tells this format from other SQLite files.
PRAGMA application_id = 0x6d6c6167;
PRAGMA user_version = 9;

-- Raw rows -------------------------------------------------------------------

CREATE TABLE run (
        key   TEXT PRIMARY KEY,
        value ANY
) STRICT, WITHOUT ROWID;

-- What is known about the machine (or the model of one) that analysis needs.
CREATE TABLE machine (
        key    TEXT PRIMARY KEY,
        value  REAL NOT NULL,
        unit   TEXT NOT NULL,
        origin TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One program image: fork and exec each begin a new one.
CREATE TABLE process (
        process_id        INTEGER PRIMARY KEY,
        pid               INTEGER NOT NULL,
        parent_process_id INTEGER REFERENCES process,
        executable        TEXT,
        start_ns          INTEGER NOT NULL,
        end_ns            INTEGER
) STRICT;

CREATE TABLE thread (
        thread_id  INTEGER PRIMARY KEY,
        process_id INTEGER NOT NULL REFERENCES process,
        tid        INTEGER NOT NULL,
        name       TEXT,
        start_ns   INTEGER NOT NULL,
        end_ns     INTEGER
) STRICT;

-- A file that was mapped, as it was when it was mapped.
CREATE TABLE module (
        module_id INTEGER PRIMARY KEY,
        path      TEXT NOT NULL,
        build_id  BLOB,
        UNIQUE (path, build_id)
) STRICT;

-- What tells later whether a file without a build-id is still the one that was mapped.
CREATE TABLE module_file (
        module_id   INTEGER PRIMARY KEY REFERENCES module,
        size_bytes  INTEGER NOT NULL,
        modified_ns INTEGER NOT NULL,
        checksum    INTEGER NOT NULL
) STRICT;

CREATE TABLE mapping (
        mapping_id        INTEGER PRIMARY KEY,
        process_id        INTEGER NOT NULL REFERENCES process,
        kind              TEXT NOT NULL CHECK (kind IN ('file', 'anon', 'heap', 'stack', 'vdso')),
        start_addr        INTEGER NOT NULL,
        length_bytes      INTEGER NOT NULL,
        file_offset_bytes INTEGER,
        module_id         INTEGER REFERENCES module,
        protection        TEXT NOT NULL,
        thread_id         INTEGER REFERENCES thread,
        start_ns          INTEGER NOT NULL,
        end_ns            INTEGER
) STRICT;

-- The distinct meanings of a sample's data source.
CREATE TABLE data_source (
        data_source_id INTEGER PRIMARY KEY,
        op             TEXT NOT NULL,
        level          TEXT NOT NULL,
        tlb            TEXT NOT NULL,
        snoop          TEXT NOT NULL,
        locked         INTEGER NOT NULL,
        raw            INTEGER
) STRICT;

-- A node of the calling-context tree that samples were in. The root's parent is NULL; ip
-- is the address of the instruction after the call, except in a leaf that a sample or an
-- allocation refers to, where it is the instruction itself.
CREATE TABLE stack_node (
        stack_id   INTEGER PRIMARY KEY,
        parent_id  INTEGER REFERENCES stack_node,
        process_id INTEGER NOT NULL REFERENCES process,
        ip         INTEGER NOT NULL
) STRICT;

-- Nodes that allocations led to, of one process and with numbers that follow each other.
-- Programs that make millions of them do so from few instructions: return_ips and leaf_ips
-- are addresses in decimal, each in 20 characters. nodes is a JSON array with a number for
-- each node: 256 * parent_id + 2 * index + leaf. A root's parent is 0; leaf is 1 where the
-- index, from 0, is into leaf_ips.
CREATE TABLE stack_pack (
        first_stack_id INTEGER PRIMARY KEY,
        process_id     INTEGER NOT NULL REFERENCES process,
        return_ips     TEXT NOT NULL,
        leaf_ips       TEXT NOT NULL,
        nodes          TEXT NOT NULL
) STRICT;

CREATE VIEW packed_stack (stack_id, parent_id, process_id, ip, is_leaf) AS
SELECT first_stack_id + n.key, nullif(n.value >> 8, 0), process_id,
       CAST(substr(iif(n.value & 1, leaf_ips, return_ips),
                   1 + 20 * (n.value >> 1 & 127), 20) AS INTEGER), n.value & 1
FROM stack_pack, json_each(nodes) AS n;

-- All nodes of the tree.
CREATE VIEW stack (stack_id, parent_id, process_id, ip) AS
SELECT stack_id, parent_id, process_id, ip FROM stack_node
UNION ALL
SELECT stack_id, parent_id, process_id, ip FROM packed_stack
WHERE stack_id NOT IN (SELECT stack_id FROM stack_node);

-- retire_latency_cycles: from the retirement of the instruction before the load to its own.
CREATE TABLE sample (
        sample_id      INTEGER PRIMARY KEY,
        time_ns        INTEGER NOT NULL,
        thread_id      INTEGER NOT NULL REFERENCES thread,
        cpu            INTEGER,
        ip             INTEGER NOT NULL,
        addr           INTEGER,
        latency_cycles INTEGER,
        data_source_id INTEGER REFERENCES data_source,
        stack_id       INTEGER REFERENCES stack_node,
        stall_ns       INTEGER,
        retire_latency_cycles INTEGER
) STRICT;

-- Which part of its call stack a sample accessed: depth 0 is the frame of the
-- instruction itself, and the offset is from that frame's canonical frame address.
CREATE TABLE stack_access (
        sample_id        INTEGER PRIMARY KEY REFERENCES sample,
        depth            INTEGER NOT NULL,
        cfa_offset_bytes INTEGER NOT NULL
) STRICT;

-- The same on the call stack of another thread: in the frame of the leaf of stack_id.
CREATE TABLE other_stack_access (
        sample_id        INTEGER PRIMARY KEY REFERENCES sample,
        stack_id         INTEGER NOT NULL REFERENCES stack_node,
        cfa_offset_bytes INTEGER NOT NULL
) STRICT;

-- The page that a sample's address is on, where that was asked for.
CREATE TABLE sample_page (
        sample_id  INTEGER PRIMARY KEY REFERENCES sample,
        phys_addr  INTEGER,
        page_bytes INTEGER
) STRICT;

-- Samples that are page faults: each stands for so many, which took kernel_cycles in the
-- kernel together.
CREATE TABLE page_fault (
        sample_id     INTEGER PRIMARY KEY REFERENCES sample,
        faults        INTEGER NOT NULL,
        kernel_cycles INTEGER NOT NULL,
        page_bytes    INTEGER NOT NULL
) STRICT;

-- Samples that missed L1 where its last misses were of so few sets that these have not as
-- many ways.
CREATE TABLE set_conflict (
        sample_id INTEGER PRIMARY KEY REFERENCES sample,
        sets      INTEGER NOT NULL
) STRICT;

-- Of samples that brought their cache line to L1 from beyond L2: the bytes of the line
-- that the program accessed until it left L1 and L2. used_mask has a bit of each byte.
CREATE TABLE line_use (
        sample_id  INTEGER PRIMARY KEY REFERENCES sample,
        used_bytes INTEGER NOT NULL,
        used_mask  INTEGER NOT NULL
) STRICT;

-- Of samples that brought their cache line to L1: the size of the smallest fully
-- associative LRU cache behind L1 that keeps the line until it is next requested. NULL: it
-- was not requested again.
CREATE TABLE line_reuse (
        sample_id   INTEGER PRIMARY KEY REFERENCES sample,
        cache_bytes INTEGER
) STRICT;

-- Where threads that took samples keep their thread-local memory.
CREATE TABLE thread_pointer (
        thread_id INTEGER PRIMARY KEY REFERENCES thread,
        address   INTEGER NOT NULL
) STRICT;

CREATE TABLE counter (
        counter_id INTEGER PRIMARY KEY,
        name       TEXT NOT NULL UNIQUE,
        unit       TEXT NOT NULL,
        stands_for TEXT
) STRICT;

-- What a counter gained between two readings; zero gains are left out.
CREATE TABLE reading (
        start_ns   INTEGER NOT NULL,
        end_ns     INTEGER NOT NULL,
        thread_id  INTEGER NOT NULL REFERENCES thread,
        counter_id INTEGER NOT NULL REFERENCES counter,
        value      INTEGER NOT NULL,
        PRIMARY KEY (start_ns, thread_id, counter_id)
) STRICT, WITHOUT ROWID;

-- Heap blocks that samples fell into, and what each allocation site did in all.
CREATE TABLE allocation (
        allocation_id INTEGER PRIMARY KEY,
        process_id    INTEGER NOT NULL REFERENCES process,
        thread_id     INTEGER REFERENCES thread,
        function      TEXT NOT NULL,
        addr          INTEGER NOT NULL,
        size_bytes    INTEGER NOT NULL,
        stack_id      INTEGER,
        start_ns      INTEGER NOT NULL,
        end_ns        INTEGER
) STRICT;

-- Until version 7 each site was a row.
CREATE TABLE allocation_site (
        stack_id     INTEGER NOT NULL,
        function     TEXT NOT NULL,
        allocations  INTEGER NOT NULL,
        total_bytes  INTEGER NOT NULL,
        peak_bytes   INTEGER NOT NULL,
        PRIMARY KEY (stack_id, function)
) STRICT, WITHOUT ROWID;

-- Sites that did the same: stacks is a JSON array of their stack_id.
CREATE TABLE allocation_pack (
        pack_id     INTEGER PRIMARY KEY,
        function    TEXT NOT NULL,
        allocations INTEGER NOT NULL,
        total_bytes INTEGER NOT NULL,
        peak_bytes  INTEGER NOT NULL,
        stacks      TEXT NOT NULL
) STRICT;

CREATE VIEW allocation_total (stack_id, function, allocations, total_bytes, peak_bytes) AS
SELECT stack_id, function, allocations, total_bytes, peak_bytes FROM allocation_site
UNION ALL
SELECT s.value, function, allocations, total_bytes, peak_bytes
FROM allocation_pack, json_each(stacks) AS s;

-- Timer samples of a first run of the command, as it is: how many at each place in a file;
-- module_id is NULL for code in no file.
CREATE TABLE clock_sample (
        clock_sample_id   INTEGER PRIMARY KEY,
        module_id         INTEGER REFERENCES module,
        file_offset_bytes INTEGER,
        samples           INTEGER NOT NULL
) STRICT;

-- Time without stalls in the simulated run after such a first run, at each place in a file:
-- samples of the slots of executed instructions and wrong predictions, one in a mean number
-- of slots. module_id as above.
CREATE TABLE instruction_sample (
        instruction_sample_id INTEGER PRIMARY KEY,
        module_id             INTEGER REFERENCES module,
        file_offset_bytes     INTEGER,
        samples               INTEGER NOT NULL
) STRICT;

-- One more run of the command under `memlag whatif`, on a machine with other settings: its
-- cycles and instructions, and for how much of these cycles each line held it up.
CREATE TABLE whatif_run (
        whatif_id    INTEGER PRIMARY KEY,
        fix          TEXT NOT NULL UNIQUE,
        settings     TEXT NOT NULL,
        cycles       REAL NOT NULL,
        instructions REAL NOT NULL
) STRICT;

CREATE TABLE whatif_line (
        whatif_id       INTEGER NOT NULL REFERENCES whatif_run,
        module          TEXT,
        function        TEXT,
        function_offset INTEGER,
        file            TEXT,
        line            INTEGER,
        stalled_ratio   REAL NOT NULL,
        stalled_low     REAL NOT NULL,
        stalled_high    REAL NOT NULL
) STRICT;

-- Everything that is missing, by the stage that noticed.
CREATE TABLE ledger (
        stage TEXT NOT NULL,
        kind  TEXT NOT NULL,
        value INTEGER NOT NULL,
        unit  TEXT NOT NULL,
        PRIMARY KEY (stage, kind)
) STRICT, WITHOUT ROWID;

-- Names ----------------------------------------------------------------------

-- The names of functions and files, each once: those of C++ are long, and many places
-- have the same.
CREATE TABLE name (
        name_id INTEGER PRIMARY KEY,
        text    TEXT NOT NULL
) STRICT;

-- A place in code; each distinct module and offset stands here once.
-- address_offset is the file address of the instruction (ELF virtual address)
-- where module_id is known (the file offset, where that file was changed or could
-- not be read), else the process's address. Of a caller it is the call's last byte.
CREATE TABLE code_location (
        location_id    INTEGER PRIMARY KEY,
        module_id      INTEGER REFERENCES module,
        address_offset INTEGER NOT NULL,
        function_id    INTEGER REFERENCES name,
        file_id        INTEGER REFERENCES name,
        line           INTEGER
) STRICT;

-- The functions that the compiler inlined there, innermost (depth 0) first;
-- the last row is the function of the machine code. call_file_id and call_line
-- say where the next outer function calls this one. Where nothing was inlined
-- there are no rows.
CREATE TABLE code_frame (
        location_id  INTEGER NOT NULL REFERENCES code_location,
        depth        INTEGER NOT NULL,
        function_id  INTEGER REFERENCES name,
        call_file_id INTEGER REFERENCES name,
        call_line    INTEGER,
        PRIMARY KEY (location_id, depth)
) STRICT, WITHOUT ROWID;

-- The same with names. Not joins, which SQLite would make anew for each query.
CREATE VIEW location (location_id, module_id, address_offset, function, file, line,
        function_offset) AS
SELECT location_id, module_id, address_offset,
       (SELECT text FROM name WHERE name_id = function_id),
       (SELECT text FROM name WHERE name_id = file_id), line,
       (SELECT function_offset FROM function_start AS s
        WHERE s.location_id = code_location.location_id)
FROM code_location;

CREATE VIEW inline_frame (location_id, depth, function, call_file, call_line) AS
SELECT location_id, depth, (SELECT text FROM name WHERE name_id = function_id),
       (SELECT text FROM name WHERE name_id = call_file_id), call_line
FROM code_frame;

-- Where the function of a place begins that has no name, as a file address: as the file's
-- unwind table tells, which stripped files keep.
CREATE TABLE function_start (
        location_id     INTEGER PRIMARY KEY REFERENCES code_location,
        function_offset INTEGER NOT NULL
) STRICT;

-- The instruction at a place that samples were at, where its file could be read: in AT&T's
-- syntax, with the bytes of memory that it accesses.
CREATE TABLE instruction (
        location_id  INTEGER PRIMARY KEY REFERENCES code_location,
        text         TEXT NOT NULL,
        access_bytes INTEGER
) STRICT;

-- How the address of an access at a sampled place follows from iteration to iteration of its
-- loop, and the fewest instructions of an iteration (NULL: not known).
CREATE TABLE access_pattern (
        location_id            INTEGER PRIMARY KEY REFERENCES code_location,
        pattern                TEXT NOT NULL CHECK (pattern IN
                ('no-loop', 'fixed', 'stride', 'computed', 'index', 'chain', 'branches', 'call')),
        stride_bytes           INTEGER,
        iteration_instructions INTEGER
) STRICT;

-- Why a place has no line, or no function, in the words of the ledger; NULL: it has one.
CREATE TABLE unnamed (
        location_id     INTEGER PRIMARY KEY REFERENCES code_location,
        line_reason     TEXT,
        function_reason TEXT
) STRICT;

-- Where nodes of the calling-context tree are that have rows.
CREATE TABLE node_location (
        stack_id    INTEGER PRIMARY KEY REFERENCES stack_node,
        location_id INTEGER NOT NULL REFERENCES code_location
) STRICT;

-- Where the instructions of packed nodes are: address is the ip of a leaf, and the byte
-- before that of a caller.
CREATE TABLE packed_location (
        process_id  INTEGER NOT NULL REFERENCES process,
        address     INTEGER NOT NULL,
        location_id INTEGER NOT NULL REFERENCES code_location,
        PRIMARY KEY (process_id, address)
) STRICT, WITHOUT ROWID;

-- The packed nodes that blocks of objects came through, which are found here faster.
CREATE TABLE object_context (
        stack_id    INTEGER PRIMARY KEY,
        parent_id   INTEGER,
        location_id INTEGER REFERENCES code_location
) STRICT;

-- Where all nodes are.
CREATE VIEW stack_location (stack_id, location_id) AS
SELECT stack_id, location_id FROM node_location
UNION ALL
SELECT stack_id, location_id FROM object_context WHERE location_id IS NOT NULL
UNION ALL
SELECT stack_id, location_id
FROM packed_stack AS s JOIN packed_location AS l
ON l.process_id = s.process_id AND l.address = s.ip - 1 + s.is_leaf
WHERE stack_id NOT IN (SELECT stack_id FROM node_location)
AND stack_id NOT IN (SELECT stack_id FROM object_context);

CREATE TABLE data_object (
        object_id      INTEGER PRIMARY KEY,
        kind           TEXT NOT NULL CHECK (kind IN ('global', 'heap', 'stack', 'tls', 'mmap', 'code', 'unknown')),
        name           TEXT NOT NULL,
        module_id      INTEGER REFERENCES module,
        alloc_function TEXT,
        alloc_file     TEXT,
        alloc_line     INTEGER,
        size_bytes     INTEGER,
        allocations    INTEGER,
        total_bytes    INTEGER
) STRICT;

-- The call stacks that allocated the blocks of each object, with the samples in them and
-- what allocation_total has of the object's kind of memory.
CREATE TABLE object_stack (
        object_id   INTEGER NOT NULL REFERENCES data_object,
        stack_id    INTEGER NOT NULL,
        samples     INTEGER NOT NULL,
        allocations INTEGER,
        total_bytes INTEGER,
        peak_bytes  INTEGER,
        PRIMARY KEY (object_id, stack_id)
) STRICT, WITHOUT ROWID;

-- The types that samples met, each with all of its fields in the order of their
-- offsets. A field of an array's items stands for all items: its offset is that in
-- the first. name is NULL where the type has no fields (a number, a pointer), and has
-- several names, as "a|b", where these share their place: it begins where the last of them
-- does, and ends with the longest; type is NULL where they differ in it.
CREATE TABLE data_type (
        type_id    INTEGER PRIMARY KEY,
        name       TEXT,
        size_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE type_field (
        field_id     INTEGER PRIMARY KEY,
        type_id      INTEGER NOT NULL REFERENCES data_type,
        name         TEXT,
        type         TEXT,
        offset_bytes INTEGER NOT NULL,
        size_bytes   INTEGER NOT NULL
) STRICT;

-- The bytes of these types in which no field lies. Arrays are taken as full.
CREATE TABLE type_padding (
        type_id      INTEGER NOT NULL REFERENCES data_type,
        offset_bytes INTEGER NOT NULL,
        size_bytes   INTEGER NOT NULL,
        PRIMARY KEY (type_id, offset_bytes)
) STRICT, WITHOUT ROWID;

-- Fields that loads read which count for an earlier one.
CREATE TABLE wide_field (
        field_id     INTEGER PRIMARY KEY REFERENCES type_field,
        wide_samples INTEGER NOT NULL
) STRICT;

-- Where the instruction at an address of a process is, for samples without location_id in
-- attribution.
CREATE TABLE ip_location (
        process_id  INTEGER NOT NULL REFERENCES process,
        ip          INTEGER NOT NULL,
        location_id INTEGER NOT NULL REFERENCES code_location,
        PRIMARY KEY (process_id, ip)
) STRICT, WITHOUT ROWID;

-- Where the instructions of clock_sample are.
CREATE TABLE clock_location (
        clock_sample_id INTEGER PRIMARY KEY REFERENCES clock_sample,
        location_id     INTEGER NOT NULL REFERENCES code_location
) STRICT;

-- Where the instructions of instruction_sample are.
CREATE TABLE instruction_sample_location (
        instruction_sample_id INTEGER PRIMARY KEY REFERENCES instruction_sample,
        location_id           INTEGER NOT NULL REFERENCES code_location
) STRICT;

-- Why the types of samples are not known.
CREATE TABLE untyped (
        untyped_id INTEGER PRIMARY KEY,
        reason     TEXT NOT NULL
) STRICT;

-- What told the types of samples: source is variable, allocation, instruction, argument or
-- function; pointer is the name of the pointer that is to the type, and location_id the
-- call whose result it takes (allocation) or which hands it on (argument).
CREATE TABLE type_source (
        type_source_id INTEGER PRIMARY KEY,
        source         TEXT NOT NULL,
        pointer        TEXT,
        location_id    INTEGER REFERENCES code_location
) STRICT;

-- What each sample was resolved to; object_offset_bytes is its place in the
-- object's block, untyped_id why an access has no field_id, type_source_id what told the
-- field's type. Samples of which only the
-- location is known, which ip_location has, need no row.
CREATE TABLE attribution (
        sample_id           INTEGER PRIMARY KEY REFERENCES sample,
        location_id         INTEGER REFERENCES code_location,
        object_id           INTEGER REFERENCES data_object,
        object_offset_bytes INTEGER,
        field_id            INTEGER REFERENCES type_field,
        untyped_id          INTEGER REFERENCES untyped,
        type_source_id      INTEGER REFERENCES type_source
) STRICT;

CREATE VIEW sample_location (sample_id, location_id) AS
SELECT s.sample_id, coalesce(a.location_id, i.location_id)
FROM sample AS s
LEFT JOIN attribution AS a USING (sample_id)
LEFT JOIN thread AS t USING (thread_id)
LEFT JOIN ip_location AS i ON i.process_id = t.process_id AND i.ip = s.ip;

-- How many samples got a line, function, stack, object and type, and why the others did
-- not; for each subject the counts add up to all samples.
CREATE TABLE resolution (
        subject TEXT NOT NULL,
        outcome TEXT NOT NULL,
        samples INTEGER NOT NULL,
        PRIMARY KEY (subject, outcome)
) STRICT, WITHOUT ROWID;

-- The files and options that the names were made from, in the order in which they are
-- looked for; symbolize makes names again only when they have changed.
CREATE TABLE name_source (
        source_id   INTEGER PRIMARY KEY,
        module_id   INTEGER REFERENCES module,
        role        TEXT NOT NULL CHECK (role IN ('options', 'kallsyms', 'file', 'debug', 'dwz',
                                                   'missing', 'changed', 'foreign')),
        path        TEXT NOT NULL,
        size_bytes  INTEGER NOT NULL,
        modified_ns INTEGER NOT NULL
) STRICT;

-- Findings -------------------------------------------------------------------

CREATE TABLE threshold (
        name   TEXT PRIMARY KEY,
        value  REAL NOT NULL,
        unit   TEXT NOT NULL,
        origin TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE interval (
        interval_id            INTEGER PRIMARY KEY,
        start_ns               INTEGER NOT NULL,
        end_ns                 INTEGER NOT NULL,
        lmrl_cycles            REAL,
        l1_miss_latency_cycles REAL,
        fb_full_ratio          REAL,
        active_cores           REAL,
        read_gbs               REAL,
        write_gbs              REAL,
        contended              INTEGER,
        bound                  TEXT CHECK (bound IN ('idle', 'compute', 'latency', 'in-core', 'bandwidth', 'kernel')),
        stall_ratio            REAL,
        memory_stall_ratio     REAL,
        bandwidth_stall_ratio  REAL,
        l2_stall_ratio         REAL,
        beyond_l2_stall_ratio  REAL,
        l3_stall_ratio         REAL,
        dram_stall_ratio       REAL,
        busy_ratio             REAL,
        dram_nodes             REAL
) STRICT;

-- One row a source line (or function, where lines are unknown; a function without a name
-- is told by where it begins in its module, function_offset). stalled_ratio is the part of
-- the run's cycles for which its loads held up those behind them, and for which the kernel
-- served its page faults (fault_ratio of these alone). caller_* is the line of
-- the user's own that led to most of what it held up, or of its latency (caller_share of it),
-- where it is none itself.
CREATE TABLE line_finding (
        line_id              INTEGER PRIMARY KEY,
        module               TEXT,
        function             TEXT,
        file                 TEXT,
        line                 INTEGER,
        samples              INTEGER NOT NULL,
        dram_samples         INTEGER,
        mean_latency_cycles  REAL,
        p95_latency_cycles   REAL,
        latency_share        REAL,
        latency_share_low    REAL,
        latency_share_high   REAL,
        contended_samples    INTEGER,
        verdict              TEXT NOT NULL,
        caller_module        TEXT,
        caller_function      TEXT,
        caller_file          TEXT,
        caller_line          INTEGER,
        caller_share         REAL,
        function_offset      INTEGER,
        stalled_ratio        REAL,
        stalled_ratio_low    REAL,
        stalled_ratio_high   REAL,
        cache_level          TEXT,
        level_samples        INTEGER NOT NULL,
        page_faults          INTEGER NOT NULL DEFAULT 0,
        fault_ratio          REAL
) STRICT;

-- The same by function; caller_* is a function too.
CREATE TABLE function_finding (
        function_id          INTEGER PRIMARY KEY,
        module               TEXT,
        function             TEXT,
        samples              INTEGER NOT NULL,
        dram_samples         INTEGER,
        mean_latency_cycles  REAL,
        p95_latency_cycles   REAL,
        latency_share        REAL,
        latency_share_low    REAL,
        latency_share_high   REAL,
        contended_samples    INTEGER,
        verdict              TEXT NOT NULL,
        caller_module        TEXT,
        caller_function      TEXT,
        caller_file          TEXT,
        caller_share         REAL,
        function_offset      INTEGER,
        stalled_ratio        REAL,
        stalled_ratio_low    REAL,
        stalled_ratio_high   REAL,
        cache_level          TEXT,
        level_samples        INTEGER NOT NULL,
        page_faults          INTEGER NOT NULL DEFAULT 0,
        fault_ratio          REAL
) STRICT;

CREATE TABLE object_finding (
        object_id            INTEGER PRIMARY KEY REFERENCES data_object,
        samples              INTEGER NOT NULL,
        dram_samples         INTEGER,
        mean_latency_cycles  REAL,
        latency_share        REAL,
        latency_share_low    REAL,
        latency_share_high   REAL,
        contended_samples    INTEGER,
        verdict              TEXT NOT NULL,
        stalled_ratio        REAL,
        stalled_ratio_low    REAL,
        stalled_ratio_high   REAL,
        cache_level          TEXT,
        level_samples        INTEGER NOT NULL,
        page_faults          INTEGER NOT NULL DEFAULT 0,
        fault_ratio          REAL
) STRICT;

CREATE TABLE field_finding (
        field_id             INTEGER PRIMARY KEY REFERENCES type_field,
        samples              INTEGER NOT NULL,
        dram_samples         INTEGER,
        mean_latency_cycles  REAL,
        latency_share        REAL,
        latency_share_low    REAL,
        latency_share_high   REAL,
        contended_samples    INTEGER,
        verdict              TEXT NOT NULL,
        stalled_ratio        REAL,
        stalled_ratio_low    REAL,
        stalled_ratio_high   REAL,
        cache_level          TEXT,
        level_samples        INTEGER NOT NULL,
        page_faults          INTEGER NOT NULL DEFAULT 0,
        fault_ratio          REAL
) STRICT;

-- Which line touched which field of which object; object_id and field_id are NULL
-- where they are not known.
CREATE TABLE line_object_finding (
        line_id              INTEGER NOT NULL REFERENCES line_finding,
        object_id            INTEGER REFERENCES data_object,
        samples              INTEGER NOT NULL,
        mean_latency_cycles  REAL,
        contended_samples    INTEGER,
        field_id             INTEGER REFERENCES type_field,
        stalled_ratio        REAL
) STRICT;

-- Lines of code whose loads wait for lines of the cache that another had asked for
-- (asker_id; NULL: one of another function), and how many of its slow hits of a fill buffer
-- those are (share: of all).
CREATE TABLE line_asker_finding (
        line_id              INTEGER NOT NULL REFERENCES line_finding,
        asker_id             INTEGER REFERENCES line_finding,
        samples              INTEGER NOT NULL,
        share                REAL NOT NULL
) STRICT;

-- What a fix gains at a line, or in the run (line_id is NULL), as a part of the run's
-- cycles: estimated from the samples of a simulated run, or recorded (whatif_run). What is
-- less than a thousandth has no row.
CREATE TABLE gain_finding (
        line_id              INTEGER REFERENCES line_finding,
        fix                  TEXT NOT NULL,
        gain_ratio           REAL NOT NULL,
        gain_low             REAL NOT NULL,
        gain_high            REAL NOT NULL,
        kind                 TEXT NOT NULL CHECK (kind IN ('estimate', 'recorded'))
) STRICT;

-- What huge pages gain for an object, likewise.
CREATE TABLE object_gain_finding (
        object_id            INTEGER NOT NULL REFERENCES data_object,
        fix                  TEXT NOT NULL,
        gain_ratio           REAL NOT NULL,
        gain_low             REAL NOT NULL,
        gain_high            REAL NOT NULL,
        kind                 TEXT NOT NULL CHECK (kind IN ('estimate', 'recorded'))
) STRICT;

-- Sampled requests of cache lines beyond L1 at an instruction with an access_pattern, and how
-- many iterations ahead a prefetch must be (NULL: none can be computed).
CREATE TABLE prefetch_finding (
        location_id          INTEGER PRIMARY KEY REFERENCES code_location,
        line_id              INTEGER NOT NULL REFERENCES line_finding,
        samples              INTEGER NOT NULL,
        latency_cycles       REAL NOT NULL,
        distance_iterations  INTEGER
) STRICT;

-- How sure the verdicts are. margin: the least part by which one term of the verdict must be
-- larger or smaller for it to be other_verdict, from 0 to 0.5; NULL in the latter: none was
-- found within that. id is a line_id, function_id, object_id or field_id.
CREATE TABLE certainty_finding (
        subject       TEXT NOT NULL CHECK (subject IN ('line', 'function', 'object', 'field')),
        id            INTEGER NOT NULL,
        certainty     TEXT NOT NULL CHECK (certainty IN ('sure', 'near the limit')),
        margin        REAL NOT NULL,
        other_verdict TEXT,
        PRIMARY KEY (subject, id)
) STRICT, WITHOUT ROWID;

-- The measured time of each line in the first run (clock_sample): its share of that run's
-- CPU time, the kernel's included. line_id: the same line in line_finding; NULL: it has no
-- row there. modelled_ratio: the line's stalls without page faults, and its part of the other
-- cycles by instruction_sample (NULL: not known). Lines that
-- the model executed and no timer sample was at have a row, too.
CREATE TABLE line_clock_finding (
        line_clock_id       INTEGER PRIMARY KEY,
        line_id             INTEGER REFERENCES line_finding,
        module              TEXT,
        function            TEXT,
        function_offset     INTEGER,
        file                TEXT,
        line                INTEGER,
        samples             INTEGER NOT NULL,
        modelled_ratio      REAL,
        measured_ratio      REAL NOT NULL,
        measured_ratio_low  REAL NOT NULL,
        measured_ratio_high REAL NOT NULL
) STRICT;

-- The same by function.
CREATE TABLE function_clock_finding (
        function_clock_id   INTEGER PRIMARY KEY,
        function_id         INTEGER REFERENCES function_finding,
        module              TEXT,
        function            TEXT,
        function_offset     INTEGER,
        samples             INTEGER NOT NULL,
        modelled_ratio      REAL,
        measured_ratio      REAL NOT NULL,
        measured_ratio_low  REAL NOT NULL,
        measured_ratio_high REAL NOT NULL
) STRICT;

-- The same of the instructions that access an object, as the simulated run saw them: it has
-- the addresses of data. The time of an instruction that accesses several objects goes to
-- each in proportion to its stalls there (samples is a sum of such parts). The range begins
-- with the instructions that access this object alone, and ends with all that access it.
CREATE TABLE object_clock_finding (
        object_id           INTEGER PRIMARY KEY REFERENCES data_object,
        samples             REAL NOT NULL,
        measured_ratio      REAL NOT NULL,
        measured_ratio_low  REAL NOT NULL,
        measured_ratio_high REAL NOT NULL
) STRICT;

-- How well measured time and modelled time agree, for lines and for functions: of the
-- compared ones with most measured time, at most ten of at least 1 % each, how many are
-- among the ten with most modelled time (stalls, where that is not known); and Spearman's rank correlation over both lists.
CREATE TABLE clock_agreement_finding (
        subject     TEXT PRIMARY KEY CHECK (subject IN ('line', 'function')),
        compared    INTEGER NOT NULL,
        shared      INTEGER NOT NULL,
        correlation REAL
) STRICT, WITHOUT ROWID;

-- The calling-context tree of the memory samples by functions, inlined ones included.
-- caller_id is the order of reading: a function, then what it calls, the most important
-- first. samples, dram_samples, mean and share are of the function and all that it
-- calls on this path; self_* are of the function alone.
CREATE TABLE caller_finding (
        caller_id            INTEGER PRIMARY KEY,
        parent_id            INTEGER REFERENCES caller_finding,
        depth                INTEGER NOT NULL,
        module               TEXT,
        function             TEXT,
        samples              INTEGER NOT NULL,
        self_samples         INTEGER NOT NULL,
        dram_samples         INTEGER,
        mean_latency_cycles  REAL,
        latency_share        REAL,
        self_latency_share   REAL,
        function_offset      INTEGER,
        stalled_ratio        REAL,
        self_stalled_ratio   REAL,
        level_samples        INTEGER NOT NULL
) STRICT;

-- For each object the tree of calls that allocated its blocks, in the order of reading: a
-- function, then those that called it. depth 0 is the innermost function.
CREATE TABLE allocation_finding (
        place       INTEGER PRIMARY KEY,
        object_id   INTEGER NOT NULL REFERENCES data_object,
        path        TEXT NOT NULL,
        depth       INTEGER NOT NULL,
        location_id INTEGER REFERENCES code_location,
        inlined     INTEGER NOT NULL,
        samples     INTEGER NOT NULL,
        allocations INTEGER,
        total_bytes INTEGER,
        peak_bytes  INTEGER
) STRICT;
