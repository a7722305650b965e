/* SPDX-License-Identifier: MIT */
/* Opens ELF files and trusts nothing in them. It compares sizes with the file's size, and
 * reads strings through libelf, which checks bounds. */
#include "elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "append.h"
#include "cgroup.h"

#define PAGE_MASK UINT64_C(4095)

/* Linux refuses programs whose program headers take more than 64 KiB. */
enum { SEGMENT_LIMIT = 65536 / sizeof(Elf64_Phdr) };

static void set_thread_memory(struct elf_file *file, const GElf_Phdr *phdr)
{
        uint64_t align = phdr->p_align ? phdr->p_align : 1;

        if (phdr->p_memsz < ELF_THREAD_LIMIT / 2 && align < ELF_THREAD_LIMIT / 2)
                file->thread_bytes = (phdr->p_memsz + align - 1) / align * align;
        file->thread_vaddr = phdr->p_vaddr;
}

static int read_segments(struct elf_file *file)
{
        size_t count, capacity = 0;

        if (elf_getphdrnum(file->elf, &count) != 0)
                return 0;
        for (size_t i = 0; i < count && i < SEGMENT_LIMIT; i++) {
                GElf_Phdr phdr;

                if (!gelf_getphdr(file->elf, (int)i, &phdr))
                        break;
                if (phdr.p_type == PT_TLS)
                        set_thread_memory(file, &phdr);
                if (phdr.p_type != PT_LOAD ||
                    phdr.p_vaddr + phdr.p_memsz < phdr.p_vaddr ||
                    phdr.p_offset + phdr.p_filesz < phdr.p_offset)
                        continue;
                if (APPEND(file->segments, file->segment_count, capacity,
                           (struct elf_segment){.offset_bytes = phdr.p_offset,
                                                .vaddr = phdr.p_vaddr,
                                                .file_bytes = phdr.p_filesz,
                                                .memory_bytes = phdr.p_memsz,
                                                .flags = phdr.p_flags}) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int read_sections(struct elf_file *file)
{
        size_t names, capacity = 0;

        if (elf_getshdrstrndx(file->elf, &names) != 0)
                return 0;
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(file->elf, scn)) != NULL;) {
                GElf_Shdr shdr;

                if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC) ||
                    (shdr.sh_flags & SHF_TLS) ||
                    shdr.sh_addr + shdr.sh_size < shdr.sh_addr)
                        continue;
                if (APPEND(file->sections, file->section_count, capacity,
                           (struct elf_section){
                               .vaddr = shdr.sh_addr,
                               .size_bytes = shdr.sh_size,
                               .executable = shdr.sh_flags & SHF_EXECINSTR,
                               .name = elf_strptr(file->elf, names, shdr.sh_name)}) < 0)
                        return -ENOMEM;
                if (range_map_add(&file->section_map, shdr.sh_addr,
                                  shdr.sh_addr + shdr.sh_size,
                                  (uint32_t)file->section_count - 1) < 0)
                        return -ENOMEM;
        }
        return range_map_build(&file->section_map);
}

void elf_build_id_hex(const uint8_t *build_id, size_t bytes, char hex[ELF_BUILD_ID_HEX])
{
        static const char digits[] = "0123456789abcdef";

        for (size_t i = 0; i < bytes && i < ELF_BUILD_ID_BYTES; i++) {
                *hex++ = digits[build_id[i] >> 4];
                *hex++ = digits[build_id[i] & 15];
        }
        *hex = '\0';
}

/* Reads the build-id from note sections, which separate debug files keep. A search
 * without sections would have to read any number of notes of any size. */
static void read_build_id(struct elf_file *file)
{
        const void *build_id;
        size_t sections;

        if (elf_getshdrnum(file->elf, &sections) != 0 || sections == 0)
                return;
        ssize_t bytes = dwelf_elf_gnu_build_id(file->elf, &build_id);

        if (bytes <= 0 || (size_t)bytes > sizeof(file->build_id))
                return;
        memcpy(file->build_id, build_id, (size_t)bytes);
        file->build_id_bytes = (size_t)bytes;
}

bool elf_sections_fit(Elf *elf, uint64_t bytes)
{
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
                GElf_Shdr shdr;

                if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS ||
                    shdr.sh_type == SHT_NULL)
                        continue;
                if (shdr.sh_size > bytes)
                        return false;
                bytes -= shdr.sh_size;
        }
        return true;
}

static int read_headers(struct elf_file *file)
{
        GElf_Ehdr ehdr;
        int error;

        if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &ehdr) ||
            ehdr.e_ident[EI_DATA] != ELFDATA2LSB ||
            (ehdr.e_type != ET_EXEC && ehdr.e_type != ET_DYN && ehdr.e_type != ET_REL))
                return -ENOEXEC; /* dwz makes relocatable files */
        if (!elf_sections_fit(file->elf, file->file_bytes))
                return -ENOEXEC;
        error = read_segments(file);
        if (!error)
                error = read_sections(file);
        if (!error)
                read_build_id(file);
        return error;
}

int elf_file_open_fd(struct elf_file *file, int fd, const char *path)
{
        struct stat status;
        int error;

        *file = (struct elf_file){.fd = fd};
        if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
                elf_file_close(file);
                return -ENOEXEC;
        }
        file->file_bytes = (uint64_t)status.st_size;
        elf_version(EV_CURRENT);
        /* Read, not mapped: a truncated file that is mapped kills its readers
         * (SIGBUS). */
        file->elf = elf_begin(fd, ELF_C_READ, NULL);
        error = file->elf ? read_headers(file) : -ENOEXEC;
        if (!error && path && !(file->path = strdup(path)))
                error = -ENOMEM;
        if (error)
                elf_file_close(file);
        return error;
}

int elf_file_open(struct elf_file *file, const char *path)
{
        /* O_NONBLOCK: opening a FIFO or a tape must not wait. */
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
        return fd < 0 ? -errno : elf_file_open_fd(file, fd, path);
}

void elf_file_detach(struct elf_file *file)
{
        elf_end(file->elf);
        if (file->fd >= 0)
                close(file->fd);
        free(file->sections);
        range_map_free(&file->section_map);
        file->elf = NULL;
        file->fd = -1;
        file->sections = NULL;
        file->section_count = 0;
}

void elf_file_close(struct elf_file *file)
{
        elf_file_detach(file);
        free(file->segments);
        free(file->path);
        *file = (struct elf_file){.fd = -1};
}

Elf_Scn *elf_section_named(Elf *elf, const char *name)
{
        size_t names;

        if (elf_getshdrstrndx(elf, &names) != 0)
                return NULL;
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
                GElf_Shdr shdr;
                const char *found;

                if (gelf_getshdr(scn, &shdr) &&
                    (found = elf_strptr(elf, names, shdr.sh_name)) &&
                    strcmp(found, name) == 0)
                        return scn;
        }
        return NULL;
}

struct elf_bytes elf_section_bytes(Elf *elf, const char *name)
{
        Elf_Scn *scn = elf_section_named(elf, name);
        Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;

        return data && data->d_buf && data->d_size > 0
                   ? (struct elf_bytes){data->d_buf, data->d_size}
                   : (struct elf_bytes){NULL, 0};
}

const struct elf_section *elf_file_section_at(const struct elf_file *file, uint64_t vaddr)
{
        const struct range *range = range_map_find(&file->section_map, vaddr);

        return range ? &file->sections[range->value] : NULL;
}

const struct elf_segment *elf_file_segment(const struct elf_file *file, uint64_t vaddr)
{
        for (size_t i = 0; i < file->segment_count; i++) {
                const struct elf_segment *segment = &file->segments[i];

                if (vaddr >= segment->vaddr &&
                    vaddr - segment->vaddr < segment->memory_bytes)
                        return segment;
        }
        return NULL;
}

/* The segment of the code at VADDR, or NULL. */
static const struct elf_segment *code_segment(const struct elf_file *file, uint64_t vaddr)
{
        const struct elf_segment *segment = elf_file_segment(file, vaddr);

        if (!segment || !(segment->flags & PF_X))
                return NULL;
        const struct elf_section *section =
            vaddr == 0 ? elf_file_section_at(file, vaddr) : NULL;

        return vaddr != 0 || (section && section->executable) ? segment : NULL;
}

bool elf_file_has_code(const struct elf_file *file, uint64_t vaddr)
{
        return code_segment(file, vaddr) != NULL;
}

/* How many of a segment's bytes are loaded from the file. */
static uint64_t loaded_bytes(const struct elf_segment *segment)
{
        return segment->file_bytes < segment->memory_bytes ? segment->file_bytes
                                                           : segment->memory_bytes;
}

size_t elf_file_read_code(const struct elf_file *file, uint64_t vaddr, uint8_t *bytes,
                          size_t count)
{
        const struct elf_segment *segment = code_segment(file, vaddr);

        if (!segment || vaddr - segment->vaddr >= loaded_bytes(segment))
                return 0;
        uint64_t at = vaddr - segment->vaddr, left = loaded_bytes(segment) - at;
        ssize_t length = pread(file->fd, bytes, left < count ? left : count,
                               (off_t)(segment->offset_bytes + at));

        return length > 0 ? (size_t)length : 0;
}

static bool holds_page(const struct elf_segment *segment, uint64_t offset_bytes)
{
        return offset_bytes >= (segment->offset_bytes & ~PAGE_MASK) &&
               offset_bytes < segment->offset_bytes + segment->file_bytes;
}

bool elf_file_bias(const struct elf_file *file, uint64_t start, uint64_t offset_bytes,
                   bool executable, uint64_t *bias)
{
        const struct elf_segment *found = NULL;

        /* A page of the file may be mapped for two segments. If both fit, take the
         * segment that begins in the page, because a later segment has a separate
         * mapping. */
        for (size_t i = 0; i < file->segment_count; i++) {
                const struct elf_segment *segment = &file->segments[i];

                if (holds_page(segment, offset_bytes) &&
                    executable == ((segment->flags & PF_X) != 0) &&
                    (!found || (segment->offset_bytes & ~PAGE_MASK) == offset_bytes))
                        found = segment;
        }
        if (!found)
                return false;
        *bias = start - (offset_bytes - found->offset_bytes + found->vaddr);
        return true;
}

uint64_t elf_memory_limit_bytes(void)
{
        static uint64_t limit_bytes;

        if (limit_bytes == 0) {
                uint64_t machine =
                    (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
                uint64_t group = cgroup_memory_bytes("");

                limit_bytes = (group < machine ? group : machine) / 2;
        }
        return limit_bytes;
}
