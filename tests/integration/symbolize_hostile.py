# SPDX-License-Identifier: MIT
"""Programs whose debug information is made, byte by byte, to take far more time or memory
than its size accounts for. Each is named, or the ledger says why not, within limits of
both; and another program of the same recording has its names."""
import itertools
import lzma
import os
import resource
import sqlite3
import struct
import subprocess
import sys
import zlib

import symbolize_db

source = os.environ["SOURCE_DIR"]
TEXT, TEXT_BYTES, DATA = 0x401000, 0x10000, 0x801000
HEADER = struct.Struct("<IIQQQQIIQQ")  # of a section
SECTION_TYPES = {".shstrtab": 3, ".note.gnu.build-id": 7}
PACKED = 0x800
COMPILE_UNIT, SUBPROGRAM, VARIABLE, NAME, LINKAGE_NAME = 0x11, 0x2e, 0x34, 0x03, 0x6e
LOW_PC, HIGH_PC, LINES, DATA8, STRING, INDIRECT, SECTION_OFFSET, LINE_STRING = (
    0x11, 0x12, 0x10, 0x07, 0x08, 0x16, 0x17, 0x1f)
PARTIAL_UNIT, ORIGIN, ALTERNATE = 0x3c, 0x31, 0x1f20
LEXICAL_BLOCK = 0x0b
BASE_TYPE, POINTER_TYPE, STRUCTURE, MEMBER, TYPE_PARAMETER = 0x24, 0x0f, 0x13, 0x0d, 0x2f
BYTE_SIZE, ENCODING, LANGUAGE, PRODUCER, TYPE, LOCATION, PLACE, RANGES = (
    0x0b, 0x3e, 0x13, 0x25, 0x49, 0x02, 0x38, 0x55)
DATA1, REF4, EXPRESSION, FLAG_PRESENT = 0x0b, 0x13, 0x18, 0x19
RUST = 0x1c
MEMORY_LIMIT, SECONDS_LIMIT = 400 << 20, 20


def is_sanitized():
    """Then memory has no limit: the sanitizer reserves terabytes of addresses."""
    with open(os.environ["MEMLAG"], "rb") as program:
        return b"__asan_init" in program.read()


SANITIZED = is_sanitized()


def leb(number):
    encoded = bytearray()
    while number > 0x7f:
        encoded.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(encoded) + bytes([number])


def abbreviation(code, tag, *attributes, children=False):
    return leb(code) + leb(tag) + bytes([children]) + bytes(attributes) + b"\0\0"


def pack(data, claimed=None):
    return struct.pack("<IIQQ", 1, 0, claimed or len(data), 1) + zlib.compress(data)


def write_program(path, sections, packed=()):
    """A program with TEXT_BYTES of code, also mapped as data. SECTIONS are its other sections, by
    name. PACKED are the sections that begin like packed ones."""
    sections = dict(sections)
    body = bytearray(0x1000) + sections.pop(".text", b"\x90" * TEXT_BYTES)
    names = b"\0.text\0"
    headers = [bytes(64), HEADER.pack(1, 1, 6, TEXT, 0x1000, TEXT_BYTES, 0, 0, 16, 0)]
    for name, data in itertools.chain(sections.items(), [(".shstrtab", None)]):
        at, names = len(names), names + name.encode() + b"\0"
        data = names if data is None else data
        headers.append(HEADER.pack(at, SECTION_TYPES.get(name, 1),
                                   PACKED if name in packed else 0, 0, len(body), len(data),
                                   0, 0, 1, 0))
        body += data
    body += bytes(-len(body) % 8)
    identity = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, TEXT, 64, len(body), 0, 64, 56, 2, 64, len(headers),
        len(headers) - 1)
    body[0:64] = identity
    body[64:120] = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, TEXT, TEXT, TEXT_BYTES, TEXT_BYTES,
                               0x1000)
    body[120:176] = struct.pack("<IIQQQQQQ", 1, 4, 0x1000, DATA, DATA, TEXT_BYTES, TEXT_BYTES,
                                0x1000)
    with open(path, "wb") as program:
        program.write(body + b"".join(headers))


def unit(entries, version=4):
    header = struct.pack("<HIB", 4, 0, 8) if version == 4 else struct.pack("<HBBI", 5, 1, 8, 0)
    return struct.pack("<I", len(header) + len(entries)) + header + entries


def code_entry(code, start, size, *rest):
    """Of a function or unit: its first attributes are low_pc and high_pc."""
    return leb(code) + struct.pack("<QQ", start, size) + b"".join(rest)


RANGE = (LOW_PC, 1, HIGH_PC, DATA8)
PLAIN_UNIT = abbreviation(1, COMPILE_UNIT, *RANGE)
LINED_UNIT = abbreviation(1, COMPILE_UNIT, *RANGE, LINES, SECTION_OFFSET) + b"\0"
LINED_INFO = unit(code_entry(1, TEXT, TEXT_BYTES, bytes(4)))


def one_table(version):
    """Each of 8000 units has the same 200 000 abbreviations, and uses the last."""
    table = b"".join(abbreviation(code, VARIABLE) for code in range(2, 200_002))
    units = b"".join(unit(code_entry(1, TEXT + 8 * i, 8), version) for i in range(8000))
    return {".debug_info": units, ".debug_abbrev": pack(table + PLAIN_UNIT + b"\0")}


def wide_abbreviations():
    """The same with one abbreviation, of 250 000 attributes, before the one that is used:
    nothing to keep, and much to read."""
    table = abbreviation(2, VARIABLE, *[NAME, STRING] * 250_000)
    units = b"".join(unit(code_entry(1, TEXT + 8 * i, 8)) for i in range(8000))
    return {".debug_info": units, ".debug_abbrev": pack(table + PLAIN_UNIT + b"\0")}


def entries_of_one_byte():
    """Each of 100 000 entries has 100 000 attributes that take no byte."""
    flags = [NAME, FLAG_PRESENT] * 100_000
    table = (abbreviation(1, COMPILE_UNIT, *RANGE, children=True) +
             abbreviation(2, VARIABLE, *flags) + b"\0")
    return {".debug_abbrev": table, ".debug_info": unit(
        code_entry(1, TEXT, TEXT_BYTES) + b"\2" * 100_000 + b"\0")}


BAD_UNITS = 4


def bad_among_sound():
    """Units of functions with names. BAD_UNITS between them have a table of five million
    abbreviations, and use the last."""
    table = (abbreviation(1, COMPILE_UNIT, *RANGE, children=True) +
             abbreviation(2, SUBPROGRAM, *RANGE, NAME, STRING) + b"\0")
    long_table = b"".join(abbreviation(code, VARIABLE) for code in range(3, 5_000_000))
    units = b""
    for i in range(4000):
        at = code_entry(1, TEXT + 8 * i, 8)
        if i % (4000 // BAD_UNITS) == 0:
            entries, tables = at + b"\0", len(table)
        else:
            entries = at + code_entry(2, TEXT + 8 * i, 8, f"function_{i}\0".encode()) + b"\0"
            tables = 0
        header = struct.pack("<HIB", 4, tables, 8)
        units += struct.pack("<I", len(header) + len(entries)) + header + entries
    return {".debug_info": units, ".debug_abbrev": pack(
        table + long_table + abbreviation(1, COMPILE_UNIT, *RANGE) + b"\0")}


COMMON_ID = bytes(range(20))


def common_part():
    """What dwz moves away: a function's name, behind BAD_UNITS with such a table. Second,
    where the function is."""
    table = (abbreviation(1, PARTIAL_UNIT, children=True) +
             abbreviation(2, SUBPROGRAM, NAME, STRING) + b"\0")
    long_table = b"".join(abbreviation(code, VARIABLE) for code in range(3, 5_000_000))
    header = struct.pack("<HIB", 4, len(table), 8)
    units = BAD_UNITS * (struct.pack("<I", len(header) + 2) + header + b"\1\0")
    named = unit(b"\1" + b"\2moved\0" + b"\0")
    return {".note.gnu.build-id": struct.pack("<III", 4, len(COMMON_ID), 3) + b"GNU\0" + COMMON_ID,
            ".debug_info": units + named, ".debug_abbrev": pack(
                table + long_table + abbreviation(1, PARTIAL_UNIT) + b"\0")
            }, len(units) + named.index(b"\2moved")


def of_common_part(function):
    """A function that has its name in FUNCTION of the common part."""
    table = (abbreviation(1, COMPILE_UNIT, *RANGE, children=True) +
             abbreviation(2, SUBPROGRAM, *RANGE, ORIGIN, *leb(ALTERNATE)) + b"\0")
    return {".gnu_debugaltlink": b"common\0" + COMMON_ID, ".debug_abbrev": table,
            ".debug_info": unit(code_entry(1, TEXT, TEXT_BYTES) + code_entry(
                2, TEXT, TEXT_BYTES, struct.pack("<I", function)) + b"\0")}


def shared_table():
    """A whole program as compilers make it: many small units, and one table of 100 abbreviations of
    33 bytes. Each unit uses the first."""
    table = (abbreviation(1, COMPILE_UNIT, *RANGE, children=True) +
             abbreviation(2, SUBPROGRAM, *RANGE, NAME, STRING) +
             b"".join(abbreviation(code, VARIABLE, *[LINKAGE_NAME, STRING] * 14)
                      for code in range(3, 101)) + b"\0")
    return {".debug_abbrev": table, ".debug_info": b"".join(
        unit(code_entry(1, TEXT + 8 * i, 8) +
             code_entry(2, TEXT + 8 * i, 8, f"function_{i}\0".encode()) + b"\0")
        for i in range(6000))}


def line_table(lists, program=b""):
    header = bytes([1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + lists
    table = struct.pack("<HBBI", 5, 8, 0, len(header)) + header + program
    return struct.pack("<I", len(table)) + table


def lined(lists, program=b"", **more):
    return {".debug_info": LINED_INFO, ".debug_abbrev": LINED_UNIT,
            ".debug_line": line_table(lists, program), **more}


def long_paths(count=4000):
    """Each of many files is called by all that follows in one text of 20 MB."""
    text = b"\1" + bytes([1, STRING]) + leb(1) + b"/\0"
    files = b"\1" + bytes([1, LINE_STRING]) + leb(count) + struct.pack(f"<{count}I", *range(count))
    program = b"\0" + leb(9) + b"\2" + struct.pack("<Q", TEXT)
    for file in range(count):
        program += b"\4" + leb(file) + b"\3\1\1\2" + leb(8)
    return lined(text + files, program + b"\0\1\1",
                 **{".debug_line_str": pack(b"a" * (20 << 20) + b"\0")})


def indirect(chain):
    """The form of a function's name is a form that gives another form, and so on without end."""
    table = (abbreviation(1, COMPILE_UNIT, *RANGE, children=True) +
             abbreviation(2, SUBPROGRAM, *RANGE, NAME, INDIRECT) + b"\0")
    return {".debug_abbrev": table, ".debug_info": unit(
        code_entry(1, TEXT, TEXT_BYTES) + code_entry(2, TEXT, TEXT_BYTES, chain) + b"\0")}


def sound():
    table = (abbreviation(1, COMPILE_UNIT, *RANGE, children=True) +
             abbreviation(2, SUBPROGRAM, *RANGE, NAME, STRING) + b"\0")
    return {".debug_abbrev": table, ".debug_info": unit(
        code_entry(1, TEXT, TEXT_BYTES) + code_entry(2, TEXT, TEXT_BYTES, b"sound\0") + b"\0")}


class Types:
    """The entries of a unit whose types refer to each other."""

    table = (abbreviation(1, COMPILE_UNIT, *RANGE, LANGUAGE, DATA1, children=True) +
             abbreviation(2, SUBPROGRAM, *RANGE, NAME, STRING) +
             abbreviation(3, BASE_TYPE, NAME, STRING, BYTE_SIZE, DATA1, ENCODING, DATA1) +
             abbreviation(4, POINTER_TYPE, TYPE, REF4) +
             abbreviation(5, STRUCTURE, NAME, STRING, BYTE_SIZE, DATA8, children=True) +
             abbreviation(6, MEMBER, TYPE, REF4, PLACE, DATA8) +
             abbreviation(7, TYPE_PARAMETER, TYPE, REF4) +
             abbreviation(8, VARIABLE, NAME, STRING, TYPE, REF4, LOCATION, EXPRESSION) + b"\0")

    def __init__(self, language):
        self.at = 11  # of the unit's header
        self.entries = []
        self.put(code_entry(1, TEXT, TEXT_BYTES, bytes([language])))
        self.put(code_entry(2, TEXT, TEXT_BYTES, b"function\0"))

    def put(self, entry):
        """Where it is in the unit."""
        start, self.at = self.at, self.at + len(entry)
        self.entries.append(entry)
        return start

    def structure(self, name, members, parameter=None):
        """A type of MEMBERS, which are (type, bytes). Also returns its size."""
        places = list(itertools.accumulate((size for _, size in members), initial=0))
        start = self.put(b"\5" + name + b"\0" + struct.pack("<Q", places[-1]))
        self.put(b"".join(b"\6" + struct.pack("<IQ", kind, place)
                          for (kind, _), place in zip(members, places)))
        self.put((b"\7" + struct.pack("<I", parameter) if parameter else b"") + b"\0")
        return start, places[-1]

    def sections(self, kind):
        """The program has a variable of this type where its data begins."""
        self.put(b"\x08data\0" + struct.pack("<IBBQ", kind, 9, 3, DATA) + b"\0")
        return {".debug_abbrev": self.table, ".debug_info": unit(b"".join(self.entries))}


def vectors(count, members):
    """COUNT vectors of Rust's, which have MEMBERS each: in them are other structures, of
    eight members, down to pointers to bytes that lie six deep."""
    types = Types(RUST)
    byte = types.put(b"\3u8\0\1\x07")
    parts = [(types.put(b"\4" + struct.pack("<I", byte)), 8)] * 8
    for _ in range(5):
        parts = [types.structure(b"Part", parts) for _ in range(8)]
    several = list(itertools.islice(itertools.cycle(parts), members))
    return types.sections(types.structure(b"Data", [
        types.structure(b"RawVec<u8>", several, byte) for _ in range(count)])[0])


def scattered_block():
    """All instructions write the register that a block has a pointer in, and each is a range
    of the block."""
    load = b"\x48\x8b\0"  # mov (%rax),%rax
    count = 20_000
    table = (abbreviation(1, COMPILE_UNIT, *RANGE, PRODUCER, STRING, children=True) +
             abbreviation(2, SUBPROGRAM, *RANGE, NAME, STRING, children=True) +
             abbreviation(3, LEXICAL_BLOCK, RANGES, SECTION_OFFSET, children=True) +
             abbreviation(4, VARIABLE, NAME, STRING, TYPE, REF4, LOCATION, EXPRESSION) +
             abbreviation(5, POINTER_TYPE, TYPE, REF4) +
             abbreviation(6, BASE_TYPE, NAME, STRING, BYTE_SIZE, DATA1, ENCODING, DATA1) + b"\0")
    entries = code_entry(1, TEXT, TEXT_BYTES, b"GNU C17\0")
    number = 11 + len(entries)
    entries += b"\6long\0\x08\x05"
    pointer = 11 + len(entries)
    entries += b"\5" + struct.pack("<I", number)
    entries += code_entry(2, TEXT, len(load) * count, b"function\0")
    entries += b"\3" + bytes(4) + b"\4p\0" + struct.pack("<IBB", pointer, 1, 0x50) + bytes(3)
    ranges = [at * len(load) for start in range(count) for at in (start, start + 1)]
    return {".text": (load * count).ljust(TEXT_BYTES, b"\x90"), ".debug_abbrev": table,
            ".debug_info": unit(entries + bytes(65536)),  # that its ranges do not cost too much
            ".debug_ranges": struct.pack(f"<{len(ranges)}Q", *ranges) + bytes(16)}


def functions_in_each_other():
    """Each begins eight bytes behind the one before, and all end where the code does."""
    table = (abbreviation(1, COMPILE_UNIT, *RANGE, children=True) +
             abbreviation(2, SUBPROGRAM, *RANGE, NAME, STRING) + b"\0")
    return {".debug_abbrev": table, ".debug_info": unit(
        code_entry(1, TEXT, TEXT_BYTES) + b"".join(
            code_entry(2, TEXT + 8 * i, TEXT_BYTES - 8 * i, b"f\0") for i in range(4000)) + b"\0")}


TOO_MUCH = "binary with too much debug information"
COSTLY = "binary with debug information too costly to read"
NO_MEMORY = "binary with debug information that there was no memory for"
RESOLVED = "resolved"
COMMON, MOVED = common_part()
# name: sections, the packed ones among them, and the expected result for functions
CASES = {
    "one table, DWARF 4": (one_table(4), {".debug_abbrev"}, TOO_MUCH),
    "one table, DWARF 5": (one_table(5), {".debug_abbrev"}, TOO_MUCH),
    "wide abbreviations": (wide_abbreviations(), {".debug_abbrev"}, TOO_MUCH),
    "entries of one byte": (entries_of_one_byte(), (), TOO_MUCH),
    "bad among sound": (bad_among_sound(), {".debug_abbrev"}, TOO_MUCH),
    "bad in the common part": (of_common_part(MOVED), (), "no symbol"),
    "one table of a sound program": (shared_table(), (), RESOLVED),
    "directories without a form": (lined(b"\0" + leb(1 << 32) + b"\0\0"), (), "no symbol"),
    "2^32 directories": (lined(bytes([1, 1, STRING]) + leb(1 << 32) + b"a\0b\0"), (), "no symbol"),
    "long paths": (long_paths(), {".debug_line_str"}, COSTLY),
    "indirect forms": (indirect(bytes([INDIRECT]) * 3_000_000 + b"\x08a\0"), (), "no symbol"),
    "empty units": ({".debug_info": pack(bytes(64 << 20)), ".debug_abbrev": PLAIN_UNIT},
                    {".debug_info"}, TOO_MUCH),
    "no memory": ({".debug_info": pack(bytes(500 << 20) + os.urandom(16 << 20)),
                   ".debug_abbrev": PLAIN_UNIT},
                  {".debug_info"}, TOO_MUCH if SANITIZED else NO_MEMORY),
    "zeros of 1 GB": ({".debug_line": pack(bytes(1 << 30)), ".debug_info": LINED_INFO,
                       ".debug_abbrev": LINED_UNIT}, {".debug_line"}, TOO_MUCH),
    "10 GB claimed": ({".debug_info": pack(bytes(1 << 20), 10 << 30), ".debug_abbrev": PLAIN_UNIT},
                      {".debug_info"}, TOO_MUCH),
    "packed symbols": ({".gnu_debugdata": lzma.compress(bytes(256 << 20), preset=0)}, (),
                        "no symbol"),
    "vector of many members": (vectors(1, 3000), (), RESOLVED),
    "vectors of many parts": (vectors(5000, 8), (), RESOLVED),
    "block of many ranges": (scattered_block(), (), RESOLVED),
    "functions in each other": (functions_in_each_other(), (), RESOLVED),
}
# where variables are looked for, too
READ_DATA = {"vector of many members", "vectors of many parts",
             "block of many ranges", "functions in each other"}


def add_sound_program(database, path, base):
    """A second program in the same process, and a sample in it."""
    write_program(path, sound())
    db = sqlite3.connect(database)
    db.execute("INSERT INTO module VALUES (2, ?, NULL)", (os.path.abspath(path),))
    db.execute("INSERT INTO mapping VALUES (NULL, 1, 'file', ?, ?, ?, 2, 'r-x', NULL, 0, NULL)",
               (base + TEXT, TEXT_BYTES, 0x1000))
    db.execute("INSERT INTO sample (time_ns, thread_id, cpu, ip, latency_cycles)"
               " VALUES (1000000, 1, 0, ?, 100)", (base + TEXT + 16,))
    db.commit()
    db.close()


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_LIMIT, SECONDS_LIMIT))
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def check(name, sections, packed, outcome):
    write_program("hostile", sections, packed)
    symbolize_db.make("t.db", os.path.join(source, "profiler/db/schema.sql"),
                      os.path.abspath("hostile"),
                      [(TEXT + 8 * i, DATA + 8 * i if name in READ_DATA else None)
                       for i in range(4000)], 0)
    add_sound_program("t.db", "sound", 0x10000000)
    named = subprocess.run([os.environ["MEMLAG"], "symbolize", "t.db"], check=False,
                           capture_output=True, text=True, preexec_fn=limit)
    db = sqlite3.connect("t.db")
    found = dict(db.execute("SELECT outcome, samples FROM resolution WHERE subject = 'function'"))
    functions = [row[0] for row in db.execute(
        "SELECT DISTINCT function FROM location WHERE module_id = 2")]
    unnamed = 0 if outcome == RESOLVED else 4000
    expected = {RESOLVED: 4001 - unnamed, **({outcome: unnamed} if unnamed else {})}
    good = named.returncode == 0 and found == expected and functions == ["sound"]
    size = os.path.getsize("hostile")
    print(f"{'ok' if good else 'FAILED'}: {name} ({size} bytes): {named.returncode}"
          f" {named.stderr.strip()} {found} {functions}")
    return good


def main():
    write_program("common", COMMON, {".debug_abbrev"})
    good = [check(name, *case) for name, case in CASES.items()]
    return 0 if all(good) else 1


sys.exit(main())
