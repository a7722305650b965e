/* SPDX-License-Identifier: MIT */
/* What lies behind a structure, or before it, by a variable that the debug information
 * says is a constant away from a pointer to it: "body = (struct body *)(header + 1)". */
#ifndef MEMLAG_SYMBOLIZE_BEHIND_HEADER_H
#define MEMLAG_SYMBOLIZE_BEHIND_HEADER_H

#include "flow_state.h"

/* Whether what NAMED points to begins behind the structure that VALUE points to, of one
 * register, and is no multiple of its size, so that an index tells which of them counts.
 */
bool behind_header_begins(const struct types *types, const struct place_value *value,
                          const struct place_value *named);

/* Whether NAMED is behind the structure that it points to itself, so that it does not say
 * what is there. */
bool behind_header_ends(const struct types *types, const struct place_value *named);

/* BASE, as a pointer to what such a variable is to, where PLUS bytes from it is not in
 * its structure; else as it is. PLACE_UNKNOWN: it is one of several. */
struct place_value behind_header(const struct flow_context *flow,
                                 const struct flow_state *state,
                                 const struct place_value *base, int64_t plus,
                                 uint64_t vaddr);

#endif
