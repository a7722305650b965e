/* SPDX-License-Identifier: MIT */
/* Types count as different by their names, as these are all that is shown. */
#include "site_type.h"

#include <errno.h>
#include <stdlib.h>

struct typed_site {
        uint32_t site; /* its name */
        uint32_t type; /* its name */
        size_t stack;
};

static int compare_sites(const void *left, const void *right)
{
        const struct typed_site *a = left, *b = right;

        return a->site < b->site ? -1 : a->site > b->site;
}

/* The name of what the blocks of STACK are; 0: not known. */
static uint32_t type_name(const struct site_types *from, size_t stack)
{
        const struct block_type *block = &from->blocks[stack];

        return block->type == TYPE_NONE || block->mixed
                   ? 0
                   : from->types->items[block->type].name;
}

/* Names those of one site, COUNT of them, if they are of several types. */
static void name_site(const struct site_types *from, struct site *sites,
                      const struct typed_site *typed, size_t count)
{
        bool several = false;

        for (size_t i = 1; i < count; i++)
                several |= typed[i].type != typed[0].type;
        for (size_t i = 0; i < count && several; i++)
                sites[typed[i].stack].name = string_pool_format(
                    from->names, "%s (%s)", string_pool_text(from->names, typed[i].site),
                    string_pool_text(from->names, typed[i].type));
}

int site_types_name(const struct site_types *from, struct site *sites, const bool *used,
                    size_t count)
{
        struct typed_site *typed = malloc((count + 1) * sizeof(*typed));
        size_t typed_count = 0;

        if (!typed)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++) {
                uint32_t type = used[i] ? type_name(from, i) : 0;

                if (type != 0 && sites[i].name != 0)
                        typed[typed_count++] =
                            (struct typed_site){sites[i].name, type, i};
        }
        qsort(typed, typed_count, sizeof(*typed), compare_sites);
        for (size_t i = 0, end; i < typed_count; i = end) {
                for (end = i + 1; end < typed_count && typed[end].site == typed[i].site;)
                        end++;
                name_site(from, sites, &typed[i], end - i);
        }
        free(typed);
        return 0;
}
