"""Prints which member is master of all switches whenever that changes, as lines of JSON: time, member or null."""

import http.client
import json
import sys
import time


def roles(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=0.2)
        connection.request("GET", "/api/v1/switches")
        return [switch["role"] for switch in json.load(connection.getresponse())["switches"]]
    except (OSError, ValueError, KeyError, http.client.HTTPException):
        return []


def main():
    switches, ports = int(sys.argv[1]), [int(port) for port in sys.argv[2:]]
    last = object()
    while True:
        masters = [port for port in ports if roles(port) == ["master"] * switches]
        now = masters[0] if len(masters) == 1 else None
        if now != last:
            print(json.dumps({"time": time.time(), "master": now}), flush=True)
            last = now
        time.sleep(0.01)


main()
