/* SPDX-License-Identifier: MIT */
#include "code_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id.h"
#include "own_vdso.h"

enum { PAGE_BYTES = 4096 };

/* Opens a regular file without blocking; -1: PATH is no regular file. */
static int open_file(const char *path)
{
        struct stat status;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
                close(fd);
                fd = -1;
        }
        return fd;
}

static bool is_as_mapped(const struct code_file *file)
{
        uint8_t id[BUILD_ID_MAX_BYTES];
        if (file->build_id_bytes == 0)
                return true;
        size_t length =
            file->is_vdso ? build_id_read_vdso(id) : build_id_read(file->path, id);
        return length == file->build_id_bytes && memcmp(id, file->build_id, length) == 0;
}

/* Reads the tables at once: the file is not needed later. */
static void read_tables(struct code_file *file)
{
        if (file->elf && keyed_open(&file->rules, sizeof(struct unwind_rule)) == 0)
                file->table = unwind_table_new(file->elf);
}

static void read_file(struct code_file *file)
{
        int fd = open_file(file->path);
        if (fd < 0)
                return;
        file->elf = elf_begin(fd, ELF_C_READ, NULL);
        read_tables(file);
        close(fd);
}

bool code_file_read(struct code_file *file)
{
        if (!file->read && is_as_mapped(file)) {
                if (file->is_vdso) {
                        file->elf = own_vdso_open();
                        read_tables(file);
                } else {
                        read_file(file);
                }
        }
        file->read = true;
        return file->table;
}

static void read_page(const struct code_file *file, uint64_t offset)
{
        memset(file->page, 0, PAGE_BYTES);
        if (file->is_vdso) {
                size_t length;
                const uint8_t *bytes = own_vdso_bytes(&length);
                if (offset < length)
                        memcpy(file->page, bytes + offset,
                               length - offset < PAGE_BYTES ? length - offset
                                                            : PAGE_BYTES);
                return;
        }
        int fd = open_file(file->path);
        if (fd < 0)
                return;
        if (pread(fd, file->page, PAGE_BYTES, (off_t)offset) < 0)
                memset(file->page, 0, PAGE_BYTES);
        close(fd);
}

uint64_t code_file_word(struct code_file *file, uint64_t offset)
{
        uint64_t word = 0, in_page = offset % PAGE_BYTES;
        if (!code_file_read(file))
                return 0;
        if (!file->page || file->page_offset != offset - in_page) {
                if (!file->page && !(file->page = malloc(PAGE_BYTES)))
                        return 0;
                file->page_offset = offset - in_page;
                read_page(file, file->page_offset);
        }
        size_t left = PAGE_BYTES - in_page;
        memcpy(&word, file->page + in_page, left < sizeof(word) ? left : sizeof(word));
        return word;
}

void code_file_free(struct code_file *file)
{
        unwind_table_free(file->table);
        elf_end(file->elf);
        keyed_close(&file->rules);
        free(file->page);
        free(file->path);
}
