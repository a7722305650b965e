/* SPDX-License-Identifier: MIT */
/* What lies behind a structure, or before it, by a variable that the debug information
 * says is a constant away from a pointer to it: "body = (struct body *)(header + 1)". */
#ifndef MEMLAG_SYMBOLIZE_BEHIND_HEADER_H
#define MEMLAG_SYMBOLIZE_BEHIND_HEADER_H

#include "flow_state.h"

/* Whether NAMED's target begins behind the structure at VALUE, in one register, at no
 * multiple of its size. An index then tells which of the two it counts. */
bool behind_header_begins(const struct types *types, const struct place_value *value,
                          const struct place_value *named);

/* Whether NAMED lies behind the structure that it points to, so its type does not count
 * there. */
bool behind_header_ends(const struct types *types, const struct place_value *named);

/* BASE, as a pointer to what such a variable is to, where PLUS bytes from it is not in
 * its structure; else as it is. PLACE_UNKNOWN: it is one of several. */
struct place_value behind_header(const struct flow_context *flow,
                                 const struct flow_state *state,
                                 const struct place_value *base, int64_t plus,
                                 uint64_t vaddr);

#endif
