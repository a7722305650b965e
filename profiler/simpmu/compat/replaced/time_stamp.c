/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * RDTSCP. Valgrind's CPUID offers it on every machine, but VEX translates it only if
 * the machine's CPUID offers it. Many virtual machines hide it; every Go program then
 * ends with SIGILL. Therefore VEX translates it on all machines. The translation uses
 * RDTSC and the segment in which Linux stores the CPU number.
 *
 * The linker replaces Valgrind's functions by these: see symbols.cmake. */
#include "pub_tool_basics.h"

#include "libvex.h"
#include "libvex_guest_amd64.h"

void __real_vgPlain_machine_get_VexArchInfo(VexArch *arch, VexArchInfo *info);
void __wrap_vgPlain_machine_get_VexArchInfo(VexArch *arch, VexArchInfo *info);
void __wrap_amd64g_dirtyhelper_RDTSCP(VexGuestAMD64State *guest);

void __wrap_vgPlain_machine_get_VexArchInfo(VexArch *arch, VexArchInfo *info)
{
        __real_vgPlain_machine_get_VexArchInfo(arch, info);
        if (info != NULL)
                info->hwcaps |= VEX_HWCAPS_AMD64_RDTSCP;
}

/* TSC_AUX and the limit of this segment have the CPU's number in bits 0 to 11 and its
 * node above (Linux, arch/x86/include/asm/segment.h: vdso_encode_cpunode). */
void __wrap_amd64g_dirtyhelper_RDTSCP(VexGuestAMD64State *guest)
{
        const UInt cpu_node_segment = 15 * 8 + 3;
        UInt low, high, cpu_node = 0;

        __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high));
        __asm__ volatile("lsl %1, %0" : "+r"(cpu_node) : "r"(cpu_node_segment) : "cc");
        guest->guest_RAX = low;
        guest->guest_RDX = high;
        guest->guest_RCX = cpu_node;
}
