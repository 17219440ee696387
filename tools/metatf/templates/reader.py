import sys
import zlib

NUMBER, BYTES = 0, 1
FIELD, NESTED, REPEAT = 0, 1, 2
DATA, COMMENT, SECTION, METADATA = 0, 1, 2, 3
WIDTH, NONE, BASE_OFFSET, DELTA, DEFAULT, SECTION_OFFSET, STRIDE, \
    SECTION_STRIDE = range(8)
MASK = (1 << 64) - 1
UNFINISHED = MASK
MAX_VALUES = 1 << 20
MAX_BYTES = 64 << 20


class Error(Exception):
    """What is wrong with a trace; 'offset' and 'record' say where."""

    def __init__(self, text, offset=None, record=None):
        place = ''
        if offset is not None:
            place = 'offset 0x%x, record %d: ' % (offset, record)
        super().__init__(place + text)
        self.offset, self.record = offset, record


class Record:
    """
    A record of a trace.

    'name' and 'section' are as in the DTD.  'fields' is a dict; what is nested
    is a dict in it, what is repeated a list.  Bytes are bytes.
    """
    __slots__ = 'name', 'section', 'fields', 'offset'

    def __init__(self, name, section, fields, offset):
        self.name, self.section = name, section
        self.fields, self.offset = fields, offset

    def __repr__(self):
        return '%s(%s)' % (self.name, ', '.join(
            '%s=%r' % item for item in self.fields.items()))


class _State:
    """How a field is stored now."""

    def __init__(self, field):
        self.kind, self.history = field['kind'], field['history']
        self.width = self.last_width = field['width']
        self.width_from = field['width_from']
        self.interpretation, self.args = NONE, (0, 0)


class _Cursor:
    """A section that is being read."""

    def __init__(self, section, data, start, end):
        self.section, self.data, self.at, self.end = section, data, start, end
        self.previous = [0] * section['histories']
        self.states = []
        self.by_tag = {}
        self.held, self.skipped = None, 0
        self.is_busy = False
        for record in reversed(section['records']):
            self.by_tag[record['tag']] = record
        for record in section['records']:
            for field in record['fields']:
                state = _State(field)
                self.states.append(state)
                if state.kind == NUMBER:
                    self.set(state, field['interpretation'], field['args'])

    def set(self, state, interpretation, args):
        state.interpretation, state.args = interpretation, args
        state.width = state.last_width
        if interpretation in (DEFAULT, STRIDE, SECTION_STRIDE):
            state.width = 0
        if interpretation in (DELTA, STRIDE):
            self.previous[state.history] = args[0]


class Reader:
    """
    The records of a trace, in the order of the file.

        for record in Reader('trace.mtf'):
            print(record.name, record.fields)

    Metadata is carried out and not returned.  Raises Error where the trace is
    wrong.  The whole file is read into memory.
    """

    def __init__(self, path):
        with open(path, 'rb') as file:
            self._data = memoryview(file.read())
        self._count = 0
        self._position = 0
        self._read_header()
        self._columns = {}
        self._seen = set()
        self._budget = self._bytes = 0

    # ---------------------------------------------------------------- header

    def _read_header(self):
        data = self._data
        if len(data) < 16 or bytes(data[:4]) != b'\x7fMTF':
            raise Error('not a Meta-TF trace')
        if data[4] not in (1, 2) or data[5] not in (1, 2) or data[7] > 1 or \
                any(data[8:16]):
            raise Error('header: a byte has a value without meaning')
        self._order = 'little' if data[5] == 1 else 'big'
        self._int = 4 * data[4]
        self._is_compressed = data[7] == 1
        name_end = 16 + 3 * self._int + data[6]
        if len(data) < name_end:
            raise Error('header: the file ends in it')
        sections, self._start, records = self._ints(16, 3)
        if self._int == 4 and records == 0xffffffff:
            records = UNFINISHED
        self.record_count = records
        self.is_complete = records != UNFINISHED
        if sections > 256 or \
                len(data) < name_end + 3 * sections * self._int or \
                self._start > len(data):
            raise Error('header: the file ends in it')
        self._index = {}
        for i in range(sections):
            number, start, size = self._ints(name_end + 3 * i * self._int, 3)
            if number > 255 or number in self._index or \
                    start + size > len(data):
                raise Error('header: an entry of a section is wrong')
            self._index[number] = start, size

    def _ints(self, at, count):
        return [int.from_bytes(
            self._data[at + i * self._int:at + (i + 1) * self._int],
            self._order) for i in range(count)]

    # --------------------------------------------------------------- sections

    def _fail(self, text):
        raise Error(text, self._position, self._count)

    def _open(self, number):
        section = next(s for s in SCHEMA if s['number'] == number)
        if number not in self._index:
            self._fail('the header does not list section %s' % section['name'])
        start, size = self._index[number]
        if not self._is_compressed:
            return _Cursor(section, self._data, start, start + size)
        inflate = zlib.decompressobj(31)
        try:
            data = inflate.decompress(self._data[start:start + size])
        except zlib.error as error:
            self._fail('the compressed data are damaged: %s' % error)
        return _Cursor(section, memoryview(data), 0, len(data))

    def __iter__(self):
        outer = _Cursor(SCHEMA[0], self._data, self._start, len(self._data))
        current, is_between = outer, False
        while True:
            if current is not outer and current.end is not None and \
                    current.at >= current.end and \
                    current.section['number'] in self._index:
                current, is_between = outer, True
            if current.at >= current.end:
                break
            self._position = current.at
            self._budget, self._bytes = MAX_VALUES, 0
            record = self._tag(current)
            role = record['role']
            if is_between and role not in (SECTION, COMMENT):
                self._fail('expected a section record after a section')
            if role == METADATA:
                self._metadata(current)
                continue
            fields = self._record(current, record)
            if role == SECTION:
                current = self._enter(outer, current, fields['number'])
                is_between = False
                continue
            yield Record(record['name'], current.section['name'], fields,
                         self._position)
            self._count += role == DATA
        if self.is_complete and self._count != self.record_count:
            self._position = len(self._data)
            self._fail('the trace has %d records, its header says %d' %
                       (self._count, self.record_count))

    def _enter(self, outer, current, number):
        section = next((s for s in SCHEMA if s['number'] == number), None)
        if section is None or number == 0:
            self._fail('section %d is not defined' % number)
        if number in self._seen:
            self._fail('section %s comes twice' % section['name'])
        self._seen.add(number)
        if number not in self._index:
            if section['is_plain'] or self._is_compressed:
                self._fail('the header does not list section %s' %
                           section['name'])
            return _Cursor(section, self._data, current.at, len(self._data))
        start, size = self._index[number]
        if start != current.at or current is not outer:
            self._fail('section %s does not start where the header says' %
                       section['name'])
        outer.at = start + size
        cursor = self._open(number)
        if section['is_column'] or number in self._columns:
            cursor.at = cursor.end
        return cursor

    # ---------------------------------------------------------------- records

    def _take(self, cursor, nbytes):
        at = cursor.at
        if nbytes > cursor.end - at:
            self._fail('the trace ends in this record')
        cursor.at = at + nbytes
        return cursor.data[at:at + nbytes]

    def _tag(self, cursor):
        if cursor.section['is_plain']:
            return cursor.section['records'][0]
        tag = int.from_bytes(self._take(cursor, TAG_WIDTH), self._order)
        if tag not in cursor.by_tag:
            self._fail('no record of section %s has tag %d' %
                       (cursor.section['name'] or 'global', tag))
        return cursor.by_tag[tag]

    def _record(self, cursor, record):
        fields = {}
        self._steps(cursor, record, {}, 0, len(record['steps']), fields)
        return fields

    def _spend(self, count):
        self._budget -= count
        if self._budget < 0:
            self._fail('more than %d values' % MAX_VALUES)

    def _steps(self, cursor, record, last, first, end, fields):
        at = first
        while at < end:
            kind, name, field, after, is_scalar = record['steps'][at]
            if kind == FIELD:
                self._spend(1)
                value = self._field(cursor, record, field, last)
                if not record['fields'][field]['is_tag']:
                    fields[name] = value
                at += 1
                continue
            if kind == NESTED:
                fields[name] = {}
                self._steps(cursor, record, last, at + 1, after, fields[name])
            else:
                items = fields[name] = []
                self._spend(last[field])
                for _ in range(last[field]):
                    item = {}
                    self._steps(cursor, record, last, at + 1, after, item)
                    items.append(*item.values()) if is_scalar \
                        else items.append(item)
            at = after

    def _field(self, cursor, record, position, last):
        field = record['fields'][position]
        state = cursor.states[record['first_field'] + position]
        if field['is_tag']:
            last[position] = record['tag']
            return record['tag']
        if state.kind == BYTES:
            nbytes = state.width if state.width_from is None \
                else last[state.width_from]
            self._bytes += nbytes
            if self._bytes > MAX_BYTES:
                self._fail('more than %d bytes' % MAX_BYTES)
            return bytes(self._take(cursor, nbytes))
        value = last[position] = self._number(cursor, state)
        if field['has_value']:
            want = field['value'] if field['value_from'] is None \
                else last[field['value_from']]
            if value != want:
                self._fail('%s: field %s is %d, not %d' %
                           (record['name'], field['name'], value, want))
        return value

    def _number(self, cursor, state):
        kind, args = state.interpretation, state.args
        if kind == SECTION_STRIDE:
            return self._element(*args)
        stored = self._take(cursor, state.width)
        is_signed = kind in (BASE_OFFSET, DELTA)
        value = int.from_bytes(stored, self._order, signed=is_signed)
        if kind in (DEFAULT, BASE_OFFSET):
            value += args[0]
        elif kind == STRIDE:
            value += cursor.previous[state.history] + args[1]
        elif kind == DELTA:
            value += cursor.previous[state.history]
        cursor.previous[state.history] = value & MASK
        return value & MASK

    # ----------------------------------------------------- metadata, elements

    def _metadata(self, cursor):
        tag = int.from_bytes(self._take(cursor, TAG_WIDTH), self._order)
        position, property_ = self._take(cursor, 2)
        if property_ > SECTION_STRIDE:
            self._fail('metadata: there is no property %d' % property_)
        count = {NONE: 0, STRIDE: 2, SECTION_STRIDE: 2}.get(property_, 1)
        args = [0, 0]
        for i in range(count):
            args[i] = int.from_bytes(self._take(cursor, self._int),
                                     self._order, signed=i == 1) & MASK
        record = cursor.by_tag.get(tag)
        if record is None or record['role'] != DATA:
            self._fail('metadata: no data record has tag %d' % tag)
        if position >= len(record['fields']) or \
                record['fields'][position]['is_tag']:
            self._fail('metadata for %s: the record has no field %d' %
                       (record['name'], position))
        field = record['fields'][position]
        state = cursor.states[record['first_field'] + position]
        if state.kind == BYTES:
            self._set_bytes(state, field, property_, args[0])
        elif property_ == WIDTH:
            self._set_width(state, args[0])
        else:
            self._check_section(cursor, property_, args[0])
            cursor.set(state, property_, args)

    def _set_bytes(self, state, field, property_, width):
        if property_ == NONE:
            state.width, state.width_from = field['width'], field['width_from']
        elif property_ != WIDTH or width > 1 << 20:
            self._fail('metadata: a field of bytes cannot be so')
        else:
            state.width, state.width_from = width, None

    def _set_width(self, state, width):
        if width > 8:
            self._fail('metadata: the width of a number exceeds 8')
        if width:
            state.last_width = width
        if state.interpretation not in (DEFAULT, STRIDE, SECTION_STRIDE):
            state.width = width

    def _check_section(self, cursor, property_, number):
        if property_ not in (SECTION_OFFSET, SECTION_STRIDE):
            return
        section = next((s for s in SCHEMA if s['number'] == number), None)
        if section is None or number == 0:
            self._fail('metadata: section %d is not defined' % number)
        if property_ == SECTION_STRIDE and (
                section is cursor.section or not section['has_elements']):
            self._fail('metadata: section %d has no numbers' % number)

    def _element(self, number, stride):
        if number not in self._columns:
            self._columns[number] = self._open(number)
        column = self._columns[number]
        if column.is_busy:
            self._fail('section %s takes numbers from itself' %
                       column.section['name'])
        column.is_busy = True
        value = column.held
        if value is None:
            for _ in range(column.skipped):
                self._next_element(column)
            value = self._next_element(column)
        column.held = value if stride == 0 else None
        column.skipped = max(stride - 1, 0)
        column.is_busy = False
        return value

    def _next_element(self, column):
        data = column.section['records'][0]
        while True:
            if column.at >= column.end:
                self._fail('section %s has no more numbers' %
                           column.section['name'])
            record = self._tag(column)
            if record is data:
                position = 1 if data['fields'][0]['is_tag'] else 0
                return self._number(
                    column, column.states[data['first_field'] + position])
            if record['role'] == METADATA:
                self._metadata(column)
            elif record['role'] == COMMENT:
                self._record(column, record)
            else:
                self._fail('a section record inside a section')


def main():
    """Print the records of each file, one a line, as JSON."""
    import json

    def plain(value):
        if isinstance(value, bytes):
            return {'hex': value.hex()}
        raise TypeError(value)

    for path in sys.argv[1:]:
        try:
            for record in Reader(path):
                print(json.dumps({'record': record.name,
                                  'section': record.section,
                                  'fields': record.fields}, default=plain))
        except (Error, OSError) as error:
            sys.exit('%s: %s' % (path, error))


if __name__ == '__main__':
    main()
