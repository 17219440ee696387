#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
sample.py - write a page with made-up traces, as DATA.md describes them

usage: sample.py TEMPLATE OUTPUT [KIND]

KIND is 'one' (the default), 'two' (two traces to compare), 'large' (as many
sites and points as a page may have), 'plain' (no call stacks, no times),
'spike' (one large block that lives for a moment), 'deep' (call stacks of 250
frames) or 'empty' (a trace without events).  Names in it contain markup and
script.  The same arguments give the same page.
"""
import json
import math
import random
import sys

NASTY = [
    '<script>document.title="pwned"</script>',
    '</script><img src=x onerror="window.pwned=1">',
    "operator<< <std::vector<int>, \"a\" & 'b'>(javascript:alert(1))",
    '\u202egnp.exe <!-- <script>',
]
BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz'
MEASURES = ['peak', 'end', 'alloc', 'temp', 'moved']

APP = [
    ('main', 'main.cc', 40), ('Server::run()', 'server.cc', 118),
    ('Server::accept_loop()', 'server.cc', 164),
    ('Worker::serve(Connection&)', 'worker.cc', 77),
    ('Request::parse(std::string_view)', 'request.cc', 203),
    ('Router::dispatch(Request const&)', 'router.cc', 91),
    ('Session::load(SessionId)', 'session.cc', 55),
    ('Cache::insert(Key, std::shared_ptr<Entry>)', 'cache.cc', 148),
    ('Cache::grow()', 'cache.cc', 219),
    ('Template::render(Context const&)', 'template.cc', 312),
    ('Json::Value::operator[](char const*)', 'json.cc', 401),
    ('Arena::allocate(unsigned long)', 'arena.cc', 33),
    ('Log::write(Level, std::string const&)', 'log.cc', 87),
    ('Image::decode(Span<unsigned char>)', 'image.cc', 140),
    ('Index::build(std::vector<Document> const&)', 'index.cc', 266),
    ('Index::merge(Segment&, Segment&)', 'index.cc', 350),
    ('Tokenizer::next()', 'token.cc', 61),
]
LIBS = {
    '/usr/lib/x86_64-linux-gnu/libcrypto.so.3': [
        'CRYPTO_malloc', 'EVP_DigestInit_ex', 'BN_CTX_new', 'ASN1_item_d2i',
        'X509_STORE_add_cert'],
    '/usr/lib/x86_64-linux-gnu/libsqlite3.so.0': [
        'sqlite3Malloc', 'sqlite3_step', 'sqlite3VdbeExec', 'pcache1Alloc',
        'sqlite3BtreeOpen'],
    '/usr/lib/x86_64-linux-gnu/libz.so.1': ['deflateInit2_', 'inflateInit2_'],
    '/usr/lib/x86_64-linux-gnu/libpng16.so.16': [
        'png_malloc_warn', 'png_read_row', 'png_create_read_struct'],
    '/usr/lib/x86_64-linux-gnu/libc.so.6': ['strdup', 'fopen', 'getline'],
}


class Strings:
    def __init__(self):
        self.list = ['']
        self.index = {'': 0}

    def __call__(self, text):
        if text not in self.index:
            self.index[text] = len(self.list)
            self.list.append(text)
        return self.index[text]


class Made:
    """A made-up trace."""

    def __init__(self, seed, site_count, points, name, stacks=True,
                 axis='us', scale=1.0, folder='/src'):
        self.rng = random.Random(seed)
        self.strings = Strings()
        self.stacks = stacks
        self.scale = scale
        self.folder = folder
        self.frames = {k: [] for k in
                       ('function', 'module', 'file', 'line')}
        self.nodes = {'parent': [-1], 'frame': [-1]}
        self.node_index = {}
        self.duration = 42_000_000 if axis == 'us' else 812_345
        self.axis = axis
        self.points = [self.duration * (i + 1) // points
                       for i in range(points)]
        self.name = name
        self.make_frames()
        self.make_threads(12 if stacks else 3)
        self.make_sites(site_count)

    def frame(self, function, module, file, line):
        s = self.strings
        for key, value in (('function', s(function)), ('module', s(module)),
                           ('file', s(file)), ('line', line)):
            self.frames[key].append(value)
        return len(self.frames['line']) - 1

    def make_frames(self):
        app = '/opt/shop/bin/shopd'
        self.app = [self.frame(f, app, f'{self.folder}/shopd/{file}', line)
                    for f, file, line in APP]
        self.app += [self.frame(n, app, '/src/<b>bold</b>.cc', 7 + i)
                     for i, n in enumerate(NASTY)]
        self.libs = [[self.frame(f, module, '', 0) for f in functions]
                     for module, functions in LIBS.items()]

    def make_threads(self, count):
        names = ['shopd', 'acceptor'] + ['worker'] * 6 + [
            'indexer', 'logger', NASTY[0], 'timer']
        self.threads = {
            'id': [4711 + i for i in range(count)],
            'name': [self.strings(n) for n in names[:count]],
            'start': [0 if i == 0 else int(self.duration * 0.02 * i * i / 6)
                      for i in range(count)],
            'end': [-1 if i < 8 else int(self.duration * 0.9)
                    for i in range(count)],
            'allocBytes': [0] * count, 'allocBlocks': [0] * count,
            'outlivedBytes': [0] * count, 'outlivedBlocks': [0] * count,
        }

    def node(self, path):
        node = 0
        for frame in path:
            key = (node, frame)
            if key not in self.node_index:
                self.node_index[key] = len(self.nodes['parent'])
                self.nodes['parent'].append(node)
                self.nodes['frame'].append(frame)
            node = self.node_index[key]
        return node

    def make_path(self):
        """A call path, and the frame that names its site."""
        rng = self.rng
        path = self.app[:1]
        pick = rng.randrange(1, len(self.app))
        for _ in range(rng.randint(1, 7)):
            path.append(self.app[pick])
            pick = min(len(self.app) - 1,
                       max(1, pick + rng.choice([1, 1, 2, 2, 3, -2])))
        at = path[-1]
        if rng.random() < 0.3:
            lib = rng.choice(self.libs)
            path += rng.sample(lib, rng.randint(1, min(3, len(lib))))
            at = path[-1]
        return path, at

    def curve(self):
        """Live blocks of a site at each point, and how often it allocates."""
        rng = self.rng
        kind = rng.choice(['start', 'leak', 'phase', 'steady', 'waves'])
        begin, end = sorted((rng.random(), rng.random()))
        top = int(10 ** rng.uniform(0, 3.6) * self.scale) + 1
        values = []
        for i in range(len(self.points)):
            t = (i + 1) / len(self.points)
            x = {'start': min(1, t * 20) * (t < 0.98),
                 'leak': max(0, t - begin * 0.7),
                 'phase': 1.0 if begin < t < end else 0,
                 'steady': 0.5 + 0.2 * rng.random() if t > 0.1 else 0,
                 'waves': max(0, math.sin(t * 25 + begin * 9)) * (t < 0.95),
                 }[kind]
            values.append(int(top * x))
        churn = 10 ** rng.uniform(0, 2)
        return values, int(max(values) * churn) + 1

    def make_sites(self, count):
        keys = ['node', 'at', 'thread', 'life', 'live']
        keys += [m + u for m in MEASURES for u in ('Bytes', 'Blocks')]
        self.sites = {k: [] for k in keys}
        self.blocks = []
        for _ in range(count):
            self.make_site()
        self.fill_peaks()

    def make_site(self):
        rng = self.rng
        s = self.sites
        size = int(2 ** rng.uniform(3, 14))
        thread = rng.randrange(len(self.threads['id']))
        if self.stacks:
            path, at = self.make_path()
        else:
            path = [self.frame('thread %d' % (4711 + thread), '', '', 0),
                    self.frame('blocks of %d bytes' % size, '', '', 0)]
            at = path[1]
        values, allocs = self.curve()
        s['node'].append(self.node(path))
        s['at'].append(at)
        s['thread'].append(thread)
        s['life'].append(int(10 ** rng.uniform(1, 7)))
        s['live'].append(self.triples(values, size))
        self.blocks.append((values, size))
        temp = int(allocs * rng.random() ** 3)
        moved = int(allocs * 0.2) if rng.random() < 0.2 else 0
        for m, n in (('end', values[-1]), ('alloc', allocs),
                     ('temp', temp), ('moved', moved)):
            s[m + 'Blocks'].append(n)
            s[m + 'Bytes'].append(n * size)
        self.threads['allocBlocks'][thread] += allocs
        self.threads['allocBytes'][thread] += allocs * size

    @staticmethod
    def triples(values, size):
        out, last, skip = [], 0, 0
        for value in values:
            if value == last:
                skip += 1
                continue
            out += [skip, (value - last) * size, value - last]
            last, skip = value, 0
        return out

    def fill_peaks(self):
        n = len(self.points)
        self.total_bytes = [sum(v[i] * z for v, z in self.blocks)
                            for i in range(n)]
        self.total_blocks = [sum(v[i] for v, _ in self.blocks)
                             for i in range(n)]
        self.top = max(range(n), key=self.total_bytes.__getitem__)
        for values, size in self.blocks:
            self.sites['peakBlocks'].append(values[self.top])
            self.sites['peakBytes'].append(values[self.top] * size)

    def series(self):
        """Spans between the points, with a little noise on the maximum."""
        out = {k: [] for k in ('time', 'bytes', 'blocks', 'max',
                               'allocBytes', 'allocBlocks')}
        fine = 8
        out['width'] = self.duration // len(self.points) // fine + 1
        peak = self.total_bytes[self.top]
        last = (0, 0)
        for i, (b, c) in enumerate(zip(self.total_bytes, self.total_blocks)):
            for k in range(1, fine + 1):
                share = k / fine
                out['time'].append(int((i + share) * self.duration
                                       / len(self.points)))
                live = int(last[0] + (b - last[0]) * share)
                out['bytes'].append(live)
                out['blocks'].append(int(last[1] + (c - last[1]) * share))
                out['max'].append(min(peak, int(
                    live * (1 + 0.04 * self.rng.random()))))
                out['allocBytes'].append(int(
                    1e6 * self.scale * (1 + math.sin(i / 5) ** 2)
                    * self.rng.uniform(0.5, 1.5)))
                out['allocBlocks'].append(1000)
            last = (b, c)
        return out

    def pairs(self):
        """Half of each site is of its thread, the rest of the next one."""
        s = self.sites
        out = {k: [] for k in ('thread', 'site')}
        out.update({m + u: [] for m in MEASURES for u in ('Bytes', 'Blocks')})
        threads = len(self.threads['id'])
        for site, thread in enumerate(s['thread']):
            for half in (0, 1):
                out['thread'].append((thread + half) % threads)
                out['site'].append(site)
                for m in MEASURES:
                    for u in ('Bytes', 'Blocks'):
                        out[m + u].append((s[m + u][site] + half) // 2)
        return out

    def size_life(self):
        cells = []
        for size in range(1, 22):
            for life in range(1, 27):
                x = math.exp(-((size - 7) ** 2 / 18 + (life - 8) ** 2 / 40))
                x += 0.02 * math.exp(-((size - 14) ** 2 / 6
                                       + (life - 22) ** 2 / 8))
                n = int(4e5 * x * self.rng.uniform(0.4, 1.4) * self.scale)
                if n:
                    cells += [size, life, n, int(n * 0.75 * 2 ** (size - 1))]
            n = int(3000 * math.exp(-(size - 8) ** 2 / 20))
            if n:
                cells += [size, -1, n, int(n * 0.75 * 2 ** (size - 1))]
        return {'size': [0, 1] + [2 ** i for i in range(1, 23)],
                'life': [0, 1] + [2 ** i for i in range(1, 28)],
                'cells': cells}

    def matrix(self):
        out = {k: [] for k in ('from', 'to', 'blocks', 'bytes')}
        count = len(self.threads['id'])
        for a in range(count):
            for b in range(-1, count):
                if b != a and b != -1 and self.rng.random() < 0.7:
                    continue
                n = int(10 ** self.rng.uniform(1, 6 if a == b else 4))
                for key, value in zip(out, (a, b, n, n * 180)):
                    out[key].append(value)
        return out

    def addresses(self):
        columns = 160
        regions = []
        for name, start, step, rows in (
                ('[heap]', '55d4c1a2b000', 1 << 18, 72),
                ('arena of thread 4713', '7f11d8000000', 1 << 18, 36),
                ('large blocks', '7f12a0000000', 1 << 20, 24)):
            regions.append({'name': self.strings(name), 'start': start,
                            'step': step, 'rows': [
                                self.address_row(r / rows, columns)
                                for r in range(rows)]})
        live = sum(r['step'] * int(row[-1], 36) // 35
                   for r in regions for row in r['rows'])
        return {'time': [self.duration * (i + 1) // columns
                         for i in range(columns)],
                'live': live, 'regions': regions}

    def address_row(self, height, columns):
        begin = height * 0.75 + self.rng.random() * 0.06
        fade = self.rng.choice([0.2, 0.5, 1])
        out = ''
        for c in range(columns):
            t = c / columns
            share = 0.0
            if t > begin:
                share = 0.95 if t < 0.8 else 0.95 * fade
                share *= self.rng.uniform(0.75, 1)
            out += BASE36[int(share * 35)]
        return out

    def totals(self):
        s = self.sites
        out = {m + u: sum(s[m + u]) for m in MEASURES
               for u in ('Bytes', 'Blocks')}
        out['peakTime'] = self.points[self.top]
        out['freedBlocks'] = out['allocBlocks'] - out['endBlocks']
        out['threads'] = len(self.threads['id'])
        return out

    def block(self):
        totals = self.totals()
        span = self.duration
        texts = ['configuration read', 'index built', NASTY[1], 'request 17',
                 'shutdown begins']
        block = {
            'name': self.name, 'axis': self.axis, 'stacks': self.stacks,
            'meta': {'command': '/opt/shop/bin/shopd --port 8080 ' + NASTY[0],
                     'pid': 4711, 'host': 'build7',
                     'started': '2026-11-21T17:34:04Z', 'duration': span,
                     'events': totals['allocBlocks'] + totals['freedBlocks']},
            'totals': totals, 'frames': self.frames, 'nodes': self.nodes,
            'sites': self.sites,
            'points': {'width': self.duration // len(self.points) + 1,
                       'time': self.points},
            'series': self.series(), 'threads': self.threads,
            'pairs': self.pairs(),
            'marks': {'time': [int(span * f) for f in
                               (0.06, 0.31, 0.36, 0.72, 0.95)],
                      'text': [self.strings(t) for t in texts]},
            'sizeLife': self.size_life(), 'matrix': self.matrix(),
            'addresses': self.addresses(),
            'health': [
                {'level': 'ok', 'text': 'The trace is complete: no event of '
                 'the program is missing.'},
                {'level': 'note', 'text': '214 frees are of blocks that were '
                 'allocated before the trace began.'},
                {'level': 'bad', 'text': 'The module ' + NASTY[2]
                 + ' has no debug information.'}],
        }
        block['strings'] = self.strings.list
        return block


def empty_block():
    made = Made(1, 0, 1, 'empty.hatf')
    block = made.block()
    block['meta'] = {'duration': 0, 'events': 0}
    block['series'] = {k: 1 if k == 'width' else []
                       for k in block['series']}
    block['points'] = {'width': 1, 'time': []}
    block['totals']['peakTime'] = 0
    block['threads'] = {k: v[:1] for k, v in block['threads'].items()}
    block['totals']['threads'] = 1
    for part in ('marks', 'sizeLife', 'matrix', 'addresses'):
        del block[part]
    return block


def spike_block():
    """1 to 2 MiB, except for a span of 1 ms in which 100 MiB live."""
    made = Made(7, 3, 100, 'spike.hatf')
    block = made.block()
    mib = 1 << 20
    times = [1000 * i for i in range(1, 42_000, 21)]
    spike = 16_717_000 - 16_717_000 % 21_000 + 1000
    block['series'] = {
        'width': 1000, 'time': times,
        'bytes': [mib + t * mib // 42_000_000 for t in times],
        'blocks': [t // 1000 for t in times],
        'max': [101 * mib if t == spike else mib + t * mib // 42_000_000
                for t in times],
        'allocBytes': [100 * mib if t == spike else 1000 for t in times],
        'allocBlocks': [1] * len(times)}
    block['totals'].update(peakBytes=101 * mib, peakTime=spike - 500)
    return block


class Deep(Made):
    def make_path(self):
        path, at = super().make_path()
        return path[:1] + self.app[1:3] * 124 + path[1:], at


def make_traces(kind):
    if kind == 'two':
        return [Made(7, 160, 100, 'before.hatf.gz').block(),
                Made(8, 150, 100, 'after.hatf.gz', scale=0.7,
                     folder='/build/2').block()]
    if kind == 'large':
        return [Made(7, 3000, 128, 'large.hatf.gz').block()]
    if kind == 'plain':
        return [Made(7, 40, 100, 'plain.hatf', False, 'events').block()]
    if kind == 'spike':
        return [spike_block()]
    if kind == 'deep':
        return [Deep(7, 40, 100, 'deep.hatf.gz').block()]
    if kind == 'empty':
        return [empty_block()]
    return [Made(7, 160, 100, 'shopd.hatf.gz').block()]


def main():
    template, output, *kind = sys.argv[1:]
    data = json.dumps({'version': 1, 'generator': 'sample',
                       'traces': make_traces(*(kind or ['one']))},
                      separators=(',', ':'))
    with open(template, encoding='utf-8') as file:
        page = file.read()
    before, after = page.split('@HATF-DATA@')
    with open(output, 'w', encoding='utf-8') as file:
        file.write(before + data.replace('<', '\\u003c') + after)


if __name__ == '__main__':
    main()
