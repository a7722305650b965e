/* SPDX-License-Identifier: MIT */
/* Lists all starts, sorts them, and drops starts that only one unit has. */
#include "unit_starts.h"

#include <errno.h>
#include <stdlib.h>

#include "append.h"

struct reading {
        struct unit_starts *starts;
        const struct elf_file *file;
        uint32_t unit;
};

static int add(void *context, uint64_t low, uint64_t high)
{
        const struct reading *reading = context;
        struct unit_starts *starts = reading->starts;

        if (low >= high || !elf_file_has_code(reading->file, low))
                return 0;
        return PUSH(starts, (struct unit_start){low, reading->unit});
}

static int compare(const void *left, const void *right)
{
        const struct unit_start *a = left, *b = right;

        if (a->vaddr != b->vaddr)
                return a->vaddr < b->vaddr ? -1 : 1;
        return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static bool is_beside(const struct unit_starts *starts, size_t a, size_t b)
{
        return a < starts->count && b < starts->count &&
               starts->items[a].vaddr == starts->items[b].vaddr &&
               starts->items[a].unit != starts->items[b].unit;
}

static void keep_shared(struct unit_starts *starts)
{
        bool before = false;
        size_t kept = 0;

        for (size_t i = 0; i < starts->count; i++) {
                bool behind = is_beside(starts, i, i + 1);

                if (before || behind)
                        starts->items[kept++] = starts->items[i];
                before = behind;
        }
        starts->count = kept;
}

int unit_starts_read(struct unit_starts *starts, struct dwarf_file *dwarf,
                     const struct elf_file *file)
{
        struct reading reading = {.starts = starts, .file = file};

        for (size_t i = 0; i < dwarf->unit_count; i++) {
                Dwarf_Die die;

                reading.unit = (uint32_t)i;
                if (dwarf_offdie(dwarf->dwarf, dwarf->units[i].die_offset, &die) &&
                    die_ranges(dwarf, &die, add, &reading) == -ENOMEM)
                        return -ENOMEM;
        }
        if (starts->count > 1)
                qsort(starts->items, starts->count, sizeof(*starts->items), compare);
        keep_shared(starts);
        return 0;
}

size_t unit_starts_from(const struct unit_starts *starts, uint64_t vaddr)
{
        return number_from(starts->items, starts->count, sizeof(*starts->items), vaddr);
}

void unit_starts_free(struct unit_starts *starts)
{
        free(starts->items);
        *starts = (struct unit_starts){0};
}
