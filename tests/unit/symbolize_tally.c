/* SPDX-License-Identifier: MIT */
/* Samples counted by kinds, in recordings of known numbers of them. */
#include "db_test.h"

#include <inttypes.h>

#include "sample_tally.h"
#include "symbolize.h"

enum {
        SAMPLES = 20000,
        ADDRESSES = 70,
        CHANGE_NS = 12345,
        FIRST_IP = 0x1000,
        SPREAD = 300000, /* samples of which each is of a kind of its own */
        PLACES = 40000,  /* that a large program's samples are at, one after the other */
};

/* ---- a recording: sample number i at time i, in thread i % 2, and at address i % 70
 * ---- */

static struct {
        struct db *db;
        struct writer *writer;
        int64_t processes[2];
        int64_t threads[2];
} recording;

/* Of two files that are mapped at the same addresses one after the other. */
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

static void record_sample(int64_t i, int64_t time_ns, bool has_addr)
{
        struct sample_row row = {.time_ns = time_ns,
                                 .thread_id = recording.threads[i % 2],
                                 .cpu = -1,
                                 .ip = (uint64_t)(FIRST_IP + i % ADDRESSES),
                                 .has_addr = has_addr,
                                 .addr = 8,
                                 .latency_cycles = -1};

        assert_ok(writer_sample(recording.writer, &row, NULL, NULL));
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

static void begin(void)
{
        begin_changing(CHANGE_NS);
}

/* ---- asking for the kinds ---- */

struct heard {
        uint64_t many[2][ADDRESSES]
                     [2]; /* by process, address and before the change or not */
        uint64_t first_id[2][ADDRESSES][2];
        int64_t before_id;
        size_t kinds;
};

static void hear(struct heard *heard, const struct tally_kind *kind)
{
        const struct raw_sample *first = &kind->first;
        uint64_t address = first->ip - FIRST_IP;
        bool later = first->time_ns >= CHANGE_NS;

        assert_true(first->process < 2 && address < ADDRESSES);
        assert_true(first->sample_id > heard->before_id);
        heard->before_id = first->sample_id;
        heard->many[first->process][address][later] += kind->many;
        if (!heard->first_id[first->process][address][later])
                heard->first_id[first->process][address][later] =
                    (uint64_t)first->sample_id;
}

/* Ends the recording and tallies its samples from FIRST on. HEARD may be NULL. */
static bool tally(int64_t first, struct heard *heard)
{
        struct raw raw = {0};
        struct samples samples;
        struct sample_range range;
        struct tally tally;

        assert_ok(writer_close(recording.writer, NULL));
        assert_ok(raw_read(&raw, recording.db, NULL));
        assert_ok(samples_open(&samples, recording.db, &raw, NULL));
        assert_ok(samples_all(&samples, &range, NULL));
        range.first = first;
        struct tally_epochs *epochs = tally_epochs_new(samples.raw);

        assert_non_null(epochs);
        bool done = tally_samples(&tally, epochs, &samples, &range, NULL, NULL) == 0;

        tally_epochs_free(epochs);

        assert_true(done || tally.count == 0);
        if (heard)
                *heard = (struct heard){.kinds = tally.count};
        for (size_t i = 0; heard && i < tally.count; i++)
                hear(heard, tally.kinds[i]);
        tally_free(&tally);
        raw_free(&raw);
        db_close(recording.db);
        return done;
}

/* ---- what is expected ---- */

TEST(test_counts)
{
        struct heard heard, expected = {0};
        const int64_t first_id = 501;

        begin();
        for (int64_t i = 0; i < SAMPLES; i++) {
                record_sample(i, i, false);
                if (i + 1 < first_id)
                        continue;
                uint64_t *first =
                    &expected.first_id[i % 2][i % ADDRESSES][i >= CHANGE_NS];

                expected.many[i % 2][i % ADDRESSES][i >= CHANGE_NS]++;
                if (!*first)
                        *first = (uint64_t)(i + 1);
        }
        assert_true(tally(first_id, &heard));
        assert_memory_equal(heard.many, expected.many, sizeof(heard.many));
        assert_memory_equal(heard.first_id, expected.first_id, sizeof(heard.first_id));
}

/* At each sample a mapping of KIND comes and goes. */
static void record_busy(int64_t process, enum mapping_kind kind)
{
        for (int64_t i = 0; i < SAMPLES; i++) {
                struct mapping_row row = {.process_id = process,
                                          .kind = kind,
                                          .start_addr = FIRST_IP,
                                          .length_bytes = 4096,
                                          .protection = "rwx",
                                          .start_ns = i};
                int64_t mapping;

                assert_ok(writer_mapping(recording.writer, &row, &mapping, NULL));
                assert_ok(writer_mapping_end(recording.writer, mapping, i, NULL));
                record_sample(i, i, false);
        }
}

/* Each thread has no more kinds than there are addresses before and after the change. */
static void assert_few_kinds(const struct heard *heard)
{
        assert_in_range(heard->kinds, 2 * ADDRESSES, 2 * ADDRESSES * PARALLEL_WORKERS);
}

TEST(test_mappings_of_another_process)
{
        struct heard heard;
        int64_t process;

        begin();
        assert_ok(writer_process(recording.writer, 102, 0, "other", 0, &process, NULL));
        record_busy(process, MAPPING_ANON);
        assert_true(tally(1, &heard));
        assert_few_kinds(&heard);
}

/* As where many threads come and go: no code is looked for in stacks. */
TEST(test_stacks)
{
        struct heard heard;

        begin();
        record_busy(recording.processes[0], MAPPING_STACK);
        assert_true(tally(1, &heard));
        assert_few_kinds(&heard);
}

/* COUNT samples of the first thread, one at each of PLACE_COUNT addresses in turns. */
static void record_in_turns(int64_t count, int64_t place_count)
{
        begin();
        for (int64_t i = 0; i < count; i++) {
                struct sample_row row = {.time_ns = i,
                                         .thread_id = recording.threads[0],
                                         .cpu = -1,
                                         .ip = (uint64_t)(FIRST_IP + i % place_count),
                                         .latency_cycles = -1};

                assert_ok(writer_sample(recording.writer, &row, NULL, NULL));
        }
}

TEST(test_too_many_kinds)
{
        record_in_turns(SPREAD, SPREAD);
        assert_false(tally(1, NULL));
}

/* At first each of them is another one, as of many addresses that all come often. */
TEST(test_many_places)
{
        record_in_turns(3 * PLACES, PLACES);
        assert_true(tally(1, NULL));
}

TEST(test_one_with_address)
{
        struct heard heard;

        begin();
        for (int64_t i = 0; i < SAMPLES; i++)
                record_sample(i, i, i == SAMPLES - 7);
        assert_false(tally(1, &heard));
}

/* The one out of order also lies where two threads' parts meet. */
TEST(test_out_of_order)
{
        for (int64_t late = 9374; late <= 9376; late++) {
                struct heard heard;

                enter_directory(state);
                begin();
                for (int64_t i = 0; i < SAMPLES; i++)
                        record_sample(i, i == late ? i - 2 : i, false);
                assert_false(tally(1, &heard));
                leave_directory(state);
        }
}

TEST(test_another_file_of_that_name)
{
        struct heard heard;

        begin();
        for (int64_t i = 0; i < SAMPLES; i++)
                record_sample(i, i, false);
        assert_ok(writer_flush(recording.writer, NULL));
        assert_ok(system("cp a.db other.db; mv other.db a.db"));
        assert_false(tally(1, &heard));
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

/* Places are those of the time of each sample: the rows are the ones after the change. */
TEST(test_places_of_their_time)
{
        begin();
        for (int64_t i = 0; i < SAMPLES; i++)
                record_sample(i, i, false);
        symbolize_recording();
        expect_int("SELECT count(*) FROM code_location", 2 * ADDRESSES);
        expect_int("SELECT count(*) FROM attribution", SAMPLES - CHANGE_NS);
        expect_int("SELECT min(sample_id) FROM attribution", CHANGE_NS + 1);
        expect_int("SELECT samples FROM resolution WHERE subject = 'function' AND "
                   "outcome = 'missing file'",
                   SAMPLES);
}

/* COUNT samples as record_sample's, by SQL; the one with the number LATE is earlier. */
static void record_late(int64_t count, int64_t late)
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

/* More samples than are counted at once, one of which is of a time before the change. */
TEST(test_out_of_order_behind_many)
{
        enum { MANY = 1100000, FIRST_COUNTED = 4096 + (1 << 20) };

        for (int64_t late = FIRST_COUNTED - 1; late <= FIRST_COUNTED + 1; late++) {
                enter_directory(state);
                begin_changing(late - 1);
                record_late(MANY, late);
                symbolize_recording();
                expect_int("SELECT count(*) FROM attribution", MANY - late);
                expect_int(
                    "SELECT sum(samples) FROM resolution WHERE subject = 'function'",
                    MANY);
                leave_directory(state);
        }
}
