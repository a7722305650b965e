# SPDX-License-Identifier: MIT
"""Functions of one name in one program, and each has loads: static functions of several files, also
inlined and without debug information, overloads, lambdas. All commands distinguish them alike; a
name that is unique stays."""
import csv
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

from symbolize_db import output as run

MEMLAG = os.environ["MEMLAG"]
CC = os.environ.get("CC", "cc")
LOOP = "{ long s = 0; for (long i = 0; i < n; i++) s += v[i * STEP]; return s; }"
HEADER = f"""
static __attribute__((noinline)) long helper(long *v, long n) {LOOP}
"""
UNIT = f"""
#define STEP FACTOR
#include "util.h"
static __attribute__((noinline)) long cmp(long *v, long n) {LOOP}
static inline __attribute__((always_inline)) long walk(long *v, long n) {LOOP}
static __attribute__((noinline)) long only_NAME(long *v, long n) {LOOP}
long run_NAME(long *v, long n)
{{
        return cmp(v, n / 64) + walk(v, n / 64) + only_NAME(v, n / 64) + helper(v, n / 64);
}}
"""
DEEP = f"""
#define STEP 8
static __attribute__((noinline)) long init(long *v, long n) {LOOP}
long run_NAME(long *v, long n) {{ return init(v, n / 64); }}
"""
MAIN = """
#include <stdlib.h>
long run_a(long *, long), run_b(long *, long), run_x(long *, long), run_y(long *, long);
int main(int argc, char **argv)
{
        long n = 1 << 20, *v = malloc(n * sizeof(*v)), s = 0;
        for (long i = 0; i < n; i++)
                v[i] = i ^ (long)argv;
        s += run_a(v, n);
        if (argc == 1)
                s += run_b(v, n) + run_x(v, n) + run_y(v, n);
        return s == 7;
}
"""
CXX = """
#include <cstdlib>
#define SUM(item) long s = 0; for (long i = 0; i < n; i++) s += item; return s;
#define SUM_ALL(item) const long n = 16384; SUM(item)
struct line { long *v; };
__attribute__((noinline)) long sum(const line &l, long n) { SUM(l.v[i * 8]) }
__attribute__((noinline)) long sum(line &l, double) { SUM_ALL(l.v[i * 8 + 1]) }
template <class T> __attribute__((noinline)) long scan(const T *v, long n) { SUM(v[i * 8 + 2]) }
template <class T> __attribute__((noinline)) long scan(const T *v, double) { SUM_ALL(v[i * 8 + 3]) }
struct box {
        long *v;
        __attribute__((noinline)) long operator()(long n) const { return scan(v + 1, n) + v[8]; }
        __attribute__((noinline)) long operator()(double n) { return scan(v + 1, n) + v[8]; }
};
int main(int argc, char **)
{
        long n = 16384;
        line l{(long *)std::malloc(n * 64)};
        for (long i = 0; i < n * 8; i++)
                l.v[i] = i * argc;
        auto inlined = [&](int k) __attribute__((always_inline)) { SUM(l.v[i * 8 + k]) };
        auto copied = [&](int k) __attribute__((noinline)) { SUM(l.v[i * 8 + k] * 3) };
        auto outer = [&](int k) {
                auto inner = [&](int j) { SUM(l.v[i * 8 + j] * 5) };
                return inner(k);
        };
        struct local {
                long *v;
                long sum(long n) { SUM(v[i * 8 + 1] * 7) }
        } of{l.v};
        box b{l.v};
        return b(n) + (argc == 1 ? b(1.0) : 0) +
                       sum(l, n) + (argc == 1 ? sum(l, 1.0) : 0) + inlined(argc) + copied(argc) +
                       copied(argc + 1) + outer(argc) + of.sum(n) == 9;
}
"""
SPACES = f"""
#define STEP 8
#define WHOLE __attribute__((noinline))
namespace shop {{
static WHOLE long find(long *v, long n) {LOOP}
static inline __attribute__((always_inline)) long walk(long *v, long n) {LOOP}
template <class T> static WHOLE long sum(const T *v, unsigned long n) {LOOP.replace("long i", "unsigned long i")}
namespace {{
WHOLE long hidden(long *v, long n) {LOOP}
struct cart {{
        long *v;
        long total(long n) const;
        template <class T> struct bag {{ WHOLE long size(T *v, long n) {LOOP} }};
}};
WHOLE long cart::total(long n) const {LOOP}
}}
long plain(long *v, long n) {{ return find(v, n) + hidden(v, n) + walk(v, n); }}
}}
template <class F> WHOLE long each(long *v, long n, F f) {LOOP.replace("v[i * STEP]", "f(v[i * STEP])")}
template <class F> inline __attribute__((always_inline)) long
every(const F &f, long n) {LOOP.replace("v[i * STEP]", "f(i * STEP)")}
int main(int argc, char **argv)
{{
        long n = 1 << 14, *v = new long[n * STEP];
        for (long i = 0; i < n * STEP; i++)
                v[i] = i ^ (long)argv;
        shop::cart cart{{v}};
        return shop::plain(v, n) + cart.total(n) + shop::cart::bag<long>().size(v, n) +
                       shop::sum(v, n) + shop::sum((unsigned long *)v, n) +
                       each(v, n, [&](long x) {{ return x * argc; }}) +
                       each(v, n, [&](long x) {{ return x ^ argc; }}) +
                       every([&](long i) {{ return v[i] * argc; }}, n) +
                       every([&](long i) {{ return v[i] ^ argc; }}, n) == 7;
}}
"""
SPACED = ["shop::find", "shop::(anonymous namespace)::hidden", "shop::sum<long>",
          "shop::sum<unsigned long>", "shop::(anonymous namespace)::cart::total",
          "shop::(anonymous namespace)::cart::bag<long>::size"]
LAMBDA_LINES = [n for n, text in enumerate(CXX.splitlines(), 1) if "= [&]" in text]


def write(path, text):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def build():
    write("util.h", HEADER)
    for name, factor in (("a", "8"), ("b", "16")):
        write(name + ".c", UNIT.replace("NAME", name).replace("FACTOR", factor))
    for name in ("x", "y"):
        write(name + "/deep.c", DEEP.replace("NAME", name))
    write("main.c", MAIN)
    units = ["main.c", "a.c", "b.c", "x/deep.c", "y/deep.c"]
    for program, *options in (("named", "-g"), ("bare",), ("linked", "-g", "-flto"),
                              ("dwarf4", "-gdwarf-4")):
        run(CC, "-O2", "-fno-ipa-icf", *options, "-o", program, *units)
    run("clang", "-O2", "-g", "-flto", "-fuse-ld=lld", "-o", "merged", *units)
    write("over.cc", CXX)
    run("g++", "-O2", "-g", "-fno-ipa-icf", "-o", "over", "over.cc")
    write("spaces.cc", SPACES)
    for program, *options in (("spaces",), ("spaces4", "-gdwarf-4"), ("spaceslto", "-flto")):
        run("g++", "-O2", "-g", "-fno-ipa-icf", *options, "-o", program, "spaces.cc")


def record(program, *arguments):
    database = "-".join((program, *arguments)) + ".db"
    subprocess.run([MEMLAG, "record", *os.environ["LOADS"].split(), "--period", "37", "--force", "-o",
                    database, "--", "./" + program, *arguments], check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return database


def functions(database, table="function_finding"):
    """Only the program's functions, without the linker's and the C library's."""
    rows = sqlite3.connect(database).execute(
        f"SELECT DISTINCT function FROM {table} WHERE module NOT LIKE '%.so%'"
        " AND function NOT LIKE '\\_%' ESCAPE '\\' AND function NOT LIKE '%@plt'").fetchall()
    return {row[0] for row in rows} - {"main"}


def expect(found, wanted, what):
    assert found == wanted, (what, "not", sorted(wanted - found), "but", sorted(found - wanted))


def check_views(database, wanted):
    for table in ("function_finding", "line_view", "line_finding", "sample_view"):
        expect(functions(database, table) - {"run_a", "run_b", "run_x", "run_y"}, wanted, table)
    shown = functions(database, "caller_view") - {"run_a", "run_b", "run_x", "run_y"}
    expect(shown, wanted, "caller_view")
    rows = csv.DictReader(run(MEMLAG, "report", "--by", "function", "--top", "0", "--format",
                              "csv", database).splitlines())
    reported = {row["function"] for row in rows}
    assert wanted <= reported, (wanted - reported)
    folded = run(MEMLAG, "export", "--weight", "samples", database)
    steps = {step for line in folded.splitlines() for step in line.rpartition(" ")[0].split(";")}
    assert wanted <= steps, (wanted - steps, steps)
    callgrind = run(MEMLAG, "export", "--format", "callgrind", database)
    named = set(re.findall(r"^c?fn=(?:\(\d+\) )?(.*)$", callgrind, re.M))
    assert wanted <= named, (wanted - named, named)


def check_statics():
    wanted = {"cmp (a.c)", "cmp (b.c)", "walk (a.c)", "walk (b.c)", "only_a", "only_b",
              "init (x/deep.c)", "init (y/deep.c)", "helper"}
    for program in ("named", "dwarf4"):
        database = record(program)
        check_views(database, wanted)
    # The functions that remain after link-time optimisation.
    expect(functions(record("linked")) & wanted, {
        "cmp (a.c)", "cmp (b.c)", "walk (a.c)", "walk (b.c)", "only_a", "only_b",
        "init (x/deep.c)", "init (y/deep.c)", "helper"}, "linked")
    merged = functions(record("merged"))
    assert {"cmp (a.c)", "cmp (b.c)", "only_a", "only_b"} <= merged, merged
    # One of them alone has the same name, because symbols name the other one.
    alone = functions(record("named", "alone"))
    assert {"cmp (a.c)", "only_a", "helper"} <= alone and "cmp" not in alone, alone
    # The plain name selects all of them.
    annotated = run(MEMLAG, "annotate", "-i", "named.db", "cmp")
    assert "cmp (a.c)" in annotated and "cmp (b.c)" in annotated, annotated
    chosen = run(MEMLAG, "report", "--by", "function", "-S", "cmp", "named.db")
    assert "cmp (a.c)" in chosen and "cmp (b.c)" in chosen and "walk" not in chosen, chosen
    compared = run(MEMLAG, "diff", "--by", "function", "--format", "csv", "named.db", "named.db")
    rows = {row["function"] for row in csv.DictReader(compared.splitlines())}
    assert {"cmp (a.c)", "cmp (b.c)", "init (x/deep.c)", "init (y/deep.c)"} <= rows, rows
    print("static functions of one name are told apart by their files")


def check_bare():
    """Without debug information: by the file that the symbols tell, or where these are of
    files of one name, by where the functions begin, as nm says."""
    places = {"init (+0x%x)" % int(line.split()[0], 16) for line in run("nm", "bare").splitlines()
              if line.endswith(" t init")}
    assert len(places) == 2, places
    database = record("bare")
    expect(functions(database) - {"run_a", "run_b", "run_x", "run_y"},
           {"cmp (a.c)", "cmp (b.c)", "only_a", "only_b", "helper (a.c)", "helper (b.c)"}
           | places, "bare")
    print("static functions without debug information, too")


def check_cxx():
    inlined, copied, outer, inner = LAMBDA_LINES
    found = {re.sub(r":\d+}", "}", name) for name in functions(record("over"))}
    at = "{{lambda at over.cc:{}}}::operator()".format
    expect(found - {"box::operator()(long) const", "box::operator()(double)"}, {
                   "scan<long>(long const*, long)", "scan<long>(long const*, double)",
                   "sum(line const&, long)", "sum(line&, double)", "main::local::sum",
                   "main::" + at(inlined), "main::" + at(copied),
                   "main::" + at(outer) + "::" + at(inner)}, "C++")
    # One of them alone has the same name, and diff compares it with itself.
    alone = functions(record("over", "alone"))
    assert "sum(line const&, long)" in alone, alone
    assert "scan<long>(long const*, long)" in alone, alone
    called = functions("over-alone.db", "caller_view")
    assert "box::operator()(long) const" in called, called
    assert not {"sum", "sum(line&, double)"} & alone, alone
    compared = run(MEMLAG, "diff", "--by", "function", "--format", "csv", "over.db",
                   "over-alone.db")
    rows = [row["function"] for row in csv.DictReader(compared.splitlines())]
    assert rows.count("sum(line const&, long)") == 1 and "sum" not in rows, rows
    print("overloads are told apart by their parameters, and lambdas by their lines")


def frames(database):
    """All functions with samples, and the functions inlined there, by address."""
    return functions(database, "caller_view") | functions(database)


def check_spaces():
    """A local name includes its scopes, as nm shows them for functions that are not inlined."""
    symbols = {line.split(maxsplit=2)[2] for line in run("nm", "-C", "spaces").splitlines()
               if " t " in line}
    for name in SPACED:
        assert any(name + "(" in symbol for symbol in symbols), (name, symbols)
    lines = [n for n, text in enumerate(SPACES.splitlines(), 1) if "[&]" in text]
    assert len(lines) == 4, lines
    for program in ("spaces", "spaces4", "spaceslto"):
        found = {re.sub(r":\d+}", "}", name) for name in frames(record(program))}
        wanted = set(SPACED) | {"shop::walk"}
        for template, line in zip(("each", "each", "every", "every"), lines):
            place = "main::{lambda at spaces.cc:%d}" % line
            wanted |= {place + "::operator()", f"{template}<{place} >"}
        assert wanted <= found, (program, wanted - found, found)
        assert not {"find", "walk", "hidden", "total", "size"} & found, (program, found)
    # Plain names choose the instances of templates, in any scope.
    for name, chosen in (("sum", {"shop::sum<long>", "shop::sum<unsigned long>"}),
                         ("shop::sum<long>", {"shop::sum<long>"}),
                         ("cart::total", {"shop::(anonymous namespace)::cart::total"})):
        rows = csv.DictReader(run(MEMLAG, "report", "--by", "function", "--format", "csv", "-S",
                                  name, "spaces.db").splitlines())
        expect({row["function"] for row in rows}, chosen, name)
        annotated = run(MEMLAG, "annotate", "--no-asm", "-i", "spaces.db", name)
        for function in chosen:
            assert function + " in spaces" in annotated, (name, annotated)
    print("what only one file knows has its scopes in its name, and lambdas their places")


def main():
    build()
    check_statics()
    check_bare()
    check_cxx()
    check_spaces()


sys.exit(main())
