/* SPDX-License-Identifier: MIT */
/* Symbol tables: .symtab, or .dynsym and .gnu_debugdata if .symtab is stripped. Only
 * symbols with an address in memory count. Thread-local symbols are offsets, with a
 * mark. A linker's stub has the name of its target. */
#include "symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "file_path.h"
#include "mini_debug.h"
#include "relocations.h"

/* The order in which perf and gdb prefer names: a strong name before a weak one, a global
 * one before a local one, fewer leading underscores before more. */
static uint8_t rank_of(const GElf_Sym *sym, const char *name)
{
        size_t underscores = strspn(name, "_");
        uint8_t rank = (uint8_t)(7 - (underscores < 7 ? underscores : 7));

        if (GELF_ST_BIND(sym->st_info) == STB_GLOBAL)
                rank += 16;
        else if (GELF_ST_BIND(sym->st_info) == STB_WEAK)
                rank += 8;
        return rank;
}

static bool in_code(const struct elf_file *file, uint64_t vaddr)
{
        const struct elf_segment *segment = elf_file_segment(file, vaddr);

        return segment && (segment->flags & PF_X);
}

/* Go's linker makes one symbol for the section of a C object, "runtime/cgo(.text)",
 * around the functions in it. */
static bool names_section(const char *name)
{
        static const char mark[] = "(.text)";
        size_t length = strlen(name);

        return length >= strlen(mark) && strcmp(name + length - strlen(mark), mark) == 0;
}

/* Whether SYM is in FILE's memory image and names a function or an object. */
static bool wanted(const struct elf_file *file, const GElf_Sym *sym, const char *name,
                   bool *function)
{
        int type = GELF_ST_TYPE(sym->st_info);

        if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !name || !*name)
                return false;
        *function = type == STT_FUNC || type == STT_GNU_IFUNC ||
                    (type == STT_NOTYPE && in_code(file, sym->st_value));
        if (*function)
                return !names_section(name);
        if (type == STT_TLS)
                return sym->st_size > 0 && sym->st_value < ELF_THREAD_LIMIT;
        return (type == STT_OBJECT || type == STT_COMMON || type == STT_NOTYPE) &&
               sym->st_size > 0 && elf_file_segment(file, sym->st_value);
}

static uint64_t place_of(const GElf_Sym *sym)
{
        return GELF_ST_TYPE(sym->st_info) == STT_TLS ? sym->st_value | ELF_THREAD_LOCAL
                                                     : sym->st_value;
}

/* Whether SYM marks the end of a section of FROM, behind which another may begin. */
static bool marks_end(Elf *from, const GElf_Sym *sym)
{
        Elf_Scn *scn = sym->st_size == 0 && sym->st_shndx < SHN_LORESERVE
                           ? elf_getscn(from, sym->st_shndx)
                           : NULL;
        GElf_Shdr shdr;

        return scn && gelf_getshdr(scn, &shdr) && shdr.sh_size > 0 &&
               sym->st_value >= shdr.sh_addr &&
               sym->st_value - shdr.sh_addr == shdr.sh_size;
}

/* The source file that a FILE symbol gives to the local symbols behind it. Code
 * optimised at link time has "<artificial>" from gcc, "ld-temp.o" from LLVM. */
static const char *source_file(const char *name)
{
        return !name || !*name || *name == '<' || strcmp(name, "ld-temp.o") == 0
                   ? NULL
                   : path_base(name);
}

static int read_table(struct symbol_table *table, const struct elf_file *file, Elf *from,
                      uint32_t section_type)
{
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(from, scn)) != NULL;) {
                GElf_Shdr shdr;
                Elf_Data *data;

                const char *source = NULL; /* of the next local symbols */

                if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != section_type ||
                    shdr.sh_entsize == 0 || !(data = elf_getdata(scn, NULL)))
                        continue;
                for (size_t i = 0; i < data->d_size / shdr.sh_entsize; i++) {
                        GElf_Sym sym;
                        bool function;

                        if (i > INT32_MAX || !gelf_getsym(data, (int)i, &sym))
                                break;
                        const char *name = elf_strptr(from, shdr.sh_link, sym.st_name);
                        bool local = GELF_ST_BIND(sym.st_info) == STB_LOCAL;

                        if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
                                source = source_file(name);
                        if (!wanted(file, &sym, name, &function) || marks_end(from, &sym))
                                continue;
                        const struct symbol symbol = {.vaddr = place_of(&sym),
                                                      .size_bytes = sym.st_size,
                                                      .name = name,
                                                      .rank = rank_of(&sym, name),
                                                      .function = function,
                                                      .local = local,
                                                      .file = local ? source : NULL,
                                                      .order = (uint32_t)table->count};

                        if (APPEND(table->symbols, table->count, table->capacity,
                                   symbol) < 0)
                                return -ENOMEM;
                }
        }
        return 0;
}

/* ---- the procedure linkage table ---- */

/* Linkers make a stub for each function of another library. Calls of the function go
 * through it (System V ABI, AMD64 supplement, 5.2). No symbol table names stubs. A stub
 * is recognised by its jump through a word with a relocation, which names the function
 * whose address the word will hold. Therefore the linkers' forms of tables need not be
 * known. */

enum {
        JUMP_BYTES = 6, /* jmp *displacement(%rip) */
        STUB_BYTES = 16,
};

/* The function whose address the word at VADDR will hold; NULL: none. */
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

/* The number of bytes that belong to a stub before its jump, at most BEFORE: endbr64, and
 * the prefix of jumps that check bounds. */
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
static int add_stub(struct symbol_table *table, size_t first, uint64_t vaddr,
                    const char *function)
{
        struct symbol *last = table->symbols + table->count - (table->count > first);

        if (table->count > first && vaddr - last->vaddr < last->size_bytes)
                last->size_bytes = vaddr - last->vaddr;
        return APPEND(table->symbols, table->count, table->capacity,
                      (struct symbol){.vaddr = vaddr,
                                      .size_bytes = STUB_BYTES,
                                      .name = function,
                                      .function = true,
                                      .stub = true});
}

static int read_stubs(struct symbol_table *table, const struct relocations *slots,
                      uint64_t start, const unsigned char *code, size_t bytes)
{
        size_t first = table->count;

        for (size_t at = 0; at + JUMP_BYTES <= bytes; at++) {
                int32_t displacement;
                const char *function;

                if (code[at] != 0xff || code[at + 1] != 0x25)
                        continue;
                memcpy(&displacement, code + at + 2, sizeof(displacement));
                function = function_of(slots, start + at + JUMP_BYTES +
                                                  (uint64_t)(int64_t)displacement);
                if (function &&
                    add_stub(table, first, start + at - lead_in(code + at, at),
                             function) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int read_section(struct symbol_table *table, const struct relocations *slots,
                        Elf_Scn *scn)
{
        GElf_Shdr shdr;
        Elf_Data *data = elf_rawdata(scn, NULL);

        return gelf_getshdr(scn, &shdr) && data && data->d_buf
                   ? read_stubs(table, slots, shdr.sh_addr, data->d_buf, data->d_size)
                   : 0;
}

static int add_stubs(struct symbol_table *table, const struct elf_file *file)
{
        static const char *const tables[] = {".plt", ".plt.sec", ".plt.got", ".plt.bnd"};
        struct relocations slots = {0};
        int error = relocations_read(&slots, file);

        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !error; i++) {
                Elf_Scn *scn = elf_section_named(file->elf, tables[i]);

                if (scn)
                        error = read_section(table, &slots, scn);
        }
        relocations_free(&slots);
        return error;
}

/* ---- maps ---- */

/* Among symbols for one thing the preferred one is last: by rank, then the earliest. */
static int compare_symbols(const void *left, const void *right)
{
        const struct symbol *a = left, *b = right;

        COMPARE(a->vaddr, b->vaddr);
        COMPARE(a->rank, b->rank);
        COMPARE(b->order, a->order);
        return 0;
}

/* The largest size of a symbol of the same kind at the address of the FIRST one. */
static uint64_t largest_at(const struct symbol_table *table, size_t first, bool function)
{
        uint64_t largest = 0, vaddr = table->symbols[first].vaddr;

        for (size_t i = first; i < table->count && table->symbols[i].vaddr == vaddr; i++)
                if (table->symbols[i].function == function &&
                    table->symbols[i].size_bytes > largest &&
                    table->symbols[i].size_bytes <= UINT64_MAX - vaddr)
                        largest = table->symbols[i].size_bytes;
        return largest;
}

/* A smaller symbol at the beginning of a thing does not divide it. Older versions of a
 * library's table have such symbols. */
static int add_sized(struct symbol_table *table)
{
        uint64_t function_bytes = 0, object_bytes = 0;

        for (size_t i = 0; i < table->count; i++) {
                const struct symbol *symbol = &table->symbols[i];

                if (i == 0 || symbol->vaddr != symbol[-1].vaddr) {
                        function_bytes = largest_at(table, i, true);
                        object_bytes = largest_at(table, i, false);
                }
                if (symbol->size_bytes > 0 &&
                    symbol->size_bytes ==
                        (symbol->function ? function_bytes : object_bytes) &&
                    range_map_add(symbol->function ? &table->functions : &table->objects,
                                  symbol->vaddr, symbol->vaddr + symbol->size_bytes,
                                  (uint32_t)i) < 0)
                        return -ENOMEM;
        }
        if (range_map_build(&table->functions) < 0 ||
            range_map_build(&table->objects) < 0)
                return -ENOMEM;
        return 0;
}

/* A function without a size (assembler code) reaches to the next symbol or the end of its
 * section. If it lies inside another function, it is only a label. */
static int add_unsized(struct symbol_table *table, const struct elf_file *file)
{
        struct range_map reach = {0};
        uint64_t next = UINT64_MAX, here = UINT64_MAX;
        int error = 0;

        for (size_t i = table->count; i-- > 0 && !error;) {
                const struct symbol *symbol = &table->symbols[i];
                const struct elf_section *section;

                if (symbol->vaddr != here) {
                        next = here;
                        here = symbol->vaddr;
                }
                if (symbol->size_bytes > 0 || range_map_find(&table->functions, here) ||
                    !(section = elf_file_section_at(file, here)))
                        continue;
                uint64_t end = section->vaddr + section->size_bytes;

                error = range_map_add(&reach, here, next < end ? next : end, (uint32_t)i);
        }
        for (size_t i = 0; i < reach.count && !error; i++)
                error = range_map_add(&table->functions, reach.items[i].low,
                                      reach.items[i].high, reach.items[i].value);
        range_map_free(&reach);
        return error ? error : range_map_build(&table->functions);
}

static int build_maps(struct symbol_table *table, const struct elf_file *file)
{
        int error;

        SORT(table->symbols, table->count, compare_symbols);
        error = add_sized(table);
        return error ? error : add_unsized(table, file);
}

/* Reads the names for dynamic linking, and the packed symbols (.gnu_debugdata). */
static int read_stripped(struct symbol_table *table, const struct elf_file *file)
{
        int error = mini_debug_open(file, &table->mini_debug, &table->mini_image);

        if (error == 0) {
                error = read_table(table, file, table->mini_debug, SHT_SYMTAB);
                table->complete = table->count > 0;
        }
        return error && error != -ENOENT ? error
                                         : read_table(table, file, file->elf, SHT_DYNSYM);
}

static int list_names(struct symbol_table *table)
{
        int error = 0;

        for (size_t i = 0; i < table->count && !error; i++) {
                const struct symbol *symbol = &table->symbols[i];

                if (symbol->function && !symbol->stub)
                        error =
                            symbol_names_add(&table->names, symbol->name, symbol->vaddr,
                                             symbol->file, symbol->local);
        }
        symbol_names_order(&table->names);
        return error;
}

int symbol_table_read(struct symbol_table *table, const struct elf_file *file,
                      const struct elf_file *debug)
{
        int error;

        *table = (struct symbol_table){0};
        error = read_table(table, file, file->elf, SHT_SYMTAB);
        if (!error && table->count == 0 && debug)
                error = read_table(table, file, debug->elf, SHT_SYMTAB);
        table->complete = table->count > 0;
        if (!error && !table->complete)
                error = read_stripped(table, file);
        if (!error)
                error = add_stubs(table, file);
        if (!error)
                error = build_maps(table, file);
        if (!error)
                error = list_names(table);
        if (error)
                symbol_table_free(table);
        return error;
}

void symbol_table_free(struct symbol_table *table)
{
        free(table->symbols);
        elf_end(table->mini_debug);
        free(table->mini_image);
        range_map_free(&table->functions);
        range_map_free(&table->objects);
        symbol_names_free(&table->names);
        *table = (struct symbol_table){0};
}

const struct symbol *symbol_table_function(const struct symbol_table *table,
                                           uint64_t vaddr)
{
        const struct range *range = range_map_find(&table->functions, vaddr);

        return range ? &table->symbols[range->value] : NULL;
}

const struct symbol *symbol_table_object(const struct symbol_table *table, uint64_t vaddr)
{
        const struct range *range = range_map_find(&table->objects, vaddr);

        return range ? &table->symbols[range->value] : NULL;
}
