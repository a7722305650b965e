/* SPDX-License-Identifier: MIT */
/* The target is sacred: any error here ends recording, not the program. Calls no C
 * library function while recording an event. Samples in the C library would be
 * attributed to the program; samples in this library are recognised. */
#include "channel.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <x86intrin.h>

#include "heap_calls.h"
#include "heap_ring.h"
#include "heap_thread.h"
#include "link.h"
#include "unwinder.h"

/* Number of stacks sent once; further stacks are sent with each block. */
#define STACKS_TOLD  (1u << 17) /* a power of two */
#define STACK_PROBES 8

/* State that a forked child must not inherit: the kernel zeroes it there. */
struct own {
        uint32_t image; /* 0: none yet, 1: being begun, 2: ready */
        int32_t calls;  /* atomic: system calls that its threads are in */
        uint32_t pid;   /* of the process that has begun the image, as it sees itself */
        uint64_t stacks[STACKS_TOLD]; /* hashes */
};

static struct own *own;
static struct simpmu_slice *slice; /* atomic; NULL: recording is off */
static uint16_t image_count;       /* number of forks up to this process */
__thread union heap_thread heap_thread;

static void *stop_telling(void)
{
        /* It stays mapped: other threads may be writing to it. */
        if (__atomic_exchange_n(&slice, NULL, __ATOMIC_ACQ_REL))
                link_note_cut_off();
        return NULL;
}

static void *reserve(struct simpmu_slice *ring, uint64_t size_bytes)
{
        void *place = ring_reserve(ring, size_bytes);
        return place ? place : stop_telling();
}

/* ---- images ---- */

/* Returns the pid in memlag's namespace, because /proc belongs to memlag's namespace. */
static uint32_t own_pid(void)
{
        char text[32] = "";
        calls_do(SYS_readlinkat, AT_FDCWD, (long)"/proc/self", (long)text,
                 sizeof(text) - 1, 0, 0);
        uint32_t pid = 0;
        for (const char *digit = text; *digit >= '0' && *digit <= '9'; digit++)
                pid = pid * 10 + (uint32_t)(*digit - '0');
        return pid;
}

/* Returns the time in memlag's format. The counter is read inline, after the program's
 * earlier instructions. A C library function would appear in samples, indistinguishable
 * from a call by the program. */
static uint64_t now(void)
{
        if (link_control->time_in_ticks) {
                _mm_lfence();
                return __rdtsc();
        }
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns 0 if the system call is impossible now. */
static uint32_t own_tid(void)
{
        if (heap_thread.image != image_count) {
                long tid = calls_do(SYS_gettid, 0, 0, 0, 0, 0, 0);
                if (tid < 0)
                        return 0;
                heap_thread.tid = (uint32_t)tid;
                heap_thread.image = image_count;
                heap_thread.writes = false; /* a record in progress belonged to the
                                               parent, before a fork */
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
        ring_commit(ring, SIMPMU_PROCESS);
}

static struct simpmu_slice *begin_image(void)
{
        struct simpmu_slice *ring = NULL;
        if (own_tid() == 0)
                link_note_cut_off();
        else
                ring = link_map_slice();
        if (!ring)
                return NULL;
        tell_process(ring);
        __atomic_store_n(&ring->magic, SIMPMU_MAGIC, __ATOMIC_RELEASE);
        return ring;
}

/* Returns the ring of this process; NULL: recording is off. A forked child claims a
 * separate ring at its first event. */
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
        own->pid = (uint32_t)calls_do(SYS_getpid, 0, 0, 0, 0, 0, 0);
        slice = begin_image();
        if (before)
                calls_do(SYS_munmap, (long)before, SIMPMU_SLICE_BYTES, 0, 0, 0, 0);
        __atomic_store_n(&own->image, 2, __ATOMIC_RELEASE);
        return slice;
}

/* ---- stacks ---- */

/* Returns the slot of HASH among the stacks sent, or an empty slot; NULL: no free slot
 * near it. */
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
                                                 const struct unwind_frame *caller,
                                                 size_t depth)
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
        while (found < depth) /* the stack was overwritten meanwhile */
                record->frames[found++] = 0;
        ring_commit(ring, SIMPMU_STACK);
        return true;
}

/* Returns the hash of the stack above the tracked function with FRAME, after sending the
 * stack; 0 if the ring has no room. Two threads may send the same stack. */
static uint64_t stack_above(struct simpmu_slice *ring, const void *frame)
{
        uint32_t limit = link_control->stack_frames;
        if (limit == 0)
                return 0;
        const uintptr_t *words = frame; /* the caller's frame pointer, return address */
        struct unwind_frame caller = {
            .pc = words[1], .sp = (uintptr_t)(words + 2), .bp = words[0]};
        size_t depth;
        uint64_t hash = unwind_hash(&caller, limit, &depth);
        uint64_t *place = place_of(hash);
        if (place && __atomic_load_n(place, __ATOMIC_RELAXED) == hash)
                return hash;
        if (calls_have_little_stack())
                return 0;
        if (tell_stack(ring, hash, &caller, depth) && place)
                __atomic_store_n(place, hash, __ATOMIC_RELEASE);
        return hash;
}

/* ---- events ---- */

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
                ring_commit(ring, SIMPMU_ALLOC_AT);
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
                ring_commit(ring, type);
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
                ring_commit(ring, SIMPMU_RANGE_FREE);
        }
}

/* ---- the start and the end ---- */

/* Below a fork the ring is the parent's still. */
void channel_abandon(void)
{
        struct simpmu_slice *ring = __atomic_load_n(&slice, __ATOMIC_ACQUIRE);
        if (ring && __atomic_load_n(&own->image, __ATOMIC_ACQUIRE) == 2)
                ring_abandon(ring);
        calls_forget();
}

void channel_close(void)
{
        stop_telling();
}

bool channel_is_borrowed(void)
{
        long pid = calls_do(SYS_getpid, 0, 0, 0, 0, 0, 0);
        return pid > 0 && __atomic_load_n(&own->image, __ATOMIC_ACQUIRE) == 2 &&
               own->pid != (uint32_t)pid;
}

/* NULL: there is no memory for it. */
static struct own *map_own(void)
{
        long address = calls_do(SYS_mmap, 0, sizeof(*own), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (address < 0 ||
            calls_do(SYS_madvise, address, sizeof(*own), MADV_WIPEONFORK, 0, 0, 0) != 0)
                return NULL;
        return (struct own *)address;
}

bool channel_open(const char *value)
{
        if (!link_open(value))
                return false;
        own = map_own();
        if (!own)
                return false;
        calls_count_in(&own->calls);
        return current_ring() != NULL;
}
