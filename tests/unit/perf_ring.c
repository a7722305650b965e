/* SPDX-License-Identifier: MIT */
/* The ring reader. The test fills a ring in memory as the kernel does. The kernel fills a
 * second ring with page-fault events, exactly one for each touched page. */
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "record.h"
#include "ring.h"
#include "unit_test.h"

/* ---- a ring in memory ---- */

enum { DATA_BYTES = 4096 };

struct writer {
        struct perf_event_mmap_page *page;
        uint64_t data[DATA_BYTES / 8];
};

static void open_in_memory(struct writer *writer, struct ring **ring, uint64_t start)
{
        struct diag diag;
        writer->page = calloc(1, sizeof(*writer->page));
        assert_non_null(writer->page);
        writer->page->data_head = writer->page->data_tail = start;
        assert_ok(ring_over(writer->page, (const uint8_t *)writer->data, DATA_BYTES, ring,
                            &diag));
}

/* Writes a record of VALUES values that all are NUMBER; false when there is no room. */
static bool write_record(struct writer *writer, size_t values, uint64_t number)
{
        uint64_t head = writer->page->data_head;
        if (head + (values + 1) * 8 - writer->page->data_tail > DATA_BYTES)
                return false;
        struct perf_event_header header = {.type = 1000,
                                           .size = (uint16_t)((values + 1) * 8)};
        uint64_t *at = &writer->data[head / 8 % (DATA_BYTES / 8)];
        memcpy(at, &header, sizeof(header));
        for (size_t i = 1; i <= values; i++)
                writer->data[(head / 8 + i) % (DATA_BYTES / 8)] = number;
        writer->page->data_head = head + (values + 1) * 8;
        return true;
}

static void check_record(struct ring *ring, size_t values, uint64_t number)
{
        size_t size;
        const uint64_t *record = ring_next(ring, &size);
        assert_non_null(record);
        assert_int_equal(size, (values + 1) * 8);
        for (size_t i = 1; i <= values; i++)
                assert_true(record[i] == number);
}

static size_t values_of(uint64_t number) /* 0 to 70, in no simple order */
{
        return number * 37 % 71;
}

/* Fills and empties the ring from a start where the counts of bytes pass 2^32. */
TEST(records_wrap)
{
        struct writer writer;
        struct ring *ring;
        size_t size;
        open_in_memory(&writer, &ring, (UINT64_C(1) << 32) - 100000);
        uint64_t written = 0;
        uint64_t read = 0;
        while (read < 20000) {
                while (write_record(&writer, values_of(written), written))
                        written++;
                assert_true(written > read);
                for (; read < written; read++)
                        check_record(ring, values_of(read), read);
                assert_null(ring_next(ring, &size));
                ring_release(ring);
        }
        assert_true(writer.page->data_head > UINT32_MAX);
        assert_int_equal(ring_damaged_bytes(ring), 0);
        ring_close(ring);
        free(writer.page);
}

TEST(room_is_given_back_on_release_only)
{
        struct writer writer;
        struct ring *ring;
        open_in_memory(&writer, &ring, 0);
        while (write_record(&writer, 63, 1))
                ;
        for (int i = 0; i < 8; i++)
                check_record(ring, 63, 1);
        assert_false(write_record(&writer, 63, 2));
        ring_release(ring);
        assert_true(write_record(&writer, 63, 2));
        check_record(ring, 63, 2);
        ring_close(ring);
        free(writer.page);
}

/* A header that claims SIZE, with 512 bytes behind it. */
static void check_damage(uint16_t size)
{
        struct writer writer;
        struct ring *ring;
        size_t length;
        open_in_memory(&writer, &ring, 0);
        assert_true(write_record(&writer, 63, 1));
        memcpy((uint8_t *)writer.data + 6, &size, sizeof(size));
        assert_null(ring_next(ring, &length));
        assert_int_equal(ring_damaged_bytes(ring), 512);
        assert_true(write_record(&writer, 5, 2));
        check_record(ring, 5, 2);
        ring_close(ring);
        free(writer.page);
}

TEST(damage_is_skipped_and_counted)
{
        static const uint16_t sizes[] = {0, 7, 520, UINT16_MAX, 12};
        for (size_t i = 0; i < LENGTH(sizes); i++)
                check_damage(sizes[i]);
}

TEST(head_beyond_the_ring)
{
        struct writer writer;
        struct ring *ring;
        size_t size;
        open_in_memory(&writer, &ring, 0);
        writer.page->data_head = DATA_BYTES + 8;
        assert_null(ring_next(ring, &size));
        assert_int_equal(ring_damaged_bytes(ring), DATA_BYTES + 8);
        ring_close(ring);
        free(writer.page);
}

/* ---- the kernel's page faults ---- */

struct faults {
        int fd;
        struct ring *ring;
        struct record_layout layout;
        uint8_t *area;
        size_t area_bytes;
        size_t page_bytes;
        uint64_t seen;
        uint64_t lost;
};

static void open_faults(struct faults *faults, size_t ring_pages, size_t area_pages)
{
        struct perf_event_attr attr = {
            .type = PERF_TYPE_SOFTWARE,
            .size = sizeof(attr),
            .config = PERF_COUNT_SW_PAGE_FAULTS,
            .sample_period = 1,
            .sample_type =
                PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
            .disabled = 1,
            .exclude_kernel = 1,
            .sample_id_all = 1,
        };
        struct diag diag;
        *faults = (struct faults){.page_bytes = (size_t)sysconf(_SC_PAGESIZE)};
        faults->fd =
            (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (faults->fd < 0)
                skip_test("no page-fault events here: %s", strerror(errno));
        assert_ok(record_layout(&attr, &faults->layout));
        if (ring_open(faults->fd, ring_pages, &faults->ring, &diag) < 0)
                fail_msg("%s", diag.text);
        faults->area_bytes = area_pages * faults->page_bytes;
        faults->area = mmap(NULL, faults->area_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(faults->area != MAP_FAILED);
        madvise(faults->area, faults->area_bytes, MADV_NOHUGEPAGE);
}

static void close_faults(struct faults *faults)
{
        munmap(faults->area, faults->area_bytes);
        ring_close(faults->ring);
        close(faults->fd);
}

static void touch(struct faults *faults, size_t first_page, size_t pages)
{
        volatile uint8_t *area = faults->area;
        ioctl(faults->fd, PERF_EVENT_IOC_ENABLE, 0);
        for (size_t page = first_page; page < first_page + pages; page++)
                area[page * faults->page_bytes + page % 4096] = 1;
        ioctl(faults->fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* Counts samples of the area, which come in the order of touching. */
static void drain(struct faults *faults)
{
        const void *bytes;
        size_t size;
        uint64_t area = (uint64_t)(uintptr_t)faults->area;
        uint64_t earlier = 0;
        while ((bytes = ring_next(faults->ring, &size))) {
                struct record record;
                assert_ok(record_decode(&faults->layout, bytes, size, &record));
                if (record.kind == RECORD_LOST)
                        faults->lost += record.lost.count;
                if (record.kind != RECORD_SAMPLE ||
                    record.sample.addr - area >= faults->area_bytes)
                        continue;
                uint64_t page = (record.sample.addr - area) / faults->page_bytes;
                assert_int_equal((record.sample.addr - area) % faults->page_bytes,
                                 page % 4096);
                assert_int_equal(record.id.pid, getpid());
                assert_true(record.id.time >= earlier);
                earlier = record.id.time;
                faults->seen++;
        }
        ring_release(faults->ring);
}

TEST(every_fault_is_read_across_many_wraps)
{
        struct faults faults;
        enum { PAGES = 4000, STEP = 50 };
        open_faults(&faults, 1, PAGES);
        for (size_t page = 0; page < PAGES; page += STEP) {
                touch(&faults, page, STEP);
                drain(&faults);
                assert_int_equal(faults.seen, page + STEP);
        }
        assert_int_equal(faults.lost, 0);
        assert_int_equal(ring_damaged_bytes(faults.ring), 0);
        close_faults(&faults);
}

/* The kernel reports a loss with the next record that finds room. */
TEST(what_finds_no_room_is_counted)
{
        struct faults faults;
        enum { PAGES = 4000 };
        open_faults(&faults, 1, PAGES);
        touch(&faults, 0, PAGES - 1);
        drain(&faults);
        assert_int_equal(faults.lost, 0);
        uint64_t kept = faults.seen;
        assert_true(kept > 50 && kept < PAGES - 1);
        touch(&faults, PAGES - 1, 1);
        drain(&faults);
        assert_int_equal(faults.seen, kept + 1);
        assert_int_equal(faults.seen + faults.lost, PAGES);
        close_faults(&faults);
}

TEST(too_many_pages)
{
        struct faults faults;
        struct ring *ring;
        struct diag diag;
        open_faults(&faults, 1, 1);
        assert_true(ring_open(faults.fd, 3, &ring, &diag) < 0); /* no power of two */
        assert_non_null(strstr(diag.text, "cannot map a ring of 3 pages"));
        close_faults(&faults);
}
