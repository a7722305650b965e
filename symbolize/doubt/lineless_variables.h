/* SPDX-License-Identifier: MIT */
/* clang gives no line to an instruction that it made of those of two branches, and may
 * leave of one branch nothing at all: the other's variable does not tell what is read. */
#ifndef MEMLAG_SYMBOLIZE_LINELESS_VARIABLES_H
#define MEMLAG_SYMBOLIZE_LINELESS_VARIABLES_H

#include "flow.h"
#include "flow_code.h"

/* Marks those of VARIABLES by which no instruction of CODE that has a line reads or
 * writes, where one of ANSWERS, COUNT questions, is about an access without a line. 0 or
 * -ENOMEM. */
int lineless_variables_find(struct variables *variables, const struct flow_input *input,
                            const struct flow_code *code,
                            const struct flow_answer *answers, size_t count);

#endif
