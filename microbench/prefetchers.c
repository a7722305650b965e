/* SPDX-License-Identifier: MIT */
/* Switches the hardware prefetchers off and back. */
#include "prefetchers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MISC_FEATURE_CONTROL = 0x1a4, ALL_OFF = 15 };

struct device {
        int fd;
        int cpu;
        uint64_t before;
};

struct prefetchers {
        struct device *devices;
        size_t count;
        pid_t guardian;
        int leash; /* the guardian restores when its other end sees the end */
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

/* The guardian: waits for the end of the process that holds the leash. Returns the number
 * of the first CPU that it could not restore, plus 1. */
static int guard(const struct prefetchers *prefetchers, int leash)
{
        char byte;
        int failed = 0;
        while (read(leash, &byte, 1) < 0 && errno == EINTR)
                ;
        for (size_t i = 0; i < prefetchers->count; i++) {
                const struct device *device = &prefetchers->devices[i];
                if (write_value(device, device->before) < 0 && failed == 0)
                        failed = (int)i + 1;
        }
        return failed;
}

static int start_guardian(struct prefetchers *prefetchers, struct diag *diag)
{
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
                return diag_set(diag, -errno, "cannot make a pipe: %s", strerror(errno));
        pid_t pid = fork();
        if (pid == 0) {
                close(ends[1]);
                setsid(); /* out of reach of the terminal's Ctrl-C */
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

int prefetchers_off(const char *devices, const int *cpus, size_t count,
                    struct prefetchers **prefetchers, struct diag *diag)
{
        struct prefetchers *new = calloc(1, sizeof(*new));
        if (new)
                new->devices = calloc(count, sizeof(*new->devices));
        if (!new || !new->devices) {
                free(new);
                return diag_no_memory(diag);
        }
        int rc = 0;
        while (rc == 0 && new->count < count) {
                rc = open_device(devices, cpus[new->count], &new->devices[new->count],
                                 diag);
                new->count += rc == 0;
        }
        if (rc == 0)
                rc = start_guardian(new, diag);
        if (rc < 0) {
                release(new);
                return rc;
        }
        rc = switch_off(new, diag);
        if (rc < 0) {
                struct diag ignored; /* the first failure is told */
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
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                size_t first = WIFEXITED(status) ? (size_t)WEXITSTATUS(status) - 1 : 0;
                const struct device *device = &prefetchers->devices[first];
                rc = diag_set(diag, -EIO,
                              "the prefetchers of CPU %d and perhaps others are still "
                              "off; write %llu to its MSR 0x1a4",
                              device->cpu, (unsigned long long)device->before);
        }
        release(prefetchers);
        return rc;
}
