"""Ctrl-C while a request is answered ends the server at once and without a traceback, though its input is open."""

import json
import subprocess
import sys

PROGRAM = """
import os, signal
from expctl.agents.server import serve
from expctl.cli.entry import _interrupt

signal.signal(signal.SIGINT, _interrupt)

def here():
    os.kill(os.getpid(), signal.SIGINT)

try:
    serve(here)
except KeyboardInterrupt:
    raise SystemExit(130)
"""
ASKED = (
    {"id": 1, "method": "initialize"},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}},
)
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}


def test_it_says_nothing() -> None:
    said = "".join(f"{json.dumps({'jsonrpc': '2.0', 'params': CLIENT, **each})}\n" for each in ASKED)
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=-1, stdout=-1, stderr=-1, text=True) as server:
        assert server.stdin is not None
        assert server.stderr is not None
        server.stdin.write(said)
        server.stdin.flush()
        assert server.wait(240) == 130
        assert server.stderr.read() == ""
