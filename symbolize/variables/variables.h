/* SPDX-License-Identifier: MIT */
/* The debug information of one function: the variables in its registers and its frame
 * at an instruction, and the return types of its calls. */
#ifndef MEMLAG_SYMBOLIZE_VARIABLES_H
#define MEMLAG_SYMBOLIZE_VARIABLES_H

#include "die_type.h"
#include "range_map.h"

enum { VARIABLES_REGISTERS = 16 };

#define VARIABLES_MANY_WRITES UINT32_MAX /* too many to count */

/* The register holds a value of TYPE minus OFFSET, for instructions from low up to
 * high. */
struct register_variable {
        uint64_t low;
        uint64_t high;
        uint32_t type;
        uint32_t name;
        int64_t offset;
        uint32_t
            number; /* of its entry in the function; all ranges of a variable share it */
        /* gcc gives only the block. The variable is in REG from its assignment until its
         * last use. WRITES: the writes of REG in the block. */
        bool from_set;
        uint8_t reg;
        uint32_t writes;
        bool codeless;  /* its block has no code: the enclosing block's counts */
        bool given;     /* a parameter: it exists when the function begins */
        uint32_t block; /* the number of the declaring block; 0: not known */
        bool rival;     /* an aliasing variable of the same block has another type */
        bool pointed;   /* it lies at the address in the register */
        uint16_t level; /* inlined functions around it; if any: */
        uint64_t inlined_low;  /* start of its block's code, */
        uint64_t inlined_high; /* and end */
};

/* A variable without a location, of a block with code from low up to high. */
struct unplaced_variable {
        uint64_t low;
        uint64_t high;
        Dwarf_Die die;
};

/* In memory, while the instruction is between low and high. */
struct frame_variable {
        uint64_t low;
        uint64_t high;
        bool in_frame; /* OFFSET is from the CFA; else from the value of REG */
        uint8_t reg;
        int64_t offset;
        uint32_t type;
        uint32_t name;
        uint32_t inlined; /* the name of its inlined function; 0: none */
        uint32_t
            number; /* of its entry in the function; all ranges of a variable share it */
        uint16_t depth; /* of the blocks around it */
        bool scoped;    /* low and high are its block's, not from a location list */
        bool shared; /* its block has no code: other blocks may have the code between */
        bool shares; /* another variable overlaps it, see shared_place.h */
};

struct call_result {
        uint64_t return_vaddr;
        uint32_t type;
        uint32_t name; /* of the function; 0: not known */
};

/* The meaning of a register for a variable. */
enum variables_by {
        VARIABLES_IN,      /* its value */
        VARIABLES_BESIDE,  /* its value minus a constant */
        VARIABLES_POINTED, /* its address */
        VARIABLES_SET,     /* its value, but only after its assignment */
        VARIABLES_KINDS
};

struct variables {
        /* The values of the maps are indexes in VALUES. */
        struct range_map maps[VARIABLES_KINDS][VARIABLES_REGISTERS];
        struct register_variable *values;
        size_t value_count;
        size_t value_capacity;
        LIST(struct frame_variable) frames;
        LIST(struct unplaced_variable) unplaced; /* gcc's */
        LIST(struct call_result) calls;          /* by address */
};

/* Adds the variables and calls of FUNCTION to VARIABLES, whose maps are not built. 0
 * or -ENOMEM. */
int variable_entries_read(struct variables *variables, struct type_reader *reader,
                          Dwarf_Die *function);
/* Reads the variables of FUNCTION (a subprogram with code), and builds the maps. 0 or
 * -ENOMEM; freed in any case. */
int variables_read(struct variables *variables, struct type_reader *reader,
                   Dwarf_Die *function);
void variables_free(struct variables *variables);

/* Whether A and B, at one address, have the same name and type: a function that is
 * inlined twice has its variables twice. */
bool variables_called_same(const struct frame_variable *a,
                           const struct frame_variable *b);
/* The variable that REG gives at VADDR by the relation BY, or NULL. */
const struct register_variable *variables_at(const struct variables *variables,
                                             enum variables_by by, uint8_t reg,
                                             uint64_t vaddr);

/* The variable in REG, else the one at the address in REG. */
const struct register_variable *variables_in_register(const struct variables *variables,
                                                      uint8_t reg, uint64_t vaddr);

/* Whether VADDR is in the block of VARIABLE, one of VARIABLES that is FROM_SET. */
bool variables_in_block(const struct variables *variables,
                        const struct register_variable *variable, uint64_t vaddr);

/* The result of the call that returns to VADDR; NULL: not known. */
const struct call_result *variables_call(const struct variables *variables,
                                         uint64_t vaddr);

/* Whether VARIABLE (NULL: none) has an aliasing variable of another type. */
static inline bool variable_has_rival(const struct register_variable *variable)
{
        return variable && variable->rival;
}

#endif
