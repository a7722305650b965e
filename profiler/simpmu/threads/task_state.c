/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's state of a thread of this process. */
#include "tool.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"

#include "syscalls.h"

/* Reads FILE of the thread's directory into TEXT; False: it cannot be read. */
static Bool read_task_file(UInt lwp, const HChar *file, HChar *text, SizeT size)
{
        HChar path[64];

        VG_(snprintf)(path, sizeof(path), "/proc/self/task/%u/%s", lwp, file);
        SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
        if (sr_isError(opened))
                return False;
        Int length = VG_(read)((Int)sr_Res(opened), text, (Int)size - 1);
        VG_(close)((Int)sr_Res(opened));
        text[length > 0 ? length : 0] = '\0';
        return length > 0;
}

Bool task_wants_processor(UInt lwp)
{
        /* "LWP (NAME) STATE ...": names have at most 15 characters, of any kind. */
        HChar text[64];

        if (!read_task_file(lwp, "stat", text, sizeof(text)))
                return False;
        const HChar *name_end = VG_(strrchr)(text, ')');
        return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'R';
}

Bool task_name(UInt lwp, HChar name[SIMPMU_NAME_BYTES])
{
        HChar line[SIMPMU_NAME_BYTES + 1]; /* ends in a newline */

        if (!read_task_file(lwp, "comm", line, sizeof(line)))
                return False;
        VG_(memset)(name, 0, SIMPMU_NAME_BYTES);
        VG_(memcpy)(name, line, VG_(strcspn)(line, "\n"));
        return True;
}

/* The thread whose comm the open file FD is; 0: it is another file. */
static UInt task_of_comm(Int fd)
{
        static const HChar comm[] = "/comm";
        HChar link[64], path[128];
        SSizeT length;

        if (!is_in_procfs(fd))
                return 0;
        VG_(snprintf)(link, sizeof(link), "/proc/self/fd/%d", fd);
        length = VG_(readlink)(link, path, sizeof(path) - 1);
        path[length < 0 ? 0 : length] = '\0';
        HChar *end = VG_(strstr)(path, comm);
        if (end == NULL || end[sizeof(comm) - 1] != '\0')
                return 0;
        *end = '\0';
        const HChar *slash = VG_(strrchr)(path, '/');
        return slash == NULL ? 0 : (UInt)VG_(strtoull10)(slash + 1, NULL);
}

UInt task_named(UInt lwp, UInt number, const UWord *arguments)
{
        if (number == __NR_prctl)
                return (Int)arguments[0] == PR_SET_NAME ? lwp : 0;
        return number == __NR_write ? task_of_comm((Int)arguments[0]) : 0;
}
