/* SPDX-License-Identifier: MIT */
/* The record decoder: records made by hand from the kernel's definitions, and every way
 * of cutting them short. perf_data.c reads recordings of real machines. */
#include <linux/perf_event.h>

#include "record.h"
#include "unit_test.h"

/* ---- records by hand ---- */

static struct {
        uint64_t values[8192];
        size_t count;
} maker;

static void put(uint64_t value)
{
        maker.values[maker.count++] = value;
}

static uint64_t pair(uint32_t low, uint32_t high)
{
        return (uint64_t)high << 32 | low;
}

static void put_all(const uint64_t *values, size_t count)
{
        for (size_t i = 0; i < count; i++)
                put(values[i]);
}

#define PUT(...)                                                                         \
        put_all((const uint64_t[]){__VA_ARGS__},                                         \
                LENGTH(((const uint64_t[]){__VA_ARGS__})))

static void put_text(const char *text)
{
        size_t values = strlen(text) / 8 + 1;
        memset(maker.values + maker.count, 0, values * 8);
        memcpy(maker.values + maker.count, text, strlen(text));
        maker.count += values;
}

static void begin(void)
{
        maker.count = 1;
}

static size_t finish(uint32_t type, uint16_t misc)
{
        size_t size = maker.count * 8;
        struct perf_event_header header = {
            .type = type, .misc = misc, .size = (uint16_t)size};
        memcpy(maker.values, &header, sizeof(header));
        return size;
}

static const struct record_layout memory_layout = {
    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                   PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
                   PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC |
                   PERF_SAMPLE_PHYS_ADDR,
    .sample_id_all = true,
};

static void put_trailer(void)
{
        PUT(pair(10, 11), 777, pair(3, 0), 42);
}

static void check_trailer(const struct record *record)
{
        assert_int_equal(record->id.pid, 10);
        assert_int_equal(record->id.tid, 11);
        assert_int_equal(record->id.time, 777);
        assert_int_equal(record->id.cpu, 3);
        assert_int_equal(record->id.id, 42);
}

/* Each try has a separate buffer, which a sanitizer guards. */
static void check_cuts(const struct record_layout *layout, size_t size)
{
        for (size_t cut = 0; cut < size; cut++) {
                uint8_t *copy = malloc(cut ? cut : 1);
                assert_non_null(copy);
                memcpy(copy, maker.values, cut);
                if (cut >= sizeof(struct perf_event_header)) {
                        uint16_t claimed = (uint16_t)cut;
                        memcpy(copy + 6, &claimed, sizeof(claimed));
                }
                struct record record;
                assert_int_equal(record_decode(layout, copy, cut, &record), -EBADMSG);
                free(copy);
        }
}

static void check_refused(const struct record_layout *layout, size_t size)
{
        struct record record;
        assert_int_equal(record_decode(layout, maker.values, size, &record), -EBADMSG);
}

static struct record decode(const struct record_layout *layout, size_t size)
{
        struct record record;
        memset(&record, 1, sizeof(record)); /* reveals unset members */
        assert_ok(record_decode(layout, maker.values, size, &record));
        return record;
}

TEST(memory_sample)
{
        begin();
        PUT(42, 0x401000, pair(10, 11), 123456789, 0x7fff0010, pair(3, 0), 1009,
            5 | UINT64_C(33) << 32, UINT64_C(0x10268100142), 0x1234000);
        size_t size = finish(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
        struct record record = decode(&memory_layout, size);
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
        check_cuts(&memory_layout, size);
        put(0); /* more than the layout asks for */
        size = finish(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
        check_refused(&memory_layout, size);
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

static size_t make_everything(void)
{
        begin();
        PUT(0x401000, 42, 43); /* ip, id, stream id */
        PUT(2, 1000, 500);     /* read: two values; times */
        PUT(71, 72, 73, 74, 75, 76);
        PUT(3, (uint64_t)PERF_CONTEXT_USER, 0x401000, 0x402000); /* call chain */
        PUT(12 | (uint64_t)'r' << 32, 0);                        /* raw: 12 bytes */
        PUT(1, 9, 0xa, 0xb, 0xc);                    /* branches, with the index */
        PUT(PERF_SAMPLE_REGS_ABI_64, 100, 107, 116); /* user registers 0, 7, 16 */
        PUT(16, 0x1111, 0, 8);          /* user stack: 16 bytes of room, 8 copied */
        PUT(99, 98);                    /* weight, transaction */
        put(PERF_SAMPLE_REGS_ABI_NONE); /* no registers of the interrupt */
        PUT(97, 4096, 2097152);         /* cgroup, page sizes */
        PUT(8, 0x2222);                 /* aux */
        return finish(PERF_RECORD_SAMPLE, 0);
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
        size_t size = make_everything();
        struct record record = decode(&everything, size);
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
        check_cuts(&everything, size);
}

/* Every count and size in turn becomes one that no record can hold. */
TEST(absurd_counts)
{
        static const uint64_t absurd[] = {UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 24 + 2,
                                          UINT64_MAX - 6, 1u << 28};
        size_t size = make_everything();
        const uint64_t original[] = {2, 3, 1, 16, 8}; /* of read, chain, branches, … */
        const size_t places[] = {4, 13, 19, 28, 38};
        for (size_t i = 0; i < LENGTH(places); i++) {
                assert_int_equal(maker.values[places[i]], original[i]);
                for (size_t k = 0; k < LENGTH(absurd); k++) {
                        maker.values[places[i]] = absurd[k];
                        check_refused(&everything, size);
                }
                maker.values[places[i]] = original[i];
        }
}

TEST(mappings)
{
        begin();
        PUT(pair(10, 11), 0x400000, 0x2000, 0x1000, pair(8, 1), 654321, 5, pair(5, 2));
        put_text("/usr/bin/with a longer name");
        put_trailer();
        size_t size = finish(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
        struct record record = decode(&memory_layout, size);
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
        check_cuts(&memory_layout, size);
}

TEST(mapping_with_build_id)
{
        begin();
        PUT(pair(10, 10), 0x400000, 0x2000, 0);
        uint8_t identity[24] = {20, 0, 0, 0, 0xab, 0xcd, [23] = 0xef};
        memcpy(maker.values + maker.count, identity, sizeof(identity));
        maker.count += 3;
        PUT(pair(5, 2));
        put_text("/bin/a");
        put_trailer();
        size_t size = finish(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
        struct record record = decode(&memory_layout, size);
        assert_false(record.mmap.has_inode);
        assert_int_equal(record.mmap.build_id_bytes, 20);
        assert_memory_equal(record.mmap.build_id, identity + 4, 20);

        ((uint8_t *)(maker.values + 5))[0] = 21; /* longer than its field */
        check_refused(&memory_layout, size);
}

TEST(old_mapping_of_data)
{
        const struct record_layout plain = {.sample_type = PERF_SAMPLE_IP};
        begin();
        PUT(pair(10, 11), 0x400000, 0x2000, 0);
        put_text("//anon");
        size_t size = finish(PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_DATA);
        struct record record = decode(&plain, size);
        assert_int_equal(record.kind, RECORD_MMAP);
        assert_false(record.mmap.has_protection);
        assert_true(record.mmap.is_data);
        assert_int_equal(record.id.present, 0);
        memset(maker.values + 5, 'x', 8); /* a name without an end */
        check_refused(&plain, size);
}

TEST(tasks)
{
        static const struct {
                uint32_t type;
                enum record_kind kind;
        } cases[] = {{PERF_RECORD_FORK, RECORD_FORK}, {PERF_RECORD_EXIT, RECORD_EXIT}};
        for (size_t i = 0; i < 2; i++) {
                begin();
                PUT(pair(20, 10));
                PUT(pair(21, 11));
                put(555);
                put_trailer();
                size_t size = finish(cases[i].type, 0);
                struct record record = decode(&memory_layout, size);
                assert_int_equal(record.kind, cases[i].kind);
                assert_int_equal(record.task.pid, 20);
                assert_int_equal(record.task.parent_pid, 10);
                assert_int_equal(record.task.tid, 21);
                assert_int_equal(record.task.parent_tid, 11);
                assert_int_equal(record.task.time, 555);
                check_trailer(&record);
                check_cuts(&memory_layout, size);
        }
}

TEST(names_losses_and_throttling)
{
        begin();
        PUT(pair(10, 11));
        put_text("worker");
        put_trailer();
        size_t size = finish(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
        struct record record = decode(&memory_layout, size);
        assert_int_equal(record.kind, RECORD_COMM);
        assert_true(record.comm.exec);
        assert_string_equal(record.comm.name, "worker");
        record = decode(&memory_layout, finish(PERF_RECORD_COMM, 0));
        assert_false(record.comm.exec);
        check_cuts(&memory_layout, size);

        begin();
        PUT(42, 1000);
        put_trailer();
        record = decode(&memory_layout, finish(PERF_RECORD_LOST, 0));
        assert_int_equal(record.kind, RECORD_LOST);
        assert_int_equal(record.lost.id, 42);
        assert_int_equal(record.lost.count, 1000);

        begin();
        put(2000);
        put_trailer();
        record = decode(&memory_layout, finish(PERF_RECORD_LOST_SAMPLES, 0));
        assert_int_equal(record.kind, RECORD_LOST_SAMPLES);
        assert_int_equal(record.lost.count, 2000);

        begin();
        PUT(777, 42, 43);
        put_trailer();
        record = decode(&memory_layout, finish(PERF_RECORD_THROTTLE, 0));
        assert_int_equal(record.kind, RECORD_THROTTLE);
        assert_int_equal(record.throttle.time, 777);
        record = decode(&memory_layout, finish(PERF_RECORD_UNTHROTTLE, 0));
        assert_int_equal(record.kind, RECORD_UNTHROTTLE);
}

TEST(types_not_decoded)
{
        begin();
        PUT(1, 2, 3);
        put_trailer();
        struct record record = decode(&memory_layout, finish(PERF_RECORD_AUX, 0));
        assert_int_equal(record.kind, RECORD_OTHER);
        check_trailer(&record);
        static const uint32_t unknown[] = {0, 22, 64, UINT32_MAX};
        for (size_t i = 0; i < 4; i++) {
                record = decode(&memory_layout, finish(unknown[i], 0));
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
        assert_ok(record_layout(&attr, &layout));
        assert_true(layout.sample_type == attr.sample_type && layout.sample_id_all);
        assert_int_equal(layout.sample_regs_user, 0xff);
        attr.sample_type = PERF_SAMPLE_STACK_USER; /* of size 0 */
        assert_int_equal(record_layout(&attr, &layout), -ENOTSUP);
        attr.sample_stack_user = 8192;
        assert_ok(record_layout(&attr, &layout));
        attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
        assert_int_equal(record_layout(&attr, &layout), -ENOTSUP);
        attr.sample_type = UINT64_C(1) << 25;
        assert_int_equal(record_layout(&attr, &layout), -ENOTSUP);
}
