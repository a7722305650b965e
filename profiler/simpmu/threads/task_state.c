/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's state of a thread of this process. */
#include "tool.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"

Bool task_wants_processor(UInt lwp)
{
        /* "LWP (NAME) STATE ...": names have at most 15 characters, of any kind. */
        HChar path[64], text[64];
        const HChar *name_end;

        VG_(snprintf)(path, sizeof(path), "/proc/self/task/%u/stat", lwp);
        SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
        if (sr_isError(opened))
                return False;
        Int length = VG_(read)((Int)sr_Res(opened), text, sizeof(text) - 1);
        VG_(close)((Int)sr_Res(opened));
        text[length > 0 ? length : 0] = '\0';
        name_end = VG_(strrchr)(text, ')');
        return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'R';
}
