# SPDX-License-Identifier: MIT
"""A sample database of one program or library, as if it had been recorded: every
segment mapped, and a sample at each of the given addresses."""
import re
import sqlite3
import subprocess


def output(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True,
                          **keywords).stdout


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


def make(database, schema, path, addresses, base, recorded_id=None):
    """ADDRESSES are (instruction, data or None) pairs, numbered as in the file."""
    db = sqlite3.connect(database)
    with open(schema, encoding="utf-8") as text:
        db.executescript(text.read())
    db.execute("INSERT INTO process VALUES (1, 100, NULL, ?, 0, NULL)", (path,))
    db.execute("INSERT INTO thread VALUES (1, 1, 100, NULL, 0, NULL)")
    db.execute("INSERT INTO module VALUES (1, ?, ?)", (path, recorded_id or build_id(path)))
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
    db.executemany("INSERT INTO sample (time_ns, thread_id, cpu, ip, addr, latency_cycles) "
                   "VALUES (?, 1, 0, ?, ?, 100)",
                   ((i, base + ip, None if data is None else base + data)
                    for i, (ip, data) in enumerate(addresses)))
    db.commit()
    db.close()
