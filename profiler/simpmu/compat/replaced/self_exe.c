/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Programs that the target executes through a process's link to its program, such as
 * /proc/self/exe, or through a descriptor. For the kernel such a link names Valgrind,
 * which cannot run itself. This file replaces it by the path of the target's program.
 * For a descriptor Valgrind only knows the file's name. The name may be gone, as the
 * name of a memory file always is, or the descriptor closes before Valgrind opens it.
 *
 * The linker replaces Valgrind's function by this: see symbols.cmake. */
#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"

#include "compat/memory.h"
#include "compat/program.h"
#include "compat/replaced/exec_size.h"
#include "compat/system_call.h"
#include "hidden/exec_fd.h"
#include "syscalls.h"

#define PROC              "/proc/"
#define EXE               "/exe"
#define AT_PHDR           3 /* from linux/auxvec.h */
#define PATH_BYTES        4096
#define LINK_BYTES        64
#define NAME_BYTES        24     /* of a process in /proc */
#define CURRENT_DIRECTORY (-100) /* AT_FDCWD, likewise */
#define EMPTY_PATH        0x1000 /* AT_EMPTY_PATH, from linux/fcntl.h */
#define AS_EFFECTIVE_USER 0x200  /* AT_EACCESS, likewise */
#define EXECUTABLE        1      /* X_OK, from unistd.h */
#define NR_faccessat2     439    /* from asm/unistd.h; Valgrind's headers lack it */

/* Cuts "NAME" out of "/proc/NAME/exe". */
static Bool process_of(const HChar *path, HChar name[NAME_BYTES])
{
        SizeT length = 0;

        if (VG_(strncmp)(path, PROC, sizeof(PROC) - 1) != 0)
                return False;
        path += sizeof(PROC) - 1;
        while (path[length] != '/' && path[length] != '\0' && length < NAME_BYTES - 1)
                length++;
        VG_(memcpy)(name, path, length);
        name[length] = '\0';
        return length > 0 && VG_(strcmp)(path + length, EXE) == 0;
}

static Bool read_link(const HChar *link, HChar path[PATH_BYTES])
{
        SSizeT length = VG_(readlink)(link, path, PATH_BYTES - 1);

        if (length <= 0)
                return False;
        path[length] = '\0';
        return True;
}

/* Valgrind keeps the executed file at the same descriptor in every process: tests
 * whether it is this process's file there too. */
static Bool runs_our_program(const HChar *process, const HChar *program)
{
        static HChar other[PATH_BYTES];
        HChar link[LINK_BYTES];

        VG_(snprintf)(link, sizeof(link), PROC "%s/fd/%d", process, VG_(cl_exec_fd));
        return read_link(link, other) && VG_(strcmp)(other, program) == 0;
}

static Bool is_script(Int fd)
{
        HChar start[2];

        return raw_syscall4(__NR_pread64, fd, (long)start, sizeof(start), 0) ==
                   (long)sizeof(start) &&
               start[0] == '#' && start[1] == '!';
}

/* The file whose program headers the auxiliary vector names; NULL: not known. */
static const HChar *interpreter(void)
{
        UWord entry[2];
        const NSegment *segment;

        for (long at = 0; raw_syscall4(__NR_pread64, VG_(cl_auxv_fd), (long)entry,
                                       sizeof(entry), at) == (long)sizeof(entry);
             at += (long)sizeof(entry))
                if (entry[0] == AT_PHDR) {
                        segment = VG_(am_find_nsegment)(entry[1]);
                        return segment != NULL ? VG_(am_get_filename)(segment) : NULL;
                }
        return NULL;
}

static Bool our_program(const HChar *process, HChar program[PATH_BYTES])
{
        HChar link[LINK_BYTES];
        const HChar *name;

        VG_(snprintf)(link, sizeof(link), PROC "self/fd/%d", VG_(cl_exec_fd));
        if (!read_link(link, program) || !runs_our_program(process, program))
                return False;
        if (!is_script(VG_(cl_exec_fd)))
                return True;
        name = interpreter();
        if (name == NULL || VG_(strlen)(name) >= PATH_BYTES)
                return False;
        VG_(strcpy)(program, name);
        return True;
}

/* Valgrind takes names from the target's memory only: so the target gets a page more,
 * once. */
static HChar *page_of_target(void)
{
        static HChar *page;
        SysRes result;

        if (page != NULL &&
            VG_(am_is_valid_for_client)((Addr)page, PATH_BYTES, VKI_PROT_WRITE))
                return page;
        result =
            VG_(am_mmap_anon_float_client)(PATH_BYTES, VKI_PROT_READ | VKI_PROT_WRITE);
        page = sr_isError(result) ? NULL : (HChar *)sr_Res(result);
        return page;
}

/* PROGRAM in the target's memory; PATH where there is none. */
static UWord for_target(const HChar *program, UWord path)
{
        HChar *page = page_of_target();

        if (page == NULL)
                return path;
        VG_(strcpy)(page, program);
        return (UWord)page;
}

/* A name of the file at FD in the target's memory, or PATH. */
static UWord descriptor(Int fd, UWord path)
{
        HChar program[EXEC_FD_PATH_BYTES];

        return exec_fd_path(fd, program) ? for_target(program, path) : path;
}

/* The path to execute instead of PATH: PATH itself if it is no such link. */
static UWord replaced(UWord path)
{
        static HChar program[PATH_BYTES];
        HChar process[NAME_BYTES];
        Int fd;

        if (path == 0 || !VG_(am_is_valid_for_client)(path, 1, VKI_PROT_READ))
                return path;
        fd = exec_fd_named((const HChar *)path);
        if (fd >= 0)
                return exec_fd_closes(fd) ? descriptor(fd, path) : path;
        if (!process_of((const HChar *)path, process) || !our_program(process, program))
                return path;
        return !is_script(VG_(cl_exec_fd)) && exec_fd_nameless(VG_(cl_exec_fd))
                   ? descriptor(VG_(cl_exec_fd), path)
                   : for_target(program, path);
}

static void refuse(struct system_call_status *status, UWord error)
{
        status->what = CALL_IS_COMPLETE;
        status->result = VG_(mk_SysRes_Error)(error);
}

/* Valgrind looks for the format of a file first: a shell would take a file that may not
 * be executed for a script. */
static Bool may_not_execute(UWord path)
{
        return VG_(am_is_valid_for_client)(path, 1, VKI_PROT_READ) &&
               raw_syscall4(NR_faccessat2, CURRENT_DIRECTORY, (long)path, EXECUTABLE,
                            AS_EFFECTIVE_USER) == -VKI_EACCES;
}

SYSTEM_CALL_BEFORE(vgSysWrap_generic_sys_execve_before)
{
        struct system_call changed = *call;

        if (may_not_execute(call->argument[0])) {
                refuse(status, VKI_EACCES);
                return;
        }
        if (!exec_size_fits(call->argument[1], call->argument[2])) {
                refuse(status, VKI_E2BIG);
                return;
        }
        changed.argument[0] = replaced(call->argument[0]);
        __real_vgSysWrap_generic_sys_execve_before(tid, layout, &changed, status, flags);
        exec_fd_failed();
}

static Bool names_descriptor(const struct system_call *call)
{
        const HChar *path = (const HChar *)call->argument[1];

        return (call->argument[4] & EMPTY_PATH) != 0 && (Int)call->argument[0] >= 0 &&
               VG_(am_is_valid_for_client)((Addr)path, 1, VKI_PROT_READ) && *path == '\0';
}

SYSTEM_CALL_BEFORE(vgSysWrap_linux_sys_execveat_before)
{
        struct system_call changed = *call;
        Int fd = (Int)call->argument[0];

        /* Valgrind takes this for a bad descriptor. */
        if (fd == CURRENT_DIRECTORY && call->argument[4] == 0) {
                for (UInt i = 0; i < 3; i++)
                        changed.argument[i] = call->argument[i + 1];
                __wrap_vgSysWrap_generic_sys_execve_before(tid, layout, &changed, status,
                                                           flags);
                return;
        }
        if (!exec_size_fits(call->argument[2], call->argument[3])) {
                refuse(status, VKI_E2BIG);
                return;
        }
        if (!names_descriptor(call))
                changed.argument[1] = replaced(call->argument[1]);
        else if (exec_fd_nameless(fd))
                changed.argument[1] = descriptor(fd, call->argument[1]);
        __real_vgSysWrap_linux_sys_execveat_before(tid, layout, &changed, status, flags);
        exec_fd_failed();
}
