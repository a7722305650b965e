/* SPDX-License-Identifier: MIT */
/* Decodes perf_event records. The fields of a sample have the order of
 * PERF_RECORD_SAMPLE in linux/perf_event.h. */
#include "record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* Newer than the headers of Debian 12. */
#define BRANCH_COUNTERS     (UINT64_C(1) << 19)
#define BRANCH_TYPES_KNOWN  ((UINT64_C(1) << 20) - 1)
#define SAMPLE_TYPES_KNOWN  ((UINT64_C(1) << 25) - 1)
#define READ_FORMATS_KNOWN  ((UINT64_C(1) << 5) - 1)
#define LAST_TYPE_KNOWN     21 /* AUX_OUTPUT_HW_ID */
#define BRANCH_ENTRY_VALUES 3

int record_layout(const struct perf_event_attr *attr, struct record_layout *layout)
{
        *layout = (struct record_layout){
            .sample_type = attr->sample_type,
            .branch_sample_type = attr->branch_sample_type,
            .read_format = attr->read_format,
            .sample_regs_user = attr->sample_regs_user,
            .sample_regs_intr = attr->sample_regs_intr,
            .sample_id_all = attr->sample_id_all,
        };
        const uint64_t weights = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
        if (attr->sample_type & ~SAMPLE_TYPES_KNOWN ||
            attr->branch_sample_type & ~BRANCH_TYPES_KNOWN ||
            attr->read_format & ~READ_FORMATS_KNOWN ||
            (attr->sample_type & weights) == weights ||
            (attr->sample_type & PERF_SAMPLE_STACK_USER && attr->sample_stack_user == 0))
                return -ENOTSUP;
        return 0;
}

/* ---- a cursor that never passes the end ---- */

struct cursor {
        const uint64_t *at;
        const uint64_t *end;
        bool failed; /* a requested field was missing */
};

static size_t values_left(const struct cursor *cursor)
{
        return (size_t)(cursor->end - cursor->at);
}

/* COUNT values; NULL when there are fewer. */
static const uint64_t *take_values(struct cursor *cursor, uint64_t count)
{
        if (count > values_left(cursor)) {
                cursor->failed = true;
                cursor->at = cursor->end;
                return NULL;
        }
        const uint64_t *values = cursor->at;
        cursor->at += count;
        return values;
}

static uint64_t take(struct cursor *cursor)
{
        const uint64_t *value = take_values(cursor, 1);
        return value ? *value : 0;
}

static void take_pair(struct cursor *cursor, uint32_t *first, uint32_t *second)
{
        uint64_t value = take(cursor);
        uint32_t halves[2];
        memcpy(halves, &value, sizeof(halves));
        *first = halves[0];
        *second = halves[1];
}

/* Takes BYTES and their padding to whole values. */
static const uint8_t *take_bytes(struct cursor *cursor, uint64_t bytes)
{
        uint64_t values = bytes / 8 + (bytes % 8 != 0);
        return (const uint8_t *)take_values(cursor, values);
}

/* Takes the text up to the end, which must contain its NUL. */
static const char *take_text(struct cursor *cursor)
{
        const char *text = (const char *)cursor->at;
        if (!memchr(text, '\0', values_left(cursor) * 8)) {
                cursor->failed = true;
                text = "";
        }
        cursor->at = cursor->end;
        return text;
}

/* ---- samples ---- */

static void take_read(struct cursor *cursor, uint64_t format, struct record_read *read)
{
        bool group = format & PERF_FORMAT_GROUP;
        read->has_id = format & PERF_FORMAT_ID;
        read->has_lost = format & PERF_FORMAT_LOST;
        read->stride = 1u + read->has_id + read->has_lost;
        read->count = 1;
        const uint64_t *single = NULL;
        if (group)
                read->count = take(cursor);
        else
                single = take_values(cursor, 1);
        if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
                read->time_enabled = take(cursor);
        if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
                read->time_running = take(cursor);
        if (!group) {
                /* The times come between the value and its id. */
                read->values = single;
                if (take_values(cursor, read->stride - 1) && single)
                        read->stride = (size_t)(cursor->at - single);
        } else if (read->count > values_left(cursor)) { /* keeps the product small */
                take_values(cursor, read->count);
                read->count = 0;
        } else {
                read->values = take_values(cursor, read->count * read->stride);
                if (!read->values)
                        read->count = 0;
        }
}

struct record_value record_read_value(const struct record_read *read, size_t index)
{
        const uint64_t *value = read->values + index * read->stride;
        const uint64_t *last = value + read->stride - 1;
        return (struct record_value){
            .value = *value,
            .id = read->has_id ? last[read->has_lost ? -1 : 0] : 0,
            .lost = read->has_lost ? *last : 0,
        };
}

static void take_branches(struct cursor *cursor, uint64_t branch_sample_type,
                          struct record_sample *sample)
{
        uint64_t count = take(cursor);
        if (branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
                take(cursor);
        if (count > values_left(cursor) / BRANCH_ENTRY_VALUES) {
                cursor->failed = true;
                return;
        }
        sample->branches = take_values(cursor, count * BRANCH_ENTRY_VALUES);
        sample->branch_count = count;
        if (branch_sample_type & BRANCH_COUNTERS)
                take_values(cursor, count);
}

static void take_regs(struct cursor *cursor, uint64_t mask, struct record_regs *regs)
{
        regs->abi = take(cursor);
        if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE)
                return;
        regs->values = take_values(cursor, (uint64_t)__builtin_popcountll(mask));
        regs->mask = regs->values ? mask : 0;
}

bool record_register(const struct record_regs *regs, unsigned number, uint64_t *value)
{
        if (number >= 64 || !(regs->mask >> number & 1))
                return false;
        uint64_t below = regs->mask & ((UINT64_C(1) << number) - 1);
        *value = regs->values[__builtin_popcountll(below)];
        return true;
}

static void take_raw(struct cursor *cursor, struct record_sample *sample)
{
        if (values_left(cursor) == 0) {
                cursor->failed = true;
                return;
        }
        /* The size is a half value; the bytes follow it at once. */
        uint32_t size;
        memcpy(&size, cursor->at, sizeof(size));
        const uint8_t *field = take_bytes(cursor, (uint64_t)size + sizeof(size));
        if (field) {
                sample->raw = field + sizeof(size);
                sample->raw_bytes = size;
        }
}

static void take_user_stack(struct cursor *cursor, struct record_sample *sample)
{
        uint64_t size = take(cursor);
        if (size == 0)
                return;
        sample->user_stack = take_bytes(cursor, size);
        uint64_t copied = take(cursor);
        if (copied > size)
                cursor->failed = true;
        else if (sample->user_stack)
                sample->user_stack_bytes = copied;
}

/* The fields up to PERIOD. */
static void take_sample_head(struct cursor *cursor, uint64_t type, struct record *record)
{
        struct record_id *id = &record->id;
        uint32_t reserved;
        if (type & PERF_SAMPLE_IDENTIFIER)
                id->id = take(cursor);
        if (type & PERF_SAMPLE_IP)
                record->sample.ip = take(cursor);
        if (type & PERF_SAMPLE_TID)
                take_pair(cursor, &id->pid, &id->tid);
        if (type & PERF_SAMPLE_TIME)
                id->time = take(cursor);
        if (type & PERF_SAMPLE_ADDR)
                record->sample.addr = take(cursor);
        if (type & PERF_SAMPLE_ID)
                id->id = take(cursor);
        if (type & PERF_SAMPLE_STREAM_ID)
                id->stream_id = take(cursor);
        if (type & PERF_SAMPLE_CPU)
                take_pair(cursor, &id->cpu, &reserved);
        if (type & PERF_SAMPLE_PERIOD)
                record->sample.period = take(cursor);
}

/* The fields of variable length, up to STACK_USER. */
static void take_sample_middle(struct cursor *cursor, const struct record_layout *layout,
                               struct record_sample *sample)
{
        uint64_t type = layout->sample_type;
        if (type & PERF_SAMPLE_READ)
                take_read(cursor, layout->read_format, &sample->read);
        if (type & PERF_SAMPLE_CALLCHAIN) {
                uint64_t count = take(cursor);
                sample->callchain = take_values(cursor, count);
                sample->callchain_count = sample->callchain ? count : 0;
        }
        if (type & PERF_SAMPLE_RAW)
                take_raw(cursor, sample);
        if (type & PERF_SAMPLE_BRANCH_STACK)
                take_branches(cursor, layout->branch_sample_type, sample);
        if (type & PERF_SAMPLE_REGS_USER)
                take_regs(cursor, layout->sample_regs_user, &sample->user_regs);
        if (type & PERF_SAMPLE_STACK_USER)
                take_user_stack(cursor, sample);
}

static void take_sample_tail(struct cursor *cursor, const struct record_layout *layout,
                             struct record_sample *sample)
{
        uint64_t type = layout->sample_type;
        if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
                sample->weight = take(cursor);
        if (type & PERF_SAMPLE_DATA_SRC)
                sample->data_src = take(cursor);
        if (type & PERF_SAMPLE_TRANSACTION)
                sample->transaction = take(cursor);
        if (type & PERF_SAMPLE_REGS_INTR)
                take_regs(cursor, layout->sample_regs_intr, &sample->intr_regs);
        if (type & PERF_SAMPLE_PHYS_ADDR)
                sample->phys_addr = take(cursor);
        if (type & PERF_SAMPLE_CGROUP)
                sample->cgroup = take(cursor);
        if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
                sample->data_page_size = take(cursor);
        if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
                sample->code_page_size = take(cursor);
        if (type & PERF_SAMPLE_AUX) {
                uint64_t size = take(cursor);
                sample->aux = take_bytes(cursor, size);
                sample->aux_bytes = sample->aux ? size : 0;
        }
}

static const uint64_t id_bits = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                                PERF_SAMPLE_IDENTIFIER;

static void set_present(const struct record_layout *layout, struct record_id *id)
{
        id->present = layout->sample_type & id_bits;
        if (id->present & PERF_SAMPLE_IDENTIFIER)
                id->present |= PERF_SAMPLE_ID;
}

static void take_sample(struct cursor *cursor, const struct record_layout *layout,
                        struct record *record)
{
        record->kind = RECORD_SAMPLE;
        memset(&record->sample, 0, sizeof(record->sample));
        set_present(layout, &record->id);
        take_sample_head(cursor, layout->sample_type, record);
        take_sample_middle(cursor, layout, &record->sample);
        take_sample_tail(cursor, layout, &record->sample);
        /* A sample that its fields do not fill was written for another layout. */
        if (cursor->at != cursor->end)
                cursor->failed = true;
}

/* ---- the other records ---- */

/* Takes the trailer off the end of CURSOR. */
static void take_trailer(struct cursor *cursor, const struct record_layout *layout,
                         struct record_id *id)
{
        if (!layout->sample_id_all)
                return;
        uint64_t type = layout->sample_type & id_bits;
        size_t count = (size_t)__builtin_popcountll(type);
        if (count > values_left(cursor)) {
                cursor->failed = true;
                return;
        }
        cursor->end -= count;
        struct cursor trailer = {.at = cursor->end, .end = cursor->end + count};
        uint32_t reserved;
        set_present(layout, id);
        if (type & PERF_SAMPLE_TID)
                take_pair(&trailer, &id->pid, &id->tid);
        if (type & PERF_SAMPLE_TIME)
                id->time = take(&trailer);
        if (type & PERF_SAMPLE_ID)
                id->id = take(&trailer);
        if (type & PERF_SAMPLE_STREAM_ID)
                id->stream_id = take(&trailer);
        if (type & PERF_SAMPLE_CPU)
                take_pair(&trailer, &id->cpu, &reserved);
        if (type & PERF_SAMPLE_IDENTIFIER)
                id->id = take(&trailer);
}

/* Decodes the 24 bytes of MMAP2 with either a build-id or the inode. */
static void take_file_identity(struct cursor *cursor, bool build_id,
                               struct record_mmap *map)
{
        enum { VALUES = 3, BUILD_ID_AT = 4 };
        const uint64_t *values = take_values(cursor, VALUES);
        if (!values)
                return;
        const uint8_t *bytes = (const uint8_t *)values;
        if (!build_id) {
                memcpy(&map->device_major, bytes, 4);
                memcpy(&map->device_minor, bytes + 4, 4);
                map->inode = values[1];
                map->inode_generation = values[2];
                map->has_inode = true;
        } else if (bytes[0] > RECORD_BUILD_ID_BYTES) {
                cursor->failed = true;
        } else {
                map->build_id_bytes = bytes[0];
                memcpy(map->build_id, bytes + BUILD_ID_AT, bytes[0]);
        }
}

static void take_mmap(struct cursor *cursor, struct record *record)
{
        struct record_mmap *map = &record->mmap;
        record->kind = RECORD_MMAP;
        memset(map, 0, sizeof(*map));
        take_pair(cursor, &map->pid, &map->tid);
        map->addr = take(cursor);
        map->length_bytes = take(cursor);
        map->file_offset_bytes = take(cursor);
        if (record->type == PERF_RECORD_MMAP2) {
                take_file_identity(cursor, record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID,
                                   map);
                take_pair(cursor, &map->protection, &map->flags);
                map->has_protection = true;
        }
        map->is_data = record->misc & PERF_RECORD_MISC_MMAP_DATA;
        map->path = take_text(cursor);
}

static void take_comm(struct cursor *cursor, struct record *record)
{
        record->kind = RECORD_COMM;
        record->comm.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
        take_pair(cursor, &record->comm.pid, &record->comm.tid);
        record->comm.name = take_text(cursor);
}

static void take_task(struct cursor *cursor, struct record *record)
{
        struct record_task *task = &record->task;
        record->kind = record->type == PERF_RECORD_FORK ? RECORD_FORK : RECORD_EXIT;
        take_pair(cursor, &task->pid, &task->parent_pid);
        take_pair(cursor, &task->tid, &task->parent_tid);
        task->time = take(cursor);
}

static void take_lost(struct cursor *cursor, struct record *record)
{
        bool samples = record->type == PERF_RECORD_LOST_SAMPLES;
        record->kind = samples ? RECORD_LOST_SAMPLES : RECORD_LOST;
        record->lost.id = samples ? 0 : take(cursor);
        record->lost.count = take(cursor);
}

static void take_throttle(struct cursor *cursor, struct record *record)
{
        record->kind =
            record->type == PERF_RECORD_THROTTLE ? RECORD_THROTTLE : RECORD_UNTHROTTLE;
        record->throttle.time = take(cursor);
        record->throttle.id = take(cursor);
        record->throttle.stream_id = take(cursor);
}

static void take_body(struct cursor *cursor, struct record *record)
{
        switch (record->type) {
        case PERF_RECORD_MMAP:
        case PERF_RECORD_MMAP2:
                take_mmap(cursor, record);
                break;
        case PERF_RECORD_COMM:
                take_comm(cursor, record);
                break;
        case PERF_RECORD_FORK:
        case PERF_RECORD_EXIT:
                take_task(cursor, record);
                break;
        case PERF_RECORD_LOST:
        case PERF_RECORD_LOST_SAMPLES:
                take_lost(cursor, record);
                break;
        case PERF_RECORD_THROTTLE:
        case PERF_RECORD_UNTHROTTLE:
                take_throttle(cursor, record);
                break;
        default:
                record->kind = RECORD_OTHER;
        }
}

/* ---- records ---- */

size_t record_size(const void *bytes, size_t size)
{
        struct perf_event_header header;
        if (size < sizeof(header))
                return 0;
        memcpy(&header, bytes, sizeof(header));
        return header.size >= sizeof(header) ? header.size : 0;
}

static bool value_at(const void *bytes, size_t size, size_t index, uint64_t *value)
{
        if (index == 0 || index >= size / 8)
                return false;
        memcpy(value, (const uint8_t *)bytes + index * 8, sizeof(*value));
        return true;
}

static bool is_sample(const void *bytes)
{
        struct perf_event_header header;
        memcpy(&header, bytes, sizeof(header));
        return header.type == PERF_RECORD_SAMPLE;
}

bool record_identifier(const void *bytes, size_t size, uint64_t *id)
{
        return size >= sizeof(struct perf_event_header) &&
               value_at(bytes, size, is_sample(bytes) ? 1 : size / 8 - 1, id);
}

bool record_time(const struct record_layout *layout, const void *bytes, size_t size,
                 uint64_t *time)
{
        /* The fields before the time in a sample, and the fields from the time on in a
         * trailer. */
        const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
        const uint64_t behind = id_bits & ~(uint64_t)PERF_SAMPLE_TID;
        uint64_t type = layout->sample_type;
        if (size < sizeof(struct perf_event_header) || !(type & PERF_SAMPLE_TIME))
                return false;
        if (is_sample(bytes))
                return value_at(bytes, size,
                                1 + (size_t)__builtin_popcountll(type & before), time);
        size_t from_end = (size_t)__builtin_popcountll(type & behind);
        return layout->sample_id_all && from_end < size / 8 &&
               value_at(bytes, size, size / 8 - from_end, time);
}

int record_decode(const struct record_layout *layout, const void *bytes, size_t size,
                  struct record *record)
{
        struct perf_event_header header;
        if (size == 0 || record_size(bytes, size) != size || (uintptr_t)bytes % 8 != 0)
                return -EBADMSG;
        memcpy(&header, bytes, sizeof(header));
        record->type = header.type;
        record->misc = header.misc;
        record->id = (struct record_id){0};
        if (header.type == 0 || header.type > LAST_TYPE_KNOWN) {
                record->kind = RECORD_UNKNOWN;
                return 0;
        }
        if (size % 8 != 0)
                return -EBADMSG;
        struct cursor cursor = {
            .at = (const uint64_t *)bytes + 1,
            .end = (const uint64_t *)bytes + size / 8,
        };
        if (header.type == PERF_RECORD_SAMPLE) {
                take_sample(&cursor, layout, record);
        } else {
                take_trailer(&cursor, layout, &record->id);
                take_body(&cursor, record);
        }
        return cursor.failed ? -EBADMSG : 0;
}
