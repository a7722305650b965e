/* SPDX-License-Identifier: MIT */
/* The reader of recordings, which are made by hand from perf's description of the format,
 * and cut short in every way. tests/integration/import.py reads real ones. */
#include <zstd.h>

#include "perf_data.h"
#include "record.h"
#include "unit_test.h"

/* ---- recordings by hand ---- */

struct maker {
        uint8_t bytes[1 << 21];
        size_t size;
};

static void put(struct maker *maker, const void *bytes, size_t size)
{
        memcpy(maker->bytes + maker->size, bytes, size);
        maker->size += size;
}

static void put_u64(struct maker *maker, uint64_t value)
{
        put(maker, &value, sizeof(value));
}

static void put_u32(struct maker *maker, uint32_t value)
{
        put(maker, &value, sizeof(value));
}

static void put_header(struct maker *maker, uint32_t type, size_t body_bytes)
{
        struct perf_event_header header = {.type = type,
                                           .size = (uint16_t)(8 + body_bytes)};
        put(maker, &header, sizeof(header));
}

/* A string as perf writes it into features: a length, then NULs to fill it. */
static void put_string(struct maker *maker, const char *text)
{
        char padded[64] = {0};
        strcpy(padded, text);
        put_u32(maker, sizeof(padded));
        put(maker, padded, sizeof(padded));
}

static void begin_pipe(struct maker *maker)
{
        maker->size = 0;
        put(maker, "PERFILE2", 8);
        put_u64(maker, 16);
}

/* The first ATTR_BYTES of an event's attributes, or more that are 0. */
static void put_attr(struct maker *maker, uint64_t sample_type, size_t attr_bytes)
{
        uint8_t bytes[512] = {0};
        const struct perf_event_attr attr = {
            .size = (uint32_t)attr_bytes, .sample_type = sample_type, .sample_id_all = 1};
        memcpy(bytes, &attr, attr_bytes < sizeof(attr) ? attr_bytes : sizeof(attr));
        put(maker, bytes, attr_bytes);
}

/* An event whose attributes take ATTR_BYTES and that has one id. */
static void put_event(struct maker *maker, uint64_t sample_type, size_t attr_bytes,
                      uint64_t id)
{
        put_header(maker, 64, attr_bytes + 8);
        put_attr(maker, sample_type, attr_bytes);
        put_u64(maker, id);
}

enum { SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME };

/* A pipe with one event, 7, of ATTR_BYTES. */
static void begin_pipe_of(struct maker *maker, size_t attr_bytes)
{
        begin_pipe(maker);
        put_event(maker, SAMPLE_TYPE, attr_bytes, 7);
}

static void put_sample(struct maker *maker, uint64_t id, uint64_t time)
{
        put_header(maker, PERF_RECORD_SAMPLE, 24);
        put_u64(maker, id);
        put_u64(maker, 0x1000 + time);
        put_u64(maker, time);
}

/* COUNT samples of one event in records of type TYPE (81 or 83), packed as one stream
 * that is cut into pieces of CUT bytes. */
static void put_compressed(struct maker *maker, uint32_t type, size_t count, size_t cut)
{
        static struct maker plain;
        static uint8_t packed[1 << 20];
        plain.size = 0;
        for (size_t i = 0; i < count; i++)
                put_sample(&plain, 7, i);
        size_t size = ZSTD_compress(packed, sizeof(packed), plain.bytes, plain.size, 3);
        assert_false(ZSTD_isError(size));
        for (size_t at = 0; at < size; at += cut) {
                size_t step = size - at < cut ? size - at : cut;
                size_t padded = type == 83 ? (step + 7) / 8 * 8 : step;
                put_header(maker, type, padded + (type == 83 ? 8 : 0));
                if (type == 83)
                        put_u64(maker, step);
                put(maker, packed + at, step);
                put(maker, (uint8_t[8]){0}, padded - step);
        }
}

/* ---- reading them ---- */

struct reading {
        int rc;
        struct diag diag;
        int samples;
        int rounds;
        int damaged; /* refused by the record decoder */
        int unknown; /* of no known event */
        char names[256];
        char facts[4096];  /* "key=value;" each */
        char command[256]; /* "[word]" each */
        struct perf_data_counts counts;
};

static void count_item(const struct perf_data_item *item, struct reading *reading)
{
        struct record record = {.kind = RECORD_UNKNOWN};
        if (item->kind == PERF_DATA_ROUND) {
                reading->rounds++;
                return;
        }
        if (!item->event) {
                reading->unknown++;
                return;
        }
        const struct record_layout *layout = &item->event->layout;
        if (record_decode(layout, item->bytes, item->size, &record) < 0) {
                reading->damaged++;
                return;
        }
        uint64_t time;
        if (record.id.present & PERF_SAMPLE_TIME)
                assert_true(record_time(layout, item->bytes, item->size, &time) &&
                            time == record.id.time);
        reading->samples += record.kind == RECORD_SAMPLE;
}

static void append(char *text, size_t size, const char *format, ...)
{
        va_list arguments;
        size_t length = strlen(text);
        va_start(arguments, format);
        vsnprintf(text + length, size - length, format, arguments);
        va_end(arguments);
}

static void describe(const struct perf_data *data, struct reading *reading)
{
        const struct events *events = perf_data_events(data);
        const struct features *features = perf_data_features(data);
        for (size_t i = 0; i < events->count; i++)
                append(reading->names, sizeof(reading->names), "%s;",
                       events->items[i]->name ? events->items[i]->name : "-");
        for (size_t i = 0; i < features->fact_count; i++) {
                const struct fact *fact = &features->facts[i];
                if (fact->text)
                        append(reading->facts, sizeof(reading->facts), "%s=%s;",
                               fact->key, fact->text);
                else
                        append(reading->facts, sizeof(reading->facts), "%s=%lld;",
                               fact->key, (long long)fact->number);
        }
        for (char **word = features->command; word && *word; word++)
                append(reading->command, sizeof(reading->command), "[%s]", *word);
        reading->counts = *perf_data_counts(data);
}

static struct reading read_fd(int fd)
{
        struct reading reading = {0};
        struct perf_data *data;
        struct perf_data_item item;
        reading.rc = perf_data_open(fd, &data, &reading.diag);
        if (reading.rc < 0)
                return reading;
        if (perf_data_damage(data)) {
                reading.rc = -EBADMSG;
                snprintf(reading.diag.text, sizeof(reading.diag.text), "%s",
                         perf_data_damage(data));
        }
        int rc;
        while ((rc = perf_data_next(data, &item, &reading.diag)) == 0 &&
               item.kind != PERF_DATA_END)
                count_item(&item, &reading);
        if (rc < 0) {
                reading.rc = rc;
                assert_ok(perf_data_next(data, &item, &reading.diag));
                assert_int_equal(item.kind, PERF_DATA_END);
        }
        describe(data, &reading);
        perf_data_close(data);
        return reading;
}

static struct reading read_bytes(const void *bytes, size_t size)
{
        int fd = memfd_create("recording", MFD_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, bytes, size), (ssize_t)size);
        struct reading reading = read_fd(fd);
        close(fd);
        return reading;
}

/* The recording in MADE, which is whole and has SAMPLES. */
static struct reading read_made(const struct maker *maker, int samples)
{
        struct reading reading = read_bytes(maker->bytes, maker->size);
        assert_int_equal(reading.rc, 0);
        assert_int_equal(reading.samples, samples);
        return reading;
}

/* ---- the form of pipes ---- */

static struct maker made;

static void put_u32s(struct maker *maker, size_t count, const uint32_t *values)
{
        for (size_t i = 0; i < count; i++)
                put_u32(maker, values[i]);
}

/* The header of HEADER_FEATURE with the number, and BYTES behind it. */
static void put_feature(struct maker *maker, uint64_t number, size_t bytes)
{
        put_header(maker, 80, 8 + bytes);
        put_u64(maker, number);
}

/* COUNT, and the texts. */
#define put_texts(maker, count, ...)                                                     \
        do {                                                                             \
                static const char *const texts[] = {__VA_ARGS__};                        \
                put_u32(maker, count);                                                   \
                for (size_t i = 0; i < LENGTH(texts); i++)                               \
                        put_string(maker, texts[i]);                                     \
        } while (0)

/* Without sample_id_all, which old attributes have too, nothing changes. */
TEST(attributes_of_any_size)
{
        for (size_t attr_bytes = 64; attr_bytes <= 256; attr_bytes += 8) {
                begin_pipe_of(&made, attr_bytes);
                put_sample(&made, 7, 1);
                read_made(&made, 1);
        }
}

TEST(events_are_told_apart_by_id)
{
        begin_pipe_of(&made, sizeof(struct perf_event_attr));
        put_event(&made, SAMPLE_TYPE | PERF_SAMPLE_ADDR, 64, 8);
        put_sample(&made, 7, 1);
        put_header(&made, PERF_RECORD_SAMPLE, 32);
        for (uint64_t value = 0; value < 4; value++)
                put_u64(&made, value == 0 ? 8 : value);
        put_sample(&made, 9, 2); /* nobody's */
        struct reading reading = read_made(&made, 2);
        assert_int_equal(reading.damaged, 0);
        assert_int_equal(reading.unknown, 1);
}

TEST(names_and_features)
{
        begin_pipe_of(&made, sizeof(struct perf_event_attr));
        put_header(&made, 78, 16 + 16); /* EVENT_UPDATE, a name */
        put_u64(&made, 2);
        put_u64(&made, 7);
        put(&made, "mem-loads\0\0\0\0\0\0\0", 16);
        put_feature(&made, 8, 68); /* CPUDESC */
        put_string(&made, "A CPU @ 2 GHz");
        put_feature(&made, 11, 4 + 3 * 68); /* CMDLINE */
        put_texts(&made, 3, "perf", "it's", "");
        put_feature(&made, 12, 8 + 2 * (64 + 4 + 68)); /* EVENT_DESC */
        put_u32s(&made, 2, (const uint32_t[]){2, 64});
        for (int event = 0; event < 2; event++) { /* without a name; one too many */
                put_attr(&made, SAMPLE_TYPE, 64);
                put_u32(&made, 0);
                put_string(&made, event == 0 ? "" : "nobody's");
        }
        put_feature(&made, 13, 4 + 68 + 4 + 2 * 68); /* CPU_TOPOLOGY */
        put_texts(&made, 1, "0-3");
        put_texts(&made, 2, "0-1", "2-3");
        put_feature(&made, 14, 4 + 20 + 68); /* NUMA_TOPOLOGY */
        put_u32(&made, 1);
        put_u32(&made, 3);
        put_u64(&made, 4096);
        put_u64(&made, 0);
        put_string(&made, "0-7");
        put_feature(&made, 20, 8 + 16 + 3 * 68); /* CACHE */
        put_u32s(&made, 6, (const uint32_t[]){1, 1, 2, 64, 1024, 16});
        put_string(&made, "Unified");
        put_string(&made, "1024K");
        put_string(&made, "0");
        put_feature(&made, 28, 4 + 2 * 68); /* CPU_PMU_CAPS */
        put_texts(&made, 1, "max_precise", "3");
        put_feature(&made, 30, 4 + 2 * 68); /* HYBRID_TOPOLOGY */
        put_texts(&made, 1, "cpu_core", "0-15");
        struct reading reading = read_made(&made, 0);
        assert_string_equal(reading.names, "mem-loads;");
        assert_string_equal(reading.command, "[perf][it's][]");
        assert_string_equal(reading.facts,
                            "cpu=A CPU @ 2 GHz;"
                            "packages=1;cores=2;"
                            "numa_nodes=3: cpus 0-7, 4 MiB;l2_bytes=1048576;"
                            "line_bytes=64;cpu_pmu_caps=max_precise=3;"
                            "hybrid=cpu_core: cpus 0-15;");
}

TEST(rounds_and_unknown_types)
{
        begin_pipe_of(&made, sizeof(struct perf_event_attr));
        put_sample(&made, 7, 1);
        put_header(&made, 68, 0); /* FINISHED_ROUND */
        put_header(&made, 200, 16);
        put_u64(&made, 1);
        put_u64(&made, 2);
        put_header(&made, 71, 40); /* AUXTRACE: 24 bytes follow the record */
        put_u64(&made, 24);
        for (int i = 0; i < 4 + 3; i++)
                put_u64(&made, UINT64_MAX);
        put_sample(&made, 7, 2);
        struct reading reading = read_made(&made, 2);
        assert_int_equal(reading.rounds, 1);
        assert_int_equal(reading.counts.unknown_records, 1);
        assert_int_equal(reading.counts.aux_bytes, 24);
}

/* More than is read at a time. */
TEST(many_records)
{
        begin_pipe_of(&made, 72); /* records cross the ends of read blocks */
        for (uint64_t time = 0; time < 50000; time++)
                put_sample(&made, 7, time);
        read_made(&made, 50000);
}

TEST(compressed_records)
{
        static const size_t cuts[] = {1, 7, 64, 1000, 60000};
        for (uint32_t type = 81; type <= 83; type += 2) {
                for (size_t i = 0; i < LENGTH(cuts); i++) {
                        begin_pipe_of(&made, 64);
                        const int count = i == 0 ? 1500 : 30000;
                        put_compressed(&made, type, (size_t)count, cuts[i]);
                        put_sample(&made, 7, 1);
                        read_made(&made, count + 1);
                }
        }
}

TEST(damaged_compression)
{
        begin_pipe_of(&made, 64);
        size_t begin = made.size;
        put_compressed(&made, 81, 1000, 60000);
        memset(made.bytes + begin + 8, 0xff, 8);
        struct reading reading = read_bytes(made.bytes, made.size);
        assert_int_equal(reading.rc, -EBADMSG);
        const char *offset = text_of("offset %zu: ", begin);
        assert_memory_equal(reading.diag.text, offset, strlen(offset));
}

/* A pipe, in the sense of pipe(2), in place of a file. */
static struct reading read_through_pipe(const struct maker *maker, int samples)
{
        int ends[2];
        assert_ok(pipe(ends));
        assert_true(maker->size <= 65536);
        assert_int_equal(write(ends[1], maker->bytes, maker->size), maker->size);
        close(ends[1]);
        struct reading reading = read_fd(ends[0]);
        close(ends[0]);
        assert_int_equal(reading.rc, 0);
        assert_int_equal(reading.samples, samples);
        return reading;
}

TEST(pipe_form_through_a_pipe)
{
        begin_pipe_of(&made, 64);
        put_sample(&made, 7, 1);
        read_through_pipe(&made, 1);
}

/* ---- the form of files ---- */

/* One event with attributes of ATTR_BYTES, two samples, the host's name. */
static void make_file(struct maker *maker, size_t attr_bytes)
{
        enum { HEADER_BYTES = 104, IDS = 1 };
        const uint64_t attrs_at = HEADER_BYTES + 8 * IDS;
        const uint64_t data_at = attrs_at + attr_bytes + 16, data_bytes = 2 * 32;
        const uint64_t header[] = {HEADER_BYTES,
                                   attr_bytes + 16,
                                   attrs_at,
                                   attr_bytes + 16,
                                   data_at,
                                   data_bytes,
                                   0,
                                   0,
                                   1 << 3 /* HOSTNAME */,
                                   0,
                                   0,
                                   0,
                                   7 /* the id */};
        maker->size = 0;
        put(maker, "PERFILE2", 8);
        put(maker, header, sizeof(header));
        put_attr(maker, SAMPLE_TYPE, attr_bytes);
        put_u64(maker, HEADER_BYTES);
        put_u64(maker, 8 * IDS);
        put_sample(maker, 7, 1);
        put_sample(maker, 7, 2);
        put_u64(maker, data_at + data_bytes + 16);
        put_u64(maker, 4 + 64);
        put_string(maker, "host");
}

TEST(files_with_attributes_of_any_size)
{
        for (size_t attr_bytes = 64; attr_bytes <= 256; attr_bytes += 8) {
                make_file(&made, attr_bytes);
                assert_string_equal(read_made(&made, 2).facts, "hostname=host;");
                assert_string_equal(read_through_pipe(&made, 2).facts, "hostname=host;");
        }
}

TEST(unfinished_file)
{
        make_file(&made, 64);
        memset(made.bytes + 48, 0, 8);
        struct reading reading = read_bytes(made.bytes, made.size - 16 - 68);
        assert_int_equal(reading.rc, -EBADMSG);
        assert_non_null(strstr(reading.diag.text, "offset 48"));
        assert_int_equal(reading.samples, 2);
}

/* Cut anywhere but between two records of a pipe, a recording is damaged. */
TEST(cut_anywhere)
{
        make_file(&made, 64);
        const size_t data_at = 104 + 8 + 80;
        for (size_t size = 0; size < made.size; size++) {
                struct reading reading = read_bytes(made.bytes, size);
                assert_true(reading.rc == -EBADMSG || reading.rc == -EPROTO);
                assert_non_null(strstr(reading.diag.text, "offset"));
                size_t whole = size > data_at ? (size - data_at) / 32 : 0;
                assert_int_equal(reading.samples, whole < 2 ? whole : 2);
        }
        begin_pipe_of(&made, 64);
        const size_t first = made.size;
        put_sample(&made, 7, 1);
        put_sample(&made, 7, 2);
        for (size_t size = 0; size <= made.size; size++) {
                struct reading reading = read_bytes(made.bytes, size);
                bool whole = size == 16 || (size >= first && (size - first) % 32 == 0);
                assert_int_equal(reading.rc == 0, whole);
                assert_int_equal(reading.samples, size > first ? (size - first) / 32 : 0);
        }
}

static void refuse(const void *bytes, size_t size, const char *reason)
{
        struct reading reading = read_bytes(bytes, size);
        assert_true(reading.rc < 0);
        assert_non_null(strstr(reading.diag.text, "offset"));
        if (!strstr(reading.diag.text, reason))
                fail_msg("'%s' does not say '%s'", reading.diag.text, reason);
}

TEST(what_is_no_recording)
{
        static const char text[] = "This is a text of more than sixteen bytes.";
        static const char swapped[16] = "2ELIFREP\0\0\0\0\0\0\0\x68";
        refuse(text, sizeof(text), "PERFILE2");
        refuse(text, 0, "ends before");
        refuse(swapped, sizeof(swapped), "byte order");
        begin_pipe_of(&made, 64);
        put_header(&made, PERF_RECORD_SAMPLE, (size_t)-8); /* size 0: no way on */
        put_u64(&made, 0);
        refuse(made.bytes, made.size, "says that it has 0 bytes");
        make_file(&made, 64);
        memset(made.bytes + 16, 0, 8); /* the events' size */
        refuse(made.bytes, made.size, "an event takes 0 bytes");
        make_file(&made, 64);
        memset(made.bytes + 40, 0xff, 8); /* the records' offset */
        refuse(made.bytes, made.size, "cannot begin");
}
