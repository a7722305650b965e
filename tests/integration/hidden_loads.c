/* SPDX-License-Identifier: MIT */
/* Loads from L2, or from L1 if the argument is "near", beside arithmetic. Without another
 * argument: a chain of loads, with arithmetic that fills all cycles of the core. "hash":
 * a chain of instructions behind each load. "sum": independent loads, and a longer chain
 * of additions. "reads": each fourth instruction loads; nothing waits for it. */
#include "target.h"

enum { LINE = 64, NEAR_LINES = 64, FAR_LINES = 4096, STEPS = 1000000 };

struct line {
        struct line *next;
        double value;
        char rest[LINE - sizeof(struct line *) - sizeof(double)];
};

/* Sixty-four instructions in four chains. */
NOINLINE static const struct line *beside(const struct line *line)
{
        uint64_t a = 1, b = 2, c = 3, d = 4;
        for (int i = 0; i < STEPS; i++) {
                line = line->next;
                __asm__ volatile(".rept 16\n\tadd $1, %0\n\tadd $1, %1\n\t"
                                 "add $1, %2\n\tadd $1, %3\n\t.endr"
                                 : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
        }
        return line;
}

/* A chain of twelve instructions behind the load. */
NOINLINE static const struct line *hash(const struct line *line)
{
        for (int i = 0; i < STEPS; i++) {
                uint64_t value;
                line = line->next;
                value = (uint64_t)(uintptr_t)line;
                __asm__ volatile(".rept 12\n\tadd $1, %0\n\t.endr" : "+r"(value));
        }
        return line;
}

/* A chain of eight additions of some four cycles each. The first adds the loaded value,
 * whose address was known long before. */
NOINLINE static const struct line *sum(const struct line *lines, unsigned count)
{
        double total = 0;
        unsigned next = 0;
        for (int i = 0; i < STEPS; i++) {
                total += lines[next].value;
                __asm__ volatile(".rept 7\n\taddsd %1, %0\n\t.endr"
                                 : "+x"(total)
                                 : "x"(1.0));
                next = (next * 5 + 17) % count;
        }
        return total > 0 ? lines : NULL;
}

/* Four instructions take a cycle, and one of the four is a load. */
NOINLINE static const struct line *reads(const struct line *line)
{
        uint64_t a = 1, b = 2, c = 3, value;
        for (int i = 0; i < STEPS; i++)
                __asm__ volatile(".rept 16\n\tmov (%4), %3\n\tadd $1, %0\n\t"
                                 "add $1, %1\n\tadd $1, %2\n\t.endr"
                                 : "+r"(a), "+r"(b), "+r"(c), "=&r"(value)
                                 : "r"(line));
        return line;
}

/* In an order that no prefetcher knows: the step and the number of lines are coprime. */
static void link_lines(struct line *lines, unsigned count)
{
        for (unsigned i = 0; i < count; i++)
                lines[i].next = &lines[(i * 5 + 17) % count];
}

int main(int argc, char **argv)
{
        unsigned count =
            argc > 2 && strcmp(argv[2], "near") == 0 ? NEAR_LINES : FAR_LINES;
        struct line *lines = aligned_alloc(4096, count * sizeof(*lines));
        if (!lines || argc < 2)
                return 1;
        memset(lines, 0, count * sizeof(*lines));
        link_lines(lines, count);
        const struct line *end = strcmp(argv[1], "hash") == 0    ? hash(lines)
                                 : strcmp(argv[1], "sum") == 0   ? sum(lines, count)
                                 : strcmp(argv[1], "reads") == 0 ? reads(lines)
                                                                 : beside(lines);
        printf("%d\n", end == lines);
        free(lines);
        return 0;
}
