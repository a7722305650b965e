/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tried with Valgrind 3.19.0, 3.24.0 and 3.27.1.
 *
 * Limits that the target sets on its address space, open files, system calls and
 * stack. The kernel would apply an address space limit to Valgrind too, and Valgrind
 * cannot continue without memory. Valgrind refuses to lower the limit of open files
 * for good. With few pending signals Valgrind could not end its threads. Therefore this
 * file stores these limits, and checks the address space when the target asks for more.
 * The mappings that Valgrind refuses or misplaces are made here, too. Filters of system
 * calls are refused. The main thread's stack has room for the highest possible limit
 * (launch.c), and uses the current limit. Knows nothing of the model.
 *
 * The linker replaces Valgrind's functions by these: see symbols.cmake. */
#include "compat/replaced/limits.h"

#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "code_changes.h"
#include "compat/descriptors.h"
#include "compat/system_call.h"
#include "syscalls.h"

#define RLIMIT_AS           9 /* from asm/resource.h; Valgrind's headers lack both */
#define RLIMIT_SIGPENDING   11
#define MAP_FIXED_NOREPLACE 0x100000    /* from asm-generic/mman-common.h */
#define SPACE_BYTES         (1ul << 47) /* of addresses that a process has */
#define PR_GET_SECCOMP      21 /* from linux/prctl.h and linux/seccomp.h, likewise */
#define PR_SET_SECCOMP      22
#define PR_SET_MDWE         65
#define PR_GET_MDWE         66

enum { SECCOMP_MODE_STRICT = 1, SECCOMP_MODE_FILTER };
enum { SECCOMP_SET_MODE_STRICT, SECCOMP_SET_MODE_FILTER };

extern Addr VG_(brk_limit); /* where the target's heap by brk ends */
extern struct vki_rlimit VG_(client_rlimit_stack);

/* Set by the target itself, and not the kernel's. */
struct stored {
        Bool set;
        struct vki_rlimit limit;
};

static struct stored space, pending;
static Bool files_lowered;
static UWord files_maximum; /* when lowered */

static void complete(struct system_call_status *status, SysRes result)
{
        status->what = CALL_IS_COMPLETE;
        status->result = result;
}

static Bool is_ours(UWord resource)
{
        return resource == RLIMIT_AS || resource == RLIMIT_SIGPENDING ||
               resource == VKI_RLIMIT_NOFILE;
}

static struct stored *stored_of(UWord resource)
{
        return resource == RLIMIT_AS ? &space : &pending;
}

/* ---- reading and setting ---- */

static struct vki_rlimit limit_of(UWord resource)
{
        struct vki_rlimit limit = {~0ul, ~0ul};

        if (resource == VKI_RLIMIT_NOFILE) {
                limit.rlim_cur = (UWord)VG_(fd_soft_limit);
                limit.rlim_max =
                    files_lowered ? files_maximum : (UWord)VG_(fd_hard_limit);
        } else if (stored_of(resource)->set) {
                limit = stored_of(resource)->limit;
        } else {
                (void)VG_(getrlimit)((Int)resource, &limit);
        }
        return limit;
}

/* The kernel's error. A privileged target cannot use Valgrind's descriptors either. */
static UWord refusal_of(UWord resource, const struct vki_rlimit *limit)
{
        if (limit->rlim_cur > limit->rlim_max)
                return VKI_EINVAL;
        if (resource == VKI_RLIMIT_NOFILE && VG_(geteuid)() == 0)
                return limit->rlim_max > (UWord)VG_(fd_hard_limit) ? VKI_EPERM : 0;
        return limit->rlim_max > limit_of(resource).rlim_max && VG_(geteuid)() != 0
                   ? VKI_EPERM
                   : 0;
}

static void set_limit(UWord resource, const struct vki_rlimit *limit)
{
        if (resource == VKI_RLIMIT_NOFILE) {
                VG_(fd_soft_limit) = (Int)limit->rlim_cur;
                files_maximum = limit->rlim_max;
                files_lowered = True;
        } else {
                *stored_of(resource) = (struct stored){True, *limit};
        }
}

/* Either pointer may be null. */
static SysRes exchange(UWord resource, const struct vki_rlimit *new,
                       struct vki_rlimit *old)
{
        struct vki_rlimit before = limit_of(resource);
        UWord refusal = 0;

        if (new != NULL &&
            !VG_(am_is_valid_for_client)((Addr) new, sizeof(*new), VKI_PROT_READ))
                return VG_(mk_SysRes_Error)(VKI_EFAULT);
        if (old != NULL &&
            !VG_(am_is_valid_for_client)((Addr)old, sizeof(*old), VKI_PROT_WRITE))
                return VG_(mk_SysRes_Error)(VKI_EFAULT);
        if (new != NULL)
                refusal = refusal_of(resource, new);
        if (refusal != 0)
                return VG_(mk_SysRes_Error)(refusal);
        if (new != NULL)
                set_limit(resource, new);
        if (old != NULL)
                *old = before;
        return VG_(mk_SysRes_Success)(0);
}

SYSTEM_CALL_BEFORE(vgSysWrap_linux_sys_prlimit64_before)
{
        const UWord *argument = call->argument;
        const UInt resource = (UInt)argument[1];

        if (is_ours(resource) &&
            ((Int)argument[0] == 0 || (Int)argument[0] == VG_(getpid)()))
                complete(status,
                         exchange(resource, (void *)argument[2], (void *)argument[3]));
        else
                __real_vgSysWrap_linux_sys_prlimit64_before(tid, layout, call, status,
                                                            flags);
}

SYSTEM_CALL_BEFORE(vgSysWrap_generic_sys_setrlimit_before)
{
        const UInt resource = (UInt)call->argument[0];

        if (is_ours(resource) && call->argument[1] != 0)
                complete(status, exchange(resource, (void *)call->argument[1], NULL));
        else
                __real_vgSysWrap_generic_sys_setrlimit_before(tid, layout, call, status,
                                                              flags);
}

SYSTEM_CALL_BEFORE(vgSysWrap_generic_sys_getrlimit_before)
{
        const UInt resource = (UInt)call->argument[0];

        if (is_ours(resource) && call->argument[1] != 0)
                complete(status, exchange(resource, NULL, (void *)call->argument[1]));
        else
                __real_vgSysWrap_generic_sys_getrlimit_before(tid, layout, call, status,
                                                              flags);
}

/* ---- system calls ---- */

/* Without a filter the call only queries the kernel. */
Bool limits_wants_sandbox(UInt number, const UWord *argument)
{
        if (number == __NR_seccomp)
                return argument[0] == SECCOMP_SET_MODE_STRICT ||
                       (argument[0] == SECCOMP_SET_MODE_FILTER && argument[2] != 0);
        return number == __NR_prctl && argument[0] == PR_SET_SECCOMP &&
               (argument[1] == SECCOMP_MODE_STRICT ||
                (argument[1] == SECCOMP_MODE_FILTER && argument[2] != 0));
}

/* The kernel would apply a filter of system calls to Valgrind as well, and end it with
 * the target. Therefore the target sees a kernel without filters: Valgrind does not
 * know seccomp(2), which fails with ENOSYS. Valgrind's code is writable, too, which MDWE
 * forbids. */
SYSTEM_CALL_BEFORE(vgSysWrap_linux_sys_prctl_before)
{
        const UWord option = call->argument[0];

        if (option == PR_SET_SECCOMP || option == PR_GET_SECCOMP ||
            option == PR_SET_MDWE || option == PR_GET_MDWE)
                complete(status, VG_(mk_SysRes_Error)(VKI_EINVAL));
        else
                __real_vgSysWrap_linux_sys_prctl_before(tid, layout, call, status, flags);
}

/* ---- the address space ---- */

static UWord space_used(void)
{
        Int count;
        Addr *starts = VG_(get_segment_starts)(SkAnonC | SkFileC | SkShmC, &count);
        UWord bytes = 0;

        for (Int i = 0; i < count; i++) {
                const NSegment *segment = VG_(am_find_nsegment)(starts[i]);

                bytes += segment->end - segment->start + 1;
        }
        VG_(free)(starts);
        return bytes;
}

static Bool space_is_short(UWord more_bytes)
{
        UWord used;

        if (!space.set || space.limit.rlim_cur == ~0ul)
                return False;
        used = space_used();
        return used > space.limit.rlim_cur || more_bytes > space.limit.rlim_cur - used;
}

/* The target may ask for most of the address space: looks at segments, not at pages. */
static Bool is_in_use(Addr start, SizeT bytes)
{
        const UInt kinds = SkAnonC | SkAnonV | SkFileC | SkFileV | SkShmC | SkResvn;
        Int count;
        Addr *starts = VG_(get_segment_starts)(kinds, &count);
        Bool in_use = bytes > 0 && VG_(am_find_nsegment)(start) != NULL;

        for (Int i = 0; i < count && !in_use; i++)
                in_use = starts[i] - start < bytes;
        VG_(free)(starts);
        return in_use;
}

static Bool is_open(Int fd)
{
        return raw_syscall4(__NR_fcntl, fd, VKI_F_GETFD, 0, 0) >= 0;
}

extern SysRes __real_vgModuleLocal_generic_PRE_sys_mmap(ThreadId tid, UWord start,
                                                        UWord bytes, UWord protection,
                                                        UWord flags, UWord fd,
                                                        Off64T offset);
SysRes __wrap_vgModuleLocal_generic_PRE_sys_mmap(ThreadId tid, UWord start, UWord bytes,
                                                 UWord protection, UWord flags, UWord fd,
                                                 Off64T offset);

/* A mapping to a fixed address mostly replaces another mapping. */
SysRes __wrap_vgModuleLocal_generic_PRE_sys_mmap(ThreadId tid, UWord start, UWord bytes,
                                                 UWord protection, UWord flags, UWord fd,
                                                 Off64T offset)
{
        if (bytes != 0 && (flags & VKI_MAP_FIXED) == 0 && space_is_short(bytes))
                return VG_(mk_SysRes_Error)(VKI_ENOMEM);
        if ((flags & VKI_MAP_ANONYMOUS) == 0 && !is_open((Int)fd))
                return VG_(mk_SysRes_Error)(VKI_EBADF);
        if (bytes > SPACE_BYTES)
                return VG_(mk_SysRes_Error)(VKI_ENOMEM);
        if ((flags & MAP_FIXED_NOREPLACE) != 0 && (flags & VKI_MAP_FIXED) == 0) {
                if (is_in_use(start, bytes))
                        return VG_(mk_SysRes_Error)(VKI_EEXIST);
                flags |= VKI_MAP_FIXED; /* Valgrind takes it for a hint */
        }
        if ((flags & VKI_MAP_ANONYMOUS) == 0)
                code_file_mapped(flags, (Int)fd);
        return __real_vgModuleLocal_generic_PRE_sys_mmap(tid, start, bytes, protection,
                                                         flags, fd, offset);
}

static long remap(Addr old, UWord new_bytes, UWord flags, Addr new)
{
        return raw_syscall6(__NR_mremap, (long)old, 0, (long)new_bytes, (long)flags,
                            (long)new, 0);
}

/* Another mapping of the shared memory at OLD, which Valgrind refuses to make. Valgrind
 * learns of a new mapping without a file, which the kernel then replaces. NEW: 0: where
 * there is room. */
static SysRes map_again(ThreadId tid, Addr old, UWord new_bytes, Addr new)
{
        const NSegment *segment = VG_(am_find_nsegment)(old);
        UWord flags = VKI_MAP_SHARED | VKI_MAP_ANONYMOUS;
        UWord protection;
        SysRes mapped;
        long attempt;

        if (segment == NULL || (segment->kind & (SkAnonC | SkFileC | SkShmC)) == 0)
                return VG_(mk_SysRes_Error)(VKI_EFAULT);
        protection = (segment->hasR ? VKI_PROT_READ : 0) |
                     (segment->hasW ? VKI_PROT_WRITE : 0) |
                     (segment->hasX ? VKI_PROT_EXEC : 0);
        attempt = remap(old, new_bytes, VKI_MREMAP_MAYMOVE, 0);
        if (attempt < 0)
                return VG_(mk_SysRes_Error)((UWord)-attempt);
        (void)raw_syscall4(__NR_munmap, attempt, (long)new_bytes, 0, 0);
        if (new != 0)
                flags |= VKI_MAP_FIXED;
        mapped = __real_vgModuleLocal_generic_PRE_sys_mmap(tid, new, new_bytes,
                                                           protection, flags, ~0ul, 0);
        if (!sr_isError(mapped))
                (void)remap(old, new_bytes, VKI_MREMAP_MAYMOVE | VKI_MREMAP_FIXED,
                            sr_Res(mapped));
        return mapped;
}

SYSTEM_CALL_BEFORE(vgSysWrap_generic_sys_mremap_before)
{
        const UWord *argument = call->argument;
        const UWord moves = VKI_MREMAP_MAYMOVE;

        if (argument[2] > argument[1] && space_is_short(argument[2] - argument[1]))
                complete(status, VG_(mk_SysRes_Error)(VKI_ENOMEM));
        else if (argument[1] == 0 && argument[3] == moves)
                complete(status, map_again(tid, argument[0], argument[2], 0));
        else if (argument[1] == 0 && argument[3] == (moves | VKI_MREMAP_FIXED))
                complete(status, map_again(tid, argument[0], argument[2], argument[4]));
        else
                __real_vgSysWrap_generic_sys_mremap_before(tid, layout, call, status,
                                                           flags);
}

SYSTEM_CALL_BEFORE(vgSysWrap_generic_sys_brk_before)
{
        const Addr end = call->argument[0];

        if (end > VG_(brk_limit) && space_is_short(end - VG_(brk_limit)))
                complete(status, VG_(mk_SysRes_Success)(VG_(brk_limit)));
        else
                __real_vgSysWrap_generic_sys_brk_before(tid, layout, call, status, flags);
}

/* ---- the stack ---- */

extern const NSegment *
__real_vgPlain_am_extend_into_adjacent_reservation_client(Addr start, SSizeT more_bytes,
                                                          Bool *overflow);
const NSegment *
__wrap_vgPlain_am_extend_into_adjacent_reservation_client(Addr start, SSizeT more_bytes,
                                                          Bool *overflow);

/* Less than nothing more: the segment at START grows down, as only a stack does. */
const NSegment *
__wrap_vgPlain_am_extend_into_adjacent_reservation_client(Addr start, SSizeT more_bytes,
                                                          Bool *overflow)
{
        const UWord least_bytes = 1 << 20; /* which Valgrind has always given */
        const NSegment *stack = VG_(am_find_nsegment)(start);
        UWord limit_bytes = VG_(client_rlimit_stack).rlim_cur;

        if (limit_bytes < least_bytes)
                limit_bytes = least_bytes;
        if (more_bytes < 0 && stack != NULL &&
            stack->end + 1 - (start + more_bytes) > limit_bytes) {
                *overflow = True;
                return NULL;
        }
        return __real_vgPlain_am_extend_into_adjacent_reservation_client(
            start, more_bytes, overflow);
}

void limits_before_exec(void)
{
        (void)raw_syscall4(__NR_setrlimit, VKI_RLIMIT_STACK,
                           (long)&VG_(client_rlimit_stack), 0, 0);
}
