"""A launcher, run as a program: enters a network with loopback only, then becomes the command.

Uses the standard library alone. It is here rather than util-linux's `unshare`, which leaves the
loopback down, differs in its options and hands programs of other machines to the shell.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
# linux/sockios.h, linux/if.h
SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1
# linux/prctl.h
PR_SET_PDEATHSIG = 1


def _unshare(flags: int) -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _leave_network() -> None:
    user, group = os.getuid(), os.getgid()
    try:
        # Root needs no user namespace, in which it could not give files to others.
        _unshare(CLONE_NEWNET)
    except PermissionError:
        _unshare(CLONE_NEWUSER | CLONE_NEWNET)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        name, flags = struct.unpack("16sh22x", fcntl.ioctl(control, SIOCGIFFLAGS, request))
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", name, flags | IFF_UP))


def _end_with_parent() -> None:
    # An rvbuild that was killed must not leave a build behind that the next one would meet in the
    # same folder. Last of all, since a change of credentials takes this back (prctl(2)).
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main(report: int, program: str, argv: list[str]) -> None:
    """Become `program`; write the number of an error to file descriptor `report`."""
    os.set_inheritable(report, False)  # noqa: FBT003 - the standard library's own signature
    try:
        _leave_network()
        _raise_loopback()
        _end_with_parent()
        os.execv(program, argv)  # noqa: S606 - becoming another program is the purpose
    except OSError as error:
        os.write(report, str(error.errno or 0).encode())
        sys.exit(127)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
