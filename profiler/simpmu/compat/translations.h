/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Code that Valgrind has translated. */
#ifndef SIMPMU_COMPAT_TRANSLATIONS_H
#define SIMPMU_COMPAT_TRANSLATIONS_H

#include "pub_tool_basics.h"

/* Code in [START, START + LENGTH) is translated anew when it runs next. Not while
 * translated code runs. */
void translations_discard(Addr start, SizeT length);

#endif
