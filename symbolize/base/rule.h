/* SPDX-License-Identifier: MIT */
/* Attribution rules that can be switched off one by one, to measure their value. Only a
 * build with the CMake option MEMLAG_RULE_SWITCHES has the switches. */
#ifndef MEMLAG_SYMBOLIZE_RULE_H
#define MEMLAG_SYMBOLIZE_RULE_H

#include <stdbool.h>

#ifdef MEMLAG_RULE_SWITCHES
/* Whether the rule NAME applies: it is not in the environment variable MEMLAG_RULES_OFF,
 * a list of names separated by commas. */
bool rule_applies(const char *name);
/* That list; "": all rules apply. */
const char *rules_off(void);
#else
static inline bool rule_applies(const char *name)
{
        (void)name;
        return true;
}

static inline const char *rules_off(void)
{
        return "";
}
#endif

#endif
