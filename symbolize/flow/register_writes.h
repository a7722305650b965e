/* SPDX-License-Identifier: MIT */
/* How often code writes the registers that variables have somewhere in their blocks. */
#ifndef MEMLAG_SYMBOLIZE_REGISTER_WRITES_H
#define MEMLAG_SYMBOLIZE_REGISTER_WRITES_H

#include "flow_code.h"
#include "variables.h"

/* Sets the writes of all VARIABLES that are there only from where they are set: of their
 * blocks in CODE, by instructions that may leave an address there. */
void register_writes_count(struct variables *variables, const struct flow_code *code);

#endif
