/* SPDX-License-Identifier: MIT */
/* Whether a pointer to numbers may be one to the numbers that a structure keeps in
 * itself, as a short text's: it was loaded from a structure that has an array of such in
 * a union, where something else lies while the numbers are elsewhere. */
#ifndef MEMLAG_SYMBOLIZE_OWN_ITEMS_H
#define MEMLAG_SYMBOLIZE_OWN_ITEMS_H

#include "flow_walk.h"

bool own_items(const struct flow_walk *walk, const struct place_value *pointer);

#endif
