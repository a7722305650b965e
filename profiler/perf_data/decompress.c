/* SPDX-License-Identifier: MIT */
/* Decompresses piece by piece: decompressed, unconsumed bytes never exceed one buffer,
 * however large the output. */
#include "decompress.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { RECORD_MAX_BYTES = 65536, BUFFER_BYTES = 4 * RECORD_MAX_BYTES };

struct decompress {
        ZSTD_DStream *zstd;
        uint8_t packed[RECORD_MAX_BYTES];
        ZSTD_inBuffer in;
        bool more; /* the buffer was full: zstd may have more output than IN shows */
        size_t begin, end;
        uint64_t buffer[BUFFER_BYTES / 8];
        uint64_t aligned[RECORD_MAX_BYTES / 8];
};

struct decompress *decompress_new(void)
{
        struct decompress *stream = calloc(1, sizeof(*stream));
        if (!stream)
                return NULL;
        stream->zstd = ZSTD_createDStream();
        stream->in.src = stream->packed;
        if (!stream->zstd) {
                free(stream);
                return NULL;
        }
        return stream;
}

void decompress_free(struct decompress *stream)
{
        if (!stream)
                return;
        ZSTD_freeDStream(stream->zstd);
        free(stream);
}

int decompress_feed(struct decompress *stream, const void *bytes, size_t count,
                    struct diag *diag)
{
        if (count > sizeof(stream->packed) || stream->in.pos < stream->in.size)
                return diag_set(diag, -EINVAL, "compressed data is fed out of turn");
        memcpy(stream->packed, bytes, count);
        stream->in.pos = 0;
        stream->in.size = count;
        return 0;
}

static int unpack(struct decompress *stream, struct diag *diag)
{
        uint8_t *bytes = (uint8_t *)stream->buffer;
        memmove(bytes, bytes + stream->begin, stream->end - stream->begin);
        stream->end -= stream->begin;
        stream->begin = 0;
        ZSTD_outBuffer out = {bytes, BUFFER_BYTES, stream->end};
        size_t result = ZSTD_decompressStream(stream->zstd, &out, &stream->in);
        if (ZSTD_isError(result))
                return diag_set(diag, -EBADMSG, "the compressed data is damaged (%s)",
                                ZSTD_getErrorName(result));
        stream->end = out.pos;
        stream->more = out.pos == out.size;
        return 0;
}

/* Gets the size of the first record in the buffer; 0: incomplete. */
static int front_record(const struct decompress *stream, size_t *size, struct diag *diag)
{
        struct perf_event_header header;
        size_t held = stream->end - stream->begin;
        *size = 0;
        if (held < sizeof(header))
                return 0;
        memcpy(&header, (const uint8_t *)stream->buffer + stream->begin, sizeof(header));
        if (header.size < sizeof(header))
                return diag_set(diag, -EBADMSG,
                                "a record in the compressed data says that it has %u "
                                "bytes",
                                header.size);
        *size = held >= header.size ? header.size : 0;
        return 0;
}

int decompress_next(struct decompress *stream, const void **record, size_t *size,
                    struct diag *diag)
{
        int rc = front_record(stream, size, diag);
        while (rc == 0 && *size == 0 &&
               (stream->in.pos < stream->in.size || stream->more)) {
                rc = unpack(stream, diag);
                if (rc == 0)
                        rc = front_record(stream, size, diag);
        }
        if (rc < 0 || *size == 0)
                return rc;
        const uint8_t *bytes = (const uint8_t *)stream->buffer + stream->begin;
        stream->begin += *size;
        *record = bytes;
        if ((uintptr_t)bytes % 8 != 0)
                *record = memcpy(stream->aligned, bytes, *size);
        return 0;
}

size_t decompress_left(const struct decompress *stream)
{
        return stream->end - stream->begin;
}
