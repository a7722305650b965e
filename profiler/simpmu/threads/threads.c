/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Virtual time. Valgrind runs one thread at a time, each for a long turn. Here each
 * thread has a separate clock, and the gate (gate.c) holds the clocks together.
 * Threads that wait in a system call do not take part. They come back no earlier than
 * the last running thread, their waker. A thread that runs alone never meets the gate.
 * A thread that has waited for a child continues after the child has ended. Waiting
 * for the outside world (files, sockets, sleep) takes no virtual time.
 *
 * One check at the entry of each block, against tool_hot.instruction_limit, serves the
 * gate and the intervals of the counters. */
#include "tool.h"

#include "model/clock_heap.h"
#include "model/machine/kernel_time.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_threadstate.h"

#include "address_map.h"
#include "code_changes.h"
#include "compat/replaced/limits.h"
#include "hidden/exec_fd.h"
#include "syscalls.h"

struct tool_thread {
        struct sim_thread sim;
        struct tool_thread *next_spare;
        ThreadId tid;
        UInt lwp; /* Linux thread id */
        Bool runnable;
        /* The hot state while another thread runs. */
        ULong instructions;
        ULong loads;
        ULong stores;
        ULong busy;
        uint64_t ready[VALUES];
        struct string_chunks string;
        /* The current counter interval. */
        ULong reading_start_ns;
        ULong boundary_ns;
        ULong boundary_slots;
        ULong turn_start; /* the clock */
        uint64_t last_value[SIMPMU_COUNTER_COUNT];
};

struct sim_thread *tool_thread;

static struct tool_thread **threads; /* by ThreadId; NULL: none */
static ThreadId *alive;              /* the ThreadIds of live threads */
static UInt alive_count;
static UInt created_count; /* threads so far: their cores go round */
static ThreadId running;   /* its state is in tool_hot; retained while no thread runs */
static ULong last_clock;   /* of the thread that ran last, once it has exited */
static struct tool_thread *spare_threads;
static Bool turn_ends_at_gate;
static Bool call_copies_memory; /* not vfork, where both processes have one memory */
static UInt *guest_of_turn;     /* the guest state of the thread that is to stop */
static double ns_per_slot;
static double slots_per_ns;

static ULong clock_of(const struct tool_thread *thread)
{
        ULong instructions =
            thread == threads[running] ? tool_hot.instructions : thread->instructions;
        return instructions + thread->sim.stall;
}

ULong threads_clock(ThreadId tid)
{
        return clock_of(threads[tid]);
}

const struct core *threads_core(ThreadId tid)
{
        return threads[tid]->sim.core;
}

ULong threads_running_clock_but(ThreadId tid)
{
        if (running == VG_INVALID_THREADID || running == tid ||
            !threads[running]->runnable)
                return CLOCK_NEVER;
        return clock_of(threads[running]);
}

ULong threads_slots_to_ns(ULong slots)
{
        return (ULong)((double)slots * ns_per_slot);
}

static ULong slots_at_ns(ULong ns)
{
        return (ULong)((double)ns * slots_per_ns);
}

/* The period between samples, in the unit that the control selects. */
static ULong sampling_period(void)
{
        const struct simpmu_control *control = ring_control();

        return control->period_ns ? slots_at_ns(control->period_ns)
                                  : control->period_loads;
}

ULong threads_now_ns(void)
{
        if (running == VG_INVALID_THREADID)
                return ring_now_ns();
        return threads_slots_to_ns(clock_of(threads[running]));
}

UInt threads_alive(const ThreadId **tids)
{
        *tids = alive;
        return alive_count;
}

UInt threads_lwp(ThreadId tid)
{
        /* There are no threads in a process that is not modelled. */
        if (threads == NULL || tid == VG_INVALID_THREADID || threads[tid] == NULL)
                return 0;
        return threads[tid]->lwp;
}

/* ---- counters of intervals ---- */

static ULong interval_ns(void)
{
        return ring_control()->interval_ns;
}

/* The reading begins at START_NS and ends at the next multiple of the interval. */
static void reading_begin(struct tool_thread *thread, ULong start_ns)
{
        thread->reading_start_ns = start_ns;
        thread->boundary_ns = (start_ns / interval_ns() + 1) * interval_ns();
        thread->boundary_slots = slots_at_ns(thread->boundary_ns);
}

static void read_counters(struct tool_thread *thread, uint64_t *value)
{
        Bool running_now = thread == threads[running];

        machine_read_counters(&tool_machine, &thread->sim,
                              running_now ? tool_hot.instructions : thread->instructions,
                              running_now ? tool_hot.loads : thread->loads,
                              running_now ? tool_hot.busy : thread->busy, value);
}

static void fill_reading(struct simpmu_counters *record, const struct tool_thread *thread,
                         const uint64_t *value)
{
        record->start_ns = thread->reading_start_ns;
        for (UInt i = 0; i < SIMPMU_COUNTER_COUNT; i++)
                record->value[i] = value[i] - thread->last_value[i];
}

static UShort reading_flags(void)
{
        return ring_control()->caches_only == 0 ? SIMPMU_BRANCHES : 0;
}

/* Begins to change the note of the thread's current interval, which is none for now. */
static struct simpmu_counters *change_note(const struct tool_thread *thread)
{
        struct simpmu_counters *note = ring_latest_counters(thread->tid);

        if (note == NULL)
                return NULL;
        __atomic_fetch_add(&note->header.reserved, 1, __ATOMIC_SEQ_CST);
        note->header.size_bytes = 0;
        return note;
}

static void note_changed(struct simpmu_counters *note)
{
        if (note != NULL)
                __atomic_fetch_add(&note->header.reserved, 1, __ATOMIC_SEQ_CST);
}

void threads_note_counters(ThreadId tid)
{
        struct tool_thread *thread = threads[tid];
        struct simpmu_counters *note = thread != NULL ? change_note(thread) : NULL;
        uint64_t value[SIMPMU_COUNTER_COUNT];

        if (note == NULL)
                return;
        const struct activity activity = thread->sim.activity;
        read_counters(thread, value);
        thread->sim.activity = activity; /* it depends on when it is read */
        note->header.size_bytes = sizeof(*note);
        note->header.type = SIMPMU_COUNTERS;
        note->header.flags = reading_flags();
        note->header.tid = thread->lwp;
        note->header.time_ns = threads_slots_to_ns(clock_of(thread));
        fill_reading(note, thread, value);
        note_changed(note);
}

static void reading_end(struct tool_thread *thread, ULong end_ns)
{
        uint64_t value[SIMPMU_COUNTER_COUNT];
        struct simpmu_counters *record;

        note_changed(change_note(thread));
        read_counters(thread, value);
        if (value[SIMPMU_CYCLES] == thread->last_value[SIMPMU_CYCLES])
                return;
        record = ring_begin(SIMPMU_COUNTERS, reading_flags(), end_ns, thread->lwp,
                            sizeof(*record));
        if (record == NULL)
                return;
        ring_set_time(record, end_ns);
        fill_reading(record, thread, value);
        VG_(memcpy)(thread->last_value, value, sizeof(value));
        ring_publish(record);
}

static void end_passed_interval(struct tool_thread *thread, ULong now_slots)
{
        if (now_slots < thread->boundary_slots)
                return;
        reading_end(thread, thread->boundary_ns);
        ULong now_ns = threads_slots_to_ns(now_slots);
        /* Rounding must not put the clock before the boundary that it has passed. */
        if (now_ns < thread->boundary_ns)
                now_ns = thread->boundary_ns;
        reading_begin(thread, now_ns / interval_ns() * interval_ns());
}

/* ---- the gate and who can run ---- */

/* A thread's clock stands still while it does not run: this keeps the heap in order. */
static void set_runnable(ThreadId tid, Bool runnable)
{
        struct tool_thread *thread = threads[tid];

        if (thread->runnable == runnable)
                return;
        thread->runnable = runnable;
        if (!runnable)
                gate_take(tid);
        else if (tid != running)
                gate_put(tid, clock_of(thread));
}

/* Sets the clock at which the running thread is checked next. */
static void set_deadline(ThreadId tid)
{
        struct tool_thread *thread = threads[tid];
        ULong gate = gate_clock(tid);

        thread->sim.deadline =
            gate < thread->boundary_slots ? gate : thread->boundary_slots;
        machine_set_others(&tool_machine, gate == CLOCK_NEVER
                                              ? DRAM_NO_OTHERS
                                              : gate - gate_window_slots());
        stall_to_hot(&tool_hot, &thread->sim);
}

void threads_check(UInt *guest_state)
{
        struct tool_thread *thread = threads[running];

        if (tool_hot.instructions > thread->sim.look_at)
                thread_look_at_code(&tool_hot, &thread->sim);
        if (tool_hot.instructions <= tool_hot.instruction_limit)
                return;
        thread_retire(&tool_hot, &thread->sim, tool_hot.instructions);
        thread_finish_stores(&thread->sim, clock_of(thread));
        end_passed_interval(thread, clock_of(thread));
        if (gate_is_open(running)) {
                set_deadline(running);
                return;
        }
        /* The event check at the next block's entry counts this down to -1 and
         * returns to the scheduler. */
        ((VexGuestAMD64State *)guest_state)->host_EvC_COUNTER = 0;
        turn_ends_at_gate = True;
        guest_of_turn = guest_state;
        thread->sim.deadline = thread->boundary_slots;
        stall_to_hot(&tool_hot, &thread->sim);
}

/* Only a turn that ended in an event check left the generated code at a point where no
 * jump is being patched. Otherwise another thread, let in by the big lock, could patch
 * the same jump. */
static Bool stopped_in_event_check(void)
{
        return (Int)((VexGuestAMD64State *)guest_of_turn)->host_EvC_COUNTER == -1;
}

/* The thread has done nothing until CLOCK. */
static void advance_clock(struct tool_thread *thread, ULong clock)
{
        ULong here = clock_of(thread);

        if (clock <= here)
                return;
        thread_pause(&thread->sim, clock - here);
}

/* A thread that was away does not come back earlier than the thread that ran
 * meanwhile. */
static void catch_up(ThreadId tid)
{
        struct tool_thread *thread = threads[tid];

        if (running == tid)
                return;
        ULong there =
            running == VG_INVALID_THREADID ? last_clock : clock_of(threads[running]);
        advance_clock(thread, there);
}

/* From a system call. */
static void come_back(ThreadId tid)
{
        catch_up(tid);
        set_runnable(tid, True);
        gate_wake();
}

static Bool call_executes(UInt number)
{
        return number == __NR_execve || number == __NR_execveat;
}

static Bool call_waits_for_child(UInt number)
{
        return number == __NR_wait4 || number == __NR_waitid;
}

/* ---- turns ---- */

static void save_hot(struct tool_thread *thread)
{
        thread->instructions = tool_hot.instructions;
        thread->loads = tool_hot.loads;
        thread->stores = tool_hot.stores;
        thread->busy = tool_hot.busy;
        VG_(memcpy)(thread->ready, tool_hot.ready, sizeof(thread->ready));
        thread->string = tool_hot.string;
}

static void switch_to(ThreadId tid)
{
        struct tool_thread *next = threads[tid];

        if (running != VG_INVALID_THREADID) {
                wrong_path_end(&tool_hot, tool_thread);
                save_hot(threads[running]);
                machine_end_turn(&tool_machine, tool_thread->core,
                                 clock_of(threads[running]) -
                                     threads[running]->turn_start);
                if (threads[running]->runnable)
                        gate_put(running, clock_of(threads[running]));
        }
        gate_take(tid);
        gate_expect(clock_of(next));
        running = tid;
        tool_thread = &next->sim;
        tool_hot.instructions = next->instructions;
        tool_hot.loads = next->loads;
        tool_hot.stores = next->stores;
        tool_hot.busy = next->busy;
        VG_(memcpy)(tool_hot.ready, next->ready, sizeof(next->ready));
        tool_hot.string = next->string;
        executed_thread_runs();
        machine_thread_runs(&tool_hot, tool_thread);
        next->turn_start = clock_of(next);
}

static void on_turn_start(ThreadId tid, ULong blocks)
{
        (void)blocks;
        stack_changes(tid);
        if (!threads[tid]->runnable)
                come_back(tid);
        if (tid != running)
                switch_to(tid);
        set_deadline(tid);
}

static void on_turn_stop(ThreadId tid, ULong blocks)
{
        (void)blocks;
        ring_note_time(threads_now_ns());
        threads_note_counters(tid);
        if (!turn_ends_at_gate)
                return;
        turn_ends_at_gate = False;
        if (stopped_in_event_check())
                gate_wait(tid);
}

/* ---- life and sleep of threads ---- */

static Bool exits; /* the process has asked for its end */

Bool threads_have_exited(void)
{
        return exits;
}

static void on_syscall(ThreadId tid, UInt number, UWord *arguments, UInt count)
{
        (void)count;
        thread_finish_stores(&threads[tid]->sim,
                             call_executes(number) ? UINT64_MAX : clock_of(threads[tid]));
        call_copies_memory = number == __NR_fork ||
                             (number == __NR_clone && (arguments[0] & VKI_CLONE_VM) == 0);
        exits |= number == __NR_exit_group || (number == __NR_exit && alive_count == 1);
        if (limits_wants_sandbox(number, arguments))
                ring_count_sandbox();
        if (number == __NR_ptrace && arguments[0] != VKI_PTRACE_TRACEME)
                ring_note_tracing();
        thread_serve(&threads[tid]->sim, kernel_call(&tool_machine, &threads[tid]->sim));
        if (call_executes(number)) {
                const UWord *asked = number == __NR_execve ? arguments : arguments + 1;

                images_before_exec(number == __NR_execve ? (const HChar *)arguments[0]
                                                         : NULL);
                argv0_before_exec((const HChar *)asked[0],
                                  (const HChar *const *)asked[1]);
                limits_before_exec();
                ring_set_executing(True);
        }
        if (number == __NR_sched_yield || futex_before_call(tid, number, arguments))
                return; /* it does not sleep */
        set_runnable(tid, False);
        gate_wake();
}

#define SYSCALL_BYTES 2 /* of the instruction */

/* The kernel writes SIZE bytes to ADDRESS, which may lie apart in the model. Returns how
 * long that takes. POPULATED: instead it has populated that memory. */
static ULong written(struct tool_thread *thread, const struct access_site *call,
                     Addr address, SizeT size, const struct populated *populated)
{
        const Addr end = address + size;
        ULong wait = 0;

        while (address < end) {
                struct address_run run = {address, end - address};
                if (address_map_active())
                        run = address_map_find(address, end - address);
                if (run.bytes > end - address)
                        run.bytes = end - address;
                const ULong now = clock_of(thread) + wait;
                wait +=
                    populated == NULL
                        ? kernel_write(&tool_machine, &tool_hot, &thread->sim, call,
                                       run.address, run.bytes, now)
                        : kernel_populate(&tool_machine, &tool_hot, &thread->sim,
                                          run.address, run.bytes, populated->writes, now);
                address += run.bytes;
        }
        return wait;
}

/* How many of SIZE bytes at ADDRESS can be written. The size comes from the target, and
 * the kernel may have been unable to write as much. A variable may lie in two mappings:
 * the first page of .bss is the file's. */
static SizeT writable_bytes(Addr address, SizeT size)
{
        SizeT bytes = 0;

        while (bytes < size) {
                const NSegment *segment = VG_(am_find_nsegment)(address + bytes);
                if (segment == NULL || !segment->hasW)
                        break;
                bytes = segment->end - address + 1;
        }
        return bytes < size ? bytes : size;
}

/* Besides system calls, Valgrind writes frames of signal handlers, on the thread's
 * stack. */
static void on_memory_written(CorePart part, ThreadId tid, Addr address, SizeT size)
{
        struct tool_thread *thread;
        struct access_site call = {.kind = ACCESS_STORE};
        ULong wait;

        if (part != Vg_CoreSysCall || threads[tid] == NULL)
                return;
        size = writable_bytes(address, size);
        if (size == 0)
                return;
        thread = threads[tid];
        if (tid != running)
                filter_clear(
                    &tool_hot); /* which may know lines that another core writes */
        call.ip = VG_(get_IP)(tid) - SYSCALL_BYTES;
        wait = written(thread, &call, address, size, NULL);
        if (!thread->runnable) /* or the heap of clocks would be out of order */
                thread_serve(&thread->sim, wait);
}

static void after_populating(ThreadId tid, const struct populated *memory)
{
        struct tool_thread *thread = threads[tid];

        if (tid != running)
                filter_clear(&tool_hot);
        thread_serve(&thread->sim,
                     written(thread, NULL, memory->start, memory->bytes, memory));
}

static void tell_name(UInt lwp, ULong now_ns)
{
        HChar name[SIMPMU_NAME_BYTES];
        struct simpmu_thread_name *record;

        if (!task_name(lwp, name))
                return;
        record = ring_begin(SIMPMU_THREAD_NAME, 0, now_ns, lwp, sizeof(*record));
        if (record == NULL)
                return;
        VG_(memcpy)(record->name, name, sizeof(name));
        ring_publish(record);
}

static void on_syscall_done(ThreadId tid, UInt number, UWord *arguments, UInt count,
                            SysRes result)
{
        ULong wake_clock;
        struct populated memory;

        (void)count;
        code_look_for_changes();
        if (number == __NR_sched_yield)
                return;
        if (futex_after_call(tid, number, arguments, result, clock_of(threads[tid]),
                             &wake_clock)) {
                if (wake_clock != CLOCK_NEVER)
                        advance_clock(threads[tid], wake_clock);
                else
                        catch_up(tid);
                set_runnable(tid, True);
                gate_wake();
                return;
        }
        if (!sr_isError(result)) {
                UInt named = task_named(threads[tid]->lwp, number, arguments);
                if (named != 0)
                        tell_name(named, threads_slots_to_ns(clock_of(threads[tid])));
                images_after_syscall(number, arguments, sr_Res(result));
                exec_fd_opened(number, arguments, (Int)sr_Res(result));
                if (images_populated(number, arguments, sr_Res(result), &memory))
                        after_populating(tid, &memory);
        } else if (call_executes(number)) {
                ring_set_executing(False);
        } else {
                ring_after_failed_fork(threads_now_ns(), threads[tid]->lwp);
        }
        if (call_waits_for_child(number) && !sr_isError(result)) {
                /* A poll (WNOHANG) that finds no child returns 0. */
                if (number != __NR_wait4 || sr_Res(result) > 0)
                        tool_machine.fork_is_alone = True;
                advance_clock(threads[tid], slots_at_ns(ring_children_end_ns()));
        }
        come_back(tid);
}

/* Processes that do the same must not be sampled at the same loads, but a run of one
 * process must be repeatable: the images before it tell it from others. */
static ULong seed_here(void)
{
        const struct simpmu_control *control = ring_control();

        return control->seed ^ __atomic_load_n(&control->slices_claimed, __ATOMIC_RELAXED)
                                   << 32;
}

static struct tool_thread *thread_new(ThreadId tid, ULong start_slots)
{
        struct tool_thread *thread = spare_threads;

        if (thread == NULL) {
                thread = tool_allocate(sizeof(*thread));
        } else {
                spare_threads = thread->next_spare;
                VG_(memset)(thread, 0, sizeof(*thread));
        }
        thread->tid = tid;
        machine_thread_init(&tool_machine, &thread->sim, created_count++, start_slots,
                            sampling_period(), seed_here());
        if (ring_control()->caches_only == 0)
                thread->sim.look_at = 0;
        if (ring_control()->branches == 0)
                thread->sim.branches = branch_sample_windows(seed_here() + created_count);
        return thread;
}

static void on_thread_create(ThreadId parent, ThreadId child)
{
        ULong start_slots;

        if (parent == VG_INVALID_THREADID)
                return; /* the main thread: threads_start makes it */
        start_slots = clock_of(threads[parent]);
        threads[child] = thread_new(child, start_slots);
        reading_begin(threads[child], threads_slots_to_ns(start_slots));
        alive[alive_count++] = child;
        /* From now on others do not run away from it. */
        set_runnable(child, True);
        gate_wake();
}

void threads_tell(ThreadId tid)
{
        Addr stack_high = VG_(thread_get_stack_max)(tid);
        SizeT stack_size = VG_(thread_get_stack_size)(tid);
        struct simpmu_thread *record;

        record = ring_begin(SIMPMU_THREAD, 0, threads_slots_to_ns(clock_of(threads[tid])),
                            threads[tid]->lwp, sizeof(*record));
        if (record == NULL)
                return;
        record->stack_low = stack_high == 0 ? 0 : stack_high + 1 - stack_size;
        record->stack_high = stack_high == 0 ? 0 : stack_high + 1;
        ring_publish(record);
        tell_name(threads[tid]->lwp, threads_slots_to_ns(clock_of(threads[tid])));
}

/* Runs in the thread itself. */
static void on_first_instruction(ThreadId tid)
{
        const Addr middle = TOOL_HOT_MIDDLE;

        VG_(set_shadow_regs_area)(tid, 1, 0, sizeof(middle), (const UChar *)&middle);
        threads[tid]->lwp = (UInt)VG_(gettid)();
        if (tid == 1) {
                argv0_restore(tid); /* names the thread, too */
                preload_restore(tid);
        }
        threads_tell(tid);
}

static void write_exit(ThreadId tid)
{
        struct tool_thread *thread = threads[tid];
        ULong now_ns = threads_slots_to_ns(clock_of(thread));
        struct simpmu_record *record;

        thread_finish_stores(&thread->sim, UINT64_MAX);
        reading_end(thread, now_ns);
        record = ring_begin(SIMPMU_THREAD_EXIT, 0, now_ns, thread->lwp, sizeof(*record));
        if (record != NULL)
                ring_publish(record);
}

static void forget_thread(ThreadId tid)
{
        set_runnable(tid, False);
        gate_forget(tid);
        futex_forget(tid);
        for (UInt i = 0; i < alive_count; i++) {
                if (alive[i] == tid)
                        alive[i] = alive[--alive_count];
        }
        if (running == tid) {
                last_clock = clock_of(threads[tid]);
                running = VG_INVALID_THREADID;
        }
        threads[tid]->next_spare = spare_threads;
        spare_threads = threads[tid];
        threads[tid] = NULL;
}

static void on_thread_exit(ThreadId tid)
{
        write_exit(tid);
        forget_thread(tid);
        gate_wake();
}

/* ---- the whole ---- */

void threads_register(void)
{
        VG_(track_start_client_code)(on_turn_start);
        VG_(track_stop_client_code)(on_turn_stop);
        VG_(needs_syscall_wrapper)(on_syscall, on_syscall_done);
        VG_(track_post_mem_write)(on_memory_written);
        VG_(track_pre_thread_ll_create)(on_thread_create);
        VG_(track_pre_thread_first_insn)(on_first_instruction);
        VG_(track_pre_thread_ll_exit)(on_thread_exit);
}

void threads_start(ULong start_ns)
{
        const ThreadId main_thread = 1;

        slots_per_ns = machine_slots_per_ns(&tool_machine);
        ns_per_slot = 1 / slots_per_ns;
        filter_clear(&tool_hot);
        executed_start();
        threads = tool_allocate(VG_N_THREADS * sizeof(*threads));
        alive = tool_allocate(VG_N_THREADS * sizeof(*alive));
        gate_start();
        futex_start();
        threads[main_thread] = thread_new(main_thread, slots_at_ns(start_ns));
        reading_begin(threads[main_thread], start_ns);
        alive[alive_count++] = main_thread;
}

void threads_after_fork(void)
{
        if (call_copies_memory)
                machine_shares_pages(&tool_machine, &tool_hot);
}

void threads_forked(ThreadId tid)
{
        struct tool_thread *thread = threads[tid];
        ULong now_ns = threads_slots_to_ns(clock_of(thread));

        while (alive_count > 1)
                forget_thread(alive[0] == tid ? alive[1] : alive[0]);
        set_runnable(tid, False); /* it is in the fork call */
        gate_forked();
        futex_forked();
        thread->lwp = (UInt)VG_(gettid)();
        machine_forked(&tool_machine, &tool_hot);
        threads_after_fork();
        sampler_init(&thread->sim.sampler, sampling_period(), seed_here());
        /* The parent owns the counts from before the fork. */
        machine_read_counters(&tool_machine, &thread->sim, tool_hot.instructions,
                              tool_hot.loads, tool_hot.busy, thread->last_value);
        reading_begin(thread, now_ns);
}

void threads_finish(void)
{
        while (alive_count > 0) {
                ThreadId tid = alive[0];
                write_exit(tid);
                forget_thread(tid);
        }
}
