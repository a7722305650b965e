/* SPDX-License-Identifier: MIT */
/* Places of samples by the mappings of their times. */
#include "db_test.h"

#include "symbolize.h"

enum {
        SAMPLES = 20000,
        ADDRESSES = 70,
        CHANGE_NS = 12345,
        FIRST_IP = 0x1000,
};

/* ---- a recording: sample number i at time i, in thread i % 2, and at address i % 70
 * ---- */

static struct {
        struct db *db;
        struct writer *writer;
        int64_t processes[2];
        int64_t threads[2];
} recording;

/* Maps two files at the same addresses, one after the other. */
static void record_mappings(int64_t process, int64_t change_ns)
{
        static const char *const paths[] = {"/no/first", "/no/second"};

        for (int i = 0; i < 2; i++) {
                struct mapping_row row = {.process_id = process,
                                          .kind = MAPPING_FILE,
                                          .start_addr = FIRST_IP,
                                          .length_bytes = 4096,
                                          .protection = "r-x",
                                          .start_ns = i == 0 ? 0 : change_ns};
                int64_t id;

                assert_ok(writer_module(recording.writer, paths[i], NULL, 0,
                                        &row.module_id, NULL));
                assert_ok(writer_mapping(recording.writer, &row, &id, NULL));
                if (i == 0)
                        assert_ok(writer_mapping_end(recording.writer, id, change_ns - 1,
                                                     NULL));
        }
}

static void begin_changing(int64_t change_ns)
{
        recording.db = create_db("a.db");
        recording.writer = open_writer(recording.db);
        for (int i = 0; i < 2; i++) {
                int64_t *process = &recording.processes[i];

                assert_ok(writer_process(recording.writer, 100 + i, 0, "test", 0, process,
                                         NULL));
                assert_ok(writer_thread(recording.writer, *process, 100 + i, "test", 0,
                                        &recording.threads[i], NULL));
                record_mappings(*process, change_ns);
        }
}

static void symbolize_recording(void)
{
        struct symbolize_options options = {0};
        struct diag diag = {0};

        assert_ok(writer_close(recording.writer, NULL));
        if (symbolize(recording.db, &options, &diag))
                fail_msg("%s", diag.text);
        db_close(recording.db);
}

/* COUNT samples; the one with the number LATE is earlier. */
static void record_samples(int64_t count, int64_t late)
{
        char sql[512];

        snprintf(sql, sizeof(sql),
                 "WITH RECURSIVE n(i) AS"
                 " (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < %" PRId64 ")"
                 " INSERT INTO sample (time_ns, thread_id, ip)"
                 " SELECT iif(i = %" PRId64 ", i - 2, i), iif(i %% 2, %" PRId64
                 ", %" PRId64 "), %d + i %% %d FROM n",
                 count - 1, late, recording.threads[1], recording.threads[0], FIRST_IP,
                 ADDRESSES);
        assert_ok(writer_flush(recording.writer, NULL));
        assert_ok(db_exec(recording.db, sql, NULL));
}

/* Each sample is located by its time's mappings: samples after the change have rows. */
TEST(test_places_of_their_time)
{
        begin_changing(CHANGE_NS);
        record_samples(SAMPLES, -1);
        symbolize_recording();
        expect_int("SELECT count(*) FROM code_location", 2 * ADDRESSES);
        expect_int("SELECT count(*) FROM attribution", SAMPLES - CHANGE_NS);
        expect_int("SELECT min(sample_id) FROM attribution", CHANGE_NS + 1);
        expect_int("SELECT samples FROM resolution WHERE subject = 'function' AND "
                   "outcome = 'missing file'",
                   SAMPLES);
}

/* One sample from before the change stands among the samples after it. */
TEST(test_out_of_order)
{
        enum { LATE = 15000 };

        begin_changing(LATE - 1);
        record_samples(SAMPLES, LATE);
        symbolize_recording();
        expect_int("SELECT count(*) FROM attribution", SAMPLES - LATE);
        expect_int("SELECT sum(samples) FROM resolution WHERE subject = 'function'",
                   SAMPLES);
}
