/* SPDX-License-Identifier: MIT */
/* Reads the GNU build-id of a file through libelf. */
#include "build_id.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own_vdso.h"

/* Real notes have some hundred bytes; a larger segment is not worth reading. */
#define NOTES_MAX_BYTES (1u << 20)

static size_t id_in_notes(Elf_Data *notes, uint8_t id[BUILD_ID_MAX_BYTES])
{
        size_t offset = 0;
        size_t name_offset;
        size_t desc_offset;
        GElf_Nhdr note;
        while ((offset = gelf_getnote(notes, offset, &note, &name_offset, &desc_offset)) >
               0) {
                const char *bytes = notes->d_buf;
                if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
                    memcmp(bytes + name_offset, "GNU", sizeof("GNU")) == 0 &&
                    note.n_descsz > 0 && note.n_descsz <= BUILD_ID_MAX_BYTES) {
                        memcpy(id, bytes + desc_offset, note.n_descsz);
                        return note.n_descsz;
                }
        }
        return 0;
}

static size_t id_in_elf(Elf *elf, uint8_t id[BUILD_ID_MAX_BYTES])
{
        size_t count;
        if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) != 0)
                return 0;
        for (size_t i = 0; i < count; i++) {
                GElf_Phdr segment;
                if (!gelf_getphdr(elf, (int)i, &segment))
                        return 0;
                if (segment.p_type != PT_NOTE || segment.p_filesz > NOTES_MAX_BYTES)
                        continue;
                Elf_Data *notes =
                    elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz,
                                         segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
                size_t length = notes ? id_in_notes(notes, id) : 0;
                if (length)
                        return length;
        }
        return 0;
}

size_t build_id_read(const char *path, uint8_t id[BUILD_ID_MAX_BYTES])
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return 0;
        struct stat status;
        size_t length = 0;
        /* Reading, not mapping: a file that shrinks must not raise SIGBUS. */
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
            elf_version(EV_CURRENT) != EV_NONE) {
                Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
                if (elf) {
                        length = id_in_elf(elf, id);
                        elf_end(elf);
                }
        }
        close(fd);
        return length;
}

size_t build_id_read_vdso(uint8_t id[BUILD_ID_MAX_BYTES])
{
        Elf *elf = own_vdso_open();
        size_t length = elf ? id_in_elf(elf, id) : 0;
        elf_end(elf);
        return length;
}
