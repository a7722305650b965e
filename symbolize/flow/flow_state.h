/* SPDX-License-Identifier: MIT */
/* The state before an instruction: the targets of registers and of spilled pointers. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_STATE_H
#define MEMLAG_SYMBOLIZE_FLOW_STATE_H

#include "flow.h"
#include "flow_code.h"
#include "frame_slots.h"

/* A register is FACTOR times the present value of OF; 0: not known. */
struct flow_multiple {
        int32_t factor;
        uint8_t of;
};

enum { FLOW_WRITES = 3 };

/* The instructions that may have written a register last, in order of address; 0: none
 * has since the function began. */
struct flow_writes {
        uint64_t vaddrs[FLOW_WRITES];
        uint8_t count; /* more than FLOW_WRITES: too many to tell */
};

struct flow_state {
        struct place_value registers[REGISTER_COUNT];
        struct flow_writes writes[REGISTER_COUNT];
        struct flow_multiple multiples[REGISTER_COUNT];
        struct frame_slots frame;
        bool reached;
};

/* Of an instruction before which nothing is known. */
void flow_state_begin(struct flow_state *state);
/* Joins the state of another way; returns whether INTO changed. */
bool flow_state_merge(const struct flow_context *flow, struct flow_state *into,
                      const struct flow_state *from);

/* Notes that the instruction at VADDR has written REG, or changed its value. */
void flow_state_written(struct flow_state *state, uint8_t reg, uint64_t vaddr,
                        bool modified);

/* The target of DWARF's variable in REG; also of one that is there only after it is set,
 * as STATE tells. */
struct place_value flow_state_called(const struct flow_context *flow,
                                     const struct flow_state *state, uint8_t reg,
                                     uint64_t vaddr);
/* REG's target, by DWARF or data flow. */
struct place_value flow_state_held(const struct flow_context *flow,
                                   struct flow_state *state, uint8_t reg, uint64_t vaddr);
/* The target of a pointer in memory at PLACE. */
struct place_value flow_state_load(const struct flow_context *flow,
                                   struct flow_state *state,
                                   const struct place_value *place, uint64_t vaddr);
/* BYTES at PLACE are now VALUE; NULL: something else. */
void flow_state_store(const struct flow_context *flow, struct flow_state *state,
                      const struct place_value *place, const struct place_value *value,
                      uint64_t bytes);
/* Forgets all that others may write: numbers, and pointers in exposed slots. */
void flow_state_forget_written(const struct flow_context *flow, struct flow_state *state);
/* The address PLACE, if it is in the frame, is held by more than the stack pointer. */
void flow_state_expose(const struct flow_context *flow, struct flow_state *state,
                       const struct place_value *place, uint64_t vaddr);
/* A function at VADDR is called that gets the address PLACE, of something in the frame,
 * and may write there. */
void flow_state_hand_over(const struct flow_context *flow, struct flow_state *state,
                          const struct place_value *place, uint64_t vaddr);
/* Whether PLACE is in VARIABLE's bytes, wherever the code is; *OFFSET from its start. */
bool flow_state_in(const struct flow_context *flow, const struct flow_state *state,
                   const struct place_value *place, const struct frame_variable *variable,
                   int64_t *offset);
/* The variable of the frame that PLACE is in, OFFSET bytes from its start; NULL: none,
 * or not known which. */
const struct frame_variable *flow_state_variable(const struct flow_context *flow,
                                                 const struct flow_state *state,
                                                 const struct place_value *place,
                                                 uint64_t vaddr, int64_t *offset);

#endif
