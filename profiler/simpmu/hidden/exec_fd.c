/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exec_fd.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"

#include "compat/descriptors.h"
#include "compat/program.h"
#include "syscalls.h"

#define PATH_BYTES 4096
/* From linux/fcntl.h; Valgrind's headers lack them. */
#define CLOSE_ON_EXEC      1       /* FD_CLOEXEC */
#define OPEN_CLOSE_ON_EXEC 0x80000 /* O_CLOEXEC */
#define OWN_PREFIX         "/proc/self/fd/"
/* The same place; only copies of ours are named like this. */
#define COPY_PREFIX "/proc/self//fd/"

static Int copy = -1;

static Int number_after(const HChar *path, const HChar *prefix)
{
        SizeT length = VG_(strlen)(prefix);
        HChar *end;
        Long number;

        if (VG_(strncmp)(path, prefix, length) != 0 || path[length] < '0' ||
            path[length] > '9')
                return -1;
        number = VG_(strtoll10)(path + length, &end);
        return *end == '\0' && number <= 0x7fffffff ? (Int)number : -1;
}

Int exec_fd_named(const HChar *path)
{
        static const HChar *const prefixes[] = {OWN_PREFIX, "/proc/thread-self/fd/",
                                                "/dev/fd/"};

        for (UInt i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
                Int fd = number_after(path, prefixes[i]);

                if (fd >= 0 && fd < VG_(fd_hard_limit))
                        return fd;
        }
        return -1;
}

Bool exec_fd_nameless(Int fd)
{
        static HChar name[PATH_BYTES];
        HChar link[EXEC_FD_PATH_BYTES];
        struct vg_stat named, open;
        SSizeT length;

        VG_(snprintf)(link, sizeof(link), OWN_PREFIX "%d", fd);
        length = VG_(readlink)(link, name, sizeof(name) - 1);
        if (length <= 0 || VG_(fstat)(fd, &open) != 0)
                return False;
        name[length] = '\0';
        return sr_isError(VG_(stat)(name, &named)) || named.dev != open.dev ||
               named.ino != open.ino;
}

Bool exec_fd_closes(Int fd)
{
        long flags = raw_syscall4(__NR_fcntl, fd, VKI_F_GETFD, 0, 0);

        return flags > 0 && (flags & CLOSE_ON_EXEC) != 0;
}

/* Valgrind's own range of descriptors has no room for a copy. */
Bool exec_fd_path(Int fd, HChar path[EXEC_FD_PATH_BYTES])
{
        const HChar *prefix = OWN_PREFIX;

        if (exec_fd_closes(fd)) {
                fd = copy = (Int)raw_syscall4(__NR_fcntl, fd, VKI_F_DUPFD, 0, 0);
                prefix = COPY_PREFIX;
        }
        VG_(snprintf)(path, EXEC_FD_PATH_BYTES, "%s%d", prefix, fd);
        return fd >= 0;
}

void exec_fd_failed(void)
{
        if (copy >= 0)
                VG_(close)(copy);
        copy = -1;
}

void exec_fd_pass_recording(Bool pass)
{
        static const HChar *const options[] = {"--shared=" OWN_PREFIX,
                                               "--bell=" OWN_PREFIX, "--log-fd="};

        for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
                const HChar *option =
                    *(const HChar **)VG_(indexXA)(VG_(args_for_valgrind), i);

                for (UInt j = 0; j < sizeof(options) / sizeof(options[0]); j++) {
                        Int fd = number_after(option, options[j]);

                        if (fd >= 0)
                                (void)raw_syscall4(__NR_fcntl, fd, VKI_F_SETFD,
                                                   pass ? 0 : CLOSE_ON_EXEC, 0);
                }
        }
}

void exec_fd_begun(const HChar *program)
{
        Int fd = number_after(program, COPY_PREFIX);

        if (fd >= 0)
                VG_(close)(fd);
}

void exec_fd_opened(UInt number, const UWord *arguments, Int fd)
{
        UWord flags = 0;

        if (number == __NR_open)
                flags = arguments[1];
        else if (number == __NR_openat)
                flags = arguments[2];
        if ((flags & OPEN_CLOSE_ON_EXEC) != 0)
                (void)raw_syscall4(__NR_fcntl, fd, VKI_F_SETFD, CLOSE_ON_EXEC, 0);
}
