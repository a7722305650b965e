/* SPDX-License-Identifier: MIT */
/* Decompresses the output of perf record -z: one zstd stream, split over the bodies of
 * COMPRESSED and COMPRESSED2 records. The stream contains normal records, which may
 * cross body boundaries. Its memory does not depend on the output's size. */
#ifndef MEMLAG_PERF_DATA_DECOMPRESS_H
#define MEMLAG_PERF_DATA_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "diag.h"

struct decompress;

/* NULL: out of memory. */
struct decompress *decompress_new(void);
void decompress_free(struct decompress *stream);

/* Adds the body of a record. All records of the body before must have been taken.
 * -ENOMEM. */
int decompress_feed(struct decompress *stream, const void *bytes, size_t count,
                    struct diag *diag);

/* Returns the next whole record; *SIZE 0: more input is needed. It is aligned to 8 bytes
 * and lives until the next call. -EBADMSG when the stream is damaged. */
int decompress_next(struct decompress *stream, const void **record, size_t *size,
                    struct diag *diag);

/* The bytes of a record that was begun and is not complete. */
size_t decompress_left(const struct decompress *stream);

#endif
