# SPDX-License-Identifier: MIT
"""Writes a program of functions made by chance, in whose blocks are arrays that the compiler
may put at one place, and calls with them that it may merge.

generate.py SEED FUNCTIONS [c++]: each array is filled with its number, and then read by one
function, which writes that number down: so each call's array is known, whatever the compiler
made of the calls. The reads are of the first LONGS words, the first of them first."""
import random
import sys

LONGS = 48
HEAD = """/* Made by generate.py. */
#include <stdio.h>
#include <stdlib.h>

#define ONE_FUNCTION __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))
enum { LONGS = %d };
struct cell { long key, mass; };
struct pair { double left, right; };
struct node { struct node *next; long value[3]; };
static volatile int way;
static long seen;

/* Of memory that holds the number of an array. */
ONE_FUNCTION long read_array(const volatile long *words, long times, volatile int *last)
{
        long sum = 0;

        for (int i = 0; i < LONGS; i++)
                sum += words[i];
        *last = (int)times;
        seen++;
        printf("%%ld\\n", sum / LONGS);
        return sum * times;
}

ONE_FUNCTION void fill_array(long *words, long number, long bytes)
{
        for (long i = 0; i < bytes / 8; i++)
                words[i] = number;
}
""" % LONGS
TEMPORARY = """
struct whole {
        long words[LONGS];
        explicit whole(long number) { fill_array(words, number, sizeof(words)); }
        ~whole() { way = 1; }
};

ONE_FUNCTION static const long *words_of(const whole &of) { return of.words; }
"""


class Maker:
    def __init__(self, seed, language):
        self.random = random.Random(seed)
        self.temporaries = language == "c++"
        self.number = 0
        self.lines = []

    def put(self, depth, text):
        self.lines.append("        " * depth + text)

    def read(self, depth, what):
        """A read of WHAT, sometimes followed by what makes merging worth while."""
        self.put(depth, f"sum += read_array({what}, 3, &way);")
        if self.random.random() < 0.5:
            self.put(depth, "way = LONGS;")

    def array(self, depth):
        self.number += 1
        kind = self.random.choice(["cell", "pair", "node"])
        size = {"cell": 16, "pair": 16, "node": 32}[kind]
        count = LONGS * 8 // size * self.random.choice([1, 1, 1, 2])
        name = f"v{self.number}"
        self.put(depth, f"struct {kind} {name}[{count}];")
        if self.random.random() < 0.3:
            self.put(depth, "way++;")
        self.put(depth, f"fill_array((long *){name}, {self.number}, sizeof({name}));")
        if self.random.random() < 0.3:
            self.statement(depth)
        self.read(depth, f"(const long *){name}")

    def block(self, depth):
        self.put(depth, "{")
        self.array(depth + 1)
        self.put(depth, "}")

    def temporary(self, depth):
        self.number += 1
        self.read(depth, f"words_of(whole({self.number}))")

    def either(self, depth):
        self.put(depth, f"if (which & {1 << self.random.randrange(3)}) {{")
        self.array(depth + 1)
        if self.random.random() < 0.3:
            self.put(depth + 1, "return sum * 5 + way;")
        if self.random.random() < 0.7:
            self.put(depth, "} else {")
            self.statement(depth + 1)
        self.put(depth, "}")

    def loop(self, depth):
        self.put(depth, f"for (int i{depth} = 0; i{depth} < (which & 3); i{depth}++) {{")
        self.statement(depth + 1)
        self.put(depth, "}")

    def helper(self, depth):
        if self.helpers:
            self.put(depth, f"sum += {self.random.choice(self.helpers)}(which);")
        else:
            self.block(depth)

    def statement(self, depth):
        if depth > 5:
            self.block(depth)
            return
        kinds = [self.block, self.array, self.either, self.either, self.loop, self.helper]
        if self.temporaries:
            kinds.append(self.temporary)
        make = self.random.choice(kinds)
        if make == self.array and depth > 1:
            make = self.block
        make(depth)

    def function(self, head):
        self.put(0, "")
        self.put(0, head)
        self.put(0, "{")
        self.put(1, "long sum = 0;")
        for _ in range(self.random.randrange(2, 5)):
            self.statement(1)
        self.put(1, "return sum * 5 + way;")
        self.put(0, "}")

    def program(self, functions):
        self.helpers = []
        made = []
        for i in range(functions // 3):
            self.function(f"INLINED long helper{i}(int which)")
            made.append(f"helper{i}")
        self.helpers = made
        for i in range(functions):
            self.function(f"ONE_FUNCTION static long f{i}(int which)")
        self.put(0, "")
        self.put(0, "int main(void)")
        self.put(0, "{")
        self.put(1, "long sum = 0;")
        self.put(1, "for (int which = 0; which < 8; which++) {")
        for i in range(functions):
            self.put(2, f"sum += f{i}(which);")
        self.put(1, "}")
        self.put(1, "return sum == 1 || seen == 0;")
        self.put(0, "}")
        return HEAD + (TEMPORARY if self.temporaries else "") + "\n".join(self.lines) + "\n"


print(Maker(int(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else "c")
      .program(int(sys.argv[2])), end="")
