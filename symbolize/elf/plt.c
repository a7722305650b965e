/* SPDX-License-Identifier: MIT */
/* A stub is recognised by its jump through a word with a relocation. The relocation
 * names the function whose address the word will hold. Therefore the linkers' forms of
 * tables need not be known. */
#include "plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "relocations.h"

enum {
        JUMP_BYTES = 6, /* jmp *displacement(%rip) */
        STUB_BYTES = 16,
};

/* The function whose address the word at VADDR will hold; NULL: of none. */
static const char *function_of(const struct relocations *slots, uint64_t vaddr)
{
        const struct relocation *found = relocation_at(slots, vaddr);

        return found &&
                       (found->type == R_X86_64_JUMP_SLOT ||
                        found->type == R_X86_64_GLOB_DAT) &&
                       found->name && *found->name
                   ? found->name
                   : NULL;
}

/* How many of the bytes before a stub's jump, up to BEFORE, are the stub's too: endbr64,
 * and the prefix of jumps that check bounds. */
static size_t lead_in(const unsigned char *jump, size_t before)
{
        static const unsigned char landing[] = {0xf3, 0x0f, 0x1e, 0xfa};
        size_t bytes = before >= 1 && jump[-1] == 0xf2;

        if (before >= bytes + sizeof(landing) &&
            memcmp(jump - bytes - sizeof(landing), landing, sizeof(landing)) == 0)
                bytes += sizeof(landing);
        return bytes;
}

/* A stub reaches to the next stub of its table, or to the maximum size of a stub. */
static int add_stub(struct plt *plt, size_t first, uint64_t vaddr, const char *function)
{
        struct plt_stub *last = plt->stubs + plt->count - (plt->count > first);

        if (plt->count > first && vaddr - last->vaddr < last->size_bytes)
                last->size_bytes = vaddr - last->vaddr;
        return APPEND(plt->stubs, plt->count, plt->capacity,
                      (struct plt_stub){vaddr, STUB_BYTES, function});
}

static int read_table(struct plt *plt, const struct relocations *slots, uint64_t start,
                      const unsigned char *code, size_t bytes)
{
        size_t first = plt->count;

        for (size_t at = 0; at + JUMP_BYTES <= bytes; at++) {
                int32_t displacement;
                const char *function;

                if (code[at] != 0xff || code[at + 1] != 0x25)
                        continue;
                memcpy(&displacement, code + at + 2, sizeof(displacement));
                function = function_of(slots, start + at + JUMP_BYTES +
                                                  (uint64_t)(int64_t)displacement);
                if (function && add_stub(plt, first, start + at - lead_in(code + at, at),
                                         function) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int read_section(struct plt *plt, const struct relocations *slots, Elf_Scn *scn)
{
        GElf_Shdr shdr;
        Elf_Data *data = elf_rawdata(scn, NULL);

        return gelf_getshdr(scn, &shdr) && data && data->d_buf
                   ? read_table(plt, slots, shdr.sh_addr, data->d_buf, data->d_size)
                   : 0;
}

int plt_read(struct plt *plt, const struct elf_file *file)
{
        static const char *const tables[] = {".plt", ".plt.sec", ".plt.got", ".plt.bnd"};
        struct relocations slots = {0};
        int error = relocations_read(&slots, file);

        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !error; i++) {
                Elf_Scn *scn = elf_section_named(file->elf, tables[i]);

                if (scn)
                        error = read_section(plt, &slots, scn);
        }
        relocations_free(&slots);
        return error;
}

void plt_free(struct plt *plt)
{
        free(plt->stubs);
        *plt = (struct plt){0};
}
