# SPDX-License-Identifier: MIT
"""Debug files of a program and its library from a server that delivers, has other files, breaks
off, knows nothing or says nothing. Checks the files used, the messages, and the number of
requests."""
import http.server
import os
import pathlib
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

from symbolize_db import build_id

MEMLAG = os.environ["MEMLAG"]
CC = os.environ["CC"]
SKIPPED = 77

LIBRARY = """
long in_library(const long *words)
{
        long sum = 0;
        for (int i = 0; i < 20000; i++)
                sum += words[i];
        return sum;
}
"""
PROGRAM = """
#include <stdlib.h>
long in_library(const long *words);
__attribute__((noinline)) long in_program(const long *words)
{
        long sum = 0;
        for (int i = 0; i < 20000; i++)
                sum += words[i];
        return sum;
}
int main(void)
{
        long *words = calloc(20000, sizeof(*words));
        return (int)(in_library(words) + in_program(words));
}
"""


def run(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True, **keywords)


def build():
    """The stripped program and library; their debug files by build-id."""
    for name, text in (("library.c", LIBRARY), ("program.c", PROGRAM)):
        pathlib.Path(name).write_text(text)
    run(CC, "-g", "-O1", "-fPIC", "-shared", "-Wl,--build-id", "-o", "liblibrary.so", "library.c")
    run(CC, "-g", "-O1", "-Wl,--build-id", "-o", "program", "program.c", "./liblibrary.so")
    run(CC, "-g", "-O2", "-fPIC", "-shared", "-Wl,--build-id", "-o", "libidle.so", "library.c")
    files = {}
    for name in ("program", "liblibrary.so", "libidle.so"):
        run("objcopy", "--only-keep-debug", name, "debug")
        run("strip", name)
        files[build_id(name).hex()] = pathlib.Path("debug").read_bytes()
    return files


class Server(http.server.ThreadingHTTPServer):
    """Answers each request for a file with SEND(handler, its bytes)."""
    daemon_threads = True

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files
        self.send = None
        self.asked = []
        self.ended = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        parts = self.path.split("/")
        contents = self.server.files.get(parts[2]) if parts[1] == "buildid" else None
        if contents is None:
            self.send_error(404)
        else:
            self.server.send(self, contents)

    def log_message(self, *_):
        pass

    def answer(self, contents, claimed=None):
        self.send_response(200)
        self.send_header("Content-Length", str(claimed or len(contents)))
        self.end_headers()
        self.wfile.write(contents)


def symbolize(*options, cache=None):
    """Standard error of a run that ends well, with an empty cache or the one named."""
    os.environ["DEBUGINFOD_CACHE_PATH"] = os.path.abspath(cache or "cache")
    if not cache:
        shutil.rmtree("cache", ignore_errors=True)
    said = run(MEMLAG, "symbolize", "--drop-names", *options, "t.db").stderr
    return "".join(line for line in said.splitlines(True) if "the findings in t.db" not in line)


def refused_about(what, environment):
    done = subprocess.run([MEMLAG, "symbolize", "--debuginfod", "t.db"], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and what in done.stderr and done.stderr.count("\n") == 1, done


def value(statement):
    with sqlite3.connect("t.db") as db:
        return [row[0] for row in db.execute(statement)]


def lines():
    """The sources of the program and its library that have lines."""
    return [name for name in ("program.c", "library.c")
            if value(f"SELECT 1 FROM sample_view WHERE file LIKE '%{name}' AND line > 0 LIMIT 1")]


def undelivered():
    return value("SELECT value FROM ledger WHERE kind = 'debug files not delivered by servers'")


def on_terminal(server):
    """The text on standard error if that is a terminal. The server answers when the text shows the
    waiting, or before the usual timeout: some versions of the library call back only when an answer
    comes."""
    waiting = threading.Event()

    def send(handler, contents):
        waiting.wait(0.5)
        handler.answer(contents)

    server.send = send
    shutil.rmtree("cache", ignore_errors=True)
    outer, inner = pty.openpty()
    with subprocess.Popen([MEMLAG, "symbolize", "--debuginfod", "t.db"], stderr=inner) as process:
        os.close(inner)
        text = b""
        try:
            while part := os.read(outer, 4096):
                text += part
                if b"waiting for the debuginfod servers" in text:
                    waiting.set()
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0, text
    os.close(outer)
    return text.decode()


def add_idle_library():
    """A library that was mapped where no sample is."""
    with sqlite3.connect("t.db") as db:
        module = db.execute("INSERT INTO module (path, build_id) VALUES (?, ?)",
                            (os.path.abspath("libidle.so"), build_id("libidle.so"))).lastrowid
        db.execute("INSERT INTO mapping VALUES (NULL, 1, 'file', 4096, 4096, 0, ?, 'r-x',"
                   " NULL, 0, NULL)", (module,))


def check_delivered(server, files):
    """Both are used, reported, and requested once; files in the cache are not."""
    server.send = lambda handler, contents: handler.answer(contents)
    said = symbolize("--debuginfod")
    assert lines() == ["program.c", "library.c"], lines()
    assert said.count("fetched debug information") == 2 and said.count("\n") == 2, said
    asked = [path.split("/")[2] for path in server.asked]
    wanted = [build_id(name).hex() for name in ("program", "liblibrary.so")]
    assert [asked.count(one) for one in wanted] == [1, 1], asked
    assert build_id("libidle.so").hex() not in asked, "what no sample is in was asked for"
    assert symbolize("--debuginfod", cache="cache") == ""
    assert len(server.asked) == len(asked) and len(lines()) == 2
    shown = on_terminal(server)
    assert " of 0.0 MB" not in shown, shown
    assert "MB, from http://127.0.0.1:" in shown, shown


def check_lies(server, files):
    """Wrong files and files that are no ELF are not used."""
    for sent, what in ((files[build_id("libidle.so").hex()], "another file"),
                       (b"<html>Please log in</html>", "no sound ELF file"),
                       (None, "another file")):  # the beginning of the right one
        server.send = lambda handler, contents, sent=sent: handler.answer(sent or contents[:3000])
        said = symbolize("--debuginfod")
        assert said.count(what) == 2 and said.count("\n") == 2, said
        assert not lines() and undelivered() == [2], (lines(), undelivered())


def check_breaks(server):
    """A part of a file is not used."""
    server.send = lambda handler, contents: handler.answer(contents[:1000], len(contents))
    said = symbolize("--debuginfod")
    assert said.count("the download broke off") == 2, said
    assert not lines() and undelivered() == [2], (lines(), undelivered())


def check_interrupted(server):
    """Ctrl-C in the middle ends it at once, and the next run has all."""
    half_sent, ended = threading.Event(), threading.Event()

    def send_half(handler, contents):
        handler.answer(contents[:1000], len(contents))
        half_sent.set()
        ended.wait(60)
    server.send = send_half
    shutil.rmtree("cache", ignore_errors=True)
    with subprocess.Popen([MEMLAG, "symbolize", "--debuginfod", "t.db"]) as process:
        assert half_sent.wait(60)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
    ended.set()
    server.send = lambda handler, contents: handler.answer(contents)
    symbolize("--debuginfod", cache="cache")
    assert len(lines()) == 2, lines()


def check_hostile_name(server):
    """A path does not steer the terminal, neither while it is waited for nor after."""
    name = "pro\x1b[31mgram"
    shutil.copy("program", name)
    record("./" + name)
    shown = on_terminal(server)
    assert "pro [31mgram: " in shown, repr(shown)
    assert "\x1b[31m" not in shown, repr(shown)
    record("./program")


def check_unknown(server, files):
    """It is no failure if no server has a file. The client reports an error of the server alike, so
    that is none either."""
    server.files = {}
    assert symbolize("--debuginfod") == "" and not undelivered(), undelivered()
    server.files = files
    server.send = lambda handler, _: handler.send_error(503)
    assert symbolize("--debuginfod") == "" and not undelivered(), undelivered()


def check_silent(server):
    """Who says nothing is waited for once: a question and the client's two repetitions."""
    os.environ["DEBUGINFOD_TIMEOUT"] = "1"
    del server.asked[:]
    server.send = lambda handler, _: server.ended.wait()
    said = symbolize("--debuginfod")
    assert "no answer" in said and "asked no more" in said and said.count("\n") == 1, said
    assert len(server.asked) <= 3, server.asked
    assert not lines() and undelivered() == [1], (lines(), undelivered())
    server.ended.set()


def record(program):
    run(MEMLAG, "record", *os.environ["LOADS"].split(), "--ldlat", "1", "--period", "7", "-o", "t.db",
        "--force", "--", program)


def main():
    files = build()
    record("./program")
    add_idle_library()
    server = Server(files)
    os.environ["DEBUGINFOD_URLS"] = f"http://127.0.0.1:{server.server_port}"
    os.environ["DEBUGINFOD_TIMEOUT"] = "60"  # a busy machine answers late
    symbolize()
    assert not lines() and not server.asked, "a server was asked without the option"
    refused_about("set DEBUGINFOD_URLS", {**os.environ, "DEBUGINFOD_URLS": ""})
    if "libdebuginfod.so.1" not in run("/sbin/ldconfig", "-p").stdout:
        refused_about("libdebuginfod1", os.environ)
        print("debuginfod.py: SKIPPED the rest: libdebuginfod1 is not installed")
        return SKIPPED
    check_delivered(server, files)
    check_lies(server, files)
    check_breaks(server)
    check_interrupted(server)
    check_hostile_name(server)
    check_unknown(server, files)
    check_silent(server)
    return 0


if __name__ == "__main__":
    sys.exit(main())
