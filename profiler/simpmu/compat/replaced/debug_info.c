/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Valgrind reads every module's DWARF line numbers for its messages. It aborts the
 * process on unknown forms (DWARF 5 of clang 14, split and type units in 3.19). memlag
 * does not need these line numbers, because it finds names later, in another program.
 * Therefore this file replaces Valgrind's reader by an empty reader. Valgrind still
 * reads symbols, and the call frame information that stack unwinding needs. At its
 * start Valgrind would also read its executable's symbols, for the stack trace of a
 * crash. That takes a noticeable part of a short program's time.
 *
 * The linker replaces Valgrind's functions by these: see symbols.cmake. */
#include "pub_tool_basics.h"

/* Valgrind calls it with the module and its sections. The replacement ignores both. */
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void *module, ...);

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void *module, ...)
{
        (void)module;
}

ULong __real_vgPlain_di_notify_mmap(Addr start, Bool of_engine, Int fd);
ULong __wrap_vgPlain_di_notify_mmap(Addr start, Bool of_engine, Int fd);

/* Valgrind calls this for a file mapped at START, and for Valgrind's executable if
 * OF_ENGINE. */
ULong __wrap_vgPlain_di_notify_mmap(Addr start, Bool of_engine, Int fd)
{
        (void)of_engine;
        return __real_vgPlain_di_notify_mmap(start, False, fd);
}
