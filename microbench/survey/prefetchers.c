/* SPDX-License-Identifier: MIT */
/* Switches the hardware prefetchers off and on again. */
#include "prefetchers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MISC_FEATURE_CONTROL = 0x1a4, ALL_OFF = 15, BOOT_ID_BYTES = 64 };

struct device {
        int fd;
        int cpu;
        uint64_t before;
};

struct prefetchers {
        struct device *devices;
        size_t count;
        pid_t guardian;
        int leash; /* the guardian restores when its end of the pipe closes */
        const char *state;
        int state_fd; /* locked while this process or the guardian lives */
};

static int write_value(const struct device *device, uint64_t value)
{
        errno = EIO;
        return pwrite(device->fd, &value, sizeof(value), MISC_FEATURE_CONTROL) ==
                       sizeof(value)
                   ? 0
                   : -errno;
}

static void release(struct prefetchers *prefetchers)
{
        if (prefetchers->state_fd >= 0)
                close(prefetchers->state_fd);
        for (size_t i = 0; i < prefetchers->count; i++)
                close(prefetchers->devices[i].fd);
        free(prefetchers->devices);
        free(prefetchers);
}

static int open_device(const char *format, int cpu, struct device *device,
                       struct diag *diag)
{
        char path[4096];
        snprintf(path, sizeof(path), format, cpu);
        *device = (struct device){.fd = open(path, O_RDWR | O_CLOEXEC), .cpu = cpu};
        if (device->fd < 0)
                return diag_set(diag, -errno,
                                "cannot switch the prefetchers: %s: %s; as root, load "
                                "the module msr",
                                path, strerror(errno));
        errno = EIO;
        if (pread(device->fd, &device->before, sizeof(device->before),
                  MISC_FEATURE_CONTROL) == sizeof(device->before))
                return 0;
        int rc = -errno;
        close(device->fd);
        return diag_set(diag, rc, "cannot read how the prefetchers of CPU %d are set: %s",
                        cpu, strerror(-rc));
}

/* ---- the state file: the boot's id, then a line with each CPU and its value ---- */

/* Returns false if it is unreadable: the state file's age is then unknown. */
static bool read_boot_id(char id[BOOT_ID_BYTES])
{
        FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
        if (!file || !fgets(id, BOOT_ID_BYTES, file))
                id[0] = '\0';
        if (file)
                fclose(file);
        id[strcspn(id, "\n")] = '\0';
        return id[0] != '\0';
}

static int refuse_state(const char *path, struct diag *diag)
{
        return diag_set(diag, -EPERM, "%s is no file of this user's; remove it", path);
}

/* Locks the state file. Registers are written only from a regular file of this user with
 * a single link. -ESTALE: the file was unlinked, because its owner has ended. */
static int claim_state(int fd, const char *path, struct diag *diag)
{
        struct stat status;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0)
                return diag_set(diag, -EBUSY,
                                "another calibration has switched the prefetchers (%s); "
                                "wait for its end",
                                path);
        if (fstat(fd, &status) != 0)
                return diag_set(diag, -errno, "cannot read %s: %s", path,
                                strerror(errno));
        if (status.st_nlink == 0)
                return -ESTALE;
        return S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                       status.st_nlink == 1
                   ? 0
                   : refuse_state(path, diag);
}

static int open_state(const char *path, int flags, int *fd, struct diag *diag)
{
        int rc;
        do {
                *fd = open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
                if (*fd < 0 && errno == ELOOP)
                        return refuse_state(path, diag);
                if (*fd < 0)
                        return diag_set(diag, -errno, "cannot write %s: %s", path,
                                        strerror(errno));
                rc = claim_state(*fd, path, diag);
                if (rc < 0) {
                        close(*fd);
                        *fd = -1;
                }
        } while (rc == -ESTALE);
        return rc;
}

static int write_state(const struct prefetchers *prefetchers, struct diag *diag)
{
        char id[BOOT_ID_BYTES];
        if (!read_boot_id(id))
                return diag_set(diag, -ENOENT,
                                "cannot switch the prefetchers: the boot's id cannot be "
                                "read, so that nobody could set them again");
        bool written = ftruncate(prefetchers->state_fd, 0) == 0 &&
                       dprintf(prefetchers->state_fd, "%s\n", id) > 0;
        for (size_t i = 0; written && i < prefetchers->count; i++)
                written = dprintf(prefetchers->state_fd, "%d %" PRIu64 "\n",
                                  prefetchers->devices[i].cpu,
                                  prefetchers->devices[i].before) > 0;
        if (written && fsync(prefetchers->state_fd) == 0)
                return 0;
        return diag_set(diag, -errno, "cannot write %s: %s", prefetchers->state,
                        strerror(errno));
}

/* Restores one line's value, limited to the bits that control prefetchers. */
static int recover_line(const char *devices, const char *line, struct diag *diag)
{
        struct device device;
        uint64_t before;
        int cpu;
        if (sscanf(line, "%d %" SCNu64, &cpu, &before) != 2 || cpu < 0)
                return 0; /* truncated: nothing was switched yet */
        int rc = open_device(devices, cpu, &device, diag);
        if (rc < 0)
                return rc;
        before = (device.before & ~(uint64_t)ALL_OFF) | (before & ALL_OFF);
        rc = write_value(&device, before);
        close(device.fd);
        if (rc < 0)
                return diag_set(diag, rc,
                                "the prefetchers of CPU %d are off since a calibration "
                                "was killed, and cannot be restored: %s; write %" PRIu64
                                " to its MSR 0x1a4",
                                cpu, strerror(-rc), before);
        return 1;
}

int prefetchers_recover(const char *devices, const char *state, struct diag *diag)
{
        char line[256], id[BOOT_ID_BYTES];
        int fd, restored = 0, rc = 0;
        rc = open_state(state, 0, &fd, diag);
        if (rc < 0)
                return rc == -ENOENT || rc == -ENOTDIR ? 0 : rc;
        if (!read_boot_id(id)) {
                close(fd);
                return diag_set(diag, -ENOENT,
                                "the boot's id cannot be read; the prefetchers may be "
                                "off, see %s",
                                state);
        }
        FILE *file = fdopen(fd, "r");
        if (!file) {
                close(fd);
                return diag_no_memory(diag);
        }
        bool same_boot =
            fgets(line, sizeof(line), file) && strncmp(line, id, strlen(id)) == 0;
        while (rc >= 0 && same_boot && fgets(line, sizeof(line), file)) {
                rc = recover_line(devices, line, diag);
                restored += rc > 0;
        }
        if (rc >= 0)
                unlink(state);
        fclose(file);
        return rc < 0 ? rc : restored;
}

/* ---- the guardian ---- */

/* Restores all devices, and removes the state. Returns the index of the first failed CPU,
 * plus 1. */
static int restore_all(const struct prefetchers *prefetchers)
{
        int failed = 0;
        for (size_t i = 0; i < prefetchers->count; i++) {
                const struct device *device = &prefetchers->devices[i];
                if (write_value(device, device->before) < 0 && failed == 0)
                        failed = (int)i + 1;
        }
        if (failed == 0)
                unlink(prefetchers->state);
        return failed;
}

/* Waits for the end of the process that holds the leash. */
static int guard(const struct prefetchers *prefetchers, int leash)
{
        char byte;
        while (read(leash, &byte, 1) < 0 && errno == EINTR)
                ;
        return restore_all(prefetchers);
}

static int start_guardian(struct prefetchers *prefetchers, struct diag *diag)
{
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
                return diag_set(diag, -errno, "cannot make a pipe: %s", strerror(errno));
        pid_t pid = fork();
        if (pid == 0) {
                close(ends[1]);
                setsid(); /* no Ctrl-C from the terminal */
                signal(SIGTERM, SIG_IGN);
                signal(SIGHUP, SIG_IGN);
                int failed = guard(prefetchers, ends[0]);
                _exit(failed == 0 ? 0 : failed < 255 ? failed : 255);
        }
        close(ends[0]);
        if (pid < 0) {
                close(ends[1]);
                return diag_set(diag, -errno, "cannot start a process: %s",
                                strerror(errno));
        }
        prefetchers->guardian = pid;
        prefetchers->leash = ends[1];
        return 0;
}

static int switch_off(struct prefetchers *prefetchers, struct diag *diag)
{
        for (size_t i = 0; i < prefetchers->count; i++) {
                const struct device *device = &prefetchers->devices[i];
                int rc = write_value(device, device->before | ALL_OFF);
                if (rc < 0)
                        return diag_set(diag, rc,
                                        "cannot switch the prefetchers of CPU %d: %s",
                                        device->cpu, strerror(-rc));
        }
        return 0;
}

/* Stores the devices' settings in the state file. The caller has locked it: no other
 * calibration has switched the prefetchers off. */
static int keep_state(const char *devices, const int *cpus, size_t count,
                      struct prefetchers *prefetchers, struct diag *diag)
{
        int rc = 0;
        while (rc == 0 && prefetchers->count < count) {
                rc = open_device(devices, cpus[prefetchers->count],
                                 &prefetchers->devices[prefetchers->count], diag);
                prefetchers->count += rc == 0;
        }
        if (rc == 0)
                rc = write_state(prefetchers, diag);
        return rc;
}

int prefetchers_off(const char *devices, const char *state, const int *cpus, size_t count,
                    struct prefetchers **prefetchers, struct diag *diag)
{
        struct prefetchers *new = calloc(1, sizeof(*new));
        if (new)
                *new = (struct prefetchers){.state = state, .state_fd = -1};
        if (new)
                new->devices = calloc(count, sizeof(*new->devices));
        if (!new || !new->devices) {
                free(new);
                return diag_no_memory(diag);
        }
        int rc = open_state(state, O_CREAT, &new->state_fd, diag);
        if (rc == 0) {
                rc = keep_state(devices, cpus, count, new, diag);
                if (rc == 0)
                        rc = start_guardian(new, diag);
                if (rc < 0)
                        unlink(state);
        }
        if (rc < 0) {
                release(new);
                return rc;
        }
        rc = switch_off(new, diag);
        if (rc < 0) {
                struct diag ignored; /* the first failure is reported */
                prefetchers_restore(new, &ignored);
                return rc;
        }
        *prefetchers = new;
        return 0;
}

int prefetchers_restore(struct prefetchers *prefetchers, struct diag *diag)
{
        int status = 0, rc = 0;
        close(prefetchers->leash);
        while (waitpid(prefetchers->guardian, &status, 0) < 0 && errno == EINTR)
                ;
        /* A killed guardian has not restored anything. */
        int failed = WIFEXITED(status) ? WEXITSTATUS(status) : restore_all(prefetchers);
        if (failed != 0) {
                size_t first = (size_t)failed - 1;
                const struct device *device = &prefetchers->devices[first];
                rc = diag_set(diag, -EIO,
                              "the prefetchers of CPU %d and perhaps others are still "
                              "off; write %llu to its MSR 0x1a4",
                              device->cpu, (unsigned long long)device->before);
        }
        release(prefetchers);
        return rc;
}
