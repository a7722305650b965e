/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The producer's side of the shared file: claims a slice for this process, puts
 * records into its ring, waits when the ring is full, and rings memlag's bell. The
 * target is sacred: any failure here ends the recording, not the program. */
#include "tool.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"

#include "compat/descriptors.h"
#include "compat/memory.h"
#include "hidden/hidden.h"
#include "slice.h"
#include "syscalls.h"

/* Wake the consumer once the ring is this full. */
#define BELL_BYTES (SIMPMU_RING_BYTES / 4)
/* How long to wait for room before asking whether the consumer still lives. */
#define WAIT_NS 100000000

static struct simpmu_control *control;
static struct simpmu_slice *slice; /* NULL: not recording */
static Int shared_fd = -1;
static Int bell_fd = -1;
static ULong shared_bytes;
/* 1 + the slice of this image, 0 without one; before the claim, of its origin. */
static ULong image;
static ULong origin;
/* The option --image=DIGITS. A program that this one executes gets the same options.
 * IMAGE, written here, tells that program its origin. */
static HChar *image_digits;
/* The slice claimed for the next child, and whether a record has announced it. */
static ULong child;
static Bool child_claimed;
static Bool child_announced;

static void *map_shared(ULong offset, SizeT bytes)
{
        if (offset + bytes > shared_bytes)
                return NULL;
        SysRes result = VG_(am_shared_mmap_file_float_valgrind)(
            bytes, VKI_PROT_READ | VKI_PROT_WRITE, shared_fd, (Off64T)offset);
        return sr_isError(result) ? NULL : (void *)sr_Res(result);
}

static Int open_safely(const HChar *path)
{
        /* Read-write: otherwise a pipe without a reader raises SIGPIPE. */
        SysRes result = VG_(open)(path, VKI_O_RDWR | VKI_O_NONBLOCK, 0);

        if (sr_isError(result))
                return -1;
        return VG_(safe_fd)((Int)sr_Res(result)); /* above the target's descriptors,
                                                     cloexec */
}

static Bool open_shared(const HChar *path)
{
        struct vg_stat status;

        shared_fd = open_safely(path);
        if (shared_fd < 0 || VG_(fstat)(shared_fd, &status) != 0)
                return False;
        shared_bytes = (ULong)status.size;
        hidden_add_file(shared_fd);
        control = map_shared(0, SIMPMU_CONTROL_BYTES);
        return control != NULL && control->magic == SIMPMU_MAGIC &&
               control->version == SIMPMU_VERSION;
}

static void set_image(ULong number)
{
        image = number;
        for (SizeT i = VG_(strlen)(image_digits); i-- > 0; number /= 10)
                image_digits[i] = (HChar)('0' + number % 10);
}

Bool ring_open(const HChar *shared_path, const HChar *bell_path,
               const HChar *image_option)
{
        if (shared_path == NULL || image_option == NULL || !open_shared(shared_path))
                return False;
        image_digits = (HChar *)image_option; /* in our own argument */
        image = VG_(strtoull10)(image_option, NULL);
        if (bell_path != NULL)
                bell_fd = open_safely(bell_path);
        hidden_add_file(bell_fd);
        return True;
}

const struct simpmu_control *ring_control(void)
{
        return control;
}

const struct simpmu_plan *ring_plan(void)
{
        return control->plans == 0 ? NULL
                                   : map_shared(SIMPMU_CONTROL_BYTES, SIMPMU_PLAN_BYTES);
}

struct simpmu_code *ring_code(void)
{
        return control != NULL ? &control->code : NULL;
}

Bool ring_recording(void)
{
        return slice != NULL;
}

void ring_count_sandbox(void)
{
        if (control != NULL)
                __atomic_fetch_add(&control->sandboxes_refused, 1, __ATOMIC_RELAXED);
}

void ring_note_tracing(void)
{
        if (control != NULL)
                __atomic_store_n(&control->traces, 1, __ATOMIC_RELAXED);
}

void ring_count_untold(UInt calls)
{
        if (control != NULL)
                __atomic_fetch_add(&control->calls_untold, calls, __ATOMIC_RELAXED);
}

static void ring_bell(void)
{
        const HChar one = 1;

        if (bell_fd >= 0)
                VG_(write)(bell_fd, &one, 1); /* a full pipe is rung already */
}

static ULong claim(void)
{
        return __atomic_fetch_add(&control->slices_claimed, 1, __ATOMIC_ACQ_REL);
}

/* PARENT: 1 + the slice of the image that forked this process. */
static void begin_slice(ULong number, ULong start_ns, ULong parent)
{
        origin = image;
        set_image(0);
        slice = map_shared(slice_offset(number), SIMPMU_SLICE_BYTES);
        if (slice == NULL)
                return;
        set_image(number + 1);
        file_lock(shared_fd, (long)slice_offset(number));
        slice->now_ns = start_ns;
        slice->start_ns = start_ns;
        slice->parent = parent;
        __atomic_store_n(&slice->magic, SIMPMU_MAGIC, __ATOMIC_RELEASE);
        ring_bell();
}

/* Of the image that this one takes the place of by exec; zeros: there is none. */
static struct simpmu_slice header_before_exec(void)
{
        struct simpmu_slice header;

        if (image == 0)
                return (struct simpmu_slice){0};
        VG_(lseek)(shared_fd, (Off64T)slice_offset(image - 1), VKI_SEEK_SET);
        if (VG_(read)(shared_fd, &header, sizeof(header)) != sizeof(header) ||
            header.magic != SIMPMU_MAGIC)
                return (struct simpmu_slice){0};
        return header;
}

void ring_begin_image(ULong start_ns)
{
        begin_slice(claim(), start_ns, header_before_exec().parent);
}

static void forget_slice(void)
{
        if (slice != NULL)
                (void)VG_(am_munmap_valgrind)((Addr)slice, SIMPMU_SLICE_BYTES);
        slice = NULL;
}

static void tell_fork(UInt flags, ULong now_ns, UInt tid)
{
        struct simpmu_fork *record =
            ring_begin(SIMPMU_FORK, flags, now_ns, tid, sizeof(*record));

        if (record == NULL)
                return;
        record->child = child;
        ring_publish(record);
}

void ring_before_fork(ULong now_ns, UInt tid)
{
        if (slice == NULL)
                return;
        if (!child_claimed)
                child = claim();
        child_claimed = True;
        child_announced = True;
        tell_fork(0, now_ns, tid);
}

void ring_after_fork(void)
{
        child_claimed = False;
        child_announced = False;
}

void ring_after_failed_fork(ULong now_ns, UInt tid)
{
        if (!child_announced)
                return;
        child_announced = False;
        tell_fork(SIMPMU_FORK_FAILED, now_ns, tid);
}

void ring_set_executing(Bool executing)
{
        if (slice != NULL)
                __atomic_store_n(&slice->executing, executing, __ATOMIC_RELEASE);
}

void ring_begin_child(ULong start_ns)
{
        ring_after_fork();
        forget_slice();
        begin_slice(child, start_ns, image);
}

ULong ring_origin(void)
{
        return origin;
}

ULong ring_time_before_exec(void)
{
        return header_before_exec().now_ns;
}

ULong ring_children_end_ns(void)
{
        return slice == NULL ? 0
                             : __atomic_load_n(&slice->children_end_ns, __ATOMIC_ACQUIRE);
}

static Bool consumer_gone(void)
{
        if (__atomic_load_n(&control->stop, __ATOMIC_ACQUIRE) != 0)
                return True;
        return !file_locked_by_another(shared_fd, 0);
}

/* Waits until a record of SIZE_BYTES fits; False if the consumer is gone. */
static Bool wait_for_room(ULong size_bytes)
{
        while (!slice_has_room(slice, size_bytes)) {
                UInt seen = __atomic_load_n(&slice->space_futex, __ATOMIC_ACQUIRE);
                __atomic_store_n(&slice->producer_waits, 1, __ATOMIC_SEQ_CST);
                if (slice_has_room(slice, size_bytes))
                        break;
                if (consumer_gone())
                        return False;
                ring_bell();
                (void)futex_wait_shared(&slice->space_futex, seen, WAIT_NS);
        }
        __atomic_store_n(&slice->producer_waits, 0, __ATOMIC_RELEASE);
        return True;
}

void *ring_begin(enum simpmu_record_type type, UInt flags, ULong time_ns, UInt tid,
                 SizeT size_bytes)
{
        if (slice == NULL)
                return NULL;
        if (!slice_has_room(slice, size_bytes + SIMPMU_END_RESERVE_BYTES) &&
            !wait_for_room(size_bytes + SIMPMU_END_RESERVE_BYTES)) {
                forget_slice();
                return NULL;
        }
        ring_note_time(time_ns);
        struct simpmu_record *record = slice_reserve(slice, size_bytes);
        *record = (struct simpmu_record){
            .size_bytes = (UInt)size_bytes,
            .type = (UShort)type,
            .flags = (UShort)flags,
            .tid = tid,
            .time_ns = slice->now_ns,
        };
        return record;
}

void ring_set_time(void *record, ULong time_ns)
{
        ((struct simpmu_record *)record)->time_ns = time_ns;
}

void ring_publish(const void *record)
{
        ULong size_bytes = ((const struct simpmu_record *)record)->size_bytes;
        ULong used = slice_used_bytes(slice);

        slice_publish(slice, size_bytes);
        if (used < BELL_BYTES && used + size_bytes >= BELL_BYTES)
                ring_bell();
}

struct simpmu_counters *ring_latest_counters(UInt number)
{
        if (slice == NULL || number >= SIMPMU_LATEST_COUNTERS)
                return NULL;
        if (slice->latest_counters <= number)
                __atomic_store_n(&slice->latest_counters, number + 1, __ATOMIC_RELEASE);
        return slice_latest_counters(slice, number);
}

ULong ring_now_ns(void)
{
        return slice == NULL ? 0 : slice->now_ns;
}

void ring_note_time(ULong time_ns)
{
        if (slice != NULL && time_ns > slice->now_ns)
                slice->now_ns = time_ns;
}

/* This process ends: its parent, when it has waited for that, goes on from here. */
static void tell_parent(void)
{
        struct simpmu_slice *parent;
        uint64_t known;

        if (slice->parent == 0 || slice->parent > control->slices_claimed)
                return;
        parent = map_shared(slice_offset(slice->parent - 1), SIMPMU_SLICE_HEADER_BYTES);
        if (parent == NULL)
                return;
        known = __atomic_load_n(&parent->children_end_ns, __ATOMIC_RELAXED);
        while (known < slice->now_ns &&
               !__atomic_compare_exchange_n(&parent->children_end_ns, &known,
                                            slice->now_ns, 0, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED))
                ;
        (void)VG_(am_munmap_valgrind)((Addr)parent, SIMPMU_SLICE_HEADER_BYTES);
}

void ring_finish(UInt flags)
{
        if (slice == NULL)
                return;
        tell_parent();
        slice_end(slice, (UShort)flags, slice->now_ns);
        ring_bell();
        slice = NULL;
}
