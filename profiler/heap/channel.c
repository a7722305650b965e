/* SPDX-License-Identifier: MIT */
/* The producer's side of the ring that all threads of a process write to. The target is
 * sacred: whatever goes wrong here ends the telling, not the program. Calls no function
 * of the C library on the way of an event: samples in its code would pass for the
 * program's, while those in this library's own are known. */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../simpmu/slice.h"
#include "unwinder.h"

/* memlag is told once the ring is this full. */
#define BELL_BYTES (SIMPMU_RING_BYTES / 4)
/* How long to wait for room before asking whether memlag still lives. */
#define WAIT_NS 100000000
/* How long and how often to wait for threads that are in a system call: for some of the
 * above, as one that has gone in the middle of it never comes back. */
#define HOLD_NS    100000
#define HOLD_TURNS 10000
/* Stacks that memlag has been told of; beyond these they are told with each block. */
#define STACKS_TOLD  (1u << 17) /* a power of two */
#define STACK_PROBES 8

/* What a fork must not leave to the child: the kernel zeroes it there. */
struct own {
        uint32_t image; /* 0: none yet, 1: one is being begun, 2: it is there */
        int32_t calls;  /* atomic: system calls that its threads are in */
        uint32_t pid;   /* of the process that has begun the image, as it sees itself */
        uint64_t stacks[STACKS_TOLD]; /* hashes */
};

static struct own *own;
static struct simpmu_control *control;
static struct simpmu_slice *slice; /* atomic; NULL: nothing is told */
static struct stat file_status;
static char file_path[64];
static char bell_path[64];
static uint32_t holds; /* atomic: while there are any, no system call begins */

static uint16_t image_count; /* of this process and those that it was forked from */
__thread union heap_thread heap_thread;

/* What comes before it is there for a signal's handler, and who goes on after that. */
static void signal_fence(void)
{
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* ---- without cancellation points, and without malloc ---- */

/* With the kernel's own result: a negative errno value when it fails. */
static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
        register long r10 __asm__("r10") = d;
        register long r8 __asm__("r8") = e;
        register long r9 __asm__("r9") = f;
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
        return result;
}

/* Counted first and looked at afterwards: whoever holds the calls sees this one, or it
 * sees the hold. */
static bool begin_call(void)
{
        __atomic_fetch_add(&own->calls, 1, __ATOMIC_SEQ_CST);
        heap_thread.calls++;
        signal_fence();
        return __atomic_load_n(&holds, __ATOMIC_SEQ_CST) == 0;
}

static void end_call(void)
{
        signal_fence();
        heap_thread.calls--;
        __atomic_fetch_sub(&own->calls, 1, __ATOMIC_SEQ_CST);
}

long channel_call(long number, long a, long b, long c, long d, long e, long f)
{
        if (!own) /* there is one thread yet, or the engine runs the program */
                return system_call(number, a, b, c, d, e, f);
        long result = begin_call() ? system_call(number, a, b, c, d, e, f) : -EPERM;
        end_call();
        return result;
}

bool channel_is_on_signal_stack(bool *on)
{
        stack_t stack;
        if (channel_call(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0) != 0)
                return false;
        *on = stack.ss_flags & SS_ONSTACK;
        return true;
}

void channel_hold(void)
{
        const struct timespec turn = {.tv_nsec = HOLD_NS};
        __atomic_fetch_add(&holds, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < HOLD_TURNS && __atomic_load_n(&own->calls, __ATOMIC_SEQ_CST) >
                                              heap_thread.calls;
             i++)
                system_call(SYS_nanosleep, (long)&turn, 0, 0, 0, 0, 0);
}

void channel_resume(void)
{
        __atomic_fetch_sub(&holds, 1, __ATOMIC_SEQ_CST);
}

static long open_file(const char *path)
{
        return channel_call(SYS_openat, AT_FDCWD, (long)path,
                            O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
}

static void close_file(long fd)
{
        channel_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static void *map(long fd, uint64_t offset, size_t bytes)
{
        int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
        long address = channel_call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
                                    flags, fd, (long)offset);
        return address < 0 ? NULL : (void *)address;
}

/* Opens the memory file; negative when it is not there any more, as after memlag's end.
 */
static long open_memory(void)
{
        struct stat status;
        long fd = open_file(file_path);
        if (fd < 0)
                return fd;
        /* In another PID namespace, that may be anybody's file. */
        if (channel_call(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH, 0,
                         0) == 0 &&
            S_ISREG(status.st_mode) &&
            (file_status.st_ino == 0 || (status.st_ino == file_status.st_ino &&
                                         status.st_dev == file_status.st_dev))) {
                file_status = status;
                return fd;
        }
        close_file(fd);
        return -ESTALE;
}

static bool memlag_is_gone(void)
{
        if (__atomic_load_n(&control->stop, __ATOMIC_ACQUIRE) != 0)
                return true;
        long fd = open_memory();
        if (fd < 0)
                return fd != -EMFILE && fd != -ENFILE;
        close_file(fd);
        return false;
}

static void ring_bell(void)
{
        long fd = open_file(bell_path); /* for reading too: then it raises no SIGPIPE */
        if (fd < 0)
                return;
        channel_call(SYS_write, fd, (long)"", 1, 0, 0, 0);
        close_file(fd);
}

/* ---- the ring ---- */

/* memlag is gone, or out of this process's reach: it has changed its user or its root. */
void channel_note_cut_off(void)
{
        if (__atomic_load_n(&control->stop, __ATOMIC_RELAXED) == 0)
                __atomic_fetch_add(&control->heaps_cut_off, 1, __ATOMIC_RELAXED);
}

static void *stop_telling(void)
{
        /* It stays mapped: other threads may be writing to it. */
        if (__atomic_exchange_n(&slice, NULL, __ATOMIC_ACQ_REL))
                channel_note_cut_off();
        return NULL;
}

static bool has_room(const struct simpmu_slice *ring, uint64_t head, uint64_t bytes)
{
        return head + bytes - __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST) <=
               SIMPMU_RING_BYTES;
}

/* False when nobody will make room. */
static bool wait_for_room(struct simpmu_slice *ring, uint64_t bytes)
{
        const struct timespec limit = {.tv_nsec = WAIT_NS};
        for (;;) {
                uint32_t seen = __atomic_load_n(&ring->space_futex, __ATOMIC_ACQUIRE);
                __atomic_store_n(&ring->producer_waits, 1, __ATOMIC_SEQ_CST);
                uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
                if (has_room(ring, head, bytes))
                        return true;
                if (memlag_is_gone())
                        return false;
                ring_bell();
                channel_call(SYS_futex, (long)&ring->space_futex, FUTEX_WAIT, seen,
                             (long)&limit, 0, 0);
        }
}

static void publish(void *place, uint64_t size_bytes, enum simpmu_record_type type)
{
        __atomic_store_n((uint64_t *)place, size_bytes | (uint64_t)type << 32,
                         __ATOMIC_RELEASE);
}

/* Makes the record at PLACE count. */
static void commit(void *place, uint64_t size_bytes, enum simpmu_record_type type)
{
        heap_thread.record = NULL; /* first: the place may be another's once it counts */
        signal_fence();
        publish(place, size_bytes, type);
}

/* Whether the place that the thread wanted is its own. Left in the moment in which it got
 * it, only a thread that is alone knows, and not where the ring's end made padding: that
 * place keeps the reader waiting. */
static bool has_place(const struct simpmu_slice *ring)
{
        return heap_thread.has_place ||
               (__libc_single_threaded &&
                __atomic_load_n(&ring->head, __ATOMIC_RELAXED) != heap_thread.position);
}

void channel_abandon(void)
{
        const struct simpmu_slice *ring = __atomic_load_n(&slice, __ATOMIC_ACQUIRE);
        if (ring && heap_thread.record && has_place(ring))
                publish(heap_thread.record, heap_thread.record_bytes, SIMPMU_PAD);
        heap_thread.record = NULL;
        if (own)
                __atomic_fetch_sub(&own->calls, heap_thread.calls, __ATOMIC_SEQ_CST);
        heap_thread.calls = 0;
}

/* Notes which place the thread wants, and that it has it, for channel_abandon. */
static void want_place(void *place, uint64_t size_bytes, uint64_t position)
{
        heap_thread.record = NULL;
        heap_thread.has_place = false;
        heap_thread.record_bytes = (uint32_t)size_bytes;
        heap_thread.position = position;
        signal_fence();
        heap_thread.record = place;
        signal_fence();
}

static void get_place(void *place)
{
        heap_thread.has_place = true;
        signal_fence();
        heap_thread.record = place;
        signal_fence();
}

/* The place for a record of SIZE_BYTES, a multiple of 8; NULL: nothing is told any more.
 */
static void *reserve(struct simpmu_slice *ring, uint64_t size_bytes)
{
        char *bytes = (char *)ring + SIMPMU_SLICE_HEADER_BYTES;
        uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
        uint64_t padding;
        void *place;
        for (;;) {
                uint64_t to_end = SIMPMU_RING_BYTES - head % SIMPMU_RING_BYTES;
                padding = size_bytes <= to_end ? 0 : to_end;
                place = bytes + (head + padding) % SIMPMU_RING_BYTES;
                if (has_room(ring, head, padding + size_bytes)) {
                        want_place(padding ? NULL : place, size_bytes, head);
                        if (__atomic_compare_exchange_n(
                                &ring->head, &head, head + padding + size_bytes, true,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                                break;
                        continue;
                }
                if (!wait_for_room(ring, padding + size_bytes))
                        return stop_telling();
                head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
        }
        if (padding)
                publish(bytes + head % SIMPMU_RING_BYTES, padding, SIMPMU_PAD);
        get_place(place);
        uint64_t used = head - __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);
        if (used < BELL_BYTES && used + padding + size_bytes >= BELL_BYTES)
                ring_bell();
        return place;
}

/* ---- images ---- */

/* As memlag sees it, whose /proc this is. */
static uint32_t own_pid(void)
{
        char text[32] = "";
        channel_call(SYS_readlinkat, AT_FDCWD, (long)"/proc/self", (long)text,
                     sizeof(text) - 1, 0, 0);
        uint32_t pid = 0;
        for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++)
                pid = pid * 10 + (uint32_t)(*digit - '0');
        return pid;
}

/* As memlag wants it. The counter is read here, behind all that the program did before:
 * a function of the C library would be in samples, and nobody could tell that it was not
 * the program that called it. */
static uint64_t now(void)
{
        if (control->time_in_ticks) {
                _mm_lfence();
                return __rdtsc();
        }
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* 0: it cannot be asked for any more. */
static uint32_t own_tid(void)
{
        if (heap_thread.image != image_count) {
                long tid = channel_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
                if (tid < 0)
                        return 0;
                heap_thread.tid = (uint32_t)tid;
                heap_thread.image = image_count;
        }
        return heap_thread.tid;
}

static void fill_header(struct simpmu_record *header)
{
        header->tid = own_tid();
        header->reserved = 0;
        header->time_ns = now();
}

static void tell_process(struct simpmu_slice *ring)
{
        /* The name, which perf knows, is empty. */
        const uint64_t bytes = sizeof(struct simpmu_process) + 8;
        struct simpmu_process *record = reserve(ring, bytes);
        if (!record)
                return;
        fill_header(&record->header);
        record->pid = own_pid();
        record->origin = 0;
        memset(record->executable, 0, 8);
        commit(record, bytes, SIMPMU_PROCESS);
}

static struct simpmu_slice *begin_image(void)
{
        long fd = own_tid() == 0 ? -EPERM : open_memory();
        if (fd < 0) {
                channel_note_cut_off();
                return NULL;
        }
        uint64_t number =
            __atomic_fetch_add(&control->slices_claimed, 1, __ATOMIC_ACQ_REL);
        struct simpmu_slice *ring = NULL;
        uint64_t offset = slice_offset(number);
        if (offset + SIMPMU_SLICE_BYTES <= (uint64_t)file_status.st_size)
                ring = map(fd, offset, SIMPMU_SLICE_BYTES);
        close_file(fd);
        if (!ring)
                return NULL;
        tell_process(ring);
        __atomic_store_n(&ring->magic, SIMPMU_MAGIC, __ATOMIC_RELEASE);
        return ring;
}

/* The ring of this process; NULL: nothing is told. A fork's child begins its own with
 * the first thing that it has to tell. */
static struct simpmu_slice *current_ring(void)
{
        if (__builtin_expect(__atomic_load_n(&own->image, __ATOMIC_ACQUIRE) == 2, 1))
                return own_tid() == 0 ? NULL : __atomic_load_n(&slice, __ATOMIC_ACQUIRE);
        uint32_t none = 0;
        if (!__atomic_compare_exchange_n(&own->image, &none, 1, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
                return NULL; /* another thread is just doing it */
        struct simpmu_slice *before = slice;
        image_count++;
        own->pid = (uint32_t)channel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
        slice = begin_image();
        if (before)
                channel_call(SYS_munmap, (long)before, SIMPMU_SLICE_BYTES, 0, 0, 0, 0);
        __atomic_store_n(&own->image, 2, __ATOMIC_RELEASE);
        return slice;
}

/* ---- stacks ---- */

/* The place of HASH among the stacks told, or an empty one for it; NULL: there is no
 * more room near it. */
static uint64_t *place_of(uint64_t hash)
{
        for (uint64_t i = 0; i < STACK_PROBES; i++) {
                uint64_t *place = &own->stacks[(hash + i) & (STACKS_TOLD - 1)];
                uint64_t there = __atomic_load_n(place, __ATOMIC_RELAXED);
                if (there == hash || there == 0)
                        return place;
        }
        return NULL;
}

/* The frames go straight into the record: the stack of the target may have no room for
 * them, as a signal's handler may run on a few KiB. */
__attribute__((noinline)) static bool tell_stack(struct simpmu_slice *ring, uint64_t hash,
                                                 struct unwind_frame caller, size_t depth)
{
        uint64_t bytes = sizeof(struct simpmu_stack) + depth * sizeof(uint64_t);
        struct simpmu_stack *record = reserve(ring, bytes);
        if (!record)
                return false;
        fill_header(&record->header);
        record->hash = hash;
        record->depth = (uint32_t)depth;
        record->reserved = 0;
        size_t found = unwind(caller, record->frames, depth);
        while (found < depth) /* somebody has written over the stack */
                record->frames[found++] = 0;
        commit(record, bytes, SIMPMU_STACK);
        return true;
}

/* The hash of the stack above the tracked function with FRAME, told before it is used.
 * Two threads may tell of the same one. */
static uint64_t stack_above(struct simpmu_slice *ring, const void *frame)
{
        uint32_t limit = control->stack_frames;
        if (limit == 0)
                return 0;
        const uintptr_t *words = frame; /* the caller's frame pointer, return address */
        struct unwind_frame caller = {
            .pc = words[1], .sp = (uintptr_t)(words + 2), .bp = words[0]};
        size_t depth;
        uint64_t hash = unwind_hash(caller, limit, &depth);
        uint64_t *place = place_of(hash);
        if (place && __atomic_load_n(place, __ATOMIC_RELAXED) == hash)
                return hash;
        if (tell_stack(ring, hash, caller, depth) && place)
                __atomic_store_n(place, hash, __ATOMIC_RELEASE);
        return hash;
}

/* ---- what is told ---- */

void channel_alloc(enum heap_function function, uintptr_t addr, size_t size_bytes,
                   const void *frame)
{
        struct simpmu_slice *ring = current_ring();
        if (!ring)
                return;
        uint64_t stack = stack_above(ring, frame);
        struct simpmu_alloc_at *record = reserve(ring, sizeof(*record));
        if (record) {
                fill_header(&record->header);
                record->addr = addr;
                record->size_bytes = size_bytes;
                record->stack = stack;
                record->function = function;
                record->reserved = 0;
                commit(record, sizeof(*record), SIMPMU_ALLOC_AT);
        }
}

static void tell_of_block(enum simpmu_record_type type, uintptr_t addr)
{
        struct simpmu_slice *ring = current_ring();
        if (!ring)
                return;
        struct simpmu_free *record = reserve(ring, sizeof(*record));
        if (record) {
                fill_header(&record->header);
                record->addr = addr;
                commit(record, sizeof(*record), type);
        }
}

void channel_free(uintptr_t addr)
{
        tell_of_block(SIMPMU_FREE, addr);
}

void channel_resize(uintptr_t addr)
{
        tell_of_block(SIMPMU_RESIZE, addr);
}

void channel_resized(uintptr_t addr)
{
        tell_of_block(SIMPMU_RESIZED, addr);
}

void channel_unmap(uintptr_t start, size_t length_bytes, bool replaced)
{
        struct simpmu_slice *ring = current_ring();
        if (!ring)
                return;
        struct simpmu_range_free *record = reserve(ring, sizeof(*record));
        if (record) {
                fill_header(&record->header);
                record->start = start;
                record->length_bytes = length_bytes;
                record->replaced = replaced;
                commit(record, sizeof(*record), SIMPMU_RANGE_FREE);
        }
}

/* ---- the start ---- */

/* Reads digits up to END (':' or '\0') into *NUMBER; NULL: there are none. */
static const char *read_digits(const char *text, char end, uint32_t *number)
{
        uint64_t value = 0;
        const char *at = text;
        while (*at >= '0' && *at <= '9' && value <= INT32_MAX)
                value = value * 10 + (uint64_t)(*at++ - '0');
        *number = (uint32_t)value;
        return at > text && *at == end && value <= INT32_MAX ? at + 1 : NULL;
}

static bool read_value(const char *value)
{
        uint32_t pid, file, bell;
        const char *at = read_digits(value, ':', &pid);
        at = at ? read_digits(at, ':', &file) : NULL;
        if (!at || !read_digits(at, '\0', &bell))
                return false;
        snprintf(file_path, sizeof(file_path), "/proc/%u/fd/%u", pid, file);
        snprintf(bell_path, sizeof(bell_path), "/proc/%u/fd/%u", pid, bell);
        return true;
}

static bool open_control(void)
{
        long fd = open_memory();
        if (fd < 0)
                return false;
        if ((uint64_t)file_status.st_size >= SIMPMU_CONTROL_BYTES)
                control = map(fd, 0, SIMPMU_CONTROL_BYTES);
        close_file(fd);
        return control && control->magic == SIMPMU_MAGIC &&
               control->version == SIMPMU_VERSION && !control->stop && !control->no_heap;
}

void channel_count_refused(void)
{
        __atomic_fetch_add(&control->programs_refused, 1, __ATOMIC_RELAXED);
}

void channel_close(void)
{
        stop_telling();
}

bool channel_is_borrowed(void)
{
        long pid = channel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
        return pid > 0 && __atomic_load_n(&own->image, __ATOMIC_ACQUIRE) == 2 &&
               own->pid != (uint32_t)pid;
}

bool channel_open(const char *value)
{
        bool opened = read_value(value) && open_control();
        if (opened) {
                own = map(-1, 0, sizeof(*own));
                opened = own &&
                         channel_call(SYS_madvise, (long)own, sizeof(*own),
                                      MADV_WIPEONFORK, 0, 0, 0) == 0 &&
                         current_ring();
        }
        return opened;
}
