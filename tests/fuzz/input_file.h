/* SPDX-License-Identifier: MIT */
/* For fuzz targets that take their input as a file. */
#ifndef FUZZ_INPUT_FILE_H
#define FUZZ_INPUT_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct input_file {
        int fd; /* the caller's to close */
        char path[64];
};

/* A file in memory of SIZE BYTES. */
static inline struct input_file input_file(const uint8_t *bytes, size_t size)
{
        struct input_file file = {.fd = memfd_create("input", MFD_CLOEXEC)};
        if (file.fd < 0 || write(file.fd, bytes, size) != (ssize_t)size)
                abort();
        snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
        return file;
}

/* libelf 0.188 leaks memory for some damaged sections. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
        return "leak:libelf.so";
}

#endif
