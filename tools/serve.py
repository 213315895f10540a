#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a folder of static files on this machine, with the headers that the site is tested under.

usage: serve.py FOLDER [--port N]

Port 0 takes a free one. The address is printed once it is listening; Ctrl-C stops it.
"""

import argparse
import errno
import functools
import http.server
import sys

# The policy of the site: no inline script or style, nothing from elsewhere, wasm allowed.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".json": "application/json",
        ".csv": "text/csv; charset=utf-8",
        ".woff2": "font/woff2",
        # Data packs are unpacked by the page itself, so they are not announced as encoded.
        ".gz": "application/octet-stream",
    }

    def end_headers(self):
        self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        # Any page may embed a demo; there is nothing here that a cookie would protect.
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description="Serves a folder on 127.0.0.1.")
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one (default 8080)")
    options = parser.parse_args()
    handler = functools.partial(Handler, directory=options.folder)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            print(f"site: port {options.port} is taken; choose another by --port=N", file=sys.stderr)
            return 3
        raise
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
