/* SPDX-License-Identifier: MIT */
/* Lines are "ADDRESS TYPE NAME" and, for modules, "[MODULE]". Sizes are not told: a
 * function reaches to the next symbol. */
#include "kallsyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

/* A function ends somewhere: what is further from its symbol is not in it. */
#define FUNCTION_MAX_BYTES (UINT64_C(1) << 20)

/* Whether LINE names code; its fields otherwise. */
static bool parse(char *line, uint64_t *addr, char **name)
{
        char *end;

        *addr = strtoull(line, &end, 16);
        if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
                return false;
        *name = end + 3;
        (*name)[strcspn(*name, "\t \n")] = '\0';
        return strchr("tTwW", end[1]) != NULL && **name;
}

static int compare(const void *left, const void *right)
{
        const struct kallsyms_symbol *a = left, *b = right;

        if (a->addr != b->addr)
                return a->addr < b->addr ? -1 : 1;
        return a->line < b->line ? -1 : a->line > b->line;
}

static int read_lines(struct kallsyms *kallsyms, FILE *in, struct string_pool *names)
{
        char *line = NULL, *name;
        size_t size = 0;
        uint64_t addr;
        int error = 0;

        while (!error && kallsyms->count < UINT32_MAX && getline(&line, &size, in) > 0) {
                if (!parse(line, &addr, &name) || addr == 0)
                        continue;
                error = array_reserve(&kallsyms->symbols, &kallsyms->capacity,
                                      kallsyms->count, sizeof(*kallsyms->symbols));
                if (error)
                        break;
                kallsyms->symbols[kallsyms->count] = (struct kallsyms_symbol){
                    addr, string_pool_put(names, name), (uint32_t)kallsyms->count};
                kallsyms->count++;
        }
        free(line);
        return error ? error : string_pool_failed(names);
}

int kallsyms_read(struct kallsyms *kallsyms, const char *path, struct string_pool *names,
                  struct diag *diag)
{
        FILE *in = fopen(path, "re");

        if (!in)
                return diag_set(diag, -errno, "%s: %s", path, strerror(errno));
        int error = read_lines(kallsyms, in, names);

        if (error)
                diag_set(diag, error, "out of memory");
        else if (kallsyms->count == 0)
                error = diag_set(diag, -EINVAL,
                                 "%s: it names no code of a kernel (copy /proc/kallsyms "
                                 "as root: to others it does not show addresses)",
                                 path);
        fclose(in);
        if (kallsyms->count > 1)
                qsort(kallsyms->symbols, kallsyms->count, sizeof(*kallsyms->symbols),
                      compare);
        return error;
}

void kallsyms_free(struct kallsyms *kallsyms)
{
        free(kallsyms->symbols);
        *kallsyms = (struct kallsyms){0};
}

uint32_t kallsyms_find(const struct kallsyms *kallsyms, uint64_t addr)
{
        size_t low = 0, high = kallsyms->count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (kallsyms->symbols[middle].addr <= addr)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0 || addr - kallsyms->symbols[low - 1].addr >= FUNCTION_MAX_BYTES)
                return 0;
        /* Of several names for one address, the first that the list has. */
        while (low > 1 &&
               kallsyms->symbols[low - 2].addr == kallsyms->symbols[low - 1].addr)
                low--;
        return kallsyms->symbols[low - 1].name;
}
