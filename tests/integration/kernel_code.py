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
# The branches' loops, instruction by instruction, with the place in the loop that a branch
# goes to: "js 12".
DRAW = ["lfence"] + 3 * ["imul", "add"]
SHAPES = {
    "branch_none": [],
    "branch_never": [*DRAW, "test", "jne 10", "nop", "lfence"],
    "branch_always": [*DRAW, "test", "je 10", "nop", "lfence"],
    "branch_halves": [*DRAW, "test", "je 10", "nop", "lfence"],
    "branch_alternating": [*DRAW, "test", "je 10", "nop", "lfence"],
    "branch_jump": [*DRAW, "test", "jne 10", "jmp 11", "nop", "lfence"],
    "branch_random": [*DRAW, "test", "js 10", "nop", "lfence"],
    "branch_random_never": [*DRAW, "test", "js 13", "lfence", "test", "jne 13", "nop", "lfence"],
    "branch_random_always": [*DRAW, "test", "js 13", "lfence", "test", "je 13", "nop", "lfence"],
    "branch_wrong_path": [*DRAW, "test", "js 10", "nop"],
    "branch_wrong_path_never": [*DRAW, "test", "js 13", "test", "jne 12", "nop", "lfence"],
    "branch_wrong_path_always": [*DRAW, "test", "js 13", "test", "je 12", "nop", "lfence"],
}
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


def shape(body):
    """The loop's instructions before its own branch, jumps with where in the loop they go."""
    (begin, end) = next(
        (int(operands.split()[0], 16), address) for address, mnemonic, operands in body
        if mnemonic == "jne" and int(operands.split()[0], 16) < address)
    loop = [(a, m, o) for a, m, o in body if begin <= a <= end]
    places = {address: place for place, (address, _, _) in enumerate(loop)}
    text = [m if m[0] != "j" else f"{m} {places[int(o.split()[0], 16)]}" for _, m, o in loop]
    assert text[-2:] == ["dec", "jne 0"], text
    return text[:-2]


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
    for name, expected in SHAPES.items():
        assert shape(code[name]) == expected, (name, shape(code[name]))


main()
