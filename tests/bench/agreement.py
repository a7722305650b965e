#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The agreement of memlag's functions, files, lines and inlined calls with eu-addr2line and with
binutils' addr2line.

For each given program or library, all three name random addresses of its code. It counts the
addresses at which the two references agree, the ones of these at which memlag agrees too, and the
kinds of difference, each with an example. Some differences in form are counted apart and are no
error. memlag writes the scope of a function without a linkage name, if readelf shows that scope;
the references write its name alone. memlag identifies lambdas by their position, if readelf shows
one there. It names functions around local entities without parameters, and writes "const" before a
type, as entries do.

If llvm-symbolizer is installed, it is asked too: the kinds say with whom it agrees. The same counts
appear for its agreement with one of the references, because the other one's faults are different.
The exit status is 1 if memlag's agreement is below --limit percent of the addresses: its agreement
with both references, or with llvm-symbolizer against both.

    agreement.py MEMLAG [OPTION...] FILE[=DEBUG-FILE]...

FILE may be a kernel's vmlinux. The two references read DEBUG-FILE, the debug information of FILE.
The default is FILE itself or, by build-id, a file below /usr/lib/debug. It may be another build of
the same machine code, with debug information in a form that they read in full."""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/integration"))
import symbolize_db  # noqa: E402

ENTRY = re.compile(r" *<([0-9a-f]+)><[0-9a-f]+>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)")
ENTRY_NAME = re.compile(r" *<[0-9a-f]+> +DW_AT_name +:(?: \(.*?\):)? (.*?)\s*$")
SCOPES = ("namespace", "structure_type", "class_type", "union_type", "module")
DECLARED = re.compile(r" *<[0-9a-f]+> +DW_AT_decl_(?:line|column) *: (\d+)")
LAMBDA = re.compile(r"\{lambda at [^{}]*?:(\d+):(\d+)\}")
FUNCTION, FILE, LINE = range(3)


def executable_sections(path):
    """(address, bytes) of each section that holds code."""
    for line in symbolize_db.output("readelf", "-SW", path).splitlines():
        found = re.match(r"\s*\[\s*\d+\] (\S+)\s+(PROGBITS|NOBITS)\s+([0-9a-f]+) [0-9a-f]+"
                         r" ([0-9a-f]+) \S+\s+(\S*X\S*) ", line)
        if found:
            yield int(found[3], 16), int(found[4], 16)


def pick_addresses(path, count, seed):
    sections = list(executable_sections(path))
    generator = random.Random(seed)
    chosen = set()
    available = sum(size for _, size in sections)
    while len(chosen) < min(count, available // 2):
        position = generator.randrange(available)
        for start, size in sections:
            if position < size:
                chosen.add(start + position)
                break
            position -= size
    return sorted(chosen)


def debug_file(path):
    build_id = symbolize_db.build_id(path)
    if build_id:
        hexed = build_id.hex()
        found = f"/usr/lib/debug/.build-id/{hexed[:2]}/{hexed[2:]}.debug"
        if os.path.exists(found):
            return found
    return path


def reference(tool, path, addresses):
    # eu-addr2line ends with 1 where it does not know an address.
    process = subprocess.run([tool, "-a", "-f", "-i", "-e", path], check=False, text=True,
                             input="".join(f"{a:#x}\n" for a in addresses), capture_output=True)
    answers = symbolize_db.chains(process.stdout)
    if len(answers) != len(addresses):
        sys.exit(f"{tool} answers {len(answers)} of {len(addresses)} addresses: {process.stderr}")
    return answers


def umpire(path, addresses):
    """What llvm-symbolizer says, or {} where it is not installed."""
    tool = shutil.which("llvm-symbolizer")
    if not tool or not addresses:
        return {}
    text = symbolize_db.output(tool, "--obj", path, "--functions=linkage", "--no-demangle",
                               "--inlines", "--output-style=JSON",
                               input="".join(f"{a:#x}\n" for a in addresses))
    answers = {}
    for line in text.splitlines():
        answer = json.loads(line)
        frames = answer.get("Symbol") or [{}]
        answers[int(answer["Address"], 16)] = [
            [frame.get("FunctionName") or None,
             symbolize_db.normal(frame["FileName"]) if frame.get("Line") and frame.get("FileName") else None,
             frame.get("Line") or None] for frame in frames]
    return answers


def plain(function):
    """A name without the parts by which memlag distinguishes it from others of the name: a file,
    the types of parameters, the scope and position of a lambda. The references lack these or write
    them differently."""
    if not function:
        return function
    function = re.sub(r" \([^() ]+\)$", "", function)
    function = re.sub(r" \[clone [^\[\]]*\]$", "", function)
    function = re.sub(r"^.*\{lambda(?: at [^{}]*|\(.*\)#\d+)\}::", "", function)
    signature = re.fullmatch(r"(.*\))(?: (?:const|volatile|&&?))+", function)
    function = signature[1] if signature else function
    if not function.endswith(")") or function.endswith("operator()"):
        return function
    depth = 0
    for at in range(len(function) - 1, -1, -1):
        depth += (function[at] == ")") - (function[at] == "(")
        if depth == 0:
            return function[:at]
    return function


def spelled(name):
    """A name of an entry with its number types as linkage names are made readable."""
    name = re.sub(r"\b(long long|long|short) unsigned int\b", r"unsigned \1", name)
    return re.sub(r"\b(long long|long|short) int\b", r"\1", name)


def without_outer_parameters(text):
    """TEXT without the parameters of functions that something is local to."""
    kept, opened = "", []
    for at, letter in enumerate(text):
        if letter == "(":
            opened.append(len(kept))
        kept += letter
        if letter == ")" and opened:
            begin = opened.pop()
            other = kept[begin:] == "(anonymous namespace)" or kept[:begin].endswith("operator")
            if not other and re.match("(?: (?:const|volatile|&&?))*::", text[at + 1:]):
                kept = kept[:begin]
    return re.sub("(?: (?:const|volatile|&&?))+::", "::", kept)


def lambdas_by_parameters(name):
    """The lambdas in NAME as entries and symbols call them, "<lambda(int)>" and
    "{lambda(int)#1}"."""
    found = []
    for opened in re.finditer(r"[<{]lambda(?=\()", name):
        depth, end = 0, opened.end()
        for end in range(opened.end(), len(name)):
            depth += (name[end] == "(") - (name[end] == ")")
            if depth == 0:
                break
        close = re.compile(r">|#\d+\}").match(name, end + 1)
        if close:
            found.append(name[opened.start():close.end()])
    return found


def with_const_behind(name):
    """NAME with "const" behind the types that it is of, as symbols have it."""
    while found := re.search(r"(?<=[<( ])const (?=[\w(])", name):
        depth, end = 0, found.end()
        while end < len(name):
            if depth == 0 and not re.match(r"[\w:<]|\(anonymous namespace\)", name[end:]):
                more = re.match(r" (?:long|short|int|char|double)\b", name[end:])
                if not more:
                    break
                end += more.end()
                continue
            anonymous = name.startswith("(anonymous namespace)", end)
            depth += (name[end] == "<") - (name[end] == ">")
            end += len("(anonymous namespace)") if anonymous else 1
        name = name[:found.start()] + name[found.end():end] + " const" + name[end:]
    return name


def in_one_spelling(name):
    """NAME without parts that entries, symbols and memlag write differently: lambdas (by parameters
    or by position), functions around local classes (with or without parameters), and the position
    of "const"."""
    for text in lambdas_by_parameters(name):
        name = name.replace(text, "{lambda}")
    name = without_outer_parameters(LAMBDA.sub("{lambda}", name))
    return with_const_behind(name).replace(" >", ">").replace(" (", "(")


class Entries:
    """What readelf shows of the file's functions called one of WANTED, and of its lambdas."""

    def __init__(self, path, wanted):
        self.scoped = collections.defaultdict(set)  # their names with their scopes
        self.lambdas = set()  # (line, column): of classes without a name that can be called
        with subprocess.Popen(["readelf", "--debug-dump=info", path], text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            self.read(process.stdout, wanted)

    def read(self, lines, wanted):
        outer = []  # of each level: its name, or None where functions have no scope to name
        places = []  # of each level: line and column of a class without a name
        for line in lines:
            entry = ENTRY.match(line)
            if entry:
                tag, level = entry[2], int(entry[1], 16)
                outer[level:] = ["(anonymous namespace)" if tag == "namespace" else None]
                places[level:] = [[]]
                continue
            if not outer:
                continue
            position = DECLARED.match(line) if tag in SCOPES and outer[-1] is None else None
            if position:
                places[-1].append(int(position[1]))
            name = ENTRY_NAME.match(line) if "DW_AT_name " in line else None
            if not name:
                continue
            text = spelled(name[1])
            if tag == "subprogram" and text in wanted and None not in outer[1:-1]:
                self.scoped[text].add("::".join([*outer[1:-1], text]))
            elif tag in SCOPES:
                outer[-1] = text
            if text.startswith("operator()") and len(places) > 1 and len(places[-2]) == 2:
                self.lambdas.add(tuple(places[-2]))

    def are_one(self, name, other):
        """Whether NAME, memlag's, is OTHER, the references', with its true scopes, and with
        places of lambdas that there are."""
        places = {(int(line), int(column)) for line, column in LAMBDA.findall(name)}
        wanted = in_one_spelling(name)
        return places <= self.lambdas and any(
            in_one_spelling(entry) == wanted for entry in {other, *self.scoped[other]})


def named(memlag, path, addresses, database, options):
    symbolize_db.make(database, ROOT / "profiler/db/schema.sql", path,
                      [(address, None) for address in addresses], 0)
    kernel = ["--vmlinux", path] if symbolize_db.is_kernel(path) else []
    answers = symbolize_db.named(memlag, database, *options, *kernel)
    for chain in answers.values():
        if (chain[0][FUNCTION] or "").endswith("@plt"):  # the references name no such entries
            chain[0][FUNCTION] = None
        for frame in chain:
            frame[FUNCTION] = plain(frame[FUNCTION])
    return answers


def demangle(*answers):
    """Replaces linkage names by c++filt's form, which memlag shows."""
    names = sorted({frame[FUNCTION] for answer in answers for chain in answer.values()
                    for frame in chain if frame[FUNCTION] and frame[FUNCTION].startswith("_")})
    text = symbolize_db.output("c++filt", "-p", "-i", input="".join(name + "\n" for name in names))
    # c++filt writes the parameters of a thunk's target all the same, and conversions to functions
    # end like parameters. plain() removes the same text from these names and from memlag's.
    readable = {name: plain(said) for name, said in zip(names, text.splitlines())}
    for answer in answers:
        for chain in answer.values():
            for frame in chain:
                name = frame[FUNCTION]
                frame[FUNCTION] = name and spelled(readable.get(name) or name)


def difference(one, other):
    """The first property that differs between two chains, or None."""
    if len(one) != len(other):
        return "number of inlined calls"
    for depth, (frame, wanted) in enumerate(zip(one, other)):
        where = "innermost" if depth == 0 else "caller's"
        for part, name in ((LINE, "line"), (FILE, "file"), (FUNCTION, "function")):
            if frame[part] != wanted[part]:
                missing = (" missing in the first" if frame[part] is None else
                           " missing in the second" if wanted[part] is None else "")
                return f"{where} {name}{missing}"
    return None


class Comparison:
    """The readers' chains for the same addresses of one file."""

    def __init__(self, options, path, debug, directory):
        self.options = options
        self.path = path
        self.addresses = pick_addresses(path, options.count, options.seed)
        self.elfutils = reference("eu-addr2line", debug, self.addresses)
        self.binutils = reference("addr2line", debug, self.addresses)
        self.memlag = named(options.memlag, os.path.realpath(path), self.addresses,
                            os.path.join(directory, "agreement.db"), options.symbolize)
        demangle(self.elfutils, self.binutils)
        self.llvm = umpire(path, self.addresses)
        demangle(self.llvm)
        readers = [self.elfutils, self.binutils] + ([self.llvm] if self.llvm else [])
        wanted = {frame[FUNCTION] for address in self.addresses for answers in readers
                  if self.only_names(address, answers) for frame in answers[address]}
        self.entries = Entries(debug, wanted) if wanted else None

    def only_names(self, address, answers):
        """Whether memlag differs from ANSWERS in names alone."""
        chain, wanted = self.memlag[address], answers[address]
        named_so = [[other[FUNCTION], *frame[1:]] for frame, other in zip(chain, wanted)]
        return (len(chain) == len(wanted) and difference(chain, wanted) is not None and
                not difference(named_so, wanted))

    def spelled_otherwise(self, address, answers):
        """Whether memlag differs from ANSWERS only in true scopes, and in the names of lambdas, of
        entities local to functions, and of const."""
        return self.only_names(address, answers) and all(
            frame[FUNCTION] == other[FUNCTION] or (
                frame[FUNCTION] and other[FUNCTION] and
                self.entries.are_one(frame[FUNCTION], other[FUNCTION]))
            for frame, other in zip(self.memlag[address], answers[address]))

    def by_spelling(self, address):
        return (self.spelled_otherwise(address, self.elfutils) and
                not difference(self.elfutils[address], self.binutils[address]))

    def unanimous(self, address):
        return not (difference(self.memlag[address], self.elfutils[address]) or
                    difference(self.memlag[address], self.binutils[address]))

    def kind(self, address):
        """The properties in which the readers differ, and the reader with which llvm-symbolizer
        agrees."""
        readers = {"memlag": self.memlag, "eu-addr2line": self.elfutils,
                   "addr2line": self.binutils}
        chains_here = {name: answers[address] for name, answers in readers.items()}
        between = difference(chains_here["eu-addr2line"], chains_here["addr2line"])
        if between:
            text = f"eu-addr2line, addr2line: {between}; memlag agrees with " + (
                next((name for name in ("eu-addr2line", "addr2line")
                      if not difference(chains_here["memlag"], chains_here[name])), "neither"))
        else:
            text = "memlag, both references: " + difference(chains_here["memlag"],
                                                            chains_here["eu-addr2line"])
        if address not in self.llvm:
            return text
        sides = [name for name, chain in chains_here.items()
                 if not difference(chain, self.llvm[address]) or
                 (name == "memlag" and self.spelled_otherwise(address, self.llvm))]
        return text + "; llvm-symbolizer with " + (" and ".join(sides) or "none")

    def report_pairs(self):
        """Prints how far memlag agrees with llvm-symbolizer and one of the references."""
        for name, answers in (("eu-addr2line", self.elfutils), ("addr2line", self.binutils)):
            agreed = [a for a in self.addresses if not difference(answers[a], self.llvm[a])]
            so = sum(not difference(self.memlag[a], self.llvm[a]) or
                     self.spelled_otherwise(a, self.llvm) for a in agreed)
            rate = 100 * so / len(agreed) if agreed else 0
            print(f"  {len(agreed):6} at which {name} and llvm-symbolizer agree, memlag with"
                  f" both at {so} ({rate:.2f} %)")

    def report(self):
        """Prints it; whether memlag agrees often enough."""
        kinds = collections.defaultdict(list)
        scoped = []
        for address in self.addresses:
            if self.unanimous(address):
                continue
            if self.by_spelling(address):
                scoped.append(address)
            else:
                kinds[self.kind(address)].append(address)
        alone = [a for kind, found in kinds.items() if kind.startswith("memlag") for a in found]
        agreed = len(alone) + len(scoped) + sum(map(self.unanimous, self.addresses))
        backed = sum(a in self.llvm and not difference(self.memlag[a], self.llvm[a])
                     for a in alone)
        both = agreed - len(alone)
        inlined = sum(len(self.memlag[a]) > 1 for a in self.addresses)
        rates = [100 * part / agreed if agreed else 0 for part in (both, both + backed)]
        print(f"{os.path.basename(self.path)}: {len(self.addresses)} addresses, {inlined} in"
              f" inlined calls; the references agree at {agreed}, memlag with both at {both}"
              f" ({rates[0]:.2f} %), or with llvm-symbolizer against both"
              f" at {both + backed} ({rates[1]:.2f} %)")
        if self.llvm:
            alike = sum(not difference(self.memlag[a], self.llvm[a]) for a in self.addresses)
            print(f"  {alike:6} as llvm-symbolizer has it")
            self.report_pairs()
        if scoped:
            kinds["no difference: memlag has the scope, as readelf, of what both references"
                  " call by its name alone, or another spelling of it"] = scoped
        for kind, found in sorted(kinds.items(), key=lambda item: -len(item[1])):
            print(f"  {len(found):6} {kind}")
            for address in found[:self.options.examples]:
                self.show(address)
        enough = agreed >= len(self.addresses) * self.options.agreeing / 100
        return rates[1] >= self.options.limit and enough

    def show(self, address):
        print(f"         {address:#x}")
        for name, answers in (("memlag", self.memlag), ("eu-addr2line", self.elfutils),
                              ("addr2line", self.binutils), ("llvm-symbolizer", self.llvm)):
            print(f"           {name:15} {answers.get(address)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("memlag")
    parser.add_argument("files", nargs="+", metavar="FILE[=DEBUG-FILE]")
    parser.add_argument("--count", type=int, default=20000, help="addresses of each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=99.5, help="percent")
    parser.add_argument("--agreeing", type=float, default=50, metavar="PERCENT",
                        help="at how many of all addresses the references must agree")
    parser.add_argument("--examples", type=int, default=1, help="of each kind of difference")
    parser.add_argument("--symbolize", action="append", default=[], metavar="OPTION",
                        help="an option for memlag symbolize")
    options = parser.parse_args()
    good = True
    for file in options.files:
        path, _, debug = file.partition("=")
        with tempfile.TemporaryDirectory() as directory:
            good &= Comparison(options, path, debug or debug_file(path), directory).report()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
