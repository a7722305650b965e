/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls that Valgrind's library does not offer to tools. */
#ifndef SIMPMU_SYSCALLS_H
#define SIMPMU_SYSCALLS_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

/* From linux/futex.h, which Valgrind's headers do not have whole. */
#define FUTEX_WAIT           0
#define FUTEX_WAKE           1
#define FUTEX_REQUEUE        3
#define FUTEX_CMP_REQUEUE    4
#define FUTEX_WAKE_OP        5
#define FUTEX_WAIT_BITSET    9
#define FUTEX_WAKE_BITSET    10
#define FUTEX_PRIVATE        128
#define FUTEX_OPERATION_MASK 127
#define FUTEX_ALL_BITS       0xffffffffu
#define TIMED_OUT            (-110) /* -ETIMEDOUT */

/* Calls that Valgrind's headers lack. */
#define NR_openat2         437
#define NR_process_madvise 440

static inline long raw_syscall4(long number, long a, long b, long c, long d)
{
        long result;
        register long fourth __asm__("r10") = d;

        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                         : "rcx", "r11", "memory");
        return result;
}

static inline long raw_syscall6(long number, long a, long b, long c, long d, long e,
                                long f)
{
        long result;
        register long fourth __asm__("r10") = d;
        register long fifth __asm__("r8") = e;
        register long sixth __asm__("r9") = f;

        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "0"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth),
                           "r"(sixth)
                         : "rcx", "r11", "memory");
        return result;
}

/* Waits while *WORD is EXPECTED, at most TIMEOUT_NS. */
static inline long futex_wait(UInt *word, long operation, UInt expected, long timeout_ns)
{
        struct {
                long seconds;
                long nanoseconds;
        } timeout = {0, timeout_ns};

        return raw_syscall4(__NR_futex, (long)word, operation, (long)expected,
                            (long)&timeout);
}

static inline long futex_wait_shared(UInt *word, UInt expected, long timeout_ns)
{
        return futex_wait(word, FUTEX_WAIT, expected, timeout_ns);
}

static inline long futex_wait_private(UInt *word, UInt expected, long timeout_ns)
{
        return futex_wait(word, FUTEX_WAIT | FUTEX_PRIVATE, expected, timeout_ns);
}

static inline void futex_wake_private(UInt *word)
{
        (void)raw_syscall4(__NR_futex, (long)word, FUTEX_WAKE | FUTEX_PRIVATE, 1, 0);
}

/* f_type of procfs, from linux/magic.h, and the words of struct statfs, whose first that
 * is. */
#define PROC_MAGIC   0x9fa0
#define STATFS_WORDS 15

static inline Bool is_in_procfs(Int fd)
{
        UWord system[STATFS_WORDS];

        return raw_syscall4(__NR_fstatfs, fd, (long)system, 0, 0) == 0 &&
               system[0] == PROC_MAGIC;
}

#define PR_SET_NAME 15 /* from linux/prctl.h, which Valgrind's headers lack */

/* From linux/mman.h, which Valgrind's headers do not have whole. */
#define MAP_LOCKED          0x2000
#define MAP_POPULATE        0x8000
#define MAP_NONBLOCK        0x10000
#define MAP_HUGETLB         0x40000
#define MADV_DONTNEED       4
#define MADV_HUGEPAGE       14
#define MADV_NOHUGEPAGE     15
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23

/* As fcntl takes it; Valgrind's headers have the commands only. */
#define F_WRLCK 1
#define F_UNLCK 2

struct file_lock {
        short type;
        short whence; /* 0: from the start of the file */
        long start;
        long length;
        int pid;
};

static inline void file_lock(Int fd, long offset)
{
        struct file_lock lock = {.type = F_WRLCK, .start = offset, .length = 1};

        (void)raw_syscall4(__NR_fcntl, fd, VKI_F_SETLK, (long)&lock, 0);
}

/* Whether another process holds a lock there; true if that is unknown. */
static inline Bool file_locked_by_another(Int fd, long offset)
{
        struct file_lock lock = {.type = F_WRLCK, .start = offset, .length = 1};

        return raw_syscall4(__NR_fcntl, fd, VKI_F_GETLK, (long)&lock, 0) != 0 ||
               lock.type != F_UNLCK;
}

#endif
