/* SPDX-License-Identifier: MIT */
/* The file that the kernel maps into every 64-bit process ("[vdso]"). */
#ifndef MEMLAG_CODE_OWN_VDSO_H
#define MEMLAG_CODE_OWN_VDSO_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/* Returns its bytes, and their number in *LENGTH; NULL: the kernel maps none. */
const uint8_t *own_vdso_bytes(size_t *length);

/* The same for libelf, to be closed by elf_end; NULL, too, without memory. */
Elf *own_vdso_open(void);

#endif
