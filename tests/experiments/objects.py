#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects, types and fields compared with the programs' own output. Builds each program of
tests/integration/types in every way of BUILDS and records it with the simulated PMU. types/check.py
then compares memlag's answers for each sample with the program's. Writes objects.csv to DIRECTORY,
and prints each class of wrong answers.
    objects.py build/bin/memlag doc/experiments [--only PROGRAM] [--levels LEVEL,...]
With --rules it names each recording again without each rule in turn, and writes rules.csv instead.
That takes a build with -DMEMLAG_RULE_SWITCHES=ON; the rule "none" is the comparison.
    objects.py build/bin/memlag doc/experiments --levels=-O2,-O3 --rules none,numbers,unrolled"""
import argparse
import csv
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

TYPES = pathlib.Path(__file__).resolve().parents[1] / "integration" / "types"
PERIOD = 53

SPLIT = "-gsplit-dwarf -fdebug-types-section"
WHOLE = "-flto -fuse-ld=lld"


def of_levels(gcc, clang):
    """Builds of a program by both compilers; the last of each without optimisation."""
    levels = ["-O2", "-O1", "-O3", "-Os", "-O3 -march=x86-64-v3", "-O3 -flto"]
    return ([f"{gcc} {level}" for level in [*levels, "-O3 -funroll-loops", "-O0"]]
            + [f"{clang} {level.replace('-flto', WHOLE)}" for level in [*levels, "-Oz", "-O0"]])


C = of_levels("gcc", "clang")
CXX = of_levels("g++", "clang++")

# The builds of each program: compiler and options. Behind a '|' stands the tool that makes a
# package of split debug information (dwp or llvm-dwp).
BUILDS = {
    "program.c": [*C, "gcc -O2 -gdwarf-3", "gcc -O2 -flto", "gcc -O2 -no-pie",
                  "gcc -O2 -gsplit-dwarf", "gcc -O3 -gdwarf-4 -gsplit-dwarf",
                  "clang -O2 -gdwarf-4", "clang -O2 -no-pie", "clang -O2 -gsplit-dwarf"],
    "program.cc": [*CXX, "g++ -O2 -fdebug-types-section", f"g++ -O2 {SPLIT} | llvm-dwp",
                   f"g++ -O2 -gdwarf-4 {SPLIT}", f"g++ -O2 -gdwarf-4 {SPLIT} | dwp",
                   f"clang++ -O2 {SPLIT} | llvm-dwp", f"clang++ -O2 -gdwarf-4 {SPLIT} | dwp",
                   "clang++ -O2 -stdlib=libc++", "clang++ -O3 -stdlib=libc++",
                   "clang++ -O0 -stdlib=libc++"],
    "containers.cc": [*CXX, "g++ -O2 -flto", "g++ -O2 -no-pie", "g++ -O2 -gdwarf-4",
                      f"clang++ -O2 {WHOLE}", "clang++ -O2 -no-pie"],
    "structures.c": C,
    "shared.c": [*C, "gcc -O2 -flto", f"clang -O2 {WHOLE} -Wl,--icf=all"],
    "overlay.c": C,
    "arguments.c": C,
    "behind.c": C,
    "frames.c": C,
    "arrays.f90": [f"gfortran {level}" for level in
                   ("-O2", "-O1", "-O3", "-Os", "-O3 -march=x86-64-v3", "-O3 -flto", "-O0")],
}
STANDARDS = {("containers.cc", "g++"): "-std=c++17", ("containers.cc", "clang++"): "-std=c++17"}
COUNTS = ["samples", "object right", "object open", "object wrong", "field right", "field open",
          "field wrong"]


def builds(program):
    """Each build's words as they are shown, its command, and the tool for a package."""
    for build in BUILDS[program]:
        command, _, package = (part.strip() for part in build.partition("|"))
        compiler, *options = shlex.split(command)
        standard = STANDARDS.get((program, compiler))
        yield (f"{command}, {package}" if package else command,
               [compiler, "-g", "-pthread", *options, *([standard] if standard else [])], package)


def run(command, directory, **environment):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"objects.py: {shlex.join(map(str, command))}: status {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")


def check(directory, database):
    """The counts of types/check.py, and its lines about answers that are wrong."""
    done = subprocess.run([sys.executable, TYPES / "check.py", database, "truth"],
                          cwd=directory, capture_output=True, text=True, check=True)
    counts, *wrong = done.stdout.splitlines()
    counts = json.loads(counts)
    return {name: counts.get(name, 0) for name in COUNTS}, wrong


def without(memlag, directory, rule):
    """The counts when memlag has named the recording without RULE."""
    shutil.copy(directory / "run.db", directory / "without.db")
    run([memlag, "symbolize", "without.db"], directory, MEMLAG_RULES_OFF=rule)
    return check(directory, "without.db")[0]


def measure(memlag, program, command, package, rules):
    """The counts and wrong answers of a program, and the counts without each of RULES."""
    with tempfile.TemporaryDirectory(prefix="memlag-objects-") as directory:
        directory = pathlib.Path(directory)
        (directory / "words").write_bytes(bytes(4096))
        run([*command, "-o", "program", TYPES / program], directory)
        if package:
            parts = list(directory.glob("*.dwo"))
            run([package, "-o", "program.dwp", *parts], directory)
            for part in parts:
                part.unlink()
        run([memlag, "record", "-o", "run.db", "--source", "sim", "--sim-cpu",
             "skylake-sp", "--sim-prefetch", "off", "--loads-only", "--ldlat", "1", "--period",
             str(PERIOD), "--", "./program", "words"], directory, TRUTH="truth")
        return (*check(directory, "run.db"),
                {rule: without(memlag, directory, rule) for rule in rules})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memlag", help="the program, for instance build/bin/memlag")
    parser.add_argument("directory", type=pathlib.Path, help="where objects.csv is written")
    parser.add_argument("--only", metavar="PROGRAM", choices=BUILDS, help="one of the programs")
    parser.add_argument("--levels", metavar="LEVEL,...",
                        help="builds with just these options, such as --levels=-O2,-O3")
    parser.add_argument("--rules", metavar="RULE,...", help="rules to leave out, one at a time")
    options = parser.parse_args()
    rules = options.rules.split(",") if options.rules else []
    levels = options.levels.split(",") if options.levels else None
    memlag = os.path.abspath(options.memlag)
    wrong_samples = 0
    table = options.directory / ("rules.csv" if rules else "objects.csv")
    with open(table, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["program", "build", *(["without"] if rules else []),
                         *(name.replace(" ", "_") for name in COUNTS)])
        for program in [options.only] if options.only else BUILDS:
            for label, command, package in builds(program):
                if levels and label.split(" ", 1)[1] not in levels:
                    continue
                missing = [tool for tool in (command[0], package) if tool and not shutil.which(tool)]
                if missing:
                    print(f"{program}, {label}: left out, no {missing[0]}", flush=True)
                    continue
                counts, wrong, by_rule = measure(memlag, program, command, package, rules)
                for rule, row in by_rule.items():
                    writer.writerow([program, label, rule, *row.values()])
                if not rules:
                    writer.writerow([program, label, *counts.values()])
                file.flush()
                samples = counts["samples"]
                print(f"{program}, {label}: {samples} samples,"
                      f" object {counts['object right'] / samples:.1%} right,"
                      f" field {counts['field right'] / samples:.1%} right", *wrong,
                      sep="\n", flush=True)
                wrong_samples += counts["object wrong"] + counts["field wrong"]
    sys.exit(1 if wrong_samples else 0)


if __name__ == "__main__":
    main()
