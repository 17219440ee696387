#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
top.py - 'hatf top' shows what a program has at each moment

usage: top.py HATF PROGRAM

Records PROGRAM (top.c), tells it step by step what to do, and compares what
'hatf top' and 'hatf ctl --live' print with what the program then has.  Prints
each difference; exit status 1 if there is one.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

failures = 0


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f'FAIL: {what}: got {got!r}, want {want!r}', file=sys.stderr)


class Program:
    """A recorded program that does one thing for each letter."""
    def __init__(self, hatf, program, trace, *options, **environment):
        self.process = subprocess.Popen(
            [hatf, 'record', '-o', trace, *options, program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, 'HATFTRACE_BEGIN': 'now', **environment})
        self.hatf, self.trace = hatf, trace
        self.pid = self.process.stdout.readline().split()[0].decode()

    def do(self, letters):
        for letter in letters:
            self.process.stdin.write(letter.encode())
            self.process.stdin.flush()
            self.process.stdout.readline()

    def run(self, *command):
        return subprocess.run([self.hatf, *command], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)

    def top(self, *options, what=None):
        done = self.run('top', '--plain', *options, what or self.pid)
        errors = done.stderr.replace(
            f'hatf top: {what}: the trace has ended\n', '')
        check(f'top {options}: status and errors', (done.returncode, errors),
              (0, ''))
        return done.stdout

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def rows_of(page):
    """{name: (live, growth, blocks, rate)} of a page."""
    rows = {}
    for line in page.split('\n\n')[1].split('\n')[1:]:
        values = [v.strip() for v in (line[:11], line[12:23], line[24:35],
                                      line[36:49])]
        rows[line[51:]] = tuple(values)
    return rows


def head_of(page):
    live = re.search(r'^live  (.*) in (.*) blocks; peak (.*?)( after .*)?$',
                     page, re.M)
    events = re.search(r'^trace (.*) events', page, re.M)
    return (*live.groups()[:3], events[1])


def site(rows, function):
    found = [rows[name] for name in rows if name.startswith(function + ' (')]
    return found[0][:3] if found else None


def read_until(stream, what):
    """Read lines until one has a text."""
    seen = ''
    while what not in seen:
        line = stream.readline()
        if line == '':
            check('output', seen[-2000:], what)
            break
        seen += line
    return seen


def check_steps(hatf, program):
    p = Program(hatf, program, 'steps.hatf.gz')
    p.do('kk')
    page = p.top('-n', '1')
    check('two steps', head_of(page), ('195.3 KiB', '200', '195.3 KiB', '200'))
    check('keep', site(rows_of(page), 'keep'), ('195.3 KiB', '0', '200'))
    p.do('c')
    page = p.top('-n', '1')
    check('churn', head_of(page)[:2] + head_of(page)[3:],
          ('195.3 KiB', '200', '1 200'))
    check('site of churn', site(rows_of(page), 'churn'), ('0 B', '0', '0'))
    # Two pages, between which the program allocates.
    top = subprocess.Popen([hatf, 'top', '-b', '-n', '2', '-d', '1', p.pid],
                           stdout=subprocess.PIPE, text=True)
    read_until(top.stdout, 'keep (')
    p.do('k')
    second = 'hatf top' + top.stdout.read().split('hatf top')[-1]
    check('second page', head_of(second)[:2], ('293.0 KiB', '300'))
    check('growth', site(rows_of(second), 'keep'),
          ('293.0 KiB', '+97.7 KiB', '300'))
    check('status of top', top.wait(), 0)
    p.do('f')
    page = p.top('-n', '1')
    check('all freed', head_of(page)[:3], ('0 B', '0', '293.0 KiB'))
    # The file, and no flush: what the file has.
    page = p.top('-n', '1', what='steps.hatf.gz')
    check('the file', head_of(page)[:3], ('0 B', '0', '293.0 KiB'))
    done = p.run('ctl', '--live', '--json', p.pid, 'status')
    for key, value in (('live_bytes', 0), ('live_objects', 0),
                       ('peak_bytes', 300000)):
        check(f'ctl --live {key}',
              re.search(f'"{key}":([0-9]+)', done.stdout)[1], str(value))
    p.do('k')
    done = p.run('ctl', '--live', p.pid, 'status')
    check('ctl --live', '97.7 KiB live in 100 blocks, peak 293.0 KiB' in
          done.stdout, True)
    p.do('t')
    rows = rows_of(p.top('-n', '1', '--threads'))
    check('a thread', [r[:1] for n, r in rows.items() if 'busy' in n],
          [('48.8 KiB',)])
    p.end()
    page = p.top(what='steps.hatf.gz')
    check('after the end', page.split('\n')[0].endswith(', ended by exit'),
          True)


def check_wrapper(hatf, program):
    """The options that choose the site, with the same sites as 'report'."""
    p = Program(hatf, program, 'wrapped.hatf.gz')
    p.do('w')
    want = ('9.8 KiB', '0', '10')
    rows = rows_of(p.top('-n', '1'))
    check('the wrapper', site(rows, 'wrap'), want)
    rows = rows_of(p.top('-n', '1', '--wrapper', 'none', '--wrapper', 'wr?p'))
    check('its caller', (site(rows, 'wrap'), site(rows, 'keep_wrapped')),
          (None, want))
    rows = rows_of(p.top('-n', '1', '--raw-stacks', '--wrapper', 'wrap'))
    check('raw stacks', site(rows, 'wrap'), want)
    # If all functions are hidden, the site is the innermost one.
    rows = rows_of(p.top('-n', '1', '--wrapper', '*'))
    check('all hidden', site(rows, 'wrap'), want)
    p.end()


def check_busy(hatf, program):
    """Plain pages have all flushed events while the process writes more."""
    p = Program(hatf, program, 'busy.hatf.gz')
    p.do('k')
    p.process.stdin.write(b'b')
    p.process.stdin.flush()
    pages = p.top('-n', '10', '-d', '0.05')
    heads = [line for line in pages.split('\n') if line.startswith('hatf top')]
    check('states', [line.split(', ')[-1] for line in heads],
          ['running'] * 10)
    p.end()


def check_without_stacks(hatf, program):
    p = Program(hatf, program, 'lanes.hatf', '--no-stacks')
    p.do('kk')
    rows = rows_of(p.top('-n', '1'))
    check('a lane', rows['thread 0, 513 to 1024 bytes'][:3],
          ('195.3 KiB', '0', '200'))
    p.end()


def check_rotation(hatf, program):
    p = Program(hatf, program, 'rotated.%s.hatf', '--rotate', '1G')
    p.do('kk')
    top = subprocess.Popen([hatf, 'top', '-b', '-d', '0.3', p.pid],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    seen = read_until(top.stdout, '200 blocks')
    check('rotate', p.run('ctl', p.pid, 'rotate').returncode, 0)
    p.do('k')
    seen += read_until(top.stdout, '300 blocks')
    check('peak of all segments', 'peak 293.0 KiB' in seen, True)
    p.end()
    top.stdout.read()
    check('status after the end', top.wait(), 0)
    check('message at the end',
          'the trace has ended' in top.stderr.read(), True)


def read_screen(fd, what, seconds=20):
    """Read a terminal until a text is there."""
    text, end = '', time.monotonic() + seconds
    while what not in text and time.monotonic() < end:
        if select.select([fd], [], [], 0.5)[0]:
            try:
                text += os.read(fd, 65536).decode(errors='replace')
            except OSError:
                break
    if what not in text:
        check('screen', text[-500:], what)
    return text


def set_size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ,
                struct.pack('HHHH', rows, columns, 0, 0))


def check_sizes(hatf, program):
    """The page fits a window that changes its size, long before the next."""
    p = Program(hatf, program, 'sizes.hatf.gz')
    p.do('kc')
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(hatf, [hatf, 'top', '-d', '3600', p.pid])
    read_screen(fd, 't threads')
    for rows, columns in ((24, 80), (1, 1), (1, 80), (40, 1), (3, 20), (7, 40),
                          (8, 40), (200, 500), (2, 2)):
        what = f'{rows} rows, {columns} columns'
        set_size(fd, rows, columns)
        text = read_screen(fd, '\033[H')
        while select.select([fd], [], [], 0.5)[0]:
            text += os.read(fd, 65536).decode()
        text = text[text.rfind('\033[H'):]
        lines = re.sub('\033\\[[A-Z]|\r', '', text).split('\n')
        check(f'{what}: fits', (len(lines) <= rows,
                               max(map(len, lines)) <= columns), (True, True))
        check(f'{what}: begin', lines[0][:8], 'hatf top'[:columns])
        check(f'{what}: keys', lines[-1] == 'q quit  s sort (live)  t threads'
              [:columns], rows > 7)
        check(f'{what}: the first row', sum('97.7' in x for x in lines[6:]),
              rows > 6 and columns > 10)
    os.write(fd, b't')
    read_screen(fd, '\033[H')
    os.write(fd, b'q')
    read_screen(fd, '\033[?1049l')
    check('sizes: status', os.waitpid(pid, 0)[1], 0)
    os.close(fd)
    p.end()


def check_terminal(hatf, program):
    p = Program(hatf, program, 'tty.hatf.gz')
    p.do('kc')
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(hatf, [hatf, 'top', '-d', '0.2', p.pid])
    text = read_screen(fd, 'keep (')
    check('another screen', '\033[?1049h' in text, True)
    os.write(fd, b's')
    read_screen(fd, 's sort (growth)')
    os.write(fd, b't')
    text = read_screen(fd, 't sites')
    check('threads', 'thread 0' in text, True)
    os.write(fd, b'q')
    text = read_screen(fd, '\033[?1049l')
    check('status after q', os.waitpid(pid, 0)[1], 0)
    os.close(fd)
    # A signal restores the terminal.
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(hatf, [hatf, 'top', '-d', '0.2', p.pid])
    read_screen(fd, 'keep (')
    os.kill(pid, signal.SIGTERM)
    read_screen(fd, '\033[?1049l')
    check('end by a signal', os.WTERMSIG(os.waitpid(pid, 0)[1]),
          signal.SIGTERM)
    os.close(fd)
    p.end()


def main():
    hatf, program = sys.argv[1:]
    check_steps(hatf, program)
    check_wrapper(hatf, program)
    check_busy(hatf, program)
    check_without_stacks(hatf, program)
    check_rotation(hatf, program)
    check_terminal(hatf, program)
    check_sizes(hatf, program)
    sys.exit(failures != 0)


if __name__ == '__main__':
    main()
