/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * The room for arguments and environment of executed programs. Valgrind learns from the
 * kernel that it is too small when the program before is gone. The limits are those of
 * execve(2), "Limits on size of arguments and environment". */
#include "compat/replaced/exec_size.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_vki.h"

#define STRING_BYTES    (32ul * VKI_PAGE_SIZE) /* of one of them */
#define ROOM_BYTES      (6ul << 20)            /* of all of them */
#define LEAST_BYTES     (32ul * VKI_PAGE_SIZE) /* however small the stack */
#define VALGRINDS_BYTES 16384ul                /* options and variables that it adds */

extern struct vki_rlimit VG_(client_rlimit_stack);

static UWord room(void)
{
        UWord bytes = VG_(client_rlimit_stack).rlim_cur / 4;

        if (bytes > ROOM_BYTES)
                bytes = ROOM_BYTES;
        return bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
}

/* The bytes of STRINGS and of the pointers to them; STRING_BYTES is exceeded: ~0. */
static UWord bytes_of(const HChar *const *strings)
{
        UWord bytes = sizeof(*strings);

        for (; strings != NULL && *strings != NULL; strings++) {
                UWord length = VG_(strlen)(*strings) + 1;

                if (length > STRING_BYTES)
                        return ~0ul;
                bytes += length + sizeof(*strings);
        }
        return bytes;
}

Bool exec_size_fits(UWord arguments, UWord environment)
{
        UWord of_arguments = bytes_of((const HChar *const *)arguments);
        UWord of_environment = bytes_of((const HChar *const *)environment);

        return of_arguments != ~0ul && of_environment != ~0ul &&
               of_arguments + of_environment + VALGRINDS_BYTES <= room();
}
