"""The commands of the program.

Without functions of yours the program is started. With some, this process forks: the copy has
them registered, and runs the commands that are inside of the package's library.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import re
import selectors
import signal
import subprocess
import sys
import traceback
from typing import Callable, List, Optional, Sequence, Tuple

from . import _callbacks, _forces, _own
from ._library import Error, Status, find_program, has_commands, lib, program_environment
from ._progress import Bar

_LINE = re.compile(r"\r([^\r\n]*?)\033\[K")  # what the program shows on its way
_PERCENT = re.compile(r"(\d+) %")
_TIMES = re.compile(r"  wall .*?(?=  E =|$)")  # the bar has them
_RAISED = 3  # exit code of a copy in which a function of yours raised


def program() -> str:
    """The path of the program ``brio`` that belongs to the library: BRIO_PROGRAM, next to the
    library, or in the PATH."""
    found = find_program(lib.brio_place)
    if found:
        return found
    raise Error(
        "the program brio was not found: install it, or give its path in BRIO_PROGRAM",
        Status.ERROR_FILE,
    )


def _terminal() -> Optional[Tuple[int, int]]:
    """Two ends of a terminal, wide, so that lines are not cut; None where there are none."""
    import fcntl
    import struct
    import termios

    try:
        ends = os.openpty()
    except OSError:  # a container without them
        return None
    fcntl.ioctl(ends[1], termios.TIOCSWINSZ, struct.pack("HHHH", 24, 240, 0, 0))
    return ends


def _start(arguments: List[str], out: int, err: int) -> Tuple[int, Callable[[], int]]:
    """The program in a process of its own: its number, and how to wait for its exit code."""
    process = subprocess.Popen(
        [program(), *arguments], stdout=out, stderr=err, env=program_environment()
    )
    return process.pid, process.wait


def _fork(arguments: List[str], out: int, err: int) -> Tuple[int, Callable[[], int]]:
    """The same in a copy of this process, which knows what was registered."""
    if not has_commands:
        raise Error(
            (
                "functions of yours are known to commands where the library has the commands"
                f" inside (libbrio_python.so), and {lib.brio_place} has not"
            ),
            Status.ERROR_UNSUPPORTED,
        )
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # there may be none
            stream.flush()
    words = [b"brio", *map(os.fsencode, arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    pid = os.fork()
    if pid:

        def wait() -> int:
            status = os.waitpid(pid, 0)[1]
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)

        return pid, wait
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        code = lib.brio_command(len(words), argv)
        if _callbacks._pending:
            problem = _callbacks._pending[0]
            text = traceback.format_exception(type(problem), problem, problem.__traceback__)
            os.write(2, ("\r\033[K" + "".join(text)).encode())
            code = _RAISED
        os._exit(code)
    finally:
        os._exit(_RAISED)


def _read(streams: List[int], hear: Callable[[bytes], None]) -> List[bytes]:
    """All that comes from the streams; ``hear`` gets that of the second as it comes."""
    found = [bytearray() for _ in streams]
    with selectors.DefaultSelector() as chooser:
        for i, stream in enumerate(streams):
            chooser.register(stream, selectors.EVENT_READ, i)
        while chooser.get_map():
            for key, _ in chooser.select():
                try:
                    data = os.read(key.fd, 65536)
                except OSError:  # the other end of a terminal is closed
                    data = b""
                if not data:
                    chooser.unregister(key.fd)
                    continue
                found[key.data] += data
                if key.data == 1:
                    hear(data)
    return [bytes(one) for one in found]


def execute(
    arguments: List[str], progress: Optional[bool] = None, quiet: Sequence[str] = ()
) -> Tuple[int, str, str]:
    """Runs a command: its exit code, what it printed, and what it said in addition. ``quiet`` are
    arguments for where no bar is shown."""
    start = _fork if _own._slots or _forces.plugins else _start
    bar = Bar(progress)
    out, out_end = os.pipe()
    terminal = _terminal() if bar.on else None
    err, err_end = terminal or os.pipe()
    if not terminal:
        arguments = [*arguments, *quiet]

    def hear(data: bytes) -> None:
        lines = _LINE.findall(data.decode(errors="replace"))
        percent = _PERCENT.search(lines[-1]) if lines else None
        if percent:
            words = _TIMES.sub("", lines[-1][percent.end() :]).strip()
            bar.update(int(percent.group(1)) / 100, words)

    try:
        try:
            pid, wait = start(arguments, out_end, err_end)
        finally:
            os.close(out_end)
            os.close(err_end)
        try:
            printed, said = _read([out, err], hear)
        except KeyboardInterrupt:
            # A terminal has sent SIGINT to both processes, and the second would end it at once.
            os.kill(pid, signal.SIGTERM)
            wait()
            raise
        code = wait()
    finally:
        bar.close()
        os.close(out)
        os.close(err)
    words = _LINE.sub("", said.decode(errors="replace")).replace("\r", "").strip()
    if code == _RAISED:
        raise Error(f"a function of yours raised an exception:\n{words}", Status.ERROR_ARGUMENT)
    return code, printed.decode(errors="replace"), words
