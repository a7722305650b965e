/* SPDX-License-Identifier: MIT */
/* The sample database: opening it, and the writer of raw rows. The only thing
 * that the three stages share. It knows SQLite and the schema, and nothing of
 * where samples come from or what they mean. */
#ifndef MEMLAG_DB_H
#define MEMLAG_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

struct sqlite3;
struct db;

enum db_access { DB_READ_ONLY, DB_READ_WRITE };

/* Creates the database file PATH with the current schema and opens it for
 * writing. -EEXIST when it exists and REPLACE is false; a file that is not a
 * memlag database is never replaced (-EINVAL), nor one that another process is
 * writing (-EBUSY). */
int db_create(const char *path, bool replace, struct db **db, struct diag *diag);

/* Creates a database without a name, on the disk where it is large, which is gone when it
 * is closed. */
int db_create_unnamed(struct db **db, struct diag *diag);

/* Whether db_create would make PATH now: 0 or its error. */
int db_may_create(const char *path, bool replace, struct diag *diag);

/* Whether the file at PATH says of itself that it is what is left of an import that was
 * killed. One that says nothing, or is of a recording, may be anybody's. */
bool db_is_import_remainder(const char *path);

/* Whether db_create would replace what is at PATH, or make a file where nothing is: 0,
 * -EINVAL or -EBUSY. */
int db_may_replace(const char *path, struct diag *diag);

/* What is appended to a database's path for the files that SQLite makes beside it, and
 * nothing for its own, the last. */
enum { DB_FILES = 4 };
extern const char *const db_file_suffixes[DB_FILES];

/* Removes the closed database at PATH with what SQLite left beside it. */
int db_remove(const char *path, struct diag *diag);

/* Whether the database that db_create made still has its name. */
bool db_is_in_place(const struct db *db);

/* Puts the closed database FROM in the place of TO, which db_may_replace. There is one of
 * the two at TO at any time. */
int db_move(const char *from, const char *to, struct diag *diag);

/* Opens an existing database; migrates an older one when ACCESS permits, else refuses
 * it (-ESTALE), as it does a newer one (-EPROTO), a foreign file (-EINVAL) or a damaged
 * one
 * (-EBADMSG), which is looked for in all but the samples before anything is written.
 * Reading needs no right to write, also after a killed writer. */
int db_open(const char *path, enum db_access access, struct db **db, struct diag *diag);

/* Opens a reader of the file that DB is connected to, for another thread. It sees what is
 * committed: while DB has a transaction that writes, nobody else adds to that. */
int db_open_beside(const struct db *db, struct db **reader);

/* Whether each view of DB that memlag makes, SQL or the schema says how, is made so. */
int db_views_are_ours(struct db *db, const char *sql, bool *are, struct diag *diag);

/* Lets SQLite keep more of DB in memory, for queries that anybody may write. */
int db_keep_more(struct db *db, struct diag *diag);

/* Closes DB (NULL is allowed); everything committed stays, and what was written is
 * one plain file again. */
void db_close(struct db *db);

/* The SQLite connection, for the statements of a stage; owned by DB. */
struct sqlite3 *db_sqlite(struct db *db);

/* Describes the connection's latest error, met while trying to ACTION ("write"), with
 * what to do about it, and gives the negative errno value that stands for it. */
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

/* Sets what STAGE found missing; zero removes the row. */
int db_ledger_set(struct db *db, const char *stage, const char *kind, int64_t value,
                  const char *unit, struct diag *diag);

/* Takes away what analysis found, for it to be made again, and its part of the ledger. */
int db_clear_findings(struct db *db, struct diag *diag);

/* Gives the module PATH the build-id that was told of after its row was made; a row that
 * has one keeps it. */
int db_module_build_id(struct db *db, const char *path, const uint8_t *build_id,
                       size_t length, struct diag *diag);

/* ---- the writer of raw rows ---- */

/* Rows are collected into transactions; writer_flush commits at once, and the
 * writer commits by itself at least every second of wall time and every 100 000
 * rows, so that a profiler that is killed loses no more than that. It looks at the
 * clock when a row is written: whoever has no rows for a while calls writer_flush.
 * Each function that makes a row stores its key in *ID. Text is copied.
 *
 * A row that breaks a constraint is refused alone (-EINVAL). After any other error,
 * such as a full disk (-ENOSPC), the open transaction is lost and every later call
 * gives the same error; what was committed before stays, and the message says how
 * many samples that is. */
struct writer;

/* DB must hold no recording yet (-EEXIST). */
int writer_open(struct db *db, struct writer **writer, struct diag *diag);
int writer_flush(struct writer *writer, struct diag *diag);
/* Commits what is left and frees the writer, also on error. */
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

/* The module row of PATH with this build-id (LENGTH 0: none known), made when new. */
int writer_module(struct writer *writer, const char *path, const uint8_t *build_id,
                  size_t length, int64_t *id, struct diag *diag);

/* A new module row of the file PATH, which has no build-id. */
int writer_new_module(struct writer *writer, const char *path, int64_t *id,
                      struct diag *diag);

/* What tells the file of such a module from what it is later: its size, when it was
 * changed last (nanoseconds since 1970) and its CRC-32. At most once for each. */
struct module_file_row {
        uint64_t size_bytes;
        int64_t modified_ns;
        uint32_t checksum;
        bool changed; /* so that it has no checksum: no file is the same */
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
        const char *protection;     /* "rwx" with '-' for what is denied */
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

/* What refers to a calling context: a sample, an allocation, or an allocation of a source
 * that names each context once. */
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
        int64_t other_stack_id;   /* whose leaf's frame, another thread's, it lies in; 0:
                                     none */
        int64_t cfa_offset_bytes; /* in either */
        uint64_t phys_addr;       /* of addr; 0: unknown */
        int64_t page_bytes;       /* 0: unknown */
        int64_t few_sets;         /* of L1, that it missed with others; 0: of many */
        int64_t faults;           /* page faults that it stands for; 0: it is none */
        int64_t kernel_cycles;    /* of all these */
        int64_t fault_page_bytes;
};
int writer_sample(struct writer *writer, const struct sample_row *row, struct diag *diag);
int writer_thread_pointer(struct writer *writer, int64_t thread_id, uint64_t address,
                          struct diag *diag);

/* The id of a counter by name, made when new. UNIT: "cycles", "events" or "bytes";
 * STANDS_FOR: the event in whose place it counts, or NULL. */
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
