#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernels' loops in machine code have exactly the accesses that their counts say:
the compiler has neither removed nor merged nor added any. By objdump of the library."""
import re
import subprocess
import sys

# Function, loads and stores in its innermost loop that has any, the same for each of its
# loops where LOOPS is greater than one.
EXPECTED = [
    ("chase_plain", 1, 0),
    ("chase_pairs", 2, 0),
    ("chase_dependent", 1, 0),
    ("chase_independent", 1, 0),
    ("read_records", 4, 0),
    ("read_records_delayed", 4, 0),
    ("run_copy", 1, 1),
    ("run_scale", 1, 1),
    ("run_add", 2, 1),
    ("run_triad", 2, 1),
    ("ddot_run", 2, 0),
    ("dgemv_run", 2, 0),
    ("dgemm_run", 2, 1),
    ("gather_lines", 1, 0),
    ("run_false", 1, 1),
    ("run_true", 1, 1),
]
BANDWIDTH = [("run_load", 8, 0), ("run_store", 0, 8)]
MEMORY = re.compile(r"(?:0x[0-9a-f]+|-0x[0-9a-f]+)?\((?:%[a-z0-9]+)?(?:,%[a-z0-9]+)?(?:,\d)?\)")


def functions(archive):
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", archive], capture_output=True, text=True, check=True
    ).stdout
    name, body = None, []
    for line in text.splitlines():
        header = re.match(r"([0-9a-f]+) <([\w.]+)>:", line)
        if header:
            if name:
                yield name, body
            name, body = header.group(2), []
        instruction = re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line)
        if instruction:
            address, mnemonic, operands = instruction.groups()
            body.append((int(address, 16), mnemonic, operands.split("#")[0].strip()))
    if name:
        yield name, body


def accesses(mnemonic, operands):
    """Loads and stores of one instruction, in AT&T order: the last operand is written."""
    if mnemonic == "lock":  # a prefix: what is locked is read and written
        return 1, 1
    found = list(MEMORY.finditer(operands))
    if not found or mnemonic.startswith(("lea", "nop", "jmp", "data16", "cs")):
        return 0, 0
    at_end = operands.endswith(found[-1].group(0))
    if not at_end:
        return 1, 0
    if mnemonic.startswith(("mov", "vmov")):
        return 0, 1
    if mnemonic.startswith(("cmp", "test", "ucom")) or "," not in operands:
        return 1, 0
    return 1, 1


def innermost(body):
    """The innermost loops' instructions: from a backward jump's target to the jump."""
    spans = []
    for address, mnemonic, operands in body:
        target = re.match(r"([0-9a-f]+)", operands)
        if mnemonic.startswith("j") and mnemonic != "jmp" and target:
            begin = int(target.group(1), 16)
            if begin <= address:
                spans.append((begin, address))
    for begin, end in spans:
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in spans):
            yield [(m, o) for a, m, o in body if begin <= a <= end]


def loops(body):
    """Loads and stores of each innermost loop."""
    for loop in innermost(body):
        inside = [accesses(mnemonic, operands) for mnemonic, operands in loop]
        yield sum(l for l, _ in inside), sum(s for _, s in inside)


def main():
    code = {}
    for name, body in functions(sys.argv[1]):
        code.setdefault(name.split(".")[0], []).extend(body)
    for name, loads, stores in EXPECTED:
        found = [pair for pair in loops(code[name]) if pair != (0, 0)]
        assert (loads, stores) in found and len(found) == 1, (name, found)
    for name, loads, stores in BANDWIDTH:
        found = [pair for pair in loops(code[name]) if sum(pair) >= 8]
        assert found == [(loads, stores)] * 4, (name, found)
    # A branch, what it skips, and the loop's own branch.
    found = [[m for m, _ in loop] for loop in innermost(code["branch_word"])]
    assert found == [["shr", "jb", "nop", "dec", "jne"]], found


main()
