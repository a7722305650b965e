/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared declarations of the files that instrument a block of VEX IR: the state of the
 * pass, and the code that each file adds. The rest of the simulated PMU does not
 * include this; its entry points are in tool.h. */
#ifndef SIMPMU_INSTRUMENT_H
#define SIMPMU_INSTRUMENT_H

#include "pub_tool_basics.h"
#include "pub_tool_machine.h"

#include "arithmetic.h"
#include "depend.h"
#include "model/machine/scheduler.h"
#include "tool.h"

struct access_site;
struct temporary_form;
struct block_sites;
struct scheduled;

/* A call that tests a load, and the function to call if nothing waits for its value. */
struct load_call {
        IRCallee *callee; /* NULL: there is none */
        void *if_unused;
};

/* Instructions that wait for a load, within a pass of a loop. */
struct waiting_for {
        UInt index; /* of the load */
        UInt instructions[SCHEDULER_KINDS];
};

/* The pass over one block. */
struct pass {
        IRSB *out;
        const IRSB *in;
        const VexGuestLayout *layout;
        Addr start;
        struct block_sites *sites;
        struct depend_state depend;
        struct access_site *load_of_slot[LAST_SLOT - FIRST_SLOT + 1];
        struct load_call call_of_slot[LAST_SLOT - FIRST_SLOT];
        struct waiting_for waiting_for[LAST_SLOT - FIRST_SLOT];
        struct access_site *last_load; /* of the current instruction, or NULL */
        IRExpr *last_address;          /* of LAST_LOAD, in the old block */
        ULong used;                    /* values that something waits for */
        ULong told;                    /* slots that an exit has reported finally */
        Addr ip;
        Addr last_ip;         /* of the block's last instruction */
        Bool follow_branches; /* how they are predicted */
        Bool follow_fetch;    /* when the front end delivers the instructions */
        Bool follow;          /* track dependences of values */
        Bool excluded;        /* the current instruction is the heap tracker's */
        Bool unit_used;       /* by the current instruction */
        Bool returns;         /* the current instruction accesses a return address */
        Bool string;          /* the current instruction repeats a string instruction */
        Bool nontemporal;     /* the current instruction stores past the caches */
        Bool string_issued;   /* it has made an access, which says whether it issues */
        Int at;               /* the current statement of the old block */
        UInt index;           /* counted instructions before the current one */
        UInt counted;         /* instructions added by the code emitted so far */
        UInt stores;          /* the same two for stores, before this store */
        UInt stores_counted;
        IRExpr *hot;                       /* TOOL_HOT_MIDDLE, in the generated code */
        IRExpr *instructions;              /* counted, in the generated code */
        struct temporary_form *forms;      /* of temporaries; NULL: not known */
        struct executed_stretch *executed; /* NULL: they are not sampled */
        UInt executed_from;                /* instructions counted before it */
        IRExpr *issued; /* the block, in the generated code; NULL unless at an exit */
        UInt counted_at_exit;   /* the same at the last exit that wrote ready times */
        UInt loads;             /* loads with a separate slot */
        Addr run_ip;            /* where the front end's run goes on; 0: nowhere yet */
        ULong run_line;         /* of code, where its latest instruction begins */
        UInt run_length;        /* its instructions since the last delivery */
        UInt loop_instructions; /* of a pass, if the block is a loop; else 0 */
        UInt run_slots; /* of a run of this block; 0: it comes as fast as it issues */
        struct depend operands;          /* of the current instruction's arithmetic */
        Bool of_vectors;                 /* it is */
        Bool waited;                     /* the instruction before has any */
        struct scheduled *first_waiting; /* since the last exit; NULL: none */
        struct scheduled *last_waiting;
        struct code_stretch *stretch; /* NULL: none yet */
        struct code_transfer **next_transfer;
        struct frame_access **next_frame_access;
};

/* ---- instrument_ir.c: each adds statements to the new block ---- */

IRExpr *ir_constant(ULong value);
/* E's value as a temporary of TYPE. */
IRExpr *ir_assign(struct pass *pass, IRType type, IRExpr *e);
IRExpr *ir_binary(struct pass *pass, IRType type, IROp op, IRExpr *a, IRExpr *b);
/* Of a variable at an address that stays. */
IRExpr *ir_read(struct pass *pass, const uint64_t *variable);
/* The same for a member of tool_hot. */
IRExpr *ir_read_hot(struct pass *pass, const uint64_t *variable);
void ir_write_hot(struct pass *pass, uint64_t *variable, IRExpr *value);
/* And of an array there. */
void ir_write_hot_element(struct pass *pass, uint64_t *table, IRExpr *index,
                          IRExpr *value);
/* Returns the sum. */
IRExpr *ir_add_to_hot(struct pass *pass, uint64_t *variable, ULong amount);
IRExpr *ir_not(struct pass *pass, IRExpr *condition);
/* GUARD: NULL, always. */
IRExpr *ir_both(struct pass *pass, IRExpr *condition, IRExpr *guard);
/* CALL's helper may walk the stack. */
void ir_reads_frame(const struct pass *pass, IRDirty *call);
void ir_add_call(struct pass *pass, IRDirty *call, IRExpr *guard);
/* Of an expression of the old block. */
UInt ir_size_of(const struct pass *pass, const IRExpr *e);
UInt ir_first_of(ULong mask);

/* ---- instrument_sites.c ---- */

/* A translation's memory, freed by instrument_discard. */
struct block_sites *sites_of_block(Addr block);
void *site_new(struct pass *pass, SizeT bytes);

/* ---- instrument_call.c ---- */

/* A call of FUNCTION with CONSTANT and, unless it is NULL, ARGUMENT, for as long as the
 * translation lives; seldom made, it costs the least when it is not. */
IRDirty *call_with_constant(struct pass *pass, const HChar *name, void *function,
                            const void *constant, IRExpr *argument);

/* ---- instrument_ready.c ---- */

/* The values that the current instruction waits for when it uses a value. The result
 * lives as long as the translation. */
struct waits ready_waits(struct pass *pass, struct depend depends);
/* In the generated code, when a value comes that the current instruction stores: 0 or
 * earlier than it is needed, when that is there as the instruction issues. */
IRExpr *ready_when_stored(struct pass *pass, struct depend value);
/* Control may leave here: prepares the values from before the branch for
 * ready_add_exit. */
void ready_begin_exit(struct pass *pass);
/* Control may leave here, under GUARD if more of the block follows, else NULL.
 * Registers get their ready times, all at once, except registers in the mask UNREAD. */
void ready_add_exit(struct pass *pass, IRExpr *guard, ULong unread);

/* ---- instrument_branch.c ---- */

/* Each goes before registers get their ready times: of EXIT, and of the block's end. The
 * first returns the exit to emit in EXIT's place. */
IRStmt *branch_add_conditional(struct pass *pass, IRStmt *exit);
void branch_add_indirect(struct pass *pass);

/* ---- instrument_waiting.c ---- */

/* The current instruction computes RESULT from OPERANDS. */
void waiting_note_arithmetic(struct pass *pass, struct depend operands,
                             const IRExpr *result);
/* The instruction accesses ADDRESS; call this before adding the access. */
void waiting_note_address(struct pass *pass, struct depend address);
void waiting_end_instruction(struct pass *pass);
/* Control may leave here: the instructions since the last exit take their entries.
 * Call this before registers get their ready times. */
void waiting_add_exit(struct pass *pass);
void waiting_end_block(const struct pass *pass);

/* ---- instrument_fetch.c ---- */

/* Decides whether the delivery of the block, which begins at statement FROM, is followed.
 */
void fetch_begin_block(struct pass *pass, Int from);
/* The front end delivers the instructions from statement FROM of the old block to the
 * next exit; goes before they are counted. */
void fetch_add_stretch(struct pass *pass, Int from);
/* The block may be left, by EXIT or at its end: a taken branch ends a run. */
void fetch_add_exit(struct pass *pass, const IRStmt *exit);
void fetch_add_end(struct pass *pass);

/* ---- instrument_wrong.c ---- */

/* The model is to know the block's code. */
void wrong_note_code(const struct pass *pass);
/* The stretch of the COUNT instructions that follow statement FROM of the old block; its
 * memory lives as long as the translation. */
const struct code_stretch *wrong_begin_stretch(struct pass *pass, Int from, UInt count);
/* An access of SITE to ADDRESS has been added; DATA is the stored value. */
void wrong_note_access(struct pass *pass, const struct access_site *site,
                       const IRExpr *address, struct depend data);
/* Registers get their ready times; goes before they depend on themselves again. */
void wrong_add_transfer(struct pass *pass);

/* ---- instrument_access.c ---- */

struct access_site *access_site_new(struct pass *pass, enum access_kind kind,
                                    struct depend address, UInt size_bytes);
/* Whether accesses of SITE may pass by the model when the filter knows their line. */
Bool access_filter_applies(const struct access_site *site);
/* How far ADDRESS lies above its entry in the filter, in the generated code: more than
 * a line when the line is not there. */
IRExpr *access_filter_distance(struct pass *pass, const struct access_site *site,
                               IRExpr *address);
/* The function that loads call when the filter does not know their line. */
void (*access_load_call(void))(const struct access_site *site, Addr address);
/* Call each before the statement that makes the access. A load returns the dependences
 * of its value; GUARD is NULL for an unconditional access. */
struct depend access_add_load(struct pass *pass, IRTemp loaded, IRExpr *address,
                              IRType type, IRExpr *guard);
void access_add_store(struct pass *pass, IRExpr *address, const IRExpr *data,
                      IRExpr *guard);
void access_add_guarded_load(struct pass *pass, const IRLoadG *load);
void access_add_compare_and_swap(struct pass *pass, const IRCAS *cas);
void access_add_helper_call(struct pass *pass, const IRDirty *call);
/* A store to ADDRESS has been added. */
void forward_note_store(struct pass *pass, const struct access_site *site,
                        IRExpr *address);
/* Whether an access to ADDRESS may alias with stores. */
Bool forward_may_alias(const struct pass *pass, const IRExpr *address);

/* ---- instrument_load.c ---- */

/* Whether the current instruction's loads wait for the values of stores. */
Bool load_waits_for_stores(const struct pass *pass);
/* Adds such a load from ADDRESS. MODELLED: it has called the model already. */
void load_add(struct pass *pass, const struct access_site *site, IRExpr *address,
              Bool modelled);
/* Nothing waits for the load of CALL. */
void load_drop_value(const struct load_call *call);

/* ---- instrument_stored.c ---- */

/* Records the operands of the temporary that STATEMENT writes. */
void stored_note_temporary(struct pass *pass, const IRStmt *statement);
/* Whether the value of TYPE that the current statement loads goes to a vector
 * register, and whether stored DATA comes from a vector register. */
Bool stored_is_for_vector(const struct pass *pass, IRTemp loaded, IRType type);
Bool stored_is_of_vector(const struct pass *pass, const IRExpr *data);
/* The word of the frame (model/branches/code.h) that contains ADDRESS; -1: none. */
Int stored_frame_word(const struct pass *pass, const IRExpr *address);
/* SITE's access is to ADDRESS, an expression of the old block. */
void stored_set_form(const struct pass *pass, struct access_site *site,
                     const IRExpr *address, Bool vector);
/* A store to ADDRESS of a value that depends on DATA has been added. */
void stored_add_store(struct pass *pass, const struct access_site *site, IRExpr *address,
                      struct depend data);

/* ---- instrument_access.c, again ---- */

/* The current instruction is a fence. */
void access_add_fence(struct pass *pass);
/* At the end: loads without dependent instructions need not report their arrival. */
void access_drop_unused_slots(const struct pass *pass);

/* ---- instrument_string.c ---- */

/* Whether the instruction of LENGTH bytes at IP moves chunks. */
Bool string_is_repeated(Addr ip, UInt length);
/* Before an access of such an instruction. True in the generated code if the element
 * lies in another chunk than the last element of its kind. Otherwise the element's
 * counts are undone. */
IRExpr *string_begins_chunk(struct pass *pass, enum access_kind kind, IRExpr *address,
                            UInt size_bytes);
/* As forward_note_store, of the chunk that is being stored. */
void string_note_store(struct pass *pass, const struct access_site *site,
                       IRExpr *address);
/* Before EXIT: where it ends a repetition the next one begins with a new chunk. */
void string_add_end(struct pass *pass, const IRStmt *exit);

/* ---- instrument_in_time.c ---- */

/* The function that the current instruction's access calls instead of the model, if
 * its data is to arrive in time; NULL: it is not. */
void *in_time_call(const struct pass *pass, enum access_kind kind);

/* ---- instrument_moved.c ---- */

/* The address that the model sees of SITE's access to ADDRESS, under GUARD (NULL:
 * always); ADDRESS itself where nothing is moved (address_map.h). */
IRExpr *moved_address(struct pass *pass, const struct access_site *site, IRExpr *address,
                      IRExpr *guard);
/* The function that stores call instead of the model; NULL: none. */
void *moved_store_call(void);

/* ---- instrument_cache_control.c ---- */

/* PUT, if it stands for a flush of cache lines. */
void cache_control_add_flush(struct pass *pass, const IRStmt *put);
/* The instruction of MARK, if it is a software prefetch. */
void cache_control_add_prefetch(struct pass *pass, const IRStmt *mark);

/* ---- instrument_count.c ---- */

/* The current model's cost of the arithmetic in E. */
struct arithmetic_cost count_arithmetic(const IRExpr *e);
/* Adds the instructions and loads from statement FROM of the old block to the next exit.
 * The first stretch also carries the block's check. */
void count_stretch(struct pass *pass, Int from);
/* The current instruction's result takes SLOTS. */
void count_latency(struct pass *pass, UInt slots);

#endif
