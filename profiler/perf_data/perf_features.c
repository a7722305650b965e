/* SPDX-License-Identifier: MIT */
/* One function a section, in the order of the sections' numbers. Sections are a sequence
 * of 4- and 8-byte values and of strings, which carry their length. */
#include "perf_features.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cursor.h"

/* Larger than the headers of Debian 12 know. */
#define BUILD_ID_HAS_SIZE (1u << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE */

enum { BUILD_ID_BYTES = 20 };

/* ---- facts ---- */

/* Finds or makes the fact KEY; NULL: no memory. */
static struct fact *place_fact(struct features *features, const char *key)
{
        for (size_t i = 0; i < features->fact_count; i++)
                if (strcmp(features->facts[i].key, key) == 0)
                        return &features->facts[i];
        struct fact *facts =
            reallocarray(features->facts, features->fact_count + 1, sizeof(*facts));
        if (!facts)
                return NULL;
        features->facts = facts;
        facts[features->fact_count] = (struct fact){.key = key};
        return &facts[features->fact_count++];
}

static int put_number(struct features *features, const char *key, uint64_t number,
                      const char *unit, struct diag *diag)
{
        struct fact *fact = place_fact(features, key);
        if (!fact)
                return diag_no_memory(diag);
        fact->number = number > INT64_MAX ? INT64_MAX : (int64_t)number;
        fact->unit = unit;
        return 0;
}

/* Takes over TEXT; NULL: there was no memory for it. */
static int put_owned(struct features *features, const char *key, char *text,
                     struct diag *diag)
{
        struct fact *fact = text ? place_fact(features, key) : NULL;
        if (!fact) {
                free(text);
                return diag_no_memory(diag);
        }
        free(fact->text);
        fact->text = text;
        return 0;
}

static int put_text(struct features *features, const char *key, struct text text,
                    struct diag *diag)
{
        if (text.length == 0)
                return 0;
        return put_owned(features, key, strndup(text.bytes, (size_t)text.length), diag);
}

/* A text under construction. */
struct builder {
        FILE *out;
        char *text;
        size_t size;
};

static int builder_open(struct builder *builder, struct diag *diag)
{
        builder->out = open_memstream(&builder->text, &builder->size);
        return builder->out ? 0 : diag_no_memory(diag);
}

/* Ends BUILDER, and puts its text unless FAILED or empty. */
static int builder_put(struct builder *builder, bool failed, struct features *features,
                       const char *key, struct diag *diag)
{
        bool good = fclose(builder->out) == 0;
        if (good && !failed && builder->size > 0)
                return put_owned(features, key, builder->text, diag);
        free(builder->text);
        return good ? 0 : diag_no_memory(diag);
}

/* ---- single values ---- */

static int decode_cpus(struct features *features, struct cursor *cursor,
                       struct diag *diag)
{
        cursor_u32(cursor); /* that the machine could have */
        return put_number(features, "cpus", cursor_u32(cursor), NULL, diag);
}

static int decode_memory(struct features *features, struct cursor *cursor,
                         struct diag *diag)
{
        return put_number(features, "memory_bytes", cursor_u64(cursor) * 1024, NULL,
                          diag);
}

static int decode_clock(struct features *features, struct cursor *cursor)
{
        cursor_u32(cursor); /* version */
        cursor_u32(cursor); /* clock */
        features->wall_clock_ns = cursor_u64(cursor);
        features->clock_ns = cursor_u64(cursor);
        features->has_clock = !cursor->failed;
        return 0;
}

/* ---- lists ---- */

static void free_command(struct features *features)
{
        for (char **word = features->command; word && *word; word++)
                free(*word);
        free(features->command);
        features->command = NULL;
}

void features_free(struct features *features)
{
        for (size_t i = 0; i < features->fact_count; i++)
                free(features->facts[i].text);
        for (size_t i = 0; i < features->build_id_count; i++)
                free(features->build_ids[i].path);
        free_command(features);
        free(features->facts);
        free(features->build_ids);
        *features = (struct features){0};
}

static int decode_command(struct features *features, struct cursor *cursor,
                          struct diag *diag)
{
        uint32_t count = cursor_u32(cursor);
        if (count > cursor->left) { /* each word takes some bytes */
                cursor->failed = true;
                return 0;
        }
        free_command(features);
        features->command = calloc((size_t)count + 1, sizeof(*features->command));
        if (!features->command)
                return diag_no_memory(diag);
        for (uint32_t i = 0; i < count && !cursor->failed; i++) {
                struct text word = cursor_text(cursor);
                features->command[i] = strndup(word.bytes, (size_t)word.length);
                if (!features->command[i])
                        return diag_no_memory(diag);
        }
        return 0;
}

/* The attributes of all events once more, with names and ids. */
static int decode_events(struct events *events, struct cursor *cursor, struct diag *diag)
{
        uint32_t count = cursor_u32(cursor);
        uint32_t attr_bytes = cursor_u32(cursor);
        int rc = 0;
        for (uint32_t i = 0; i < count && rc == 0 && !cursor->failed; i++) {
                cursor_bytes(cursor, attr_bytes);
                uint32_t id_count = cursor_u32(cursor);
                struct text name = cursor_text(cursor);
                const uint8_t *ids = cursor_bytes(cursor, (uint64_t)id_count * 8);
                uint64_t id = 0;
                size_t index = i;
                if (!ids)
                        break;
                if (id_count)
                        memcpy(&id, ids, sizeof(id));
                if (id_count && !events_find(events, id, &index))
                        index = i;
                rc =
                    events_set_name(events, index, name.bytes, (size_t)name.length, diag);
                if (rc == 0 && index < events->count)
                        rc = events_add_ids(events, index, ids, id_count, diag);
        }
        return rc;
}

/* Lists of the CPUs of each package and of each core; then the core and package of each
 * CPU, and more. */
static int decode_topology(struct features *features, struct cursor *cursor,
                           struct diag *diag)
{
        static const char *const keys[] = {"packages", "cores"};
        int rc = 0;
        for (size_t i = 0; i < 2 && rc == 0; i++) {
                uint32_t count = cursor_u32(cursor);
                for (uint32_t k = 0; k < count && !cursor->failed; k++)
                        cursor_text(cursor);
                if (!cursor->failed)
                        rc = put_number(features, keys[i], count, NULL, diag);
        }
        return rc;
}

static int decode_numa(struct features *features, struct cursor *cursor,
                       struct diag *diag)
{
        struct builder builder;
        int rc = builder_open(&builder, diag);
        if (rc < 0)
                return rc;
        uint32_t count = cursor_u32(cursor);
        for (uint32_t i = 0; i < count && !cursor->failed; i++) {
                uint32_t node = cursor_u32(cursor);
                uint64_t total_kib = cursor_u64(cursor);
                cursor_u64(cursor); /* free */
                struct text cpus = cursor_text(cursor);
                fprintf(builder.out, "%s%u: cpus %.*s, %llu MiB", i ? "; " : "", node,
                        cpus.length, cpus.bytes, (unsigned long long)total_kib / 1024);
        }
        return builder_put(&builder, cursor->failed, features, "numa_nodes", diag);
}

/* Stores the data and unified caches of one core; sizes are texts such as "32K". */
static int put_cache(struct features *features, uint32_t level, struct text kind,
                     struct text size, uint32_t line_bytes, struct diag *diag)
{
        static const char *const keys[] = {NULL, "l1d_bytes", "l2_bytes", "l3_bytes"};
        char number[32], *unit;
        if (level < 1 || level > 3 || kind.length == 0 || kind.bytes[0] == 'I')
                return 0;
        snprintf(number, sizeof(number), "%.*s", size.length, size.bytes);
        uint64_t bytes = strtoull(number, &unit, 10);
        if (*unit == 'K')
                bytes *= 1024;
        else if (*unit == 'M')
                bytes *= 1024 * 1024;
        int rc = bytes ? put_number(features, keys[level], bytes, "bytes", diag) : 0;
        if (rc == 0 && line_bytes)
                rc = put_number(features, "line_bytes", line_bytes, "bytes", diag);
        return rc;
}

static int decode_caches(struct features *features, struct cursor *cursor,
                         struct diag *diag)
{
        cursor_u32(cursor); /* version */
        uint32_t count = cursor_u32(cursor);
        int rc = 0;
        for (uint32_t i = 0; i < count && rc == 0 && !cursor->failed; i++) {
                uint32_t level = cursor_u32(cursor);
                uint32_t line_bytes = cursor_u32(cursor);
                cursor_u32(cursor); /* sets */
                cursor_u32(cursor); /* ways */
                struct text kind = cursor_text(cursor);
                struct text size = cursor_text(cursor);
                cursor_text(cursor); /* CPUs */
                if (!cursor->failed)
                        rc = put_cache(features, level, kind, size, line_bytes, diag);
        }
        return rc;
}

/* Prints "NAME=VALUE" pairs; a count precedes them. */
static void print_caps(struct cursor *cursor, FILE *out)
{
        uint32_t count = cursor_u32(cursor);
        for (uint32_t i = 0; i < count && !cursor->failed; i++) {
                struct text name = cursor_text(cursor);
                struct text value = cursor_text(cursor);
                fprintf(out, "%s%.*s=%.*s", i ? " " : "", name.length, name.bytes,
                        value.length, value.bytes);
        }
}

static int decode_core_pmu_caps(struct features *features, struct cursor *cursor,
                                struct diag *diag)
{
        struct builder builder;
        int rc = builder_open(&builder, diag);
        if (rc < 0)
                return rc;
        print_caps(cursor, builder.out);
        return builder_put(&builder, cursor->failed, features, "cpu_pmu_caps", diag);
}

static int decode_pmu_caps(struct features *features, struct cursor *cursor,
                           struct diag *diag)
{
        struct builder builder;
        int rc = builder_open(&builder, diag);
        if (rc < 0)
                return rc;
        uint32_t count = cursor_u32(cursor);
        for (uint32_t i = 0; i < count && !cursor->failed; i++) {
                if (i)
                        fputs("; ", builder.out);
                print_caps(cursor, builder.out);
                struct text name = cursor_text(cursor);
                fprintf(builder.out, " (%.*s)", name.length, name.bytes);
        }
        return builder_put(&builder, cursor->failed, features, "pmu_caps", diag);
}

static int decode_hybrid(struct features *features, struct cursor *cursor,
                         struct diag *diag)
{
        struct builder builder;
        int rc = builder_open(&builder, diag);
        if (rc < 0)
                return rc;
        uint32_t count = cursor_u32(cursor);
        for (uint32_t i = 0; i < count && !cursor->failed; i++) {
                struct text name = cursor_text(cursor);
                struct text cpus = cursor_text(cursor);
                fprintf(builder.out, "%s%.*s: cpus %.*s", i ? "; " : "", name.length,
                        name.bytes, cpus.length, cpus.bytes);
        }
        return builder_put(&builder, cursor->failed, features, "hybrid", diag);
}

/* ---- build-ids ---- */

/* Makes room for another build-id; NULL: no memory. */
static struct build_id *room_for_build_id(struct features *features)
{
        return array_reserve(&features->build_ids, &features->build_id_capacity,
                             features->build_id_count, sizeof(*features->build_ids)) < 0
                   ? NULL
                   : &features->build_ids[features->build_id_count];
}

/* Layout: header, pid, 20 bytes of id, 4 more bytes (the first may be the id's length),
 * path. */
int features_add_build_id(struct features *features, const void *bytes, size_t size,
                          struct diag *diag)
{
        enum { HEADER_BYTES = 8, ID_FIELD_BYTES = 24 };
        struct cursor cursor = {bytes, size, false};
        const uint8_t *header = cursor_bytes(&cursor, HEADER_BYTES);
        cursor_u32(&cursor); /* pid */
        const uint8_t *id = cursor_bytes(&cursor, ID_FIELD_BYTES);
        const char *path = (const char *)cursor.at;
        if (cursor.failed)
                return diag_set(diag, -EBADMSG, "a build-id entry of %zu bytes", size);
        uint16_t misc;
        memcpy(&misc, header + 4, sizeof(misc));
        size_t length = misc & BUILD_ID_HAS_SIZE ? id[BUILD_ID_BYTES] : BUILD_ID_BYTES;
        if (!(misc & BUILD_ID_HAS_SIZE) && memcmp(id + 16, (uint8_t[4]){0}, 4) == 0)
                length = 16; /* perf before 5.10 fills the shorter ones with zeros */
        if (length > BUILD_ID_BYTES)
                return diag_set(diag, -EBADMSG, "a build-id of %zu bytes", length);
        struct build_id *entry = room_for_build_id(features);
        char *copy = strndup(path, cursor.left);
        if (!entry || !copy) {
                free(copy);
                return diag_no_memory(diag);
        }
        *entry = (struct build_id){.path = copy, .length = length};
        memcpy(entry->bytes, id, length);
        features->build_id_count++;
        return 0;
}

static int decode_build_ids(struct features *features, struct cursor *cursor,
                            struct diag *diag)
{
        int rc = 0;
        while (rc == 0 && cursor->left > 0) {
                const uint8_t *bytes = cursor->at;
                uint16_t size = 0;
                if (cursor->left >= 8)
                        memcpy(&size, bytes + 6, sizeof(size));
                if (size < 8 || !cursor_bytes(cursor, size)) {
                        cursor->failed = true;
                        break;
                }
                rc = features_add_build_id(features, bytes, size, diag);
        }
        return rc;
}

/* ---- section numbers ---- */

/* Decoded sections, by perf's names (tools/perf/util/header.h). */
enum {
        FEATURE_BUILD_ID = 2,
        FEATURE_HOSTNAME = 3,
        FEATURE_OSRELEASE = 4,
        FEATURE_VERSION = 5,
        FEATURE_ARCH = 6,
        FEATURE_NRCPUS = 7,
        FEATURE_CPUDESC = 8,
        FEATURE_CPUID = 9,
        FEATURE_TOTAL_MEM = 10,
        FEATURE_CMDLINE = 11,
        FEATURE_EVENT_DESC = 12,
        FEATURE_CPU_TOPOLOGY = 13,
        FEATURE_NUMA_TOPOLOGY = 14,
        FEATURE_CACHE = 20,
        FEATURE_CPU_PMU_CAPS = 28,
        FEATURE_CLOCK_DATA = 29,
        FEATURE_HYBRID_TOPOLOGY = 30,
        FEATURE_PMU_CAPS = 31,
};

static int decode(struct features *features, struct events *events, unsigned number,
                  struct cursor *cursor, struct diag *diag)
{
        switch (number) {
        case FEATURE_BUILD_ID:
                return decode_build_ids(features, cursor, diag);
        case FEATURE_HOSTNAME:
                return put_text(features, "hostname", cursor_text(cursor), diag);
        case FEATURE_OSRELEASE:
                return put_text(features, "kernel", cursor_text(cursor), diag);
        case FEATURE_VERSION:
                return put_text(features, "perf_version", cursor_text(cursor), diag);
        case FEATURE_ARCH:
                return put_text(features, "architecture", cursor_text(cursor), diag);
        case FEATURE_NRCPUS:
                return decode_cpus(features, cursor, diag);
        case FEATURE_CPUDESC:
                return put_text(features, "cpu", cursor_text(cursor), diag);
        case FEATURE_CPUID:
                return put_text(features, "cpuid", cursor_text(cursor), diag);
        case FEATURE_TOTAL_MEM:
                return decode_memory(features, cursor, diag);
        case FEATURE_CMDLINE:
                return decode_command(features, cursor, diag);
        case FEATURE_EVENT_DESC:
                return decode_events(events, cursor, diag);
        case FEATURE_CPU_TOPOLOGY:
                return decode_topology(features, cursor, diag);
        case FEATURE_NUMA_TOPOLOGY:
                return decode_numa(features, cursor, diag);
        case FEATURE_CACHE:
                return decode_caches(features, cursor, diag);
        case FEATURE_CPU_PMU_CAPS:
                return decode_core_pmu_caps(features, cursor, diag);
        case FEATURE_CLOCK_DATA:
                return decode_clock(features, cursor);
        case FEATURE_HYBRID_TOPOLOGY:
                return decode_hybrid(features, cursor, diag);
        case FEATURE_PMU_CAPS:
                return decode_pmu_caps(features, cursor, diag);
        default:
                return 0;
        }
}

int features_decode(struct features *features, struct events *events, unsigned number,
                    const void *bytes, size_t size, struct diag *diag)
{
        struct cursor cursor = {bytes, size, false};
        int rc = decode(features, events, number, &cursor, diag);
        if (rc == 0 && cursor.failed)
                return diag_set(diag, -EBADMSG, "it is longer than its %zu bytes", size);
        return rc;
}

const char *features_text(const struct features *features, const char *key)
{
        for (size_t i = 0; i < features->fact_count; i++)
                if (strcmp(features->facts[i].key, key) == 0 && features->facts[i].text)
                        return features->facts[i].text;
        return "";
}
