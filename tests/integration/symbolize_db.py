# SPDX-License-Identifier: MIT
"""A sample database of one program or library, as if it had been recorded: every segment is mapped,
and each given address has a sample. And the answers of other readers and memlag for these
addresses."""
import collections
import os
import re
import sqlite3
import subprocess

PLACE = re.compile(r"^(.*?):(\?|\d+)(?::\d+)?(?: \(discriminator \d+\))?$")


def output(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True, **keywords).stdout


def build_id(path):
    found = re.search(r"Build ID: ([0-9a-f]+)", output("readelf", "-n", path))
    return bytes.fromhex(found[1]) if found else None


def segments(path):
    """(offset, vaddr, bytes in memory, flags) of each PT_LOAD."""
    for line in output("readelf", "-lW", path).splitlines():
        fields = line.split()
        if fields and fields[0] == "LOAD":
            numbers = [int(field, 16) for field in fields[1:6]]
            yield numbers[0], numbers[1], numbers[3], numbers[4], "".join(fields[6:-1])


def functions(path, *options):
    """{name: its addresses} of the functions that nm shows."""
    found = {}
    for line in output("nm", "-S", *options, path).splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTwW":
            start = int(fields[0], 16)
            found[fields[3]] = range(start, start + int(fields[1], 16))
    return found


def instructions(path, among=None):
    """The addresses of all instructions of functions, without what fills the gaps."""
    among = functions(path).values() if among is None else among
    for line in output("objdump", "-d", path).splitlines():
        found = re.match(r"\s*([0-9a-f]+):\t", line)
        if found and any(int(found[1], 16) in function for function in among):
            yield int(found[1], 16)


def normal(path):
    """As memlag spells file names: without "." and empty parts; ".." stays."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts)


def chains(text):
    """What addr2line -a -f -i, or eu-addr2line, printed: {address: its frames [function, file,
    line], innermost first}."""
    answers = {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("0x"):
            current = answers.setdefault(int(line, 16), [])
            continue
        file, number = PLACE.match(next(lines)).groups()
        function = re.sub(" inlined (at|from) .* in .*$", "", line)  # eu-addr2line -i
        function = None if function == "??" else re.sub("@.*", "", function)
        # "?" behind a file: code of no line, with the file of the row before, whichever
        known = number not in ("?", "0") and file != "??"
        current.append([function, normal(file) if known else None, int(number) if known else None])
    return answers


def addr2line(path, addresses):
    return chains(output("addr2line", "-a", "-f", "-i", "-e", path,
                         input="".join(f"{a:#x}\n" for a in addresses)))


def named(memlag, database, *options):
    """The same from memlag, which names DATABASE."""
    subprocess.run([memlag, "symbolize", *options, database], check=True)
    db = sqlite3.connect(database)
    frames = collections.defaultdict(list)
    for location, *frame in db.execute("SELECT location_id, function, call_file, call_line"
                                       " FROM inline_frame ORDER BY location_id, depth"):
        frames[location].append(frame)
    answers = {}
    for location, address, function, file, line in db.execute(
            "SELECT location_id, address_offset, function, file, line FROM location"):
        inlined = zip(frames[location], frames[location][1:])
        # The kernel's are stored as negative numbers.
        answers[address % 2**64] = [[function, file if line else None, line], *(
            [outer, call_file, call_line] for (_, call_file, call_line), (outer, *_) in inlined)]
    return answers


def stored(address):
    """As schema.md says: the kernel's addresses are negative."""
    return address - 2**64 if address >= 2**63 else address


def is_kernel(path):
    return any(vaddr >= 2**63 for _, vaddr, _, _, _ in segments(path))


def map_segments(db, path, base):
    for offset, vaddr, in_file, in_memory, flags in segments(path):
        page = vaddr % 4096
        mapped = (in_file + page + 4095) & ~4095
        protection = "".join(sign.lower() if sign in flags else "-" for sign in "RW")
        db.execute("INSERT INTO mapping VALUES (NULL, 1, 'file', ?, ?, ?, 1, ?, NULL, 0, NULL)",
                   (base + vaddr - page, mapped, offset - page,
                    protection + ("x" if "E" in flags else "-")))
        if in_memory + page > mapped:  # .bss
            db.execute("INSERT INTO mapping VALUES (NULL, 1, 'anon', ?, ?, NULL, NULL, 'rw-',"
                       " NULL, 0, NULL)",
                       (base + vaddr - page + mapped, in_memory + page - mapped))


def map_kernel(db, path):
    """As perf records it: its text is at its link address."""
    code = [(vaddr, in_memory) for _, vaddr, _, in_memory, flags in segments(path) if "E" in flags]
    start = min(vaddr for vaddr, _ in code)
    end = max(vaddr + in_memory for vaddr, in_memory in code)
    db.execute("INSERT INTO mapping VALUES (NULL, 1, 'file', ?, ?, ?, 1, 'r-x', NULL, 0, NULL)",
               (stored(start), end - start, stored(start)))


def make(database, schema, path, addresses, base, recorded_id=None):
    """ADDRESSES are (instruction, data or None) pairs, numbered as in the file. It takes the
    place of an older DATABASE."""
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(f"{database}{suffix}"):
            os.remove(f"{database}{suffix}")
    db = sqlite3.connect(database)
    with open(schema, encoding="utf-8") as text:
        db.executescript(text.read())
    db.execute("INSERT INTO process VALUES (1, 100, NULL, ?, 0, NULL)", (path,))
    db.execute("INSERT INTO thread VALUES (1, 1, 100, NULL, 0, NULL)")
    kernel = is_kernel(path)
    db.execute("INSERT INTO module VALUES (1, ?, ?)",
               ("[kernel.kallsyms]" if kernel else path, recorded_id or build_id(path)))
    if kernel:
        map_kernel(db, path)
    else:
        map_segments(db, path, base)
    db.executemany("INSERT INTO sample (time_ns, thread_id, cpu, ip, addr, latency_cycles) "
                   "VALUES (?, 1, 0, ?, ?, 100)",
                   ((i, stored(base + ip), None if data is None else base + data)
                    for i, (ip, data) in enumerate(addresses)))
    db.commit()
    db.close()
