/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Valgrind reads every module's DWARF line numbers for messages of its own, and gives
 * the whole process up over forms that it does not know (DWARF 5 of clang 14, split and
 * type units in 3.19). memlag has no use for them: names are found afterwards, by another
 * program. So Valgrind's reader is replaced by one that reads nothing; it keeps call
 * frame information, which stacks are unwound by, and symbols. Of itself it would read
 * these, too, when it starts, for the stack that it writes when it fails: that is a
 * noticeable part of the time of a short program.
 *
 * The linker puts these in the place of Valgrind's functions: see symbols.cmake. */
#include "pub_tool_basics.h"

/* As Valgrind calls it: the module, and where the sections are. Neither is looked at.
 */
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void *module, ...);

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void *module, ...)
{
        (void)module;
}

ULong __real_vgPlain_di_notify_mmap(Addr start, Bool of_engine, Int fd);
ULong __wrap_vgPlain_di_notify_mmap(Addr start, Bool of_engine, Int fd);

/* As Valgrind calls it for a file that is mapped at START, its own too if OF_ENGINE. */
ULong __wrap_vgPlain_di_notify_mmap(Addr start, Bool of_engine, Int fd)
{
        (void)of_engine;
        return __real_vgPlain_di_notify_mmap(start, False, fd);
}
