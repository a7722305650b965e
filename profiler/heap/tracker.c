/* SPDX-License-Identifier: MIT */
/* The heap tracker: a shared object that is loaded before the target's libraries,
 * takes the place of every function that begins or ends a block, calls the real one
 * and tells of it (event.h). It runs inside somebody else's program: it never
 * allocates, and leaves results, errno, output and environment as they would be.
 *
 * Order. An end is told before the real function gives the memory back, because
 * another thread may get the same address at once; a beginning is told afterwards.
 * What realloc copies is read from the old block: that one is told of before and after.
 *
 * Nesting. Allocators call each other (operator new calls malloc, malloc may call
 * mmap); only the outermost call, the one that the target made, is told. A nested call
 * has its frame below the outermost one's. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>
#include <valgrind/valgrind.h>

#include "channel.h"
#include "environment.h"
#include "event.h"
#include "tracker.h"
#include "unwinder.h"

#define EXPORT __attribute__((visibility("default")))
/* Kept in the exported function, so that the engine has one frame to leave out. */
#define INLINE static inline __attribute__((always_inline))

/* ---- telling ---- */

/* Where the linker put this object's first byte and the end of its code. */
extern char __ehdr_start[] __attribute__((visibility("hidden")));
extern char etext[] __attribute__((visibility("hidden")));

/* Who is told; nobody when the tracker was loaded by somebody else. Atomic. */
static enum listener { NOBODY, ENGINE, MEMLAG } listener;

INLINE enum listener current_listener(void)
{
        return __atomic_load_n(&listener, __ATOMIC_RELAXED);
}

/* A call with a frame above the one that is under way: that one was left in the middle,
 * by a longjmp out of a signal's handler, unless a handler has a stack of its own. */
__attribute__((noinline, cold)) static bool was_left(void)
{
        bool on_signal_stack;
        if (!channel_is_on_signal_stack(&on_signal_stack) || on_signal_stack)
                return false;
        channel_abandon();
        return true;
}

/* An allocator's own calls within one of the program's are few. */
enum { NESTED_CALLS = 16 };

/* Whether the call that is under way, by all signs, was left in the middle: this one has
 * a frame below, but where the other's return address was, there is something else. That
 * may have been on a stack that is gone, so that the kernel compares, half of it. */
__attribute__((noinline, cold)) static bool is_overwritten(void)
{
        const void *const *word = (const void *const *)heap_thread.call + 1;
        uint32_t expected = (uint32_t)(uintptr_t)heap_thread.returns;
        /* Wakes nobody. */
        long result =
            channel_call(SYS_futex, (long)word, FUTEX_CMP_REQUEUE | FUTEX_PRIVATE_FLAG, 0,
                         0, (long)word, expected);
        bool left = result == -EAGAIN || result == -EFAULT;
        if (left)
                channel_abandon();
        return left;
}

/* Looked at now and then only, as it takes a system call. */
INLINE bool was_left_above(void)
{
        return ++heap_thread.nested % NESTED_CALLS == 0 && is_overwritten();
}

/* Whether this call is to be told of: then it ends with leave(). */
INLINE bool enter(void)
{
        const void *frame = __builtin_frame_address(0);
        const void *call = heap_thread.call;
        if (current_listener() == NOBODY ||
            (call && !(frame < call ? was_left_above() : was_left())))
                return false;
        heap_thread.call = frame;
        heap_thread.returns = __builtin_return_address(0);
        heap_thread.nested = 0;
        return true;
}

INLINE void leave(void)
{
        heap_thread.call = NULL;
}

INLINE void request(enum heap_request request, uintptr_t first, uintptr_t second,
                    uintptr_t third)
{
        VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ_TOOL_BASE('M', 'L') + request, first,
                                        second, third, 0, 0);
}

/* These are called between enter and leave: what a signal's handler does meanwhile is
 * not told, and cannot come into the middle of a record. */
INLINE void tell_alloc(enum heap_function function, const void *block, size_t size_bytes)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_ALLOC, function, (uintptr_t)block, size_bytes);
        else
                channel_alloc(function, (uintptr_t)block, size_bytes,
                              __builtin_frame_address(0));
}

INLINE void tell_free(const void *block)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_FREE, (uintptr_t)block, 0, 0);
        else
                channel_free((uintptr_t)block);
}

/* The block OLD (NULL: none) is given another size. */
INLINE void tell_resize(const void *old)
{
        if (!old)
                return;
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_RESIZE, (uintptr_t)old, 0, 0);
        else
                channel_resize((uintptr_t)old);
}

INLINE void tell_resized(const void *old)
{
        if (!old)
                return;
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_RESIZED, (uintptr_t)old, 0, 0);
        else
                channel_resized((uintptr_t)old);
}

INLINE void tell_unmap(const void *start, size_t length_bytes)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_UNMAP, (uintptr_t)start, length_bytes, 0);
        else
                channel_unmap((uintptr_t)start, length_bytes, false);
}

/* What was there is gone, and another mapping is there now. */
INLINE void tell_replaced(const void *start, size_t length_bytes)
{
        if (current_listener() == ENGINE)
                request(HEAP_REQUEST_UNMAP, (uintptr_t)start, length_bytes, 0);
        else
                channel_unmap((uintptr_t)start, length_bytes, true);
}

/* ---- the real functions ---- */

/* X(name, result, parameters): the functions of the C library. */
#define C_FUNCTIONS(X)                                                                   \
        X(malloc, void *, (size_t))                                                      \
        X(calloc, void *, (size_t, size_t))                                              \
        X(realloc, void *, (void *, size_t))                                             \
        X(free, void, (void *))                                                          \
        X(reallocarray, void *, (void *, size_t, size_t))                                \
        X(aligned_alloc, void *, (size_t, size_t))                                       \
        X(memalign, void *, (size_t, size_t))                                            \
        X(posix_memalign, int, (void **, size_t, size_t))                                \
        X(valloc, void *, (size_t))                                                      \
        X(pvalloc, void *, (size_t))                                                     \
        X(mmap, void *, (void *, size_t, int, int, int, off_t))                          \
        X(munmap, int, (void *, size_t))                                                 \
        X(mremap, void *, (void *, size_t, size_t, int, ...))                            \
        X(brk, int, (void *))                                                            \
        X(sbrk, void *, (intptr_t))                                                      \
        X(dlclose, int, (void *))

/* X(mangled, function, parameters, arguments): C++'s operators new. SIZE is always the
 * first parameter; the last one stands for a std::nothrow_t const & or is not there. */
#define NEW_OPERATORS(X)                                                                 \
        X(_Znwm, NEW, (size_t size), (size))                                             \
        X(_Znam, NEW_ARRAY, (size_t size), (size))                                       \
        X(_ZnwmRKSt9nothrow_t, NEW, (size_t size, const void *tag), (size, tag))         \
        X(_ZnamRKSt9nothrow_t, NEW_ARRAY, (size_t size, const void *tag), (size, tag))   \
        X(_ZnwmSt11align_val_t, NEW, (size_t size, size_t align), (size, align))         \
        X(_ZnamSt11align_val_t, NEW_ARRAY, (size_t size, size_t align), (size, align))   \
        X(_ZnwmSt11align_val_tRKSt9nothrow_t, NEW,                                       \
          (size_t size, size_t align, const void *tag), (size, align, tag))              \
        X(_ZnamSt11align_val_tRKSt9nothrow_t, NEW_ARRAY,                                 \
          (size_t size, size_t align, const void *tag), (size, align, tag))

/* X(mangled, parameters, arguments): C++'s operators delete. */
#define DELETE_OPERATORS(X)                                                              \
        X(_ZdlPv, (void *block), (block))                                                \
        X(_ZdaPv, (void *block), (block))                                                \
        X(_ZdlPvm, (void *block, size_t size), (block, size))                            \
        X(_ZdaPvm, (void *block, size_t size), (block, size))                            \
        X(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))            \
        X(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))            \
        X(_ZdlPvSt11align_val_t, (void *block, size_t align), (block, align))            \
        X(_ZdaPvSt11align_val_t, (void *block, size_t align), (block, align))            \
        X(_ZdlPvmSt11align_val_t, (void *block, size_t size, size_t align),              \
          (block, size, align))                                                          \
        X(_ZdaPvmSt11align_val_t, (void *block, size_t size, size_t align),              \
          (block, size, align))                                                          \
        X(_ZdlPvSt11align_val_tRKSt9nothrow_t,                                           \
          (void *block, size_t align, const void *tag), (block, align, tag))             \
        X(_ZdaPvSt11align_val_tRKSt9nothrow_t,                                           \
          (void *block, size_t align, const void *tag), (block, align, tag))

static struct {
#define C_POINTER(name, result, parameters)                   result(*name) parameters;
#define NEW_POINTER(mangled, function, parameters, arguments) void *(*mangled)parameters;
#define DELETE_POINTER(mangled, parameters, arguments)        void(*mangled) parameters;
        C_FUNCTIONS(C_POINTER)
        NEW_OPERATORS(NEW_POINTER)
        DELETE_OPERATORS(DELETE_POINTER)
} real;

/* Prototypes that no header gives. */
#define NEW_PROTOTYPE(mangled, function, parameters, arguments) void *mangled parameters;
#define DELETE_PROTOTYPE(mangled, parameters, arguments)        void mangled parameters;
NEW_OPERATORS(NEW_PROTOTYPE)
DELETE_OPERATORS(DELETE_PROTOTYPE)
void *memalign(size_t align, size_t size);
void *pvalloc(size_t size);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t align, size_t size);
void *mmap64(void *addr, size_t length, int protection, int flags, int fd, off_t offset);

/* What comes after this object in the order of look-up. */
static void find_next(void **function, const char *name)
{
        *function = dlsym(RTLD_NEXT, name);
        if (!*function)
                dlerror(); /* the target must not find our error */
}

static bool started;

__attribute__((noinline, cold)) static void find_real_functions(void)
{
        started = true;
        int saved_errno = errno;
        bool engine = VALGRIND_DO_CLIENT_REQUEST_EXPR(
            0, VG_USERREQ_TOOL_BASE('M', 'L') + HEAP_REQUEST_TRACKER, __ehdr_start,
            etext - __ehdr_start, 0, 0, 0);
#define FIND_C(name, result, parameters) find_next((void **)&real.name, #name);
#define FIND_NEW(mangled, function, parameters, arguments)                               \
        find_next((void **)&real.mangled, #mangled);
#define FIND_DELETE(mangled, parameters, arguments)                                      \
        find_next((void **)&real.mangled, #mangled);
        C_FUNCTIONS(FIND_C)
        FIND_NEW(_Znwm, , , )
        if (real._Znwm) { /* else the program is not in C++ */
                NEW_OPERATORS(FIND_NEW)
                DELETE_OPERATORS(FIND_DELETE)
        }
        if (engine) /* from here on: what the look-up allocates is not the target's */
                listener = ENGINE;
        errno = saved_errno;
}

/* The first call of a tracked function comes from the dynamic linker or from a
 * constructor, before there is a second thread. */
INLINE void start(void)
{
        if (!started)
                find_real_functions();
}

/* The function NAME of a loaded library and the libraries that it needs. */
static void *find_in_library(const char *library, const char *name)
{
        void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        void *function = handle ? dlsym(handle, name) : NULL;
        bool own = (char *)function >= __ehdr_start && (char *)function < etext;
        /* The handle is never closed: the function stays in use. */
        return own ? NULL : function;
}

/* A program in C may load a library in C++ for itself alone: then the operators are
 * nowhere in the global order, and the caller's own libraries have them. */
__attribute__((noinline, cold)) static void
find_operator(void **function, const char *name, const void *caller)
{
        int saved_errno = errno;
        Dl_info info;
        if (dladdr(caller, &info))
                *function = find_in_library(info.dli_fname, name);
        if (!*function)
                *function = find_in_library("libstdc++.so.6", name);
        if (!*function)
                *function = find_in_library("libc++.so.1", name);
        dlerror();
        errno = saved_errno;
}

/* ---- before the real functions are known ---- */

/* The dynamic linker may allocate while it looks the real functions up. Such blocks
 * are few and are never given back. */
static char early_memory[16384] __attribute__((aligned(16)));
static size_t early_used;

static void *early_alloc(size_t size)
{
        if (size > sizeof(early_memory) - early_used) {
                errno = ENOMEM;
                return NULL;
        }
        void *block = early_memory + early_used;
        size_t rounded = (size + 15) & ~(size_t)15;
        size_t left = sizeof(early_memory) - early_used;
        early_used += rounded < left ? rounded : left;
        return block;
}

INLINE bool is_early(const void *block)
{
        return (uintptr_t)block - (uintptr_t)early_memory < sizeof(early_memory);
}

/* Moves an early block to the real heap. */
static void *leave_early(const void *block, size_t size)
{
        size_t left = (size_t)(early_memory + sizeof(early_memory) - (const char *)block);
        void *copy = malloc(size);
        if (copy)
                memcpy(copy, block, size < left ? size : left);
        return copy;
}

/* ---- malloc and its family ---- */

EXPORT void *malloc(size_t size)
{
        start();
        if (!real.malloc)
                return early_alloc(size);
        if (!enter())
                return real.malloc(size);
        void *block = real.malloc(size);
        if (block)
                tell_alloc(HEAP_MALLOC, block, size);
        leave();
        return block;
}

EXPORT void *calloc(size_t count, size_t size)
{
        start();
        if (!real.calloc)
                return early_alloc(count * size); /* never used before: zero */
        if (!enter())
                return real.calloc(count, size);
        void *block = real.calloc(count, size);
        if (block)
                tell_alloc(HEAP_CALLOC, block, count * size);
        leave();
        return block;
}

EXPORT void free(void *block)
{
        start();
        if (is_early(block) || !real.free)
                return;
        if (!block || !enter()) {
                real.free(block);
                return;
        }
        tell_free(block);
        real.free(block);
        leave();
}

/* OLD lives while its contents are copied, and where that fails. */
INLINE void tell_result(enum heap_function function, const void *old, const void *block,
                        size_t size)
{
        if (block || size == 0) /* size 0: the C library freed it */
                tell_resized(old);
        if (block)
                tell_alloc(function, block, size);
}

EXPORT void *realloc(void *old, size_t size)
{
        start();
        if (is_early(old))
                return leave_early(old, size);
        if (!real.realloc)
                return early_alloc(size);
        if (!enter())
                return real.realloc(old, size);
        tell_resize(old);
        void *block = real.realloc(old, size);
        tell_result(HEAP_REALLOC, old, block, size);
        leave();
        return block;
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
        start();
        size_t product;
        if (__builtin_mul_overflow(count, size, &product))
                product = SIZE_MAX;
        if (is_early(old))
                return leave_early(old, product);
        if (!enter())
                return real.reallocarray(old, count, size);
        tell_resize(old);
        void *block = real.reallocarray(old, count, size);
        tell_result(HEAP_REALLOCARRAY, old, block, product);
        leave();
        return block;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
        start();
        if (!enter())
                return real.aligned_alloc(align, size);
        void *block = real.aligned_alloc(align, size);
        if (block)
                tell_alloc(HEAP_ALIGNED_ALLOC, block, size);
        leave();
        return block;
}

EXPORT void *memalign(size_t align, size_t size)
{
        start();
        if (!enter())
                return real.memalign(align, size);
        void *block = real.memalign(align, size);
        if (block)
                tell_alloc(HEAP_MEMALIGN, block, size);
        leave();
        return block;
}

EXPORT int posix_memalign(void **block, size_t align, size_t size)
{
        start();
        if (!enter())
                return real.posix_memalign(block, align, size);
        int code = real.posix_memalign(block, align, size);
        if (code == 0 && *block)
                tell_alloc(HEAP_POSIX_MEMALIGN, *block, size);
        leave();
        return code;
}

EXPORT void *valloc(size_t size)
{
        start();
        if (!enter())
                return real.valloc(size);
        void *block = real.valloc(size);
        if (block)
                tell_alloc(HEAP_VALLOC, block, size);
        leave();
        return block;
}

EXPORT void *pvalloc(size_t size)
{
        start();
        if (!enter())
                return real.pvalloc(size);
        void *block = real.pvalloc(size);
        if (block)
                tell_alloc(HEAP_PVALLOC, block, size);
        leave();
        return block;
}

/* C23: the same as free, with what the caller knows of the block. */
EXPORT void free_sized(void *block, size_t size)
{
        (void)size;
        free(block);
}

EXPORT void free_aligned_sized(void *block, size_t align, size_t size)
{
        (void)align;
        (void)size;
        free(block);
}

/* ---- operator new and delete ---- */

/* An exception (std::bad_alloc) that leaves an operator new passes by its leave(). The
 * unwinder runs this for each frame that names it as its personality; a nested call has
 * none any more, as it ends with a jump to the real function. */
__attribute__((visibility("hidden"), used)) _Unwind_Reason_Code memlag_leave_by_exception(
    int version, _Unwind_Action actions, _Unwind_Exception_Class class,
    struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Unwind_Reason_Code memlag_leave_by_exception(int version, _Unwind_Action actions,
                                              _Unwind_Exception_Class class,
                                              struct _Unwind_Exception *exception,
                                              struct _Unwind_Context *context)
{
        (void)version;
        (void)class;
        (void)exception;
        (void)context;
        if (actions & _UA_CLEANUP_PHASE)
                leave();
        return _URC_CONTINUE_UNWIND;
}

/* 0x1b: the routine's address is relative to its own place, in 4 bytes. */
#define LEAVE_BY_EXCEPTION() __asm__(".cfi_personality 0x1b, memlag_leave_by_exception")

#define DEFINE_NEW(mangled, function, parameters, arguments)                             \
        EXPORT void *mangled parameters                                                  \
        {                                                                                \
                LEAVE_BY_EXCEPTION();                                                    \
                start();                                                                 \
                if (!real.mangled)                                                       \
                        find_operator((void **)&real.mangled, #mangled,                  \
                                      __builtin_return_address(0));                      \
                if (!enter())                                                            \
                        return real.mangled arguments;                                   \
                void *block = real.mangled arguments;                                    \
                if (block)                                                               \
                        tell_alloc(HEAP_##function, block, size);                        \
                leave();                                                                 \
                return block;                                                            \
        }
NEW_OPERATORS(DEFINE_NEW)

#define DEFINE_DELETE(mangled, parameters, arguments)                                    \
        EXPORT void mangled parameters                                                   \
        {                                                                                \
                start();                                                                 \
                if (!real.mangled)                                                       \
                        find_operator((void **)&real.mangled, #mangled,                  \
                                      __builtin_return_address(0));                      \
                if (!block || !enter()) {                                                \
                        real.mangled arguments;                                          \
                        return;                                                          \
                }                                                                        \
                tell_free(block);                                                        \
                real.mangled arguments;                                                  \
                leave();                                                                 \
        }
DELETE_OPERATORS(DEFINE_DELETE)

/* ---- memory from the kernel ---- */

enum { PAGE_BYTES = 4096 };

/* Mappings of files are known as such; anonymous ones get an allocation site. A fixed
 * mapping takes the place of what was there, and nobody else can get its addresses
 * before that is told. */
EXPORT void *mmap(void *addr, size_t length, int protection, int flags, int fd,
                  off_t offset)
{
        start();
        if (!enter())
                return real.mmap(addr, length, protection, flags, fd, offset);
        void *start_addr = real.mmap(addr, length, protection, flags, fd, offset);
        if (start_addr != MAP_FAILED) {
                if (flags & MAP_FIXED)
                        tell_replaced(start_addr, length);
                if (flags & MAP_ANONYMOUS)
                        tell_alloc(HEAP_MMAP, start_addr, length);
        }
        leave();
        return start_addr;
}

EXPORT void *mmap64(void *addr, size_t length, int protection, int flags, int fd,
                    off_t offset) __attribute__((alias("mmap")));

EXPORT int munmap(void *addr, size_t length)
{
        start();
        bool valid = (uintptr_t)addr % PAGE_BYTES == 0 && length > 0;
        if (!valid || !enter())
                return real.munmap(addr, length);
        tell_unmap(addr, length);
        int code = real.munmap(addr, length);
        leave();
        return code;
}

/* Told afterwards: a call that fails, as growing in place often does, changes nothing,
 * and the block there could not be told of again. */
EXPORT void *mremap(void *old, size_t old_length, size_t length, int flags, ...)
{
        start();
        void *wanted = NULL;
        if (flags & MREMAP_FIXED) {
                __builtin_va_list arguments;
                __builtin_va_start(arguments, flags);
                wanted = __builtin_va_arg(arguments, void *);
                __builtin_va_end(arguments);
        }
        if (!enter())
                return real.mremap(old, old_length, length, flags, wanted);
        void *start_addr = real.mremap(old, old_length, length, flags, wanted);
        if (start_addr != MAP_FAILED) {
                if (old_length > 0 && !(flags & MREMAP_DONTUNMAP))
                        tell_unmap(old, old_length);
                tell_alloc(HEAP_MREMAP, start_addr, length);
        }
        leave();
        return start_addr;
}

INLINE void tell_break(enum heap_function function, char *old, char *new)
{
        if (new > old)
                tell_alloc(function, old, (size_t)(new - old));
        else if (new < old)
                tell_unmap(new, (size_t)(old - new));
}

EXPORT int brk(void *addr)
{
        start();
        if (!enter())
                return real.brk(addr);
        void *old = real.sbrk(0);
        int code = real.brk(addr);
        if (code == 0)
                tell_break(HEAP_BRK, old, addr);
        leave();
        return code;
}

EXPORT void *sbrk(intptr_t increment)
{
        start();
        if (!enter())
                return real.sbrk(increment);
        char *old = real.sbrk(increment);
        if (old != (char *)-1)
                tell_break(HEAP_SBRK, old, old + increment);
        leave();
        return old;
}

/* ---- loaded code, the start and the end ---- */

struct tracker_hold tracker_hold(const void *frame)
{
        struct tracker_hold hold = {TRACKER_SILENT, heap_thread.call};
        if (current_listener() != MEMLAG)
                return hold;
        if (!hold.call) {
                heap_thread.call = frame;
                heap_thread.returns = ((const void *const *)frame)[1];
                heap_thread.nested = 0;
        }
        hold.kind = channel_is_borrowed() ? TRACKER_BORROWED : TRACKER_HELD;
        if (hold.kind == TRACKER_HELD)
                channel_hold();
        return hold;
}

void tracker_settle(struct tracker_hold hold, bool forbidden)
{
        if (hold.kind == TRACKER_SILENT)
                return;
        if (forbidden)
                environment_unfollow();
        if (hold.kind == TRACKER_BORROWED && forbidden) {
                channel_note_cut_off();
        } else if (hold.kind == TRACKER_HELD && forbidden) {
                __atomic_store_n(&listener, NOBODY, __ATOMIC_RELAXED);
                channel_close();
        } else if (hold.kind == TRACKER_HELD) {
                channel_resume();
        }
        heap_thread.call = hold.call;
}

EXPORT int dlclose(void *handle)
{
        start();
        int code = real.dlclose(handle);
        unwind_forget();
        return code;
}

/* Linked to run before any other constructor, which may read the environment. */
__attribute__((constructor)) static void load(int argc, char **argv, char **environment)
{
        (void)argc;
        (void)argv;
        start();
        const char *channel = environment_channel(environment);
        if (listener == NOBODY && channel && channel_open(channel)) {
                environment_follow(environment);
                listener = MEMLAG;
        }
        if (listener != NOBODY || channel)
                environment_restore(environment);
}
