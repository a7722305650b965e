/* SPDX-License-Identifier: MIT */
/* Walks up the stack with rules out of .eh_frame (LSB, "Exception Frames"; DWARF 4,
 * section 6.4; System V ABI for AMD64, section 3.6.2 for the register numbers). */
#include "unwinder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "frame_entry.h"
#include "heap_calls.h"
#include "rule_memory.h"
#include "walk_memory.h"

enum { REGISTER_BP = 6, REGISTER_SP = 7 };

/* DW_EH_PE_... encoding of the header's table, as linkers make it. */
enum { POINTER_DATA_RELATIVE_32 = 0x3b };

/* Finds the address of PC's entry in the header's table, which is sorted; 0: none. */
static uint64_t search_table(uintptr_t pc, const uint8_t *header, const uint8_t *end)
{
        struct frame_bytes bytes = {header, end, false};
        uint8_t version = (uint8_t)frame_fixed(&bytes, 1);
        uint8_t frame_encoding = (uint8_t)frame_fixed(&bytes, 1);
        uint8_t count_encoding = (uint8_t)frame_fixed(&bytes, 1);
        uint8_t table_encoding = (uint8_t)frame_fixed(&bytes, 1);
        (void)frame_pointer(&bytes, frame_encoding);
        uint64_t count = frame_pointer(&bytes, count_encoding);
        enum { ROW_BYTES = 8 };
        if (bytes.overrun || version != 1 || table_encoding != POINTER_DATA_RELATIVE_32 ||
            count > (uint64_t)(end - bytes.at) / ROW_BYTES)
                return 0;
        int32_t row[2];
        int64_t wanted = (int64_t)(pc - (uintptr_t)header);
        uint64_t low = 0;
        uint64_t high = count;
        while (low < high) { /* the first row after PC */
                uint64_t middle = low + (high - low) / 2;
                memcpy(row, bytes.at + middle * ROW_BYTES, sizeof(row));
                if (row[0] <= wanted)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0)
                return 0;
        memcpy(row, bytes.at + (low - 1) * ROW_BYTES, sizeof(row));
        return (uintptr_t)header + (uint64_t)(int64_t)row[1];
}

/* ---- instructions ---- */

struct state {
        struct unwind_rule rule;
        bool no_caller;
};

enum { STATES_REMEMBERED = 8 };

struct machine {
        struct state state;
        struct state initial; /* after the common part */
        struct state remembered[STATES_REMEMBERED];
        unsigned depth;
        uint64_t location;
        uint64_t pc;
        bool failed;
};

static void set_cfa(struct machine *machine, uint64_t base_register, int64_t offset)
{
        struct unwind_rule *rule = &machine->state.rule;
        rule->cfa_base = base_register == REGISTER_SP   ? UNWIND_CFA_FROM_SP
                         : base_register == REGISTER_BP ? UNWIND_CFA_FROM_BP
                                                        : UNWIND_STOP;
        rule->cfa_offset = offset;
        machine->failed |= offset != rule->cfa_offset;
}

static void set_saved(struct machine *machine, uint64_t number, int64_t offset)
{
        struct unwind_rule *rule = &machine->state.rule;
        if (number == REGISTER_BP) {
                rule->bp_place = UNWIND_BP_NEAR_CFA;
                rule->bp_offset = offset;
                machine->failed |= offset != rule->bp_offset;
        } else if (number == FRAME_RETURN_REGISTER) {
                machine->failed |= offset != -8;
        }
}

/* A register is where no rule of ours reaches. */
static void set_lost(struct machine *machine, uint64_t number)
{
        if (number == REGISTER_BP)
                machine->state.rule.bp_place = UNWIND_BP_LOST;
        else if (number == FRAME_RETURN_REGISTER)
                machine->state.no_caller = true;
}

static void set_initial(struct machine *machine, uint64_t number)
{
        if (number == REGISTER_BP) {
                machine->state.rule.bp_place = machine->initial.rule.bp_place;
                machine->state.rule.bp_offset = machine->initial.rule.bp_offset;
        } else if (number == FRAME_RETURN_REGISTER) {
                machine->state.no_caller = machine->initial.no_caller;
        }
}

/* Parses the expression "bp + offset", with a dereference when MEMORY is set; false:
 * another expression. */
static bool read_bp_expression(struct frame_bytes bytes, bool memory, int64_t *offset)
{
        enum { OP_BREG6 = 0x76, OP_DEREF = 0x06 };
        if (frame_fixed(&bytes, 1) != OP_BREG6)
                return false;
        *offset = frame_sleb(&bytes);
        if (memory && frame_fixed(&bytes, 1) != OP_DEREF)
                return false;
        return !bytes.overrun && bytes.at == bytes.end;
}

static struct frame_bytes read_block(struct frame_bytes *bytes)
{
        uint64_t length = frame_uleb(bytes);
        struct frame_bytes block = *bytes;
        frame_skip(bytes, length);
        block.end = bytes->at;
        return block;
}

static void set_cfa_expression(struct machine *machine, struct frame_bytes block)
{
        int64_t offset = 0;
        bool known = read_bp_expression(block, true, &offset);
        set_cfa(machine, UINT64_MAX, offset);
        if (known)
                machine->state.rule.cfa_base = UNWIND_CFA_IN_MEMORY;
}

static void set_expression(struct machine *machine, uint64_t number,
                           struct frame_bytes block)
{
        int64_t offset = 0;
        set_lost(machine, number);
        if (number != REGISTER_BP || !read_bp_expression(block, false, &offset))
                return;
        set_saved(machine, number, offset);
        machine->state.rule.bp_place = UNWIND_BP_NEAR_BP;
}

static void remember(struct machine *machine)
{
        if (machine->depth == STATES_REMEMBERED)
                machine->failed = true;
        else
                machine->remembered[machine->depth++] = machine->state;
}

static void restore(struct machine *machine)
{
        if (machine->depth == 0)
                machine->failed = true;
        else
                machine->state = machine->remembered[--machine->depth];
}

/* An offset in units of the entry's data alignment. */
static int64_t factored(uint64_t offset, const struct frame_entry *entry)
{
        return (int64_t)(offset * (uint64_t)entry->data_align);
}

/* Instructions with a separate operand, by their numbers in DWARF. */
static void run_extended(struct machine *machine, const struct frame_entry *entry,
                         uint8_t opcode, struct frame_bytes *bytes)
{
        struct unwind_rule *rule = &machine->state.rule;
        uint64_t number;
        switch (opcode) {
        case 0x00: /* nop */
                return;
        case 0x01: /* set_loc */
                machine->location = frame_pointer(bytes, entry->pointer_encoding);
                return;
        case 0x02: /* advance_loc1, 2, 4 */
                machine->location += frame_fixed(bytes, 1) * entry->code_align;
                return;
        case 0x03:
                machine->location += frame_fixed(bytes, 2) * entry->code_align;
                return;
        case 0x04:
                machine->location += frame_fixed(bytes, 4) * entry->code_align;
                return;
        case 0x05: /* offset_extended */
                number = frame_uleb(bytes);
                set_saved(machine, number, factored(frame_uleb(bytes), entry));
                return;
        case 0x06: /* restore_extended */
                set_initial(machine, frame_uleb(bytes));
                return;
        case 0x07: /* undefined */
                set_lost(machine, frame_uleb(bytes));
                return;
        case 0x08: /* same_value */
                if (frame_uleb(bytes) == REGISTER_BP)
                        rule->bp_place = UNWIND_BP_SAME;
                return;
        case 0x09: /* register */
                set_lost(machine, frame_uleb(bytes));
                (void)frame_uleb(bytes);
                return;
        case 0x0a:
                remember(machine);
                return;
        case 0x0b:
                restore(machine);
                return;
        case 0x0c: /* def_cfa */
                number = frame_uleb(bytes);
                set_cfa(machine, number, (int64_t)frame_uleb(bytes));
                return;
        case 0x0d: /* def_cfa_register */
                set_cfa(machine, frame_uleb(bytes), rule->cfa_offset);
                return;
        case 0x0e: /* def_cfa_offset */
                rule->cfa_offset = (int64_t)frame_uleb(bytes);
                return;
        case 0x0f: /* def_cfa_expression */
                set_cfa_expression(machine, read_block(bytes));
                return;
        case 0x10: /* expression */
                number = frame_uleb(bytes);
                set_expression(machine, number, read_block(bytes));
                return;
        case 0x11: /* offset_extended_sf */
                number = frame_uleb(bytes);
                set_saved(machine, number, factored((uint64_t)frame_sleb(bytes), entry));
                return;
        case 0x12: /* def_cfa_sf */
                number = frame_uleb(bytes);
                set_cfa(machine, number, factored((uint64_t)frame_sleb(bytes), entry));
                return;
        case 0x13: /* def_cfa_offset_sf */
                rule->cfa_offset = factored((uint64_t)frame_sleb(bytes), entry);
                return;
        case 0x14: /* val_offset */
                set_lost(machine, frame_uleb(bytes));
                (void)frame_uleb(bytes);
                return;
        case 0x15: /* val_offset_sf */
                set_lost(machine, frame_uleb(bytes));
                (void)frame_sleb(bytes);
                return;
        case 0x16: /* val_expression */
                set_lost(machine, frame_uleb(bytes));
                (void)read_block(bytes);
                return;
        case 0x2e: /* GNU_args_size */
                (void)frame_uleb(bytes);
                return;
        default:
                machine->failed = true;
        }
}

/* Runs INSTRUCTIONS up to the machine's pc. */
static void run(struct machine *machine, const struct frame_entry *entry,
                struct frame_bytes instructions)
{
        struct frame_bytes *bytes = &instructions;
        while (bytes->at < bytes->end && !machine->failed) {
                uint8_t byte = (uint8_t)frame_fixed(bytes, 1);
                uint8_t operand = byte & 0x3f;
                switch (byte >> 6) {
                case 1: /* advance_loc */
                        machine->location += operand * entry->code_align;
                        break;
                case 2: /* offset */
                        set_saved(machine, operand, factored(frame_uleb(bytes), entry));
                        break;
                case 3: /* restore */
                        set_initial(machine, operand);
                        break;
                default:
                        run_extended(machine, entry, byte, bytes);
                }
                machine->failed |= bytes->overrun;
                if (machine->location > machine->pc)
                        return;
        }
}

struct unwind_rule unwind_rule_find(uintptr_t pc, const void *header, const void *start,
                                    const void *end)
{
        const struct unwind_rule stop = {.cfa_base = UNWIND_STOP};
        struct frame_entry entry;
        if ((uintptr_t)header < (uintptr_t)start || (uintptr_t)header >= (uintptr_t)end)
                return stop;
        uint64_t address = search_table(pc, header, end);
        if (address == 0 || !frame_entry_read(&entry, address, start, end) ||
            entry.of_signal || pc - entry.function >= entry.length_bytes)
                return stop;
        struct machine machine = {.location = entry.function, .pc = pc};
        run(&machine, &entry, entry.common);
        machine.initial = machine.state;
        run(&machine, &entry, entry.own);
        return machine.failed || machine.state.no_caller ? stop : machine.state.rule;
}

/* ---- cached rules ---- */

static struct rule_memory remembered;

void unwind_forget(void)
{
        rule_memory_forget(&remembered);
}

/* Not inlined: the path of cached rules needs little stack. */
__attribute__((noinline)) static struct unwind_rule rule_of_object(uintptr_t pc,
                                                                   bool *known)
{
        struct dl_find_object object;
        *known = _dl_find_object((void *)pc, &object) == 0;
        if (!*known)
                return (struct unwind_rule){.cfa_base = UNWIND_STOP};
        return unwind_rule_find(pc, object.dlfo_eh_frame, object.dlfo_map_start,
                                object.dlfo_map_end);
}

/* A rule lookup takes more stack than a small signal stack may have: a call stack ends
 * there. */
__attribute__((noinline)) static struct unwind_rule rule_not_remembered(uintptr_t pc,
                                                                        bool *known)
{
        *known = false;
        if (calls_have_little_stack())
                return (struct unwind_rule){.cfa_base = UNWIND_STOP};
        return rule_of_object(pc, known);
}

static inline __attribute__((always_inline)) struct unwind_rule rule_at(uintptr_t pc,
                                                                        bool *known)
{
        union {
                struct unwind_rule rule;
                uint64_t word;
        } found;
        _Static_assert(sizeof(found.rule) == sizeof(found.word), "a rule is one word");
        *known = true;
        if (rule_memory_find(&remembered, pc, &found.word))
                return found.rule;
        found.rule = rule_not_remembered(pc, known);
        if (*known) /* else it may be code of an object to be loaded */
                rule_memory_keep(&remembered, pc, found.word);
        return found.rule;
}

/* ---- stack walk ---- */

extern void *__libc_stack_end;

/* Estimates the end of the stack that contains SP, at no cost. The first thread's end is
 * known. Other threads' stacks end at their control block. For a stack that the program
 * made, the limit is a fixed size. */
static uintptr_t stack_end(uintptr_t sp)
{
        const uintptr_t plausible_bytes = UINT64_C(1) << 30;
        const uintptr_t own_stack_bytes = UINT64_C(1) << 20;
        uintptr_t ends[] = {(uintptr_t)__libc_stack_end,
                            (uintptr_t)__builtin_thread_pointer()};
        for (int i = 0; i < 2; i++)
                if (ends[i] > sp && ends[i] - sp < plausible_bytes)
                        return ends[i];
        return sp + own_stack_bytes;
}

/* State of a stack walk. */
struct stack {
        uintptr_t low; /* lower bound of this walk's addresses */
        uintptr_t end;
        struct walk *walk; /* records the words read; NULL: recording is off */
        bool is_known;     /* no rule was missing for now */
        bool has_left_bp;  /* the frame pointer differs from the start's */
        bool needs_bp;     /* the start's frame pointer was used */
};

static inline __attribute__((always_inline)) bool
read_word(const struct stack *stack, uintptr_t address, uintptr_t *word)
{
        if (address < stack->low || address > stack->end - sizeof(*word) ||
            address % sizeof(*word) != 0)
                return false;
        *word = *(const uintptr_t *)address;
        if (stack->walk)
                walk_note(stack->walk, address, *word);
        return true;
}

/* Moves from a frame to its caller; false: there is none. Inlined, because each
 * allocation runs it for each frame. */
static inline __attribute__((always_inline)) bool step(struct unwind_frame *frame,
                                                       struct stack *stack)
{
        /* The rule of the call, not of its return address. */
        struct unwind_rule rule = rule_at(frame->pc - 1, &stack->is_known);
        uintptr_t cfa = frame->sp + (uintptr_t)rule.cfa_offset;
        if (rule.cfa_base == UNWIND_STOP)
                return false;
        if (rule.cfa_base != UNWIND_CFA_FROM_SP || rule.bp_place == UNWIND_BP_NEAR_BP)
                stack->needs_bp |= !stack->has_left_bp;
        stack->has_left_bp |= rule.bp_place != UNWIND_BP_SAME;
        if (rule.cfa_base != UNWIND_CFA_FROM_SP)
                cfa = frame->bp + (uintptr_t)rule.cfa_offset;
        if (rule.cfa_base == UNWIND_CFA_IN_MEMORY && !read_word(stack, cfa, &cfa))
                return false;
        uintptr_t bp = 0;
        if (rule.bp_place == UNWIND_BP_SAME)
                bp = frame->bp;
        else if (rule.bp_place == UNWIND_BP_NEAR_CFA)
                (void)read_word(stack, cfa + (uintptr_t)rule.bp_offset, &bp);
        else if (rule.bp_place == UNWIND_BP_NEAR_BP)
                (void)read_word(stack, frame->bp + (uintptr_t)rule.bp_offset, &bp);
        if (cfa <= frame->sp || !read_word(stack, cfa - sizeof(uintptr_t), &frame->pc))
                return false;
        frame->sp = cfa;
        frame->bp = bp;
        stack->low = cfa;
        return frame->pc != 0;
}

static inline __attribute__((always_inline)) struct stack
stack_above(const struct unwind_frame *first)
{
        return (struct stack){.low = first->sp, .end = stack_end(first->sp)};
}

size_t unwind(const struct unwind_frame *first, uint64_t *frames, size_t limit)
{
        struct unwind_frame frame = *first;
        struct stack stack = stack_above(first);
        size_t count = 0;
        while (count < limit) {
                frames[count++] = frame.pc;
                if (!step(&frame, &stack))
                        break;
        }
        return count;
}

/* ---- numbers of stacks ---- */

static struct walk_memory walks;

/* Innermost frames that mostly differ between calls of one loop: these are unwound each
 * time. */
enum { FRAMES_APART = 2 };

static inline uint64_t hash_frame(uint64_t hash, uint64_t pc)
{
        hash = (hash ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
        return hash ^ hash >> 32;
}

/* Looks up the cached walk from FRAME on; if it is missing, recording starts here. */
static inline __attribute__((always_inline)) bool
is_remembered(const struct unwind_frame *frame, struct stack *stack, uint64_t *hash,
              size_t *depth)
{
        const struct walk_start start = {frame->pc, frame->sp, frame->bp, stack->end,
                                         rule_memory_generation(&remembered)};
        if (walk_find(&walks, &start, hash, depth))
                return true;
        stack->walk = walk_begin(&walks, &start);
        stack->has_left_bp = stack->needs_bp = false;
        return false;
}

/* One function with one loop, to save stack. */
uint64_t unwind_hash(const struct unwind_frame *first, size_t limit, size_t *depth)
{
        struct unwind_frame frame = *first;
        struct stack stack = stack_above(first);
        uint64_t inner = 0, hash = 0;
        size_t count = 0;
        bool goes_on = true;
        while (goes_on && count < limit) {
                if (count == FRAMES_APART) {
                        inner = hash;
                        hash = 0;
                        if (is_remembered(&frame, &stack, &hash, &count))
                                break;
                }
                count++;
                hash = hash_frame(hash, frame.pc);
                goes_on = step(&frame, &stack);
        }
        if (stack.walk)
                walk_end(stack.walk, hash, count, stack.needs_bp, stack.is_known);
        *depth = count;
        hash = hash_frame(inner, hash) ^ count;
        return hash ? hash : 1;
}
