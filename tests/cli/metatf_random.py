# SPDX-License-Identifier: MIT
"""
Random DTDs and random traces of Meta-TF.

usage: metatf_random.py SEED FOLDER

Writes random.dtd, random.mtf and random.json: what 'hatf metatf dump --json'
must print.  It writes traces after the paper and shares no code with libhatf.
A value is what the random bytes of a field mean, so every state of a field is
as likely as any other.
"""
import json
import random
import sys

MASK = (1 << 64) - 1
NONE, BASE, DELTA, DEFAULT, OFFSET, STRIDE, COLUMN = range(1, 8)
WORDS = {NONE: 'none', BASE: 'baseOffset', DELTA: 'delta', DEFAULT: 'default',
         STRIDE: 'stride', COLUMN: 'sectionStride', OFFSET: 'sectionOffset'}


class Field:
    """A definition: width, interpretation, and whose history it is."""
    count = 0

    def __init__(self, rng, small=False):
        Field.count += 1
        self.name = 'f%d' % Field.count
        self.small = small
        self.bytes = False
        self.width_from = None
        self.value = None
        self.kind = NONE if small else rng.choice(
            [NONE, NONE, BASE, DELTA, DEFAULT, STRIDE])
        self.width = rng.choice([1, 2, 4, 8, 3, 1 if small else 0])
        self.args = [0, 0]
        if self.kind in (BASE, DELTA, DEFAULT, STRIDE):
            self.args[0] = rng.choice([0, 5, rng.getrandbits(64)])
        if self.kind == STRIDE:
            self.args[1] = rng.choice([1, 16, MASK - 7])

    def has_width(self):
        """Some fields that store nothing have no width in the DTD."""
        return self.kind in (NONE, BASE, DELTA, OFFSET) or self.width % 2

    def properties(self):
        out = []
        if self.width_from:
            out.append('%s.width = %s.value;' % (self.name, self.width_from))
        elif self.has_width():
            out.append('%s.width = %d;' % (self.name, self.width))
        text = WORDS[self.kind]
        count = {NONE: 0, STRIDE: 2, COLUMN: 2}.get(self.kind, 1)
        for arg in self.args[:count]:
            text += ' -%d' % ((1 << 64) - arg) if arg >> 63 and arg % 2 \
                else ' %d' % arg
        out.append('%s.interpretation = %s;' % (self.name, text))
        if self.value is not None:
            out.append('%s.value = %d;' % (self.name, self.value))
        return out


class State:
    """How a field of a record is stored now."""

    def __init__(self, field):
        self.kind, self.args = field.kind, list(field.args)
        self.last = field.width if field.has_width() else 0
        self.fixed = None

    def width(self):
        return 0 if self.kind in (DEFAULT, STRIDE, COLUMN) else self.last


class Maker:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.shared = []        # fields that the whole DTD defines
        self.shared_bytes = []
        self.columns = []
        # A writer cannot know what a stride of 0 will say next.
        self.strides = [1, 1, 2] if self.rng.random() < 0.8 else [0, 1, 2]
        Field.count = 0

    # ------------------------------------------------------------------- DTD

    def number(self, own):
        rng = self.rng
        if self.shared and rng.random() < 0.4:
            return rng.choice(self.shared)
        field = Field(rng)
        if rng.random() < 0.1 and field.kind == NONE and field.width:
            field.value = rng.randrange(200)
        if self.columns and rng.random() < 0.15:
            field.kind, field.value = COLUMN, None
            column = rng.choice(self.columns)
            column['is_used'] = True
            field.args = [column['number'], rng.choice(self.strides)]
        own.append(field)
        return field

    def tree(self, own, depth, counts):
        """A list of ('f', field), ('r', count, tree), ('n', name, ...)."""
        rng = self.rng
        out = []
        for _ in range(rng.randrange(1, 5)):
            what = rng.random()
            if what < 0.6 or depth > 2:
                out.append(('f', self.number(own)))
            elif what < 0.7:
                length = Field(rng, True)
                data = Field(rng, True)
                data.bytes, data.width_from = True, length.name
                own += [length, data]
                out += [('f', length), ('f', data)]
            elif what < 0.75:
                data = Field(rng, True)
                data.bytes, data.width = True, rng.randrange(9, 20)
                own.append(data)
                out.append(('f', data))
            elif what < 0.8:
                out.append(('v',))
            elif what < 0.9:
                Field.count += 1
                inner = []
                out.append(('n', 'n%d' % Field.count,
                            self.tree(inner, depth + 1, []), inner))
            else:
                if counts and rng.random() < 0.5:
                    count, here = rng.choice(counts), False
                else:
                    count, here = Field(rng, True), True
                    own.append(count)
                body = self.tree(own, depth + 1, []) \
                    if rng.random() < 0.6 else [('f', self.number(own))]
                single = len(body) == 1 and body[0][0] == 'f' and \
                    rng.random() < 0.5
                out.append(('r', count, here, body, single))
                if here:
                    counts.append(count)
        return out

    def tree_text(self, tree):
        parts = []
        for node in tree:
            if node[0] == 'f':
                parts.append(node[1].name)
            elif node[0] == 'v':
                parts.append('vfield')
            elif node[0] == 'n':
                parts.append('%s : (%s) { %s }' % (
                    node[1], self.tree_text(node[2]),
                    ' '.join(p for f in node[3] for p in f.properties())))
            else:
                body = self.tree_text(node[3])
                parts.append('%s*%s' % (node[1].name, body if node[4]
                                        else '(%s)' % body))
        return ', '.join(parts)

    def dtd(self):
        rng = self.rng
        lines = ['// Meta-TF version 1.0']
        self.tag_width = rng.choice([1, 1, 1, 2])
        lines.append('tag.width = %d;' % self.tag_width)
        self.sections = []
        tags = iter(range(4, 200))
        for number in rng.sample(range(2, 250), rng.randrange(0, 3)):
            field = Field(rng)
            field.kind = rng.choice([NONE, DELTA, BASE])
            field.width = rng.choice([1, 2, 4, 8])
            self.columns.append({
                'number': number, 'name': 'column%d' % number, 'field': field,
                'tag': next(tags) if rng.random() < 0.5 else None})
        for _ in range(rng.randrange(0, 4)):
            field = Field(rng)
            self.shared.append(field)
            lines += field.properties()
        self.records = {0: []}
        numbers = [1] + rng.sample(range(250, 255), rng.randrange(0, 2))
        for number in [0] + numbers:
            out = []
            for i in range(rng.randrange(1, 4) if number else
                           rng.randrange(0, 2)):
                own = []
                record = {'name': 'r%d_%d' % (number, i), 'tag': next(tags),
                          'own': own}
                record['tree'] = self.tree(own, 0, [])
                self.records.setdefault(number, []).append(record)
                text = self.tree_text(record['tree'])
                out.append('\t%s : (tag, %s) {\n\t\ttag.value = %d;\n%s\t}' % (
                    record['name'], text, record['tag'],
                    ''.join('\t\t%s\n' % p for f in own
                            for p in f.properties())))
            if number:
                lines.append('section s%d %d {' % (number, number))
                lines += out + ['}']
            else:
                lines += out
        self.numbers = numbers
        self.columns = [c for c in self.columns if 'is_used' in c]
        for column in self.columns:
            field = column['field']
            tag = '' if column['tag'] is None else 'tag, '
            lines.append('section %s %d { element : (%s%s) { %s%s } }' % (
                column['name'], column['number'], tag, field.name,
                '' if column['tag'] is None
                else 'tag.value = %d; ' % column['tag'],
                ' '.join(field.properties())))
        return '\n'.join(lines) + '\n'

    # ----------------------------------------------------------------- trace

    def is_writable(self):
        """
        Can a writer that gets the values alone write this?  It does not know
        what a stride of 0 will say next, and cannot change how a section
        without tags is stored.
        """
        return 0 not in self.strides and all(
            c['tag'] is not None or c['field'].kind == NONE
            for c in self.columns)

    def put(self, n, width):
        return (n & ((1 << 8 * width) - 1)).to_bytes(width, self.order)

    def decode(self, state, stored, width, history):
        signed = state.kind in (BASE, DELTA)
        n = int.from_bytes(stored, self.order, signed=signed)
        if state.kind in (DEFAULT, BASE):
            n += state.args[0]
        if state.kind in (DELTA, STRIDE):
            n += self.previous[history]
        if state.kind == STRIDE:
            n += state.args[1]
        self.previous[history] = n & MASK
        return n & MASK

    def element(self, number, stride):
        column = self.values[number]
        while column['skip'] and column['held'] is None:
            column['skip'] -= 1
            column['at'] += 1
        if column['held'] is None:
            column['value'] = column['list'][column['at']]
            column['at'] += 1
        column['held'] = True if stride == 0 else None
        column['skip'] = max(stride - 1, 0)
        return column['value']

    def make_column(self, column):
        """The numbers of a column, and its bytes."""
        rng, field = self.rng, column['field']
        state, out, numbers = State(field), b'', []
        history = ('column', column['number'])
        self.previous[history] = field.args[0]
        for _ in range(20000):
            if column['tag'] is not None:
                out += self.put(column['tag'], self.tag_width)
            stored = rng.randbytes(state.width())
            numbers.append(self.decode(state, stored, len(stored), history))
            out += stored
        self.values[column['number']] = {
            'list': numbers, 'bytes': out, 'at': 0, 'skip': 0, 'held': None}

    def key(self, number, record, field):
        """The history of a field: that of the definition."""
        return (number, field.name)

    def leaves(self, tree):
        """The fields of a record in order, as metadata counts them."""
        out = []
        for node in tree:
            if node[0] == 'f':
                out.append(node[1])
            elif node[0] == 'v':
                out += [VLENGTH, VDATA]
            elif node[0] == 'n':
                out += self.leaves(node[2])
            else:
                if node[2]:
                    out.append(node[1])
                out += self.leaves(node[3])
        return out

    def fill(self, number, record, tree, at, fields, last):
        """Write the fields of a tree; 'at' is the position of the first."""
        out = b''
        for node in tree:
            if node[0] == 'r':
                if node[2]:
                    out += self.fill_field(number, record, node[1], at, fields,
                                           last)
                    at += 1
                name = node[3][0][1].name if node[4] \
                    else node[1].name + '_items'
                items = fields[unique(fields, name)] = []
                for _ in range(last[node[1].name]):
                    item = {}
                    out += self.fill(number, record, node[3], at, item,
                                     dict(last))
                    items.append(list(item.values())[0] if node[4] else item)
                at += len(self.leaves(node[3]))
            elif node[0] == 'n' or node[0] == 'v':
                name = node[1] if node[0] == 'n' else 'vfield'
                inner = fields[unique(fields, name)] = {}
                body = node[2] if node[0] == 'n' \
                    else [('f', VLENGTH), ('f', VDATA)]
                out += self.fill(number, record, body, at, inner, last)
                at += len(self.leaves(body))
            else:
                out += self.fill_field(number, record, node[1], at, fields,
                                       last)
                at += 1
        return out

    def fill_field(self, number, record, field, at, fields, last):
        rng = self.rng
        state = self.states[number, record['name'], at]
        name = unique(fields, field.name)
        if field.bytes:
            width = state.fixed
            if width is None:
                width = last[field.width_from] if field.width_from \
                    else field.width
            data = bytes(rng.choice(b'ab"\\\xc3\x00 ') for _ in range(width))
            fields[name] = text_or_hex(data)
            return data
        if state.kind == COLUMN:
            last[field.name] = fields[name] = self.element(*state.args)
            return b''
        if field.value is not None:
            stored = self.put(field.value, state.width())
        elif field.small:
            stored = self.put(rng.randrange(4), state.width())
        else:
            stored = rng.randbytes(state.width())
        history = self.key(number, record, field)
        self.previous.setdefault(history, 0)
        value = self.decode(state, stored, len(stored), history)
        last[field.name] = fields[name] = value
        return stored

    def metadata(self, number, record):
        """Change a field at random."""
        rng = self.rng
        leaves = self.leaves(record['tree'])
        at = rng.randrange(len(leaves)) + 1
        field, state = leaves[at - 1], self.states[number, record['name'], at]
        if at > 255 or field.value is not None:
            return b''
        head = self.put(3, self.tag_width) + \
            self.put(record['tag'], self.tag_width)
        args = []
        if field.bytes:
            kind = rng.choice([0, NONE])
            state.fixed = None if kind == NONE else rng.randrange(12)
            args = [] if kind == NONE else [state.fixed]
        elif field.small:
            kind, args = 0, [rng.choice([1, 2, 4, 8])]
            state.last = args[0]
        else:
            kind = rng.choice([0, NONE, BASE, DELTA, DEFAULT, STRIDE] +
                              [COLUMN] * bool(self.columns))
            big = rng.getrandbits(self.int * 8 - 1)
            if kind == 0:
                args = [rng.randrange(9)]
                if args[0]:
                    state.last = args[0]
                elif state.kind not in (DEFAULT, STRIDE, COLUMN):
                    args = [1]
                    state.last = 1
            elif kind == COLUMN:
                args = [rng.choice(self.columns)['number'],
                        rng.choice(self.strides)]
            else:
                args = [rng.choice([0, big])] if kind != NONE else []
                if kind == STRIDE:
                    args.append(rng.choice([8, MASK]))
            if kind:
                state.kind, state.args = kind, args
                if kind in (DELTA, STRIDE):
                    self.previous[self.key(number, record, field)] = args[0]
        return head + bytes([at, kind]) + \
            b''.join(self.put(a, self.int) for a in args)

    def section(self, number):
        rng, out = self.rng, b''
        records = self.records[number] if number else self.records[0]
        if number:
            records = records + self.records[0]
        self.previous = {k: v for k, v in self.previous.items()
                         if k[0] == 'column'}
        for record in records:
            for at, field in enumerate(self.leaves(record['tree'])):
                self.states[number, record['name'], at + 1] = State(field)
                if field.kind in (DELTA, STRIDE):
                    self.previous[self.key(number, record, field)] = \
                        field.args[0]
        for _ in range(rng.randrange(0, 60) if records else 0):
            record = rng.choice(records)
            while rng.random() < 0.3:
                out += self.metadata(number, record)
            if rng.random() < 0.05:
                out += self.put(1, self.tag_width) + b'\x03abc'
                self.expected.append({
                    'record': 'comment', 'section': self.name(number),
                    'fields': {'length': 3, 'data': 'abc'}})
            fields = {}
            out += self.put(record['tag'], self.tag_width)
            out += self.fill(number, record, record['tree'], 1, fields, {})
            self.expected.append({'record': record['name'],
                                  'section': self.name(number),
                                  'fields': fields})
            self.count += 1
        return out

    def name(self, number):
        return 's%d' % number if number else ''

    def trace(self, dtd):
        rng = self.rng
        self.order = rng.choice(['little', 'big'])
        self.int = rng.choice([4, 8])
        self.states, self.previous, self.values = {}, {}, {}
        self.expected, self.count = [], 0
        for column in self.columns:
            self.make_column(column)
        parts = [(0, self.section(0))]
        parts += [(n, self.section(n)) for n in self.numbers]
        columns = [(c['number'], self.values[c['number']]['bytes'])
                   for c in self.columns]
        used = [c for c in columns]
        parts += used
        has_dtd = rng.random() < 0.8
        name = b'random.dtd'
        entries = len(parts) - 1 + has_dtd
        at = 16 + 3 * self.int + len(name) + entries * 3 * self.int
        index, body = b'', b''

        def entry(number, start, size):
            return b''.join(self.put(n, self.int)
                            for n in (number, start, size))
        if has_dtd:
            index += entry(0, at, len(dtd))
            at += len(dtd)
        start = at
        for number, data in parts:
            if number:
                body += self.put(2, self.tag_width) + bytes([number])
                index += entry(number, start + len(body), len(data))
            body += data
        head = b'\x7fMTF' + bytes([self.int // 4,
                                   1 if self.order == 'little' else 2,
                                   len(name)]) + bytes(9)
        head += b''.join(self.put(n, self.int)
                         for n in (entries, start, self.count))
        return head + name + index + (dtd.encode() if has_dtd else b'') + body


def unique(fields, name):
    """The second 'name' of a record is 'name_2'."""
    if name not in fields:
        return name
    n = sum(1 for f in fields if f == name or (
        f.rpartition('_')[0] == name and f.rpartition('_')[2].isdigit())) + 1
    while '%s_%d' % (name, n) in fields:
        n += 1
    return '%s_%d' % (name, n)


def text_or_hex(data):
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {'hex': data.hex()}
    return text if all(c >= ' ' for c in text) else {'hex': data.hex()}


VLENGTH = Field(random.Random(1), True)
VLENGTH.name, VLENGTH.width, VLENGTH.kind = 'length', 1, NONE
VDATA = Field(random.Random(1), True)
VDATA.name, VDATA.bytes, VDATA.width_from = 'data', True, 'length'


def main():
    folder = sys.argv[2]
    maker = Maker(int(sys.argv[1]))
    dtd = maker.dtd()
    trace = maker.trace(dtd)
    with open(folder + '/random.dtd', 'w') as file:
        file.write(dtd)
    with open(folder + '/random.mtf', 'wb') as file:
        file.write(trace)
    with open(folder + '/random.json', 'w') as file:
        for record in maker.expected:
            file.write(json.dumps(record) + '\n')
    if not maker.is_writable():
        print('not writable')


main()
