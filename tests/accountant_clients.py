"""Many processes that reserve from one accountant at once; see test_release_account.py. Prints what each of them got."""

from __future__ import annotations

import os
import sys

from rropt.errors import InputError
from rropt.release.storage.places import Place, accountant_place, open_accountant


def client(path: Place, name: int, tries: int, privacy_ratio: str) -> int:
    """How many of its draws were reserved."""
    got = 0
    file = open_accountant(path)
    for number in range(tries):
        try:
            with file.transaction():
                file.append(
                    {"event": "drawing", "release": f"{name} {number}", "columns": [{"privacy_ratio": privacy_ratio}]}
                )
            got += 1
        except InputError as error:
            if "above the ceiling" not in str(error):
                raise
    file.close()
    return got


if __name__ == "__main__":
    place, clients, times, one = accountant_place(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    read_end, write_end = os.pipe()
    for number in range(clients):
        if os.fork() == 0:
            os.write(write_end, f"{client(place, number, times, one)} ".encode())
            os._exit(0)
    os.close(write_end)
    for _ in range(clients):
        assert os.wait()[1] == 0
    with os.fdopen(read_end) as told:
        print(told.read())
