/* SPDX-License-Identifier: MIT */
/* The record decoder: records made by hand from the kernel's definitions, every way of
 * cutting them short, and perf's own recordings of real machines, whose counts another
 * reader gave (../shared/perfdata/INDEX.md, or below $MEMLAG_SHARED). */
#include <linux/perf_event.h>

#include "datasrc.h"
#include "record.h"
#include "unit_test.h"

/* ---- records by hand ---- */

struct maker {
        uint64_t values[8192];
        size_t count;
};

static void put(struct maker *maker, uint64_t value)
{
        maker->values[maker->count++] = value;
}

static void put_pair(struct maker *maker, uint32_t low, uint32_t high)
{
        put(maker, (uint64_t)high << 32 | low);
}

static void put_text(struct maker *maker, const char *text)
{
        size_t values = strlen(text) / 8 + 1;
        memset(maker->values + maker->count, 0, values * 8);
        memcpy(maker->values + maker->count, text, strlen(text));
        maker->count += values;
}

static void begin(struct maker *maker)
{
        maker->count = 1;
}

static size_t finish(struct maker *maker, uint32_t type, uint16_t misc)
{
        size_t size = maker->count * 8;
        struct perf_event_header header = {
            .type = type, .misc = misc, .size = (uint16_t)size};
        memcpy(maker->values, &header, sizeof(header));
        return size;
}

static const struct record_layout memory_layout = {
    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                   PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
                   PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
                   PERF_SAMPLE_PHYS_ADDR,
    .sample_id_all = true,
};

static void put_trailer(struct maker *maker)
{
        put_pair(maker, 10, 11);
        put(maker, 777);
        put_pair(maker, 3, 0);
        put(maker, 42);
}

static void check_trailer(const struct record *record)
{
        assert_int_equal(record->id.pid, 10);
        assert_int_equal(record->id.tid, 11);
        assert_int_equal(record->id.time, 777);
        assert_int_equal(record->id.cpu, 3);
        assert_int_equal(record->id.id, 42);
}

/* Nothing shorter than the record decodes, and no byte beyond is read: each try has a
 * buffer of its own, which a sanitizer guards. */
static void check_cuts(const struct record_layout *layout, const struct maker *maker,
                       size_t size)
{
        for (size_t cut = 0; cut < size; cut++) {
                uint8_t *copy = malloc(cut ? cut : 1);
                assert_non_null(copy);
                memcpy(copy, maker->values, cut);
                if (cut >= sizeof(struct perf_event_header)) {
                        uint16_t claimed = (uint16_t)cut;
                        memcpy(copy + 6, &claimed, sizeof(claimed));
                }
                struct record record;
                assert_int_equal(record_decode(layout, copy, cut, &record), -EBADMSG);
                free(copy);
        }
}

static struct record decode(const struct record_layout *layout, const struct maker *maker,
                            size_t size)
{
        struct record record;
        assert_int_equal(record_decode(layout, maker->values, size, &record), 0);
        return record;
}

TEST(memory_sample)
{
        struct maker maker;
        begin(&maker);
        put(&maker, 42);
        put(&maker, 0x401000);
        put_pair(&maker, 10, 11);
        put(&maker, 123456789);
        put(&maker, 0x7fff0010);
        put_pair(&maker, 3, 0);
        put(&maker, 1009);
        put(&maker, 5 | UINT64_C(33) << 32);
        put(&maker, UINT64_C(0x10268100142));
        put(&maker, 0x1234000);
        size_t size = finish(&maker, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
        struct record record = decode(&memory_layout, &maker, size);
        assert_int_equal(record.kind, RECORD_SAMPLE);
        assert_int_equal(record.misc, PERF_RECORD_MISC_USER);
        assert_int_equal(record.id.id, 42);
        assert_int_equal(record.id.pid, 10);
        assert_int_equal(record.id.tid, 11);
        assert_int_equal(record.id.time, 123456789);
        assert_int_equal(record.id.cpu, 3);
        assert_int_equal(record.sample.ip, 0x401000);
        assert_int_equal(record.sample.addr, 0x7fff0010);
        assert_int_equal(record.sample.period, 1009);
        assert_true(record.sample.weight == (5 | UINT64_C(33) << 32));
        assert_true(record.sample.data_src == UINT64_C(0x10268100142));
        assert_int_equal(record.sample.phys_addr, 0x1234000);
        check_cuts(&memory_layout, &maker, size);
        put(&maker, 0); /* more than the layout asks for */
        size = finish(&maker, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
        assert_int_equal(record_decode(&memory_layout, maker.values, size, &record),
                         -EBADMSG);
}

static const struct record_layout everything = {
    .sample_type =
        PERF_SAMPLE_IP | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_READ |
        PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
        PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT |
        PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_CGROUP |
        PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_AUX,
    .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
    .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
                   PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    .sample_regs_user = 1 << 0 | 1 << 7 | 1 << 16,
    .sample_regs_intr = 1 << 8,
};

static size_t make_everything(struct maker *maker)
{
        begin(maker);
        put(maker, 0x401000); /* ip, id, stream id */
        put(maker, 42);
        put(maker, 43);
        put(maker, 2); /* read: two values; times; value, id, lost of each */
        put(maker, 1000);
        put(maker, 500);
        for (uint64_t value = 71; value < 77; value++)
                put(maker, value);
        put(maker, 3); /* call chain */
        put(maker, (uint64_t)PERF_CONTEXT_USER);
        put(maker, 0x401000);
        put(maker, 0x402000);
        put(maker, 12 | (uint64_t)'r' << 32); /* raw: 12 bytes */
        put(maker, 0);
        put(maker, 1); /* branches, with the index */
        put(maker, 9);
        put(maker, 0xa);
        put(maker, 0xb);
        put(maker, 0xc);
        put(maker, PERF_SAMPLE_REGS_ABI_64); /* user registers 0, 7, 16 */
        put(maker, 100);
        put(maker, 107);
        put(maker, 116);
        put(maker, 16); /* user stack: 16 bytes of room, 8 copied */
        put(maker, 0x1111);
        put(maker, 0);
        put(maker, 8);
        put(maker, 99);                        /* weight */
        put(maker, 98);                        /* transaction */
        put(maker, PERF_SAMPLE_REGS_ABI_NONE); /* no registers of the interrupt */
        put(maker, 97);                        /* cgroup, page sizes */
        put(maker, 4096);
        put(maker, 2097152);
        put(maker, 8); /* aux */
        put(maker, 0x2222);
        return finish(maker, PERF_RECORD_SAMPLE, 0);
}

static void check_everything_else(const struct record_sample *sample)
{
        assert_int_equal(sample->callchain_count, 3);
        assert_int_equal(sample->callchain[2], 0x402000);
        assert_int_equal(sample->raw_bytes, 12);
        assert_int_equal(sample->raw[0], 'r');
        assert_int_equal(sample->branch_count, 1);
        assert_int_equal(sample->branches[1], 0xb);
        assert_int_equal(sample->user_stack_bytes, 8);
        assert_int_equal(sample->user_stack[1], 0x11);
        assert_int_equal(sample->weight, 99);
        assert_int_equal(sample->transaction, 98);
        assert_int_equal(sample->intr_regs.mask, 0);
        assert_int_equal(sample->cgroup, 97);
        assert_int_equal(sample->data_page_size, 4096);
        assert_int_equal(sample->code_page_size, 2097152);
        assert_int_equal(sample->aux_bytes, 8);
        assert_int_equal(sample->aux[0], 0x22);
}

TEST(sample_with_everything)
{
        struct maker maker;
        size_t size = make_everything(&maker);
        struct record record = decode(&everything, &maker, size);
        assert_int_equal(record.id.id, 42);
        assert_int_equal(record.id.stream_id, 43);
        const struct record_read *read = &record.sample.read;
        assert_int_equal(read->count, 2);
        assert_int_equal(read->time_enabled, 1000);
        assert_int_equal(read->time_running, 500);
        struct record_value second = record_read_value(read, 1);
        assert_int_equal(second.value, 74);
        assert_int_equal(second.id, 75);
        assert_int_equal(second.lost, 76);
        uint64_t value;
        assert_true(record_register(&record.sample.user_regs, 7, &value));
        assert_int_equal(value, 107);
        assert_true(record_register(&record.sample.user_regs, 16, &value));
        assert_int_equal(value, 116);
        assert_false(record_register(&record.sample.user_regs, 8, &value));
        assert_false(record_register(&record.sample.intr_regs, 8, &value));
        check_everything_else(&record.sample);
        check_cuts(&everything, &maker, size);
}

/* Every count and size in turn becomes one that no record can hold. */
TEST(absurd_counts)
{
        static const uint64_t absurd[] = {UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 24 + 2,
                                          UINT64_MAX - 6, 1u << 28};
        struct maker maker;
        size_t size = make_everything(&maker);
        const uint64_t original[] = {2, 3, 1, 16, 8}; /* of read, chain, branches, … */
        const size_t places[] = {4, 13, 19, 28, 38};
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
                assert_int_equal(maker.values[places[i]], original[i]);
                for (size_t k = 0; k < sizeof(absurd) / sizeof(absurd[0]); k++) {
                        struct record record;
                        maker.values[places[i]] = absurd[k];
                        assert_int_equal(
                            record_decode(&everything, maker.values, size, &record),
                            -EBADMSG);
                }
                maker.values[places[i]] = original[i];
        }
}

TEST(mappings)
{
        struct maker maker;
        begin(&maker);
        put_pair(&maker, 10, 11);
        put(&maker, 0x400000);
        put(&maker, 0x2000);
        put(&maker, 0x1000);
        put_pair(&maker, 8, 1);
        put(&maker, 654321);
        put(&maker, 5);
        put_pair(&maker, 5, 2);
        put_text(&maker, "/usr/bin/with a longer name");
        put_trailer(&maker);
        size_t size = finish(&maker, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
        struct record record = decode(&memory_layout, &maker, size);
        assert_int_equal(record.kind, RECORD_MMAP);
        assert_int_equal(record.mmap.addr, 0x400000);
        assert_int_equal(record.mmap.length_bytes, 0x2000);
        assert_int_equal(record.mmap.file_offset_bytes, 0x1000);
        assert_true(record.mmap.has_inode);
        assert_int_equal(record.mmap.device_major, 8);
        assert_int_equal(record.mmap.inode, 654321);
        assert_int_equal(record.mmap.protection, 5);
        assert_false(record.mmap.is_data);
        assert_string_equal(record.mmap.path, "/usr/bin/with a longer name");
        check_trailer(&record);
        check_cuts(&memory_layout, &maker, size);
}

TEST(mapping_with_build_id)
{
        struct maker maker;
        begin(&maker);
        put_pair(&maker, 10, 10);
        put(&maker, 0x400000);
        put(&maker, 0x2000);
        put(&maker, 0);
        uint8_t identity[24] = {20, 0, 0, 0, 0xab, 0xcd, [23] = 0xef};
        memcpy(maker.values + maker.count, identity, sizeof(identity));
        maker.count += 3;
        put_pair(&maker, 5, 2);
        put_text(&maker, "/bin/a");
        put_trailer(&maker);
        size_t size = finish(&maker, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
        struct record record = decode(&memory_layout, &maker, size);
        assert_false(record.mmap.has_inode);
        assert_int_equal(record.mmap.build_id_bytes, 20);
        assert_memory_equal(record.mmap.build_id, identity + 4, 20);

        ((uint8_t *)(maker.values + 5))[0] = 21; /* longer than its field */
        assert_int_equal(record_decode(&memory_layout, maker.values, size, &record),
                         -EBADMSG);
}

TEST(old_mapping_of_data)
{
        const struct record_layout plain = {.sample_type = PERF_SAMPLE_IP};
        struct maker maker;
        begin(&maker);
        put_pair(&maker, 10, 11);
        put(&maker, 0x400000);
        put(&maker, 0x2000);
        put(&maker, 0);
        put_text(&maker, "//anon");
        size_t size = finish(&maker, PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_DATA);
        struct record record = decode(&plain, &maker, size);
        assert_int_equal(record.kind, RECORD_MMAP);
        assert_false(record.mmap.has_protection);
        assert_true(record.mmap.is_data);
        assert_int_equal(record.id.present, 0);
        memset(maker.values + 5, 'x', 8); /* a name without an end */
        assert_int_equal(record_decode(&plain, maker.values, size, &record), -EBADMSG);
}

TEST(tasks)
{
        static const struct {
                uint32_t type;
                enum record_kind kind;
        } cases[] = {{PERF_RECORD_FORK, RECORD_FORK}, {PERF_RECORD_EXIT, RECORD_EXIT}};
        for (size_t i = 0; i < 2; i++) {
                struct maker maker;
                begin(&maker);
                put_pair(&maker, 20, 10);
                put_pair(&maker, 21, 11);
                put(&maker, 555);
                put_trailer(&maker);
                size_t size = finish(&maker, cases[i].type, 0);
                struct record record = decode(&memory_layout, &maker, size);
                assert_int_equal(record.kind, cases[i].kind);
                assert_int_equal(record.task.pid, 20);
                assert_int_equal(record.task.parent_pid, 10);
                assert_int_equal(record.task.tid, 21);
                assert_int_equal(record.task.parent_tid, 11);
                assert_int_equal(record.task.time, 555);
                check_trailer(&record);
                check_cuts(&memory_layout, &maker, size);
        }
}

TEST(names_losses_and_throttling)
{
        struct maker maker;
        begin(&maker);
        put_pair(&maker, 10, 11);
        put_text(&maker, "worker");
        put_trailer(&maker);
        size_t size = finish(&maker, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
        struct record record = decode(&memory_layout, &maker, size);
        assert_int_equal(record.kind, RECORD_COMM);
        assert_true(record.comm.exec);
        assert_string_equal(record.comm.name, "worker");
        check_cuts(&memory_layout, &maker, size);

        begin(&maker);
        put(&maker, 42);
        put(&maker, 1000);
        put_trailer(&maker);
        record = decode(&memory_layout, &maker, finish(&maker, PERF_RECORD_LOST, 0));
        assert_int_equal(record.kind, RECORD_LOST);
        assert_int_equal(record.lost.id, 42);
        assert_int_equal(record.lost.count, 1000);

        begin(&maker);
        put(&maker, 2000);
        put_trailer(&maker);
        record =
            decode(&memory_layout, &maker, finish(&maker, PERF_RECORD_LOST_SAMPLES, 0));
        assert_int_equal(record.kind, RECORD_LOST_SAMPLES);
        assert_int_equal(record.lost.count, 2000);

        begin(&maker);
        put(&maker, 777);
        put(&maker, 42);
        put(&maker, 43);
        put_trailer(&maker);
        record = decode(&memory_layout, &maker, finish(&maker, PERF_RECORD_THROTTLE, 0));
        assert_int_equal(record.kind, RECORD_THROTTLE);
        assert_int_equal(record.throttle.time, 777);
        record =
            decode(&memory_layout, &maker, finish(&maker, PERF_RECORD_UNTHROTTLE, 0));
        assert_int_equal(record.kind, RECORD_UNTHROTTLE);
}

TEST(types_not_decoded)
{
        struct maker maker;
        begin(&maker);
        put(&maker, 1);
        put(&maker, 2);
        put(&maker, 3);
        put_trailer(&maker);
        struct record record =
            decode(&memory_layout, &maker, finish(&maker, PERF_RECORD_AUX, 0));
        assert_int_equal(record.kind, RECORD_OTHER);
        check_trailer(&record);
        static const uint32_t unknown[] = {0, 22, 64, UINT32_MAX};
        for (size_t i = 0; i < 4; i++) {
                record = decode(&memory_layout, &maker, finish(&maker, unknown[i], 0));
                assert_int_equal(record.kind, RECORD_UNKNOWN);
                assert_int_equal(record.type, unknown[i]);
        }
}

TEST(layouts)
{
        struct record_layout layout;
        struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                      PERF_SAMPLE_REGS_USER,
                                       .sample_regs_user = 0xff,
                                       .sample_id_all = 1};
        assert_int_equal(record_layout(&attr, &layout), 0);
        assert_true(layout.sample_type == attr.sample_type && layout.sample_id_all);
        assert_int_equal(layout.sample_regs_user, 0xff);
        attr.sample_type = PERF_SAMPLE_STACK_USER; /* of size 0 */
        assert_int_equal(record_layout(&attr, &layout), -ENOTSUP);
        attr.sample_stack_user = 8192;
        assert_int_equal(record_layout(&attr, &layout), 0);
        attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
        assert_int_equal(record_layout(&attr, &layout), -ENOTSUP);
        attr.sample_type = UINT64_C(1) << 25;
        assert_int_equal(record_layout(&attr, &layout), -ENOTSUP);
}

/* ---- recordings of real machines ---- */

struct recording {
        const char *name;
        int samples; /* by perf script, where it reads the file, else by another reader */
};

struct tally {
        int kinds[RECORD_UNKNOWN + 1];
        int unlocked_loads;
        int weights_in_range;
};

static uint8_t *read_file(const char *name, size_t *size)
{
        const char *shared = getenv("MEMLAG_SHARED");
        char path[4096];
        snprintf(path, sizeof(path), "%s/perfdata/%s",
                 shared ? shared : MEMLAG_SHARED_DEFAULT, name);
        FILE *file = fopen(path, "rb");
        if (!file) {
                print_message(
                    "SKIPPED: no recordings of real machines: %s is not there\n", path);
                skip();
        }
        fseek(file, 0, SEEK_END);
        *size = (size_t)ftell(file);
        rewind(file);
        uint8_t *bytes = malloc(*size);
        assert_non_null(bytes);
        assert_int_equal(fread(bytes, 1, *size, file), *size);
        fclose(file);
        return bytes;
}

static void count_record(struct tally *tally, const struct record *record)
{
        tally->kinds[record->kind]++;
        struct data_source_row row;
        if (record->kind != RECORD_SAMPLE ||
            !datasrc_decode(record->sample.data_src, &row))
                return;
        struct datasrc_weight weight =
            datasrc_weight(PERF_SAMPLE_WEIGHT_STRUCT, record->sample.weight);
        tally->weights_in_range +=
            weight.latency_cycles >= 70 && weight.latency_cycles <= 249;
        tally->unlocked_loads += strcmp(row.op, "load") == 0 && !row.locked;
}

/* The parts of a perf.data file that records are read with: where the first event's
 * attributes and the records are. */
static void decode_recording(const char *name, struct tally *tally)
{
        size_t size;
        uint8_t *bytes = read_file(name, &size);
        uint64_t header[8]; /* magic, sizes, attributes' and data's offset and size */
        memcpy(header, bytes, sizeof(header));
        assert_memory_equal(bytes, "PERFILE2", 8);
        struct perf_event_attr attr = {0};
        size_t attr_size = header[2] - 16 < sizeof(attr) ? header[2] - 16 : sizeof(attr);
        memcpy(&attr, bytes + header[3], attr_size);
        struct record_layout layout;
        assert_int_equal(record_layout(&attr, &layout), 0);
        memset(tally, 0, sizeof(*tally));
        const uint32_t auxtrace = 71; /* perf's own: more bytes follow the record */
        size_t length;
        for (uint64_t at = header[5]; at < header[5] + header[6]; at += length) {
                struct record record;
                length = record_size(bytes + at, size - at);
                assert_true(length > 0 && length <= size - at);
                uint64_t copy[8192];
                memcpy(copy, bytes + at, length);
                if (record_decode(&layout, copy, length, &record) < 0)
                        fail_msg("%s: damaged record at %llu", name,
                                 (unsigned long long)at);
                uint64_t time;
                if (record.id.present & PERF_SAMPLE_TIME)
                        assert_true(record_time(&layout, copy, length, &time) &&
                                    time == record.id.time);
                count_record(tally, &record);
                if (record.type == auxtrace)
                        length += copy[1];
        }
        free(bytes);
}

TEST(samples_of_real_recordings)
{
        static const struct recording recordings[] = {
            {"quipper/perf.data.branch-4.14", 13},
            {"quipper/perf.data.callgraph-3.8", 1768},
            {"quipper/perf.data.ctx_switch_namespaces-4.14", 2},
            {"quipper/perf.data.group_desc-4.14", 13},
            {"quipper/perf.data.hw_and_sw-3.4", 4941},
            {"quipper/perf.data.intel_pt-4.14", 15},
            {"quipper/perf.data.raw-3.4", 441},
            {"quipper/perf.data.remmap-3.2", 198},
            {"quipper/perf.data.singleprocess-3.8", 13},
            {"quipper/perf.data.armv7.perf_3.14-3.8", 700},
            {"linux-perf-data/sleep.data", 7},
        };
        for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
                struct tally tally;
                decode_recording(recordings[i].name, &tally);
                if (tally.kinds[RECORD_SAMPLE] != recordings[i].samples)
                        fail_msg("%s: %d samples, not %d", recordings[i].name,
                                 tally.kinds[RECORD_SAMPLE], recordings[i].samples);
        }
}

TEST(loads_of_a_real_skylake)
{
        struct tally tally;
        decode_recording("mem/skx-8173m-ldlat64-weight_struct.perf.data", &tally);
        assert_int_equal(tally.kinds[RECORD_SAMPLE], 14);
        assert_int_equal(tally.kinds[RECORD_MMAP], 15 + 6930);
        assert_int_equal(tally.kinds[RECORD_COMM], 2959);
        assert_int_equal(tally.kinds[RECORD_FORK], 2955);
        assert_int_equal(tally.kinds[RECORD_EXIT], 59);
        assert_int_equal(tally.weights_in_range, 14);
        assert_int_equal(tally.unlocked_loads, 12); /* two of them are locked */
}
