# SPDX-License-Identifier: MIT
"""Functions, lines, inlined calls and variables, compared with an independent reader of DWARF and
symbols (addr2line and nm of binutils). Every instruction of programs that are built in all relevant
ways."""
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys

import symbolize_db

source = os.environ["SOURCE_DIR"]

# Code of some size that needs no library but C's, and is built here in other ways.
PARTS = [os.path.join(source, "symbolize/base", name + ".c")
         for name in ("range_map", "interval_map", "hash_index", "string_pool", "file_path")]
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "range_map.h"
#include "string_pool.h"
int initialised[50] = {1};
static double zeros[300];
static const short table[] = {1, 2, 3};
static int count(void) { static int counter; return ++counter; }
int main(int argc, char **argv)
{
        struct range_map map = {0};
        struct string_pool *pool = string_pool_new();
        for (int i = 0; i < argc; i++)
                range_map_add(&map, string_pool_put(pool, argv[i]), 100 + count(), table[i % 3]);
        range_map_build(&map);
        zeros[argc] = initialised[argc];
        return !range_map_find(&map, (uint64_t)zeros[1]);
}
"""


def build(name, *flags, compiler=os.environ.get("CC", "cc")):
    subprocess.run([compiler, "-std=gnu11", "-D_GNU_SOURCE", "-g", *flags,
                    "-I", os.path.join(source, "symbolize/base"),
                    "-I", os.path.join(source, "profiler/common"),
                    "-o", name, "main.c", *PARTS], check=True)
    return os.path.abspath(name)


def instructions(path):
    return list(symbolize_db.instructions(path))


def make(path, samples, base):
    symbolize_db.make("t.db", os.path.join(source, "profiler/db/schema.sql"), path, samples, base)


def named(path, addresses, base, *options):
    make(path, [(address, None) for address in addresses], base)
    return symbolize_db.named(os.environ["MEMLAG"], "t.db", *options)


def compare(name, path, debug_path, base, *options):
    addresses = instructions(debug_path)
    addresses = random.Random(1).sample(addresses, min(1500, len(addresses)))
    wanted = symbolize_db.addr2line(debug_path, addresses)
    found = named(path, addresses, base, *options)
    bad = [a for a in addresses if found[a] != wanted[a]]
    inlined = sum(len(answer) > 1 for answer in wanted.values())
    print(f"{name}: {len(addresses) - len(bad)} of {len(addresses)} addresses agree,"
          f" {inlined} of them in inlined functions")
    for address in bad[:5]:
        print(f"  {address:#x}\n    memlag    {found[address]}\n    addr2line {wanted[address]}")
    return not bad and len(addresses) > 500


def compare_data(name, path, base):
    """The variables of main.c, at every fourth byte."""
    wanted = {}
    for line in symbolize_db.output("nm", "-S", path).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[3].split(".")[0] in ("initialised", "zeros", "table",
                                                            "counter"):
            for offset in range(0, int(fields[1], 16), 4):
                wanted[int(fields[0], 16) + offset] = (fields[3].split(".")[0], offset)
    make(path, [(0, address) for address in wanted], base)
    subprocess.run([os.environ["MEMLAG"], "symbolize", "t.db"], check=True)
    found = {addr - base: (name, offset) for addr, name, offset in sqlite3.connect("t.db").execute(
        "SELECT addr, name, object_offset_bytes FROM sample JOIN attribution USING (sample_id)"
        " JOIN data_object USING (object_id) WHERE kind = 'global'")}
    bad = [a for a, (variable, offset) in wanted.items()
           if found.get(a) != ("count::counter" if variable == "counter" else variable, offset)]
    print(f"{name}: {len(wanted) - len(bad)} of {len(wanted)} data addresses agree")
    return not bad and len(wanted) > 600


def compare_thin_lto(version):
    """Clang's optimisation at link time, which takes functions over from other units. addr2line
    2.40 does not find clang's inlined calls in DWARF 5: it reads the same code's DWARF 4."""
    flags = ("-O2", "-pie", "-fPIE", "-flto=thin", "-fuse-ld=lld")
    whole = build("thin-whole", *flags, "-gdwarf-4", compiler="clang")
    path = build(f"thin-{version}", *flags, f"-gdwarf-{version}", compiler="clang")
    return compare(f"clang -flto=thin, DWARF {version}", path, whole, 0x7F1234560000)


def compare_zstd():
    """Debug information packed by zstd."""
    if subprocess.run(["objcopy", "--compress-debug-sections=zstd", "pie-O2", "zstd"],
                      check=False).returncode:
        print("SKIPPED: debug information packed by zstd: this objcopy cannot")
        return True
    return compare("packed by zstd", os.path.abspath("zstd"), "pie-O2", 0x7F1234560000)


def separate(path, debug):
    """Moves the debug information of PATH into the file DEBUG."""
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run(["strip", path], check=True)


def compare_split(compiler, version):
    """Entries in separate files, and in a package of such files. The code equals a program that
    contains its entries."""
    name = f"split-{os.path.basename(compiler)}-{version}"
    flags = ("-O2", "-pie", "-fPIE")
    # addr2line does not find clang's inlined calls in DWARF 5, whose ranges have numbers.
    whole = build(f"{name}-whole", *flags,
                  f"-gdwarf-{4 if compiler == 'clang' else version}", compiler=compiler)
    path = build(name, *flags, f"-gdwarf-{version}", "-gsplit-dwarf", compiler=compiler)
    good = compare(f"{name}, .dwo", path, whole, 0x7F1234560000)
    # Of DWARF 5 by GCC llvm-dwp makes no end.
    packer = shutil.which("llvm-dwp")
    packed = packer and version == 4
    if packed:
        subprocess.run([packer, "-e", path, "-o", path + ".dwp"], check=True)
    elif not packer:
        print(f"SKIPPED: {name}.dwp: no llvm-dwp here")
    for file in os.listdir("."):
        if file.endswith(".dwo"):
            os.remove(file)
    if packed:
        good &= compare(f"{name}, .dwp", path, whole, 0x7F1234560000)
        os.remove(path + ".dwp")
    # Without them the lines are still there, and nothing is made up.
    answers = named(path, instructions(whole)[:500], 0x7F1234560000)
    if not any(chain[0][2] for chain in answers.values()) or any(
            len(chain) > 1 for chain in answers.values()):
        print(f"{name}: wrong without the entries")
        good = False
    return good


def check_amalgamation():
    """Nearly all of this program is one unit, with many more lines than entries: it is large enough
    that units are divided among threads. The source gives the starts of functions."""
    with open("large.c", "w", encoding="utf-8") as text:
        text.write("volatile char sink;\n")
        for i in range(11000):
            text.write(f"void f{i}(void) {{\n" + "".join(
                f"#line {1000 * (k % 3 + 1) + i}\n{' ' * (k % 2 * 20)}sink;\n"
                for k in range(13)) + "}\n")
    pathlib.Path("small.c").write_text("void f0(void);\nint main(void) {\n        f0();\n}\n")
    path = os.path.abspath("amalgamation")
    subprocess.run([os.environ.get("CC", "cc"), "-O0", "-g1", "-o", path, "large.c", "small.c"],
                   check=True)
    lines = {}
    for line in symbolize_db.output("nm", path).splitlines():
        found = re.match(r"([0-9a-f]+) T f([1-9]\d*)$", line)
        if found:
            lines[int(found[1], 16)] = 1001 + int(found[2])
        elif line.endswith(" T main"):
            main = int(line.split()[0], 16)
    lines[main] = 2
    found = named(path, list(lines), 0x7F1234560000)
    bad = [address for address in lines if found[address][0][2] != lines[address]]
    print(f"amalgamation: {len(lines) - len(bad)} of {len(lines)} functions agree")
    return not bad and len(lines) == 11000


def compare_discarded(name, *flags):
    """Discarded functions keep lines and entries at address 0, here from 0 to beyond all real code.
    addr2line is fooled by them. The truth is the program without discarded functions, whose
    function has the same code elsewhere."""
    statements = "\n".join(f"        sink += {i};" for i in range(2000))
    with open("discarded.c", "w", encoding="utf-8") as text:
        text.write(f"""static volatile long sink;
void dead(void)
{{
{statements}
}}
void live(void)
{{
{statements[:len(statements) // 3]}0;
}}
int main(void)
{{
        live();
        return 0;
}}
""")
    paths, functions = [], []
    for suffix, more in (("-whole", ()), ("", ("-Wl,--gc-sections",))):
        paths.append(os.path.abspath(name + suffix))
        subprocess.run([os.environ.get("CC", "cc"), "-O0", "-g", "-pie", "-fPIE",
                        "-ffunction-sections", *flags, *more, "-o", paths[-1], "discarded.c"],
                       check=True)
        functions.append(symbolize_db.functions(paths[-1]))
    if "dead" in functions[1]:
        print(f"{name}: SKIPPED: this linker discards nothing")
        return True
    elsewhere = {a: a - functions[1][function].start + functions[0][function].start
                 for function in ("live", "main", "_start") for a in functions[1][function]}
    code = [a for a in instructions(paths[1]) if a in elsewhere]
    wanted = symbolize_db.addr2line(paths[0], [elsewhere[a] for a in code])
    found = named(paths[1], code, 0x7F1234560000)
    bad = [a for a in code if found[a] != wanted[elsewhere[a]]]
    print(f"{name}: {len(code) - len(bad)} of {len(code)} addresses agree")
    for address in bad[:3]:
        print(f"  {address:#x}: {found[address]}, not {wanted[elsewhere[address]]}")
    return not bad and len(code) > 500


def check_kernel_data():
    """The kernel's variables have addresses with the highest bit, in the one mapping that
    there is for it; here of a file that is linked as the kernel's is."""
    pathlib.Path("kernel.c").write_text("struct { long pad, count; } counters[4] = {{1, 2}};"
                                        "long _text(void) { return counters[2].count; }")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", "-mcmodel=kernel", "-fno-pie",
                    "-no-pie", "-static", "-nostdlib", "-ffreestanding", "-Wl,-e,_text",
                    "-Wl,-Ttext-segment=0xffffffff81000000", "-o", "kernel", "kernel.c"],
                   check=True)
    symbols = {fields[2]: int(fields[0], 16)
               for fields in map(str.split, symbolize_db.output("nm", "kernel").splitlines())}
    # Databases have the number with the sign.
    make("kernel", [(symbols["_text"], symbols["counters"] + 40)], -1 << 64)
    db = sqlite3.connect("t.db")
    db.execute("UPDATE module SET path = '[kernel.kallsyms]'")
    db.execute("DELETE FROM mapping")
    db.execute("INSERT INTO mapping VALUES (NULL, 1, 'file', ?, ?, 0, 1, 'r-x', NULL, 0, NULL)",
               (symbols["_text"] - (1 << 64), 1 << 24))
    db.commit()
    db.close()
    subprocess.run([os.environ["MEMLAG"], "symbolize", "--vmlinux=kernel", "t.db"], check=True)
    found = sqlite3.connect("t.db").execute(
        "SELECT kind, name, size_bytes, object_offset_bytes FROM data_object"
        " JOIN attribution USING (object_id)").fetchall()
    print(f"a variable of the kernel: {found}")
    return found == [("global", "counters", 64, 40)]


def compare_mini_debug():
    """A stripped program that carries its local symbols packed, as Fedora's do."""
    path = build("mini", "-O2", "-pie", "-fPIE")
    shutil.copy(path, "mini.full")
    subprocess.run(["strip", "--strip-debug", "-o", "mini.debug", "mini.full"], check=True)
    subprocess.run(["xz", "--force", "mini.debug"], check=True)
    subprocess.run(["strip", path], check=True)
    subprocess.run(["objcopy", "--add-section", ".gnu_debugdata=mini.debug.xz", path], check=True)
    addresses = instructions("mini.full")
    found = named(path, addresses, 0x7F1234560000)
    names = {}
    for name, code in symbolize_db.functions("mini.full").items():
        for address in code:
            names.setdefault(address, set()).add(name)
    bad = [a for a in addresses if found[a][0][0] not in names[a]]
    print(f"packed symbols: {len(addresses) - len(bad)} of {len(addresses)} functions agree")
    return not bad and len(addresses) > 500


def main():
    pathlib.Path("main.c").write_text(MAIN)
    pie, fixed = 0x7F1234560000, 0
    good = True
    # With DWARF 5 and without inlining, addr2line 2.40 takes the header's functions for
    # the including file's, so -O0 is compared in DWARF 4.
    for name, base, flags in (
            ("pie-O0", pie, ("-O0", "-gdwarf-4", "-pie", "-fPIE")),
            ("pie-O2", pie, ("-O2", "-pie", "-fPIE")),
            ("nopie-O2", fixed, ("-O2", "-no-pie", "-fno-pie")),
            ("nopie-O0", fixed, ("-O0", "-gdwarf-4", "-no-pie", "-fno-pie")),
            ("dwarf3-O2", pie, ("-O2", "-gdwarf-3", "-pie", "-fPIE")),
            ("dwarf4-O3", pie, ("-O3", "-gdwarf-4", "-pie", "-fPIE")),
            # In DWARF 5 addr2line calls the files of linker-made code "<artificial>".
            ("lto", pie, ("-O2", "-gdwarf-4", "-flto=1", "-pie", "-fPIE")),
            ("compressed", pie, ("-O2", "-gz", "-pie", "-fPIE")),
            ("sections", pie, ("-O2", "-ffunction-sections", "-Wl,--gc-sections", "-pie", "-fPIE")),
            ("library.so", pie, ("-O2", "-shared", "-fPIC")),
            ("without-id", pie, ("-O2", "-Wl,--build-id=none", "-pie", "-fPIE"))):
        path = build(name, *flags)
        good &= compare(name, path, path, base)
        good &= compare_data(name, path, base)

    # As distributions do: by build-id in a directory of debug files.
    path = build("by-id", "-O2")
    shutil.copy(path, "by-id.full")
    build_id = symbolize_db.build_id(path).hex()
    os.makedirs(f"debug/.build-id/{build_id[:2]}")
    separate(path, f"debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug")
    good &= compare("separate, by build-id", path, "by-id.full", pie, "--debuginfo-path=debug")

    # By name and checksum, beside the program and in .debug.
    for directory in (".", ".debug"):
        os.makedirs(directory, exist_ok=True)
        path = build("by-link", "-O2", "-Wl,--build-id=none")
        shutil.copy(path, "by-link.full")
        separate(path, f"{directory}/by-link.debug")
        subprocess.run(["objcopy", f"--add-gnu-debuglink={directory}/by-link.debug", path],
                       check=True)
        good &= compare(f"separate, by link in {directory}", path, "by-link.full", pie)
        os.remove(f"{directory}/by-link.debug")

    good &= compare_zstd()

    # Entries that units share are in units of their own, which others import.
    subprocess.run(["dwz", "-o", "dwz-alone", "pie-O2"], check=True)
    good &= compare("dwz of one file", os.path.abspath("dwz-alone"), "pie-O2", pie)

    # Entries that two programs share are in a third file, as dwz leaves them in Debian.
    path = build("dwz-one", "-O2")
    shutil.copy(path, "dwz.full")
    shutil.copy(path, "dwz-two")
    subprocess.run(["dwz", "-m", "common", "-M", os.path.abspath("common"), "dwz-one", "dwz-two"],
                   check=True)
    good &= compare("common entries by dwz", path, "dwz.full", pie)
    os.rename("common", "moved")
    named(path, instructions("dwz.full")[:500], pie)  # some names are lost, nothing else

    for compiler in (os.environ.get("CC", "cc"), "clang"):
        if not shutil.which(compiler):
            print(f"SKIPPED: split debug information by {compiler}, which is not here")
            continue
        for version in (4, 5):
            good &= compare_split(compiler, version)

    if shutil.which("clang") and shutil.which("ld.lld"):
        good &= compare_thin_lto(4)
        good &= compare_thin_lto(5)
    else:
        print("SKIPPED: clang's optimisation at link time: no clang or no lld here")

    good &= check_amalgamation()
    good &= compare_discarded("discarded", "-gdwarf-5")
    good &= check_kernel_data()
    # The program's headers are then loaded with its code, at address 0.
    good &= compare_discarded("discarded-one-segment", "-Wl,-z,noseparate-code")
    good &= compare_mini_debug()

    # A debug file of another build has the name but not the checksum.
    build("by-link.debug", "-O0", "-Wl,--build-id=none")
    answers = named(os.path.abspath("by-link"), instructions("by-link.full")[:500], pie)
    if any(line for chain in answers.values() for _, _, line in chain):
        print("lines were taken from a debug file with the wrong checksum")
        good = False
    return 0 if good else 1


sys.exit(main())
