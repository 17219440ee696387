# SPDX-License-Identifier: MIT
#
# client.py - load for servers that listen on a Unix socket
#
#   client.py memcached SOCKET CONNECTIONS ROUNDS
#   client.py http SOCKET CONNECTIONS ROUNDS PATH...
#
# Opens several connections, one thread each, and checks every answer.  Its
# output depends on the answers only.  Gives up after a minute without an
# answer.
import hashlib
import socket
import sys
import threading
import time

mistakes = []


def connect(path):
    for _ in range(200):
        try:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(60)
            s.connect(path)
            return s
        except OSError:
            s.close()
            time.sleep(0.05)
    sys.exit("client.py: no server listens at " + path)


def expect(got, want):
    if got != want:
        mistakes.append((got[:100], want[:100]))


def memcached(path, number, rounds):
    s = connect(path)
    f = s.makefile("rb")

    def ask(data, lines):
        s.sendall(data)
        return b"".join(f.readline() for _ in range(lines))

    for i in range(rounds):
        key = b"key-%d-%d" % (number, i % 200)
        value = b"%d" % i * (1 + i * 37 % 400)
        expect(ask(b"set %s 7 0 %d\r\n%s\r\n" % (key, len(value), value), 1),
               b"STORED\r\n")
        expect(ask(b"get %s\r\n" % key, 3),
               b"VALUE %s 7 %d\r\n%s\r\nEND\r\n" % (key, len(value), value))
        many = b" ".join(b"none-%d" % n for n in range(i % 50 + 1))
        expect(ask(b"get %s\r\n" % many, 1), b"END\r\n")
        if i % 5 == 0:
            expect(ask(b"delete %s\r\n" % key, 1), b"DELETED\r\n")
        if i % 7 == 0:
            ask(b"set n-%d 0 0 1\r\n5\r\n" % number, 1)
            expect(ask(b"incr n-%d 37\r\n" % number, 1), b"42\r\n")
        if i % 100 == 99:
            # A new connection makes the server allocate.
            f.close()
            s.close()
            s = connect(path)
            f = s.makefile("rb")
    s.close()


def get(f, s, page):
    s.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\n"
              b"Accept-Encoding: gzip\r\n\r\n" % page.encode())
    status = f.readline()
    if not status:
        raise OSError("closed")
    length = None
    for line in f:
        name, _, value = line.strip().partition(b": ")
        if name.lower() == b"content-length":
            length = int(value)
        if not name:
            break
    if length is not None:
        return status, f.read(length)
    body = b""
    while True:
        n = int(f.readline(), 16)
        body += f.read(n)
        f.readline()
        if n == 0:
            return status, body


def http(path, number, rounds, pages):
    for i in range(rounds):
        s = connect(path)
        f = s.makefile("rb")
        for page in pages:
            # A server that restarts closes idle connections: ask again.
            for _ in range(20):
                try:
                    status, body = get(f, s, page)
                    break
                except OSError:
                    s = connect(path)
                    f = s.makefile("rb")
            with lock:
                answers.add((page, status, hashlib.md5(body).hexdigest()))
        f.close()
        s.close()


lock = threading.Lock()
answers = set()
kind, path, connections, rounds = sys.argv[1:5]
workers = [
    threading.Thread(target=memcached if kind == "memcached" else http,
                     args=(path, n, int(rounds)) +
                     ((sys.argv[5:],) if kind == "http" else ()))
    for n in range(int(connections))]
for w in workers:
    w.start()
for w in workers:
    w.join()
for line in sorted(answers):
    print(*line)
print("mistakes", len(mistakes), *mistakes[:3])
sys.exit(bool(mistakes))
