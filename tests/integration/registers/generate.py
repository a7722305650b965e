# SPDX-License-Identifier: MIT
"""Writes a program of functions made by chance, with many pointers to structures of one shape
whose registers the compiler uses again and again: a variable of an inner block has its register
for a part of that block only.

generate.py SEED FUNCTIONS: each line that the program writes is of one block: its address, its
bytes and the structure that lies there. The field at 8 times N of struct sK is called KfN."""
import random
import sys

TYPES = 5
WORDS = 6  # of a structure: pointers first, then numbers
HEAD = """/* Made by generate.py. */
#include <stdio.h>
#include <stdlib.h>

#define ONE_FUNCTION __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))
enum { ITEMS = 16 };
static volatile long way;
static int budget;
static void *roots[ITEMS];

__attribute__((noipa)) static void *make(unsigned long bytes, int type)
{
        void *block = calloc(1, bytes);

        printf("%p %lu s%d\\n", block, bytes, type);
        return block;
}
"""


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.number = 0
        self.points = []  # by type: what its pointers are to

    def put(self, depth, text):
        self.lines.append("        " * depth + text)

    def types(self):
        for k in range(TYPES):
            self.put(0, f"struct s{k};")
        for k in range(TYPES):
            to = [self.random.randrange(TYPES) for _ in range(3)]
            self.points.append(to)
            self.put(0, f"struct s{k} {{")
            for n in range(3):
                kind = "void" if n == 2 else f"struct s{to[n]}"
                self.put(1, f"{kind} *t{k}f{n};")
            for n in range(3, WORDS):
                self.put(1, f"{self.random.choice(['long', 'long', 'unsigned long'])} t{k}f{n};")
            self.put(0, "};")
        for k in range(TYPES):
            self.put(0, f"static {f'struct s{k}' if k % 2 else 'void'} *all{k}[ITEMS];")

    def index(self, names):
        word = self.number_of(names)
        return self.random.choice([f"({word}) & 15", f"(unsigned)({word}) % ITEMS",
                                   f"(int)({word}) & 7", f"way & 15"])

    def number_of(self, names):
        k, name = self.random.choice(names)
        return self.random.choice([f"{name}->t{k}f{self.random.randrange(3, WORDS)}", "sum",
                                   "which"])

    def pointer(self, names, k):
        """An expression that points to struct K."""
        kinds = ["all", "cast"]
        ways = [(name, j, n) for j, name in names for n in range(3) if self.points[j][n] == k]
        if ways:
            name, j, n = self.random.choice(ways)
            if self.random.random() < 0.75:
                return f"((struct s{k} *){name}->t{j}f{n})"
        if self.random.choice(kinds) == "all":
            return f"((struct s{k} *)all{k}[{self.index(names)}])"
        return f"((struct s{k} *)roots[{k} + {TYPES} * (way & 1)])"

    def statement(self, depth, names):
        kind = self.random.random()
        pad = depth
        if depth > 5 or kind < 0.35:
            k, name = self.random.choice(names)
            n = self.random.randrange(3, WORDS)
            self.put(pad, self.random.choice([
                f"sum += {name}->t{k}f{n};", f"sum ^= {name}->t{k}f{n} * 3;",
                f"{name}->t{k}f{n} += sum & 3;", f"if ({name}->t{k}f{n} & 1) way++;",
                f"sum += {self.pointer(names, k)}->t{k}f{n};"]))
        elif kind < 0.65:
            self.put(pad, "{")
            self.block(depth + 1, names)
            self.put(pad, "}")
        elif kind < 0.8:
            self.put(pad, f"if ({self.number_of(names)} & {1 << self.random.randrange(3)}) {{")
            self.block(depth + 1, names)
            self.put(pad, "}")
        elif kind < 0.9:
            self.put(pad, f"for (int i{depth} = 0; i{depth} < ({self.number_of(names)} & 3) && budget-- > 0; "
                          f"i{depth}++) {{")
            self.block(depth + 1, names)
            self.put(pad, "}")
        elif self.helpers:
            helper, (a, b) = self.random.choice(self.helpers)
            self.put(pad, f"sum += {helper}({self.pointer(names, a)}, {self.pointer(names, b)}, "
                          f"{self.number_of(names)});")
        else:
            self.put(pad, f"sum += {self.number_of(names)};")

    def block(self, depth, names):
        names = list(names)
        for _ in range(self.random.randrange(1, 3)):
            self.number += 1
            k = self.random.randrange(TYPES)
            if self.random.random() < 0.3:
                self.statement(6, names)
            self.put(depth, f"struct s{k} *v{self.number} = {self.pointer(names, k)};")
            names.append((k, f"v{self.number}"))
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth, names)

    def function(self, head, name, types):
        self.put(0, "")
        self.put(0, f"{head} long {name}(struct s{types[0]} *p, struct s{types[1]} *q, long which)")
        self.put(0, "{")
        self.put(1, "long sum = which;")
        names = [(types[0], "p"), (types[1], "q")]
        for _ in range(self.random.randrange(2, 5)):
            self.statement(1, names)
        self.put(1, "return sum;")
        self.put(0, "}")

    def program(self, functions):
        self.helpers, made = [], []
        self.types()
        for i in range(functions):
            kinds = self.random.randrange(TYPES), self.random.randrange(TYPES)
            inlined = i < functions // 2
            self.function("INLINED" if inlined else "ONE_FUNCTION static", f"f{i}", kinds)
            made.append((f"f{i}", kinds))
            self.helpers = made[:functions // 3]
        self.put(0, "")
        self.put(0, "int main(void)")
        self.put(0, "{")
        self.put(1, "long sum = 0;")
        for k in range(TYPES):
            self.put(1, "for (int i = 0; i < ITEMS; i++)")
            self.put(2, f"all{k}[i] = make(sizeof(struct s{k}), {k});")
        self.put(1, "for (int i = 0; i < ITEMS; i++) {")
        for k in range(TYPES):
            for n in range(3):
                self.put(2, f"((struct s{k} *)all{k}[i])->t{k}f{n} = all{self.points[k][n]}[(i * 7 + {n}) % ITEMS];")
            for n in range(3, WORDS):
                self.put(2, f"((struct s{k} *)all{k}[i])->t{k}f{n} = i * 5 + {k + n};")
            self.put(2, f"if (i < 2) roots[{k} + {TYPES} * i] = all{k}[i];")
        self.put(1, "}")
        self.put(1, "for (int which = 0; which < 16; which++) {")
        self.put(2, "way = which & 7;")
        for name, kinds in made:
            self.put(2, "budget = 100;")
            self.put(2, f"sum += {name}(all{kinds[0]}[which], all{kinds[1]}[which], sum);")
        self.put(1, "}")
        self.put(1, "return sum == 1;")
        self.put(0, "}")
        return HEAD + "\n".join(self.lines) + "\n"


print(Maker(int(sys.argv[1])).program(int(sys.argv[2])), end="")
