/* SPDX-License-Identifier: MIT */
/* See brief_lines.h. */
#include "brief_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

FILE *brief_begin(struct brief_lines *lines, enum brief_rank rank)
{
        if (array_reserve(&lines->blocks, &lines->capacity, lines->count,
                          sizeof(*lines->blocks)))
                return NULL;
        struct brief_block *block = &lines->blocks[lines->count];
        *block = (struct brief_block){.rank = rank};
        lines->open = open_memstream(&block->text, &block->size);
        lines->count += lines->open != NULL;
        return lines->open;
}

int brief_end(struct brief_lines *lines)
{
        struct brief_block *block = &lines->blocks[lines->count - 1];
        int code = fclose(lines->open) ? -ENOMEM : 0;
        lines->open = NULL;
        for (const char *at = block->text; at && (at = strchr(at, '\n')); at++)
                block->lines++;
        if (!block->lines) {
                free(block->text);
                lines->count--;
        }
        return code;
}

static size_t sum_of(const struct brief_lines *lines)
{
        size_t sum = 0;
        for (size_t i = 0; i < lines->count; i++)
                if (lines->blocks[i].rank != BRIEF_GAIN)
                        sum += lines->blocks[i].lines;
        return sum;
}

/* The last block of the least important rank; the first block always stays. */
static struct brief_block *least_of(struct brief_lines *lines)
{
        struct brief_block *least = NULL;
        for (size_t i = 1; i < lines->count; i++)
                if (lines->blocks[i].lines && lines->blocks[i].rank != BRIEF_GAIN &&
                    (!least || lines->blocks[i].rank >= least->rank))
                        least = &lines->blocks[i];
        return least;
}

void brief_print(struct brief_lines *lines, size_t most, FILE *out)
{
        struct brief_block *least;
        while (sum_of(lines) > most && (least = least_of(lines)) != NULL)
                least->lines = 0;
        for (size_t i = 0; i < lines->count; i++)
                if (lines->blocks[i].lines)
                        fputs(lines->blocks[i].text, out);
}

void brief_free(struct brief_lines *lines)
{
        if (lines->open)
                fclose(lines->open);
        for (size_t i = 0; i < lines->count; i++)
                free(lines->blocks[i].text);
        free(lines->blocks);
}
