/* SPDX-License-Identifier: MIT */
/* A PMU's description in sysfs, in the forms of Linux's Documentation/ABI. */
#define TEST_SETUP make_pmu
#include "tree_test.h"

#include "cpu_list.h"
#include "pmu.h"

static void put(const char *file, const char *text)
{
        put_file(text_of(PMU_DIRECTORY "/cpu/%s", file), text);
}

static int make_pmu(void **state)
{
        if (enter_directory(state) != 0)
                return -1;
        put("format/event", "config:0-7\n");
        put("format/umask", "config:8-15,40-47\n");
        put("format/edge", "config:18\n");
        put("format/ldlat", "config1:0-15\n");
        put("format/swfilt", "config2:0\n");
        return 0;
}

TEST(formats)
{
        struct pmu_field field;
        assert_true(pmu_parse_field("config:0-7,32-35\n", &field));
        assert_int_equal(field.word, 0);
        assert_int_equal(field.mask, 0xf000000ff);
        assert_true(pmu_parse_field("config1:0-63", &field));
        assert_int_equal(field.word, 1);
        assert_int_equal(field.mask, UINT64_MAX);
        assert_true(pmu_parse_field("config2:5", &field));
        assert_int_equal(field.word, 2);
        assert_int_equal(field.mask, 32);
        static const char *const bad[] = {
            "",          "config",     "config:",
            "config3:0", "config:64",  "config:7-0",
            "config:1-", "config:1,",  "config:1-99999999999",
            "conf:1",    "config:0x1", "config:1 2",
            "config:-1"};
        for (size_t i = 0; i < LENGTH(bad); i++)
                if (pmu_parse_field(bad[i], &field))
                        fail_msg("'%s' was accepted", bad[i]);
}

/* A value's bits go to the field's bits, even if those are not adjacent. */
TEST(fields_are_set)
{
        struct pmu_code code = {{0, UINT64_MAX, 0}};
        struct pmu_field apart = {0, 0xf000000ff}, low = {1, 0xffff};
        pmu_set_field(&code, &apart, 0xabc);
        assert_int_equal(code.words[0], 0xa000000bc);
        pmu_set_field(&code, &low, 30);
        assert_int_equal(code.words[1], 0xffffffffffff001e);
}

TEST(aliases)
{
        struct pmu_code code;
        put("events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
        assert_true(pmu_read_alias(root, "cpu", "mem-loads", &code));
        assert_int_equal(code.words[0], 0x1cd);
        assert_int_equal(code.words[1], 3);
        put("events/wide", "event=0x05,umask=0x1cf,edge,swfilt=1");
        assert_true(pmu_read_alias(root, "cpu", "wide", &code));
        assert_int_equal(code.words[0], 0x1000004cf05);
        assert_int_equal(code.words[2], 1);
        put("events/open", "event=0xcd,ldlat=?\n");
        assert_true(pmu_read_alias(root, "cpu", "open", &code));
        assert_int_equal(code.words[1], 0);
        assert_false(pmu_read_alias(root, "cpu", "absent", &code));
        static const char *const bad[] = {"", "\n", "nonsense=1",
                                          "event=", "event=0xcdx"};
        for (size_t i = 0; i < LENGTH(bad); i++) {
                put("events/bad", bad[i]);
                if (pmu_read_alias(root, "cpu", "bad", &code))
                        fail_msg("'%s' was accepted", bad[i]);
        }
}

TEST(numbers_and_cpus)
{
        double number;
        int *cpus;
        size_t count;
        put("events/read.scale", "6.103515625e-5");
        assert_true(pmu_read_number(root, "cpu", "events/read.scale", &number));
        assert_true(number == 64.0 / (1 << 20));
        put("type", "four\n");
        assert_false(pmu_read_number(root, "cpu", "type", &number));
        assert_false(pmu_read_cpus(root, "cpu", &cpus, &count));
        put("cpus", "0-2\n");
        assert_true(pmu_read_cpus(root, "cpu", &cpus, &count));
        assert_int_equal(count, 3);
        free(cpus);
        put("cpumask", "0,24\n"); /* an uncore PMU's */
        assert_true(pmu_read_cpus(root, "cpu", &cpus, &count));
        assert_int_equal(count, 2);
        assert_int_equal(cpus[1], 24);
        free(cpus);
}

TEST(lists_of_cpus)
{
        int *cpus;
        size_t count;
        assert_ok(cpu_list_parse("8,0-3,2\n", &cpus, &count));
        assert_int_equal(count, 5);
        assert_int_equal(cpus[0], 0);
        assert_int_equal(cpus[3], 3);
        assert_int_equal(cpus[4], 8);
        free(cpus);
        assert_ok(cpu_list_parse("", &cpus, &count));
        assert_int_equal(count, 0);
        assert_ok(cpu_list_parse("65535", &cpus, &count));
        free(cpus);
        static const char *const bad[] = {"a",   "-1",   "3-1",   "1,",
                                          ",1",  "1--2", "1-",    "1 ",
                                          "1;2", "1,,2", "65536", "99999999999999999999",
                                          "0\n1"};
        for (size_t i = 0; i < LENGTH(bad); i++)
                if (cpu_list_parse(bad[i], &cpus, &count) != -EINVAL)
                        fail_msg("'%s' was accepted", bad[i]);
}
