/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocators that a program brings itself and the heap tracker cannot intercept. They
 * are in the program's file, in a statically linked program, or in a C library that
 * does not load the tracker. Their functions are known by name. A call is noted where
 * it enters such a function. It is reported at the return that restores the stack
 * pointer, even after a tail call to another function. */
#include "own_heap.h"

#include "libvex_guest_amd64.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"

#include "tool.h"

#include "../../heap/event.h"

/* The meaning of arguments: SIZE is the argument with the bytes, or AT times COUNT;
 * -1: none. */
struct allocator_function {
        const HChar *name;
        enum heap_function function;
        Int old, size, count, out;
        Bool frees;
};

#define ALLOCATES(name, function, size, count)                                           \
        {                                                                                \
                name, function, -1, size, count, -1, False                               \
        }
#define RESIZES(name, function, size, count)                                             \
        {                                                                                \
                name, function, 0, size, count, -1, False                                \
        }
#define FREES(name)                                                                      \
        {                                                                                \
                name, HEAP_MALLOC, 0, -1, -1, -1, True                                   \
        }

static const struct allocator_function functions[] = {
    ALLOCATES("malloc", HEAP_MALLOC, 0, -1),
    ALLOCATES("mallocx", HEAP_MALLOC, 0, -1), /* jemalloc's */
    ALLOCATES("calloc", HEAP_CALLOC, 0, 1),
    ALLOCATES("aligned_alloc", HEAP_ALIGNED_ALLOC, 1, -1),
    ALLOCATES("memalign", HEAP_MEMALIGN, 1, -1),
    ALLOCATES("valloc", HEAP_VALLOC, 0, -1),
    ALLOCATES("pvalloc", HEAP_PVALLOC, 0, -1),
    {"posix_memalign", HEAP_POSIX_MEMALIGN, -1, 2, -1, 0, False},
    RESIZES("realloc", HEAP_REALLOC, 1, -1),
    RESIZES("rallocx", HEAP_REALLOC, 1, -1),
    RESIZES("reallocarray", HEAP_REALLOCARRAY, 1, 2),
    FREES("free"),
    FREES("cfree"),
    FREES("dallocx"),
    FREES("sdallocx"),
};

/* Before the names above: of jemalloc, as Rust has it too, mimalloc, tcmalloc and the C
 * libraries. */
static const HChar *const prefixes[] = {"je_", "_rjem_je_", "_rjem_", "mi_",
                                        "tc_", "__libc_",   "__"};

/* A call that has entered an allocator and not returned. */
struct call {
        const struct allocator_function *function; /* NULL: there is none */
        Addr sp;                                   /* of the return address */
        Addr old;
        Addr out;
        SizeT size;
        UInt depth;
        ULong frames[STACK_MAXIMUM_FRAMES];
};

static struct call **calls; /* by ThreadId; NULL: it never made one */
static ULong under_way;     /* calls of all threads */
static Bool met;            /* the program has such a function, */
static Bool told;           /* and memlag knows it */

/* ---- which functions ---- */

static const HChar *without_prefix(const HChar *name)
{
        for (UInt i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
                SizeT length = VG_(strlen)(prefixes[i]);
                if (VG_(strncmp)(name, prefixes[i], length) == 0)
                        return name + length;
        }
        return name;
}

static const struct allocator_function *named(const HChar *name)
{
        static const struct allocator_function new = ALLOCATES("new", HEAP_NEW, 0, -1);
        static const struct allocator_function delete = FREES("delete");

        /* The placement forms allocate nothing: they are functions at -O0. */
        if (VG_(strstr)(name, ", void*)") != NULL)
                return NULL;
        if (VG_(strncmp)(name, "operator new", 12) == 0)
                return &new;
        if (VG_(strncmp)(name, "operator delete", 15) == 0)
                return &delete;
        name = without_prefix(name);
        for (UInt i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
                if (VG_(strcmp)(name, functions[i].name) == 0)
                        return &functions[i];
        }
        return NULL;
}

/* Programs, and musl, are files without a soname. Other libraries have a soname, and
 * the tracker intercepts their functions. */
static Bool brings_own(const DebugInfo *file)
{
        const HChar *name = VG_(DebugInfo_get_soname)(file);
        const HChar *path = VG_(DebugInfo_get_filename)(file);

        return name != NULL && VG_(strcmp)(name, "NONE") == 0 &&
               (path == NULL || VG_(strstr)(path, "/vgpreload_") == NULL);
}

/* The allocator's function that begins at IP; NULL: there is none. */
static const struct allocator_function *function_at(Addr ip)
{
        const DiEpoch epoch = VG_(current_DiEpoch)();
        const struct allocator_function *function;
        const HChar *name;
        const DebugInfo *file;

        if (!ring_recording() || ring_control()->no_heap != 0 ||
            !VG_(get_fnname_if_entry)(epoch, ip, &name))
                return NULL;
        function = named(name);
        file = function != NULL ? VG_(find_DebugInfo)(epoch, ip) : NULL;
        return file != NULL && brings_own(file) ? function : NULL;
}

Bool own_heap_begins(Addr ip)
{
        return function_at(ip) != NULL;
}

/* ---- calls ---- */

static struct call *call_of(ThreadId tid)
{
        if (calls == NULL)
                calls = tool_allocate(VG_N_THREADS * sizeof(*calls));
        if (calls[tid] == NULL)
                calls[tid] = tool_allocate(sizeof(*calls[tid]));
        return calls[tid];
}

Bool own_heap_calls(ThreadId tid)
{
        return calls != NULL && calls[tid] != NULL && calls[tid]->function != NULL;
}

static void end_call(struct call *call)
{
        call->function = NULL;
        under_way--;
}

void own_heap_forked(ThreadId tid)
{
        for (ThreadId i = 0; i < VG_N_THREADS; i++) {
                if (i != tid && own_heap_calls(i))
                        end_call(calls[i]);
        }
}

static SizeT bytes_asked(const struct allocator_function *function, const UWord *argument)
{
        if (function->size < 0)
                return 0;
        return argument[function->size] *
               (function->count < 0 ? 1 : argument[function->count]);
}

static VG_REGPARM(1) void enter(const struct allocator_function *function, Addr sp,
                                UWord first, UWord second, UWord third)
{
        const UWord argument[] = {first, second, third};
        const ThreadId tid = VG_(get_running_tid)();
        struct call *call = call_of(tid);

        if (heap_is_tracker(*(const Addr *)sp)) /* the tracker reports it */
                return;
        if (call->function != NULL) {
                if (sp < call->sp) /* the allocator calls itself */
                        return;
                end_call(call); /* a jump has left it */
        }
        if (!told)
                heap_followed(tid);
        told = True;
        call->function = function;
        call->sp = sp;
        call->old = function->old < 0 ? 0 : argument[function->old];
        call->out = function->out < 0 ? 0 : argument[function->out];
        call->size = bytes_asked(function, argument);
        call->depth =
            function->frees ? 0 : stack_at_entry(tid, call->frames, heap_frames());
        under_way++;
        if (call->old != 0)
                heap_block_changes(tid, function->frees ? SIMPMU_FREE : SIMPMU_RESIZE,
                                   call->old);
}

/* Where a block begins; 0: there is none. */
static Addr block_of(const struct call *call, UWord result)
{
        if (call->out == 0)
                return result;
        return (UInt)result == 0 &&
                       VG_(am_is_valid_for_client)(call->out, sizeof(Addr), VKI_PROT_READ)
                   ? *(const Addr *)call->out
                   : 0;
}

static VG_REGPARM(2) void leave(Addr sp, UWord result)
{
        const ThreadId tid = VG_(get_running_tid)();
        struct call *call = call_of(tid);
        Addr block;

        if (call->function == NULL || sp != call->sp + sizeof(Addr))
                return;
        block = call->function->frees ? 0 : block_of(call, result);
        if (call->old != 0 && !call->function->frees && (block != 0 || call->size == 0))
                heap_block_changes(tid, SIMPMU_RESIZED, call->old);
        if (block != 0)
                heap_block_begins(tid, call->function->function, block, call->size,
                                  call->frames, call->depth);
        end_call(call);
}

/* ---- instrumentation ---- */

static IRExpr *guest_register(struct pass *pass, Int offset)
{
        return ir_assign(pass, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

void own_heap_add_entry(struct pass *pass)
{
        const struct allocator_function *function = function_at(pass->start);
        IRDirty *call;

        if (function == NULL)
                return;
        met = True;
        addStmtToIRSB(pass->out,
                      IRStmt_Put(pass->layout->offset_IP, ir_constant(pass->start)));
        call = unsafeIRDirty_0_N(
            1, "simpmu_own_heap_enter", VG_(fnptr_to_fnentry)(&enter),
            mkIRExprVec_5(ir_constant((Addr)function),
                          guest_register(pass, pass->layout->offset_SP),
                          guest_register(pass, offsetof(VexGuestAMD64State, guest_RDI)),
                          guest_register(pass, offsetof(VexGuestAMD64State, guest_RSI)),
                          guest_register(pass, offsetof(VexGuestAMD64State, guest_RDX))));
        ir_reads_frame(pass, call);
        ir_add_call(pass, call, NULL);
}

void own_heap_add_return(struct pass *pass)
{
        IRExpr *any;

        if (!met || pass->in->jumpkind != Ijk_Ret)
                return;
        any = ir_binary(pass, Ity_I1, Iop_CmpNE64,
                        ir_read(pass, (const uint64_t *)&under_way), ir_constant(0));
        ir_add_call(pass,
                    unsafeIRDirty_0_N(
                        2, "simpmu_own_heap_leave", VG_(fnptr_to_fnentry)(&leave),
                        mkIRExprVec_2(guest_register(pass, pass->layout->offset_SP),
                                      guest_register(pass, offsetof(VexGuestAMD64State,
                                                                    guest_RAX)))),
                    any);
}
