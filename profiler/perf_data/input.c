/* SPDX-License-Identifier: MIT */
/* Buffered reading from a file or a pipe. A file is read by position: the offset of its
 * descriptor, which may be the caller's standard input, does not matter. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20 };

int input_open(struct input *input, int fd, struct diag *diag)
{
        struct stat status;
        *input = (struct input){.fd = fd, .end_bytes = UINT64_MAX};
        if (fstat(fd, &status) != 0)
                return diag_set(diag, -errno, "cannot read it: %s", strerror(errno));
        if (S_ISDIR(status.st_mode))
                return diag_set(diag, -EISDIR, "it is a directory, not a recording");
        input->seekable = S_ISREG(status.st_mode);
        input->size_bytes = input->seekable ? (uint64_t)status.st_size : 0;
        input->buffer = malloc(BUFFER_BYTES);
        return input->buffer ? 0 : diag_no_memory(diag);
}

void input_close(struct input *input)
{
        free(input->buffer);
        *input = (struct input){.fd = -1};
}

void input_seek(struct input *input, uint64_t offset_bytes, uint64_t end_bytes)
{
        input->offset_bytes = offset_bytes;
        input->end_bytes = end_bytes;
        input->begin = input->end = 0;
}

/* At most COUNT bytes at OFFSET_BYTES; 0 at the end. */
static ssize_t read_some(const struct input *input, uint64_t offset_bytes, void *bytes,
                         size_t count)
{
        for (;;) {
                ssize_t got = input->seekable
                                  ? pread(input->fd, bytes, count, (off_t)offset_bytes)
                                  : read(input->fd, bytes, count);
                if (got >= 0 || errno != EINTR)
                        return got < 0 ? -errno : got;
        }
}

/* Reads once into the free part of the buffer; *COUNT 0 at the end. */
static int fill(struct input *input, size_t *count, struct diag *diag)
{
        uint64_t at = input->offset_bytes + (input->end - input->begin);
        size_t room = BUFFER_BYTES - input->end;
        if (at >= input->end_bytes || at > INT64_MAX)
                room = 0;
        else if (room > input->end_bytes - at)
                room = (size_t)(input->end_bytes - at);
        *count = 0;
        if (room == 0)
                return 0;
        ssize_t got = read_some(input, at, input->buffer + input->end, room);
        if (got < 0)
                return diag_set(diag, (int)got, "cannot read at offset %llu: %s",
                                (unsigned long long)at, strerror((int)-got));
        input->end += (size_t)got;
        *count = (size_t)got;
        return 0;
}

int input_peek(struct input *input, size_t wanted, const uint8_t **bytes, size_t *count,
               struct diag *diag)
{
        if (input->begin + wanted > BUFFER_BYTES) {
                memmove(input->buffer, input->buffer + input->begin,
                        input->end - input->begin);
                input->end -= input->begin;
                input->begin = 0;
        }
        size_t got = 1;
        while (input->end - input->begin < wanted && got > 0) {
                int rc = fill(input, &got, diag);
                if (rc < 0)
                        return rc;
        }
        *bytes = input->buffer + input->begin;
        *count = input->end - input->begin < wanted ? input->end - input->begin : wanted;
        return 0;
}

static void advance(struct input *input, size_t count)
{
        input->begin += count;
        input->offset_bytes += count;
        if (input->begin == input->end)
                input->begin = input->end = 0;
}

int input_skip(struct input *input, uint64_t count, uint64_t *missing, struct diag *diag)
{
        *missing = 0;
        while (count > 0) {
                size_t held = input->end - input->begin, got = 1;
                if (held == 0 && input->seekable) {
                        uint64_t end = input->end_bytes < input->size_bytes
                                           ? input->end_bytes
                                           : input->size_bytes;
                        uint64_t left =
                            end > input->offset_bytes ? end - input->offset_bytes : 0;
                        *missing = count > left ? count - left : 0;
                        input->offset_bytes += count - *missing;
                        return 0;
                }
                if (held == 0) {
                        int rc = fill(input, &got, diag);
                        if (rc < 0)
                                return rc;
                        held = got;
                }
                if (got == 0) {
                        *missing = count;
                        return 0;
                }
                size_t step = count < held ? (size_t)count : held;
                advance(input, step);
                count -= step;
        }
        return 0;
}

int input_read_at(const struct input *input, uint64_t offset_bytes, void *bytes,
                  size_t count, struct diag *diag)
{
        if (offset_bytes > input->size_bytes || count > input->size_bytes - offset_bytes)
                return diag_set(diag, -EBADMSG,
                                "offset %llu: %zu bytes should be there, but the file "
                                "ends at %llu",
                                (unsigned long long)offset_bytes, count,
                                (unsigned long long)input->size_bytes);
        for (size_t done = 0; done < count;) {
                ssize_t got = read_some(input, offset_bytes + done,
                                        (uint8_t *)bytes + done, count - done);
                if (got <= 0)
                        return diag_set(diag, got < 0 ? (int)got : -EBADMSG,
                                        "cannot read at offset %llu: %s",
                                        (unsigned long long)(offset_bytes + done),
                                        got < 0 ? strerror((int)-got)
                                                : "the file has become shorter");
                done += (size_t)got;
        }
        return 0;
}

/* ---- a pipe as a file ---- */

static int write_all(int fd, const uint8_t *bytes, size_t count)
{
        while (count > 0) {
                ssize_t put = write(fd, bytes, count);
                if (put < 0 && errno == EINTR)
                        continue;
                if (put <= 0)
                        return put < 0 ? -errno : -EIO;
                bytes += put;
                count -= (size_t)put;
        }
        return 0;
}

/* Copies the rest of the input, beginning with the buffered bytes. */
static int copy_rest(struct input *input, int fd, uint64_t *size_bytes, struct diag *diag)
{
        size_t got = 1;
        *size_bytes = 0;
        while (got > 0) {
                int rc = write_all(fd, input->buffer + input->begin,
                                   input->end - input->begin);
                if (rc < 0)
                        return diag_set(diag, rc, "cannot copy the pipe to a file: %s",
                                        strerror(-rc));
                *size_bytes += input->end - input->begin;
                advance(input, input->end - input->begin);
                rc = fill(input, &got, diag);
                if (rc < 0)
                        return rc;
        }
        return 0;
}

/* Creates an unnamed file in DIRECTORY; -1 with errno. Some file systems cannot do this
 * in one call. */
static int open_unnamed(const char *directory)
{
        char path[4096];
        int length = snprintf(path, sizeof(path), "%s/memlag-XXXXXX", directory);
        if (length < 0 || (size_t)length >= sizeof(path)) {
                errno = ENAMETOOLONG;
                return -1;
        }
        int fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
                unlink(path);
        return fd;
}

int input_spool(struct input *input, int *fd, struct diag *diag)
{
        const char *directory = getenv("TMPDIR");
        if (!directory || !*directory)
                directory = "/var/tmp";
        *fd = open_unnamed(directory);
        if (*fd < 0)
                return diag_set(diag, -errno,
                                "cannot make a temporary file in '%s' for what comes "
                                "through the pipe: %s; set TMPDIR, or give the file's "
                                "name",
                                directory, strerror(errno));
        uint64_t size_bytes;
        int rc = copy_rest(input, *fd, &size_bytes, diag);
        if (rc < 0) {
                close(*fd);
                *fd = -1;
                return rc;
        }
        input->fd = *fd;
        input->seekable = true;
        input->size_bytes = size_bytes;
        input_seek(input, 0, UINT64_MAX);
        return 0;
}
