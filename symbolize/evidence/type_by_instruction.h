/* SPDX-License-Identifier: MIT */
/* The type that a sample's instruction tells, by what it follows of pointers. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_BY_INSTRUCTION_H
#define MEMLAG_SYMBOLIZE_TYPE_BY_INSTRUCTION_H

#include "sample_type.h"

/* The memory operand's access, as far as its instruction has been decoded. */
const struct type_access *instruction_access(const struct place *place);
/* The same of PLACE's, which is what a pointer leads to: of the members of a union in
 * that only an array is meant whose items its index counts, unless it may count whole
 * ones of the pointer's type. */
struct type_access instruction_counted_access(const struct types *types,
                                              const struct place *place);
/* Whether the operand is what a pointer leads to. */
bool instruction_points(const struct place *place);
/* Takes note of what the address of a sample, whose instruction points, shows of where
 * its pointer and index seem to lead. */
void instruction_learn(struct sample_types *finder,
                       const struct sample_location *location);

struct sample_type type_by_instruction(struct sample_types *finder,
                                       const struct sample_location *location);

#endif
