/* SPDX-License-Identifier: MIT */
#include "rule.h"

#ifdef MEMLAG_RULE_SWITCHES
#include <stdlib.h>
#include <string.h>

const char *rules_off(void)
{
        const char *off = getenv("MEMLAG_RULES_OFF");

        return off ? off : "";
}

bool rule_applies(const char *name)
{
        const char *off = rules_off();
        size_t length = strlen(name);

        while (*off) {
                size_t word = strcspn(off, ",");

                if (word == length && strncmp(off, name, length) == 0)
                        return false;
                off += word;
                off += *off == ',';
        }
        return true;
}
#else
typedef int rule_without_switches; /* a translation unit must not be empty */
#endif
