# SPDX-License-Identifier: MIT
"""Memory does not grow with a recording: import, names, findings and report of four times as many
samples take no more than before. The samples lie in the code of a small program. Each accesses
another address of an array in it, and is attributed to that array."""
import contextlib
import os
import pathlib
import sqlite3
import struct
import subprocess
import sys

MEMLAG = os.environ["MEMLAG"]
SAMPLES, TIMES = 120_000, 4
# Buffers that come and go as the disk is slow or fast; 360 000 samples kept would be more
# than this even at 24 bytes each.
NOISE_KB = 6 << 10

sys.path.insert(0, os.environ["SOURCE_DIR"] + "/tests/fuzz")
import make_perf_data as make  # noqa: E402

PROGRAM = """
double first[100];
double wide[1 << 22];
double last[100];
int main(int count, char **words)
{
        first[count] = last[count] = wide[count * 1000];
        return words[0][0] == 0;
}
"""


def symbols(program):
    text = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in text.splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


def segments(program):
    """Flags, offset, address, bytes in the file and in memory of the loaded segments."""
    image = program.read_bytes()
    at, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
    for i in range(count):
        kind, flags, offset, vaddr, _, file_bytes, bytes_ = struct.unpack_from("<IIQQQQQ", image, at + i * size)
        if kind == 1:
            yield flags, offset, vaddr, file_bytes, bytes_


def mapping(program, start, end, offset, protection):
    path = str(program).encode() + b"\0"
    path += b"\0" * (-len(path) % 8)
    body = struct.pack("<IIQQQQQQII", 5, 5, start, end - start, offset, 1, 2, 3, protection, 2)
    return make.record(10, body + path + struct.pack("<IIQQ", 5, 5, 2, 7))


def mappings(program):
    page = 4096
    for flags, offset, vaddr, file_bytes, bytes_ in segments(program):
        start, end = vaddr // page * page, -(-(vaddr + file_bytes) // page) * page
        protection = (flags & 4) >> 2 | flags & 2 | (flags & 1) << 2
        yield mapping(program, start, end, offset // page * page, protection)
        if bytes_ > file_bytes:
            yield mapping("//anon", end, -(-(vaddr + bytes_) // page) * page, 0, 3)


def write_recording(program, count):
    known = symbols(program)
    kinds = make.IDENTIFIER | make.IP | make.TID | make.TIME | make.ADDR | make.WEIGHT | make.DATA_SRC
    path = pathlib.Path(f"{count}.data")
    with path.open("wb") as out:
        out.write(make.pipe(kinds, b"".join(mappings(program))))
        for i in range(count):
            ip = known["main"] + i % 16
            addr = known["wide"] + i * 8 * 7919 % (8 << 22)
            body = struct.pack("<QQIIQQQQ", 7, ip, 5, 5, 10 + i * 1000, addr, 100 + i % 700, 0x68100142)
            out.write(make.record(9, body))
            if i % 10_000 == 0:
                out.write(make.record(68, b""))
        out.write(make.record(68, b""))
    return path


def peak_kb(recording):
    command = [MEMLAG, "import", "--force", "-o", "memory.db", recording]
    with open("errors", "wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
    assert not status, f"{recording}: status {status}: {pathlib.Path('errors').read_text()}"
    return usage.ru_maxrss


def check_objects(count):
    with contextlib.closing(sqlite3.connect("memory.db")) as database:
        objects = database.execute("SELECT object, count(*) FROM sample_view GROUP BY object").fetchall()
        offsets = database.execute(
            "SELECT count(*) FROM attribution AS a JOIN sample USING (sample_id)"
            " WHERE addr - object_offset_bytes = (SELECT min(addr) FROM sample)"
        ).fetchone()
    assert objects == [("wide", count)] and offsets == (count,), (objects, offsets)


def main():
    source, program = pathlib.Path("wide.c"), pathlib.Path("wide").absolute()
    source.write_text(PROGRAM)
    peaks = []
    for option in ("-g0", "-g"):
        subprocess.run([os.environ["CC"], option, "-O0", "-no-pie", "-o", program, source], check=True)
        for count in (SAMPLES, TIMES * SAMPLES):
            peaks.append(peak_kb(write_recording(program, count)))
            check_objects(count)
        assert peaks[-1] <= peaks[-2] + NOISE_KB, f"peak memory, KB: {peaks}"
    print("peak memory, KB:", *peaks)


main()
