# SPDX-License-Identifier: MIT
"""Writes a program of C, also valid C++, that uses bit-fields by chance, and the truth about it.

bits.py SEED TYPES SOURCE TRUTH: each function of SOURCE reads or sets one bit-field of a structure
with several, or several at once, or copies all, in blocks without a type. TRUTH has lines of function, type and
fields: a&b where it reads both in any case, a|b where it may read one only."""
import random
import sys

FUNCTIONS = 8  # of a type

# Ways to use fields {a}, {b} and {c}.
ONE = ("total += {a};", "if ({a} == 1) total++;", "if ({a} > 1) total++;", "if ({a} < 2) total++;",
       "if ({a}) total++;", "total += table[{a} & 7];", "sum += {a};", "kept = (int){a};",
       "total += (unsigned long){a} << 3;", "take((int){a});", "if ({a} & 1) total++;",
       "if ({a} >= 4) total += 3;", "if ({a} != limit) total++;", "if ({a} > limit) total++;",
       "total += (unsigned long)-{a};", "if ({a} < 0) total++;", "total += (unsigned long)({a} * 7);")
# Of signed fields, whose sign is copied.
SIGNED = ("total += (unsigned long)({a} & 12);", "total += {a} < 0 ? 7 : 9;",
          "total += (unsigned long)({a} & 1 << 29);", "kept = {a} < 0;")
# What functions end with: a jump to another one.
LAST = ("take((int){a});", "taker((int){a});", "takers[{a} & 1](kept);",
        "takers[kept & 1]((int){a});")
# Copies of all fields but one.
COPY = "{t} copy = *item; copy.{f} = 1; {s} = copy; __asm__ volatile(\"\" ::: \"memory\");"
SET = ("item->{f} = (unsigned)i & 1;", "item->{f} = 1;", "item->{f} = 0;")
# Sums and joins, in place where a compiler does so.
COUNTED = ("item->{f} += 3;", "item->{f}++;", "item->{f}--;", "item->{f} += (unsigned)i;",
           "item->{f} += (unsigned)limit;", "item->{f} -= (unsigned)limit;", "item->{f} |= (unsigned)i;",
           "item->{f} |= (unsigned)limit;", "item->{f} ^= (unsigned)limit;", "item->{f} &= (unsigned)limit;",
           "item->{f} |= 1;", "item->{f} ^= 1;", "item->{f} &= 1;", "item->{f} = (unsigned)limit;",
           "item->{f} *= 3;", "item->{f} <<= 1;", "item->{f} = !item->{f};", "total += item->{f}++;",
           "if (++item->{f} == 1) total++;")
# Two at once, of which the second shares a byte with neighbours.
JOINED = ("item->{f} |= (unsigned)i; item->{g} = 1;", "item->{f} |= (unsigned)limit; item->{g} = 0;",
          "item->{f} += (unsigned)i; item->{g} = 1;", "item->{f}++; item->{g}--;",
          "item->{f} ^= (unsigned)limit; item->{g} |= 1;", "item->{f} += 1; item->{g} = (unsigned)i;",
          "item->{f} &= (unsigned)i; item->{g} ^= 1;", "item->{g} = 0u + item->{f};",
          "item->{f} += item->{g}; item->{g} = 0;", "item->{f} |= (unsigned)i; item->{g} |= (unsigned)limit;",
          "item->{f} -= (unsigned)limit; item->{g}++;", "item->{f} ^= 1; item->{g} ^= 1;")
TWO = ("total += (unsigned long)({a} * 3 + {b});", "if ({a} == {b}) total++;",
       "if ({a} == 1 && {b} == 1) total++;", "if ({a} > {b}) total++;",
       "if ({a} == 1) total += (unsigned long){b};", "total += (unsigned long)({a} ^ {b});",
       "take((int){a} * 64 + (int){b});", "if ({a} || {b}) total++;",
       "if ({a} < {b}) total += (unsigned long){a};", "if ({a}) kept = (int){b};",
       "sum += (double){a} * (double){b};", "table[{a} & 7] = (unsigned char){b};")
THREE = ("total += (unsigned long)({a} + {b} * 3 + {c} * 5);",
         "if ({a} == 1 && {b} == 2) total += (unsigned long){c};",
         "take((int)({a} | {b} | {c}));", "if ({a} == {b} && {c}) total++;")

HEAD = """#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
enum { ITEMS = 300, READS = 100 };
static unsigned long state = 88172645463325252ul;
static unsigned long total;
static double sum;
static volatile int kept;
static volatile int limit = 1;
static unsigned char table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static NOINLINE void take(int number) { total += (unsigned long)number; }
static NOINLINE void take_half(int number) { total += (unsigned long)number / 2; }
static void (*volatile taker)(int) = take;
static void (*takers[])(int) = {take, take_half};
static NOINLINE unsigned long next_random(void)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}
static void fill(void *block, unsigned long bytes)
{
        for (unsigned long i = 0; i < bytes; i++) /* mostly ones and zeros */
                ((unsigned char *)block)[i] = (unsigned char)(next_random() & next_random());
}
"""


def fields_of(rng):
    """Declarations of bit-fields that fill words, and their names."""
    declared, names = [], []
    if rng.random() < 0.3:
        declared.append(rng.choice(("long before;", "short before;", "char before;")))
    word = rng.choice((8, 16, 32, 32, 32, 64))
    base = {8: "char", 16: "short", 32: "int", 64: "long"}[word]
    left = word * rng.choice((1, 1, 2))
    while left > 0 and len(names) < 9:
        inside = left % word or word
        bits = min(rng.choice((1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 31)), inside)
        signed = "signed" if rng.random() < 0.25 and bits > 1 else "unsigned"
        names.append(f"b{len(names)}")
        declared.append(f"{signed} {base} {names[-1]} : {bits};")
        left -= bits
    return declared, names


def set_in_place(rng, number, names, second, in_loop, functions, calls, truths):
    """A function that sets one field, or with it one of SECOND, whose bytes have others."""
    name, at = f"use_{number}", number.split("_")[0]
    tag = f"struct bits{at}"
    used, ways = [rng.choice(names)], COUNTED
    others = [field for field in second if field not in used]
    if others:
        used.append(rng.choice(others))
        ways = JOINED
    way = rng.choice(ways).format(f=used[0], g=used[-1])
    if not in_loop or rng.random() < 0.5:
        way = way.replace("(unsigned)i", "(unsigned)n")
    block = f"(({tag} *)blocks[{at}])"
    if in_loop:
        functions.append(
            f"static NOINLINE void {name}({tag} *items, int n)\n{{\n"
            "        for (int i = 0; i < READS; i++) {\n"
            f"                {tag} *item = &items[next_random() % ITEMS];\n"
            f"                {way}\n        }}\n        total += {len(truths)};\n}}\n")
        calls.append(f"        {name}{block[:-1]}, limit);")
    else:
        functions.append(f"static NOINLINE void {name}({tag} *item, int n)\n{{\n"
                         f"        {way}\n        kept = {len(truths)};\n}}\n")
        calls.append(f"        for (int i = 0; i < READS; i++) "
                     f"{name}(&{block}[next_random() % ITEMS], i);")
    truths.append(f"{name}\t{tag}\t{'&'.join(sorted(used))}\n")


def main():
    rng = random.Random(int(sys.argv[1]))
    types, functions, calls, truths = [], [], [], []
    for number in range(int(sys.argv[2])):
        tag = f"struct bits{number}"
        declared, names = fields_of(rng)
        types.append(f"{tag} {{ {' '.join(declared)} }};\nstatic {tag} spare{number};")
        calls.append(f"        fill(blocks[{number}] = calloc(ITEMS, sizeof({tag})), "
                     f"ITEMS * sizeof({tag}));")
        for j in range(FUNCTIONS):
            count = min(rng.choice((1, 1, 2, 2, 3)), len(names))
            used = rng.sample(names, count)
            way = rng.choice((ONE + SET, TWO, THREE)[count - 1])
            name = f"use_{number}_{j}"
            read = {key: f"item->{field}" for key, field in zip("abc", used)}
            functions.append(
                f"static NOINLINE void {name}({tag} *items)\n{{\n"
                "        for (int i = 0; i < READS; i++) {\n"
                f"                {tag} *item = &items[next_random() % ITEMS];\n"
                f"                {way.format(f=used[0], **read)}\n        }}\n"
                f"        total += {len(truths)};\n}}\n")
            truths.append(f"{name}\t{tag}\t{('|' if 'if' in way else '&').join(sorted(used))}\n")
            calls.append(f"        {name}(({tag} *)blocks[{number}]);")
        signed = [line.split()[2] for line in declared if line.startswith("signed")]
        small = [line.split()[2] for line in declared
                 if ":" in line and int(line.split()[4][:-1]) < 8]
        more = [(LAST[number % len(LAST)], rng.choice(names))]
        if signed:
            more.append((rng.choice(SIGNED), rng.choice(signed)))
        for j, (way, field) in enumerate(more, FUNCTIONS):
            name = f"use_{number}_{j}"
            functions.append(
                f"static NOINLINE void {name}({tag} *items)\n{{\n"
                f"        {tag} *item = &items[next_random() % ITEMS];\n"
                f"        total += {len(truths)};\n"
                f"        {way.format(a='item->' + field)}\n}}\n")
            truths.append(f"{name}\t{tag}\t{field}\n")
            calls.append(f"        for (int i = 0; i < READS; i++) {name}(({tag} *)blocks[{number}]);")
        for j in range(4):
            set_in_place(rng, f"{number}_set{j}", names, small if j > 1 else [], j % 2 == 1,
                         functions, calls, truths)
        name = f"use_{number}_copy"
        functions.append(
            f"static NOINLINE void {name}({tag} *items)\n{{\n"
            "        for (int i = 0; i < READS; i++) {\n"
            f"                {tag} *item = &items[next_random() % ITEMS];\n"
            f"                {COPY.format(t=tag, f=rng.choice(names), s=f'spare{number}')}\n        }}\n"
            f"        total += {len(truths)};\n}}\n")
        truths.append(f"{name}\t{tag}\t{'|'.join(names)}\n")
        calls.append(f"        {name}(({tag} *)blocks[{number}]);")
    with open(sys.argv[3], "w", encoding="utf-8") as out:
        out.write(HEAD + "\n".join(types) + "\n" + "".join(functions) +
                  f"static void *volatile blocks[{sys.argv[2]}];\nint main(void)\n{{\n" +
                  "\n".join(calls) + "\n        return total == 1 && sum == 1;\n}\n")
    with open(sys.argv[4], "w", encoding="utf-8") as out:
        out.writelines(truths)


main()
