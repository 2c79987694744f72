#!/usr/bin/python3
"""Asks an API: ask.py METHOD URL [BODY]. Prints a line of JSON with the status, the headers and the answer."""

import json
import sys
import urllib.error
import urllib.request

method, url, *body = sys.argv[1:]
data = body[0].encode() if body else None
request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
try:
    answer = urllib.request.urlopen(request, timeout=30)
except urllib.error.HTTPError as error:
    answer = error
headers = {name.lower(): value for name, value in answer.headers.items()}
print(json.dumps({"status": answer.status, "headers": headers, "answer": json.loads(answer.read())}))
