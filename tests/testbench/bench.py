# SPDX-License-Identifier: MIT
"""Boots a virtual machine with a scripted PMU, runs a script of scenarios in it, and returns their
results. Knows nothing of the scenarios' tests."""

import os
import subprocess
import sys
import tarfile

from initramfs import Initramfs

HERE = os.path.dirname(os.path.abspath(__file__))
BOOT_SECONDS = 600  # several times what it takes on a busy machine
SKIPPED = 77

BUSYBOX = """[ awk cat chmod cp cut date dmesg echo env false grep head id insmod kill ls
mkdir mount mv poweroff rm sed seq sh sleep sort stty tail tar taskset tr true uname wc""".split()

# Everything that could differ from one run to the next is pinned: executed instructions
# are the clock, addresses are not randomised, and there is no entropy. With two CPUs that
# clock stands still when one waits for the other: there the host's time is the clock.
QEMU = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
        "-no-reboot", "-accel", "tcg,thread=single",
        "-rtc", "clock=vm,base=2024-01-01"]
QEMU_ONE_CPU = ["-icount", "shift=2,sleep=off"]
KERNEL_OPTIONS = ("console=ttyS0 loglevel=4 panic=-1 mitigations=off nokaslr norandmaps "
                  "random.trust_cpu=off no_timer_check")  # which a busy host fails


class Machine:
    """A kind of machine: the CPU that it seems to have, and its PMU's parameters. It
    runs guest/NAME.sh. Less memory makes shorter kernels of `memlag validate`."""

    def __init__(self, name, family, model, stepping, pmu, vendor="GenuineIntel", cpus=1,
                 memory_mb=1024):
        self.name = name
        self.memory_mb = memory_mb
        self.cpus = cpus
        # Without cmpxchg16b, after which QEMU 7.2 has been seen to deliver an interrupt
        # with something else in the place of the flags. The kernel does without it.
        self.cpu = (f"max,vendor={vendor},family={family},model={model},"
                    f"stepping={stepping},-cx16,-rdrand,-rdseed")
        self.pmu = pmu

    def boot(self, directory="."):
        """The directory with the scenarios' results; the console's log is beside it."""
        prepared = os.environ["TESTBENCH"]
        if not os.path.exists(f"{prepared}/scripted_pmu.ko"):
            print("SKIPPED: testbench/prepare says why", file=sys.stderr)
            sys.exit(SKIPPED)
        os.makedirs(directory, exist_ok=True)
        _initramfs(prepared, self).write(f"{directory}/initramfs")
        _run(prepared, self, directory)
        return _results(directory)


def _initramfs(prepared, machine):
    image = Initramfs()
    for path in ("proc", "sys", "dev", "tmp", "root", "run"):
        image.directory(path)
    image.file("init", f"{HERE}/guest/init")
    image.file("bin/busybox", f"{prepared}/busybox")
    for name in BUSYBOX:
        image.link(f"bin/{name}", "busybox")
    _add_memlag(image)
    image.program("usr/bin/perf", "/usr/bin/perf")
    image.program("usr/bin/setpriv", "/usr/bin/setpriv")
    image.program("bench/player", os.environ["PLAYER"])
    image.file("bench/scripted_pmu.ko", f"{prepared}/scripted_pmu.ko")
    image.content("bench/pmu", machine.pmu.encode() + b"\n")
    for name in os.listdir(f"{HERE}/guest"):
        if name.endswith((".sh", ".csv", ".txt")):
            image.file(f"bench/{name}", f"{HERE}/guest/{name}")
    return image


def _add_memlag(image):
    program = os.environ["MEMLAG"]
    stage = os.path.dirname(os.path.dirname(program))
    image.program("usr/bin/memlag", program)
    for part in ("libexec/memlag", "share/memlag"):
        for folder, _, files in os.walk(f"{stage}/{part}"):
            for name in files:
                path = os.path.relpath(f"{folder}/{name}", stage)
                image.file(f"usr/{path}", f"{folder}/{name}")


def _run(prepared, machine, directory):
    with open(f"{directory}/qemu.log", "wb") as log:
        subprocess.run(
            QEMU + (QEMU_ONE_CPU if machine.cpus == 1 else []) + [
                "-cpu", machine.cpu, "-smp", str(machine.cpus), "-m", str(machine.memory_mb),
                "-serial", f"file:{directory}/console.log",
                "-serial", f"file:{directory}/results.tar",
                "-kernel", f"{prepared}/vmlinuz", "-initrd", f"{directory}/initramfs",
                "-append", f"{KERNEL_OPTIONS} scenarios={machine.name}.sh"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=BOOT_SECONDS, check=True)


def _results(directory):
    path = f"{directory}/results"
    try:
        with tarfile.open(f"{directory}/results.tar") as archive:
            archive.extractall(path)
    except tarfile.TarError:
        with open(f"{directory}/console.log", errors="replace") as console:
            sys.exit("the machine left no results; its console:\n" + console.read()[-4000:])
    with open(f"{path}/status") as status, open(f"{path}/log") as log:
        if status.read().strip() != "0":
            sys.exit("the scenarios broke off:\n" + log.read()[-4000:])
    return path
