/* SPDX-License-Identifier: MIT */
/* The type of a sample by the pointer that its instruction uses. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_BY_INSTRUCTION_H
#define MEMLAG_SYMBOLIZE_TYPE_BY_INSTRUCTION_H

#include "sample_type.h"

/* The memory operand's access, if the instruction has been decoded. */
const struct type_access *instruction_access(const struct place *place);
/* Whether the operand's address comes from a known pointer. */
bool instruction_points(const struct place *place);
/* Learns from a sample's address whether its instruction's pointer and index lead there.
 */
void instruction_learn(struct sample_types *finder,
                       const struct sample_location *location);

struct sample_type type_by_instruction(struct sample_types *finder,
                                       const struct sample_location *location);

#endif
