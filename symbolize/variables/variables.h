/* SPDX-License-Identifier: MIT */
/* The debug information of one function: the variables in its registers and its frame
 * at an instruction, and the return types of its calls. */
#ifndef MEMLAG_SYMBOLIZE_VARIABLES_H
#define MEMLAG_SYMBOLIZE_VARIABLES_H

#include "die_type.h"
#include "range_map.h"

enum { VARIABLES_REGISTERS = 16 };

#define VARIABLES_MANY_WRITES UINT32_MAX /* too many to count */

/* The register holds a value of TYPE less OFFSET, while the instruction is between low
 * and high. */
struct register_variable {
        uint64_t low;
        uint64_t high;
        uint32_t type;
        uint32_t name;
        int64_t offset;
        uint32_t number; /* of its entry in the function: all its ranges have the same */
        /* gcc only gives the block: the variable is in REG from its assignment until
         * its last use. WRITES: the writes of REG in the block. */
        bool from_set;
        uint8_t reg;
        uint32_t writes;
        bool codeless;  /* its block has no code: that around it counts */
        bool given;     /* a parameter of the function: it is there when that begins */
        uint32_t block; /* the number of the declaring block; 0: not known */
        bool rival; /* a variable of the same block and another type has the same value */
        bool pointed;          /* it lies where the register points to */
        uint16_t level;        /* inlined functions around it; if any: */
        uint64_t inlined_low;  /* where the code of its block begins, */
        uint64_t inlined_high; /* and ends */
};

/* A variable that is nowhere, of a block with code from low up to high. */
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
        uint32_t number;  /* of its entry in the function: all its ranges have the same */
        uint16_t depth;   /* of the blocks around it */
        bool scoped;      /* between low and high is its block, not a list's word */
        bool shared;      /* its block has no code: the code between may be another's */
        bool shares;      /* another variable lies there, too, see shared_place.h */
};

struct call_result {
        uint64_t return_vaddr;
        uint32_t type;
        uint32_t name; /* of the function; 0: not known */
};

/* What a register tells of a variable. */
enum variables_by {
        VARIABLES_IN,      /* its value */
        VARIABLES_BESIDE,  /* its value less a constant */
        VARIABLES_POINTED, /* where it lies */
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
/* The variable that REG tells of at VADDR in the way BY, or NULL. */
const struct register_variable *variables_at(const struct variables *variables,
                                             enum variables_by by, uint8_t reg,
                                             uint64_t vaddr);

/* The variable in REG, else the one that it points to. */
const struct register_variable *variables_in_register(const struct variables *variables,
                                                      uint8_t reg, uint64_t vaddr);

/* Whether VADDR is in the block of VARIABLE, one of VARIABLES that is FROM_SET. */
bool variables_in_block(const struct variables *variables,
                        const struct register_variable *variable, uint64_t vaddr);

/* What the call returning to VADDR returns; NULL: not known. */
const struct call_result *variables_call(const struct variables *variables,
                                         uint64_t vaddr);

/* Whether VARIABLE (NULL: none) has a rival. */
static inline bool variable_has_rival(const struct register_variable *variable)
{
        return variable && variable->rival;
}

#endif
