/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Valgrind checks code outside files before it runs; this file extends the check to
 * files that may change. A function of the program's allocator begins a block: all
 * registers then have their values at entry. Knows nothing of the model. */
#include "pub_tool_basics.h"

#include "libvex.h"

#include "code_changes.h"
#include "instrument/own_heap.h"

extern VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *arguments);
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *arguments);

typedef UInt (*needs_self_check)(void *, VexRegisterUpdates *, const VexGuestExtents *);

/* Of the block that is being translated. */
static needs_self_check engines_own;
static Bool (*engines_chasing)(void *, Addr);

static UInt checks_of(void *opaque, VexRegisterUpdates *updates,
                      const VexGuestExtents *extents)
{
        UInt checks = engines_own(opaque, updates, extents);

        for (UInt i = 0; i < extents->n_used; i++)
                if (code_may_change((Addr)extents->base[i], extents->len[i]))
                        checks |= 1u << i;
        return checks;
}

static Bool may_go_on_into(void *opaque, Addr ip)
{
        return engines_chasing(opaque, ip) && !own_heap_begins(ip);
}

/* LibVEX_Translate takes this function's place under the name __real_LibVEX_Translate. */
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *arguments)
{
        engines_own = arguments->needs_self_check;
        engines_chasing = arguments->chase_into_ok;
        arguments->chase_into_ok = may_go_on_into;
        arguments->needs_self_check = checks_of;
        return __real_LibVEX_Translate(arguments);
}
