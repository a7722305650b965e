/* SPDX-License-Identifier: MIT */
/* Reads ELF files with libelf, and their unwind tables with libdw. Bytes are read, not
 * mapped: a file that becomes shorter must not end memlag. */
#include "module_code.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct segment {
        uint64_t file_offset;
        uint64_t file_bytes;
        uint64_t address;
};

struct module_code {
        int fd;
        Elf *elf;
        Dwarf_CFI *cfi;           /* NULL: the file has none */
        struct segment *segments; /* that can be executed */
        size_t segment_count;
        bool functions_read;
        uint64_t *functions; /* where they begin, ascending */
        size_t function_count;
};

static bool read_segments(struct module_code *module)
{
        size_t count;
        if (elf_getphdrnum(module->elf, &count) != 0 || count == 0)
                return false;
        module->segments = calloc(count, sizeof(*module->segments));
        for (size_t i = 0; module->segments && i < count; i++) {
                GElf_Phdr header;
                if (gelf_getphdr(module->elf, (int)i, &header) &&
                    header.p_type == PT_LOAD && header.p_flags & PF_X)
                        module->segments[module->segment_count++] = (struct segment){
                            header.p_offset, header.p_filesz, header.p_vaddr};
        }
        return module->segment_count > 0;
}

static bool is_for_this_machine(Elf *elf)
{
        GElf_Ehdr header;
        return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
               header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64;
}

struct module_code *module_code_open(const char *path)
{
        struct module_code *module = calloc(1, sizeof(*module));
        if (!module)
                return NULL;
        struct stat status;
        elf_version(EV_CURRENT);
        /* O_NONBLOCK: a pipe must not block. */
        module->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (module->fd >= 0 && fstat(module->fd, &status) == 0 && S_ISREG(status.st_mode))
                module->elf = elf_begin(module->fd, ELF_C_READ, NULL);
        if (!module->elf || !is_for_this_machine(module->elf) || !read_segments(module)) {
                module_code_close(module);
                return NULL;
        }
        module->cfi = dwarf_getcfi_elf(module->elf);
        return module;
}

void module_code_close(struct module_code *module)
{
        if (!module)
                return;
        if (module->cfi)
                dwarf_cfi_end(module->cfi);
        elf_end(module->elf);
        if (module->fd >= 0)
                close(module->fd);
        free(module->segments);
        free(module->functions);
        free(module);
}

bool module_code_address(const struct module_code *module, uint64_t file_offset,
                         uint64_t *address)
{
        for (size_t i = 0; i < module->segment_count; i++) {
                const struct segment *segment = &module->segments[i];
                if (file_offset - segment->file_offset >= segment->file_bytes)
                        continue;
                *address = file_offset - segment->file_offset + segment->address;
                return true;
        }
        return false;
}

bool module_code_read(const struct module_code *module, uint64_t address, void *bytes,
                      size_t length)
{
        for (size_t i = 0; i < module->segment_count; i++) {
                const struct segment *segment = &module->segments[i];
                uint64_t into = address - segment->address;
                if (into < segment->file_bytes && length <= segment->file_bytes - into)
                        return pread(module->fd, bytes, length,
                                     (off_t)(segment->file_offset + into)) ==
                               (ssize_t)length;
        }
        return false;
}

/* ---- where functions begin ---- */

static int compare_addresses(const void *a, const void *b)
{
        return (*(const uint64_t *)a > *(const uint64_t *)b) -
               (*(const uint64_t *)a < *(const uint64_t *)b);
}

static void add_functions(struct module_code *module, Elf_Scn *section,
                          const GElf_Shdr *header)
{
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
        uint64_t *grown = reallocarray(
            module->functions, module->function_count + count + 1, sizeof(*grown));
        if (!grown)
                return;
        module->functions = grown;
        for (size_t i = 0; i < count; i++) {
                GElf_Sym symbol;
                if (gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx != SHN_UNDEF &&
                    GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
                        grown[module->function_count++] = symbol.st_value;
        }
}

static void read_functions(struct module_code *module)
{
        if (module->functions_read)
                return;
        module->functions_read = true;
        Elf_Scn *section = NULL;
        while ((section = elf_nextscn(module->elf, section))) {
                GElf_Shdr header;
                if (gelf_getshdr(section, &header) &&
                    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
                        add_functions(module, section, &header);
        }
        if (module->function_count)
                qsort(module->functions, module->function_count,
                      sizeof(*module->functions), compare_addresses);
}

/* How many functions begin at or before ADDRESS. */
static size_t functions_until(struct module_code *module, uint64_t address)
{
        read_functions(module);
        size_t low = 0;
        size_t high = module->function_count;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (module->functions[middle] <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

bool module_code_is_entry(struct module_code *module, uint64_t address)
{
        size_t until = functions_until(module, address);
        return until && module->functions[until - 1] == address;
}

/* A row of the unwind table begins with an instruction. */
static bool row_boundary(struct module_code *module, uint64_t address, uint64_t *boundary)
{
        Dwarf_Frame *frame;
        if (!module->cfi || dwarf_cfi_addrframe(module->cfi, address, &frame) != 0)
                return false;
        Dwarf_Addr start;
        Dwarf_Addr end;
        bool signal;
        bool known = dwarf_frame_info(frame, &start, &end, &signal) >= 0;
        free(frame);
        *boundary = start;
        return known && start <= address && address < end;
}

bool module_code_boundary(struct module_code *module, uint64_t address,
                          uint64_t *boundary)
{
        bool has_row = row_boundary(module, address, boundary);
        size_t until = functions_until(module, address);
        if (!until)
                return has_row;
        uint64_t function = module->functions[until - 1];
        if (!has_row || function > *boundary)
                *boundary = function;
        return true;
}
