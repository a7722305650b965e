/* SPDX-License-Identifier: MIT */
/* Makes and maps the memory file that the simulated processes write to. */
#include "sim_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "simpmu/slice.h"

/* More images than a large build forks. The file is sparse: only used slices cost
 * memory. */
#define SLICES_WANTED (UINT64_C(1) << 20)

/* Sets the file's size with as much of the limit on file sizes as there is. */
static int set_size(struct sim_memory *memory, struct diag *diag)
{
        struct rlimit before;
        if (getrlimit(RLIMIT_FSIZE, &before) != 0)
                before = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
        uint64_t capacity = SLICES_WANTED;
        if (before.rlim_max != RLIM_INFINITY && before.rlim_max < slice_offset(capacity))
                capacity = before.rlim_max < slice_offset(1)
                               ? 0
                               : (before.rlim_max - slice_offset(0)) / SIMPMU_SLICE_BYTES;
        if (capacity == 0)
                return diag_set(
                    diag, -EFBIG,
                    "the limit on file sizes is too low for the simulated PMU; "
                    "raise it to %u MB or more (ulimit -f)",
                    (unsigned)(slice_offset(1) >> 20) + 1);
        struct rlimit raised = {before.rlim_max, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &raised);
        int rc = ftruncate(memory->fd, (off_t)slice_offset(capacity));
        if (rc != 0)
                rc = diag_set(diag, -errno, "cannot make room for the simulated PMU: %s",
                              strerror(errno));
        setrlimit(RLIMIT_FSIZE, &before);
        /* The target can access the file. Shrinking it would kill memlag by SIGBUS. */
        if (rc == 0 && fcntl(memory->fd, F_ADD_SEALS,
                             F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
                rc = diag_set(diag, -errno, "cannot seal a memory file: %s",
                              strerror(errno));
        memory->capacity = capacity;
        return rc;
}

/* The kernel releases these locks at the process's end, in any PID namespace. Closing
 * any descriptor of the file releases them too. */
static struct flock lock_at(uint64_t offset)
{
        return (struct flock){.l_type = F_WRLCK,
                              .l_whence = SEEK_SET,
                              .l_start = (off_t)offset,
                              .l_len = 1};
}

bool sim_memory_lives(const struct sim_memory *memory, uint64_t number)
{
        struct flock lock = lock_at(slice_offset(number));
        return fcntl(memory->fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int sim_memory_open(struct sim_memory *memory, struct diag *diag)
{
        *memory = (struct sim_memory){
            .fd = memfd_create("memlag-simpmu", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
        if (memory->fd < 0)
                return diag_set(diag, -errno, "cannot make a memory file: %s",
                                strerror(errno));
        int rc = set_size(memory, diag);
        struct flock alive = lock_at(0);
        if (rc == 0 && fcntl(memory->fd, F_SETLK, &alive) != 0)
                rc = diag_set(diag, -errno, "cannot lock a memory file: %s",
                              strerror(errno));
        if (rc < 0) {
                sim_memory_close(memory);
                return rc;
        }
        void *control = mmap(NULL, SIMPMU_CONTROL_BYTES, PROT_READ | PROT_WRITE,
                             MAP_SHARED, memory->fd, 0);
        if (control == MAP_FAILED) {
                rc = diag_set(diag, -errno,
                              "cannot map the simulated PMU's control page: %s",
                              strerror(errno));
                sim_memory_close(memory);
                return rc;
        }
        memory->control = control;
        return 0;
}

void sim_memory_close(struct sim_memory *memory)
{
        if (memory->control)
                munmap(memory->control, SIMPMU_CONTROL_BYTES);
        if (memory->fd >= 0)
                close(memory->fd);
        *memory = (struct sim_memory){.fd = -1};
}

int sim_memory_put_plan(struct sim_memory *memory, const struct simpmu_plan *plan,
                        size_t bytes, struct diag *diag)
{
        if (pwrite(memory->fd, plan, bytes, SIMPMU_CONTROL_BYTES) == (ssize_t)bytes)
                return 0;
        return diag_set(diag, -EIO, "cannot write to the simulated PMU's memory: %s",
                        strerror(errno));
}

struct simpmu_slice *sim_memory_map(struct sim_memory *memory, uint64_t number,
                                    struct diag *diag)
{
        void *slice = mmap(NULL, SIMPMU_SLICE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                           memory->fd, (off_t)slice_offset(number));
        if (slice != MAP_FAILED)
                return slice;
        diag_set(diag, -errno, "cannot map a simulated process's records: %s",
                 strerror(errno));
        return NULL;
}

void sim_memory_unmap(struct simpmu_slice *slice)
{
        munmap(slice, SIMPMU_SLICE_BYTES);
}

/* If the file system cannot punch holes, the memory stays allocated until the end. */
static void punch(struct sim_memory *memory, uint64_t offset, uint64_t length)
{
        (void)!fallocate(memory->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                         (off_t)offset, (off_t)length);
}

void sim_memory_drop_ring(struct sim_memory *memory, uint64_t number)
{
        punch(memory, slice_offset(number) + SIMPMU_SLICE_HEADER_BYTES,
              SIMPMU_RING_BYTES + SIMPMU_CLAIM_BYTES);
}

void sim_memory_drop_header(struct sim_memory *memory, uint64_t number)
{
        punch(memory, slice_offset(number), SIMPMU_SLICE_HEADER_BYTES);
}
