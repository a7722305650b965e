/* SPDX-License-Identifier: MIT */
#include "own_vdso.h"

#include <sys/auxv.h>

const uint8_t *own_vdso_bytes(size_t *length)
{
        const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
        /* The section headers come last. */
        *length =
            image ? image->e_shoff + (size_t)image->e_shnum * image->e_shentsize : 0;
        return (const uint8_t *)image;
}

Elf *own_vdso_open(void)
{
        size_t length;
        const uint8_t *bytes = own_vdso_bytes(&length);
        return bytes && elf_version(EV_CURRENT) != EV_NONE
                   ? elf_memory((char *)bytes, length)
                   : NULL;
}
