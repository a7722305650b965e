/* SPDX-License-Identifier: MIT */
/* The first reason that applies, from the mapping to gaps in debug information. */
#include "unnamed.h"

const char unnamed_inlined[] = "inlined functions without names: dwz file not found";
static const char unread[] = "binary with debug information too costly to read";

/* The reason why MODULE's debug information was not read; NULL: none. */
static const char *not_read(const struct module *module)
{
        if (module->no_memory)
                return "binary with debug information that there was no memory for";
        if (module->too_large)
                return "binary with too much debug information";
        return module->damaged ? "binary with damaged debug information" : NULL;
}

/* The upper half of the addresses is the kernel's (Linux, Documentation/arch/x86/x86_64,
 * "Memory Management"). */
static bool in_kernel(const struct place *place)
{
        return place->code.vaddr >> 63;
}

static const char *no_function(const struct raw *raw, const struct place *place)
{
        if (!place->mapped)
                return in_kernel(place) ? "kernel whose place was not recorded"
                                        : "no mapping";
        if (place->unlisted)
                return "memory of no file";
        if (place->code.function)
                return NULL;
        if (raw->modules[place->module].state == MODULE_CHANGED)
                return "changed binary";
        if (raw->modules[place->module].state != MODULE_READY &&
            raw->modules[place->module].state != MODULE_KALLSYMS)
                return "missing file";
        if (not_read(&raw->modules[place->module]))
                return not_read(&raw->modules[place->module]);
        return place->code.unread ? unread : "no symbol";
}

const char *unnamed_function_reason(const struct raw *raw, const struct place *place)
{
        return place->code.inlined_lost ? unnamed_inlined : no_function(raw, place);
}

const char *unnamed_line_reason(const struct raw *raw, const struct place *place)
{
        if (place->code.line)
                return NULL;
        const char *reason = no_function(raw, place);

        if (!reason && place->module != RAW_NONE)
                reason = not_read(&raw->modules[place->module]);
        if (!reason && place->code.unread)
                return unread;
        if (!reason && place->code.lineless)
                return "code of no source line";
        return reason ? reason : "no line";
}
