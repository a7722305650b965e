/* SPDX-License-Identifier: MIT */
/* Loads along a wrong path, and the join of both paths, by construction. */
#include "simpmu_rig.h"

#include "model/machine/fetch.h"
#include "model/machine/wrong_path.h"

enum {
        KEPT = 3,    /* a register that neither path writes */
        CHANGED = 4, /* a register that one path writes */
        LOADED = 5,  /* a register that a load behind the join writes */
        COST_CYCLES = 20,
        LATE_CYCLES = DRAM_CYCLES / 2,
        WIDTH = 4,
        ON_A_WAY = 1, /* instructions' numbers */
        MEETING = 2,
};

static const uint64_t decides = MIB, wanted = MIB + 64 * KIB, further = MIB + 128 * KIB;

/* A stretch of one instruction. */
static struct code_stretch *stretch_of(uint32_t instruction)
{
        struct code_stretch *stretch =
            allocate(sizeof(*stretch) + sizeof(stretch->instructions[0]));
        stretch->begins_block = true;
        stretch->count = 1;
        stretch->instructions[0] = instruction;
        return stretch;
}

/* The thread has loaded the condition of a branch, which was predicted wrongly. */
struct situation {
        struct rig *rig;
        struct sim_thread *thread;
        struct code_meeting meeting;
        const struct code_stretch *before;
        uint64_t decided;
};

static void set_up(struct situation *s)
{
        static const uint64_t pages[] = {decides, wanted, further};
        s->rig = default_rig(1, 0, 1);
        s->thread = s->rig->threads[0];
        for (size_t i = 0; i < LENGTH(pages); i++)
                touch(s->rig, ACCESS_LOAD, pages[i], 1);
        thread_pause(s->thread, 100 * DRAM_CYCLES * WIDTH);
        stall_to_hot(&s->rig->hot, s->thread);
        s->meeting =
            (struct code_meeting){.instruction = MEETING, .changed = 1ull << CHANGED};
        s->before = stretch_of(ON_A_WAY);
}

/* The branch is decided LATE slots after its prediction. */
static void mispredict(struct situation *s, uint64_t late)
{
        struct sim_hot *hot = &s->rig->hot;
        const struct wrong_branch branch = {
            .stretch = s->before,
            .meeting = &s->meeting,
            .decided = hot->instructions + s->thread->stall + late,
        };
        s->decided = branch.decided;
        wrong_path_begin(hot, s->thread, &branch);
        thread_mispredict(hot, s->thread, s->decided, (uint64_t)COST_CYCLES * WIDTH, 1);
}

static void set_up_and_mispredict(struct situation *s, uint64_t late_cycles)
{
        set_up(s);
        mispredict(s, late_cycles * WIDTH);
}

/* Instruction NUMBER of the program's code loads into LOADED from ADDRESS, which depends
 * on REG. Returns how many cycles after the branch's decision the value is ready. */
static double load(struct situation *s, uint32_t number, uint32_t reg, uint64_t address)
{
        struct rig *rig = s->rig;
        struct code_stretch *stretch = stretch_of(number);
        struct code_transfer *transfer =
            allocate(sizeof(*transfer) + sizeof(transfer->each[0]));
        const struct access_site site = {.address = waits_for(1ull << reg, NULL, 0),
                                         .size_bytes = WORD_BYTES,
                                         .position = -1,
                                         .kind = ACCESS_LOAD,
                                         .slot = FIRST_SLOT};
        transfer->count = 1;
        transfer->each[0] = (struct register_transfer){
            .on = 1ull << reg | 1ull << FIRST_SLOT, .id = LOADED};
        stretch->transfers = transfer;
        if (s->thread->wrong.followed)
                wrong_path_stretch(&rig->hot, s->thread, stretch);
        rig->hot.instructions++;
        rig->hot.ready[FIRST_SLOT] = 0;
        if (s->thread->wrong.followed)
                (void)wrong_path_load(&rig->machine, &rig->hot, s->thread, &site,
                                      address);
        call_model(rig, &site, ACCESS_LOAD, address);
        rig->hot.ready[LOADED] = rig->hot.ready[FIRST_SLOT];
        return (double)(last_sample.time_slots + last_sample.latency_slots - s->decided) /
               WIDTH;
}

/* Lines that the first touch of their page did not bring. */
static uint64_t line(uint64_t page, uint64_t number)
{
        return page + (8 + 2 * number) * LINE_BYTES;
}

/* The line is requested at the prediction: LATE_CYCLES before the decision. */
TEST(lines_behind_the_meeting_come_while_a_branch_is_undecided)
{
        struct situation s;
        set_up_and_mispredict(&s, LATE_CYCLES);
        assert_near(load(&s, MEETING, KEPT, line(wanted, 0)), DRAM_CYCLES - LATE_CYCLES,
                    0.05);

        /* The line has come when the branch is later still. */
        set_up_and_mispredict(&s, 2 * DRAM_CYCLES);
        assert_near(load(&s, MEETING, KEPT, line(wanted, 0)), COST_CYCLES + 5, 0.05);
        assert_int_equal(last_sample.level, SIMPMU_LEVEL_L1);
}

/* Lines before the join do not come early, nor do lines that depend on the path. */
TEST(lines_before_the_meeting_or_that_depend_on_the_way_do_not)
{
        static const uint32_t cases[][2] = {{MEETING, CHANGED}, {ON_A_WAY, KEPT}};
        struct situation s;
        for (size_t i = 0; i < LENGTH(cases); i++) {
                set_up_and_mispredict(&s, LATE_CYCLES);
                assert_near(load(&s, cases[i][0], cases[i][1], line(wanted, 0)),
                            COST_CYCLES + DRAM_CYCLES, 0.05);
        }
}

/* A register that a load behind the join writes is ready on the wrong path when that
 * load's line has come. A chain of two takes two latencies, from the prediction on. */
TEST(chains_take_their_time_on_the_wrong_way)
{
        struct situation s;
        const uint64_t late_cycles = 3 * DRAM_CYCLES / 2;
        set_up_and_mispredict(&s, late_cycles);
        (void)load(&s, MEETING, KEPT, line(wanted, 0));
        assert_near(load(&s, MEETING, LOADED, line(further, 0)),
                    2 * DRAM_CYCLES - late_cycles, 0.1);

        /* The second would have begun after the branch was decided. */
        set_up_and_mispredict(&s, LATE_CYCLES);
        (void)load(&s, MEETING, KEPT, line(wanted, 0));
        assert_near(load(&s, MEETING, LOADED, line(further, 0)),
                    2 * DRAM_CYCLES - LATE_CYCLES, 0.05);
}

/* Beyond the window, loads wait for the decision; the wrong path takes room, too. */
TEST(the_window_limits_how_far_the_wrong_way_goes)
{
        const uint64_t window = (uint64_t)default_params().rob_entries;
        struct situation s;
        for (uint32_t on_wrong_way = 0; on_wrong_way <= 100; on_wrong_way += 100) {
                set_up(&s);
                s.meeting.length[0] = on_wrong_way;
                mispredict(&s, 2 * DRAM_CYCLES * WIDTH);
                (void)load(&s, MEETING, KEPT, line(wanted, 0));
                s.rig->hot.instructions += window - on_wrong_way - 10;
                assert_true(load(&s, MEETING, KEPT, line(wanted, 1)) < DRAM_CYCLES);
                s.rig->hot.instructions += 10;
                assert_true(load(&s, MEETING, KEPT, line(wanted, 2)) > DRAM_CYCLES);
        }
}

/* While all buffers are taken, no line is requested until the branch is decided. */
TEST(as_many_come_as_there_are_fill_buffers)
{
        const uint64_t buffers = (uint64_t)default_params().lfb_entries;
        struct situation s;
        set_up_and_mispredict(&s, DRAM_CYCLES - 20);
        for (uint64_t i = 0; i < buffers; i++)
                assert_true(load(&s, MEETING, KEPT, line(wanted, i)) < DRAM_CYCLES);
        assert_true(load(&s, MEETING, KEPT, line(wanted, buffers)) > DRAM_CYCLES);
}

/* After a second wrong branch on the wrong path, only independent loads come. */
TEST(further_branches_part_the_wrong_way_again)
{
        struct situation s;
        for (uint32_t reg = KEPT; reg <= CHANGED; reg++) {
                set_up(&s);
                s.meeting.changed = 0;
                mispredict(&s, 2 * DRAM_CYCLES * WIDTH);
                const struct code_meeting next = {.instruction = MEETING,
                                                  .changed = 1ull << CHANGED};
                (void)load(&s, MEETING, KEPT, line(wanted, 0));
                const struct wrong_branch branch = {.stretch = s.thread->wrong.stretch,
                                                    .meeting = &next};
                wrong_path_go_on(&s.rig->hot, s.thread, &branch);
                double came = load(&s, MEETING, reg, line(wanted, 1));
                if (reg == KEPT)
                        assert_true(came < DRAM_CYCLES);
                else
                        assert_true(came > DRAM_CYCLES);
        }
}

/* Instruction MEETING of the program's code loads from WORD of the frame into LOADED, or,
 * if ON is not 0, stores a value there that depends on ON. The frame's line is in L1. */
static void access_frame(struct situation *s, uint64_t on, uint32_t word)
{
        static const struct access_site load_site = {.slot = FIRST_SLOT};
        struct code_stretch *stretch = stretch_of(MEETING);
        struct code_transfer *transfer =
            allocate(sizeof(*transfer) + sizeof(transfer->each[0]));
        stretch->frame = allocate(sizeof(*stretch->frame));
        *stretch->frame = (struct frame_access){
            .load = on == 0 ? &load_site : NULL, .on = on, .word = word};
        transfer->count = on == 0;
        transfer->each[0] =
            (struct register_transfer){.on = 1ull << FIRST_SLOT, .id = LOADED};
        stretch->transfers = transfer;
        wrong_path_stretch(&s->rig->hot, s->thread, stretch);
        s->rig->hot.instructions++;
}

/* A variable that one path stores is unknown on the wrong path, and so is a variable
 * whose value was computed from it. A variable that is written anew is known. */
TEST(addresses_may_go_through_the_frame)
{
        const uint32_t on_a_way = 3, copy = 4, other = 5;
        struct situation s;
        for (uint32_t word = on_a_way; word <= other; word++) {
                set_up(&s);
                s.meeting.stored = 1ull << on_a_way;
                mispredict(&s, 2 * DRAM_CYCLES * WIDTH);
                access_frame(&s, 0, on_a_way);
                access_frame(&s, 1ull << LOADED, copy);
                access_frame(&s, 0, word);
                double came = load(&s, MEETING, LOADED, line(wanted, 0));
                if (word == other)
                        assert_true(came < DRAM_CYCLES);
                else
                        assert_true(came > DRAM_CYCLES);
        }
        set_up(&s);
        s.meeting.stored = 1ull << on_a_way;
        mispredict(&s, 2 * DRAM_CYCLES * WIDTH);
        access_frame(&s, 1ull << KEPT, on_a_way);
        access_frame(&s, 0, on_a_way);
        assert_true(load(&s, MEETING, LOADED, line(wanted, 0)) < DRAM_CYCLES);
}

/* Generated code reports each stretch while a wrong path is followed, and not after. */
TEST(stretches_are_told_while_one_is_followed)
{
        struct situation s;
        set_up(&s);
        assert_int_equal(s.rig->hot.fetch_limit,
                         s.rig->hot.stall + fetch_slack(&s.rig->machine));
        mispredict(&s, LATE_CYCLES * WIDTH);
        assert_int_equal(s.rig->hot.fetch_limit, FETCH_EACH_STRETCH);
        wrong_path_end(&s.rig->hot, s.thread);
        assert_int_equal(s.rig->hot.fetch_limit,
                         s.rig->hot.stall + fetch_slack(&s.rig->machine));
}
