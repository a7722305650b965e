/* SPDX-License-Identifier: MIT */
/* clang gives no line to an instruction that it made from two branches. One branch may
 * leave no other trace, so the other branch's variable does not count. */
#ifndef MEMLAG_SYMBOLIZE_LINELESS_VARIABLES_H
#define MEMLAG_SYMBOLIZE_LINELESS_VARIABLES_H

#include "flow.h"
#include "flow_code.h"

/* Marks those VARIABLES that only instructions of CODE without a line use, if one of
 * ANSWERS, COUNT questions, is about such an access. 0 or -ENOMEM. */
int lineless_variables_find(struct variables *variables, const struct flow_input *input,
                            const struct flow_code *code,
                            const struct flow_answer *answers, size_t count);

#endif
