#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads with objdump the properties of kernels that kernel_counts.py cannot count: accesses of
loads and stores of all widths, also of widths that this machine lacks, and floating-point
operations. It counts one iteration of a loop, relative to the loads or stores in it;
kernel_counts.py proves their number in a pass. KERNEL.json has each kernel's own counts."""
import json
import re
import subprocess
import sys

# Function, loads and stores in the innermost loop of each width.
BANDWIDTH = [("run_load", 8, 0), ("run_store", 0, 8), ("run_nontemporal", 0, 8)]
# The function of each kernel that computes; the accesses that only its innermost loop has,
# and how many a time around.
COMPUTING = {
    "scale": ("run_scale", "stores", 1),
    "add": ("run_add", "stores", 1),
    "triad": ("run_triad", "stores", 1),
    "ddot": ("ddot_run", "loads", 2),
    "dgemv": ("dgemv_run", "loads", 2),
    "dgemm": ("dgemm_run", "stores", 1),
}
# One for each pass: its sum is added to the sum of the earlier passes.
AROUND_A_PASS = {"ddot": 1}
# Kernels that do not.
OTHERS = {"copy": "run_copy", "memread": "read_records", "gather": "gather_lines",
          "chase": "chase_plain", "pairs": "chase_pairs", "load": "run_load",
          "store": "run_store", "nontemporal": "run_nontemporal",
          "false-sharing": "add_locked", "true-sharing": "add_locked"}
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


def loop_spans(body):
    """From a backward jump's target to the jump."""
    spans = []
    for address, mnemonic, operands in body:
        target = re.match(r"([0-9a-f]+)", operands)
        if mnemonic.startswith("j") and mnemonic != "jmp" and target:
            begin = int(target.group(1), 16)
            if begin <= address:
                spans.append((begin, address))
    return spans


def in_loops(body):
    """The instructions of all loops, which run more than once."""
    spans = loop_spans(body)
    return [(m, o) for a, m, o in body if any(begin <= a <= end for begin, end in spans)]


def innermost(body):
    """The innermost loops' instructions."""
    spans = loop_spans(body)
    for begin, end in spans:
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in spans):
            yield [(m, o) for a, m, o in body if begin <= a <= end]


def loops(body):
    """Loads and stores of each innermost loop."""
    for loop in innermost(body):
        inside = [accesses(mnemonic, operands) for mnemonic, operands in loop]
        yield sum(l for l, _ in inside), sum(s for _, s in inside)


def operations(loop):
    """Floating-point operations on doubles of its instructions: lanes, two for a fused one."""
    count = 0
    for mnemonic, operands in loop:
        arithmetic = re.fullmatch(r"v?(fn?m(?:add|sub)\d*|add|sub|mul|div|sqrt|max|min)([sp])([sd])", mnemonic)
        if not arithmetic:
            # Nothing else computes: neither other types nor the old unit.
            assert not re.match(r"v?(?:addsub|h?add|h?sub|dp|fn?m|round|rcp|rsqrt|cvt)[\w]*[sp][sdh]$|f(?:add|mul|sub|div)", mnemonic), mnemonic
            continue
        operation, packed, precision = arithmetic.groups()
        assert precision == "d", mnemonic
        lanes = 1 if packed == "s" else 8 if "%zmm" in operands else 4 if "%ymm" in operands else 2
        count += lanes * (2 if operation.startswith("f") else 1)
    return count


def check_operations(code):
    for kernel, (function, key, accesses_around) in COMPUTING.items():
        loop, = [loop for loop in innermost(code[function]) if any(sum(accesses(*i)) for i in loop)]
        around = operations(loop)
        beyond = operations(in_loops(code[function])) - around
        assert around > 0 and beyond == AROUND_A_PASS.get(kernel, 0), (kernel, around, beyond)
        told = per_pass(kernel)
        assert told["flops"] == around * told[key] / accesses_around, (kernel, around, told)
    for kernel, function in OTHERS.items():
        assert operations(in_loops(code[function])) == 0, kernel
        assert per_pass(kernel)["flops"] == 0, kernel


def per_pass(kernel):
    with open(f"{kernel}.json", encoding="utf-8") as told:
        return json.load(told)["per_pass"]


def main():
    code = {}
    for name, body in functions(sys.argv[1]):
        code.setdefault(name.split(".")[0], []).extend(body)
    for name, loads, stores in BANDWIDTH:
        found = [pair for pair in loops(code[name]) if sum(pair) >= 8]
        assert found == [(loads, stores)] * 4, (name, found)
    check_operations(code)


main()
