/* SPDX-License-Identifier: MIT */
/* Lines are "ADDRESS TYPE NAME" and, for modules, "[MODULE]". They have no sizes: a
 * function reaches to the next symbol. */
#include "kallsyms.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"

const char kallsyms_running[] = "/proc/kallsyms";

/* The maximum size of a function: an address further from the symbol is not in it. */
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
                const struct kallsyms_symbol symbol = {addr, string_pool_put(names, name),
                                                       (uint32_t)kallsyms->count};

                error = APPEND(kallsyms->symbols, kallsyms->count, kallsyms->capacity,
                               symbol);
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
        SORT(kallsyms->symbols, kallsyms->count, compare);
        return error;
}

void kallsyms_free(struct kallsyms *kallsyms)
{
        free(kallsyms->symbols);
        *kallsyms = (struct kallsyms){0};
}

uint32_t kallsyms_find(const struct kallsyms *kallsyms, uint64_t addr)
{
        size_t low = NUMBER_UNTIL(kallsyms->symbols, kallsyms->count, addr);

        if (low == 0 || addr - kallsyms->symbols[low - 1].addr >= FUNCTION_MAX_BYTES)
                return 0;
        /* Of several names for one address, the first in the list counts. */
        while (low > 1 &&
               kallsyms->symbols[low - 2].addr == kallsyms->symbols[low - 1].addr)
                low--;
        return kallsyms->symbols[low - 1].name;
}

bool kallsyms_has(const struct kallsyms *kallsyms, const struct string_pool *names,
                  uint64_t addr, const char *name)
{
        for (size_t i = NUMBER_UNTIL(kallsyms->symbols, kallsyms->count, addr);
             i > 0 && kallsyms->symbols[i - 1].addr == addr; i--) {
                const char *text = string_pool_text(names, kallsyms->symbols[i - 1].name);

                if (text && strcmp(text, name) == 0)
                        return true;
        }
        return false;
}

bool kallsyms_runs(const uint8_t *build_id, size_t build_id_bytes)
{
        struct kernel_note {
                Elf64_Nhdr header;
                char name[4];
                uint8_t build_id[64];
        } note = {
            {sizeof("GNU"), (Elf64_Word)build_id_bytes, NT_GNU_BUILD_ID}, "GNU", {0}};
        const size_t header_bytes = offsetof(struct kernel_note, build_id);
        uint8_t notes[4096];
        FILE *in = build_id_bytes > 0 && build_id_bytes <= sizeof(note.build_id)
                       ? fopen("/sys/kernel/notes", "re")
                       : NULL;

        if (!in)
                return false;
        size_t bytes = fread(notes, 1, sizeof(notes), in);

        fclose(in);
        memcpy(note.build_id, build_id, build_id_bytes);
        return memmem(notes, bytes, &note, header_bytes + build_id_bytes) != NULL;
}
