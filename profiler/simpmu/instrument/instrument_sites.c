/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory for constant facts about the accesses of a translation. It lives as long as
 * the translation. Knows nothing of the contents. */
#include "instrument.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

/* Memory of one translation: a chain of pieces, freed together. */
struct site_link {
        struct site_link *next;
        ULong payload[];
};

#define PIECE_BYTES 480u /* enough for most translations */

struct block_sites {
        struct block_sites *next_in_table; /* VgHashNode */
        UWord block;                       /* VgHashNode's key */
        struct site_link *first;
        UChar *free; /* in the first piece */
        SizeT room;  /* from there on */
};

static VgHashTable *blocks;

static void add_piece(struct block_sites *sites, SizeT bytes)
{
        struct site_link *link = VG_(malloc)("simpmu.sites", sizeof(*link) + bytes);

        link->next = sites->first;
        sites->first = link;
        sites->free = (UChar *)link->payload;
        sites->room = bytes;
}

void *site_new(struct pass *pass, SizeT bytes)
{
        struct block_sites *sites = pass->sites;
        void *memory;

        bytes = (bytes + sizeof(ULong) - 1) & ~(sizeof(ULong) - 1);
        if (bytes > sites->room)
                add_piece(sites, bytes > PIECE_BYTES ? bytes : PIECE_BYTES);
        memory = sites->free;
        sites->free += bytes;
        sites->room -= bytes;
        return memory;
}

struct block_sites *sites_of_block(Addr block)
{
        struct block_sites *sites = VG_(malloc)("simpmu.block", sizeof(*sites));

        if (blocks == NULL)
                blocks = VG_(HT_construct)("simpmu.blocks");
        sites->block = block;
        sites->first = NULL;
        sites->room = 0;
        VG_(HT_add_node)(blocks, sites);
        return sites;
}

void instrument_discard(Addr block, VexGuestExtents extents)
{
        struct block_sites *sites;

        (void)extents;
        if (blocks == NULL)
                return;
        sites = VG_(HT_remove)(blocks, block);
        if (sites == NULL)
                return;
        if (tool_thread != NULL && tool_thread->wrong.followed)
                wrong_path_end(&tool_hot, tool_thread); /* it may refer to the sites */
        for (struct site_link *link = sites->first; link != NULL;) {
                struct site_link *next = link->next;
                VG_(free)(link);
                link = next;
        }
        VG_(free)(sites);
}
