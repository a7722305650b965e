/* SPDX-License-Identifier: MIT */
/* Fuzz target: the import of a recording from its first byte to its rows and its facts
 * about the run. The input is a whole recording, as a file. The rows go to row_writer.h,
 * and the facts into a database that has no rows. */

#include "fuzz_target.h"
#include "import_facts.h"
#include "import_records.h"
#include "input_file.h"
#include "perf_data.h"
#include "row_writer.h"
#include "sink.h"

/* ---- the database ---- */

static const char *const DB_NAME = "fuzz_import-facts.db";

static struct db *facts_db;

static void remove_facts_db(void)
{
        struct diag diag;
        db_close(facts_db);
        facts_db = NULL;
        db_remove(DB_NAME, &diag);
}

/* One for all inputs, which set the same keys. It need not survive a crash. */
static struct db *open_facts_db(void)
{
        struct diag diag;
        if (facts_db)
                return facts_db;
        if (db_create(DB_NAME, true, &facts_db, &diag) < 0 || atexit(remove_facts_db) ||
            db_exec(facts_db,
                    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; "
                    "PRAGMA synchronous = OFF",
                    &diag) < 0)
                abort();
        return facts_db;
}

/* ---- the import ---- */

static void import_from(struct perf_data *data)
{
        const uint64_t interval_ns = 10000000;
        struct writer writer = {0};
        struct sink *sink;
        struct import_records records;
        struct diag diag;
        if (sink_open(&writer, &sink, &diag) < 0)
                abort();
        sink_set_imported(sink);
        /* The files that a recording names do not exist there. */
        if (import_records_open(&records, data, sink, "/nonexistent", interval_ns,
                                &diag) < 0)
                abort();
        import_records_take(&records, &diag); /* up to the damage, if there is any */
        if (import_records_flush(&records, &diag) < 0)
                abort();
        if (import_facts_machine(data, &writer, &diag) < 0 ||
            import_facts(data, open_facts_db(),
                         records.has_base ? &records.base_time : NULL, &diag) < 0)
                abort();
        import_records_close(&records);
        sink_close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
        struct perf_data *data;
        struct diag diag;
        struct input_file file = input_file(bytes, size);
        if (perf_data_open(file.fd, &data, &diag) == 0) {
                import_from(data);
                perf_data_close(data);
        }
        close(file.fd);
        return 0;
}
