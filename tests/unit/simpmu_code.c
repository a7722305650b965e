/* SPDX-License-Identifier: MIT */
/* The joins of branches' paths, in code with a known flow graph. */
#include "simpmu_rig.h"

#include "model/branches/code.h"

enum { LENGTH = 4, CALLS = 1 << 30 };

/* Instructions lie LENGTH bytes apart; number N at N * LENGTH writes register N. */
static struct code *code_new(void)
{
        struct code *code = allocate(sizeof(*code));
        code_init(code, allocate);
        return code;
}

static void add(struct code *code, uint32_t at, enum code_kind kind, uint32_t target)
{
        uint32_t number = code_add(code, (uint64_t)at * LENGTH, LENGTH, kind,
                                   (uint64_t)target * LENGTH);
        code_at(code, number)->writes = 1ull << at;
}

/* Instructions FROM to LAST go on behind themselves. */
static void add_plain(struct code *code, uint32_t from, uint32_t last)
{
        for (uint32_t at = from; at <= last; at++)
                add(code, at, CODE_PLAIN, 0);
}

static bool meet(struct code *code, uint32_t branch, struct code_meeting *meeting)
{
        return code_meet(code, code_find(code, (uint64_t)branch * LENGTH), CALLS,
                         meeting);
}

static void assert_meets(struct code *code, uint32_t branch, uint32_t at,
                         uint32_t not_taken, uint32_t taken, uint64_t changed)
{
        struct code_meeting meeting;
        assert_true(meet(code, branch, &meeting));
        assert_int_equal(code_at(code, meeting.instruction)->ip, at * LENGTH);
        assert_int_equal(meeting.length[0], not_taken);
        assert_int_equal(meeting.length[1], taken);
        assert_int_equal(meeting.changed, changed);
}

/* 1: if (c) { 2; 3: goto 6 } else { 4; 5 } 6; return */
TEST(ways_meet_behind_two_arms)
{
        struct code *code = code_new();
        add(code, 1, CODE_CONDITIONAL, 4);
        add_plain(code, 2, 2);
        add(code, 3, CODE_JUMP, 6);
        add_plain(code, 4, 6);
        add(code, 7, CODE_END, 0);
        assert_meets(code, 1, 6, 2, 2, 0x3c);
}

/* 1; do { 2; 3: if (c) break } while (4: d); 5; return: the early exit joins the other
 * path behind the loop. All registers that the loop writes may have changed. */
TEST(ways_out_of_a_loop_meet_behind_it)
{
        struct code *code = code_new();
        add_plain(code, 1, 2);
        add(code, 3, CODE_CONDITIONAL, 5);
        add(code, 4, CODE_CONDITIONAL, 2);
        add_plain(code, 5, 5);
        add(code, 6, CODE_END, 0);
        assert_meets(code, 3, 5, 1, 0, 1 << 2 | 1 << 3 | 1 << 4);
        assert_meets(code, 4, 5, 0, 2, 1 << 2 | 1 << 3 | 1 << 4);
}

/* The same in a loop that no known path leaves yet: each iteration passes its end. */
TEST(ways_meet_in_a_loop_that_still_runs)
{
        struct code *code = code_new();
        add_plain(code, 1, 1);
        add(code, 2, CODE_CONDITIONAL, 4);
        add_plain(code, 3, 4);
        add(code, 5, CODE_CONDITIONAL, 1); /* behind it nothing has run */
        assert_meets(code, 2, 4, 1, 0, 1 << 3);
}

/* 1: if (c) { 2: never run } 3; return: code that never ran is no path. */
TEST(code_that_has_not_run_is_no_way)
{
        struct code *code = code_new();
        add(code, 1, CODE_CONDITIONAL, 3);
        add(code, 3, CODE_CONDITIONAL, 5);
        add(code, 4, CODE_STOP, 0);
        add_plain(code, 5, 5);
        add(code, 6, CODE_END, 0);
        assert_meets(code, 1, 3, 0, 0, 0);
        assert_meets(code, 3, 5, 0, 0, 1 << 4);
}

/* 1: if (c) 2: call f; 3; return */
TEST(calls_come_back_and_change_registers)
{
        struct code *code = code_new();
        add(code, 1, CODE_CONDITIONAL, 3);
        add(code, 2, CODE_CALL, 0);
        add_plain(code, 3, 3);
        add(code, 4, CODE_END, 0);
        assert_meets(code, 1, 3, 1, 0, 1 << 2 | CALLS);
}

TEST(ways_that_leave_the_function_apart_do_not_meet)
{
        struct code *code = code_new();
        struct code_meeting meeting;
        add(code, 1, CODE_CONDITIONAL, 3);
        add(code, 2, CODE_END, 0);
        add_plain(code, 3, 3);
        add(code, 4, CODE_END, 0);
        assert_false(meet(code, 1, &meeting));
}

/* The search gives up on paths that are too long. */
TEST(far_meetings_are_not_known)
{
        const uint32_t far = 1000;
        struct code *code = code_new();
        struct code_meeting meeting;
        add(code, 1, CODE_CONDITIONAL, far);
        for (uint32_t at = 2; at <= far; at++)
                code_add(code, at * LENGTH, LENGTH, CODE_PLAIN, 0);
        code_add(code, (far + 1) * LENGTH, LENGTH, CODE_END, 0);
        assert_false(meet(code, 1, &meeting));
}

/* Bytes as the GNU assembler writes them. */
TEST(bytes_say_where_instructions_lead)
{
        static const struct {
                uint8_t bytes[8];
                uint32_t length;
                enum code_kind kind;
                uint64_t target;
        } known[] = {
            {{0x74, 0xfe}, 2, CODE_CONDITIONAL, 0x1000},             /* je . */
            {{0x0f, 0x85, 0x00, 0x01}, 6, CODE_CONDITIONAL, 0x1106}, /* jne */
            {{0xf2, 0x0f, 0x87, 0xf9, 0xff, 0xff, 0xff}, 7, CODE_CONDITIONAL, 0x1000},
            {{0xe3, 0x10}, 2, CODE_CONDITIONAL, 0x1012}, /* jrcxz */
            {{0xeb, 0x80}, 2, CODE_JUMP, 0xf82},
            {{0xe9, 0x00, 0x10}, 5, CODE_JUMP, 0x2005},
            {{0xe8, 0x00, 0x10}, 5, CODE_CALL, 0},
            {{0xff, 0xd0}, 2, CODE_CALL, 0},              /* call *%rax */
            {{0x41, 0xff, 0xd3}, 3, CODE_CALL, 0},        /* call *%r11 */
            {{0x3e, 0xff, 0xe0}, 3, CODE_END, 0},         /* notrack jmp *%rax */
            {{0xff, 0x25, 0x00, 0x10}, 6, CODE_END, 0},   /* jmp *0x1000(%rip) */
            {{0xff, 0xc0}, 2, CODE_PLAIN, 0},             /* inc %eax */
            {{0xf3, 0xc3}, 2, CODE_END, 0},               /* rep ret */
            {{0xc2, 0x08}, 3, CODE_END, 0},               /* ret $8 */
            {{0x0f, 0x0b}, 2, CODE_STOP, 0},              /* ud2 */
            {{0x0f, 0xaf, 0xc1}, 3, CODE_PLAIN, 0},       /* imul %ecx, %eax */
            {{0xf3, 0x0f, 0x1e, 0xfa}, 4, CODE_PLAIN, 0}, /* endbr64 */
            {{0x48, 0x89, 0xe8}, 3, CODE_PLAIN, 0},       /* mov %rbp, %rax */
            {{0x40}, 1, CODE_PLAIN, 0},
        };
        for (size_t i = 0; i < LENGTH(known); i++) {
                uint64_t target;
                enum code_kind kind =
                    code_decode(known[i].bytes, known[i].length, 0x1000, &target);
                assert_int_equal(kind, known[i].kind);
                assert_int_equal(target, known[i].target);
        }
}
