-- SPDX-License-Identifier: MIT
-- Schema version 8, as it was: what db_open migrates from.
PRAGMA page_size = 8192;
PRAGMA application_id = 0x6d6c6167;
PRAGMA user_version = 8;
CREATE TABLE run (
        key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE machine (
        key TEXT PRIMARY KEY, value REAL NOT NULL, unit TEXT NOT NULL,
        origin TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE process (
        process_id INTEGER PRIMARY KEY, pid INTEGER NOT NULL,
        parent_process_id INTEGER REFERENCES process, executable TEXT,
        start_ns INTEGER NOT NULL, end_ns INTEGER) STRICT;
CREATE TABLE thread (
        thread_id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process,
        tid INTEGER NOT NULL, name TEXT, start_ns INTEGER NOT NULL,
        end_ns INTEGER) STRICT;
CREATE TABLE module (
        module_id INTEGER PRIMARY KEY, path TEXT NOT NULL, build_id BLOB,
        UNIQUE (path, build_id)) STRICT;
CREATE TABLE module_file (
        module_id INTEGER PRIMARY KEY REFERENCES module, size_bytes INTEGER NOT NULL,
        modified_ns INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TABLE mapping (
        mapping_id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process,
        kind TEXT NOT NULL CHECK (kind IN ('file', 'anon', 'heap', 'stack', 'vdso')),
        start_addr INTEGER NOT NULL, length_bytes INTEGER NOT NULL,
        file_offset_bytes INTEGER, module_id INTEGER REFERENCES module,
        protection TEXT NOT NULL, thread_id INTEGER REFERENCES thread,
        start_ns INTEGER NOT NULL, end_ns INTEGER) STRICT;
CREATE TABLE data_source (
        data_source_id INTEGER PRIMARY KEY, op TEXT NOT NULL, level TEXT NOT NULL,
        tlb TEXT NOT NULL, snoop TEXT NOT NULL, locked INTEGER NOT NULL,
        raw INTEGER) STRICT;
CREATE TABLE stack_node (
        stack_id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES stack_node,
        process_id INTEGER NOT NULL REFERENCES process, ip INTEGER NOT NULL) STRICT;
CREATE TABLE stack_pack (
        first_stack_id INTEGER PRIMARY KEY,
        process_id INTEGER NOT NULL REFERENCES process, return_ips TEXT NOT NULL,
        leaf_ips TEXT NOT NULL, nodes TEXT NOT NULL) STRICT;
CREATE VIEW packed_stack (stack_id, parent_id, process_id, ip, is_leaf) AS
SELECT first_stack_id + n.key, nullif(n.value >> 8, 0), process_id,
       CAST(substr(iif(n.value & 1, leaf_ips, return_ips),
                   1 + 20 * (n.value >> 1 & 127), 20) AS INTEGER), n.value & 1
FROM stack_pack, json_each(nodes) AS n;
CREATE VIEW stack (stack_id, parent_id, process_id, ip) AS
SELECT stack_id, parent_id, process_id, ip FROM stack_node
UNION ALL
SELECT stack_id, parent_id, process_id, ip FROM packed_stack
WHERE stack_id NOT IN (SELECT stack_id FROM stack_node);
CREATE TABLE sample (
        sample_id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL,
        thread_id INTEGER NOT NULL REFERENCES thread, cpu INTEGER, ip INTEGER NOT NULL,
        addr INTEGER, latency_cycles INTEGER,
        data_source_id INTEGER REFERENCES data_source,
        stack_id INTEGER REFERENCES stack_node, stall_ns INTEGER,
        retire_latency_cycles INTEGER) STRICT;
CREATE TABLE stack_access (
        sample_id INTEGER PRIMARY KEY REFERENCES sample, depth INTEGER NOT NULL,
        cfa_offset_bytes INTEGER NOT NULL) STRICT;
CREATE TABLE other_stack_access (
        sample_id INTEGER PRIMARY KEY REFERENCES sample,
        stack_id INTEGER NOT NULL REFERENCES stack_node,
        cfa_offset_bytes INTEGER NOT NULL) STRICT;
CREATE TABLE sample_page (
        sample_id INTEGER PRIMARY KEY REFERENCES sample, phys_addr INTEGER,
        page_bytes INTEGER) STRICT;
CREATE TABLE thread_pointer (
        thread_id INTEGER PRIMARY KEY REFERENCES thread, address INTEGER NOT NULL) STRICT;
CREATE TABLE counter (
        counter_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL,
        stands_for TEXT) STRICT;
CREATE TABLE reading (
        start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
        thread_id INTEGER NOT NULL REFERENCES thread,
        counter_id INTEGER NOT NULL REFERENCES counter, value INTEGER NOT NULL,
        PRIMARY KEY (start_ns, thread_id, counter_id)) STRICT, WITHOUT ROWID;
CREATE TABLE allocation (
        allocation_id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES process,
        thread_id INTEGER REFERENCES thread, function TEXT NOT NULL,
        addr INTEGER NOT NULL, size_bytes INTEGER NOT NULL, stack_id INTEGER,
        start_ns INTEGER NOT NULL, end_ns INTEGER) STRICT;
CREATE TABLE allocation_site (
        stack_id INTEGER NOT NULL, function TEXT NOT NULL, allocations INTEGER NOT NULL,
        total_bytes INTEGER NOT NULL, peak_bytes INTEGER NOT NULL,
        PRIMARY KEY (stack_id, function)) STRICT, WITHOUT ROWID;
CREATE TABLE allocation_pack (
        pack_id INTEGER PRIMARY KEY, function TEXT NOT NULL, allocations INTEGER NOT NULL,
        total_bytes INTEGER NOT NULL, peak_bytes INTEGER NOT NULL,
        stacks TEXT NOT NULL) STRICT;
CREATE VIEW allocation_total (stack_id, function, allocations, total_bytes, peak_bytes) AS
SELECT stack_id, function, allocations, total_bytes, peak_bytes FROM allocation_site
UNION ALL
SELECT s.value, function, allocations, total_bytes, peak_bytes
FROM allocation_pack, json_each(stacks) AS s;
CREATE TABLE ledger (
        stage TEXT NOT NULL, kind TEXT NOT NULL, value INTEGER NOT NULL,
        unit TEXT NOT NULL, PRIMARY KEY (stage, kind)) STRICT, WITHOUT ROWID;
CREATE TABLE name (
        name_id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE code_location (
        location_id INTEGER PRIMARY KEY, module_id INTEGER REFERENCES module,
        address_offset INTEGER NOT NULL, function_id INTEGER REFERENCES name,
        file_id INTEGER REFERENCES name, line INTEGER) STRICT;
CREATE TABLE code_frame (
        location_id INTEGER NOT NULL REFERENCES code_location, depth INTEGER NOT NULL,
        function_id INTEGER REFERENCES name, call_file_id INTEGER REFERENCES name,
        call_line INTEGER, PRIMARY KEY (location_id, depth)) STRICT, WITHOUT ROWID;
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
CREATE TABLE function_start (
        location_id INTEGER PRIMARY KEY REFERENCES code_location,
        function_offset INTEGER NOT NULL) STRICT;
CREATE TABLE instruction (
        location_id INTEGER PRIMARY KEY REFERENCES code_location, text TEXT NOT NULL,
        access_bytes INTEGER) STRICT;
CREATE TABLE unnamed (
        location_id INTEGER PRIMARY KEY REFERENCES code_location, line_reason TEXT,
        function_reason TEXT) STRICT;
CREATE TABLE node_location (
        stack_id INTEGER PRIMARY KEY REFERENCES stack_node,
        location_id INTEGER NOT NULL REFERENCES code_location) STRICT;
CREATE TABLE packed_location (
        process_id INTEGER NOT NULL REFERENCES process, address INTEGER NOT NULL,
        location_id INTEGER NOT NULL REFERENCES code_location,
        PRIMARY KEY (process_id, address)) STRICT, WITHOUT ROWID;
CREATE TABLE object_context (
        stack_id INTEGER PRIMARY KEY, parent_id INTEGER,
        location_id INTEGER REFERENCES code_location) STRICT;
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
        object_id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL CHECK (kind IN (
                'global', 'heap', 'stack', 'tls', 'mmap', 'code', 'unknown')),
        name TEXT NOT NULL, module_id INTEGER REFERENCES module, alloc_function TEXT,
        alloc_file TEXT, alloc_line INTEGER, size_bytes INTEGER, allocations INTEGER,
        total_bytes INTEGER) STRICT;
CREATE TABLE object_stack (
        object_id INTEGER NOT NULL REFERENCES data_object, stack_id INTEGER NOT NULL,
        samples INTEGER NOT NULL, allocations INTEGER, total_bytes INTEGER,
        peak_bytes INTEGER, PRIMARY KEY (object_id, stack_id)) STRICT, WITHOUT ROWID;
CREATE TABLE data_type (
        type_id INTEGER PRIMARY KEY, name TEXT, size_bytes INTEGER NOT NULL) STRICT;
CREATE TABLE type_field (
        field_id INTEGER PRIMARY KEY, type_id INTEGER NOT NULL REFERENCES data_type,
        name TEXT, type TEXT, offset_bytes INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL) STRICT;
CREATE TABLE type_padding (
        type_id INTEGER NOT NULL REFERENCES data_type, offset_bytes INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL,
        PRIMARY KEY (type_id, offset_bytes)) STRICT, WITHOUT ROWID;
CREATE TABLE wide_field (
        field_id INTEGER PRIMARY KEY REFERENCES type_field,
        wide_samples INTEGER NOT NULL) STRICT;
CREATE TABLE ip_location (
        process_id INTEGER NOT NULL REFERENCES process, ip INTEGER NOT NULL,
        location_id INTEGER NOT NULL REFERENCES code_location,
        PRIMARY KEY (process_id, ip)) STRICT, WITHOUT ROWID;
CREATE TABLE untyped (
        untyped_id INTEGER PRIMARY KEY, reason TEXT NOT NULL) STRICT;
CREATE TABLE type_source (
        type_source_id INTEGER PRIMARY KEY, source TEXT NOT NULL, pointer TEXT,
        location_id INTEGER REFERENCES code_location) STRICT;
CREATE TABLE attribution (
        sample_id INTEGER PRIMARY KEY REFERENCES sample,
        location_id INTEGER REFERENCES code_location,
        object_id INTEGER REFERENCES data_object, object_offset_bytes INTEGER,
        field_id INTEGER REFERENCES type_field, untyped_id INTEGER REFERENCES untyped,
        type_source_id INTEGER REFERENCES type_source) STRICT;
CREATE VIEW sample_location (sample_id, location_id) AS
SELECT s.sample_id, coalesce(a.location_id, i.location_id)
FROM sample AS s
LEFT JOIN attribution AS a USING (sample_id)
LEFT JOIN thread AS t USING (thread_id)
LEFT JOIN ip_location AS i ON i.process_id = t.process_id AND i.ip = s.ip;
CREATE TABLE resolution (
        subject TEXT NOT NULL, outcome TEXT NOT NULL, samples INTEGER NOT NULL,
        PRIMARY KEY (subject, outcome)) STRICT, WITHOUT ROWID;
CREATE TABLE name_source (
        source_id INTEGER PRIMARY KEY, module_id INTEGER REFERENCES module,
        role TEXT NOT NULL CHECK (role IN (
                'options', 'kallsyms', 'file', 'debug', 'dwz', 'missing', 'changed', 'foreign')),
        path TEXT NOT NULL, size_bytes INTEGER NOT NULL,
        modified_ns INTEGER NOT NULL) STRICT;
-- Findings are made anew, whatever their columns were.
CREATE TABLE threshold (old INTEGER) STRICT;
CREATE TABLE interval (old INTEGER) STRICT;
CREATE TABLE line_finding (line INTEGER) STRICT;
CREATE TABLE function_finding (old INTEGER) STRICT;
CREATE TABLE object_finding (old INTEGER) STRICT;
CREATE TABLE field_finding (old INTEGER) STRICT;
CREATE TABLE line_object_finding (old INTEGER) STRICT;
CREATE TABLE line_asker_finding (old INTEGER) STRICT;
CREATE TABLE caller_finding (old INTEGER) STRICT;
