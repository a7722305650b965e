/* SPDX-License-Identifier: MIT */
/* The bits that were read are followed through masks, shifts and copies in registers and
 * flags, along a few ways and a bounded number of instructions, until something uses
 * them. A word that is stored again where it came from uses the bits that were changed.
 */
#include "bit_use.h"

#include "bit_address.h"
#include "bit_begin.h"
#include "callee.h"

enum { STEPS_LIMIT = 128, WAYS_LIMIT = 8, VISITS_LIMIT = 16 };

/* The registers that a call may get its arguments in, by their DWARF numbers (System V
 * ABI, AMD64 supplement, figure 3.4). */
enum { ARGUMENTS = 0x0336 };

/* rdx, for the second half of a result. */
enum { RESULT_HIGH = 1 };

/* The state before a step. */
struct way {
        size_t step;
        struct bit_watch watch;
};

struct use {
        const struct flow_context *flow;
        const struct flow_code *code;
        const struct flow_step *load;
        uint64_t word; /* the mask of all of its bits */
        struct bit_used used;
        uint64_t perhaps; /* bits that may be used where they are not followed to */
        bool restored;    /* some are stored where they came from */
        unsigned steps_left;
        struct way ways[WAYS_LIMIT];
        size_t way_count;
        struct way visits[VISITS_LIMIT]; /* the states at the targets of jumps */
        size_t visit_count;
};

static void use_held(struct use *use, const struct bit_held *held, uint64_t mask)
{
        use->used.bits |= bit_seen(held, mask);
        use->used.whole |= bit_seen_whole(held, mask, use->word);
}

/* The word, or a part, is stored at its place again: its changed bits are used. If the
 * register holds none of the word, the change was not followed. */
static bool store(struct use *use, struct bit_watch *watch, const struct flow_step *step,
                  const struct decoded *decoded)
{
        uint8_t from = bit_register(&decoded->operands[1]);
        int64_t before; /* the load, in bytes */

        if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_MOV ||
            decoded->operands[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
            from >= REGISTER_COUNT)
                return false;
        const struct bit_held *held = &watch->registers[from];
        uint64_t mask = bit_mask(&decoded->operands[1]), changed = 0;

        if (bit_address_unclear(watch, &use->load->instruction, &step->instruction)) {
                use->perhaps |= bit_seen(held, mask);
                return true;
        }
        if (!bit_address_before(watch, &use->load->instruction, &step->instruction,
                                &before) ||
            before <= -8 || before >= 8)
                return false;
        int up = (int)before * 8 + __builtin_ctzll(mask); /* from 8 on of ah, say */

        if (!bit_stored(held, mask, up, use->word, &changed)) {
                if (before != 0)
                        return false;
                use_held(use, held, UINT64_MAX);
                use->used.bits |= bit_holds(held) ? changed : use->word;
                return true;
        }
        struct bit_held moved = *held;

        /* Beside another, or else it is a number that is kept meanwhile, such as errno.
         */
        use->restored |= before != 0 || (mask & ~use->word) != 0;
        for (int i = 0; i < BIT_PARTS; i++)
                if (moved.parts[i].up == up)
                        moved.parts[i].bits = 0;
        uint64_t doubtful = bit_shifted(held->doubtful & mask, -up);

        use->used.bits |= changed & ~doubtful;
        use->perhaps |= changed & doubtful;
        use->used.whole |= /* by a sum, as one number */
            changed == use->word &&
            (use->word & ~bit_shifted(held->carried & mask, -up)) == 0;
        use_held(use, &moved, mask);
        if (before == 0 && (mask & use->word) == use->word)
                watch->stored |= UINT32_C(1) << from;
        return true;
}

/* Uses what OPERAND's address is made of, and returns it. */
static uint64_t use_address(struct use *use, const struct bit_watch *watch,
                            const ZydisDecodedOperand *operand)
{
        const uint8_t parts[] = {instruction_register(operand->mem.base),
                                 instruction_register(operand->mem.index)};
        uint64_t bits = 0;

        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
                if (parts[i] >= REGISTER_COUNT)
                        continue;
                use_held(use, &watch->registers[parts[i]], UINT64_MAX);
                bits |= bit_all(&watch->registers[parts[i]]);
        }
        return bits;
}

/* Whether OPERAND, which holds HELD, is moved to a vector beside bits of another word.
 * Both are pieces of one value, and the code uses some bits. */
static bool is_piece(const struct decoded *decoded, const ZydisDecodedOperand *operand,
                     const struct bit_held *held)
{
        switch (decoded->instruction.mnemonic) {
        case ZYDIS_MNEMONIC_MOVD:
        case ZYDIS_MNEMONIC_VMOVD:
        case ZYDIS_MNEMONIC_MOVQ:
        case ZYDIS_MNEMONIC_VMOVQ:
        case ZYDIS_MNEMONIC_PINSRD:
        case ZYDIS_MNEMONIC_VPINSRD:
        case ZYDIS_MNEMONIC_PINSRQ:
        case ZYDIS_MNEMONIC_VPINSRQ:
                return held->carried == 0 && held->other & bit_mask(operand);
        default:
                return false;
        }
}

/* Any other instruction uses the content of the registers that it reads. */
static uint64_t read_all(struct use *use, const struct bit_watch *watch,
                         const struct decoded *decoded)
{
        uint64_t bits = 0;

        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint8_t number = bit_register(operand);

                if (number < REGISTER_COUNT &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) {
                        const struct bit_held *held = &watch->registers[number];
                        uint64_t seen = bit_seen(held, bit_mask(operand));

                        if (is_piece(decoded, operand, held)) {
                                use->perhaps |= seen;
                                continue;
                        }
                        use_held(use, held, bit_mask(operand));
                        bits |= seen;
                } else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
                           operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
                        bits |= use_address(use, watch, operand);
                }
        }
        return bits;
}

static void read_addresses(struct use *use, const struct bit_watch *watch,
                           const struct decoded *decoded)
{
        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                if (decoded->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                    decoded->operands[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
                        use_address(use, watch, &decoded->operands[i]);
}

/* What DECODED writes was made of BITS. */
static void write_made(struct bit_watch *watch, const struct decoded *decoded,
                       uint32_t written, uint64_t bits)
{
        bit_watch_write(watch, decoded, written);
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint8_t number = bit_register(operand);

                if (number < REGISTER_COUNT &&
                    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                        bit_spread(&watch->registers[number], bits, bit_mask(operand));
        }
}

/* The bits that the flags of the mask TESTED tell of. */
static uint64_t told_by_flags(const struct bit_watch *watch,
                              ZydisAccessedFlagsMask tested)
{
        switch (tested) {
        case 0:
                return 0;
        case ZYDIS_CPUFLAG_SF:
                return watch->sign;
        case ZYDIS_CPUFLAG_CF:
        case ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF:
                return watch->below;
        case ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF:
        case ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF | ZYDIS_CPUFLAG_ZF:
                return watch->above;
        default:
                return watch->flags;
        }
}

static void read_flags(struct use *use, const struct bit_watch *watch,
                       const struct decoded *decoded)
{
        const ZydisAccessedFlags *flags = decoded->instruction.cpu_flags;
        uint64_t bits = told_by_flags(watch, flags ? flags->tested : 0);

        use->used.bits |= bits;
        use->used.whole |= watch->whole && bits == use->word;
}

/* The registers that OPERAND reads, as a mask. */
static uint32_t registers_read(const ZydisDecodedOperand *operand)
{
        uint8_t number = bit_register(operand), base = REGISTER_NONE,
                index = REGISTER_NONE;

        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
                base = instruction_register(operand->mem.base);
                index = instruction_register(operand->mem.index);
        }
        return (number < REGISTER_COUNT &&
                        operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ
                    ? UINT32_C(1) << number
                    : 0) |
               (base < REGISTER_COUNT ? UINT32_C(1) << base : 0) |
               (index < REGISTER_COUNT ? UINT32_C(1) << index : 0);
}

/* Which registers are read, and written as a whole or in part. */
static void note_registers(struct bit_watch *watch, const struct decoded *decoded,
                           uint32_t written)
{
        const ZydisAccessedFlags *flags = decoded->instruction.cpu_flags;

        for (size_t i = 0; i < decoded->instruction.operand_count; i++)
                watch->fresh &= ~registers_read(&decoded->operands[i]);
        watch->fresh |= written;
        watch->stored &= ~written;
        if (flags && flags->tested)
                watch->fresh &= ~watch->tested;
        if (decoded_sets_flags(decoded))
                watch->tested = written;
        for (size_t i = 0; i < decoded->instruction.operand_count; i++) {
                const ZydisDecodedOperand *operand = &decoded->operands[i];
                uint8_t number = bit_register(operand);

                if (number >= REGISTER_COUNT ||
                    !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
                        continue;
                watch->partly &= ~(UINT32_C(1) << number);
                watch->partly |= (uint32_t)(operand->size < 32) << number;
        }
}

/* Takes note of what STEP loads of the word once more. */
static void load_again(struct use *use, struct bit_watch *watch,
                       const struct flow_step *step, const struct decoded *decoded)
{
        uint8_t to = bit_register(&decoded->operands[0]);
        int64_t before; /* the load, in bytes */

        if ((decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOV ||
             decoded->instruction.mnemonic == ZYDIS_MNEMONIC_MOVZX) &&
            decoded->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            to < REGISTER_COUNT &&
            bit_address_before(watch, &use->load->instruction, &step->instruction,
                               &before) &&
            before > -8 && before < 8)
                watch->registers[to].doubtful = bit_low(decoded->operands[1].size);
}

static void pass(struct use *use, struct bit_watch *watch, const struct flow_step *step)
{
        struct decoded decoded;

        if (!decoded_read(&decoded, use->code, step)) {
                use->used.bits = use->word;
                return;
        }
        const ZydisDecodedOperand *first = &decoded.operands[0];
        uint8_t number = bit_register(first);
        const struct bit_watch before = *watch;

        read_flags(use, watch, &decoded);
        read_addresses(use, watch, &decoded);
        if (decoded_sets_flags(&decoded))
                bit_watch_flags(watch, 0, 0);
        bool followed =
            (number < REGISTER_COUNT &&
             bit_watch_test(watch, decoded.instruction.mnemonic, first,
                            &decoded.operands[1], &watch->registers[number])) ||
            store(use, watch, step, &decoded) || bit_watch_follow(watch, &decoded);

        if (!followed)
                write_made(watch, &decoded, step->instruction.written,
                           read_all(use, &before, &decoded));
        load_again(use, watch, step, &decoded);
        note_registers(watch, &decoded, step->instruction.written);
        bit_address_change(watch, &use->load->instruction, step->instruction.written,
                           &decoded);
}

/* ---- the ways on ---- */

static uint64_t in_registers(const struct bit_watch *watch)
{
        uint64_t bits = 0;

        for (int i = 0; i < REGISTER_COUNT; i++)
                bits |= bit_all(&watch->registers[i]);
        return bits;
}

static uint64_t watched(const struct bit_watch *watch)
{
        return in_registers(watch) | watch->flags | watch->below | watch->above |
               watch->sign;
}

static void fork_way(struct use *use, const struct bit_watch *watch, uint64_t target)
{
        size_t step = flow_code_at(use->code, target);

        if (step == SIZE_MAX || use->way_count == WAYS_LIMIT) {
                use->perhaps |= in_registers(watch);
                return;
        }
        use->ways[use->way_count].step = step;
        use->ways[use->way_count++].watch = *watch;
}

/* What goes to another function in the register NUMBER, or is only left over there: where
 * something has read it already, or perhaps, where that is the word as it was, or as it
 * was stored again and a structure may be handed on. */
static void hand_on(struct use *use, const struct bit_watch *watch, int number,
                    bool takes_structure)
{
        const struct bit_held *held = &watch->registers[number];

        if (watch->fresh >> number & 1)
                use_held(use, held, UINT64_MAX);
        else if ((takes_structure && watch->stored >> number & 1) ||
                 (held->parts[0].bits == use->word && !(held->other & use->word)))
                use->perhaps |= use->word;
}

/* To the function at TARGET; 0: not known. */
static void hand_on_arguments(struct use *use, const struct bit_watch *watch,
                              uint64_t target)
{
        const struct flow_input *input = use->flow->input;
        bool takes_structure =
            watch->stored & ARGUMENTS &&
            (target == 0 || input->takes_structure(input->global_context, target));

        for (int i = 0; i < REGISTER_COUNT; i++)
                if (ARGUMENTS >> i & 1)
                        hand_on(use, watch, i, takes_structure);
}

/* A call. Its target may depend on the word. */
static void call(struct use *use, struct bit_watch *watch, const struct flow_step *step)
{
        struct decoded decoded;

        if (!decoded_read(&decoded, use->code, step)) {
                use->used.bits = use->word;
                return;
        }
        read_all(use, watch, &decoded);
        read_addresses(use, watch, &decoded);
        hand_on_arguments(use, watch, step->instruction.target);
        bit_watch_forget(watch, CALL_CLOBBERED);
        bit_watch_flags(watch, 0, 0);
        bit_address_change(watch, &use->load->instruction, CALL_CLOBBERED, &decoded);
}

/* A returned byte, as a truth value, may have unused bits above it. */
static void give_back(struct use *use, const struct bit_watch *watch)
{
        const struct bit_held *held = &watch->registers[REGISTER_RAX];

        if (!(watch->partly >> REGISTER_RAX & 1) || bit_seen(held, 0xff) != 0)
                use_held(use, held, UINT64_MAX);
        if (watch->fresh >> RESULT_HIGH & 1)
                use_held(use, &watch->registers[RESULT_HIGH], UINT64_MAX);
}

/* Goes to another function, or to a part of this one that is not known. */
static void leave(struct use *use, const struct bit_watch *watch)
{
        hand_on_arguments(use, watch, 0);
        use->perhaps |= in_registers(watch);
}

/* Whether a jump has led to the step AT with the same held before; else it has now. */
static bool visited(struct use *use, const struct bit_watch *watch, size_t at)
{
        for (size_t i = 0; i < use->visit_count; i++)
                if (use->visits[i].step == at &&
                    bit_watch_same(&use->visits[i].watch, watch))
                        return true;
        if (use->visit_count < VISITS_LIMIT)
                use->visits[use->visit_count++] =
                    (struct way){.step = at, .watch = *watch};
        return false;
}

static void follow(struct use *use, struct bit_watch *watch, size_t at)
{
        if (visited(use, watch, at))
                return;
        while (!use->used.whole && watched(watch) != 0) {
                if (at >= use->code->step_count || use->steps_left == 0)
                        break;
                const struct flow_step *step = &use->code->steps[at];

                /* Other registers may still hold the earlier value. */
                if (step == use->load)
                        return;
                use->steps_left--;
                switch (step->instruction.operation) {
                case OPERATION_END:
                        if (use->flow->returns)
                                give_back(use, watch);
                        return;
                case OPERATION_JUMP:
                        at = flow_code_at(use->code, step->instruction.target);
                        if (at == SIZE_MAX)
                                leave(use, watch);
                        if (at == SIZE_MAX || visited(use, watch, at))
                                return;
                        continue;
                case OPERATION_CALL:
                        call(use, watch, step);
                        break;
                case OPERATION_BRANCH:
                        pass(use, watch, step);
                        fork_way(use, watch, step->instruction.target);
                        break;
                case OPERATION_JUMP_INDIRECT:
                        pass(use, watch, step);
                        leave(use, watch);
                        return;
                case OPERATION_NOTHING: /* though it may have operands */
                        break;
                default:
                        pass(use, watch, step);
                        break;
                }
                if (++at < use->code->step_count && !flow_code_follows(use->code, at))
                        break;
        }
        use->perhaps |= watched(watch);
}

void bit_use(const struct flow_context *flow, size_t step, const struct flow_state *state,
             struct type_access *access)
{
        const struct flow_code *code = flow->code;
        struct use use = {.flow = flow,
                          .code = code,
                          .load = &code->steps[step],
                          .steps_left = STEPS_LIMIT};
        struct bit_watch watch;
        struct decoded decoded;

        if (!bit_begin(code, step, state, &watch, &use.used) ||
            !decoded_read(&decoded, code, use.load))
                return;
        use.word = watch.word;
        note_registers(&watch, &decoded, use.load->instruction.written);
        if (step + 1 < code->step_count && flow_code_follows(code, step + 1))
                follow(&use, &watch, step + 1);
        else
                use.perhaps |= watched(&watch);
        while (use.way_count > 0) {
                struct bit_watch other = use.ways[--use.way_count].watch;

                follow(&use, &other, use.ways[use.way_count].step);
        }
        access->unused = use.used.bits == 0;
        access->restored = use.restored && (use.used.bits | use.perhaps) == 0;
        if (!access->unused && !use.used.whole)
                access->bits = use.used.bits | use.perhaps;
}
