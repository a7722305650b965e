/* SPDX-License-Identifier: MIT */
#include "file_limit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define TIMES       64u
#define LEAST_BYTES ((rlim_t)1 << 30)

uint64_t file_limit_bytes(void)
{
        struct rlimit limit;
        return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY
                   ? UINT64_MAX
                   : limit.rlim_cur;
}

uint64_t file_limit_size(const char *path)
{
        struct stat status;
        return stat(path, &status) == 0 && S_ISREG(status.st_mode)
                   ? (uint64_t)status.st_size
                   : 0;
}

void file_limit_set(uint64_t database_bytes)
{
        struct rlimit limit;
        signal(SIGXFSZ, SIG_IGN); /* the error is enough */
        if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY ||
            database_bytes > (RLIM_INFINITY - LEAST_BYTES) / TIMES)
                return;
        limit.rlim_cur = LEAST_BYTES + TIMES * database_bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
}
