# SPDX-License-Identifier: MIT
"""Writes a program of C, also valid C++, whose structures have members of all kinds by chance,
and the truth about it.

kinds.py SEED TYPES SOURCE TRUTH: each function of SOURCE reads one field only, in one way, of
blocks without a type; TRUTH has lines of function, type and field."""
import random
import sys

READS = 6  # functions of a type
SCALARS = ("char", "short", "int", "long", "float", "double", "unsigned char", "unsigned short",
           "unsigned", "unsigned long", "long double", "__int128", "_Complex float",
           "_Complex double", "enum kind", "_Bool", "char *", "struct any *")
VECTORS = ("v4f", "v2d", "v4i", "v8s")
BASES = ("unsigned", "int", "unsigned char", "unsigned short", "unsigned long", "enum kind", "_Bool")
BITS = {"unsigned": 31, "int": 31, "unsigned char": 8, "unsigned short": 16, "unsigned long": 60,
        "enum kind": 4, "_Bool": 1}
ANY = ("sum += (double)({e});", "total += (unsigned long)({e});", "if ({e}) total++;",
       "kept_int = (int)({e});")
NUMBER = ANY + ("if (({e}) > 3) total++;", "if (({e}) == 1) total++;", "if (({e}) < limit) total++;",
                "sum += (double)({e}) * 2;", "fsum += (float)({e});", "total += ({e}) > 1 ? 5 : 9;",
                "take_long((long)({e}));", "take_double((double)({e}));")
INTEGER = NUMBER + ("total += ({e}) & 7;", "total += table[({e}) & 7];", "total ^= (unsigned long)({e}) * 3;",
                    "total += (unsigned long)({e}) >> 2;", "if (({e}) & 4) total++;",
                    "total += (unsigned long)({e}) % 10;", "kept_short = (short)({e});")
POINTER = ("total += (unsigned long)({e});", "if ({e}) total++;", "if (({e}) == spare) total++;")
CHANGE = ("{l}++;", "{l} += 2;", "{l} = {l} + limit;", "{l} -= 1; total += {l} > 3;")


class Types:
    def __init__(self, rng):
        self.rng, self.text, self.known = rng, [], []

    def index(self, items):
        return f"[next_random() % {items}u]" if self.rng.random() < 0.75 else f"[{self.rng.randrange(items)}]"

    def scalar(self, name, within=""):
        kind = self.rng.choice(SCALARS)
        shape = self.rng.choice((0, 0, 0, 1, 1, 2))
        sizes = [self.rng.randint(2, 9) for _ in range(shape)]
        dims = "".join(f"[{s}]" for s in sizes)
        declared = f"{kind} {name}{dims}"
        read = name + "".join(self.index(s) for s in sizes)
        if "_Complex" in kind:
            part = self.rng.choice(("__real__", "__imag__"))
            return declared, [(name + "[]" * shape, "@" + part + "@" + read, "double")]
        return declared, [(name + "[]" * shape, read, kind)]

    def vector(self, name):
        kind = self.rng.choice(VECTORS)
        n = int(kind[1])
        return f"{kind} {name}", [(name + "[]", name + f"[{self.rng.randrange(n)}]", "vector")]

    def nested(self, name):
        tag, leaves = self.rng.choice(self.known)
        sizes = [self.rng.randint(2, 8) for _ in range(self.rng.choice((0, 1, 1, 2)))]
        at = "".join(self.index(s) for s in sizes)
        return f"struct {tag} {name}" + "".join(f"[{s}]" for s in sizes), [
            (f"{name}{'[]' * len(sizes)}.{f}", self.join(name + at, r), k) for f, r, k in leaves]

    @staticmethod
    def join(before, read):
        if read.startswith("@"):
            _, part, rest = read.split("@")
            return f"@{part}@{before}.{rest}"
        return f"{before}.{read}"

    def union(self, name):
        parts = []
        for i in range(self.rng.randint(2, 3)):
            make = self.rng.choice((self.scalar, self.scalar, self.inner, self.vector))
            parts.append(make(f"{name}{'abc'[i]}"))
        body = "union { " + " ".join(f"{p[0]};" for p in parts) + " }"
        if self.rng.random() < 0.35:
            return body, [leaf for _, leaves in parts for leaf in leaves]
        return f"{body} {name}", [(f"{name}.{f}", self.join(name, r), k) for _, ls in parts for f, r, k in ls]

    def inner(self, name):
        """A structure without a tag, or without a name too."""
        parts = []
        for i in range(self.rng.randint(1, 3)):
            make = self.rng.choice((self.scalar, self.scalar, self.bits))
            parts.append(make(f"{name}{'xyz'[i]}"))
        packed = " __attribute__((packed))" if self.rng.random() < 0.25 else ""
        body = f"struct{packed} {{ " + " ".join(f"{p[0]};" for p in parts) + " }"
        if self.rng.random() < 0.4:
            return body, [leaf for _, ls in parts for leaf in ls]
        size = self.rng.choice((0, 0, 2, 3))
        at = self.index(size) if size else ""
        return f"{body} {name}" + (f"[{size}]" if size else ""), [
            (f"{name}{'[]' if size else ''}.{f}", self.join(name + at, r), k) for _, ls in parts for f, r, k in ls]

    def bits(self, name):
        declared, leaves = [], []
        for i in range(self.rng.randint(2, 4)):
            base = self.rng.choice(BASES)
            width = self.rng.randint(1, min(BITS[base] - (base == "unsigned char"), 13))
            if base == "enum kind":
                width = max(width, 3)
            declared.append(f"{base} {name}{'pqrs'[i]} : {width}")
            leaves.append((f"{name}{'pqrs'[i]}", f"{name}{'pqrs'[i]}", "bits " + base))
        return "; ".join(declared), leaves

    def struct(self, tag, last):
        members, leaves = [], []
        for i in range(self.rng.randint(2, 6)):
            make = self.rng.choice((self.scalar, self.scalar, self.scalar, self.nested, self.nested, self.union,
                                    self.union, self.bits, self.inner, self.vector))
            if make == self.nested and not self.known:
                make = self.scalar
            declared, inside = make(f"m{i}")
            if self.rng.random() < 0.06 and make == self.scalar:
                declared += " __attribute__((aligned(16)))"
            members.append(declared)
            leaves += inside
        flexible = None
        if last:
            kind = self.rng.choice([k for k in self.known[-3:]] or [None])
            if kind and self.rng.random() < 0.6:
                members.append(f"struct {kind[0]} flex[]")
                flexible = [(f"flex[].{f}", self.join("flex[next_random() % ITEMS]", r), k) for f, r, k in kind[1]]
            else:
                what = self.rng.choice([s for s in SCALARS if "_Complex" not in s])
                members.append(f"{what} flex[]")
                flexible = [("flex[]", "flex[next_random() % ITEMS]", what)]
        packed = " __attribute__((packed))" if self.rng.random() < 0.15 else ""
        self.text.append(f"struct{packed} {tag} {{ " + " ".join(f"{m};" for m in members) + " };")
        if len(leaves) < 40 and not last:
            self.known.append((tag, leaves))
        return leaves, flexible


HEAD = """#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
#ifdef __cplusplus
#define _Bool bool
#endif
enum { ITEMS = 300, READS = 100 };
enum kind { NONE, ONE, TWO, THREE, LAST = 7 };
struct any;
typedef float v4f __attribute__((vector_size(16)));
typedef double v2d __attribute__((vector_size(16)));
typedef int v4i __attribute__((vector_size(16)));
typedef short v8s __attribute__((vector_size(16)));
static unsigned long state = 88172645463325252ul;
static unsigned long total;
static double sum;
static float fsum;
static void *volatile spare;
static volatile int kept_int, limit = 1;
static volatile short kept_short;
static unsigned char table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static NOINLINE void take_long(long number) { total += (unsigned long)number; }
static NOINLINE void take_double(double number) { sum += number; }
static NOINLINE unsigned long next_random(void)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}
static NOINLINE void *new_block(unsigned long bytes) { return calloc(1, bytes); }
"""


def main():
    seed, count, source, truth = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5]
    rng = random.Random(seed)
    types, functions, calls, truths = Types(rng), [], [], []
    for i in range(count):
        tag = f"s{i}"
        last = rng.random() < 0.2
        leaves, flexible = types.struct(tag, last)
        size = f"sizeof(struct {tag})"
        if flexible:
            # one, with its items behind it
            calls.append(f"        blocks[{i}] = new_block({size} + ITEMS * sizeof(((struct {tag} *)0)->flex[0]));")
            leaves = leaves[:6] + flexible * 2
        else:
            calls.append(f"        blocks[{i}] = new_block(ITEMS * {size});")
        for j, (field, read, kind) in enumerate(rng.sample(leaves, min(READS, len(leaves)))):
            name = f"read_{tag}_{j}"
            part = ""
            if read.startswith("@"):
                _, part, read = read.split("@")
            place = f"item->{read}"
            ways = POINTER if "*" in kind else ANY if kind == "_Bool" or kind == "bits _Bool" else \
                NUMBER if kind in ("float", "double", "long double", "vector") else INTEGER
            way = rng.choice(ways)
            if rng.random() < 0.15 and "enum" not in kind and "Bool" not in kind and "*" not in kind and not part:
                way = rng.choice(CHANGE)
            cast = "(int)" if "enum" in kind else ""
            way = way.format(e=f"{cast}{part} {place}", l=place)
            index = "0" if flexible else rng.choice(("next_random() % (unsigned long)count", "i % count", "i"))
            const = "" if way.startswith("item") else "const "
            functions.append(
                f"static NOINLINE void {name}({const}struct {tag} *items, long count)\n{{\n"
                f"        for (long i = 0; i < READS; i++) {{\n"
                f"                {const}struct {tag} *item = &items[{index}];\n"
                f"                {way}\n        }}\n        total += {len(functions)};\n}}\n")
            calls.append(f"        {name}((struct {tag} *)blocks[{i}], ITEMS);")
            if not kind.startswith("bits"):  # memlag names all bit-fields of the bytes
                truths.append(f"{name}\tstruct {tag}\t{field}\n")
    with open(source, "w", encoding="utf-8") as out:
        out.write(HEAD + "\n".join(types.text) + "\n" + "".join(functions) +
                  f"static void *volatile blocks[{count}];\nint main(void)\n{{\n" + "\n".join(calls) +
                  "\n        return sum != 0 && total == 1;\n}\n")
    with open(truth, "w", encoding="utf-8") as out:
        out.writelines(truths)


main()
