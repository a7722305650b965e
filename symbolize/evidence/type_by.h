/* SPDX-License-Identifier: MIT */
/* The type of a sample by each kind of evidence. */
#ifndef MEMLAG_SYMBOLIZE_TYPE_BY_H
#define MEMLAG_SYMBOLIZE_TYPE_BY_H

#include "memory_function.h"
#include "sample_type.h"

/* ---- at an offset of a known type ---- */

struct sample_type type_left_open(enum untyped reason);

/* FOUND, with SOURCE as its evidence if it is a type. */
struct sample_type type_told(struct sample_type found, struct type_source source);

/* The field of TYPE (of an array's items) at OFFSET that fits ACCESS. */
struct sample_type sample_field_at(struct sample_types *finder, uint32_t type,
                                   uint64_t offset, const struct type_access *access);

/* ---- in a block of the heap ---- */

struct sample_type type_by_block(struct sample_types *finder,
                                 const struct sample_location *location);

/* ---- in a function without debug information ---- */

/* The kind of the function at PLACE, if it copies or compares memory. */
enum memory_function memory_function_at(const struct sample_types *finder,
                                        uint32_t place);

/* The C library's string functions, in each processor's version, read only characters. */
struct sample_type type_by_function(struct sample_types *finder,
                                    const struct sample_location *location);

/* ---- by the pointer that the instruction uses ---- */

/* The memory operand's access, if the instruction has been decoded. */
const struct type_access *instruction_access(const struct place *place);
/* The access at PLACE through its pointer. In a union it means the array whose items its
 * index counts, unless the index counts whole items of the pointer's type. */
struct type_access instruction_counted_access(const struct types *types,
                                              const struct place *place);
/* Whether the operand's address comes from a known pointer. */
bool instruction_points(const struct place *place);
/* Learns from a sample's address whether its instruction's index leads there. */
void instruction_learn(struct sample_types *finder,
                       const struct sample_location *location);

struct sample_type type_by_instruction(struct sample_types *finder,
                                       const struct sample_location *location);

#endif
