/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See address_map.h. Objects with other properties keep the low bits of their addresses:
 * a constant is added, except for large blocks on huge pages. A part of a changed layout
 * gets an address of its own for each block (shadow.h), unless it is as large as the
 * block was. */
#include "address_map.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_oset.h"

#include "model/layout.h"
#include "model/memory/shadow.h"
#include "path_hash.h"
#include "tool.h"

/* Caches are exact below 2^44 (cache.h), and Valgrind's processes use far less. */
#define WINDOW_SHIFT 41
#define WINDOW_BYTES (1ULL << WINDOW_SHIFT)
#define STATIC_ALIGN 32u /* of arrays, by GCC and Clang */

uint64_t address_map_low;
uint64_t address_map_span;

/* An object, or a block of it. */
struct block {
        Addr start;
        Addr end;
        Addr shift;       /* to the model's addresses, unless there is a layout */
        Addr first;       /* address of the first element */
        ULong count;      /* of them; 0: there is no layout */
        ThreadId resizer; /* the thread that is resizing it; 0: none */
        const struct simpmu_object *object;
        Bool in_place; /* its only part is where the block is */
        Addr parts[];  /* of a layout */
};

static struct simpmu_plan plan;
static const struct simpmu_object *objects;
static Bool *is_placed; /* for each object in a file */
static struct layout layout;
static struct shadow *shadow;
static Addr window; /* the first address of moved objects */
static OSet *blocks;
static struct block *last_found;

Bool address_map_active(void)
{
        return plan.change != SIMPMU_UNCHANGED;
}

enum simpmu_change address_map_change(void)
{
        return (enum simpmu_change)plan.change;
}

UInt address_map_frames(void)
{
        return plan.frames;
}

Bool address_map_around(Addr address)
{
        return plan.change == SIMPMU_AROUND && address - window < WINDOW_BYTES;
}

static Word compare_blocks(const void *key, const void *element)
{
        const Addr address = *(const Addr *)key;
        const struct block *block = element;

        return address < block->start ? -1 : address >= block->end;
}

static SizeT plan_bytes(const struct simpmu_plan *header)
{
        return sizeof(*header) + header->part_count * sizeof(struct simpmu_part) +
               header->piece_count * sizeof(struct simpmu_piece) +
               header->object_count * sizeof(struct simpmu_object);
}

static Bool is_valid(void)
{
        if (plan.change > SIMPMU_LAYOUT || plan.frames >= STACK_MAXIMUM_FRAMES)
                return False;
        return plan.change != SIMPMU_LAYOUT || layout_is_valid(&layout);
}

/* The recorded program can write to the shared file, so this works on a copy. */
static Bool read_plan(const struct simpmu_plan *shared, SizeT size)
{
        SizeT bytes;
        const HChar *copy;

        plan = *shared;
        bytes = plan_bytes(&plan);
        if (plan.change == SIMPMU_UNCHANGED || bytes > size)
                return False;
        copy = VG_(malloc)("simpmu.plan", bytes);
        VG_(memcpy)((void *)(Addr)copy, shared, bytes);
        layout = (struct layout){
            .element_bytes = plan.element_bytes,
            .part_count = plan.part_count,
            .piece_count = plan.piece_count,
            .parts = (const void *)(copy + sizeof(plan)),
        };
        layout.pieces = (const void *)(layout.parts + plan.part_count);
        objects = (const void *)(layout.pieces + plan.piece_count);
        return is_valid();
}

Bool address_map_begin(const struct simpmu_plan *shared, SizeT size)
{
        if (!read_plan(shared, size)) {
                plan.change = SIMPMU_UNCHANGED;
                return False;
        }
        window = (3 + (ULong)plan.change) << WINDOW_SHIFT;
        is_placed = VG_(calloc)("simpmu.placed", plan.object_count + 1, sizeof(Bool));
        blocks = VG_(OSetGen_Create)(0, compare_blocks, VG_(malloc), "simpmu.blocks",
                                     VG_(free));
        shadow = tool_allocate(sizeof(*shadow));
        shadow_init(shadow, window + WINDOW_BYTES / 2, WINDOW_BYTES / 2, tool_allocate);
        if (plan.change == SIMPMU_HUGE_PAGES) {
                pages_set_huge(&tool_machine.pages, window >> PAGE_SHIFT,
                               WINDOW_BYTES >> PAGE_SHIFT, True);
        } else if (plan.change == SIMPMU_LOCAL) {
                tool_machine.local_from = window >> LINE_SHIFT;
                tool_machine.local_lines = WINDOW_BYTES >> LINE_SHIFT;
        }
        return True;
}

/* ---- lookups ---- */

static struct block *find(Addr address)
{
        if (last_found != NULL &&
            address - last_found->start < last_found->end - last_found->start)
                return last_found;
        struct block *block =
            VG_(OSetGen_LookupWithCmp)(blocks, &address, compare_blocks);
        if (block != NULL)
                last_found = block;
        return block;
}

static struct address_run in_layout(const struct block *block, Addr address, SizeT bytes)
{
        const ULong offset = address - block->first;
        struct layout_run run;

        if (address < block->first || offset >= block->count * layout.element_bytes)
                return (struct address_run){address, bytes};
        run = layout_find(&layout, offset);
        return (struct address_run){block->parts[run.part] + run.offset_bytes, run.bytes};
}

struct address_run address_map_find(Addr address, SizeT bytes)
{
        const struct block *block = find(address);

        if (block == NULL)
                return (struct address_run){address, bytes};
        if (plan.change == SIMPMU_LAYOUT)
                return in_layout(block, address, bytes);
        return (struct address_run){address + block->shift, block->end - address};
}

Bool address_map_origin(ULong page, uint64_t *origin)
{
        const ULong first = window >> PAGE_SHIFT;

        if (!address_map_active() || page - first >= WINDOW_BYTES >> PAGE_SHIFT)
                return False;
        *origin = page - first >= WINDOW_BYTES >> (PAGE_SHIFT + 1) ? 0 : page - first;
        return True;
}

/* ---- blocks ---- */

static void forget_pages(Addr start, ULong bytes)
{
        const ULong first = start >> PAGE_SHIFT;
        const ULong count = ((start + bytes - 1) >> PAGE_SHIFT) - first + 1;

        if (pages_release(&tool_machine.pages, first, count))
                machine_forget_translations(&tool_machine, &tool_hot, first, count);
}

static ULong part_bytes(const struct block *block, UInt part)
{
        return block->count * layout.parts[part].element_bytes;
}

static void place_parts(struct block *block, Bool is_static)
{
        const SizeT bytes = block->end - block->start;

        block->in_place = layout.part_count == 1 && part_bytes(block, 0) == bytes &&
                          layout.parts[0].align_bytes <= SHADOW_GRAIN_BYTES &&
                          block->end <= WINDOW_BYTES / 2;
        if (block->in_place)
                block->parts[0] = block->first;
        for (UInt i = 0; i < layout.part_count && !block->in_place; i++) {
                const UInt align = layout.parts[i].align_bytes;
                block->parts[i] =
                    is_static
                        ? shadow_take_static(shadow, part_bytes(block, i),
                                             align > STATIC_ALIGN ? align : STATIC_ALIGN)
                        : shadow_take(shadow, part_bytes(block, i), align);
        }
}

/* Large blocks are aligned to huge pages, as a program does that wants them. */
static void place_whole(struct block *block)
{
        const ULong huge_bytes = (ULong)BLOCK_PAGES << PAGE_SHIFT;
        const ULong bytes = block->end - block->start;

        block->shift = window;
        if (plan.change == SIMPMU_HUGE_PAGES && bytes >= huge_bytes)
                block->shift = shadow_take(shadow, bytes, huge_bytes) - block->start;
}

static void drop_block(struct block *block)
{
        const UInt parts = block->count > 0 && !block->in_place ? layout.part_count : 0;

        for (UInt i = 0; i < parts; i++) {
                const ULong bytes = part_bytes(block, i);
                if (shadow_is_large(bytes))
                        forget_pages(block->parts[i], bytes);
                shadow_give(shadow, block->parts[i], bytes, layout.parts[i].align_bytes);
        }
        if (block->shift > window)
                forget_pages(block->start + block->shift, block->end - block->start);
        if (block->object->frames == 0)
                is_placed[block->object - objects] = False;
        last_found = NULL;
        (void)VG_(OSetGen_Remove)(blocks, &block->start);
        VG_(OSetGen_FreeNode)(blocks, block);
}

void address_map_block_ends(Addr address)
{
        struct block *block = address_map_active() ? find(address) : NULL;

        if (block != NULL && block->start == address)
                drop_block(block);
}

void address_map_block_resizes(Addr address, ThreadId thread)
{
        struct block *block = address_map_active() ? find(address) : NULL;

        if (block != NULL && block->start == address)
                block->resizer = thread;
}

void address_map_block_resized(Addr address, ThreadId thread)
{
        struct block *block = address_map_active() ? find(address) : NULL;

        if (block != NULL && block->start == address && block->resizer == thread)
                drop_block(block);
}

void address_map_pages_change(Addr start, SizeT length)
{
        if (address_map_active() && plan.change != SIMPMU_LAYOUT && length > 0)
                forget_pages(window + start, length);
}

void address_map_range_ends(Addr start, SizeT length)
{
        while (address_map_active()) {
                struct block *block;
                VG_(OSetGen_ResetIterAt)(blocks, &start);
                block = VG_(OSetGen_Next)(blocks);
                if (block == NULL || block->start >= start + length)
                        return;
                drop_block(block);
        }
}

/* Generated code tests the addresses between all blocks there have been. */
static void widen(const struct block *block)
{
        Addr end = address_map_low + address_map_span;

        if (address_map_span == 0) {
                address_map_low = block->start;
                end = block->end;
        }
        if (block->start < address_map_low)
                address_map_low = block->start;
        if (block->end > end)
                end = block->end;
        address_map_span = end - address_map_low;
}

static void add_block(Addr start, SizeT bytes, const struct simpmu_object *object)
{
        const Bool cut = plan.change == SIMPMU_LAYOUT;
        struct block *block;

        if (bytes == 0 || (cut && bytes < object->header_bytes + layout.element_bytes))
                return;
        address_map_range_ends(start, bytes);
        block = VG_(OSetGen_AllocNode)(
            blocks, sizeof(*block) + (cut ? layout.part_count : 0) * sizeof(Addr));
        *block = (struct block){.start = start, .end = start + bytes, .object = object};
        block->first = start + object->header_bytes;
        if (cut) {
                block->count = (block->end - block->first) / layout.element_bytes;
                place_parts(block, object->frames == 0);
        } else {
                place_whole(block);
        }
        VG_(OSetGen_Insert)(blocks, block);
        widen(block);
}

static ULong frame_hash(ULong hash, Addr ip)
{
        const NSegment *segment = VG_(am_find_nsegment)(ip);
        const HChar *path = segment == NULL ? NULL : VG_(am_get_filename)(segment);

        return path == NULL ? place_hash(hash, 0, 0)
                            : place_hash(hash, path_hash(path),
                                         ip - segment->start + (ULong)segment->offset);
}

void address_map_block_begins(Addr address, SizeT bytes, const ULong *frames, UInt depth)
{
        ULong hash = 0;
        for (UInt n = 1; n <= depth && n <= plan.frames; n++) {
                hash = frame_hash(hash, frames[n - 1]);
                for (UInt i = 0; i < plan.object_count; i++) {
                        if (objects[i].frames == n && objects[i].where == hash) {
                                add_block(address, bytes, &objects[i]);
                                return;
                        }
                }
        }
}

void address_map_file(const HChar *path, Addr start)
{
        const ULong hash = address_map_active() ? path_hash(path) : 0;

        for (UInt i = 0; i < plan.object_count; i++) {
                if (objects[i].frames == 0 && objects[i].where == hash && !is_placed[i]) {
                        is_placed[i] = True;
                        add_block(start + objects[i].offset_bytes, objects[i].size_bytes,
                                  &objects[i]);
                }
        }
}
