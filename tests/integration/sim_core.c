/* SPDX-License-Identifier: MIT */
/* sim_core STEPS KERNEL...: kernels whose time on a core is known from their
 * instructions. The kernel "nothing" does everything except the work. The difference to
 * it is the cost of the steps. Kernels on memory outside of all caches compare with
 * "memory-gather" and "memory-string". */
#include "target.h"

enum { LINE_BYTES = 64, CHASE_BYTES = 4 << 20, GATHER_BYTES = 32 << 20, AHEAD = 8 };

#define FOUR(x) x x x x

/* A cycle through all lines of a buffer, in an order without locality. */
static void *new_chain(size_t bytes)
{
        size_t lines = bytes / LINE_BYTES;
        char *buffer = aligned_alloc(4096, bytes);
        for (size_t i = 0; i < lines; i++) {
                size_t from = i * 40503 % lines, to = (i + 1) * 40503 % lines;
                *(void **)(buffer + from * LINE_BYTES) = buffer + to * LINE_BYTES;
        }
        return buffer;
}

/* Memory that has been written, and is in no cache. (The kernel has just written the page
 * of zeroes that stands for unwritten memory.) */
static char *memory_beyond_caches(size_t bytes)
{
        char *memory = aligned_alloc(4096, bytes);
        for (size_t i = 0; i < bytes; i += LINE_BYTES) {
                memory[i] = 1;
                __builtin_ia32_clflush(memory + i);
        }
        return memory;
}

static void *walk(void *p, long steps)
{
        for (long i = 0; i < steps; i++)
                __asm__ volatile("mov (%0), %0" : "+r"(p));
        return p;
}

static void add_in_a_chain(long steps)
{
        double sum = 1;
        const double one = 1;
        for (long i = 0; i < steps; i++)
                __asm__ volatile("addsd %1, %0" : "+x"(sum) : "x"(one));
}

static void divide_in_a_chain(long steps)
{
        double quotient = 1;
        const double one = 1;
        for (long i = 0; i < steps; i++)
                __asm__ volatile("divsd %1, %0" : "+x"(quotient) : "x"(one));
}

/* A pointer to itself, in L1. */
static void chase_in_l1(long steps)
{
        void *volatile cell = (void *)&cell;
        (void)walk(cell, steps);
}

/* Four results: each waits for the previous one, or all are independent. */
static void add_simple(long steps, int chained)
{
        for (long i = 0; i < steps; i++) {
                if (chained)
                        __asm__ volatile(FOUR("lea 1(%%rsi,%%rsi), %%rsi\n") : : : "rsi");
                else
                        __asm__ volatile(FOUR("lea 1(%%rdi,%%rdi), %%rsi\n") : : : "rsi");
        }
}

/* Eight times a loop of four instructions that begins SKIPPED bytes into a line of code.
 * With 57 the second instruction begins in this line, and the third in the next. */
#define LOOP_BEHIND(NAME, SKIPPED)                                                       \
        static void NAME(long steps)                                                     \
        {                                                                                \
                long count = 8 * steps;                                                  \
                __asm__ volatile(".p2align 6\n .skip " SKIPPED ", 0x90\n"                \
                                 "1: lea 1(%%rdi), %%rsi\n lea 2(%%rdi), %%rdx\n"        \
                                 "dec %0\n jnz 1b\n"                                     \
                                 : "+c"(count)                                           \
                                 :                                                       \
                                 : "rsi", "rdx", "cc");                                  \
        }

LOOP_BEHIND(loop_in_line, "64")
LOOP_BEHIND(loop_over_lines, "57")

/* Independent chains of 24 instructions, each behind a load from L3; their sum. */
static uint64_t add_behind_loads(const char *buffer, long steps)
{
        uint64_t sum = 0, at = 0;
        for (long i = 0; i < steps; i++, at = (at + 40503 * LINE_BYTES) % CHASE_BYTES) {
                uint64_t value;
                __asm__ volatile("mov (%1), %0\n" FOUR("add $1, %0\n xor $2, %0\n"
                                                       "add $1, %0\n xor $2, %0\n"
                                                       "add $1, %0\n xor $2, %0\n")
                                 : "=&r"(value)
                                 : "r"(buffer + at));
                sum += value;
        }
        return sum;
}

/* An unpredictable branch on one bit of a generator; MASK 0: always the same way. */
static void branch_at_random(long steps, uint64_t mask)
{
        uint64_t random = 1;
        for (long i = 0; i < steps; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                uint64_t taken = random >> 40 & mask;
                __asm__ volatile("test %0, %0\n jnz 1f\n nop\n 1:" : : "r"(taken) : "cc");
        }
}

/* Calls an empty function, in a loop of one line of code. The compiler may have put data
 * below the stack pointer. */
NOINLINE __attribute__((aligned(64))) static void call_in_a_loop(long steps)
{
        for (long i = 0; i < steps; i++)
                __asm__ volatile("lea -128(%%rsp), %%rsp\n call 1f\n jmp 2f\n"
                                 "1: ret\n 2: lea 128(%%rsp), %%rsp"
                                 :
                                 :
                                 : "memory");
}

/* The same, but five multiplications make the bit. EARLY: the previous step's generator
 * gives it, so they overlap with the branch before. Else this step's does. */
static void branch_on_chain(long steps, int early)
{
        const uint64_t one = 1;
        uint64_t random = 1, last = 1, bit = 0;
#define DRAW "imul %[a], %[random]\n add %[c], %[random]\n"
#define MAKE                                                                             \
        "mov %[last], %[bit]\n imul %[one], %[bit]\n imul %[one], %[bit]\n"              \
        "imul %[one], %[bit]\n imul %[one], %[bit]\n imul %[one], %[bit]\n"
#define BRANCH "test %%rdi, %%rdi\n js 1f\n nop\n 1:\n"
#define OPERANDS                                                                         \
        : [random] "+r"(random), [last] "+r"(last), [bit] "+r"(bit)                      \
        : [a] "r"(6364136223846793005u), [c] "r"(1442695040888963407u), [one] "r"(one)   \
        : "rdi", "cc"

        for (long i = 0; i < steps; i++) {
                if (early)
                        __asm__ volatile("mov %[bit], %%rdi\n" DRAW
                                         "mov %[random], %[last]\n" MAKE BRANCH OPERANDS);
                else
                        __asm__ volatile(DRAW "mov %[random], %[last]\n" MAKE
                                              "mov %[bit], %%rdi\n" BRANCH OPERANDS);
        }
#undef DRAW
#undef MAKE
#undef BRANCH
#undef OPERANDS
}

#define NOPS_256 FOUR(FOUR(FOUR(FOUR("nop\n"))))

/* Stores a word by halves and reads it as a whole ("parts"), or reads it by halves, in
 * each step. Otherwise it reads the whole word after so many instructions that the stores
 * have left the buffer. */
static void store_and_load(long steps, const char *how)
{
        const int parts = strcmp(how, "parts") == 0, halves = strcmp(how, "halves") == 0;
        uint64_t word = 0, x = 0;
        for (long i = 0; i < steps; i++) {
                if (parts)
                        __asm__ volatile("mov %k0, %1\n movl $0, 4+%1\n mov %1, %0\n"
                                         : "+r"(x), "+m"(word));
                else if (halves)
                        __asm__ volatile("mov %0, %1\n mov 4+%1, %k0\n"
                                         : "+r"(x), "+m"(word));
                else
                        __asm__ volatile("mov %k0, %1\n" NOPS_256 "mov %1, %0\n"
                                         : "+r"(x), "+m"(word));
        }
}

/* Runs the code if WAY is NAME. */
#define CASE(way, name, ...)                                                             \
        if (strcmp(way, name) == 0)                                                      \
        __VA_ARGS__
#define COUNT(name, code)                                                                \
        if (strcmp(how, name) == 0)                                                      \
                for (long i = 0; i < steps; i++)                                         \
        __asm__ volatile(                                                                \
            code                                                                         \
            :                                                                            \
            : [cells] "r"(cells), [same] "r"(same), [index] "r"(index), [one] "x"(one),  \
              [i] "r"(i), [pointer] "m"(pointer), [global] "m"(global)                   \
            : "rax", "rcx", "xmm0", "memory", "cc")
#define FOUR_RESULTS FOUR("lea 1(%%rax,%%rax), %%rax\n")

/* A counter in memory: each step loads it, adds to it and stores it. */
NOINLINE static void count_in_memory(long steps, const char *how)
{
        uint64_t cells[16] __attribute__((aligned(64))) = {0};
        static volatile uint64_t global;
        const uint64_t *same = cells, *pointer = cells;
        uint64_t index = 0;
        const double one = 1;
        __asm__("" : "+r"(same), "+r"(index)); /* in registers of their own */
        COUNT("1", "mov (%[same]), %%rax\n add $1, %%rax\n mov %%rax, (%[cells])");
        COUNT("4", "mov (%[same]), %%rax\n" FOUR_RESULTS "mov %%rax, (%[cells])");
        COUNT("alike", "mov (%[cells]), %%rax\n" FOUR_RESULTS "mov %%rax, (%[cells])");
        COUNT("indexed", "mov 8(%[cells],%[index],8), %%rax\n" FOUR_RESULTS
                         "mov %%rax, 8(%[cells],%[index],8)");
        COUNT("other-index", "mov (%[cells],%[index],4), %%rax\n" FOUR_RESULTS
                             "mov %%rax, (%[cells],%[index],8)");
        COUNT("loaded-base", "mov %[pointer], %%rcx\n mov (%%rcx), %%rax\n" FOUR_RESULTS
                             "mov %%rax, (%%rcx)");
        COUNT("global", "mov %[global], %%rax\n" FOUR_RESULTS "mov %%rax, %[global]");
        COUNT("two", "addq $1, (%[cells])\n addq $1, 64(%[cells])");
        COUNT("push", "sub $128, %%rsp\n push %%rax\n pop %%rax\n add $1, %%rax\n"
                      "add $128, %%rsp");
        COUNT("halves", "movd %%eax, %%xmm0\n punpckldq %%xmm0, %%xmm0\n"
                        "movq %%xmm0, (%[cells])\n mov 4(%[same]), %%eax");
        COUNT("vector", "movsd (%[cells]), %%xmm0\n addsd %[one], %%xmm0\n"
                        "movsd %%xmm0, (%[cells])");
        COUNT("byte", "addb $1, (%[cells])");
        COUNT("blocks", "mov (%[same]), %%rax\n jmp 1f\n 1: add $1, %%rax\n jmp 2f\n"
                        "2: mov %%rax, (%[cells])");
        COUNT("early", "mov %[i], (%[cells])\n mov (%[same]), %%rax");
}

/* A store and a load DISTANCE bytes above it. Each load waits for the previous one. */
NOINLINE static void store_below(long steps, long distance)
{
        static char memory[16384] __attribute__((aligned(4096)));
        const char *from = memory + distance;
        uint64_t next = 0;
        for (long i = 0; i < steps; i++) {
                *(volatile uint64_t *)(void *)memory = (uint64_t)i;
                next = *(volatile const uint64_t *)(const void *)(from + next);
        }
}

/* Nothing waits for these loads, which take less time than the chain beside them. */
NOINLINE static void store_below_unused(long steps)
{
        static volatile uint64_t memory[1024] __attribute__((aligned(4096)));
        uint64_t chain = 3;
        for (long i = 0; i < steps; i++) {
                memory[0] = (uint64_t)i;
                (void)memory[4096 / sizeof(memory[0])];
                __asm__ volatile(FOUR("imul %0, %0\n") : "+r"(chain)::"cc");
        }
}

static void count_locked(long steps)
{
        uint64_t count = 0;
        for (long i = 0; i < steps; i++)
                __asm__ volatile("lock incq %0" : "+m"(count));
}

/* The load needs more bytes than the locked store has written. */
static void load_after_lock(long steps)
{
        uint64_t count = 0;
        for (long i = 0; i < steps; i++)
                __asm__ volatile("lock incl %0\n\tmov %0, %%rax" : "+m"(count) : : "rax");
}

enum prefetch { NO_PREFETCH, PREFETCH, PREFETCH_FORGOTTEN };

/* Reads scattered lines, with more work between them than the reorder window holds.
 * PREFETCH_FORGOTTEN: the address is in a register only for the prefetch. */
static void gather(const char *buffer, long steps, enum prefetch prefetch)
{
        const uint64_t lines = GATHER_BYTES / LINE_BYTES;
        uint64_t sum = 0;
        for (long i = 0; i < steps; i++) {
                uint64_t line = (uint64_t)i * 40503 % lines;
                uint64_t ahead = (uint64_t)(i + AHEAD) * 40503 % lines;
                if (prefetch == PREFETCH)
                        __asm__ volatile("prefetcht0 (%0,%1)"
                                         :
                                         : "r"(buffer), "r"(ahead * LINE_BYTES));
                else if (prefetch == PREFETCH_FORGOTTEN)
                        __asm__ volatile("lea (%0,%1), %%rsi\n"
                                         "prefetcht0 (%%rsi)\n"
                                         "xor %%esi, %%esi\n"
                                         :
                                         : "r"(buffer), "r"(ahead * LINE_BYTES)
                                         : "rsi", "cc");
                sum += *(const volatile uint64_t *)(buffer + line * LINE_BYTES);
                __asm__ volatile(FOUR(FOUR(FOUR(FOUR("nop\n")))) : "+r"(sum));
        }
}

/* Scattered lines again. After each load a branch on the loaded value and a random bit
 * skips one addition: to a counter, or to a part of the next step's address. */
static void gather_and_branch(const char *buffer, long steps, int dependent)
{
        const uint64_t lines = GATHER_BYTES / LINE_BYTES;
        uint64_t random = 1, count = 0, at = 0;
        for (long i = 0; i < steps; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                uint64_t line = (at + (random >> 40)) % lines;
                uint64_t loaded =
                    *(const volatile uint64_t *)(buffer + line * LINE_BYTES);
                uint64_t taken = (loaded ^ random >> 35) & 1;
                if (dependent)
                        __asm__ volatile("test %1, %1\n jnz 1f\n add $1, %0\n 1:"
                                         : "+r"(at)
                                         : "r"(taken)
                                         : "cc");
                else
                        __asm__ volatile("test %1, %1\n jnz 1f\n add $1, %0\n 1:"
                                         : "+r"(count)
                                         : "r"(taken)
                                         : "cc");
        }
}

enum { STEP_BYTES = 256, SHORT_BYTES = 16, ODD_BYTES = 5 };

#define REPEAT(how, from, to, count)                                                     \
        do {                                                                             \
                const void *source = from;                                               \
                void *target = to;                                                       \
                long left = count;                                                       \
                __asm__ volatile(how                                                     \
                                 : "+S"(source), "+D"(target), "+c"(left)                \
                                 : "a"(0)                                                \
                                 : "memory", "cc");                                      \
        } while (0)

/* A repeated string instruction for STEP_BYTES a step, or for a few bytes each step. */
static void repeat_string(long steps, const char *how, char *from, char *to)
{
        const long bytes = steps * STEP_BYTES;
        CASE(how, "fill", REPEAT("rep stosb", from, to, bytes));
        CASE(how, "fill-words", REPEAT("rep stosq", from, to, bytes / 8));
        CASE(how, "fill-down",
             REPEAT("std\n rep stosb\n cld", from, to + bytes - 1, bytes));
        CASE(how, "copy", REPEAT("rep movsb", from, to, bytes));
        CASE(how, "copy-words", REPEAT("rep movsq", from, to, bytes / 8));
        CASE(how, "copy-odd", REPEAT("rep movsq", from + ODD_BYTES, to, bytes / 8));
        CASE(how, "short",
             for (long i = 0; i < steps; i++) REPEAT("rep movsb", from, to, SHORT_BYTES));
        CASE(how, "none",
             for (long i = 0; i < steps; i++) REPEAT("rep movsb", from, to, 0));
}

#define MOVE_16(move) ".set at, 0\n .rept 16\n " move ".set at, at + 32\n .endr\n"

/* The same by vectors of 32 bytes, mostly without other instructions between. */
__attribute__((target("avx"))) static void move_vectors(long steps, int copies,
                                                        char *from, char *to)
{
        const long bytes = steps * STEP_BYTES;
        for (long i = 0; i < bytes; i += 16 * 32) {
                if (copies)
                        __asm__ volatile(MOVE_16("vmovdqa at(%0), %%ymm0\n"
                                                 " vmovdqa %%ymm0, at(%1)\n")
                                         :
                                         : "r"(from + i), "r"(to + i)
                                         : "memory");
                else
                        __asm__ volatile(MOVE_16("vmovdqa %%ymm0, at(%0)\n")
                                         :
                                         : "r"(to + i)
                                         : "memory");
        }
}

enum { BLOCK_LINES = 256, ROUNDS = 4 };

static void load_lines(const char *memory, long lines)
{
        for (long i = 0; i < lines; i++)
                (void)*(const volatile char *)(memory + i * LINE_BYTES);
}

static void flush_lines(char *memory, long lines)
{
        for (long i = 0; i < lines; i++)
                __builtin_ia32_clflush(memory + i * LINE_BYTES);
}

/* Each step loads a line of 16 KiB that are in no cache until the kernel writes them. */
static void load_results(long steps)
{
        static char block[BLOCK_LINES * LINE_BYTES] __attribute__((aligned(4096)));
        int zero = open("/dev/zero", O_RDONLY);
        for (long i = 0; i < steps / BLOCK_LINES; i++) {
                flush_lines(block, BLOCK_LINES);
                if (read(zero, block, sizeof(block)) != sizeof(block))
                        exit(1);
                load_lines(block, BLOCK_LINES);
        }
        close(zero);
}

/* Each step stores to a line of a new mapping, always at the same place, or loads it. */
static void use_fresh_pages(long steps, int stores)
{
        const long lines = steps / ROUNDS;
        char *memory = NULL;
        for (int round = 0; round < ROUNDS; round++) {
                char *before = memory;
                memory = mmap(before, (size_t)lines * LINE_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (memory == MAP_FAILED || (round > 0 && memory != before))
                        exit(1);
                for (long i = 0; i < lines && stores; i++)
                        *(volatile char *)(memory + i * LINE_BYTES) = 1;
                if (!stores)
                        load_lines(memory, lines);
                flush_lines(memory, lines);
                munmap(memory, (size_t)lines * LINE_BYTES);
        }
}

/* Runs KERNEL if it works on memory outside of all caches. */
static void run_on_memory(const char *kernel, long steps)
{
        if (strstr(kernel, "gather")) {
                const char *buffer = memory_beyond_caches(GATHER_BYTES);
                CASE(kernel, "gather", gather(buffer, steps, NO_PREFETCH));
                CASE(kernel, "gather-prefetch", gather(buffer, steps, PREFETCH));
                CASE(kernel, "gather-prefetch-forgotten",
                     gather(buffer, steps, PREFETCH_FORGOTTEN));
                CASE(kernel, "gather-branch", gather_and_branch(buffer, steps, 0));
                CASE(kernel, "gather-branch-dependent",
                     gather_and_branch(buffer, steps, 1));
        } else if (strstr(kernel, "string") || strstr(kernel, "vectors")) {
                const size_t bytes = (size_t)steps * STEP_BYTES + 4096;
                char *from = memory_beyond_caches(bytes),
                     *to = memory_beyond_caches(bytes);
                if (strncmp(kernel, "string-", 7) == 0)
                        repeat_string(steps, kernel + 7, from, to);
                else if (strncmp(kernel, "vectors-", 8) == 0)
                        move_vectors(steps, strcmp(kernel + 8, "copy") == 0, from, to);
        }
}

/* Runs KERNEL by the expression if it is NAME. */
#define RUN(name, ...)                                                                   \
        if (strcmp(kernel, name) == 0)                                                   \
        return (void)(__VA_ARGS__), 0

static int run(const char *kernel, long steps, void *p)
{
        p = walk(p, CHASE_BYTES / LINE_BYTES);
        RUN("chase", walk(p, steps));
        RUN("add", add_in_a_chain(steps));
        RUN("divide", divide_in_a_chain(steps));
        RUN("chase-l1", chase_in_l1(steps));
        RUN("simple-chain", add_simple(steps, 1));
        RUN("simple-independent", add_simple(steps, 0));
        RUN("loop-in-line", loop_in_line(steps));
        RUN("loop-over-lines", loop_over_lines(steps));
        if (strcmp(kernel, "chains") == 0)
                return add_behind_loads(p, steps) == 1;
        RUN("branch-random", branch_at_random(steps, 1));
        RUN("branch-never", branch_at_random(steps, 0));
        RUN("branch-early", branch_on_chain(steps, 1));
        RUN("branch-late", branch_on_chain(steps, 0));
        RUN("calls", call_in_a_loop(steps));
        RUN("lock", count_locked(steps));
        RUN("lock-parts", load_after_lock(steps));
        RUN("results", load_results(steps));
        if (strncmp(kernel, "store-", 6) == 0)
                store_and_load(steps, kernel + 6);
        else if (strncmp(kernel, "count-", 6) == 0)
                count_in_memory(steps, kernel + 6);
        else if (strcmp(kernel, "alias-unused") == 0)
                store_below_unused(steps);
        else if (strncmp(kernel, "alias-", 6) == 0)
                store_below(steps, atol(kernel + 6));
        else if (strncmp(kernel, "fresh-", 6) == 0)
                use_fresh_pages(steps, strcmp(kernel + 6, "stores") == 0);
        else
                run_on_memory(kernel, steps);
        return 0;
}

/* One kernel runs in this process, several one after the other in a child each. */
int main(int argc, char **argv)
{
        long steps = argc > 1 ? atol(argv[1]) : 0;
        void *p = new_chain(CHASE_BYTES);
        if (argc == 3)
                return run(argv[2], steps, p);
        for (int i = 2; i < argc; i++) {
                int status;
                pid_t child = fork();
                if (child == 0)
                        exit(run(argv[i], steps, p));
                if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
                        return 1;
        }
        return 0;
}
