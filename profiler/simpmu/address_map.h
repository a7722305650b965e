/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects that a run of `memlag whatif` places elsewhere in the model only (struct
 * simpmu_plan): where the program accesses such an object, the model sees an address
 * where no memory is. Without a plan nothing happens here. */
#ifndef SIMPMU_ADDRESS_MAP_H
#define SIMPMU_ADDRESS_MAP_H

#include "pub_tool_basics.h"

#include "protocol.h"

/* Reads PLAN, of SIZE bytes at most, once the machine exists. False: it is not valid. */
Bool address_map_begin(const struct simpmu_plan *plan, SizeT size);
Bool address_map_active(void);
enum simpmu_change address_map_change(void);

/* No address below *LOW, nor SPAN above it, is moved: generated code reads both. */
extern uint64_t address_map_low;
extern uint64_t address_map_span;

/* Bytes that lie together in the model too. */
struct address_run {
        Addr address; /* in the model */
        SizeT bytes;
};
struct address_run address_map_find(Addr address, SizeT bytes);

/* Whether a store to ADDRESS in the model goes around the caches. */
Bool address_map_around(Addr address);

/* The frames of an allocation's call stack that have to be known. */
UInt address_map_frames(void);
void address_map_block_begins(Addr address, SizeT bytes, const ULong *frames, UInt depth);
void address_map_block_ends(Addr address);
/* THREAD gives the block at ADDRESS another size, and has done so: that block ends,
 * unless another one has begun there meanwhile. */
void address_map_block_resizes(Addr address, ThreadId thread);
void address_map_block_resized(Addr address, ThreadId thread);

/* PATH is mapped at START, from its beginning on; its objects are there as long as their
 * memory is. A program that maps its own file once more reads it only. */
void address_map_file(const HChar *path, Addr start);
/* Pages are unmapped, or new. All objects in a range end. */
void address_map_pages_change(Addr start, SizeT length);
void address_map_range_ends(Addr start, SizeT length);

/* Where the program has the memory of a PAGE of the model; 0: nowhere, it is new. False:
 * PAGE is the program's own. */
Bool address_map_origin(ULong page, uint64_t *origin);

#endif
