# SPDX-License-Identifier: MIT
"""The first file system of a virtual machine, as a cpio archive ("newc") that depends only on the
files' contents: it has no times, owners, inode numbers or order of the host's directories."""

import os
import stat
import subprocess


class Initramfs:
    def __init__(self):
        self._entries = {}  # guest path without the first /: (mode, content)

    def directory(self, path):
        path = path.strip("/")
        if path and path not in self._entries:
            self.directory(os.path.dirname(path))
            self._entries[path] = (stat.S_IFDIR | 0o755, b"")

    def content(self, path, content, mode=0o644):
        path = path.strip("/")
        self.directory(os.path.dirname(path))
        self._entries[path] = (stat.S_IFREG | mode, content)

    def link(self, path, target):
        path = path.strip("/")
        self.directory(os.path.dirname(path))
        self._entries[path] = (stat.S_IFLNK | 0o777, target.encode())

    def file(self, path, source):
        with open(source, "rb") as file:
            self.content(path, file.read(), 0o755 if os.access(source, os.X_OK) else 0o644)

    def program(self, path, source):
        """A program and, under their own paths, the libraries that it asks for."""
        self.file(path, source)
        listed = subprocess.run(["ldd", source], check=True, stdout=subprocess.PIPE, text=True)
        for word in listed.stdout.split():
            if word.startswith("/"):
                self.file(word, os.path.realpath(word))

    def write(self, path):
        with open(path, "wb") as archive:
            for inode, name in enumerate(sorted(self._entries), start=1):
                _write_entry(archive, inode, name, *self._entries[name])
            _write_entry(archive, 0, "TRAILER!!!", 0, b"")


def _padding(size):
    return b"\0" * (-size % 4)


def _write_entry(archive, inode, name, mode, content):
    name = name.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
    header = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    archive.write(header + _padding(len(header)) + content + _padding(len(content)))
