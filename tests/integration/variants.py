# SPDX-License-Identifier: MIT
"""Fields of types with variants, as rustc describes enums: by hand, so the test needs no rustc, and
with rustc if there is one."""
import os
import shutil
import sqlite3
import subprocess
import sys

import symbolize_db

source = os.environ["SOURCE_DIR"]
MEMLAG = os.environ["MEMLAG"]
SCHEMA = os.path.join(source, "profiler/db/schema.sql")
CC = os.environ.get("CC", "cc")
FORMS = {"string": 0x08, "data1": 0x0B, "ref4": 0x13, "exprloc": 0x18, "present": 0x19}
# Tag, whether it has entries below it, and attributes with their forms (DWARF 4, 7.5).
ABBREVIATIONS = {
    "unit": (0x11, 1, (0x03, "string"), (0x13, "data1")),
    "number": (0x24, 0, (0x03, "string"), (0x0B, "data1"), (0x3E, "data1")),
    "struct": (0x13, 1, (0x03, "string"), (0x0B, "data1")),
    "member": (0x0D, 0, (0x03, "string"), (0x49, "ref4"), (0x38, "data1")),
    "variants": (0x33, 1, (0x15, "ref4")),
    "discriminant": (0x0D, 0, (0x49, "ref4"), (0x38, "data1"), (0x34, "present")),
    "variant": (0x19, 1, (0x16, "data1")),
    "other": (0x19, 1),
    "pointer": (0x0F, 0, (0x49, "ref4")),
    "variable": (0x34, 0, (0x03, "string"), (0x49, "ref4"), (0x02, "exprloc")),
}
# enum Shape { Circle { tag: u32, r: f64 }, Rect { w: f64, h: f64 } }, with a discriminant; and
# Option<&u64>, whose None is the pointer that no reference can have.
ENTRIES = """
unit "shapes.rs" 0x1c
u32: number "u32" 4 7
u64: number "u64" 8 7
f64: number "f64" 8 4
to: pointer u64
shape: struct "Shape" 24
variants which
which: discriminant u32 0
variant 0
member "Circle" circle 0
end
variant 1
member "Rect" rect 0
end
end
end
circle: struct "Circle" 24
member "tag" u32 4
member "r" f64 8
end
rect: struct "Rect" 24
member "w" f64 8
member "h" f64 16
end
option: struct "Option" 8
variants null
null: discriminant u64 0
variant 0
member "None" none 0
end
other
member "Some" some 0
end
end
end
none: struct "None" 8
end
some: struct "Some" 8
member "__0" to 0
end
variable "one_shape" shape one_shape
variable "link" option link
end
"""
WANTED = {("one_shape", 0): "(discriminant)", ("one_shape", 4): "Circle.tag",
          ("one_shape", 8): "Circle.r|Rect.w", ("one_shape", 16): "Rect.h", ("link", 0): "Some.__0"}
RUST = """
struct Node { val: u64, next: Option<Box<Node>> }
#[inline(never)]
fn walk(mut at: &Option<Box<Node>>) -> u64 {
    let mut sum = 0;
    while let Some(node) = at { sum += node.val; at = &node.next; }
    sum
}
fn main() {
    let mut list = None;
    for i in 0..20000u64 { list = Some(Box::new(Node { val: i, next: list })); }
    println!("{}", walk(&list));
    let mut rest = list;
    while let Some(mut node) = rest { rest = node.next.take(); }
}
"""


def assembly():
    """The entries in the form of the assembler."""
    codes = {name: code for code, name in enumerate(ABBREVIATIONS, 1)}
    lines = ['.section .debug_abbrev,"",@progbits']
    for name, (tag, children, *attributes) in ABBREVIATIONS.items():
        values = [codes[name], tag, children]
        for attribute, form in attributes:
            values += [attribute, FORMS[form]]
        lines.append(".byte " + ",".join(map(str, values + [0, 0])))
    lines += [".byte 0", '.section .debug_info,"",@progbits', "info:",
              ".long over - begin", "begin: .value 4", ".long 0", ".byte 8"]
    for entry in ENTRIES.strip().splitlines():
        label, colon, rest = entry.partition(": ")
        if colon:
            lines.append(f"entry_{label}:")
        words = (rest if colon else entry).split()
        if words[0] == "end":
            lines.append(".byte 0")
            continue
        lines.append(f".byte {codes[words[0]]}")
        forms = [form for _, form in ABBREVIATIONS[words[0]][2:]]
        for form, value in zip(forms, words[1:] + [""]):
            lines.append({"string": f".string {value}", "data1": f".byte {value}",
                          "present": "",
                          "ref4": f".long entry_{value} - info",
                          "exprloc": f".byte 9, 3\n.quad {value}"}[form])
    return "\n".join(lines + ["over:", ".data", ".globl one_shape, link", ".align 8",
                              ".type one_shape, @object", ".size one_shape, 24",
                              "one_shape: .zero 24", ".type link, @object", ".size link, 8",
                              "link: .zero 8", '.section .note.GNU-stack,"",@progbits', ""])


def check_by_hand():
    with open("variants.s", "w", encoding="utf-8") as file:
        file.write(assembly())
    with open("main.c", "w", encoding="utf-8") as file:
        file.write("extern char one_shape[]; int main(void) { return one_shape[0]; }\n")
    subprocess.run([CC, "-no-pie", "-o", "variants", "main.c", "variants.s"], check=True)
    symbols = {line.split()[2]: int(line.split()[0], 16)
               for line in symbolize_db.output("nm", "variants").splitlines()
               if len(line.split()) == 3}
    path = os.path.abspath("variants")
    asked = [symbols[name] + offset for name, offset in WANTED]
    symbolize_db.make("variants.db", SCHEMA, path,
                      [(symbols["main"], address) for address in asked], 0)
    subprocess.run([MEMLAG, "symbolize", "variants.db"], check=True)
    found = [row[0] for row in sqlite3.connect("variants.db").execute(
        "SELECT f.name FROM sample LEFT JOIN attribution USING (sample_id)"
        " LEFT JOIN type_field AS f USING (field_id) ORDER BY sample_id")]
    assert found == list(WANTED.values()), (found, WANTED)
    print("variants have their fields, and the number that tells which it is")


def check_rust():
    # A rustc may be there that only stands for one that is not installed.
    if not shutil.which("rustc") or \
            subprocess.run(["rustc", "--version"], check=False, capture_output=True).returncode:
        print("variants: SKIPPED with rustc: it is not installed", file=sys.stderr)
        return
    with open("list.rs", "w", encoding="utf-8") as file:
        file.write(RUST)
    subprocess.run(["rustc", "-O", "-g", "list.rs"], check=True)
    subprocess.run([MEMLAG, "record", *os.environ["LOADS"].split(), "--period", "37", "--force", "-o",
                    "list.db", "--", "./list"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    rows = sqlite3.connect("list.db").execute(
        "SELECT coalesce(field, 'open'), count(*) FROM sample_view"
        " WHERE function = 'list::walk' AND object_kind = 'heap' GROUP BY 1").fetchall()
    fields = dict(rows)
    # The option alone is known where `at` leads, and `node` has no place yet.
    assert set(fields) <= {"val", "next.Some.__0", "Some.__0", "open"}, fields
    assert fields.get("next.Some.__0", 0) + fields.get("Some.__0", 0) > 0, fields
    print(f"a list of Rust's: {fields}")


check_by_hand()
check_rust()
