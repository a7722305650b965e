/* SPDX-License-Identifier: MIT */
/* Types differ if their names do, because reports show only names. The column
 * distinguishes allocations of one type in one line. Compilers keep it, even in inlined
 * or unrolled code. */
#include "site_type.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

struct told_site {
        uint32_t site;   /* its name */
        uint32_t type;   /* its name; 0: not known */
        uint32_t column; /* 0: unknown, or the only one of the site and type */
        size_t stack;
};

static int compare_sites(const void *left, const void *right)
{
        const struct told_site *a = left, *b = right;

        COMPARE(a->site, b->site);
        COMPARE(a->type, b->type);
        COMPARE(a->column, b->column);
        return 0;
}

/* The name of the type of STACK's blocks; 0: not known. */
static uint32_t type_name(const struct site_types *from, size_t stack)
{
        const struct block_type *block = &from->blocks[stack];

        return block->type == TYPE_NONE || block_type_mixed(block)
                   ? 0
                   : from->types->items[block->type].name;
}

/* The known columns of sites; FIRST 0: none. */
struct columns {
        uint32_t first;
        uint32_t last;
};

/* Joins the columns of COUNT sites to COLUMNS. */
static struct columns join_columns(struct columns columns, const struct told_site *told,
                                   size_t count)
{
        for (size_t i = 0; i < count; i++) {
                uint32_t column = told[i].column;

                if (!column)
                        continue;
                if (!columns.first || column < columns.first)
                        columns.first = column;
                if (column > columns.last)
                        columns.last = column;
        }
        return columns;
}

/* Forgets the columns of COUNT sites of one line and type, unless they and OTHERS have at
 * least two. */
static void settle_columns(struct told_site *told, size_t count, struct columns others)
{
        struct columns columns = join_columns(others, told, count);

        for (size_t i = 0; i < count && columns.first == columns.last; i++)
                told[i].column = 0;
}

/* Names COUNT ordered sites of one line. */
static void name_site(const struct site_types *from, struct site *sites,
                      struct told_site *told, size_t count)
{
        uint32_t type = 0; /* the first that is known */
        bool several = false;
        size_t untyped = 0; /* they come first in the order */

        while (untyped < count && told[untyped].type == 0)
                untyped++;
        /* A site without a type, for lack of samples, may have any type. */
        struct columns unknown = join_columns((struct columns){0}, told, untyped);
        struct columns all = join_columns(unknown, told + untyped, count - untyped);

        for (size_t i = 0, end; i < count; i = end) {
                for (end = i + 1; end < count && told[end].type == told[i].type;)
                        end++;
                settle_columns(&told[i], end - i, told[i].type ? unknown : all);
                several |= type != 0 && told[i].type != type;
                type = told[i].type;
        }
        for (size_t i = 0; i < count; i++) {
                struct site *site = &sites[told[i].stack];

                if (told[i].column)
                        site->name = site_name_with_column(from->names, site);
                if (several && told[i].type)
                        site->name = string_pool_format(
                            from->names, "%s (%s)",
                            string_pool_text(from->names, site->name),
                            string_pool_text(from->names, told[i].type));
        }
}

int site_types_name(const struct site_types *from, struct site *sites, const bool *used,
                    size_t count)
{
        struct told_site *told = malloc((count + 1) * sizeof(*told));
        size_t told_count = 0;

        if (!told)
                return -ENOMEM;
        for (size_t i = 0; i < count; i++)
                if (used[i] && sites[i].name != 0)
                        told[told_count++] = (struct told_site){
                            sites[i].name, type_name(from, i), sites[i].column, i};
        qsort(told, told_count, sizeof(*told), compare_sites);
        for (size_t i = 0, end; i < told_count; i = end) {
                for (end = i + 1; end < told_count && told[end].site == told[i].site;)
                        end++;
                name_site(from, sites, &told[i], end - i);
        }
        free(told);
        return 0;
}
