/* SPDX-License-Identifier: MIT */
/* The sample database: opening it, and the writer of raw rows. The three stages share
 * only this. It knows SQLite and the schema, not the source or meaning of samples. */
#ifndef MEMLAG_DB_H
#define MEMLAG_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

struct sqlite3;
struct db;

enum db_access { DB_READ_ONLY, DB_READ_WRITE };

/* Creates the database file PATH with the current schema and opens it for writing.
 * -EEXIST when it exists and REPLACE is false. Never replaces a foreign file (-EINVAL),
 * or a database that another process is writing (-EBUSY). */
int db_create(const char *path, bool replace, struct db **db, struct diag *diag);

/* Creates an unnamed temporary database, on disk if it is large. Closing deletes it. */
int db_create_unnamed(struct db **db, struct diag *diag);

/* Returns true if the file at PATH is marked as the remainder of a killed import.
 * Unmarked files and recordings may belong to anybody. */
bool db_is_import_remainder(const char *path);

/* Checks whether db_create would replace the file at PATH, or create a new file: 0,
 * -EINVAL or -EBUSY. */
int db_may_replace(const char *path, struct diag *diag);

/* Suffixes of SQLite's side files, appended to a database's path. The last suffix is
 * empty: the database itself. */
enum { DB_FILES = 4 };
extern const char *const db_file_suffixes[DB_FILES];

/* Removes the closed database at PATH and SQLite's side files. */
int db_remove(const char *path, struct diag *diag);

/* Returns true if the database of db_create still has its name. */
bool db_is_in_place(const struct db *db);

/* Renames the closed database FROM to TO, which db_may_replace. At any time TO is one of
 * the two databases. */
int db_move(const char *from, const char *to, struct diag *diag);

/* Opens an existing database. Migrates a database of the version before when ACCESS
 * permits, else refuses it (-ESTALE). Refuses other versions (-EPROTO), a foreign file
 * (-EINVAL) and a damaged database (-EBADMSG). Before writing, everything but the samples
 * is checked for damage. Reading needs no write permission, also after a killed writer.
 */
int db_open(const char *path, enum db_access access, struct db **db, struct diag *diag);

/* Checks whether each memlag view of DB is defined as in SQL or in the schema. */
int db_views_are_ours(struct db *db, const char *sql, bool *are, struct diag *diag);

/* Lets SQLite cache more of DB, for arbitrary queries. */
int db_keep_more(struct db *db, struct diag *diag);

/* Closes DB (NULL is allowed). Committed data stays; a written database becomes one
 * plain file again. */
void db_close(struct db *db);

/* The SQLite connection, for the statements of a stage; owned by DB. */
struct sqlite3 *db_sqlite(struct db *db);

/* Describes the connection's latest error during ACTION ("write") with a remedy, and
 * returns the corresponding negative errno value. */
int db_error(const struct db *db, const char *action, struct diag *diag);

/* Runs one or more SQL statements without results. */
int db_exec(struct db *db, const char *sql, struct diag *diag);

/* Sets a key of the run table (text or integer). */
int db_run_set_text(struct db *db, const char *key, const char *value, struct diag *diag);
int db_run_set_int(struct db *db, const char *key, int64_t value, struct diag *diag);

/* Reads a key of the run table: a copy of the text that the caller frees, or
 * NULL when the key is absent; the integer, or FALLBACK when absent. */
char *db_run_text(struct db *db, const char *key);
int64_t db_run_int(struct db *db, const char *key, int64_t fallback);

/* How many samples are there. */
int db_sample_count(struct db *db, int64_t *count, struct diag *diag);

/* Sets a loss that STAGE found; zero removes the row. */
int db_ledger_set(struct db *db, const char *stage, const char *kind, int64_t value,
                  const char *unit, struct diag *diag);

/* Removes the findings of analysis, before a new analysis, and its part of the
 * ledger. */
int db_clear_findings(struct db *db, struct diag *diag);

/* Gives the module PATH a build-id that became known after its row was written. An
 * existing build-id is retained. */
int db_module_build_id(struct db *db, const char *path, const uint8_t *build_id,
                       size_t length, struct diag *diag);

/* ---- the writer of raw rows ---- */

/* Rows are collected into transactions. writer_flush commits at once. The writer commits
 * at least every second of wall time and every 100 000 rows; a killed profiler loses no
 * more. It checks the clock only when a row is written: callers without rows for a while
 * call writer_flush. Each function that makes a row stores its key in *ID. Text is
 * copied.
 *
 * A row that breaks a constraint is refused alone (-EINVAL); samples and nodes of stacks
 * have none to break. After any other error, such as a full disk (-ENOSPC), the open
 * transaction is lost and every later call returns the same error. Committed rows stay,
 * and the message contains the number of committed samples. */
struct writer;

/* DB must not yet contain a recording (-EEXIST). */
int writer_open(struct db *db, struct writer **writer, struct diag *diag);
int writer_flush(struct writer *writer, struct diag *diag);
/* Commits the rest and frees the writer, also on error. */
int writer_close(struct writer *writer, struct diag *diag);

int writer_machine(struct writer *writer, const char *key, double value, const char *unit,
                   const char *origin, struct diag *diag);

/* PARENT_ID 0: none. EXECUTABLE may be NULL. */
int writer_process(struct writer *writer, int64_t pid, int64_t parent_id,
                   const char *executable, int64_t start_ns, int64_t *id,
                   struct diag *diag);
int writer_process_end(struct writer *writer, int64_t process_id, int64_t end_ns,
                       struct diag *diag);

int writer_thread(struct writer *writer, int64_t process_id, int64_t tid,
                  const char *name, int64_t start_ns, int64_t *id, struct diag *diag);
/* Replaces its name. */
int writer_thread_name(struct writer *writer, int64_t thread_id, const char *name,
                       struct diag *diag);
int writer_thread_end(struct writer *writer, int64_t thread_id, int64_t end_ns,
                      struct diag *diag);

/* Returns the module row of PATH with this build-id (LENGTH 0: unknown); makes a new
 * row. */
int writer_module(struct writer *writer, const char *path, const uint8_t *build_id,
                  size_t length, int64_t *id, struct diag *diag);

/* A new module row of the file PATH, which has no build-id. */
int writer_new_module(struct writer *writer, const char *path, int64_t *id,
                      struct diag *diag);

/* Identity of a module's file, to detect later changes: its size, modification time
 * (nanoseconds since 1970) and CRC-32. At most once per module. */
struct module_file_row {
        uint64_t size_bytes;
        int64_t modified_ns;
        uint32_t checksum;
        bool changed; /* without a checksum: matches no file */
};
int writer_module_file(struct writer *writer, int64_t module_id,
                       const struct module_file_row *file, struct diag *diag);

enum mapping_kind {
        MAPPING_FILE,
        MAPPING_ANON,
        MAPPING_HEAP,
        MAPPING_STACK,
        MAPPING_VDSO
};

struct mapping_row {
        int64_t process_id;
        enum mapping_kind kind;
        uint64_t start_addr;
        uint64_t length_bytes;
        uint64_t file_offset_bytes; /* only with module_id */
        int64_t module_id;          /* 0: none */
        int64_t thread_id;          /* a stack's owner, else 0 */
        const char *protection;     /* "rwx" with '-' for a denied access */
        int64_t start_ns;
};
int writer_mapping(struct writer *writer, const struct mapping_row *row, int64_t *id,
                   struct diag *diag);
int writer_mapping_end(struct writer *writer, int64_t mapping_id, int64_t end_ns,
                       struct diag *diag);

/* The id of a data source, made when new. HAS_RAW false: raw is NULL. */
struct data_source_row {
        const char *op;    /* "load", "store", "prefetch", "exec" or "NA" */
        const char *level; /* "L1", "LFB", "L2", "L3", "DRAM", "REMOTE_DRAM", … or "NA" */
        const char *tlb;   /* "hit", "stlb", "miss" or "NA" */
        const char *snoop; /* "none", "hit", "hitm" or "NA" */
        bool locked;
        bool has_raw;
        uint64_t raw; /* union perf_mem_data_src */
};
int writer_data_source(struct writer *writer, const struct data_source_row *row,
                       int64_t *id, struct diag *diag);

/* User of a calling context: a sample, an allocation, or an allocation of a source that
 * names each context once. */
enum context_use { CONTEXT_OF_SAMPLE, CONTEXT_OF_ALLOCATION, CONTEXT_OF_NEW_ALLOCATION };

/* The id of the calling context given by IPS, innermost first (DEPTH >= 1). */
int writer_stack(struct writer *writer, int64_t process_id, const uint64_t *ips,
                 size_t depth, enum context_use use, int64_t *id, struct diag *diag);

struct sample_row {
        int64_t time_ns;
        int64_t thread_id;
        int32_t cpu; /* -1: unknown */
        uint64_t ip;
        bool has_addr;
        uint64_t addr;
        int64_t stall_ns;              /* 0: unknown */
        int64_t latency_cycles;        /* -1: unknown */
        int64_t retire_latency_cycles; /* -1: unknown */
        int64_t data_source_id;        /* 0: none */
        int64_t stack_id;              /* 0: none */
        uint32_t stack_frame;     /* of the stack, from 1: where addr lies; 0: unknown */
        int64_t other_stack_id;   /* another thread's stack whose leaf frame contains it;
                                     0: none */
        int64_t cfa_offset_bytes; /* in either */
        uint64_t phys_addr;       /* of addr; 0: unknown */
        int64_t page_bytes;       /* 0: unknown */
        int64_t few_sets;         /* of L1, that it missed with others; 0: of many */
        int64_t faults;           /* page faults in this sample; 0: not a page fault */
        int64_t kernel_cycles;    /* of all these */
        int64_t fault_page_bytes;
};
/* ID, the new row's, may be NULL. */
int writer_sample(struct writer *writer, const struct sample_row *row, int64_t *id,
                  struct diag *diag);
/* USED: a bit of each byte of the sample's cache line that was accessed. */
int writer_line_use(struct writer *writer, int64_t sample_id, uint64_t used,
                    struct diag *diag);
/* CACHE_BYTES 0: the line was not requested again. */
int writer_line_reuse(struct writer *writer, int64_t sample_id, int64_t cache_bytes,
                      struct diag *diag);
int writer_thread_pointer(struct writer *writer, int64_t thread_id, uint64_t address,
                          struct diag *diag);

/* Returns the id of a counter by name; makes a new counter. UNIT: "cycles", "events" or
 * "bytes"; STANDS_FOR: the event that it replaces, or NULL. */
int writer_counter(struct writer *writer, const char *name, const char *unit,
                   const char *stands_for, int64_t *id, struct diag *diag);
/* Of a VALUE of 0 no row is made. */
int writer_reading(struct writer *writer, int64_t start_ns, int64_t end_ns,
                   int64_t thread_id, int64_t counter_id, uint64_t value,
                   struct diag *diag);

struct allocation_row {
        int64_t process_id;
        int64_t thread_id; /* 0: unknown */
        const char *function;
        uint64_t addr;
        uint64_t size_bytes;
        int64_t stack_id; /* 0: none */
        int64_t start_ns;
};
int writer_allocation(struct writer *writer, const struct allocation_row *row,
                      int64_t *id, struct diag *diag);
int writer_allocation_end(struct writer *writer, int64_t allocation_id, int64_t end_ns,
                          struct diag *diag);
/* FUNCTION must live until writer_flush. */
int writer_allocation_total(struct writer *writer, int64_t stack_id, const char *function,
                            uint64_t allocations, uint64_t total_bytes,
                            uint64_t peak_bytes, struct diag *diag);

#endif
