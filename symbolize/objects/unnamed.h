/* SPDX-License-Identifier: MIT */
/* The ledger's reason for a missing function or line of a place in code. */
#ifndef MEMLAG_SYMBOLIZE_UNNAMED_H
#define MEMLAG_SYMBOLIZE_UNNAMED_H

#include "sweep.h"

/* The reason for a function around an unknown inlined function. */
extern const char unnamed_inlined[];

/* The reason for a missing name of PLACE, after all names of RAW's modules are set;
 * NULL: it has one. */
const char *unnamed_function_reason(const struct raw *raw, const struct place *place);
const char *unnamed_line_reason(const struct raw *raw, const struct place *place);

#endif
