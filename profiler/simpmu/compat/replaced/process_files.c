/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * The target's /proc/self/cmdline and auxv. Valgrind writes both into files in the
 * temporary directory and removes the files at once. A signal in between would leave
 * them, and a missing or full directory would end the target. Here they are anonymous
 * memory files. Where the target's limit on file sizes leaves no room, they are empty.
 *
 * The linker replaces Valgrind's functions by these: see symbols.cmake. */
#include "pub_tool_basics.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"

#include "compat/descriptors.h"
#include "syscalls.h"

#define PROCESS_FILE_PREFIX "proc_" /* proc_PID_cmdline, proc_PID_auxv */
#define RLIMIT_FSIZE        1       /* from asm/resource.h; Valgrind's headers lack it */
#define ENOUGH_BYTES        (8ul << 20) /* more than a command line takes */

static struct vki_rlimit limit; /* of the target */

/* False: there is no room for a file, whose writing would end the target. */
static Bool lift_limit(void)
{
        struct vki_rlimit lifted;

        if (VG_(getrlimit)(RLIMIT_FSIZE, &limit) != 0)
                return True;
        lifted = limit;
        lifted.rlim_cur = limit.rlim_max;
        (void)VG_(setrlimit)(RLIMIT_FSIZE, &lifted);
        return limit.rlim_max >= ENOUGH_BYTES;
}

Int __wrap_vgPlain_mkstemp(const HChar *part_of_name, HChar *full_name);
Int __real_vgPlain_mkstemp(const HChar *part_of_name, HChar *full_name);
Int __wrap_vgPlain_unlink(const HChar *name);
Int __real_vgPlain_unlink(const HChar *name);

/* FULL_NAME becomes "", which __wrap_vgPlain_unlink knows. -1: there is no such file. */
Int __wrap_vgPlain_mkstemp(const HChar *part_of_name, HChar *full_name)
{
        long fd;

        if (VG_(strncmp)(part_of_name, PROCESS_FILE_PREFIX,
                         sizeof(PROCESS_FILE_PREFIX) - 1) != 0)
                return __real_vgPlain_mkstemp(part_of_name, full_name);
        fd = lift_limit() ? raw_syscall4(__NR_memfd_create, (long)part_of_name, 0, 0, 0)
                          : raw_syscall4(__NR_open, (long)"/dev/null", VKI_O_RDWR, 0, 0);
        if (fd < 0) {
                VG_(strcpy)(full_name, "memory"); /* where Valgrind says it failed */
                return -1;
        }
        full_name[0] = '\0';
        return VG_(safe_fd)((Int)fd);
}

Int __wrap_vgPlain_unlink(const HChar *name)
{
        if (name[0] != '\0')
                return __real_vgPlain_unlink(name);
        (void)VG_(setrlimit)(RLIMIT_FSIZE, &limit);
        return 0;
}
