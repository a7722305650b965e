/* SPDX-License-Identifier: MIT */
/* The stream of records of both forms, and the header of a pipe. Records of perf itself
 * (types from 64 on) are used up here; the kernel's are handed on. */
#include "perf_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf_data_internal.h"

static const char magic[8] = "PERFILE2";
static const char magic_swapped[8] = "2ELIFREP";
static const char magic_old[8] = "PERFFILE"; /* before 2010 */

/* Record types of perf itself (tools/lib/perf/include/perf/event.h). */
enum {
        RECORD_HEADER_ATTR = 64,
        RECORD_HEADER_EVENT_TYPE,
        RECORD_HEADER_TRACING_DATA,
        RECORD_HEADER_BUILD_ID,
        RECORD_FINISHED_ROUND,
        RECORD_ID_INDEX,
        RECORD_AUXTRACE_INFO,
        RECORD_AUXTRACE,
        RECORD_AUXTRACE_ERROR,
        RECORD_THREAD_MAP,
        RECORD_CPU_MAP,
        RECORD_STAT_CONFIG,
        RECORD_STAT,
        RECORD_STAT_ROUND,
        RECORD_EVENT_UPDATE,
        RECORD_TIME_CONV,
        RECORD_HEADER_FEATURE,
        RECORD_COMPRESSED,
        RECORD_FINISHED_INIT,
        RECORD_COMPRESSED2,
        RECORD_BPF_METADATA,
        RECORD_TYPES_END
};
enum { KERNEL_TYPES_END = 64 };

/* ---- messages ---- */

int perf_data_at_offset(struct diag *diag, uint64_t offset_bytes, int code)
{
        struct diag what = *diag;
        return diag_set(diag, code, "offset %llu: %s", (unsigned long long)offset_bytes,
                        what.text);
}

void perf_data_note_damage(struct perf_data *data, const struct diag *diag)
{
        if (!data->has_damage)
                data->damage = *diag;
        data->has_damage = true;
}

const char *perf_data_damage(const struct perf_data *data)
{
        return data->has_damage ? data->damage.text : NULL;
}

uint64_t perf_data_bad_features(const struct perf_data *data, const char **first)
{
        *first = data->bad_feature.text;
        return data->bad_features;
}

int perf_data_take_feature(struct perf_data *data, unsigned number, const void *bytes,
                           size_t size, uint64_t offset, struct diag *diag)
{
        if (size == 0)
                return 0;
        int rc =
            features_decode(&data->features, &data->events, number, bytes, size, diag);
        if (rc != -EBADMSG)
                return rc;
        if (data->bad_features++ == 0)
                diag_set(&data->bad_feature, rc, "offset %llu: feature %u: %s",
                         (unsigned long long)offset, number, diag->text);
        return 0;
}

/* ---- opening ---- */

static int check_magic(const uint8_t *bytes, size_t count, struct diag *diag)
{
        if (count < PIPE_HEADER_BYTES)
                return diag_set(diag, -EPROTO,
                                "offset %zu: it ends before a header does; it is not a "
                                "recording of perf",
                                count);
        if (memcmp(bytes, magic_swapped, MAGIC_BYTES) == 0)
                return diag_set(
                    diag, -EPROTO,
                    "offset 0: it was recorded on a machine of the other byte "
                    "order (big-endian), which memlag does not read");
        if (memcmp(bytes, magic_old, MAGIC_BYTES) == 0)
                return diag_set(diag, -EPROTO,
                                "offset 0: it is in the format of perf before Linux "
                                "2.6.37, which memlag does not read");
        if (memcmp(bytes, magic, MAGIC_BYTES) != 0)
                return diag_set(diag, -EPROTO,
                                "offset 0: it does not begin as a recording of perf does "
                                "(PERFILE2)");
        return 0;
}

static int open_header(struct perf_data *data, struct diag *diag)
{
        const uint8_t *bytes;
        size_t count;
        uint64_t size, missing;
        int rc = input_peek(&data->input, PIPE_HEADER_BYTES, &bytes, &count, diag);
        if (rc == 0)
                rc = check_magic(bytes, count, diag);
        if (rc < 0)
                return rc;
        memcpy(&size, bytes + MAGIC_BYTES, sizeof(size));
        data->pipe = size == PIPE_HEADER_BYTES;
        if (data->pipe)
                return input_skip(&data->input, PIPE_HEADER_BYTES, &missing, diag);
        if (size != sizeof(struct file_header))
                return diag_set(diag, -EBADMSG,
                                "offset 8: a header of %llu bytes; of a file it has %zu, "
                                "in a pipe %d",
                                (unsigned long long)size, sizeof(struct file_header),
                                PIPE_HEADER_BYTES);
        if (!data->input.seekable)
                rc = input_spool(&data->input, &data->spooled_fd, diag);
        return rc == 0 ? perf_data_read_header(data, diag) : rc;
}

int perf_data_open(int fd, struct perf_data **result, struct diag *diag)
{
        struct perf_data *data = calloc(1, sizeof(*data));
        if (!data)
                return diag_no_memory(diag);
        data->spooled_fd = -1;
        int rc = input_open(&data->input, fd, diag);
        if (rc == 0)
                rc = events_open(&data->events, diag);
        if (rc == 0)
                rc = open_header(data, diag);
        if (rc < 0) {
                perf_data_close(data);
                return rc;
        }
        *result = data;
        return 0;
}

void perf_data_close(struct perf_data *data)
{
        if (!data)
                return;
        decompress_free(data->compressed);
        features_free(&data->features);
        events_close(&data->events);
        input_close(&data->input);
        if (data->spooled_fd >= 0)
                close(data->spooled_fd);
        free(data);
}

/* ---- perf's own records ---- */

/* Reads a 32-bit field of perf's records. */
static uint32_t u32_at(const uint8_t *bytes, size_t offset)
{
        uint32_t value;
        memcpy(&value, bytes + offset, sizeof(value));
        return value;
}

static uint64_t u64_at(const uint8_t *bytes, size_t offset)
{
        uint64_t value;
        memcpy(&value, bytes + offset, sizeof(value));
        return value;
}

/* Takes the attributes, with their recorded size, and ids. */
static int take_attr(struct perf_data *data, const uint8_t *bytes, size_t size,
                     struct diag *diag)
{
        enum { ATTR_SIZE_AT = HEADER_BYTES + 4 };
        size_t attr_bytes = size >= ATTR_SIZE_AT + 4 ? u32_at(bytes, ATTR_SIZE_AT) : 0;
        if (attr_bytes == 0)
                attr_bytes = PERF_ATTR_SIZE_VER0;
        if (attr_bytes > size - HEADER_BYTES)
                return diag_set(
                    diag, -EBADMSG,
                    "an event's attributes say that they have %zu bytes, in a "
                    "record of %zu",
                    attr_bytes, size);
        int rc = events_add(&data->events, bytes + HEADER_BYTES, attr_bytes, diag);
        size_t ids_at = HEADER_BYTES + attr_bytes;
        return rc == 0 ? events_add_ids(&data->events, data->events.count - 1,
                                        bytes + ids_at, (size - ids_at) / 8, diag)
                       : rc;
}

/* Takes an event's name that came after the attributes. */
static int take_update(struct perf_data *data, const uint8_t *bytes, size_t size,
                       struct diag *diag)
{
        enum { TYPE_AT = HEADER_BYTES, ID_AT = 16, TEXT_AT = 24, TYPE_NAME = 2 };
        size_t index;
        if (size < TEXT_AT)
                return diag_set(diag, -EBADMSG, "an event's change has %zu bytes", size);
        if (u64_at(bytes, TYPE_AT) != TYPE_NAME ||
            !events_find(&data->events, u64_at(bytes, ID_AT), &index))
                return 0;
        return events_set_name(&data->events, index, (const char *)bytes + TEXT_AT,
                               size - TEXT_AT, diag);
}

static int take_feature(struct perf_data *data, const uint8_t *bytes, size_t size,
                        struct diag *diag)
{
        enum { NUMBER_AT = HEADER_BYTES, BODY_AT = 16 };
        uint64_t number = size >= BODY_AT ? u64_at(bytes, NUMBER_AT) : FEATURE_COUNT;
        if (number >= FEATURE_COUNT)
                return 0; /* perf marks the end of the features so */
        return perf_data_take_feature(data, (unsigned)number, bytes + BODY_AT,
                                      size - BODY_AT, data->record_offset_bytes, diag);
}

static int take_compressed(struct perf_data *data, uint32_t type, const uint8_t *bytes,
                           size_t size, struct diag *diag)
{
        enum { SIZE_AT = HEADER_BYTES, BODY2_AT = 16 };
        size_t at = HEADER_BYTES, count = size - HEADER_BYTES;
        if (type == RECORD_COMPRESSED2) {
                at = BODY2_AT;
                if (size < BODY2_AT || u64_at(bytes, SIZE_AT) > size - BODY2_AT)
                        return diag_set(
                            diag, -EBADMSG,
                            "a compressed record says that it holds more than "
                            "its %zu bytes",
                            size);
                count = (size_t)u64_at(bytes, SIZE_AT);
        }
        if (!data->compressed && !(data->compressed = decompress_new()))
                return diag_no_memory(diag);
        data->in_compressed = true;
        return decompress_feed(data->compressed, bytes + at, count, diag);
}

/* Skips data that follows a record and is not part of its size. */
static int pass_over(struct perf_data *data, uint64_t count, struct diag *diag)
{
        uint64_t missing;
        int rc = input_skip(&data->input, count, &missing, diag);
        if (rc == 0 && missing)
                return diag_set(diag, -EBADMSG,
                                "the last %llu of %llu bytes that follow "
                                "the record are not there",
                                (unsigned long long)missing, (unsigned long long)count);
        return rc;
}

/* In a pipe a record gives their size; in a file they are a feature. */
static int take_tracing_data(struct perf_data *data, const uint8_t *bytes, size_t size,
                             struct diag *diag)
{
        if (size < HEADER_BYTES + 4)
                return diag_set(diag, -EBADMSG, "tracing data of unknown size");
        uint64_t count = ((uint64_t)u32_at(bytes, HEADER_BYTES) + 7) & ~UINT64_C(7);
        return data->pipe ? pass_over(data, count, diag) : 0;
}

static int take_aux_trace(struct perf_data *data, const uint8_t *bytes, size_t size,
                          struct diag *diag)
{
        if (size < HEADER_BYTES + 8)
                return diag_set(diag, -EBADMSG, "an AUX trace of unknown size");
        uint64_t count = u64_at(bytes, HEADER_BYTES);
        data->counts.aux_bytes += count;
        return pass_over(data, count, diag);
}

/* Uses up a record of perf itself, which was taken from the input already. */
static int take_own(struct perf_data *data, uint32_t type, const uint8_t *bytes,
                    size_t size, struct diag *diag)
{
        switch (type) {
        case RECORD_HEADER_ATTR: /* a file has them in its header */
                return data->pipe ? take_attr(data, bytes, size, diag) : 0;
        case RECORD_HEADER_TRACING_DATA:
                return take_tracing_data(data, bytes, size, diag);
        case RECORD_HEADER_BUILD_ID:
                return features_add_build_id(&data->features, bytes, size, diag);
        case RECORD_AUXTRACE:
                return take_aux_trace(data, bytes, size, diag);
        case RECORD_EVENT_UPDATE:
                return take_update(data, bytes, size, diag);
        case RECORD_HEADER_FEATURE:
                return take_feature(data, bytes, size, diag);
        case RECORD_COMPRESSED:
        case RECORD_COMPRESSED2:
                return take_compressed(data, type, bytes, size, diag);
        default:
                data->counts.unknown_records += type >= RECORD_TYPES_END;
                return 0;
        }
}

/* ---- the stream of records ---- */

static void hand_on(struct perf_data *data, const void *bytes, size_t size,
                    struct perf_data_item *item)
{
        item->kind = PERF_DATA_RECORD;
        item->bytes = bytes;
        item->size = size;
        item->event = events_of_record(&data->events, bytes, size);
        item->offset_bytes = data->record_offset_bytes;
}

/* Takes the next compressed record; in_compressed becomes false at the end. */
static int next_compressed(struct perf_data *data, struct perf_data_item *item,
                           struct diag *diag)
{
        const void *bytes;
        size_t size;
        struct perf_event_header header;
        int rc = decompress_next(data->compressed, &bytes, &size, diag);
        if (rc < 0)
                return perf_data_at_offset(diag, data->record_offset_bytes, rc);
        if (size == 0) {
                data->in_compressed = false;
                return 0;
        }
        memcpy(&header, bytes, sizeof(header));
        if (header.type < KERNEL_TYPES_END)
                hand_on(data, bytes, size, item);
        else if (header.type == RECORD_FINISHED_ROUND)
                item->kind = PERF_DATA_ROUND;
        else /* perf compresses nothing else */
                data->counts.unknown_records++;
        return 0;
}

/* Takes the first record of the input, copied to an aligned address; *SIZE 0 at the end.
 * In a pipe, trailing bytes that form no complete record of a known type are not perf's
 * data. They are perf's messages, if both its outputs go to one file. */
static int take_record(struct perf_data *data, size_t *size, struct diag *diag)
{
        struct perf_event_header header;
        const uint8_t *bytes;
        size_t count;
        uint64_t missing;
        *size = 0;
        data->record_offset_bytes = data->input.offset_bytes;
        int rc = input_peek(&data->input, sizeof(header), &bytes, &count, diag);
        if (rc < 0 || count == 0)
                return rc;
        if (count == sizeof(header)) {
                memcpy(&header, bytes, sizeof(header));
                if (header.size < sizeof(header))
                        return diag_set(diag, -EBADMSG,
                                        "a record of type %u says that it has %u bytes",
                                        header.type, header.size);
                rc = input_peek(&data->input, header.size, &bytes, &count, diag);
                if (rc < 0)
                        return rc;
        }
        if (count >= sizeof(header) && count < header.size &&
            header.type >= RECORD_TYPES_END && data->pipe) {
                data->counts.trailing_bytes = count;
                return input_skip(&data->input, count, &missing, diag);
        }
        if (count < sizeof(header) || count < header.size)
                return diag_set(diag, -EBADMSG,
                                "the recording ends inside of a record, after %zu bytes "
                                "of it",
                                count);
        memcpy(data->aligned, bytes, header.size);
        *size = header.size;
        return input_skip(&data->input, header.size, &missing, diag);
}

static int at_end(struct perf_data *data, struct diag *diag)
{
        size_t left = data->compressed ? decompress_left(data->compressed) : 0;
        if (left)
                return diag_set(diag, -EBADMSG,
                                "the recording ends inside of a compressed record, after "
                                "%zu bytes of it",
                                left);
        return 0;
}

/* Advances by one record of the input; item->kind stays END when the record was
 * consumed, with *ENDED false. */
static int step(struct perf_data *data, struct perf_data_item *item, bool *ended,
                struct diag *diag)
{
        struct perf_event_header header;
        size_t size;
        int rc = take_record(data, &size, diag);
        *ended = size == 0;
        if (rc == 0 && size == 0)
                rc = at_end(data, diag);
        if (rc == 0 && size > 0) {
                memcpy(&header, data->aligned, sizeof(header));
                if (header.type < KERNEL_TYPES_END)
                        hand_on(data, data->aligned, size, item);
                else if (header.type == RECORD_FINISHED_ROUND)
                        item->kind = PERF_DATA_ROUND;
                else
                        rc = take_own(data, header.type, (const uint8_t *)data->aligned,
                                      size, diag);
        }
        return rc < 0 ? perf_data_at_offset(diag, data->record_offset_bytes, rc) : 0;
}

int perf_data_next(struct perf_data *data, struct perf_data_item *item, struct diag *diag)
{
        bool ended = data->failed;
        int rc = 0;
        *item = (struct perf_data_item){.kind = PERF_DATA_END};
        while (rc == 0 && !ended && item->kind == PERF_DATA_END)
                rc = data->in_compressed ? next_compressed(data, item, diag)
                                         : step(data, item, &ended, diag);
        data->failed = rc < 0;
        return rc;
}

/* ---- results ---- */

const struct events *perf_data_events(const struct perf_data *data)
{
        return &data->events;
}

const struct features *perf_data_features(const struct perf_data *data)
{
        return &data->features;
}

const struct perf_data_counts *perf_data_counts(const struct perf_data *data)
{
        return &data->counts;
}

void perf_data_progress(const struct perf_data *data, uint64_t *read_bytes,
                        uint64_t *all_bytes)
{
        *read_bytes = data->input.offset_bytes;
        *all_bytes = data->input.size_bytes;
}
