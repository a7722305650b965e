/* SPDX-License-Identifier: MIT */
/* Fuzz target: the import of a recording from its first byte to the last row. The input
 * is a whole recording, as a file; what comes before damage is kept. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "db.h"
#include "import.h"
#include "target.h"

/* In the place of the C library's, for SQLite too: waiting for the disk tests nothing. */
int fsync(int fd)
{
        (void)fd;
        return 0;
}

int fdatasync(int fd)
{
        return fsync(fd);
}

static char directory[] = "/tmp/memlag-fuzz-XXXXXX";
static char database[sizeof(directory) + sizeof("/import.db")];

static void remove_directory(void)
{
        struct diag ignored;
        db_remove(database, &ignored);
        rmdir(directory);
}

static void make_directory(void)
{
        if (*database)
                return;
        if (!mkdtemp(directory) || atexit(remove_directory) != 0)
                abort();
        snprintf(database, sizeof(database), "%s/import.db", directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        make_directory();
        int fd = memfd_create("recording", MFD_CLOEXEC);
        if (fd < 0 || write(fd, data, size) != (ssize_t)size)
                abort();
        char input[64];
        snprintf(input, sizeof(input), "/proc/self/fd/%d", fd);
        /* Of files that a recording names none is looked at. */
        const struct import_options options = {.input = input,
                                               .output = database,
                                               .partial = true,
                                               .interval_ns = 10000000,
                                               .symfs = "/nonexistent"};
        struct import_result result;
        struct diag diag;
        if (import_run(&options, &result, &diag) == 0)
                db_remove(database, &diag);
        close(fd);
        return 0;
}
