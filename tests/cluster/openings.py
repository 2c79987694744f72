"""MPTCP connections to traffic.py, opened at a rate and closed at once: openings.py ADDRESS RATE SECONDS.

Prints a line of JSON for each when it is open, or has failed: when it began, the seconds that it took or null, and why it failed or
null. 0 SECONDS: until it is killed.
"""

import asyncio
import errno
import json
import socket
import struct
import sys
import time

PORT = 7000
PATIENCE = 20
# One after the other, so that none returns while rules of its last connection are there.
PORTS = range(20_000, 60_000)
# Closed by a reset, so that no port waits for late segments.
RESET = struct.pack("ii", 1, 0)


async def connect(connection, address):
    """As sock_connect of asyncio, which knows no MPTCP."""
    loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
    begun = connection.connect_ex((address, PORT))
    if begun != errno.EINPROGRESS:
        raise OSError(begun, "connect")
    loop.add_writer(connection, lambda: done.done() or done.set_result(None))
    try:
        await done
    finally:
        loop.remove_writer(connection)
    if error := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
        raise OSError(error, "connect")


async def opening(address, port):
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    connection.setblocking(False)
    try:
        connection.bind(("", port))
    except OSError:
        # The kernel still has a connection of the last round there.
        return connection.close()
    began, took, error = time.time(), None, None
    try:
        await asyncio.wait_for(connect(connection, address), PATIENCE)
        took = round(time.time() - began, 4)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    except (OSError, TimeoutError) as failure:
        error = repr(failure)
    finally:
        connection.close()
    print(json.dumps([began, took, error]), flush=True)


async def main(address, rate, seconds):
    tasks, start, begun = set(), time.monotonic(), 0
    while not seconds or time.monotonic() - start < seconds:
        while begun < (time.monotonic() - start) * rate:
            task = asyncio.create_task(opening(address, PORTS[begun % len(PORTS)]))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            begun += 1
        await asyncio.sleep(1 / rate)
    await asyncio.gather(*tasks)


asyncio.run(main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3])))
