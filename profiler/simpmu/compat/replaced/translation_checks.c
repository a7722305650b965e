/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Valgrind checks each block that it translates four times, for errors in its code and
 * in the instrumentation. A debug build retains the checks. Other builds omit them,
 * because they take a noticeable part of the time of programs with much code. */
#include "pub_tool_basics.h"

#include "libvex_ir.h"

void __real_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat,
                            IRType guest_word);
void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat,
                            IRType guest_word);

/* Valgrind calls this one in place of the real one. */
void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat,
                            IRType guest_word)
{
#ifdef NDEBUG
        (void)block, (void)caller, (void)flat, (void)guest_word;
#else
        __real_sanityCheckIRSB(block, caller, flat, guest_word);
#endif
}
