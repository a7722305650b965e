/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared declarations of the Valgrind tool's files. The tool is one program with one
 * simulated machine, so its state is global. Each variable belongs to the file named
 * beside it. */
#ifndef SIMPMU_TOOL_H
#define SIMPMU_TOOL_H

#include "pub_tool_aspacemgr.h"
#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"

#include "model/machine/machine.h"
#include "protocol.h"

/* main.c */
extern struct sim_hot tool_hot; /* at a fixed address: generated code uses it */
extern struct machine tool_machine;
/* From where generated code finds the hot state: an address that each thread carries in
 * the first word of its first shadow state, which is used for nothing else. */
#define TOOL_HOT_MIDDLE ((Addr)&tool_hot.instructions)
void *tool_allocate(size_t bytes); /* zeroed; never NULL */

/* ring.c: records on their way to memlag. All functions do nothing once memlag has
 * gone or requested a stop. */

/* Opens the shared file and the bell and reads the parameters from CONTROL.
 * IMAGE_OPTION, digits in our own argument, says from which image an exec led here; it
 * is changed as this process goes on. False: this process is not recorded. */
Bool ring_open(const HChar *shared_path, const HChar *bell_path,
               const HChar *image_option);
const struct simpmu_control *ring_control(void);
const struct simpmu_plan *ring_plan(void); /* NULL: there is none */
Bool ring_recording(void);
struct simpmu_code *ring_code(void); /* NULL: this process is not recorded */
/* The target wanted a sandbox, and was refused. */
void ring_count_sandbox(void);
/* The target traced a process (ptrace). */
void ring_note_tracing(void);
/* The heap tracker has not reported this many calls. */
void ring_count_untold(UInt calls);
/* Claims a slice; its first record will be a SIMPMU_PROCESS. */
void ring_begin_image(ULong start_ns);
/* Around a fork: announces the child, in the parent before the fork; in the parent
 * afterwards; in the child, which takes the announced slice. */
void ring_before_fork(ULong now_ns, UInt tid);
void ring_after_fork(void);
void ring_begin_child(ULong start_ns);
/* After a failed system call that may have been a fork. */
void ring_after_failed_fork(ULong now_ns, UInt tid);
/* From before an exec, while this process does not look alive, until the exec fails. */
void ring_set_executing(Bool executing);
/* 1 + the slice of the image that this one came from, 0: none. */
ULong ring_origin(void);
/* The virtual time at which the process's image before the last exec stopped, or 0. */
ULong ring_time_before_exec(void);
/* The latest time at which a process that this image forked has ended, or 0. */
ULong ring_children_end_ns(void);
/* Room for a record, header filled in; NULL when nothing is recorded. Its time is
 * made not to lie before earlier records'. RING_PUBLISH must follow. */
void *ring_begin(enum simpmu_record_type type, UInt flags, ULong time_ns, UInt tid,
                 SizeT size_bytes);
void ring_publish(const void *record);
/* Sets the record's time as it is (SIMPMU_COUNTERS). */
void ring_set_time(void *record, ULong time_ns);
/* For the current interval of thread NUMBER; NULL: nobody wants it. */
struct simpmu_counters *ring_latest_counters(UInt number);
ULong ring_now_ns(void);
void ring_note_time(ULong time_ns);
/* Writes the last record; FLAGS: of SIMPMU_END. */
void ring_finish(UInt flags);
static inline SizeT ring_round(SizeT bytes)
{
        return (bytes + 7) & ~(SizeT)7;
}

/* threads.c: virtual clocks, counters of intervals. */
extern struct sim_thread *tool_thread; /* of the thread that runs */
void threads_register(void);           /* with the core, before options are read */
void threads_start(ULong start_ns);    /* once the machine exists */
ULong threads_now_ns(void);            /* of the running thread */
ULong threads_slots_to_ns(ULong slots);
ULong threads_clock(ThreadId tid);         /* of a live thread, in slots */
UInt threads_alive(const ThreadId **tids); /* live threads; returns how many */
/* The running thread's clock; CLOCK_NEVER: none runs, or it cannot go on, or is TID. */
const struct core *threads_core(ThreadId tid);
ULong threads_running_clock_but(ThreadId tid);
UInt threads_lwp(ThreadId tid); /* Linux thread id */
void threads_after_fork(void);  /* in the parent, and in the child */
void threads_forked(ThreadId tid);
void threads_note_counters(ThreadId tid); /* of the current interval */
void threads_tell(ThreadId tid);          /* writes a thread's SIMPMU_THREAD and name */
void threads_finish(void);
/* Whether the process has asked for its end; else a signal ends it. */
Bool threads_have_exited(void);
/* Called by generated code when the instruction limit is passed. */
void threads_check(UInt *guest_state);

/* gate.c: no thread runs away from the slowest thread. Clocks are in slots. The clock
 * of a thread that does not run stands still. */
void gate_start(void); /* once the machine exists */
void gate_forked(void);
ULong gate_window_slots(void); /* how far ahead a thread may be */
/* TID is runnable and does not run; it runs now, or is not runnable any more; has ended.
 */
void gate_put(ThreadId tid, ULong clock);
void gate_take(ThreadId tid);
void gate_forget(ThreadId tid);
/* The clock at which the gate stops TID, or CLOCK_NEVER. */
ULong gate_clock(ThreadId tid);
/* A turn begins at CLOCK: memory reserves room for threads that reach that time later. */
void gate_expect(ULong clock);
Bool gate_is_open(ThreadId tid); /* at TID's clock */
void gate_wait(ThreadId tid);    /* TID, which runs, waits until it is */
void gate_wake(void);            /* wakes the waiting threads whose gate is open */

/* futex.c: threads that were woken and are not back yet. */
void futex_start(void);
/* Around each system call of thread TID; CLOCK: its clock afterwards. Before: whether it
 * wakes others, and so does not sleep. After: whether the thread was woken, and at which
 * clock (CLOCK_NEVER: not known). */
Bool futex_before_call(ThreadId tid, UInt number, const UWord *arguments);
Bool futex_after_call(ThreadId tid, UInt number, const UWord *arguments, SysRes result,
                      ULong clock, ULong *wake_clock);
/* The clock of the last wake while a woken thread is under way, or CLOCK_NEVER. */
ULong futex_wake_clock(void);
/* Woken threads are late: waits only for threads that merely lack a processor. */
void futex_look_for_woken(void);
void futex_forget(ThreadId tid); /* the thread has ended */
void futex_forked(void);

/* task_state.c: whether the kernel has this thread of the process ready to run. */
Bool task_wants_processor(UInt lwp);
/* Fills in the thread's name; False: it is not known. */
Bool task_name(UInt lwp, HChar name[SIMPMU_NAME_BYTES]);
/* The thread that gets a name by this call of thread LWP, which succeeded; 0: none. */
UInt task_named(UInt lwp, UInt number, const UWord *arguments);

/* images.c: the process, its mappings. */
void images_register(void);
void images_process(UInt flags, ULong start_ns);
Bool images_executable(Addr address); /* code may be there */
void images_unhandled(Addr ip);       /* an instruction that VEX cannot run */
/* After a system call that may have changed mappings. */
void images_after_syscall(UInt number, const UWord *arguments, UWord result);
struct populated {
        Addr start;
        SizeT bytes;
        Bool writes; /* or only reads are no page faults any more */
};
Bool images_populated(UInt number, const UWord *arguments, UWord result,
                      struct populated *memory);
/* PROGRAM: in the target's memory; NULL: not known by name. */
void images_before_exec(const HChar *program);

/* mapped_id.c: the build-id of the file that SEGMENT maps. Returns its length, 0 if
 * the mapping does not contain it. */
UInt mapped_build_id(const NSegment *segment, UChar id[SIMPMU_BUILD_ID_BYTES]);

/* argv0.c: the name that a program is executed by. PROGRAM and ARGUMENTS of an exec lie
 * in the target's memory. */
void argv0_before_exec(const HChar *program, const HChar *const *arguments);
Bool argv0_option(const HChar *argument);  /* whether ARGUMENT is this option */
void argv0_restore(ThreadId first_thread); /* before its first instruction */

/* preload.c: before its first instruction, a program that cannot or need not load the
 * heap tracker gets back the environment that it would have alone. */
void preload_restore(ThreadId first_thread);

/* heap.c: requests of the heap tracker, and its code, which is not simulated. */
void heap_register(void);
Bool heap_is_tracker(Addr ip);
/* The process's heap is followed, by the tracker or by own_heap.c. */
void heap_followed(ThreadId tid);
/* How many frames of an allocation's stack are to be known. */
UInt heap_frames(void);
/* A block begins, FRAMES its allocator's callers; and other events of blocks. */
void heap_block_begins(ThreadId tid, UInt function, Addr addr, SizeT size,
                       const ULong *frames, UInt depth);
void heap_block_changes(ThreadId tid, enum simpmu_record_type type, Addr addr);

/* stack.c */
#define STACK_MAXIMUM_FRAMES 256u
/* Return addresses of the thread's callers, innermost first, into FRAMES, without the
 * heap tracker's. Returns their number. */
UInt stack_callers(ThreadId tid, ULong *frames, UInt limit);

/* The same at the first instruction of a function, whose own tables are not needed. */
UInt stack_at_entry(ThreadId tid, ULong *frames, UInt limit);

/* A frame of the running thread: its number among the instruction itself (0) and its
 * callers, and its canonical frame address. */
struct stack_frame {
        Bool known;
        UInt number;
        Addr cfa;
};
/* The same, and the frame that contains ADDRESS. */
UInt stack_callers_and_frame(ThreadId tid, ULong *frames, UInt limit, Addr address,
                             struct stack_frame *frame);

/* The frame of another thread that ADDRESS is in: into FRAMES its instruction and the
 * return addresses of its callers, at most LIMIT, and its canonical frame address into
 * CFA. Returns how many; 0: it is on no other thread's stack, or not in a frame that is
 * known. */
UInt stack_of_other(ThreadId tid, ULong *frames, UInt limit, Addr address, Addr *cfa);
/* TID continues: knowledge of its stack is stale. */
void stack_changes(ThreadId tid);

/* sample.c */
void sample_write(const struct sim_sample *sample);
/* See machine.h: a store's record waits until it has left the store buffer. */
void *sample_store_begin(const struct sim_sample *sample);
void sample_store_end(void *sample, uint64_t retire_slots);
/* See watch.h. */
void sample_line(uint32_t watch, enum line_fact fact, uint64_t value);

/* executed.c: instructions that are sampled by the model's time without stalls. */
struct executed {
        Addr ip;
        UInt slots; /* of the time */
};
struct executed_stretch {
        UInt count;  /* at least one */
        UInt slots;  /* of all */
        Bool leaves; /* the last one calls, returns or jumps */
        struct executed each[];
};
void executed_start(void);
Bool executed_are_sampled(void);
void executed_thread_runs(void); /* another one than before */
/* STRETCH has run: a period of instructions ends in it, or it has the next instruction.
 */
void executed_sample(const struct executed_stretch *stretch);
/* A wrong prediction takes SLOTS, in which the program is at the instruction IP. */
void executed_wrong(Addr ip, ULong slots);
/* The same at the instruction that runs next. */
void executed_refill(ULong slots);

/* instrument.c */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host,
                 IRType guest_word, IRType host_word);
/* Selects the details of blocks instrumented from now on. VALUES: dependences of
 * values and arithmetic latencies. BRANCHES: with these, branch prediction. */
void instrument_set_detail(Bool values, Bool branches);
/* instrument_sites.c: a translation has gone. */
void instrument_discard(Addr block, VexGuestExtents extents);

#endif
