"""Files and folders in memory, with what of them would still be there if power went now.

What is durable: the *contents* of a file as they were when that file was last synced, and the *names* (what was
created, renamed, linked, removed) as they were when anything at all was last synced. Contents are as POSIX promises
them and no better; names are as the journals of ext4, XFS and Btrfs keep them, which is better than POSIX promises:
nobody is blamed for a folder that was not synced by itself.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

Names = dict[str, "Node"]


@dataclass(slots=True, eq=False)
class Node:
    """A file, a folder or a symbolic link."""

    mode: int
    """Type and permissions, as `stat` gives them."""
    content: bytearray = field(default_factory=bytearray)
    """Bytes of a file; of a link, where it leads."""
    synced: bytes = b""
    names: Names = field(default_factory=dict)
    """What is in a folder."""
    synced_names: Names = field(default_factory=dict)
    links: int = 1
    accessed: int = 0
    modified: int = 0
    """Times in nanoseconds since the epoch."""

    @property
    def is_folder(self) -> bool:
        """Whether it is one."""
        return stat.S_ISDIR(self.mode)


class Disk:
    """Raises OSError with the number that the system call would set; folders are handed over by their path."""

    def __init__(self) -> None:
        self._root = Node(stat.S_IFDIR | 0o755, links=2)
        self._unsynced: set[Node] = {self._root}
        """Folders whose names may differ from those that are durable."""

    # Looking

    def find(self, path: str) -> Node:
        """The node at an absolute path. Links are not followed: that is the kernel's."""
        node = self._root
        for name in _parts(path):
            if not node.is_folder:
                raise _error(errno.ENOTDIR, path)
            if name not in node.names:
                raise _error(errno.ENOENT, path)
            node = node.names[name]
        return node

    def names(self, path: str) -> Iterator[str]:
        """What is in a folder."""
        yield from tuple(self._folder(path).names)

    @property
    def size(self) -> int:
        """Bytes of all files that have a name."""
        return sum(len(node.content) for node in _below(self._root))

    # Changing names

    def make(self, path: str, mode: int) -> Node:
        """A new file, folder or link."""
        folder, name = self._place(path)
        if name in folder.names:
            raise _error(errno.EEXIST, path)
        node = Node(mode, links=2 if stat.S_ISDIR(mode) else 1)
        node.accessed = node.modified = time.time_ns()
        self._set(folder, name, node)
        self._unsynced.add(node)
        return node

    def link(self, old: str, new: str) -> None:
        """One more name for a file."""
        node = self.find(old)
        folder, name = self._place(new)
        if name in folder.names:
            raise _error(errno.EEXIST, new)
        self._set(folder, name, node)
        node.links += 1

    def unlink(self, path: str) -> None:
        """Take a name of a file away; whoever has it open keeps it."""
        folder, name = self._place(path)
        node = self.find(path)
        if node.is_folder:
            raise _error(errno.EISDIR, path)
        self._set(folder, name, None)
        node.links -= 1

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        folder, name = self._place(path)
        if self._folder(path).names:
            raise _error(errno.ENOTEMPTY, path)
        self._set(folder, name, None)

    def rename(self, old: str, new: str) -> None:
        """One step: there is never a moment without the new name."""
        node = self.find(old)
        source, source_name = self._place(old)
        target, target_name = self._place(new)
        there = target.names.get(target_name)
        if there is node:
            return
        if there is not None:
            if there.is_folder and not node.is_folder:
                raise _error(errno.EISDIR, new)
            if node.is_folder and not there.is_folder:
                raise _error(errno.ENOTDIR, new)
            if there.names:
                raise _error(errno.ENOTEMPTY, new)
            there.links -= 1
        self._set(source, source_name, None)
        self._set(target, target_name, node)

    # Changing contents

    def write(self, node: Node, data: bytes, offset: int) -> None:
        """Bytes of a file; what lies between its end and the offset is zeros."""
        if offset > len(node.content):
            node.content.extend(bytes(offset - len(node.content)))
        node.content[offset : offset + len(data)] = data
        node.modified = time.time_ns()

    def truncate(self, node: Node, length: int) -> None:
        """Cut a file, or extend it by zeros."""
        del node.content[length:]
        node.content.extend(bytes(length - len(node.content)))
        node.modified = time.time_ns()

    # Power

    def sync(self, node: Node) -> None:
        """The contents of this file, and the names of everything, are durable."""
        if not node.is_folder:
            node.synced = bytes(node.content)
        for folder in self._unsynced:
            folder.synced_names = dict(folder.names)
        self._unsynced.clear()

    def lose_power(self) -> None:
        """What is not durable is gone. Nobody may have a file open."""
        self._unsynced.clear()
        reached: set[Node] = set()
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            if node in reached:
                node.links += 1
                continue
            reached.add(node)
            node.links = 2 if node.is_folder else 1
            node.content = bytearray(node.synced)
            node.names = dict(node.synced_names)
            waiting.extend(node.names.values())

    def _set(self, folder: Node, name: str, node: Node | None) -> None:
        if node is None:
            del folder.names[name]
        else:
            folder.names[name] = node
        folder.modified = time.time_ns()
        self._unsynced.add(folder)

    def _folder(self, path: str) -> Node:
        node = self.find(path)
        if not node.is_folder:
            raise _error(errno.ENOTDIR, path)
        return node

    def _place(self, path: str) -> tuple[Node, str]:
        *before, name = _parts(path)
        return self._folder("/" + "/".join(before)), name


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _below(node: Node) -> Iterator[Node]:
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        yield one
        for each in one.names.values():
            if each not in seen:
                seen.add(each)
                waiting.append(each)


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
