/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulated PMU, a Valgrind tool: start, fork and end of a process. It reads its
 * parameters from the shared file (protocol.h). Only three options remain: the path of
 * that file, the path of the bell, and the number of the previous image. */
#include "tool.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"

#include "address_map.h"
#include "code_changes.h"
#include "hidden/exec_fd.h"
#include "instrument/own_heap.h"
#include "model/machine/fetch.h"

struct sim_hot tool_hot __attribute__((aligned(64)));
struct machine tool_machine;

static const HChar *shared_path;
static const HChar *bell_path;
static const HChar *image_option;
/* False: the program runs without model or records. */
static Bool modelling;

void *tool_allocate(size_t bytes)
{
        const Addr host_line_bytes = 64;
        /* When there is none, Valgrind ends the process. */
        Addr memory = (Addr)VG_(calloc)("simpmu", 1, bytes + host_line_bytes - 1);

        return (void *)((memory + host_line_bytes - 1) & ~(host_line_bytes - 1));
}

static Bool on_option(const HChar *argument)
{
        if (VG_STR_CLO(argument, "--shared", shared_path))
                return True;
        if (VG_STR_CLO(argument, "--bell", bell_path))
                return True;
        if (argv0_option(argument))
                return True;
        return VG_STR_CLO(argument, "--image", image_option);
}

static void on_usage(void)
{
}

static Bool in_limits(double value, double minimum, double maximum)
{
        return value >= minimum && value <= maximum; /* false for NaN */
}

static Bool parameters_valid(const struct simpmu_params *params)
{
#define CHECK(field, key, unit, minimum, maximum)                                        \
        if (!in_limits(params->field, minimum, maximum))                                 \
                return False;
        SIMPMU_PARAMETERS(CHECK)
#undef CHECK
        return True;
}

static IRSB *instrument_unless_idle(VgCallbackClosure *closure, IRSB *in,
                                    const VexGuestLayout *layout,
                                    const VexGuestExtents *extents,
                                    const VexArchInfo *host, IRType guest_word,
                                    IRType host_word)
{
        if (!modelling)
                return in;
        return instrument(closure, in, layout, extents, host, guest_word, host_word);
}

static void before_fork(ThreadId tid)
{
        thread_finish_stores(tool_thread, UINT64_MAX); /* or both processes would */
        ring_before_fork(threads_now_ns(), threads_lwp(tid));
}

static void after_fork(ThreadId tid)
{
        (void)tid;
        ring_after_fork();
        threads_after_fork();
}

static void in_child(ThreadId tid)
{
        ULong now_ns = threads_now_ns();

        if (!ring_recording())
                return;
        threads_forked(tid);
        watch_forget(&tool_machine.watch);
        tool_machine.watch.samples = 0; /* each process numbers its own */
        own_heap_forked(tid);
        ring_begin_child(now_ns);
        images_process(SIMPMU_FORKED, now_ns);
        threads_tell(tid);
}

/* Of a program that is not modelled. */
static void before_call(ThreadId tid, UInt number, UWord *arguments, UInt count)
{
        (void)tid, (void)number, (void)arguments, (void)count;
}

static void after_call(ThreadId tid, UInt number, UWord *arguments, UInt count,
                       SysRes result)
{
        (void)tid, (void)number, (void)arguments, (void)count, (void)result;
        code_look_for_changes();
}

static void after_options(void)
{
        const struct simpmu_control *control;
        const struct simpmu_plan *plan;
        ULong start_ns;

        exec_fd_begun(VG_(args_the_exename));
        VG_(needs_syscall_wrapper)(before_call, after_call);
        if (!ring_open(shared_path, bell_path, image_option))
                return;
        control = ring_control();
        if (!parameters_valid(&control->params) || control->interval_ns == 0)
                return;
        machine_init(&tool_machine, &control->params, control->ldlat_cycles,
                     tool_allocate, sample_write);
        watch_init(&tool_machine.watch, sample_line, tool_allocate);
        if (!control->loads_only)
                tool_machine.on_store = sample_store_begin;
        tool_machine.loads_only = control->loads_only != 0;
        tool_machine.on_store_done = sample_store_end;
        tool_machine.samples_stalls = control->period_ns != 0;
        tool_machine.prefetch = control->prefetch;
        instrument_set_detail(control->caches_only == 0, control->branches != 0);
        tool_machine.one_load_waits = control->caches_only != 0;
        fetch_begin(&tool_machine, control->branches != 0);
        if (control->branches != 0) {
                tool_machine.code = tool_allocate(sizeof(*tool_machine.code));
                code_init(tool_machine.code, tool_allocate);
        }
        plan = ring_plan();
        if (control->plans != 0 &&
            (plan == NULL || !address_map_begin(plan, SIMPMU_PLAN_BYTES)))
                return;
        modelling = True;
        start_ns = ring_time_before_exec();
        threads_start(start_ns);
        ring_begin_image(start_ns);
        images_process(SIMPMU_STARTED, start_ns);
        VG_(atfork)(before_fork, after_fork, in_child);
        threads_register();
        images_register();
}

static void at_end(Int exit_code)
{
        (void)exit_code;
        if (!modelling)
                return;
        threads_finish();
        watch_finish(&tool_machine.watch);
        ring_finish(SIMPMU_EXITED | (threads_have_exited() ? 0 : SIMPMU_SIGNALLED));
}

static void before_options(void)
{
        const UInt average_translation_bytes = 600;

        VG_(details_name)("memlag");
        VG_(details_version)(NULL);
        VG_(details_description)("the simulated PMU of memlag");
        VG_(details_copyright_author)("The memlag authors, under GPL-2.0-or-later.");
        VG_(details_bug_reports_to)("the memlag project");
        VG_(details_avg_translation_sizeB)(average_translation_bytes);
        VG_(basic_tool_funcs)(after_options, instrument_unless_idle, at_end);
        VG_(needs_command_line_options)(on_option, on_usage, on_usage);
        VG_(needs_superblock_discards)(instrument_discard);
        heap_register();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
