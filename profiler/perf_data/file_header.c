/* SPDX-License-Identifier: MIT */
/* Reads the sections of a recording in a file: its events, the location of its records,
 * and the features after them. Reads no record. */
#include "perf_data_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The ids of event INDEX, which are 8 bytes each. */
static int read_ids(struct perf_data *data, size_t index, const struct file_section *ids,
                    struct diag *diag)
{
        uint8_t bytes[4096];
        if (ids->size % 8 != 0 || ids->size > data->id_bytes_left)
                return diag_set(diag, -EBADMSG,
                                "offset %llu: %llu bytes cannot be the ids of event %zu",
                                (unsigned long long)ids->offset,
                                (unsigned long long)ids->size, index);
        data->id_bytes_left -= ids->size;
        for (uint64_t done = 0; done < ids->size;) {
                uint64_t left = ids->size - done;
                size_t step = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
                int rc =
                    input_read_at(&data->input, ids->offset + done, bytes, step, diag);
                if (rc == 0)
                        rc = events_add_ids(&data->events, index, bytes, step / 8, diag);
                if (rc < 0)
                        return rc;
                done += step;
        }
        return 0;
}

static int read_attr(struct perf_data *data, uint64_t offset, size_t attr_bytes,
                     struct diag *diag)
{
        uint8_t bytes[sizeof(struct perf_event_attr)] = {0};
        struct file_section ids;
        size_t kept = attr_bytes < sizeof(bytes) ? attr_bytes : sizeof(bytes);
        int rc = input_read_at(&data->input, offset, bytes, kept, diag);
        if (rc == 0)
                rc = input_read_at(&data->input, offset + attr_bytes, &ids, sizeof(ids),
                                   diag);
        if (rc == 0 && (rc = events_add(&data->events, bytes, kept, diag)) < 0)
                perf_data_at_offset(diag, offset, rc);
        return rc == 0 ? read_ids(data, data->events.count - 1, &ids, diag) : rc;
}

static int read_attrs(struct perf_data *data, const struct file_header *header,
                      struct diag *diag)
{
        enum { ATTR_SIZE_AT = 16, EVENTS_MAX = 65536 };
        uint64_t least = PERF_ATTR_SIZE_VER0 + SECTION_BYTES;
        if (header->attr_size < least || header->attr_size > 65536)
                return diag_set(diag, -EBADMSG,
                                "offset %d: an event takes %llu bytes; it takes %llu or "
                                "some more",
                                ATTR_SIZE_AT, (unsigned long long)header->attr_size,
                                (unsigned long long)least);
        uint64_t count = header->attrs.size / header->attr_size;
        if (count == 0 || count > EVENTS_MAX || header->attrs.size % header->attr_size)
                return diag_set(diag, -EBADMSG,
                                "offset %d: %llu bytes cannot be the events, of %llu "
                                "bytes each",
                                ATTR_SIZE_AT + 16, (unsigned long long)header->attrs.size,
                                (unsigned long long)header->attr_size);
        int rc = 0;
        data->id_bytes_left = data->input.size_bytes;
        for (uint64_t i = 0; i < count && rc == 0; i++)
                rc = read_attr(data, header->attrs.offset + i * header->attr_size,
                               (size_t)header->attr_size - SECTION_BYTES, diag);
        return rc;
}

static int read_feature(struct perf_data *data, unsigned number,
                        const struct file_section *section, struct diag *diag)
{
        if (section->size > FEATURE_MAX_BYTES)
                return diag_set(diag, -EBADMSG,
                                "offset %llu: feature %u says that it has %llu bytes",
                                (unsigned long long)section->offset, number,
                                (unsigned long long)section->size);
        void *bytes = malloc(section->size ? (size_t)section->size : 1);
        if (!bytes)
                return diag_no_memory(diag);
        int rc = input_read_at(&data->input, section->offset, bytes,
                               (size_t)section->size, diag);
        if (rc == 0)
                rc = perf_data_take_feature(data, number, bytes, (size_t)section->size,
                                            section->offset, diag);
        free(bytes);
        return rc;
}

/* The table of sections follows the data: one entry for each set bit. Missing sections
 * are damage, which is only noted: records can be read without them. */
static int read_features(struct perf_data *data, const struct file_header *header,
                         struct diag *diag)
{
        uint64_t at = header->data.offset + header->data.size;
        for (unsigned number = 0; number < FEATURE_COUNT; number++) {
                struct file_section section;
                if (!(header->features[number / 64] >> number % 64 & 1))
                        continue;
                int rc = input_read_at(&data->input, at, &section, sizeof(section), diag);
                at += sizeof(section);
                if (rc == 0)
                        rc = read_feature(data, number, &section, diag);
                if (rc == -EBADMSG)
                        perf_data_note_damage(data, diag);
                else if (rc < 0)
                        return rc;
        }
        return 0;
}

/* Locates the records; a recording that perf did not finish lacks their size. */
static void find_data(struct perf_data *data, const struct file_header *header)
{
        uint64_t size = data->input.size_bytes, begin = header->data.offset;
        uint64_t end = begin + header->data.size;
        struct diag diag;
        if (header->data.size == 0) {
                diag_set(&diag, 0,
                         "offset 48: the recording was not finished (perf was killed, "
                         "or is still running)");
                perf_data_note_damage(data, &diag);
                end = size;
        } else if (end > size || end < begin) {
                diag_set(&diag, 0,
                         "the file is cut off: it ends at offset %llu, its records at "
                         "%llu",
                         (unsigned long long)size, (unsigned long long)end);
                perf_data_note_damage(data, &diag);
                end = size;
        }
        input_seek(&data->input, begin, end);
}

int perf_data_read_header(struct perf_data *data, struct diag *diag)
{
        struct file_header header;
        int rc = input_read_at(&data->input, 0, &header, sizeof(header), diag);
        if (rc < 0)
                return rc;
        if (header.data.offset < sizeof(header) ||
            header.data.offset > data->input.size_bytes)
                return diag_set(diag, -EBADMSG,
                                "offset 40: the records cannot begin at offset %llu of a "
                                "file of %llu bytes",
                                (unsigned long long)header.data.offset,
                                (unsigned long long)data->input.size_bytes);
        rc = read_attrs(data, &header, diag);
        if (rc < 0)
                return rc;
        find_data(data, &header);
        if (header.features[0] >> FEATURE_DIR_FORMAT & 1)
                return diag_set(diag, -EPROTO,
                                "it is one file of a recording by several threads (perf "
                                "record --threads); record without --threads");
        return data->has_damage ? 0 : read_features(data, &header, diag);
}
