# SPDX-License-Identifier: MIT
"""Writes a random C program, also valid C++, and the truth about it. Its structures nest arrays,
structures, unions and bit-fields.

generate.py SEED TYPES SOURCE TRUTH [HEADER]: each function of SOURCE reads only one field, of
memory whose type only the function's pointer gives. TRUTH names the field: lines of function, type
and field. The items of each block begin behind HEADER bytes (0). One seed makes one program."""
import random
import sys

SCALARS = ("char", "short", "int", "long", "float", "double", "unsigned char",
           "unsigned short", "unsigned", "unsigned long")
READS = 4  # functions of a type


class Types:
    """Structures by chance, each of members (name, declaration, leaves). A leaf is
    (field, expression): its name as memlag writes it, and as C does."""

    def __init__(self, rng):
        self.rng = rng
        self.text = []
        self.known = []  # (tag, leaves)

    def index(self, items):
        return f"[next_random() % {items}]" if self.rng.random() < 0.8 \
            else f"[{self.rng.randrange(items)}]"

    def scalar(self, name):
        kind = self.rng.choice(SCALARS)
        shape = self.rng.choice(("", "", "", "1", "1", "2"))
        sizes = [self.rng.randint(2, 9) for _ in range(int(shape or 0))]
        declared = f"{kind} {name}" + "".join(f"[{size}]" for size in sizes)
        return declared, [(name + "[]" * len(sizes),
                           name + "".join(self.index(size) for size in sizes))]

    def nested(self, name):
        tag, leaves = self.rng.choice(self.known)
        sizes = [self.rng.randint(2, 8) for _ in range(self.rng.choice((0, 1, 1, 1, 2)))]
        declared = f"struct {tag} {name}" + "".join(f"[{size}]" for size in sizes)
        return declared, [(f"{name}{'[]' * len(sizes)}.{field}",
                           name + "".join(self.index(size) for size in sizes) + "." + read)
                          for field, read in leaves]

    def union(self, name):
        parts = [self.scalar(f"{name}{i}") for i in range(self.rng.randint(2, 3))]
        declared = "union { " + " ".join(f"{part[0]};" for part in parts) + f" }} {name}"
        return declared, [(f"{name}.{field}", f"{name}.{read}")
                          for _, leaves in parts for field, read in leaves]

    def bits(self, name):
        widths = [self.rng.randint(1, 12) for _ in range(self.rng.randint(2, 3))]
        declared = "; ".join(f"unsigned {name}{i} : {width}" for i, width in enumerate(widths))
        return declared, [(f"{name}{i}", f"{name}{i}") for i in range(len(widths))]

    def struct(self, tag):
        members, leaves = [], []
        for i in range(self.rng.randint(2, 5)):
            make = self.rng.choice((self.scalar, self.scalar, self.scalar, self.nested,
                                    self.nested, self.union, self.bits))
            if make == self.nested and not self.known:
                make = self.scalar
            declared, inside = make(f"m{i}")
            members.append(declared)
            leaves += inside
        self.text.append(f"struct {tag} {{ " + " ".join(f"{m};" for m in members) + " };")
        if len(leaves) < 40:
            self.known.append((tag, leaves))
        return leaves


HEAD = """#include <stdio.h>
#include <stdlib.h>
enum { ITEMS = 500, READS = 600 };
static unsigned long state = 88172645463325252ul;
static inline unsigned long next_random(void)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}
static __attribute__((noinline)) void *new_items(unsigned long bytes)
{
        return (char *)calloc(1, HEADER + bytes) + HEADER;
}
"""

READ = """static __attribute__((noinline)) double {name}(const struct {tag} *items, long count)
{{
        double sum = 0;
        for (long i = 0; i < READS; i++) {{
                const struct {tag} *item = &items[{index}];
                sum += (double)item->{read};
        }}
        return sum;
}}
"""


def main():
    seed, count, source, truth = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5]
    header = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    rng = random.Random(seed)
    types = Types(rng)
    functions, calls, truths = [], [], []
    for i in range(count):
        tag = f"s{i}"
        leaves = types.struct(tag)
        # Not of a variable with a type: an allocation without one.
        calls.append(f"        blocks[{i}] = new_items(ITEMS * sizeof(struct {tag}));")
        for j, (field, read) in enumerate(rng.sample(leaves, min(READS, len(leaves)))):
            name = f"read_{tag}_{j}"
            index = rng.choice(("next_random() % (unsigned long)count", "i % count"))
            functions.append(READ.format(name=name, tag=tag, read=read, index=index))
            calls.append(f"        sum += {name}((const struct {tag} *)blocks[{i}], ITEMS);")
            truths.append(f"{name}\tstruct {tag}\t{field}\n")
    with open(source, "w", encoding="utf-8") as out:
        out.write(f"enum {{ HEADER = {header} }};\n" + HEAD + "\n".join(types.text) +
                  "\n" + "".join(functions) +
                  f"static void *volatile blocks[{count}];\nint main(void)\n{{\n"
                  "        double sum = 0;\n" + "\n".join(calls) +
                  "\n        return sum != 0;\n}\n")
    with open(truth, "w", encoding="utf-8") as out:
        out.writelines(truths)


main()
