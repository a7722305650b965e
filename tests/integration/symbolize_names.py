# SPDX-License-Identifier: MIT
"""Names of code without debug information, or in the kernel: by symbol tables as nm reads them, the
kernel's file as addr2line reads it, a made-up kernel symbol list, and the vdso that the kernel maps
into each process."""
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

import symbolize_db
from symbolize_db import functions, instructions

source = os.environ["SOURCE_DIR"]
MEMLAG = os.environ["MEMLAG"]
SCHEMA = os.path.join(source, "profiler/db/schema.sql")
CC = os.environ.get("CC", "cc")

LIBRARY = """
static __attribute__((noinline)) int hidden(int n) { return n * 7 / 3; }
int shown(int n) { return hidden(n) + hidden(n + 1); }
static __attribute__((noinline)) int hidden_too(int n) { return n ^ hidden(n); }
int other_name(int n) __attribute__((alias("shown_too")));
int shown_too(int n) { return hidden_too(n) - 1; }
"""
KERNEL = """
static inline __attribute__((always_inline)) long half(long n)
{
        return n / 2;
}
long _text(long n)
{
        return half(n) + 1;
}
long schedule(long *items, long n)
{
        long sum = 0;
        for (long i = 0; i < n; i++)
                sum += half(items[i]);
        return sum + _text(n);
}
"""
# The compiler makes functions of the loops, without a word on where they are declared.
PARTS = """
#include "parts.h"
static __attribute__((noinline)) long work(long *items, long n)
{
        long sum = 0;
        _Pragma("omp parallel for reduction(+:sum)") for (long i = 0; i < n; i++)
                sum += items[i] % FACTOR;
        return sum;
}
long run_FACTOR(long *items, long n) { return work(items, n) + shared(items, n); }
"""
PARTS_HEADER = """
static __attribute__((noinline)) long shared(long *items, long n)
{
        long sum = 0;
        _Pragma("omp parallel for reduction(+:sum)") for (long i = 0; i < n; i++)
                sum += items[i] / 3;
        return sum;
}
"""
KERNEL_TEXT = 0xFFFFFFFF81000000
SLIDE = 0x1E600000  # where a kernel with KASLR may lie


def compile_file(name, text, *flags):
    pathlib.Path(name + ".c").write_text(text)
    subprocess.run([CC, "-O2", *flags, "-o", name, name + ".c"], check=True)
    return os.path.abspath(name)


def query(database, statement):
    return sqlite3.connect(database).execute(statement).fetchall()


def symbolize(database, *options):
    subprocess.run([MEMLAG, "symbolize", *options, database], check=True)
    return {row[0] % 2**64: row[1:] for row in query(
        database, "SELECT address_offset, function, file, line FROM location")}


def check_symbols():
    """Symbols for the linker, and when they are stripped those for the dynamic linker: what
    these do not have is not called after its neighbour."""
    path = compile_file("library.so", LIBRARY, "-shared", "-fPIC")
    every = functions(path)
    named = {name: every[name] for name in ("shown", "shown_too", "hidden", "hidden_too")}
    addresses = list(instructions(path, named.values()))
    for state in ("symbols for the linker", "symbols for the dynamic linker"):
        symbolize_db.make("library.db", SCHEMA, path, [(a, None) for a in addresses],
                          0x7F1234560000)
        answers = symbolize("library.db")
        for address in addresses:
            wanted = {name for name, code in named.items() if address in code}
            if "shown_too" in wanted:
                wanted.add("other_name")
            if state.endswith("dynamic linker"):
                wanted = {name for name in wanted if not name.startswith("hidden")} or {None}
            function, file, line = answers[address]
            assert function in wanted and file is None and line is None, (
                state, hex(address), answers[address], wanted)
        print(f"{state}: {len(addresses)} addresses agree")
        subprocess.run(["strip", path], check=True)
    assert not functions(path) and set(functions(path, "-D")) == {
        "shown", "shown_too", "other_name"}


def check_kernel_file():
    """The kernel where it was linked, and moved as by KASLR: functions, lines and inlined
    calls, which addr2line does not find in clang's DWARF 5."""
    path = compile_file("vmlinux", KERNEL, "-gdwarf-4" if "clang" in CC else "-g",
                        "-mcmodel=kernel", "-fno-pie", "-no-pie", "-static",
                        "-nostdlib", "-ffreestanding", "-fcf-protection=none",
                        "-Wl,-e,_text", f"-Wl,-Ttext={KERNEL_TEXT:#x}")
    code = functions(path)
    assert code["_text"].start == KERNEL_TEXT
    addresses = list(instructions(path, code.values()))
    wanted = symbolize_db.addr2line(path, addresses)
    for slide in (0, SLIDE):
        symbolize_db.make("kernel.db", SCHEMA, path, [(a, None) for a in addresses], slide)
        db = sqlite3.connect("kernel.db")
        db.execute("UPDATE mapping SET start_addr = start_addr + ?1,"
                   " file_offset_bytes = file_offset_bytes + ?1", (slide,))
        db.commit()
        db.close()
        found = symbolize_db.named(MEMLAG, "kernel.db", "--vmlinux=" + path)
        assert found == wanted, (slide, found, wanted)
    inlined = sum(len(chain) > 1 for chain in wanted.values())
    assert inlined > 3
    print(f"the kernel's file: {len(addresses)} addresses agree, {inlined} in inlined calls")


def code_symbols(path):
    """(address, name) of each function that nm shows, also of several of one name."""
    fields = (line.split() for line in symbolize_db.output("nm", path).splitlines())
    return [(int(line[0], 16), line[2]) for line in fields if len(line) == 3 and line[1] in "tT"]


def declared_in(path, address):
    line = symbolize_db.output("addr2line", "-e", path, hex(address))
    return os.path.basename(line.split(":")[0])


def names_at(path, addresses):
    database = os.path.basename(path) + ".db"
    symbolize_db.make(database, SCHEMA, path, [(a, None) for a in addresses], 0x7F1234560000)
    return {address: answer[0] for address, answer in symbolize(database).items()}


def check_parts():
    """What gcc makes of OpenMP's loops, in functions that each of two files has for itself,
    and in one of a header."""
    if "clang" in CC:
        return
    pathlib.Path("parts.h").write_text(PARTS_HEADER)
    for end in ("c", "cc"):
        path = os.path.abspath(f"parts_{end}.so")
        sources = [f"parts_5.{end}", f"parts_7.{end}"]
        for factor, file in zip("57", sources):
            pathlib.Path(file).write_text(PARTS.replace("FACTOR", factor))
        subprocess.run([CC, "-O2", "-g", "-fopenmp", "-shared", "-fPIC", "-o", path, *sources],
                       check=True)
        wanted = {}
        for start, name in code_symbols(path):
            if "_omp_fn" in name:
                wanted[start] = symbolize_db.output("c++filt", name).strip()
                if "work" in name:
                    wanted[start] += f" ({declared_in(path, start)})"
        assert len(wanted) == 4 and len(set(wanted.values())) == 3, wanted
        found = names_at(path, wanted)
        assert found == wanted, (found, wanted)
    print(f"parts of functions: {len(found)} agree in C and C++")


def kernel_database(addresses):
    """Samples in a kernel and in one of its modules, without a file of either."""
    symbolize_db.make("list.db", SCHEMA, "vmlinux", [], 0, b"\x11" * 20)
    db = sqlite3.connect("list.db")
    db.execute("UPDATE mapping SET start_addr = ?1, file_offset_bytes = ?1,"
               " length_bytes = ?2", (symbolize_db.stored(KERNEL_TEXT + SLIDE), 1 << 24))
    db.execute("INSERT INTO module VALUES (2, '[disk]', NULL)")
    db.execute("INSERT INTO mapping VALUES (NULL, 1, 'file', ?, ?, 0, 2, 'r-x', NULL, 0, NULL)",
               (symbolize_db.stored(0xFFFFFFFFC0400000), 1 << 16))
    db.executemany("INSERT INTO sample (time_ns, thread_id, cpu, ip, latency_cycles)"
                   " VALUES (?, 1, 0, ?, 100)",
                   enumerate(symbolize_db.stored(address) for address in addresses))
    db.commit()
    db.close()


def check_kernel_list():
    """A copy of /proc/kallsyms: of code, in no order, with two names for one address, which
    the first of the list wins, a module's, and data in between."""
    text = KERNEL_TEXT + SLIDE
    module = 0xFFFFFFFFC0400000
    pathlib.Path("kallsyms").write_text("\n".join((
        f"{text + 0x400:x} T schedule", f"{text:x} T _text", f"{text + 0x400:x} T __alias",
        f"{text + 0x100:x} t idle", f"{text + 0x200:x} d no_code",
        f"{text + 0x480:x} W weak", "0000000000000028 A not_an_address",
        f"{module + 0x40:x} t read_block\t[disk]", f"{module + 0x90:x} t write_block\t[disk]", "")))
    wanted = {text: "_text", text + 0xFF: "_text", text + 0x100: "idle", text + 0x210: "idle",
              text + 0x3FF: "idle", text + 0x400: "schedule", text + 0x47F: "schedule",
              text + 0x490: "weak", module + 0x10: None, module + 0x40: "read_block",
              module + 0x8F: "read_block", module + 0x90: "write_block"}
    kernel_database(wanted)
    found = {address: answer[0] for address, answer in symbolize(
        "list.db", "--kallsyms=kallsyms").items()}
    assert found == wanted, (found, wanted)
    # This kernel is not the one that runs here: without the list there are no names.
    assert {answer[0] for answer in symbolize("list.db", "--drop-names").values()} == {None}
    # As others than root get it: no addresses, and no names from it.
    pathlib.Path("hidden").write_text("0000000000000000 T _text\n0000000000000000 t idle\n")
    done = subprocess.run([MEMLAG, "symbolize", "--kallsyms=hidden", "list.db"], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and (
        "hidden: it names no code of a kernel" in done.stderr), done
    print(f"the kernel's list: {len(wanted)} addresses agree")


def check_vdso():
    """The vdso at every byte of a function, by nm -D. For another kernel or an unknown one, only
    the name vdso is known."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        found = re.search(r"^([0-9a-f]+)-([0-9a-f]+) .* \[vdso\]$", maps.read(), re.M)
    if not found:
        print("SKIPPED: the vdso: there is none here")
        return
    start, end = int(found[1], 16), int(found[2], 16)
    with open("/proc/self/mem", "rb") as memory, open("vdso.so", "wb") as image:
        memory.seek(start)
        image.write(memory.read(end - start))
    wanted = {}
    for name, code in functions("vdso.so", "-D").items():
        for address in code:
            wanted.setdefault(address, set()).add(name.partition("@")[0])
    assert len(wanted) > 50, wanted
    build_id = symbolize_db.build_id("vdso.so")
    base = 0x7FFD12340000
    for recorded, known in ((build_id, True), (build_id[::-1], False), (None, False)):
        symbolize_db.make("vdso.db", SCHEMA, "vdso.so", [(a, None) for a in wanted], base)
        db = sqlite3.connect("vdso.db")
        db.execute("UPDATE module SET path = '[vdso]', build_id = ?", (recorded,))
        db.execute("UPDATE mapping SET kind = 'vdso'")
        db.commit()
        db.close()
        answers = symbolize("vdso.db")
        if known:
            assert all(answers[address][0] in names for address, names in wanted.items()), answers
        else:
            assert {answer[0] for answer in answers.values()} == {"[vdso]"}, answers
    print(f"the vdso: {len(wanted)} addresses agree")


def main():
    check_symbols()
    check_parts()
    check_kernel_file()
    check_kernel_list()
    check_vdso()


main()
