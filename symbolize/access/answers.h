/* SPDX-License-Identifier: MIT */
/* Questions about the instructions of one function, and what data flow says to them. */
#ifndef MEMLAG_SYMBOLIZE_ANSWERS_H
#define MEMLAG_SYMBOLIZE_ANSWERS_H

#include "flow.h"

/* Answers ANSWERS, COUNT addresses of one function, in their order of address. 0 or
 * -ENOMEM. */
int flow_function(const struct flow_input *input, struct flow_answer *answers,
                  size_t count);

#endif
