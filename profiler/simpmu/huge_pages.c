/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks for huge pages for the engine's large pieces of memory: its table of threads, some
 * kilobytes for each of as many as there may be, which it writes to when it starts, and
 * the code that it generates. The kernel gives the first by some ten pages in place of
 * thousands, and the processor finds the second by fewer.
 *
 * The linker puts this in the place of the engine's function: see CMakeLists.txt. */
#include "pub_tool_basics.h"

#include "syscalls.h"

#define HUGE_LEAST_BYTES (8u << 20)
#define ADVISE_HUGE_PAGE 14 /* MADV_HUGEPAGE */

SysRes __real_vgPlain_am_mmap_anon_float_valgrind(SizeT bytes);
SysRes __wrap_vgPlain_am_mmap_anon_float_valgrind(SizeT bytes);

SysRes __wrap_vgPlain_am_mmap_anon_float_valgrind(SizeT bytes)
{
        SysRes result = __real_vgPlain_am_mmap_anon_float_valgrind(bytes);

        if (!sr_isError(result) && bytes >= HUGE_LEAST_BYTES)
                (void)raw_syscall4(__NR_madvise, (long)sr_Res(result), (long)bytes,
                                   ADVISE_HUGE_PAGE, 0);
        return result;
}
