/* SPDX-License-Identifier: MIT */
/* The whole stage on a recording of this very program. */
#define TEST_SETUP begin
#include "db_test.h"

#include <dlfcn.h>

#include "symbolize.h"

#define FILE_NAME "symbolize_stage.c"

/* The address of the instruction itself, wherever it gets inlined. */
#define HERE(address) __asm__ volatile("1: lea 1b(%%rip), %0" : "=r"(address))

/* ---- objects and code to be named ---- */

struct {
        long padding;
        long values[100];
} global_table = {1, {2}};
static long static_cells[64]; /* in .bss */
static const long constants[4] = {3, 1, 4, 1};

static int inner_line, middle_line, outer_line;

static inline __attribute__((always_inline)) void *inner(void)
{
        void *address;

        inner_line = __LINE__ + 1;
        HERE(address);
        return address;
}

static inline __attribute__((always_inline)) void *middle(void)
{
        middle_line = __LINE__ + 1;
        return inner();
}

static __attribute__((noinline)) void *outer(void)
{
        outer_line = __LINE__ + 1;
        void *address = middle();

        __asm__ volatile("" : "+r"(address));
        return address;
}

static __attribute__((noinline)) long *function_static(void)
{
        static long counter;

        counter++;
        return &counter;
}

static struct pair {
        long first;
        long second;
} pair;

/* The addresses of a load and of a store of both numbers at once. */
static __attribute__((noinline)) void *load_pair(void)
{
        void *address;

        __asm__ volatile("1: movups %1, %%xmm0\n\tlea 1b(%%rip), %0"
                         : "=r"(address)
                         : "m"(pair)
                         : "xmm0");
        return address;
}

static __attribute__((noinline)) void *store_pair(void)
{
        void *address;

        __asm__ volatile("pxor %%xmm0, %%xmm0\n1: movups %%xmm0, %1\n\tlea 1b(%%rip), %0"
                         : "=r"(address), "=m"(pair)
                         :
                         : "xmm0");
        return address;
}

static int call_line;
static void *return_address;

static __attribute__((noinline)) void note_caller(void)
{
        return_address = __builtin_return_address(0);
}

static __attribute__((noinline)) void allocating_function(void)
{
        call_line = __LINE__ + 1;
        note_caller();
        __asm__ volatile("");
}

/* ---- a recording ---- */

static struct {
        struct db *db;
        struct writer *writer;
        int64_t process;
        int64_t thread;
        int64_t data_source;
} recording;

/* How the recorder sees the file at PATH. */
static int64_t record_module(const char *path)
{
        int64_t id;
        uint8_t build_id[64];
        size_t bytes = 0;
        unsigned byte;
        FILE *notes = popen(text_of("readelf -n '%s' 2>/dev/null", path), "r");
        char line[256], *found;

        assert_non_null(notes);
        while (fgets(line, sizeof(line), notes)) {
                if (!(found = strstr(line, "Build ID: ")))
                        continue;
                for (found += 10; sscanf(found, "%2x", &byte) == 1; found += 2)
                        build_id[bytes++] = (uint8_t)byte;
        }
        pclose(notes);
        assert_ok(writer_module(recording.writer, path, build_id, bytes, &id, NULL));
        return id;
}

static enum mapping_kind kind_of(const char *path)
{
        if (path[0] == '/')
                return MAPPING_FILE;
        if (strcmp(path, "[heap]") == 0)
                return MAPPING_HEAP;
        if (strcmp(path, "[stack]") == 0)
                return MAPPING_STACK;
        return strcmp(path, "[vdso]") == 0 ? MAPPING_VDSO : MAPPING_ANON;
}

static void record_mapping(enum mapping_kind kind, uint64_t start, uint64_t length,
                           uint64_t offset, int64_t module, const char *protection)
{
        struct mapping_row row = {.process_id = recording.process,
                                  .kind = kind,
                                  .start_addr = start,
                                  .length_bytes = length,
                                  .file_offset_bytes = offset,
                                  .module_id = module,
                                  .thread_id =
                                      kind == MAPPING_STACK ? recording.thread : 0,
                                  .protection = protection,
                                  .start_ns = 0};
        int64_t id;

        assert_ok(writer_mapping(recording.writer, &row, &id, NULL));
}

static void record_own_mappings(void)
{
        FILE *maps = fopen("/proc/self/maps", "r");
        char line[1024];

        assert_non_null(maps);
        while (fgets(line, sizeof(line), maps)) {
                unsigned long start, end, offset;
                char protection[5], path[512] = "";

                assert_true(sscanf(line, "%lx-%lx %4s %lx %*s %*s %511[^\n]", &start,
                                   &end, protection, &offset, path) >= 4);
                protection[3] = '\0';
                int64_t module = path[0] == '/' ? record_module(path) : 0;

                record_mapping(kind_of(path), start, end - start, offset, module,
                               protection);
        }
        fclose(maps);
}

static int begin(void **state)
{
        if (enter_directory(state))
                return -1;
        struct data_source_row source = {"load", "DRAM", "hit", "none", false, false, 0};

        recording.db = create_db("a.db");
        recording.writer = open_writer(recording.db);
        assert_ok(writer_process(recording.writer, 100, 0, "test", 0, &recording.process,
                                 NULL));
        assert_ok(writer_thread(recording.writer, recording.process, 100, "test", 0,
                                &recording.thread, NULL));
        assert_ok(
            writer_data_source(recording.writer, &source, &recording.data_source, NULL));
        return 0;
}

static void record_sample(int64_t time_ns, const void *ip, const volatile void *addr,
                          int64_t stack)
{
        struct sample_row row = {.time_ns = time_ns,
                                 .thread_id = recording.thread,
                                 .cpu = 0,
                                 .ip = (uintptr_t)ip,
                                 .has_addr = addr != NULL,
                                 .addr = (uintptr_t)addr,
                                 .latency_cycles = 100,
                                 .data_source_id = recording.data_source,
                                 .stack_id = stack};

        assert_ok(writer_sample(recording.writer, &row, NULL, NULL));
}

static void name_recording(void)
{
        struct symbolize_options options = {0};
        struct diag diag = {0};

        if (symbolize(recording.db, &options, &diag))
                fail_msg("%s", diag.text);
        db_close(recording.db);
}

/* Ends the recording and names it. */
static void finish(void)
{
        assert_ok(writer_close(recording.writer, NULL));
        name_recording();
}

static const char *object_of(int sample)
{
        return plain_text("a.db", text_of("SELECT kind || ' ' || name || ' +' ||"
                                          " ifnull(object_offset_bytes, '?')"
                                          " FROM attribution JOIN data_object"
                                          " USING (object_id) WHERE sample_id = %d",
                                          sample));
}

/* ---- code ---- */

TEST(names_the_line_and_what_was_inlined)
{
        record_own_mappings();
        record_sample(1, outer(), NULL, 0);
        finish();

        expect("SELECT function || (file LIKE '%/tests/unit/" FILE_NAME "')"
               " FROM location",
               "inner1");
        expect_int("SELECT line FROM location", inner_line);
        expect("SELECT group_concat(function || ' ' || ifnull(call_line, '-'), ', ')"
               " FROM (SELECT * FROM inline_frame ORDER BY depth)",
               text_of("inner %d, middle %d, outer -", middle_line, outer_line));
        expect_count("attribution", 0);
        expect_count("ledger", 0);
}

/* A stack of two frames, or of one without a CALLER. */
static int64_t record_stack(const void *leaf, const void *caller, enum context_use use)
{
        const uint64_t ips[] = {(uintptr_t)leaf, (uintptr_t)caller};
        int64_t stack;

        assert_ok(writer_stack(recording.writer, recording.process, ips, caller ? 2 : 1,
                               use, &stack, NULL));
        return stack;
}

/* The call is the last instruction of its line: the return address is in the next. */
TEST(a_caller_is_at_its_call)
{
        void *ip = outer();

        allocating_function();
        record_own_mappings();
        record_sample(1, ip, NULL, record_stack(ip, return_address, CONTEXT_OF_SAMPLE));
        finish();

        expect("SELECT group_concat(function || ' ' || line, ', ') FROM"
               " (SELECT * FROM stack JOIN stack_location USING (stack_id)"
               " JOIN location USING (location_id) ORDER BY parent_id)",
               text_of("allocating_function %d, inner %d", call_line, inner_line));
}

/* Maps other memory at IP from 10 to 19 ns. */
static void record_change_at(void *ip)
{
        int64_t id;
        const struct mapping_row early = {.process_id = recording.process,
                                          .kind = MAPPING_ANON,
                                          .start_addr = (uintptr_t)ip & ~UINT64_C(4095),
                                          .length_bytes = 4096,
                                          .protection = "r-x",
                                          .start_ns = 10};

        record_own_mappings();
        assert_ok(writer_mapping(recording.writer, &early, &id, NULL));
        assert_ok(writer_mapping_end(recording.writer, id, 19, NULL));
}

static void expect_function(int sample, const char *function)
{
        expect(text_of("SELECT function FROM sample_location JOIN location"
                       " USING (location_id) WHERE sample_id = %d",
                       sample),
               function);
}

/* Samples may be written in any order. */
TEST(samples_need_not_lie_in_the_order_of_time)
{
        void *ip = outer();

        record_change_at(ip);
        for (int i = 0; i < 3; i++)
                record_sample(15, ip, NULL, 0);
        for (int i = 0; i < 100; i++)
                record_sample(5, ip, NULL, 0);
        finish();

        for (int sample = 1; sample <= 3; sample++)
                expect_function(sample, "[JIT code]");
        expect_function(4, "inner");
        expect_function(103, "inner");
        expect_ledger("samples in memory of no file", 3);
        expect_int("SELECT samples FROM resolution WHERE subject = 'function'"
                   " AND outcome = 'resolved'",
                   100);
}

/* Also beside samples with one. */
TEST(a_sample_without_address_has_a_row_only_at_another_place)
{
        void *ip = outer();

        record_change_at(ip);
        record_sample(4, ip, &static_cells[1], 0);
        record_sample(5, ip, NULL, 0);
        record_sample(15, ip, NULL, 0);
        record_sample(16, ip, NULL, 0);
        finish();

        expect("SELECT group_concat(sample_id) FROM"
               " (SELECT sample_id FROM attribution ORDER BY 1)",
               "1,3,4");
        expect_count("ip_location", 1);
        expect_function(1, "inner");
        expect_function(2, "inner");
        expect_function(3, "[JIT code]");
        expect_function(4, "[JIT code]");
        expect_int("SELECT sum(samples) FROM resolution WHERE subject = 'type'", 4);
}

enum { MANY = 20000, ADDRESSES = 70, FIRST_IP = 0x1000 };

/* Maps two files at the same addresses, one after the other. */
static void record_two_files(int64_t process, int64_t change_ns)
{
        static const char *const paths[] = {"/no/first", "/no/second"};

        for (int i = 0; i < 2; i++) {
                struct mapping_row row = {.process_id = process,
                                          .kind = MAPPING_FILE,
                                          .start_addr = FIRST_IP,
                                          .length_bytes = 4096,
                                          .protection = "r-x",
                                          .start_ns = i * change_ns};
                int64_t id;

                assert_ok(writer_module(recording.writer, paths[i], NULL, 0,
                                        &row.module_id, NULL));
                assert_ok(writer_mapping(recording.writer, &row, &id, NULL));
                if (i == 0)
                        assert_ok(writer_mapping_end(recording.writer, id, change_ns - 1,
                                                     NULL));
        }
}

/* Samples of two processes in turns: number I is at I ns, but the LATE one is earlier. */
static void record_many(int64_t change_ns, int64_t late)
{
        int64_t process, threads[2] = {recording.thread};

        assert_ok(writer_process(recording.writer, 101, 0, "test", 0, &process, NULL));
        assert_ok(
            writer_thread(recording.writer, process, 101, "test", 0, &threads[1], NULL));
        record_two_files(recording.process, change_ns);
        record_two_files(process, change_ns);
        for (int64_t i = 0; i < MANY; i++) {
                recording.thread = threads[i % 2];
                record_sample(i == late ? i - 2 : i, (char *)FIRST_IP + i % ADDRESSES,
                              NULL, 0);
        }
        finish();
}

/* Samples after the change have rows. */
TEST(many_samples_have_the_locations_of_their_time)
{
        enum { CHANGE_NS = 12345 };

        record_many(CHANGE_NS, -1);
        expect_count("code_location", 2 * ADDRESSES);
        expect_count("attribution", MANY - CHANGE_NS);
        expect_int("SELECT min(sample_id) FROM attribution", CHANGE_NS + 1);
        expect_int("SELECT samples FROM resolution WHERE subject = 'function' AND "
                   "outcome = 'missing file'",
                   MANY);
}

/* One sample from before the change stands among the samples after it. */
TEST(one_of_many_samples_is_out_of_order)
{
        enum { LATE = 15000 };

        record_many(LATE - 1, LATE);
        expect_count("attribution", MANY - LATE);
        expect_int("SELECT sum(samples) FROM resolution WHERE subject = 'function'",
                   MANY);
}

/* ---- data ---- */

TEST(names_variables)
{
        void *ip = outer();
        long local = 0;

        record_own_mappings();
        record_sample(1, ip, &global_table.values[3], 0);
        record_sample(2, ip, &static_cells[10], 0);
        record_sample(3, ip, &constants[2], 0);
        record_sample(4, ip, function_static(), 0);
        record_sample(5, ip, &local, 0);
        record_sample(6, ip, (void *)16, 0);
        finish();

        assert_string_equal(object_of(1), "global global_table +32");
        assert_string_equal(object_of(2), "global static_cells +80");
        assert_string_equal(object_of(3), "global constants +16");
        assert_string_equal(object_of(4), "global function_static::counter +0");
        assert_memory_equal(object_of(5), "stack stack of thread 100 ", 26);
        assert_memory_equal(object_of(6), "unknown ", 8);
        expect_int("SELECT size_bytes FROM data_object WHERE name = 'global_table'",
                   sizeof(global_table));
        expect_ledger("samples with no object", 1);
}

/* As imported recordings have stores among their samples. */
TEST(stores_are_no_loads_of_several_fields)
{
        const struct data_source_row store = {"store", "L1",  "hit", "none",
                                              false,   false, 0};
        record_own_mappings();
        for (int i = 0; i < 3; i++)
                record_sample(1 + i, load_pair(), &pair, 0);
        assert_ok(
            writer_data_source(recording.writer, &store, &recording.data_source, NULL));
        for (int i = 0; i < 2; i++)
                record_sample(4 + i, store_pair(), &pair, 0);
        recording.data_source = 0; /* not known: loads, as the recorder samples these */
        record_sample(6, load_pair(), &pair, 0);
        finish();

        expect_count("attribution JOIN type_field USING (field_id) WHERE name = 'first'",
                     6);
        expect("SELECT group_concat(name || ' ' || wide_samples) FROM wide_field"
               " JOIN type_field USING (field_id)",
               "second 4");
}

TEST(names_mapped_files)
{
        void *ip = outer();
        int fd = open("data.bin", O_RDWR | O_CREAT, 0644);

        assert_true(fd >= 0 && ftruncate(fd, 8192) == 0);
        char *file = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
        char *memory =
            mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        record_own_mappings();
        record_sample(1, ip, file + 5000, 0);
        record_sample(2, ip, memory + 8, 0);
        record_sample(3, ip, ip, 0);
        finish();
        munmap(file, 8192);
        munmap(memory, 4096);
        close(fd);

        expect("SELECT kind || (name LIKE '/%/data.bin') || object_offset_bytes FROM"
               " attribution JOIN data_object USING (object_id) WHERE sample_id = 1",
               "mmap15000");
        assert_memory_equal(object_of(2), "mmap [anon] ", 12);
        assert_memory_equal(object_of(3), "code ", 5);
}

static void record_block(const char *function, uint64_t addr, uint64_t bytes,
                         int64_t stack, int64_t start_ns, int64_t end_ns)
{
        struct allocation_row row = {
            recording.process, recording.thread, function, addr, bytes, stack, start_ns};
        int64_t id;

        assert_ok(writer_allocation(recording.writer, &row, &id, NULL));
        if (end_ns)
                assert_ok(writer_allocation_end(recording.writer, id, end_ns, NULL));
}

TEST(blocks_at_one_address_are_told_apart_by_time)
{
        char *ip = outer();

        allocating_function();
        char *call = (char *)return_address - 1;

        record_own_mappings();
        record_mapping(MAPPING_HEAP, 0x10000, 0x10000, 0, 0, "rw-");
        int64_t first = record_stack(ip, NULL, CONTEXT_OF_ALLOCATION);
        int64_t second = record_stack(call, NULL, CONTEXT_OF_ALLOCATION);

        record_block("malloc", 0x10100, 64, first, 10, 20);
        record_block("calloc", 0x10100, 32, second, 20, 0);
        record_sample(5, ip, (void *)0x10110, 0);
        record_sample(15, ip, (void *)0x10110, 0);
        record_sample(20, ip, (void *)0x10110, 0);
        record_sample(25, ip, (void *)0x10120, 0); /* beyond the second */
        assert_ok(writer_allocation_total(recording.writer, first, "malloc", 7, 448, 128,
                                          NULL));
        finish();

        assert_string_equal(object_of(1), "heap [heap] +272");
        assert_string_equal(object_of(2),
                            text_of("heap inner at " FILE_NAME ":%d +16", inner_line));
        assert_string_equal(
            object_of(3),
            text_of("heap allocating_function at " FILE_NAME ":%d +16", call_line));
        assert_string_equal(object_of(4), "heap [heap] +288");
        expect("SELECT allocations || ' ' || size_bytes FROM data_object"
               " WHERE alloc_function = 'inner'",
               "7 128");
        expect_int("SELECT alloc_line FROM data_object WHERE alloc_function ="
                   " 'allocating_function'",
                   call_line);
}

/* Two paths lead to one site: inner() called from the line of the call, and inner()
 * alone. No block of the second path has a sample. The only sample accesses ADDR. */
static void record_two_paths(const void *addr)
{
        char *ip = outer();

        allocating_function();
        record_own_mappings();
        record_mapping(MAPPING_HEAP, 0x10000, 0x10000, 0, 0, "rw-");
        int64_t called = record_stack(ip, return_address, CONTEXT_OF_ALLOCATION);
        int64_t alone = record_stack(ip, NULL, CONTEXT_OF_ALLOCATION);

        if (addr)
                record_block("malloc", 0x10100, 64, called, 10, 20);
        record_sample(15, ip, addr, 0);
        writer_allocation_total(recording.writer, called, "malloc", 3, 192, 128, NULL);
        writer_allocation_total(recording.writer, alone, "malloc", 2, 80, 40, NULL);
        finish();
}

/* Nodes of all paths, and where they are. */
static void expect_two_paths(void)
{
        expect_count("stack_node", 0);
        expect("SELECT group_concat(function || ' ' || line, ', ') FROM"
               " (SELECT function, line FROM stack JOIN stack_location USING (stack_id)"
               " JOIN location USING (location_id) ORDER BY function)",
               text_of("allocating_function %d, inner %d, inner %d", call_line,
                       inner_line, inner_line));
        expect_int("SELECT sum(allocations) FROM allocation_total JOIN stack_location"
                   " USING (stack_id) JOIN location AS l USING (location_id)"
                   " WHERE l.function = 'inner'",
                   5);
}

TEST(packed_paths_without_samples_have_their_places)
{
        record_two_paths(NULL);
        expect_two_paths();
        expect_count("object_stack", 0);
        expect_count("object_context", 0);
}

/* The object of a block with samples has all paths to its site. */
TEST(packed_paths_to_an_object_are_all_told)
{
        record_two_paths((void *)0x10110);
        expect_two_paths();
        expect("SELECT allocations || ' ' || total_bytes || ' ' || size_bytes"
               " FROM data_object WHERE kind = 'heap'",
               "5 272 168");
        expect(
            "SELECT group_concat(samples || ' ' || allocations || ' ' || total_bytes ||"
            " ' ' || peak_bytes, ', ') FROM (SELECT * FROM object_stack"
            " ORDER BY allocations)",
            "0 2 80 40, 1 3 192 128");
        expect_count("object_context JOIN packed_stack USING (stack_id, parent_id) JOIN "
                     "stack_location USING (stack_id) WHERE object_context.location_id = "
                     "stack_location.location_id",
                     1);
        expect_count("object_context WHERE parent_id IS NULL", 2);
}

/* Memory between blocks belongs to the heap: in adjacent mappings, and in the pages of a
 * large block. A region that the program maps itself does not belong to it, nor does a
 * mapping without blocks. */
TEST(memory_between_blocks_is_the_heap)
{
        static const struct {
                uint64_t addr;
                const char *object;
        } samples[] = {
            {0x10000110, "heap inner"},  {0x10000300, "heap [heap]"},
            {0x10001500, "heap [heap]"}, {0x10004500, "mmap [anon]"},
            {0x20000008, "heap [heap]"}, {0x20041010, "heap [heap]"},
            {0x20041fff, "heap [heap]"}, {0x20042000, "mmap [anon]"},
            {0x30000100, "mmap inner"},  {0x40000200, "heap inner"},
            {0x40300000, "heap [heap]"}, {0x3ffffff8, "mmap [anon]"},
        };
        const size_t count = LENGTH(samples);
        char *ip = outer();

        record_own_mappings();
        record_mapping(MAPPING_ANON, 0x10000000, 0x1000, 0, 0, "rw-");
        record_mapping(MAPPING_ANON, 0x10001000, 0x1000, 0, 0, "rw-");
        record_mapping(MAPPING_ANON, 0x10004000, 0x1000, 0, 0, "rw-");
        record_mapping(MAPPING_ANON, 0x20000000, 0x44000, 0, 0, "rw-");
        record_mapping(MAPPING_ANON, 0x30000000, 0x1000, 0, 0, "rw-");
        record_mapping(MAPPING_ANON, 0x3ffff000, 0x1000, 0, 0, "rw-");
        record_mapping(MAPPING_ANON, 0x40000000, 0x4000000, 0, 0, "---");
        int64_t stack = record_stack(ip, NULL, CONTEXT_OF_ALLOCATION);

        record_block("malloc", 0x10000100, 64, stack, 0, 0);
        record_block("malloc", 0x20000010, 0x41000, stack, 0, 0);
        record_block("mmap", 0x30000000, 0x800, stack, 0, 0);
        record_block("malloc", 0x40000200, 64, stack, 0, 0);
        for (size_t i = 0; i < count; i++)
                record_sample((int64_t)i + 1, ip, (void *)samples[i].addr, 0);
        finish();
        for (size_t i = 0; i < count; i++) {
                const char *object = object_of((int)i + 1);

                if (strncmp(object, samples[i].object, strlen(samples[i].object)) != 0)
                        fail_msg("%#" PRIx64 " is %s", samples[i].addr, object);
        }
}

/* If the C library's frame, or a wrapper's, comes first, its caller is the site. */
TEST(the_site_is_outside_the_allocator)
{
        char *ip = outer();

        allocating_function();
        record_own_mappings();
        int64_t stack = record_stack(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"),
                                     return_address, CONTEXT_OF_SAMPLE);
        record_block("malloc", 0x10100, 64, stack, 0, 0);
        record_sample(5, ip, (void *)0x10110, 0);
        finish();

        expect("SELECT alloc_function FROM data_object", "allocating_function");
}

/* ---- missing files and names ---- */

TEST(a_changed_or_missing_file_gives_no_names)
{
        const uint8_t other_id[20] = {1, 2, 3};
        int64_t changed, missing, fifo;
        char self[512];
        ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

        assert_true(length > 0);
        self[length] = '\0';
        assert_ok(mkfifo("fifo", 0600)); /* opening it must not wait */
        assert_ok(writer_module(recording.writer, self, other_id, sizeof(other_id),
                                &changed, NULL));
        assert_ok(
            writer_module(recording.writer, "/nonexistent", NULL, 0, &missing, NULL));
        assert_ok(writer_module(recording.writer, "fifo", NULL, 0, &fifo, NULL));
        const int64_t modules[] = {changed, missing, fifo};
        for (uint64_t i = 1; i <= 3; i++)
                record_mapping(MAPPING_FILE, i << 12, 0x1000, (4 + i) << 12,
                               modules[i - 1], "r-x");
        for (uint64_t i = 1; i <= 4; i++)
                record_sample((int64_t)i, (void *)(i << 12 | 0x10), NULL, 0);
        record_sample(5, (void *)0xffffffff81001000, NULL, 0);
        finish();

        expect_int("SELECT count(function) + count(line) FROM location", 0);
        expect_int("SELECT address_offset FROM location JOIN sample_location"
                   " USING (location_id) WHERE sample_id = 1",
                   0x5010);
        expect_ledger("samples in changed binary", 1);
        expect_ledger("samples in missing file", 2);
        expect_ledger("samples with no mapping", 1);
        expect_ledger("samples in kernel whose place was not recorded", 1);
}

/* Every sample without a line has exactly one reason in the ledger. */
TEST(the_ledger_adds_up)
{
        char *ip = outer();

        record_own_mappings();
        srand(1);
        for (int i = 0; i < 3000; i++)
                record_sample(i, ip + rand() % 400000 - 200000, NULL, 0);
        finish();

        expect_int("SELECT count(location_id) FROM sample_location", 3000);
        expect(
            "SELECT count(*) = (SELECT sum(value) FROM ledger WHERE stage = 'symbolize'"
            " AND kind NOT IN ('samples in unverified binary', 'samples with no object'))"
            " FROM sample_location LEFT JOIN location USING (location_id) WHERE line IS "
            "NULL",
            "1");
        expect("SELECT count(line) > 10 AND count(*) > count(line) FROM location", "1");
}

static void dump_names(const char *path)
{
        assert_ok(system(text_of("sqlite3 a.db '.dump name code_location code_frame"
                                 " stack_location data_object attribution ip_location"
                                 " ledger' > %s",
                                 path)));
}

static void name_again(void)
{
        assert_ok(db_open("a.db", DB_READ_WRITE, &recording.db, NULL));
        name_recording();
}

/* A second run skips work that name_source notes, unless the notes are deleted. */
static void expect_the_same_again(void)
{
        dump_names("first.sql");
        plain_exec("a.db", "DELETE FROM name_source");
        name_again();
        assert_true(plain_int("a.db", "SELECT count(*) FROM name_source") > 0);
        dump_names("second.sql");
        assert_ok(system("cmp first.sql second.sql && test -s first.sql"));
}

TEST(a_second_run_gives_the_same_rows)
{
        char *ip = outer();

        record_own_mappings();
        for (int i = 0; i < 300; i++)
                record_sample(i, ip + i, &static_cells[i % 64], 0);
        finish();
        expect_the_same_again();
}

TEST(a_second_run_gives_the_same_rows_without_addresses)
{
        char *ip = outer();

        record_change_at(ip);
        for (int i = 0; i < 300; i++)
                record_sample(i / 10, ip + i % 50, NULL, 0);
        finish();
        assert_true(plain_int("a.db", "SELECT count(*) FROM ip_location") > 0);
        assert_true(plain_int("a.db", "SELECT count(*) FROM attribution") > 0);
        expect_the_same_again();
}

/* Rows that refer to nothing, overlap, end before they begin or wrap around. */
TEST(a_hostile_database_does_no_harm)
{
        finish();
        plain_exec(
            "a.db",
            "PRAGMA foreign_keys = OFF;"
            "INSERT INTO process VALUES (-5, 1, 77, NULL, 0, NULL);"
            "INSERT INTO thread VALUES (9223372036854775807, -5, 1, NULL, 0, NULL);"
            "INSERT INTO thread VALUES (50, 12345, 1, NULL, 0, NULL);"
            "INSERT INTO module VALUES (3, '', NULL), (4, '/dev/zero', x'00'), (5, '/', "
            "x'');"
            "INSERT INTO mapping VALUES (1, -5, 'file', -4096, -1, -1, 3, 'rwx', 999, "
            "10, 5),"
            " (2, -5, 'file', 0, -1, 0, 4, 'r-x', 50, -9223372036854775808, NULL),"
            " (3, -5, 'stack', 0, 9223372036854775807, NULL, 99, '', 4, 0, NULL);"
            "INSERT INTO stack_node VALUES (1, 2, -5, 0), (2, 1, -5, -1), (3, 3, -5, 5),"
            " (4, 1000, -9, 6);"
            "INSERT INTO stack_pack VALUES (3, -5, '1,', '', '[515, -1, 9e99, {}, \"x'),"
            " (9223372036854775806, 7, '', 'y', '[1, 2, 3, 4]'), (-7, -5, '', '', '');"
            "INSERT INTO allocation VALUES (1, -5, NULL, 'mmap', -1, -1, 3, 9, -9),"
            " (2, -5, NULL, '', 0, 0, 88, 0, 0);"
            "INSERT INTO allocation_site VALUES (88, '%n%s', -1, -1, -1);"
            "INSERT INTO allocation_pack VALUES (1, 'mmap', -1, -1, -1, '[3, 3, 88, -5, "
            "z'),"
            " (2, '', 0, 0, 0, ']');"
            "INSERT INTO sample (sample_id, time_ns, thread_id, cpu, ip, addr, "
            "latency_cycles, data_source_id, stack_id) VALUES (1, 0, 50, 0, -1, -1, 0, "
            "1, 1),"
            " (2, -9223372036854775808, 9223372036854775807, 0, 0, 0, 0, 1, 3),"
            " (3, 9223372036854775807, 9223372036854775807, 0, -1, -1, 0, 1, 2),"
            " (4, 11, 4242, 0, 7, 7, 0, 1, 4);");
        name_again();
        expect_count("attribution", 4);
}
