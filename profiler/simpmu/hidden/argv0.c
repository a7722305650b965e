/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name by which a program was executed. Valgrind starts an executed program with
 * its path in argv[0], instead of the requested name. Programs that act by their name,
 * such as login shells, need the requested name. It travels as an option of the
 * simulated PMU. The process also gets the program's name instead of Valgrind's. */
#include "tool.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_xarray.h"

#include "compat/memory.h"
#include "compat/program.h"
#include "syscalls.h"

static const HChar prefix[] = "--argv0=";
static const HChar *name; /* NULL: as the core has it */

Bool argv0_option(const HChar *argument)
{
        if (VG_(strncmp)(argument, prefix, sizeof(prefix) - 1) != 0)
                return False;
        name = argument + sizeof(prefix) - 1;
        return True;
}

static Bool readable(const void *start, SizeT bytes)
{
        return start != NULL &&
               VG_(am_is_valid_for_client)((Addr)start, bytes, VKI_PROT_READ);
}

/* Where among the options ours is; added when it is not there yet. */
static const HChar **place_of_option(void)
{
        const HChar *none = prefix;

        for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
                const HChar **option = VG_(indexXA)(VG_(args_for_valgrind), i);

                if (VG_(strncmp)(*option, prefix, sizeof(prefix) - 1) == 0)
                        return option;
        }
        return VG_(indexXA)(VG_(args_for_valgrind),
                            VG_(addToXA)(VG_(args_for_valgrind), &none));
}

void argv0_before_exec(const HChar *program, const HChar *const *arguments)
{
        static HChar *last; /* of an exec that failed */
        HChar *option;
        const HChar *called = program;
        SizeT bytes;

        if (readable(arguments, sizeof(*arguments)) && readable(arguments[0], 1))
                called = arguments[0];
        if (!readable(called, 1))
                return;
        bytes = sizeof(prefix) + VG_(strlen)(called);
        option = VG_(malloc)("argv0", bytes);
        VG_(strcpy)(option, prefix);
        VG_(strcat)(option, called);
        *place_of_option() = option;
        VG_(free)(last);
        last = option;
}

/* As the kernel names a process, a script's too. */
static void name_process(void)
{
        const HChar *slash = VG_(strrchr)(VG_(args_the_exename), '/');

        (void)raw_syscall4(__NR_prctl, PR_SET_NAME,
                           (long)(slash == NULL ? VG_(args_the_exename) : slash + 1), 0,
                           0);
}

void argv0_restore(ThreadId first_thread)
{
        struct first_stack {
                UWord argument_count;
                HChar *arguments[1];
        } *stack = (void *)VG_(get_SP)(first_thread);
        SizeT bytes;
        SysRes page;

        name_process();
        /* In a script's place stands its interpreter, as the kernel has it too. */
        if (name == NULL || stack->argument_count == 0 ||
            VG_(strcmp)(stack->arguments[0], VG_(args_the_exename)) != 0)
                return;
        bytes = VG_(strlen)(name) + 1;
        if (bytes <= VG_(strlen)(stack->arguments[0]) + 1) {
                VG_(memcpy)(stack->arguments[0], name, bytes);
                return;
        }
        page = VG_(am_mmap_anon_float_client)(VG_PGROUNDUP(bytes),
                                              VKI_PROT_READ | VKI_PROT_WRITE);
        if (sr_isError(page))
                return; /* the path, which is its name too */
        VG_(memcpy)((void *)sr_Res(page), name, bytes);
        stack->arguments[0] = (HChar *)sr_Res(page);
}
