/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Valgrind discards translations of memory that is executable no more. Here it discards
 * them too when the memory becomes writable and stays executable: new ones are checked
 * before each run (code_changes.h). */
#include "compat/translations.h"

#include "pub_tool_vki.h"

extern void VG_(discard_translations)(Addr start, ULong length, const HChar *who);

void translations_discard(Addr start, SizeT length)
{
        VG_(discard_translations)(start, length, "simpmu");
}

extern Bool __real_vgPlain_am_notify_mprotect(Addr start, SizeT length, UInt protection);
Bool __wrap_vgPlain_am_notify_mprotect(Addr start, SizeT length, UInt protection);

/* Whether the caller has to discard translations. */
Bool __wrap_vgPlain_am_notify_mprotect(Addr start, SizeT length, UInt protection)
{
        const UInt both = VKI_PROT_WRITE | VKI_PROT_EXEC;

        return __real_vgPlain_am_notify_mprotect(start, length, protection) ||
               (length != 0 && (protection & both) == both);
}
