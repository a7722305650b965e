# SPDX-License-Identifier: MIT
"""Writes a program of C, also valid C++, that uses unions of members by chance, and the truth
about it.

unions.py SEED TYPES SOURCE TRUTH: each function of SOURCE reads one member only of a union in
blocks without a type, in one way: counts with it, tests its bits, hands it on, copies the whole
union. TRUTH has lines of function, type and field; "as.*" is the union as a whole."""
import random
import re
import sys

INTEGERS = ("char", "signed char", "unsigned char", "short", "unsigned short", "int",
            "unsigned", "long", "unsigned long")
FLOATS = ("float", "double")
COMPLEX = "_Complex float"
SMALL = {  # structures that registers hold, and a member of each
    "struct floats": ("float x; float y;", "y"),
    "struct real": ("double only;", "only"),
    "struct mixed": ("float x; int n;", "n"),
    "struct ints": ("int a; int b;", "a"),
    "struct shorts": ("short a; short b;", "b"),
    "struct marked": ("unsigned a : 5; unsigned b : 11; unsigned c : 16;", "b"),
    "struct wide": ("double x; double y;", "x"),
    "struct packed": ("char c; double x;", "x"),
}
NEIGHBOURS = {  # members that are tested at once
    "struct ints": ("a", "b"),
    "struct shorts": ("a", "b"),
}
WORDS = {"float": "unsigned", "double": "unsigned long"}
SIGNED = {"float": "int", "double": "long"}
AS_WIDE = {"int": "float", "unsigned": "float", "long": "double", "unsigned long": "double"}
FUNCTIONS = 5  # of a type

# Ways to read TYPE, an expression {e} of that type: statements.
COUNT = "sum += (double)({e});"
KEEP = "*({t} *)kept = {e};"
NUMBER = (
    COUNT, COUNT, KEEP, "total += (unsigned long)(({e}) * 3);", "if (({e}) > 7) total++;",
    "if (({e}) == 5) total++;", "if (({e}) < 0) total++;", "take_{n}({e});",
    "total += get_{n}(item) != 0;", "if ({e}) total++;", "kept_int = (int)({e});",
    "kept_short = (short)({e});",
)
# Casts, most of them without an instruction, to {c}: of what is handed on, returned, or kept in
# a variable.
AS_ANOTHER = ("@{c}@take_{n}(({c})({e}));", "@{c}@total += get_{n}(item) != 0;",
              "{c} local = ({c})({e}); *({c} *)kept = local; "
              "if (local == *({c} *)(kept + 64)) total++;")
INTEGER = NUMBER + (
    "total += ({e}) & 7;", "if (({e}) & 4) total++;", "total += (unsigned long)({e}) >> 3;",
    "total += table[({e}) & 15];", "total ^= (unsigned long)({e});",
    "total += (unsigned long)({e}) % 10;", "total += (unsigned char)({e});",
    "total += ((unsigned long)({e}) >> 8) & 255;", "if ((({e}) & 255) == 5) total++;",
    "kept_int = (int)~({e});",
    # Cut to fewer bytes that are counted with in their turn.
    "total += (unsigned long)(long)(short)({e});", "if ((short)({e}) > 7) total++;",
    "total += (unsigned long)(long)(int)({e});", "if ((int)({e}) > 7) total++;",
    "kept_int = (int)({e}) / 7;", "kept_int = (int)({e}) % 10;", "total += kept[(int)({e}) & 63];",
    "kept_int = kept[(unsigned char)({e})];", "if ((int)({e}) == 5) total++;",
    "sum += (double)(int)({e});", "sum += (float)(int)({e});", "sum += (double)(short)({e});",
    "sum += (double)(unsigned char)({e});", "sum += (double)(unsigned)({e});",
    "sum += (float)(short)((unsigned long)({e}) >> 16);",
    "sum += (double)(int)((unsigned long)({e}) >> 32);",
    "total += (unsigned long)(long)(short)((unsigned long)({e}) >> 16);",
    "if ((short)((unsigned long)({e}) >> 8) > 7) total++;",
) + tuple(way.replace("{c}", to) for to in
          ("int", "unsigned", "short", "long", "unsigned long", "double", "char *")
          for way in AS_ANOTHER)
# What programs do to the bits of floating point, in {w} bits.
OF_BITS = (
    # Hashes.
    "total = total * 31 + bits;", "total += bits;", "total ^= bits & 0xfff;", "total += bits * 31;",
    "total = (total << 5) + total + bits;", "total = (total ^ bits) * 1099511628211ul;",
    "total += ((bits << 5) + bits) ^ bits >> 3;", "total += bits % 1009;",
    "total |= 1ul << (bits & 63);", "kept[bits & 127]++;", "kept[128 + (bits >> 8) % 127]++;",
    # Rounding to fewer bits, and to a multiple of a power of two.
    "kept_short = (short)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);",
    "*({w} *)kept = (bits + 0x800) & ~({w})0xfff;", "*({w} *)kept = bits & ~({w})7;",
    # The next number, and how many are between two.
    "bits++; *({w} *)kept = bits;", "bits--; *({w} *)kept = bits;", "*({w} *)kept = bits + 2;",
    "total += bits - *({w} *)kept;", "{s} ulps = ({s})(bits - *({w} *)kept); "
    "if (ulps < 0) ulps = -ulps; if (ulps <= 4) total++;",
    "if (bits - *({w} *)kept + 4 <= 8) total++;",
    # Order, and whether it is nothing or a number at all.
    "if (bits > *({w} *)kept) total++;", "if (({s})bits < *({s} *)kept) *({s} *)kept = ({s})bits;",
    "if (bits == 0) total++;", "total += bits != 0;", "if (({s})bits > 0) total++;",
    "if (bits == ({w})-1) total++;", "if (({s})bits > -5) total++;",
    # Keys for sorting, and digits of these.
    "bits ^= ({w})-({s})(bits >> (sizeof(bits) * 8 - 1)) | ({w})1 << (sizeof(bits) * 8 - 1); "
    "*({w} *)kept = bits;",
    "*({w} *)kept = ({s})bits < 0 ? ~bits : bits | ({w})1 << (sizeof(bits) * 8 - 1);",
    "kept[bits >> (sizeof(bits) * 8 - 8) & 127]++;", "kept[bits >> 8 & 15]++;",
    "total += table[bits & 15];", "total += table[(unsigned char)bits & 7];",
    # An inverse root's first guess, the absolute number, another's sign, the exponent.
    "bits = (sizeof(bits) == 4 ? ({w})0x5f3759df : ({w})0x5fe6eb50c7b537a9) - (bits >> 1); "
    "*({w} *)kept = bits;",
    "bits &= ~(({w})1 << (sizeof(bits) * 8 - 1)); *({w} *)kept = bits;",
    "{w} sign = ({w})1 << (sizeof(bits) * 8 - 1); "
    "*({w} *)kept = (bits & ~sign) | (*({w} *)kept & sign);",
    "total += (bits >> (sizeof(bits) == 4 ? 23 : 52)) & (sizeof(bits) == 4 ? 255 : 2047);",
    "kept_int = (int)((bits >> (sizeof(bits) == 4 ? 23 : 52)) & 255) - 127;",
    "*({w} *)kept = bits + (({w})3 << (sizeof(bits) == 4 ? 23 : 52));",
    "if ((bits & 1) == 0) total++;", "total += (unsigned)__builtin_popcountl(bits);",
    "total += (unsigned)__builtin_ctzl(bits | 1);", "bits = -bits; *({w} *)kept = bits;",
    # Tags in numbers that are none.
    "if ((bits & 7) == 3) total++;", "if (bits >> (sizeof(bits) * 8 - 13) == 0x1fff) total++;",
    "if ((bits & 0xff) == 5) total++;", "if ((unsigned char)bits != 7) total++;",
    "*({w} *)kept = bits | 3;", "*({w} *)kept = bits ^ 0xff;", "*({w} *)kept = ~bits;",
    "total += bits & 0xffff;", "total += (unsigned short)bits * 3;",
    # Extended and divided.
    "total += (unsigned long)(long)({s})bits;", "total += (unsigned long)(long)(int)bits;",
    "kept_int = (int)(({s})bits / 1009);", "kept_int = (int)(({s})bits % 1009);",
    "*({s} *)kept = ({s})bits / (*({s} *)(kept + 64) | 1);",
    "total += (unsigned long)(long)(short)bits;", "kept_int = (int)bits / 7;",
    # Logarithms, and what else converts bits.
    "sum += (float)({s})bits * 1.1920929e-7f;", "sum += (double)({s})bits;", "sum += (double)bits;",
    "sum += (float)bits;", "sum += (double)(int)bits;", "sum += (double)(short)bits;",
    "sum += (float)(short)(bits >> 16);", "sum += (double)(int)(bits >> (sizeof(bits) * 8 - 32));",
    "total += (unsigned long)(long)(short)(bits >> 8);",
    "if ((sizeof(bits) == 8 ? (int)bits : (short)bits) > 7) total++;",
    "kept_int = kept[sizeof(bits) == 8 ? (int)bits : (short)bits];",
    # Handed on as they are, and cut.
    "take_bits((unsigned)bits);", "take_long(bits);", "@{w}@total += get_{n}(item) != 0;",
    "@int@total += get_{n}(item) != 0;", "@{s}@take_{n}(({s})bits);", "@short@take_{n}((short)bits);",
    "{w} other = bits; *({w} *)kept = other; if (other == *({w} *)(kept + 64)) total++;",
    "int other = (int)bits; kept_int = other; if (other == *(int *)(kept + 64)) total++;",
)
# Integers whose bits are taken for floating point, which compilers show where they do something
# to them before.
TAKEN = "{t} bits = {e}; {f} number; "
AS_FLOATING = (
    TAKEN + "bits += ({t})1 << (sizeof(bits) == 4 ? 23 : 52); "
    "memcpy(&number, &bits, sizeof(number)); sum += number;",
    TAKEN + "bits &= ({t})~7ul; memcpy(&number, &bits, sizeof(number)); sum += number;",
    TAKEN + "if (bits >> (sizeof(bits) * 8 - 9) == 5) total++; "
    "memcpy(&number, &bits, sizeof(number)); sum += number;",
    TAKEN + "total ^= (unsigned long)bits; memcpy(&number, &bits, sizeof(number)); "
    "if (number > 7) total++;",
    TAKEN + "if (bits > 5) total++; memcpy(&number, &bits, sizeof(number)); sum += number * 2;",
    TAKEN + "memcpy(&number, &bits, sizeof(number)); total += (unsigned long)bits; "
    "take_number(number);",
)
COPY_BITS = "{w} bits; memcpy(&bits, &{e}, sizeof(bits)); "
FLOATING = NUMBER * 4 + tuple(COPY_BITS + way for way in OF_BITS) + (
    "if (__builtin_signbit({e})) total++;", "if (__builtin_isnan({e})) total++;",
    "if (!__builtin_isfinite({e})) total++;",
    "sum += __builtin_fabs({e});", "*({t} *)kept = -({e});",
    COPY_BITS + "total += bits >> 7;",
    COPY_BITS + "if ((long)(bits << 1) == 0) total++;",
    COPY_BITS + "total ^= bits * 0x9e3779b97f4a7c15ul; total ^= total >> 32;",
    COPY_BITS + "*({w} *)kept = bits;",
    COPY_BITS + "if (bits >> (sizeof(bits) * 8 - 1)) total++;",
    "{w} bits = __atomic_load_n((const {w} *)&{e}, __ATOMIC_SEQ_CST); {t} number; "
    "memcpy(&number, &bits, sizeof(number)); sum += number;",
    "{t} number; __atomic_load(({t} *)&{e}, &number, __ATOMIC_ACQUIRE); *({t} *)kept = number;",
)
POINTER = ("total += *{e};", "if ({e}) total++;", "*({t} *)kept = {e};", "take_pointer({e});",
           "total += (unsigned long)({e}) & 7;", "if ({e} == (const char *)kept) total++;",
           "sum += (double)(long)({e});", "sum += (double)(unsigned long)({e});",
           "sum += (double)(int)(long)({e});", "total += (unsigned)(unsigned long)({e}) * 3;",
           "if ((int)(long)({e}) > 7) total++;", "@int@take_{n}((int)(long)({e}));",
           "kept_int = (int)(long)({e}) / 7;") + \
    tuple(way.replace("{c}", to) for to in ("long", "unsigned long", "const void *")
          for way in AS_ANOTHER)
COMPLEX_WAYS = ("sum += (double)__real__ {e};", "sum += (double)__imag__ {e};", KEEP, "take_{n}({e});")
WHOLE = ("*({t} *)kept = {e};", "memcpy(kept, &{e}, sizeof({e}));", "take_{n}({e});",
         "*({t} *)kept = get_{n}(item);",
         "if (memcmp(kept, &{e}, sizeof({e})) == 0) total++;",
         "{t} copied = {e}; use(&copied);",
         "unsigned long bits = 0; memcpy(&bits, &{e}, sizeof({e})); take_long(bits);")


def integer_ways(kind):
    return INTEGER + (AS_FLOATING if kind in AS_WIDE else ())


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.types, self.functions, self.calls, self.truths = [], [], [], []

    def member(self, name):
        """(declaration, field, expression, type, ways)"""
        rng = self.rng
        shape = rng.random()
        if shape < 0.35:
            kind = rng.choice(INTEGERS)
            return f"{kind} {name}", name, name, kind, integer_ways(kind)
        if shape < 0.6:
            kind = rng.choice(FLOATS)
            return f"{kind} {name}", name, name, kind, FLOATING
        if shape < 0.7:
            return f"const char *{name}", name, name, "const char *", POINTER
        if shape < 0.72:
            return f"{COMPLEX} {name}", name, name, COMPLEX, COMPLEX_WAYS
        if shape < 0.78:
            kind, items = rng.choice(INTEGERS + FLOATS), rng.choice((2, 3, 4, 8))
            ways = FLOATING if kind in FLOATS else integer_ways(kind)
            return f"{kind} {name}[{items}]", f"{name}[]", \
                f"{name}[{rng.choice((0, 1, 'i & 1'))}]", kind, ways
        if shape < 0.86:
            return f"struct {{ unsigned a : 3; unsigned b : 7; unsigned c : 22; }} {name}", \
                f"{name}.b", f"{name}.b", "unsigned", (COUNT, "if ({e} & 2) total++;")
        kind = rng.choice([s for s in SMALL if s not in ("struct packed", "struct wide")])
        return f"{kind} {name}", name, name, kind, WHOLE

    def inside(self, member):
        """Perhaps one field of MEMBER, a structure, instead of all of it."""
        declared, field, read, kind, ways = member
        if kind not in SMALL or self.rng.random() < 0.5:
            return member
        if kind in NEIGHBOURS and self.rng.random() < 0.4:
            first, second = (f"{{e}}.{name}" for name in NEIGHBOURS[kind])
            values = self.rng.choice(((0, 0), (0, 0), (-1, -1), (5, 0), (1, 2)))
            return declared, field, read, kind, \
                (f"if ({first} == {values[0]} && {second} == {values[1]}) total++;",)
        text, name = SMALL[kind]
        part = next(p for p in text.split(";") if p.split(":")[0].split()[-1] == name)
        of = part.split(":")[0].rsplit(None, 1)[0].strip()
        ways = (COUNT,) if ":" in part else FLOATING if of in FLOATS else INTEGER
        return declared, f"{field}.{name}", f"{read}.{name}", of, ways

    @staticmethod
    def in_register(members):
        """Whether a union of MEMBERS is copied in one piece, to all of them."""
        text = " ".join(m[0] for m in members)
        return not re.search(r"\[[348]\]|(long|double) \w+\[2\]", text)

    def type(self, number):
        rng = self.rng
        members = [self.member(f"m{i}") for i in range(rng.randint(2, 4))]
        tag, of = f"struct cell{number}", f"union value{number}"
        anonymous = rng.random() < 0.3
        before = rng.choice(("", "long tag;", "int tag;", "char tag; ", "double tag;"))
        after = rng.choice(("", "int rest;", "char rest[3];"))
        body = " ".join(f"{m[0]};" for m in members)
        if anonymous:
            self.types.append(f"{tag} {{ {before} union {{ {body} }}; {after} }};")
        else:
            self.types.append(f"{of} {{ {body} }};\n{tag} {{ {before} {of} as; {after} }};")
        self.calls.append(f"        blocks[{number}] = calloc(ITEMS, sizeof({tag}));\n"
                          f"        ((char *)blocks[{number}])[0] = 0; fill((char *)blocks[{number}], ITEMS * sizeof({tag}));")
        prefix = "" if anonymous else "as."
        for j in range(FUNCTIONS):
            if not anonymous and self.in_register(members) and rng.random() < 0.2:
                field, read, kind, ways = "as.*", "as", of, WHOLE
            else:
                _, field, read, kind, ways = self.inside(rng.choice(members))
                field = prefix + field
                read = prefix + read
            self.function(f"read_{number}_{j}", tag, field, read, kind, rng.choice(ways))

    def function(self, name, tag, field, read, kind, way):
        if "*item" in way or kind.endswith("*"):
            pass
        expression = f"item->{read}"
        if kind == "const char *" and "*{e}" in way:
            expression = f"({expression} ? {expression} : \"\")"
        own = name.replace("read", "own")
        asked = re.search("@(.*?)@", way)
        passed = asked[1] if asked else kind
        statement = way.replace(asked[0], "") if asked else way
        words = {"e": expression, "t": kind, "n": own, "w": WORDS.get(kind, ""),
                 "s": SIGNED.get(kind, ""), "f": AS_WIDE.get(kind, "")}
        passed, statement = passed.format(**words), statement.format(**words)
        field_read = field
        if f"take_{own}" in statement:
            self.functions.append(f"static NOINLINE void take_{own}({passed} value)\n"
                                  "{ memcpy(kept, &value, sizeof(value)); }\n")
        if f"get_{own}" in statement:
            # The load is in the function that hands the value on.
            index = read.replace("i & 1", "1")
            result = f"return ({passed})item->{index};" if passed != kind else \
                f"return item->{index};"
            if COPY_BITS in way: # of floating point they are returned
                word = words["w"]
                result = f"{word} bits; memcpy(&bits, &item->{index}, sizeof(bits)); " \
                    f"return ({passed})bits;"
                statement = statement[statement.index("total"):]
            self.functions.append(f"static NOINLINE {passed} get_{own}(const {tag} *item)\n"
                                  f"{{ {result} }}\n")
            self.truths.append(f"get_{own}\t{tag}\t{field_read}\n")
        else:
            self.truths.append(f"{name}\t{tag}\t{field_read}\n")
        self.functions.append(
            f"static NOINLINE void {name}(const {tag} *items, unsigned long count)\n{{\n"
            "        for (unsigned long i = 0; i < READS; i++) {\n"
            f"                const {tag} *item = &items[next_random() % count];\n"
            # Compilers make functions that are the same one.
            f"                {statement}\n        }}\n        total += {len(self.truths)};\n}}\n")
        number = name.split("_")[1]
        self.calls.append(f"        {name}((const {tag} *)blocks[{number}], ITEMS);")


HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noipa_))
enum { ITEMS = 300, READS = 100 };
static unsigned long state = 88172645463325252ul;
static unsigned long total;
static double sum;
static char kept[256] __attribute__((aligned(16)));
static volatile int kept_int;
static volatile short kept_short;
static const unsigned char table[16] = {1, 2, 3, 4, 5, 6, 7, 8};
static NOINLINE void use(const void *bytes) { memcpy(kept + 128, bytes, 8); }
static NOINLINE void take_pointer(const char *pointer) { total += (unsigned long)pointer; }
static NOINLINE void take_bits(unsigned bits) { memcpy(kept, &bits, sizeof(bits)); }
static NOINLINE void take_number(double number) { memcpy(kept, &number, sizeof(number)); }
static NOINLINE void take_long(unsigned long bits) { memcpy(kept, &bits, sizeof(bits)); }
static NOINLINE unsigned long next_random(void)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
}
static void fill(char *bytes, unsigned long count) { memset(bytes, 0, count); }
""".replace("__attribute__((noipa_))", "__attribute__((noinline))")


def main():
    seed, count, source, truth = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5]
    program = Program(random.Random(seed))
    for i in range(count):
        program.type(i)
    small = "".join(f"{name} {{ {text} }}" +
                    (" __attribute__((packed))" if "packed" in name else "") + ";\n"
                    for name, (text, _) in SMALL.items())
    with open(source, "w", encoding="utf-8") as out:
        out.write(HEAD + small + "\n".join(program.types) + "\n" +
                  "".join(program.functions) +
                  f"static void *volatile blocks[{count}];\nint main(void)\n{{\n" +
                  "\n".join(program.calls) + "\n        return total == 1 && sum == 1;\n}\n")
    with open(truth, "w", encoding="utf-8") as out:
        out.writelines(program.truths)


main()
