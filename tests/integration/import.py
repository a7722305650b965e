# SPDX-License-Identifier: MIT
"""memlag import compared with perf script: the same samples with the same fields.

Real recordings are in ../shared/perfdata (or below $MEMLAG_SHARED), with the numbers of samples
that two other readers found (INDEX.md). Others are made here with the installed perf, in all its
formats. The output of perf script is split into the fields of sample_view and compared as a whole:
the same rows, the same number of times."""
import collections
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time

MEMLAG = os.environ["MEMLAG"]
SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
SHARED = pathlib.Path(os.environ.get("MEMLAG_SHARED", SOURCE.parent / "shared"))
# tests/fuzz/make_perf_data.py tells its contents.
CORPUS = pathlib.Path(os.environ["BINARY_DIR"], "tests/fuzz/corpus/perf_data")
PIPE = CORPUS / "pipe"
DATABASE = "import.db"
FIELDS = ("pid", "tid", "cpu", "time", "ip", "addr", "data_src", "weight")


def run(command, **arguments):
    return subprocess.run(command, capture_output=True, text=True, **arguments)


def import_recording(path, *options, stdin=None, status=0):
    command = [MEMLAG, "import", "--force", "-o", DATABASE, *options, path]
    result = run(command, stdin=stdin)
    assert result.returncode == status, f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stderr}"
    return result


def query(sql):
    opened = sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True)
    with contextlib.closing(opened) as connection:
        return connection.execute(sql).fetchall()


def facts():
    return dict(query("SELECT key, value FROM run_info"))


def run_info(key):
    return facts().get(key)


# ---- what perf script says --------------------------------------------------------------


def level_of(text):
    """perf's words for the data source, in the database's words. perf names a level by mem_lvl_num
    and once more by mem_lvl."""
    if "miss" in text:
        return "NA"
    for word, level in (
            ("LFB", "LFB"), ("Remote RAM", "REMOTE_DRAM"), ("Remote Cache", "REMOTE_CACHE"),
            ("Remote", "REMOTE_CACHE"), ("RAM", "DRAM"), ("PMEM", "PMEM"), ("L1", "L1"), ("L2", "L2"),
            ("L3", "L3"), ("I/O", "IO"), ("Uncached", "UNCACHED")):
        if word in text:
            return level
    return "NA"


def data_source_of(text):
    part = dict(piece.split(" ", 1) for piece in text.strip("|").split("|") if " " in piece)
    operation = {"LOAD": "load", "STORE": "store", "PFETCH": "prefetch", "EXEC": "exec"}
    tlb = part["TLB"]
    snoop = {"None": "none", "Miss": "none", "Hit": "hit", "HitM": "hitm", "Fwd": "hit"}
    return (operation.get(part["OP"].strip(), "NA"), level_of(part["LVL"]),
            "miss" if "miss" in tlb else "hit" if "hit" in tlb else "NA",
            snoop.get(part["SNP"].strip(), "NA"), int("Yes" in part["LCK"]))


LINE = re.compile(r"\s*(?P<pid>-?\d+)/(?P<tid>-?\d+)\s*(?:\[(?P<cpu>-?\d+)\]\s*)?"
                  r"(?:(?P<time>\d+\.\d+):\s*)?(?P<rest>.*)$")


def perf_script(path, fields):
    command = ["perf", "script", "-i", path, "--ns", "-G", "--no-itrace", "-F", ",".join(fields)]
    return run(command)


def readable_fields(path):
    """The fields that the events have: perf names each one that they have not."""
    fields = list(FIELDS)
    while True:
        result = perf_script(path, fields)
        missing = re.search(r"Cannot print '(\w+)' field", result.stderr)
        if not missing:
            break
        fields.remove(missing.group(1))
    if result.returncode != 0 or not result.stdout.strip():
        return None, result.stderr.strip()
    return fields, result.stdout


def parse_line(line, fields):
    match = LINE.match(line)
    assert match, f"perf script printed {line!r}"
    row = {"pid": int(match["pid"]), "tid": int(match["tid"])}
    rest = match["rest"]
    if "cpu" in fields:
        row["cpu"] = int(match["cpu"])
    if "time" in fields:
        seconds, fraction = match["time"].split(".")
        row["time"] = int(seconds) * 10**9 + int(fraction)
    if "addr" in fields:
        addr, rest = rest.strip().split(None, 1)
        row["addr"] = int(addr, 16)
    if "data_src" in fields:
        _, source, rest = re.match(r"\s*([0-9a-f]+) (\|OP .*)\|BLK\s+\S+\s+(.*)$", rest).groups()
        row["source"] = data_source_of(source)
    if "weight" in fields:
        weight, rest = rest.strip().split(None, 1)
        row["weight"] = int(weight)
    row["ip"] = int(rest.split()[0], 16)
    return tuple(sorted(row.items()))


def perf_rows(text, fields):
    return collections.Counter(parse_line(line, fields) for line in text.splitlines() if line)


# ---- what memlag says --------------------------------------------------------------------


def memlag_rows(fields):
    start = run_info("clock_start_ns") or 0
    rows = collections.Counter()
    for time, pid, tid, cpu, ip, addr, weight, *source in query(
        "SELECT time_ns, pid, tid, cpu, ip, addr, latency_cycles, op, level, tlb, snoop,"
        " coalesce(locked, 0) FROM sample_view"
    ):
        row = {"pid": pid, "tid": tid, "ip": int(ip, 16)}
        if "cpu" in fields:
            row["cpu"] = -1 if cpu is None else cpu
        if "time" in fields:
            row["time"] = time + start
        if "addr" in fields:
            row["addr"] = int(addr, 16) if addr else 0
        if "data_src" in fields:
            row["source"] = tuple(source)
        if "weight" in fields:
            row["weight"] = weight or 0
        rows[tuple(sorted(row.items()))] += 1
    return rows


def compare_with_perf(path):
    """The fields compared; None when perf cannot read the recording."""
    fields, text = readable_fields(path)
    if not fields:
        return None
    same(f"{path}: samples", perf_rows(text, fields), memlag_rows(fields))
    return fields


def same(what, theirs, ours):
    assert theirs == ours, (what, sum(theirs.values()), sum(ours.values()), "only of perf and of memlag",
                            list((theirs - ours).elements())[:3], list((ours - theirs).elements())[:3])


# ---- recordings of other machines ----------------------------------------------------------


def index_of_recordings():
    """FILE and the number of its samples, from the lines of the index's tables."""
    for line in (SHARED / "perfdata/INDEX.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        numbers = [int(cell) for cell in cells[2:] if cell.isdigit()]
        if len(cells) > 6 and "/" in cells[0] and numbers:
            yield cells[0], numbers[0]
        elif cells[0].startswith("mem/"):
            yield cells[0], int(re.search(r"own (\d+)\)", line).group(1))


def other_machines(has_perf):
    if not (SHARED / "perfdata").is_dir():
        print(f"SKIPPED: no recordings of other machines: {SHARED}/perfdata is not there")
        return
    compared = 0
    for name, samples in index_of_recordings():
        path = SHARED / "perfdata" / name
        import_recording(path)
        assert run_info("samples") == samples, f"{name}: {run_info('samples')} samples, not {samples}"
        assert (run_info("numbers"), run_info("state")) == ("imported", "complete"), (name, facts())
        if name.startswith("mem/skx"):
            assert (run_info("ldlat_cycles"), run_info("period_loads")) == (64, 10009), (name, facts())
        with open(path, "rb") as stdin:
            import_recording("-", stdin=stdin)
        assert run_info("samples") == samples, f"{name} as standard input: {run_info('samples')} samples"
        cat = subprocess.Popen(["cat", path], stdout=subprocess.PIPE)
        import_recording("-", stdin=cat.stdout)
        cat.wait()
        assert run_info("samples") == samples, f"{name} through a pipe: {run_info('samples')} samples"
        fields = compare_with_perf(path) if has_perf else None
        compared += fields is not None
        if fields and "callgraph" in name:
            print(f"{name}: {compare_stacks(path)} frames as perf")
        print(f"{name}: {samples} samples; {'as perf in ' + ' '.join(fields) if fields else 'perf cannot read it'}")
    assert not (has_perf and compared < 16), f"perf read only {compared} of the recordings"


# ---- recordings made here ------------------------------------------------------------------

# What perf record is asked for, beside a program with threads, forks and an exec.
WAYS = {
    "clock": ["-e", "cpu-clock", "-F", "5000"],
    "faults": ["-e", "page-faults", "-c", "1", "-d"],
    "compressed": ["-z", "-e", "page-faults", "-c", "1", "-d"],
    "weights": ["-W", "-d", "--phys-data", "-e", "cpu-clock"],
    "two events": ["-e", "cpu-clock:u,page-faults", "-d"],
    "more than one layout": ["-e", "cpu-clock/call-graph=fp/,page-faults/call-graph=no/"],
    "frame pointers": ["-e", "cpu-clock", "-g", "-F", "5000"],
    "copied stacks": ["-e", "cpu-clock", "--call-graph", "dwarf,8192"],
    "registers": ["-e", "cpu-clock", "--user-regs=ip,sp,bp", "-I"],
    "counts and switches": ["-s", "--switch-events", "--namespaces", "-e", "cpu-clock"],
    "build-ids in mappings": ["--buildid-mmap", "-e", "page-faults", "-c", "1", "-d"],
    "clock of its own": ["-k", "CLOCK_MONOTONIC", "-e", "cpu-clock"],
    "no inheritance": ["-i", "-e", "cpu-clock"],
    "page sizes": ["--data-page-size", "--code-page-size", "-d", "-e", "page-faults"],
    "everywhere": ["-a", "-e", "cpu-clock"],
}


def record(name, options, program):
    """False when this perf or this kernel cannot record so; the reason is shown."""
    result = run(["perf", "record", "-q", "-N", "-o", "made.data", *options, "--", program])
    if result.returncode == 0:
        return True
    reason = (result.stderr.strip().splitlines() or ["no reason given"])[0]
    print(f"SKIPPED: perf cannot record {name} here: {reason}")
    return False


CONTEXT_MARKERS = 2**64 - 4095
USER_CONTEXT = 2**64 - 512


def perf_stacks(path):
    """Each sample's addresses, innermost first, as the kernel wrote them: perf script shows user
    addresses relative to the file, its dump unchanged."""
    result = run(["perf", "script", "-D", "-i", path])
    stacks = collections.Counter()
    for sample in result.stdout.split("PERF_RECORD_SAMPLE(")[1:]:
        tid = re.match(r"[^)]*\): \d+/(\d+): ", sample)[1]
        frames = re.findall(r"^\.\.\.\.\. +\d+: ([0-9a-f]{16})$", sample, re.MULTILINE)
        stack = []
        after_kernel = False
        for frame in (int(frame, 16) for frame in frames):
            if frame >= CONTEXT_MARKERS:
                after_kernel = frame == USER_CONTEXT and stack
                continue
            stack.append(frame + 1 if after_kernel else frame)  # schema.md, stack
            after_kernel = False
        stacks[(int(tid), tuple(stack))] += 1
    return stacks


def memlag_stacks():
    node = {stack: (parent, ip)
            for stack, parent, ip in query("SELECT stack_id, parent_id, ip FROM stack")}
    stacks = collections.Counter()
    for tid, leaf in query("SELECT tid, stack_id FROM sample JOIN thread USING (thread_id)"):
        frames = []
        while leaf is not None:
            leaf, ip = node[leaf]
            frames.append(ip % 2**64)
        stacks[(tid, tuple(frames))] += 1
    return stacks


def compare_stacks(path):
    ours = memlag_stacks()
    same(f"{path}: stacks", perf_stacks(path), ours)
    return sum(len(frames) for _, frames in ours)


def interrupted_pipe():
    """Ctrl-C goes to both programs: the recording ends, and the import does not."""
    shell = f"perf record -q -e cpu-clock -a -o - sleep 1000 | {MEMLAG} import --force -o {DATABASE} -"
    pipeline = subprocess.Popen(["sh", "-c", f"trap : INT; {shell}"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)
    wait_until(sampled, "the database that is being written has samples")
    os.killpg(pipeline.pid, signal.SIGINT)
    _, errors = pipeline.communicate(timeout=300)
    assert run_info("state") == "complete" and run_info("samples"), (facts(), errors)


def sampled():
    try:
        return query("SELECT count(*) FROM sample")[0][0] > 0
    except sqlite3.Error:
        return False


def build(name, *options):
    program = os.path.abspath(name)
    source = SOURCE / "tests/integration/import_work.c"
    command = [os.environ["CC"], "-g", *options, "-pthread", "-o", program, source]
    subprocess.run(command, check=True)
    return program


def made_here():
    program = build("import_work", "-O1", "-fno-omit-frame-pointer")
    for name, options in WAYS.items():
        if not record(name, options, program):
            continue
        import_recording("made.data")
        fields = compare_with_perf("made.data")
        assert fields, f"{name}: perf cannot read what it has recorded"
        print(f"{name}: {run_info('samples')} samples; as perf in {' '.join(fields)}")
        if name == "frame pointers":
            print(f"{name}: {compare_stacks('made.data')} frames as perf")
    pipes(program)
    pathlib.Path(DATABASE).unlink()
    interrupted_pipe()
    if record("page faults", ["-e", "page-faults", "-c", "1"], program):
        files_elsewhere(program)
        kernel_names()


def pipes(program):
    """From perf record into memlag at once, and by way of a file."""
    for options in ([], ["-z"]):
        command = ["perf", "record", "-q", *options, "-o", "-", "-e", "cpu-clock", "--"]
        with open("piped.data", "wb") as stored:
            subprocess.run([*command, program], stdout=stored, check=True)
        import_recording("piped.data")
        fields = compare_with_perf("piped.data")
        assert fields, "perf cannot read what it has written into a pipe"
        print(f"pipe {options}: {run_info('samples')} samples; as perf in {' '.join(fields)}")
        recorder = subprocess.Popen([*command, program], stdout=subprocess.PIPE)
        import_recording("-", stdin=recorder.stdout)
        assert recorder.wait() == 0 and run_info("samples"), (options, facts())


# ---- the files of another machine -------------------------------------------------------------


def named_samples(*options):
    """Samples by function, of the program's own file and of the kernel."""
    import_recording("made.data", *options)
    return [collections.Counter(dict(query(
        f"SELECT function, count(*) FROM sample_view WHERE module LIKE '{module}'"
        " AND function IS NOT NULL GROUP BY 1"))) for module in ("%/import_work", "[kernel%")]


def perf_kernel_functions():
    """Where perf names a function, at the addresses that the kernel's symbols reach."""
    result = run(["perf", "script", "-i", "made.data", "-G", "-F", "ip,sym,dso"])
    functions = collections.Counter()
    for line in result.stdout.splitlines():
        fields = line.split()
        if fields[-1] == "([kernel.kallsyms])" and fields[1] != "[unknown]":
            functions[fields[1]] += 1
    return functions


def files_elsewhere(program):
    here, _ = named_samples()
    assert here.get("touch"), f"no samples in the program: {here}"
    root, cache = pathlib.Path("root"), pathlib.Path("cache")
    hidden = root / program[1:]
    hidden.parent.mkdir(parents=True, exist_ok=True)
    os.rename(program, hidden)
    nowhere, _ = named_samples()
    below, _ = named_samples("--symfs=root")
    assert not (nowhere or below != here), f"--symfs: {nowhere} without, {below} with it, {here} in place"
    build_id = query("SELECT hex(build_id) FROM module WHERE path LIKE '%/import_work'")
    build_id = build_id[0][0].lower()
    for place in ("old", "new"):  # a link to the file; a directory with the file
        entry = cache / place / ".build-id" / build_id[:2] / build_id[2:]
        if place == "new":
            entry.mkdir(parents=True)
            entry /= "elf"
        else:
            entry.parent.mkdir(parents=True)
        entry.symlink_to(hidden.absolute())
        cached, _ = named_samples(f"--build-id-dir=cache/{place}", "--build-id-dir=root")
        assert cached == here, f"--build-id-dir: {cached} from the {place} cache, {here} in place"
    # Another build at the same place is not taken.
    build("import_work", "-O0")
    other, _ = named_samples()
    assert not other and query("SELECT 1 FROM ledger WHERE kind = 'samples in changed binary'"), other
    # Debug information that is apart from it.
    stripped = root / "stripped"
    debug = pathlib.Path("debug/.build-id") / build_id[:2] / f"{build_id[2:]}.debug"
    debug.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", hidden, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", hidden, stripped], check=True)
    os.rename(stripped, hidden)
    assert "touch" not in named_samples("--symfs=root")[0], "a stripped program has names"
    assert named_samples("--symfs=root", "--debuginfo-path=debug")[0] == here, "--debuginfo-path is not used"
    shutil.copytree("debug", root / "usr/lib/debug", dirs_exist_ok=True)
    assert named_samples("--symfs=root")[0] == here, "debug files below --symfs are not used"
    os.rename(hidden, program)


def kernel_names():
    """From the running kernel, a copy of kallsyms, perf's cache, and a file of the kernel."""
    theirs = perf_kernel_functions()
    _, running = named_samples()
    if not theirs:
        print("SKIPPED: kernel symbols: perf has no samples with them here")
        return
    symbols = pathlib.Path("/proc/kallsyms").read_text()
    pathlib.Path("symbols").write_text(symbols)
    _, ours = named_samples("--kallsyms=symbols")
    # Where several symbols have one address, programs choose differently.
    different = (theirs - ours) + (ours - theirs)
    address = collections.defaultdict(set)
    for line in symbols.splitlines():
        addr, _, name = line.split()[:3]
        address[name].add(addr)
    aliases = {name for name in different if any(address[name] & address[other] for other in different if other != name)}
    assert not (set(different) - aliases), f"kernel functions: {theirs - ours} of perf, {ours - theirs} of memlag"
    print(f"{sum(ours.values())} samples in {len(ours)} kernel functions as perf")
    assert running == ours, f"of the running kernel: {running}, of a copy of its list: {ours}"
    # Of another kernel, or one that lay elsewhere, nothing is taken.
    for change in ("module SET build_id = x'0011' WHERE path",
                   "mapping SET start_addr = start_addr + 4096, file_offset_bytes ="
                   " file_offset_bytes + 4096 WHERE (SELECT path FROM module AS m"
                   " WHERE m.module_id = mapping.module_id)"):
        shutil.copy(DATABASE, "other.db")
        with contextlib.closing(sqlite3.connect("other.db")) as connection, connection:
            connection.execute(f"UPDATE {change} = '[kernel.kallsyms]'")
            connection.execute("DELETE FROM name_source")
        run([MEMLAG, "symbolize", "--drop-names", "other.db"])
        with contextlib.closing(sqlite3.connect("other.db")) as connection:
            names = connection.execute("SELECT function FROM sample_view WHERE function IS"
                                       " NOT NULL AND module = '[kernel.kallsyms]'").fetchall()
        assert not names, f"{names[0]} of another kernel, after UPDATE {change}"
    build_id = query("SELECT hex(build_id) FROM module WHERE path = '[kernel.kallsyms]'")
    entry = pathlib.Path("kernel-cache/.build-id") / build_id[0][0][:2].lower()
    entry = entry / build_id[0][0][2:].lower()
    entry.mkdir(parents=True, exist_ok=True)
    shutil.copy("symbols", entry / "kallsyms")
    assert named_samples("--build-id-dir=kernel-cache")[1] == ours, "the kernel's symbols in the cache are not used"


# ---- counters ---------------------------------------------------------------------------------

sys.path.insert(0, str(SOURCE / "tests/fuzz"))
import make_perf_data as make  # noqa: E402

COUNTED = make.IDENTIFIER | make.IP | make.TID | make.TIME
# Skylake's event codes, and the parts of an interval's LMRL.
SKYLAKE = {"pending": 0x148, "l1_miss": 0x8D1, "fb_hit": 0x40D1}
START, INTERVAL = 10**12, 10**7
# What two threads gain in three intervals: alpha / (beta + gamma) is 100, 300 and 50.
GAINS = [
    {"pending": 500_000, "l1_miss": 2_000, "fb_hit": 3_000},
    {"pending": 900_000, "l1_miss": 2_000, "fb_hit": 1_000},
    {"pending": 100_000, "l1_miss": 1_000, "fb_hit": 1_000},
]


def counted_sample(identifier, tid, time, values=b""):
    body = struct.pack("<QQIIQ", identifier, 0x401000, 5, tid, START + time)
    return make.record(9, body + values)


def recording_of(events, body):
    """EVENTS: encoding, period, sample type and name of each, whose id is its number."""
    head = struct.pack("<8sQ", b"PERFILE2", 16)
    for number, (config, period, sample_type, name) in enumerate(events, 1):
        attr = make.attr(sample_type, 128, config, period)
        head += make.record(64, attr + struct.pack("<Q", number))
        if name:
            named = name.encode() + b"\0" * (8 - len(name) % 8)
            head += make.record(78, struct.pack("<QQ", 2, number) + named)
    cpu = make.record(80, struct.pack("<Q", 9) + make.text("GenuineIntel,6,85,4"))
    return head + cpu + body


def sampled_by_period(named):
    """Each event samples every so many times, in two threads."""
    names = {"pending": "cpu/l1d_pend_miss.pending/u", "l1_miss": "MEM_LOAD_RETIRED.L1_MISS:u", "fb_hit": "mem_load_retired.fb_hit"}
    period = 500
    events = [(code, period, COUNTED, names[key] if named else None) for key, code in SKYLAKE.items()]
    if named:  # encodings that the table does not know, of names that it does
        events = [(code ^ 0xF00000000, *rest) for code, *rest in events]
    samples = []
    for interval, gains in enumerate(GAINS):
        for number, key in enumerate(SKYLAKE, 1):
            for k in range(gains[key] // period):
                time = interval * INTERVAL + k * 9000 % INTERVAL
                samples.append((time, counted_sample(number, 5 + k % 2, time)))
    samples.sort()
    return recording_of(events, b"".join(sample for _, sample in samples))


def sampled_by_groups():
    """Cycles lead a group, and their samples carry the values of the group so far."""
    grouped = COUNTED | make.READ
    events = [(0x3C, 1000, grouped, None)] + [(code, 0, grouped, None) for code in SKYLAKE.values()]
    total = dict.fromkeys(SKYLAKE, 0)
    body = b""
    for interval, gains in enumerate(GAINS):
        for part in range(10):
            for key in gains:
                total[key] += gains[key] // 10
            values = [1000 * (10 * interval + part + 1), 1]
            for number, key in enumerate(SKYLAKE, 2):
                values += [total[key], number]
            values = struct.pack("<9Q", 4, *values)
            body += counted_sample(1, 5, interval * INTERVAL + part * 10**6, values)
    return recording_of(events, body)


def counters():
    expected = [round(gains["pending"] / (gains["l1_miss"] + gains["fb_hit"]), 6) for gains in GAINS]
    path = pathlib.Path("counted.data")
    for way, recording in (("encodings", sampled_by_period(False)), ("names", sampled_by_period(True)),
                           ("groups", sampled_by_groups())):
        path.write_bytes(recording)
        import_recording(path)
        lmrl = [row[0] and round(row[0], 6) for row in query("SELECT lmrl_cycles FROM interval_view")]
        assert lmrl == expected, f"counters by {way}: LMRL {lmrl}, not {expected}"
        gains = dict(query("SELECT name, sum(value) FROM counter JOIN reading USING (counter_id) GROUP BY 1"))
        assert gains["l1d_pend_miss.pending"] == sum(gain["pending"] for gain in GAINS), f"counters by {way}: {gains}"
    missing = query("SELECT kind FROM ledger WHERE kind LIKE 'verdict not given%'")
    assert missing == [("verdict not given: any: there are no memory samples",)], missing
    import_recording(PIPE)
    missing = query("SELECT count(*) FROM ledger WHERE kind LIKE 'verdict not given: dram-contention%'"
                    " OR kind LIKE 'verdict not given: in-core%'")
    assert missing == [(2,)], "samples without counters: contention is not said to be unknown"


# ---- damage ---------------------------------------------------------------------------------


def refuse(path, reason, *options):
    """One line with the offset, and no database."""
    pathlib.Path(DATABASE).unlink(missing_ok=True)
    result = import_recording(path, *options, status=1)
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and reason in lines[0] and re.search(r"offset \d+", lines[0]), (path, reason, lines)
    assert not (result.stdout or os.path.exists(DATABASE)), f"{path}: something was printed or made"


def damaged_recordings():
    whole = PIPE.read_bytes()
    import_recording(PIPE)
    samples = run_info("samples")
    sample_bytes, round_bytes = 64, 8
    sample_at = len(whole) - round_bytes - 5 * sample_bytes
    assert run_info("cpu") == "A CPU" and run_info("start") == "2001-09-09T01:46:39Z", facts()
    path = pathlib.Path("damaged.data")
    for name, damage, reason in (
        ("fields", lambda b: b[: sample_at + 6] + b"\x38\0" + b[sample_at + 8 :], "fields"),
        ("cut", lambda b: b[: sample_at + 20], "ends inside of a record"),
    ):
        path.write_bytes(damage(whole))
        refuse(path, reason)
        refuse(path, f"offset {sample_at}")
        result = import_recording(path, "--partial")
        assert f"offset {sample_at}" in result.stderr and len(result.stderr.splitlines()) == 2, (name, result.stderr)
        assert run_info("samples") == samples - 5 and run_info("state") == "interrupted", (name, facts())
    path.write_bytes(b"")
    refuse(path, "not a recording")
    assert "--partial" not in import_recording(path, status=1).stderr, "where nothing comes before"
    whole = (CORPUS / "file").read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refuse(path, "should be there")
    import_recording(path, "--partial")
    assert run_info("samples") == samples, f"{path}: {run_info('samples')} samples where only features are cut off"
    missing = run([MEMLAG, "import", "-o", DATABASE, "no-such-file"])
    assert missing.returncode == 1 and "no-such-file: No such file" in missing.stderr, missing.stderr
    pathlib.Path("empty").mkdir()
    missing = run([MEMLAG, "import", "-o", DATABASE, "empty"])
    assert missing.returncode == 1 and "empty: a directory without" in missing.stderr, missing.stderr


def newer_and_directories():
    """Parts that are newer than memlag are counted, and the rest is imported."""
    newer = COUNTED | 1 << 40
    events = [(0x148, 1000, COUNTED, None), (0x8D1, 1000, newer, None)]
    samples = [counted_sample(1, 5, 1), counted_sample(2, 5, 2) + make.record(200, b"")]
    directory = pathlib.Path("directory")
    directory.mkdir(exist_ok=True)
    (directory / "data").write_bytes(recording_of(events, b"".join(samples)))
    result = import_recording(directory)
    counted = dict(query("SELECT kind, value FROM ledger WHERE stage = 'import'"))
    assert run_info("samples") == 1 and "1 samples have fields that are newer" in result.stderr, result.stderr
    assert counted == {"samples with fields newer than memlag": 1, "record types not known": 1}, counted


def command_line():
    for arguments in ([], ["a", "b"], ["--no-such-option", "a"], ["--interval=x", "a"]):
        result = run([MEMLAG, "import", *arguments])
        assert result.returncode == 2 and not result.stdout, (arguments, result)
    assert "Usage: memlag import" in run([MEMLAG, "import", "--help"]).stdout, "no help"
    kept = pathlib.Path("kept")
    kept.write_text("mine")
    for options in ([], ["--force"]):
        result = run([MEMLAG, "import", *options, "-o", kept, PIPE])
        assert result.returncode == 1 and kept.read_text() == "mine", (options, result)
    # A recording that turns out to be damaged does not cost the older database.
    older, cut = pathlib.Path("older.db"), pathlib.Path("cut")
    assert run([MEMLAG, "import", "-o", older, PIPE]).returncode == 0, "a sound recording"
    before = older.read_bytes()
    cut.write_bytes(PIPE.read_bytes()[:-20])
    result = run([MEMLAG, "import", "--force", "-o", older, cut])
    assert result.returncode == 1 and older.read_bytes() == before, f"an older database is gone: {result.stderr}"
    assert not list(pathlib.Path(".").glob("older.db?*")), "something is left beside the older database"


def interrupted_import(signals, *options):
    """The status and messages of an import to stopped.db that gets the SIGNALS while it waits for
    more input."""
    place = pathlib.Path("stopped.db.new" if "--force" in options else "stopped.db")
    command = [MEMLAG, "import", *options, "-o", "stopped.db", "-"]
    memlag = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    memlag.stdin.write(PIPE.read_bytes()[:-20])
    memlag.stdin.flush()
    wait_until(lambda: has_source(place), "the import has begun")
    for number in signals:
        memlag.send_signal(number)
        # One at a time, as from a keyboard: pending signals come in no order.
        wait_until(lambda: not is_pending(memlag, number), "the signal has come")
    memlag.wait(300)
    errors = memlag.stderr.read().decode()
    for pipe in (memlag.stdin, memlag.stdout, memlag.stderr):
        pipe.close()
    return memlag.returncode, errors


def wait_until(condition, what):
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() <= deadline, f"not until the end of waiting: {what}"
        time.sleep(0.02)


def has_source(place):
    try:
        with contextlib.closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("SELECT 1 FROM run WHERE key = 'source'").fetchall())
    except sqlite3.Error:
        return False


def is_pending(process, number):
    if process.poll() is not None:
        return False
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    masks = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


def interruptions():
    """A signal leaves no part of a database, and keeps an older one. The first Ctrl-C at a pipe is
    for perf. After SIGKILL the part describes itself, and the next import works."""
    stopped = pathlib.Path("stopped.db")
    for signals in ([signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT, signal.SIGINT]):
        status, errors = interrupted_import(signals)
        assert status == -signals[-1] and errors == "memlag import: interrupted; nothing of it is kept\n", (signals, status, errors)
        assert not list(pathlib.Path(".").glob("stopped.db*")), f"{signals}: something is left"
    assert run([MEMLAG, "import", "-o", stopped, PIPE]).returncode == 0, "a sound recording"
    before = stopped.read_bytes()
    for number in (signal.SIGTERM, signal.SIGKILL):
        interrupted_import([number], "--force")
        assert stopped.read_bytes() == before, f"{number}: the older database has changed"
    result = run([MEMLAG, "import", "--force", "-o", stopped, PIPE])
    assert result.returncode == 0 and not list(pathlib.Path(".").glob("stopped.db?*")), result
    stopped.unlink()
    interrupted_import([signal.SIGKILL])
    result = run([MEMLAG, "report", stopped])
    assert result.returncode == 0 and "cut off" in result.stdout, result
    result = run([MEMLAG, "import", "--force", "-o", stopped, PIPE])
    state = run([MEMLAG, "query", stopped, "SELECT value FROM run_info WHERE key = 'state'", "--format=csv"])
    assert result.returncode == 0 and state.stdout == "value\ncomplete\n", (result, state)


def paths_of_options():
    """A mistyped path is refused before anything is done; the older database stays."""
    import_recording(PIPE)
    before = pathlib.Path(DATABASE).read_bytes()
    plain = pathlib.Path("plain")
    plain.write_text("no ELF file")
    for option, path in (
        ("--symfs", "missing"), ("--symfs", plain), ("--debuginfo-path", "missing"),
        ("--debuginfo-path", plain),
        ("--build-id-dir", plain), ("--vmlinux", "missing"), ("--vmlinux", plain),
        ("--vmlinux", "."), ("--kallsyms", "missing"), ("--kallsyms", "."),
    ):
        for command in (["import", "--force", "-o", DATABASE], ["symbolize"]):
            last = PIPE if command[0] == "import" else DATABASE
            result = run([MEMLAG, *command, f"{option}={path}", last])
            lines = result.stderr.splitlines()
            assert result.returncode == 1 and len(lines) == 1 and f"{option}: {path}: " in lines[0], result
            directory = path == plain and option != "--vmlinux"
            assert not directory or f"{option}: {path}: a file; give " in lines[0], lines
            assert pathlib.Path(DATABASE).read_bytes() == before, "the database has changed"


def full_disk():
    """A file that cannot grow: nothing is left, and the message does not promise more."""
    directory = pathlib.Path("full")
    directory.mkdir(exist_ok=True)
    kinds = make.IDENTIFIER | make.IP | make.TID | make.TIME | make.ADDR
    recording = pathlib.Path("full.data")
    recording.write_bytes(make.pipe(kinds, make.stream(kinds, 40_000)))

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (800_000, 800_000))

    result = run([MEMLAG, "import", "-o", directory / "full.db", recording], preexec_fn=limit)
    lines = result.stderr.splitlines()
    assert result.returncode == 1 and len(lines) == 1 and "nothing of it is kept" in lines[0], result
    assert not list(directory.iterdir()), f"a full disk: left are {list(directory.iterdir())}"


def no_memory_samples():
    """The message says which recording it is instead, and how to record."""
    path = pathlib.Path("cycles.data")
    path.write_bytes(recording_of([(0x3C, 1000, COUNTED, "cycles")], counted_sample(1, 5, 1)))
    result = import_recording(path)
    advice = [line for line in result.stderr.splitlines() if "perf mem record" in line]
    assert len(advice) == 1 and "1 samples (cycles)" in advice[0], f"a recording of cycles: {result.stderr}"
    words = " ".join(result.stdout.split())
    assert "No sample is of a memory access" in words and "95% range" not in words, result.stdout
    assert "perf mem record" not in import_recording(CORPUS / "file").stderr


def main():
    command_line()
    interruptions()
    paths_of_options()
    full_disk()
    no_memory_samples()
    damaged_recordings()
    newer_and_directories()
    counters()
    has_perf = shutil.which("perf") is not None
    if not has_perf:
        print("SKIPPED: perf is not installed: nothing to compare with")
    other_machines(has_perf)
    if has_perf:
        made_here()


main()
