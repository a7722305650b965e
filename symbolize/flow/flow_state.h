/* SPDX-License-Identifier: MIT */
/* The abstract state before an instruction: targets of registers and spilled pointers. */
#ifndef MEMLAG_SYMBOLIZE_FLOW_STATE_H
#define MEMLAG_SYMBOLIZE_FLOW_STATE_H

#include "flow.h"
#include "flow_code.h"
#include "frame_slots.h"

/* A register is FACTOR times OF's present value; 0: not known. */
struct flow_multiple {
        int32_t factor;
        uint8_t of;
};

enum { FLOW_WRITES = 3 };

/* The instructions that may have written a register last, in order of address; 0: its
 * value from the function's entry. */
struct flow_writes {
        uint64_t vaddrs[FLOW_WRITES];
        uint8_t count; /* more than FLOW_WRITES: unknown */
};

struct flow_state {
        struct place_value registers[REGISTER_COUNT];
        struct flow_writes writes[REGISTER_COUNT];
        struct flow_multiple multiples[REGISTER_COUNT];
        struct frame_slots frame;
        bool reached;
};

/* The state before an instruction about which nothing is known. */
void flow_state_begin(struct flow_state *state);
/* Joins the state of another path; returns whether INTO changed. */
bool flow_state_merge(const struct flow_context *flow, struct flow_state *into,
                      const struct flow_state *from);

/* Notes that the instruction at VADDR has written REG, or changed its value. */
void flow_state_written(struct flow_state *state, uint8_t reg, uint64_t vaddr,
                        bool modified);

/* The target of DWARF's variable in REG. A variable that is in REG only after its
 * assignment counts if STATE shows the assignment. */
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
/* Stores VALUE (NULL: unknown) in BYTES at PLACE. */
void flow_state_store(const struct flow_context *flow, struct flow_state *state,
                      const struct place_value *place, const struct place_value *value,
                      uint64_t bytes);
/* Forgets values that other code may overwrite: numbers, and exposed pointers. */
void flow_state_forget_written(const struct flow_context *flow, struct flow_state *state);
/* Notes that the address PLACE, if in the frame, is not only in the stack pointer. */
void flow_state_expose(const struct flow_context *flow, struct flow_state *state,
                       const struct place_value *place, uint64_t vaddr);
/* A call at VADDR passes the address PLACE in the frame: it may write there. */
void flow_state_hand_over(const struct flow_context *flow, struct flow_state *state,
                          const struct place_value *place, uint64_t vaddr);
/* Whether PLACE is in VARIABLE, regardless of the code; *OFFSET from its start. */
bool flow_state_in(const struct flow_context *flow, const struct flow_state *state,
                   const struct place_value *place, const struct frame_variable *variable,
                   int64_t *offset);
/* The variable of the frame that contains PLACE, OFFSET bytes from its start; NULL: none,
 * or several. */
const struct frame_variable *flow_state_variable(const struct flow_context *flow,
                                                 const struct flow_state *state,
                                                 const struct place_value *place,
                                                 uint64_t vaddr, int64_t *offset);

#endif
