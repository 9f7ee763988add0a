"""What a program writes to its standard error: always read, so that it never blocks on it, and kept up to a bound."""

import contextlib
import os
import selectors
import threading


class StderrTail:
    """Reads a file descriptor on a thread of its own and keeps the last bytes of it.

    Owns the descriptor. `close` ends the thread even where a grandchild of the program still holds the other end.
    """

    def __init__(self, descriptor: int, *, limit: int) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._kept = bytearray()
        self._seen = 0
        self._guard = threading.Lock()
        self._stop_read, self._stop_write = os.pipe()
        os.set_blocking(descriptor, False)
        self._thread = threading.Thread(target=self._drain, name="anchorhold-stderr", daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_READ)
            selector.register(self._stop_read, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select()}
                if self._descriptor in ready and not self._take():
                    return
                if self._stop_read in ready:
                    return

    def _take(self) -> bool:
        """Keep one chunk; false at the end."""
        try:
            chunk = os.read(self._descriptor, 65536)
        except BlockingIOError:
            return True
        with self._guard:
            self._seen += len(chunk)
            self._kept += chunk
            # Twice the limit before cutting: cutting at every chunk would copy the whole tail each time.
            if len(self._kept) > 2 * self._limit:
                del self._kept[: -self._limit]
        return bool(chunk)

    def text(self) -> str:
        """What is kept, with a first line that says how much is not."""
        with self._guard:
            kept = bytes(self._kept[-self._limit :])
            lost = self._seen - len(kept)
        text = kept.decode("utf-8", "replace")
        return f"[{lost} earlier bytes are not kept]\n{text}" if lost else text

    def close(self) -> None:
        """Take what is there without waiting for more, and end the thread."""
        if self._stop_write < 0:
            return
        os.write(self._stop_write, b".")
        self._thread.join()
        # Bounded: a grandchild that keeps on writing must not keep the suite here.
        with contextlib.suppress(OSError):
            for _ in range(2 * self._limit // 65536 + 1):
                if not self._take():
                    break
        for descriptor in (self._descriptor, self._stop_read, self._stop_write):
            os.close(descriptor)
        self._stop_write = -1
