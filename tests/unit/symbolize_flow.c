/* SPDX-License-Identifier: MIT */
/* Data flow covers whole functions or nothing. */
#include "dwarf_test.h"

#include "accesses.h"
#include "flow_walk.h"
#include "shared_place.h"

/* Functions of known size: instructions of one byte that do nothing. */
#define DO_NOTHING(times) __asm__ volatile(".fill " times ", 1, 0x90")

static __attribute__((noinline)) void small(void)
{
        DO_NOTHING("1000");
}

static __attribute__((noinline)) void of_many_instructions(void)
{
        DO_NOTHING("400000");
}

static __attribute__((noinline)) void of_many_bytes(void)
{
        DO_NOTHING("1100000");
}

/* Jumps over a byte that is no instruction in 64-bit mode. */
static __attribute__((noinline)) void with_a_hole(void)
{
        __asm__ volatile("jmp 1f\n\t.byte 0x06\n1:");
}

/* ---- functions that use the number that they load first ---- */

/* The operand kind of the number, and whether the operation also suits floating point. */
/* clang-format off */
#define USES(X)                                                                          \
        X(moves_on, ANY, UNASKED, "mov (%rdi), %rax\n mov %rax, (%rsi)\n ret")           \
        X(moves_with_vector, ANY, UNASKED,                                               \
          "movq (%rdi), %xmm0\n movq %xmm0, (%rsi)\n ret")                               \
        X(adds_bits_and_real, FLOAT, UNASKED,                                            \
          "movsd (%rdi), %xmm0\n movq %xmm0, %rax\nadd %rax, (%rsi)\n"                   \
          "addsd %xmm0, %xmm0\nmovsd %xmm0, (%rdx)\n ret")                               \
        X(adds_reals, FLOAT, NEITHER, "movsd (%rdi), %xmm1\n addsd %xmm1, %xmm0\n ret")  \
        X(adds_half, FLOATS, UNASKED, "movq (%rdi), %xmm1\n addss %xmm1, %xmm0\n ret")   \
        X(widens, FLOAT, UNASKED,                                                        \
          "movss (%rdi), %xmm1\n vcvtss2sd %xmm1, %xmm1, %xmm1\n ret")                   \
        X(adds_four, FLOATS, UNASKED,                                                    \
          "movups (%rdi), %xmm1\n movaps %xmm1, %xmm2\n addps %xmm2, %xmm0\n ret")       \
        X(adds_two_wide, ANY, UNASKED, "paddq (%rdi), %xmm0\n ret")                      \
        X(copies_four, ANY, UNASKED,                                                     \
          "movups (%rdi), %xmm1\n movups %xmm1, (%rsi)\n addps %xmm2, %xmm0\n ret")      \
        X(adds_absolute, FLOAT, UNASKED,                                                 \
          "movsd (%rdi), %xmm1\n andpd %xmm2, %xmm1\n addsd %xmm1, %xmm0\n ret")         \
        X(adds_from_register, ANY, UNASKED,                                              \
          "mov (%rdi), %rax\n movq %rax, %xmm1\n addsd %xmm1, %xmm0\n ret")              \
        X(adds_from_stack, ANY, UNASKED,                                                 \
          "mov (%rdi), %rax\n mov %rax, -8(%rsp)\n addsd -8(%rsp), %xmm0\n ret")         \
        X(adds_spilled, ANY, UNASKED,                                                    \
          "movsd (%rdi), %xmm1\n movsd %xmm1, -8(%rsp)\naddsd -8(%rsp), %xmm0\n ret")    \
        X(is_normal, ANY, UNASKED,                                                       \
          "mov (%rdi), %rax\n lea -1(%rax), %rcx\n cmp %rcx, %rdx\n jb 1f\n"             \
          "movq %rax, %xmm1\n addsd %xmm1, %xmm0\n1: ret")                               \
        X(adds_integers, ANY, UNASKED,                                                   \
          "mov (%rdi), %rax\n mov %rax, (%rsi)\n add %rdx, %rax\n ret")                  \
        X(converts, INTEGER, FLOAT, "cvtsi2sdl (%rdi), %xmm0\n ret")                     \
        X(extends, INTEGER, FLOAT, "movslq (%rdi), %rax\n ret")                          \
        X(reads_behind, INTEGER, NEITHER, "mov (%rdi), %rax\n mov (%rax), %eax\n ret")   \
        X(behind_a_branch, ANY, UNASKED,                                                 \
          "mov (%rdi), %rax\n test %edx, %edx\n jne 1f\n xor %eax, %eax\nret\n"          \
          "1: lea 3(%rax), %rax\n ret")                                                  \
        X(looks_up_a_digit, ANY, UNASKED,                                                \
          "movzbl (%rdi), %eax\n movzbl (%rsi,%rax), %eax\n ret")                        \
        X(looks_up, ANY, UNASKED,                                                        \
          "movl (%rdi), %eax\n movzbl (%rsi,%rax), %eax\n ret")                          \
        X(looks_up_eight, ANY, UNASKED,                                                  \
          "vmovdqu (%rdi), %ymm5\n vpcmpeqd %ymm1, %ymm1, %ymm1\n"                       \
          "vgatherdps %ymm1, (%rsi,%ymm5,4), %ymm2\n ret")

/* ---- loops ---- */

/* The offset of the access, the address of the next iteration's access, and the number of
 * instructions in the loop. */
#define LOOPS(X)                                                                         \
        X(jumps_by_table, 0, UNKNOWN, 0, 0, "mov (%rdi), %rax\n jmp *(%rsi,%rax,8)")     \
        X(wraps, 14, COMPUTED, 0, 6,                                                     \
          "1: imul $0x7e3779b1, %rcx, %rax\n imul $0x7e3779b1, %rax, %rax\n"             \
          "mov (%rdi,%rax,8), %rdx\n inc %rcx\n cmp %r8, %rcx\n jb 1b\n ret")            \
        X(strides, 0, STRIDE, 24, 4,                                                     \
          "1: mov (%rdi), %rax\n add $24, %rdi\n cmp %rsi, %rdi\n jb 1b\n ret")          \
        X(strides_back, 0, STRIDE, -16, 3,                                               \
          "1: mov (%rdi,%rcx,8), %rax\n sub $2, %rcx\n jne 1b\n ret")                    \
        X(strides_in_frame, 5, STRIDE, 4, 5,                                             \
          "1: mov -8(%rsp), %rax\n mov (%rax), %edx\naddq $4, -8(%rsp)\n"                \
          "cmp %rsi, %rax\n jb 1b\n ret")                                                \
        X(strides_twice, 0, STRIDE, 16, 6,                                               \
          "1: mov (%rdi), %rax\n add $8, %rdi\n mov %rdi, %rdx\nlea 8(%rdx), %rdi\n"     \
          "cmp %rsi, %rdi\n jb 1b\n ret")                                                \
        X(strides_around, 0, STRIDE, 8, 7,                                               \
          "1: mov (%rdi), %rax\n mov $4, %ecx\n2: dec %rcx\n jne 2b\nadd $8, %rdi\n"     \
          "cmp %rsi, %rdi\n jb 1b\n ret")                                                \
        X(strides_inside, 3, STRIDE, 8, 4,                                               \
          "1: mov (%rsi), %rdi\n2: mov (%rdi), %rax\n add $8, %rdi\ndec %rcx\n"          \
          "jne 2b\n add $8, %rsi\n cmp %rdx, %rsi\n jb 1b\n ret")                        \
        X(repeats, 0, FIXED, 0, 3, "1: mov (%rdi), %rax\n dec %rcx\n jne 1b\n ret")      \
        X(multiplies, 0, COMPUTED, 0, 4,                                                 \
          "1: mov (%rdi,%rcx), %rax\n imul $5, %rcx, %rcx\n dec %rdx\n jne 1b\nret")     \
        X(gathers, 0, STRIDE, 4, 5,                                                      \
          "1: movl (%rsi,%rcx,4), %eax\n mov (%rdi,%rax,8), %rdx\n inc %rcx\n"           \
          "cmp %r8, %rcx\n jb 1b\n ret")                                                 \
        X(chases, 0, CHAIN, 0, 3,                                                        \
          "1: mov (%rdi), %rdi\n test %rdi, %rdi\n jne 1b\n ret")                        \
        X(chases_beside, 0, CHAIN, 0, 5,                                                 \
          "1: mov 8(%rdi), %rax\n mov (%rdi), %rdi\n add %rax, %rdx\n"                   \
          "test %rdi, %rdi\n jne 1b\n ret")                                              \
        X(chases_in_memory, 3, CHAIN, 0, 5,                                              \
          "1: mov (%rsi), %rax\n mov (%rax), %rdx\n mov %rdx, (%rsi)\n"                  \
          "test %rdx, %rdx\n jne 1b\n ret")                                              \
        X(halves, 0, CHAIN, 0, 6,                                                        \
          "1: cmp (%rdi,%rax,8), %rsi\n cmovb %rax, %rdx\n lea (%rdx,%rcx), %rax\n"      \
          "shr %rax\n cmp %rcx, %rax\n jne 1b\n ret")                                    \
        X(skips, 0, BRANCHES, 0, 5,                                                      \
          "1: mov (%rdi), %rax\n test $1, %cl\n je 2f\n add $8, %rdi\n2: dec %rcx\n"     \
          "jne 1b\n ret")                                                                \
        X(asks, 0, CALL, 0, 0,                                                           \
          "1: mov (%rax), %rdx\n call *%rbx\n dec %rbp\n jne 1b\n ret")                  \
        X(adds_to_sum, 0, STRIDE, 8, 4,                                                  \
          "1: add (%rdi), %rax\n add $8, %rdi\n cmp %rax, %rsi\n jb 1b\n ret")
/* clang-format on */

#define CODE(name, code)                                                                 \
        __attribute__((naked, used)) static long name(void)                              \
        {                                                                                \
                __asm__(code);                                                           \
        }
#define CODE_OF_USE(name, number, alike, code)                   CODE(name, code)
#define CODE_OF_LOOP(name, at, kind, stride, instructions, code) CODE(name, code)
USES(CODE_OF_USE)
LOOPS(CODE_OF_LOOP)

/* ---- a function that follows one of two pointers, again and again ---- */

enum { HOPS = 200, HOP_BYTES = 14 };

static struct hop {
        struct hop *to[2];
} first_hop = {{&first_hop, &first_hop}};

extern struct hop *hop_root;
struct hop *hop_root = &first_hop;

__attribute__((noinline, used)) static uint64_t hops_on(uint64_t side)
{
        struct hop *at = hop_root, *second;

        __asm__ volatile(".rept 200\n lea 8(%0), %1\n test %2, %2\n cmovne %1, %0\n"
                         "mov (%0), %0\n .endr"
                         : "+&r"(at), "=&r"(second)
                         : "r"(side));
        return (uint64_t)(uintptr_t)at;
}

/* ---- a function of one block with many reads ---- */

enum { READS_LIMIT = 4000, READ_BYTES = 3 };

extern const char reads_often_reads[];
__attribute__((noinline, used)) static uint64_t reads_often(const uint64_t *from)
{
        uint64_t word;

        __asm__ volatile("reads_often_reads: .rept 4000\n mov (%1), %0\n .endr"
                         : "=a"(word)
                         : "D"(from));
        return word;
}

static uint64_t steps_run;

void __real_flow_effect(const struct flow_context *flow, struct flow_state *state,
                        const struct flow_step *step);
void __wrap_flow_effect(const struct flow_context *flow, struct flow_state *state,
                        const struct flow_step *step);

void __wrap_flow_effect(const struct flow_context *flow, struct flow_state *state,
                        const struct flow_step *step)
{
        steps_run++;
        __real_flow_effect(flow, state, step);
}

static uint64_t blocks_run;

struct flow_state __real_flow_walk_before(const struct flow_walk *walk, size_t step);
struct flow_state __wrap_flow_walk_before(const struct flow_walk *walk, size_t step);

struct flow_state __wrap_flow_walk_before(const struct flow_walk *walk, size_t step)
{
        blocks_run++;
        return __real_flow_walk_before(walk, step);
}

/* The first instruction of the function NAME of this program. */
static struct code_place beginning_of(struct dwarf_file *dwarf, const char *name)
{
        struct code_place place = {0};

        for (size_t i = 0; i < dwarf->unit_count; i++) {
                Dwarf_Die unit;

                assert_non_null(
                    dwarf_offdie(dwarf->dwarf, dwarf->units[i].die_offset, &unit));
                if (dwarf_child(&unit, &place.function_die) != 0)
                        continue;
                do {
                        const char *found = dwarf_diename(&place.function_die);

                        if (dwarf_tag(&place.function_die) == DW_TAG_subprogram &&
                            found && strcmp(found, name) == 0 &&
                            dwarf_lowpc(&place.function_die, &place.vaddr) == 0)
                                return place;
                } while (dwarf_siblingof(&place.function_die, &place.function_die) == 0);
        }
        fail_msg("the program has no function %s", name);
        return place;
}

/* Has FILE, which is open, end after the first of the bytes at VADDR. */
static void cut(struct elf_file *file, uint64_t vaddr)
{
        for (size_t i = 0; i < file->segment_count; i++)
                if (&file->segments[i] == elf_file_segment(file, vaddr))
                        file->segments[i].file_bytes =
                            vaddr + 1 - file->segments[i].vaddr;
}

/* This program, as the code under test reads it. */
struct program {
        struct string_pool *names;
        struct types types;
        struct type_reader reader;
        struct dwarf_file dwarf;
        struct elf_file file;
};

static void open_program(struct program *program)
{
        *program = (struct program){.names = string_pool_new()};
        assert_non_null(program->names);
        open_own_dwarf(&program->file, &program->dwarf);
        type_reader_open(&program->reader, &program->dwarf, &program->types,
                         program->names);
}

static void close_program(struct program *program)
{
        type_reader_close(&program->reader);
        types_free(&program->types);
        string_pool_free(program->names);
        dwarf_file_close(&program->dwarf);
        elf_file_close(&program->file);
}

static void find_accesses(struct program *program, struct access **list, size_t count)
{
        const struct symbol_table symbols = {0};
        const struct code_frames frames = {0};

        assert_ok(access_find(&program->reader, &program->file, &symbols, &frames, list,
                              count));
}

/* Asks about COUNT places from PLACE on, BYTES apart. */
static struct access *find_all(struct program *program, struct code_place place,
                               size_t count, size_t bytes)
{
        static struct code_place places[4000];
        static struct access accesses[LENGTH(places)], *list[LENGTH(places)];

        assert_true(count <= LENGTH(places));
        for (size_t i = 0; i < count; i++, place.vaddr += bytes) {
                places[i] = place;
                accesses[i] = (struct access){.code = &places[i]};
                list[i] = &accesses[i];
        }
        steps_run = blocks_run = 0;
        find_accesses(program, list, count);
        return accesses;
}

/* The answer for the instruction AT bytes from the beginning of the function NAME. The
 * file has the whole function if HAS_ALL, else only its first byte. */
static struct flow_answer answer_at(const char *name, size_t at, bool has_all)
{
        struct program program;

        open_program(&program);
        struct code_place place = beginning_of(&program.dwarf, name);
        struct access access = {.code = &place}, *list = &access;

        if (!has_all)
                cut(&program.file, place.vaddr);
        place.vaddr += at;
        find_accesses(&program, &list, 1);
        assert_true(access.asked);
        close_program(&program);
        return access.flow;
}

/* A later instruction of a block does not restart the analysis at its beginning. */
TEST(goes_on_in_a_block)
{
        struct program program;

        assert_int_equal(reads_often(&steps_run), steps_run);
        open_program(&program);
        struct code_place place = beginning_of(&program.dwarf, "reads_often");

        place.vaddr += (uintptr_t)reads_often_reads - (uintptr_t)reads_often;
        const struct access *accesses =
            find_all(&program, place, READS_LIMIT, READ_BYTES);

        for (size_t i = 0; i < READS_LIMIT; i++)
                assert_int_equal(accesses[i].flow.place.kind, PLACE_POINTER);
        assert_true(steps_run < 100 * READS_LIMIT);
        close_program(&program);
}

static enum flow_outcome outcome_in(const char *name)
{
        return answer_at(name, 0, true).outcome;
}

TEST(follows_a_function_as_a_whole)
{
        small();
        assert_int_equal(outcome_in("small"), FLOW_NO_OPERAND);
}

TEST(does_not_follow_a_part_of_a_function)
{
        of_many_instructions();
        of_many_bytes();
        assert_int_equal(outcome_in("of_many_instructions"), FLOW_TOO_LARGE);
        assert_int_equal(outcome_in("of_many_bytes"), FLOW_TOO_LARGE);
}

TEST(does_not_follow_what_it_cannot_decode)
{
        with_a_hole();
        assert_int_equal(outcome_in("with_a_hole"), FLOW_NOT_DECODED);
        assert_int_equal(answer_at("small", 0, false).outcome, FLOW_NOT_DECODED);
}

/* Programs do most operations with bits of floats, too. */
TEST(knows_what_a_number_is_used_as)
{
        enum alike { NEITHER, FLOAT, UNASKED };
#define ROW(name, number, alike, code) {#name, (int)NUMBER_##number, alike},
        static const struct {
                const char *function;
                int number;
                enum alike alike;
        } cases[] = {USES(ROW)};
#undef ROW

        for (size_t i = 0; i < LENGTH(cases); i++) {
                const struct type_access access =
                    answer_at(cases[i].function, 0, true).access;
                const enum alike alike = access.perhaps_float ? FLOAT : NEITHER;

                if ((int)access.number != cases[i].number)
                        fail_msg("%s: %d, not %d", cases[i].function, (int)access.number,
                                 cases[i].number);
                if (cases[i].alike != UNASKED && alike != cases[i].alike)
                        fail_msg("%s: alike %d, not %d", cases[i].function, (int)alike,
                                 (int)cases[i].alike);
        }
}

TEST(knows_how_addresses_follow)
{
#define ROW(name, at, kind, stride, instructions, code)                                  \
        {#name, at, {PATTERN_##kind, stride, instructions}},
        const struct {
                const char *function;
                size_t at; /* of the access */
                struct address_pattern pattern;
        } cases[] = {LOOPS(ROW){"moves_on", 0, {PATTERN_NO_LOOP, 0, 0}},
                     {"gathers", 3, {PATTERN_INDEX, 0, 5}}};
#undef ROW

        for (size_t i = 0; i < LENGTH(cases); i++) {
                const struct address_pattern found =
                    answer_at(cases[i].function, cases[i].at, true).pattern;

                if (found.kind != cases[i].pattern.kind ||
                    found.stride_bytes != cases[i].pattern.stride_bytes ||
                    found.instructions != cases[i].pattern.instructions)
                        fail_msg("%s+%zu: %s, %d bytes, %u instructions",
                                 cases[i].function, cases[i].at,
                                 address_pattern_name(found.kind),
                                 (int)found.stride_bytes, found.instructions);
        }
}

/* A result of one path is not computed again on other paths, nor for the next answer. */
TEST(names_pointers_without_going_back_often)
{
        enum { COUNT = HOPS * HOP_BYTES };
        struct program program;
        size_t named = 0, asked = 0;

        assert_ptr_equal((void *)(uintptr_t)hops_on(1), hop_root);
        open_program(&program);
        const struct access *accesses =
            find_all(&program, beginning_of(&program.dwarf, "hops_on"), COUNT, 1);

        for (size_t i = 0; i < COUNT; i++) {
                asked += accesses[i].flow.outcome != FLOW_NO_INSTRUCTION;
                if (!accesses[i].flow.pointer)
                        continue;
                const char *name =
                    string_pool_text(program.names, accesses[i].flow.pointer);

                assert_memory_equal(name, "hop_root", strlen("hop_root"));
                named++;
        }
        assert_in_range(named, 8, 9);
        assert_in_range(asked, 3 * HOPS, COUNT);
        if (blocks_run > 2 * asked)
                fail_msg("%" PRIu64 " runs for %zu answers", blocks_run, asked);
        close_program(&program);
}

/* Beyond the limit on compared pairs, any pair may differ in type. */
TEST(leaves_open_what_was_not_compared)
{
        enum { TOGETHER = 400, ALONE = TOGETHER };
        struct register_variable values[TOGETHER + 1];
        struct variables variables = {.values = values, .value_count = TOGETHER + 1};
        struct types types = {0};
        struct type_reader reader = {.types = &types};

        for (uint32_t i = 0; i <= TOGETHER; i++)
                values[i] = (struct register_variable){
                    .low = i, .high = 1000, .type = TYPE_NONE, .block = i == ALONE};
        assert_ok(rival_variables_find(&variables, &reader));
        assert_false(variable_has_rival(&values[0]));
        assert_true(variable_has_rival(&values[TOGETHER - 2]));
        assert_true(variable_has_rival(&values[TOGETHER - 1]));
        assert_false(variable_has_rival(&values[ALONE]));
}
