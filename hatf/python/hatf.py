# SPDX-License-Identifier: MIT
"""
Read heap traces: HATF, and every other format that libhatf reads.

    import hatf

    with hatf.open("app.hatf.gz") as trace:
        for site in trace.sites()[:10]:
            print(site.allocated, site.live, site.name)

The module is one file that calls libhatf.so through ctypes.  If numpy is
installed, columns are numpy arrays, else array.array.  The module looks for the
library in $HATF_LIBRARY, in the tree that contains the module, and where the
system has its libraries.

Several threads may use a trace, one call at a time.
"""
import array
import collections
import ctypes
import mmap
import operator
import os
import sys
import threading
import weakref

try:
    import numpy
except ImportError:
    numpy = None

__all__ = ['Error', 'Event', 'Frame', 'Site', 'Trace', 'open', 'ALLOC', 'FREE',
           'REALLOC', 'THREAD_CREATE', 'THREAD_DESTROY',
           'HEAP_CREATE', 'HEAP_DESTROY', 'INHERITED', 'CARRIED', 'VIOLATION',
           'FAILED', 'COLUMNS']

# Kinds of events, and bits of the column 'flags'; see hatf_events.h.
(ALLOC, FREE, REALLOC, THREAD_CREATE, THREAD_DESTROY, HEAP_CREATE,
 HEAP_DESTROY) = range(7)
INHERITED, CARRIED, VIOLATION, FAILED = 1, 2, 4, 8

# The columns of a trace, in the order of struct hatf_event_columns.
COLUMNS = ('kind', 'flags', 'time', 'thread', 'heap', 'address', 'size',
           'old_address', 'old_size', 'object', 'stack')

Event = collections.namedtuple('Event', COLUMNS)
Event.__doc__ = 'A call of the program; the fields are those of the columns.'

Frame = collections.namedtuple('Frame',
                               'function file line object address offset')
Frame.__doc__ = 'A place in the code; None or 0: unknown.'

Site = collections.namedtuple(
    'Site', 'name frame allocations allocated live_blocks live peak')
Site.__doc__ = '''What one call site has allocated.
'allocations' and 'live_blocks' are counts; the other numbers are bytes.  'peak'
is how many bytes of the site were live when the whole program had the most live
bytes.'''

# How many rows are read at a time.
_ROWS = 1 << 18
_STATUS_OK, _STATUS_END = 0, 1
_open = open


class Error(Exception):
    """A trace cannot be read, or cannot be read to its end."""


# ------------------------------------------------------------------ the library

class _Error(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('sys_errno', ctypes.c_int),
                ('offset', ctypes.c_uint64), ('file_offset', ctypes.c_uint64),
                ('record', ctypes.c_uint64), ('line', ctypes.c_uint64),
                ('field', ctypes.c_char_p), ('compression', ctypes.c_char_p),
                ('reserved', ctypes.c_uint64 * 2)]


class _Options(ctypes.Structure):
    _fields_ = [('struct_nbytes', ctypes.c_size_t),
                ('format', ctypes.c_char_p), ('fd', ctypes.c_int),
                ('flags', ctypes.c_uint), ('jobs', ctypes.c_uint),
                ('reserved', ctypes.c_uint)]


class _Columns(ctypes.Structure):
    _fields_ = ([('struct_nbytes', ctypes.c_size_t)] +
                [(name, ctypes.c_void_p) for name in COLUMNS] +
                [('stacks', ctypes.c_void_p),
                 ('reserved', ctypes.c_uint64 * 2)])


class _Frame(ctypes.Structure):
    _fields_ = [('function', ctypes.c_char_p), ('file', ctypes.c_char_p),
                ('object', ctypes.c_char_p), ('line', ctypes.c_uint64),
                ('column', ctypes.c_uint64), ('end_column', ctypes.c_uint64),
                ('address', ctypes.c_uint64), ('offset', ctypes.c_uint64),
                ('reserved', ctypes.c_uint64)]


class _Stack(ctypes.Structure):
    _fields_ = [('parent', ctypes.c_uint64), ('frame', ctypes.c_uint64)]


_POINTER, _U64 = ctypes.c_void_p, ctypes.c_uint64
_FUNCTIONS = {
    'hatf_status_text': (ctypes.c_char_p, ctypes.c_int),
    'hatf_error_text': (ctypes.c_char_p, _POINTER, ctypes.c_char_p,
                        ctypes.c_size_t),
    'hatf_reader_open': (ctypes.c_int, ctypes.c_char_p, _POINTER, _POINTER,
                         _POINTER),
    'hatf_reader_close': (None, _POINTER),
    'hatf_reader_error': (_POINTER, _POINTER),
    'hatf_reader_format': (ctypes.c_char_p, _POINTER),
    'hatf_reader_header': (ctypes.c_char_p, _POINTER, ctypes.c_char_p),
    'hatf_events_open': (ctypes.c_int, _POINTER, _POINTER),
    'hatf_events_close': (None, _POINTER),
    'hatf_events_read_columns': (ctypes.c_int, _POINTER, _POINTER,
                                 ctypes.c_size_t, ctypes.c_size_t, _POINTER),
    'hatf_stacks_open': (ctypes.c_int, _POINTER),
    'hatf_stacks_close': (None, _POINTER),
    'hatf_stacks_get': (ctypes.c_bool, _POINTER, _U64, _POINTER),
    'hatf_stacks_get_frame': (ctypes.c_bool, _POINTER, _U64, _POINTER),
    'hatf_frame_hidden': (ctypes.c_uint, _POINTER),
}


def _candidates():
    """Yield the paths where the library may be."""
    name = 'libhatf.so.0'
    if os.environ.get('HATF_LIBRARY'):
        yield os.environ['HATF_LIBRARY']
        return
    tree = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    for folder in (os.path.join(tree, 'build', 'plain'),
                   os.path.join(sys.prefix, 'lib'), '/usr/local/lib'):
        if os.path.exists(os.path.join(folder, name)):
            yield os.path.join(folder, name)
    yield name


def _load():
    failures = []
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
            for function, (result, *arguments) in _FUNCTIONS.items():
                getattr(library, function).restype = result
                getattr(library, function).argtypes = arguments
            return library
        except (OSError, AttributeError) as why:
            failures.append(str(why))
    raise ImportError('libhatf.so.0 cannot be loaded; set HATF_LIBRARY to its '
                      'path: ' + '; '.join(failures))


_lib = _load()


def _text(raw):
    return raw.decode(errors='backslashreplace') if raw is not None else None


def _check(status):
    if status != _STATUS_OK:
        raise Error(_text(_lib.hatf_status_text(status)))


def _error_text(error):
    """Return the text of an error of the library; 'error' is its address."""
    buf = ctypes.create_string_buffer(1024)
    return _text(_lib.hatf_error_text(error, buf, len(buf)))


# ----------------------------------------------------------------------- passes

class _Pass:
    """One reading of a trace, from its start."""
    def __init__(self, path, jobs):
        self.path = path
        self.reader, self.events = _POINTER(), _POINTER()
        options = _Options(struct_nbytes=ctypes.sizeof(_Options), jobs=jobs)
        error = _Error()
        if _lib.hatf_reader_open(os.fsencode(path), ctypes.byref(options),
                                 ctypes.byref(self.reader),
                                 ctypes.byref(error)) != _STATUS_OK:
            raise Error(f'{path}: {_error_text(ctypes.byref(error))}')
        self._finalizer = weakref.finalize(self, _Pass._free, self.reader,
                                           self.events)
        _check(_lib.hatf_events_open(self.reader, ctypes.byref(self.events)))

    @staticmethod
    def _free(reader, events):
        _lib.hatf_events_close(events)
        _lib.hatf_reader_close(reader)

    def close(self):
        self._finalizer()

    def header(self, key):
        return _text(_lib.hatf_reader_header(self.reader, key.encode()))

    def format(self):
        return _text(_lib.hatf_reader_format(self.reader))

    def read(self, columns, first, count):
        """
        Fill up to 'count' rows of the columns, from row 'first' on.  Return how
        many rows were filled, 0 at the end, and the text of a fault or None.
        """
        got = ctypes.c_size_t()
        status = _lib.hatf_events_read_columns(
            self.events, ctypes.byref(columns), first, count,
            ctypes.byref(got))
        if status in (_STATUS_OK, _STATUS_END):
            return got.value, None
        return got.value, (f'{self.path}: '
                           f'{_error_text(_lib.hatf_reader_error(self.reader))}')


def _is_narrow(name):
    return name in ('kind', 'flags')


class _Column:
    """
    An array that grows.  Its memory is mapped, so growing moves pages and copies
    nothing.  Memory that was never written is zero.
    """
    def __init__(self, name, rows):
        self.width = 1 if _is_narrow(name) else 8
        self.memory = mmap.mmap(
            -1, rows * self.width,
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
            prot=mmap.PROT_READ | mmap.PROT_WRITE)
        if hasattr(mmap, 'MADV_HUGEPAGE'):
            self.memory.madvise(mmap.MADV_HUGEPAGE)

    def address(self):
        return ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def resize(self, rows):
        self.memory.resize(max(1, rows) * self.width)

    def array(self, rows):
        """Return the rows as an array.  Do not change the column afterwards."""
        self.resize(rows)
        if numpy is not None:
            result = numpy.frombuffer(
                self.memory, numpy.uint8 if self.width == 1 else numpy.uint64,
                rows)
            result.flags.writeable = False
            return result
        result = array.array('B' if self.width == 1 else 'Q')
        with memoryview(self.memory) as view:
            result.frombytes(view[:rows * self.width])
        self.memory.close()
        return result


# ----------------------------------------------------------------------- traces

class Trace:
    """A trace.  Make it by hatf.open()."""

    def __init__(self, path, partial=False, jobs=0):
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError('the path must be a string, bytes or a path, not '
                            + type(path).__name__)
        if not isinstance(jobs, int) or not 0 <= jobs <= 64:
            raise ValueError('jobs must be a number from 0 to 64')
        self.path = os.fspath(path)
        if b'\0' in os.fsencode(self.path):
            raise ValueError('the path contains a zero byte')
        self.partial = bool(partial)
        self.fault = None
        self._jobs = jobs
        self._lock = threading.RLock()
        # Arrays that the caller still has, by name.
        self._columns = weakref.WeakValueDictionary()
        self._sites = None
        self._stacks = None
        self._begin = _Pass(self.path, jobs)
        self.format = self._begin.format()

    def __enter__(self):
        self._check_open()
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        state = 'closed ' if self._begin is None else ''
        return f'<{state}hatf.Trace {self.path!r}>'

    def close(self):
        """Free the memory.  Arrays that were returned stay as they are."""
        with self._lock:
            if self._begin is not None:
                self._begin.close()
            if self._stacks is not None:
                self._close_stacks()
            self._begin = self._stacks = self._sites = None
            self._columns.clear()

    def _check_open(self):
        if self._begin is None:
            raise ValueError('the trace is closed')

    def header(self, key):
        """A line of the header, such as 'command' or 'pid'; None: no line."""
        with self._lock:
            self._check_open()
            if not isinstance(key, str) or '\0' in key:
                raise TypeError('the key must be a string')
            return self._begin.header(key)

    # ------------------------------------------------------------- the columns

    def arrays(self, *names):
        """
        All events as columns: a dict with an array for each of 'names' or,
        without arguments, for each name in COLUMNS.  The column 'stack' has ids
        for stack().

        A damaged or incomplete trace raises Error.  If it was opened with
        partial=True, the events before the damage or the missing end are
        returned instead, and 'fault' says what is wrong.

        The numpy arrays are read-only.  While the caller keeps them, later
        calls return the same arrays and do not read the trace again.
        """
        names = names or COLUMNS
        for name in names:
            if name not in COLUMNS:
                raise ValueError(f'no column {name!r}: want one of '
                                 + ', '.join(COLUMNS))
        with self._lock:
            self._check_open()
            columns = dict(self._columns)
            missing = [n for n in names if n not in columns]
            if missing:
                columns.update(self._read_columns(missing))
            # An array.array cannot be read-only, so later calls do not get the
            # same one.
            if numpy is not None:
                self._columns.update(columns)
            return {name: columns[name] for name in names}

    def _read_columns(self, names):
        stacks = self._open_stacks()
        trace = _Pass(self.path, self._jobs)
        columns = {name: _Column(name, _ROWS) for name in names}
        rows, room = 0, _ROWS
        try:
            while True:
                wanted = _Columns(struct_nbytes=ctypes.sizeof(_Columns),
                                  stacks=stacks)
                for name, column in columns.items():
                    setattr(wanted, name, column.address())
                got, fault = trace.read(wanted, rows, room - rows)
                rows += got
                if got == 0:
                    break
                if rows == room:
                    room *= 2
                    for column in columns.values():
                        column.resize(room)
        finally:
            trace.close()
        self._note_fault(fault)
        return {name: column.array(rows) for name, column in columns.items()}

    def _note_fault(self, fault):
        if fault is not None:
            self.fault = fault
            if not self.partial:
                raise Error(fault)

    def events(self):
        """
        Iterate over the events, in constant memory: Event tuples, in order.
        stack() knows the stacks of the events that the iterator has passed.
        """
        with self._lock:
            self._check_open()
            return self._each_event(self._open_stacks(),
                                    _Pass(self.path, self._jobs))

    def _each_event(self, stacks, trace):
        columns = {name: ((ctypes.c_uint8 if _is_narrow(name)
                           else ctypes.c_uint64) * 4096)()
                   for name in COLUMNS}
        wanted = _Columns(struct_nbytes=ctypes.sizeof(_Columns), stacks=stacks)
        for name, column in columns.items():
            setattr(wanted, name, ctypes.addressof(column))
        try:
            while True:
                with self._lock:
                    self._check_open()
                    got, fault = trace.read(wanted, 0, 4096)
                if got == 0:
                    self._note_fault(fault)
                    return
                for row in zip(*(columns[name][:got] for name in COLUMNS)):
                    if self._begin is None:
                        self._check_open()
                    yield Event._make(row)
        finally:
            trace.close()

    # --------------------------------------------------------------- the stacks

    def _open_stacks(self):
        if self._stacks is None:
            self._stacks = _POINTER()
            _check(_lib.hatf_stacks_open(ctypes.byref(self._stacks)))
            self._close_stacks = weakref.finalize(
                self, _lib.hatf_stacks_close, self._stacks)
        return self._stacks

    def _frame(self, frame_id):
        frame = _Frame()
        if not _lib.hatf_stacks_get_frame(self._stacks, frame_id,
                                          ctypes.byref(frame)):
            return None, 0
        return (Frame(_text(frame.function), _text(frame.file), frame.line,
                      _text(frame.object), frame.address, frame.offset),
                _lib.hatf_frame_hidden(ctypes.byref(frame)))

    def _walk(self, stack_id):
        """
        The frames of a stack, innermost first, each with the bits that
        hatf_frame_hidden() returns for it.
        """
        stack = _Stack()
        while stack_id and _lib.hatf_stacks_get(self._stacks, stack_id,
                                                ctypes.byref(stack)):
            yield self._frame(stack.frame)
            stack_id = stack.parent

    def stack(self, stack_id):
        """
        The frames of a stack, the innermost first; empty for 0 and for unknown
        ids.  Read the events first: they define the stacks.
        """
        with self._lock:
            self._check_open()
            stack_id = operator.index(stack_id)
            if not 0 <= stack_id < 1 << 64:
                raise ValueError('the id of a stack must be from 0 to 2^64 - 1')
            if self._stacks is None:
                return []
            return [frame for frame, _ in self._walk(stack_id)
                    if frame is not None]

    def _site_frame(self, stack_id):
        """The innermost frame of the program's own code."""
        first = None
        for frame, bits in self._walk(stack_id):
            if frame is None:
                break
            if first is None:
                first = frame
            if bits == 0:
                return frame
        return first

    # ---------------------------------------------------------------- the sites

    def sites(self, by='allocated'):
        """
        What each call site has allocated: a list of Site, the one with the
        largest value of 'by' first.  A site is the innermost line of the
        program's own code: allocators and standard libraries do not count, as
        in 'hatf stat --fold-std'.
        """
        if by not in Site._fields[2:]:
            raise ValueError(f'cannot sort by {by!r}: want one of '
                             + ', '.join(Site._fields[2:]))
        with self._lock:
            self._check_open()
            if self._sites is None:
                self._sites = self._count_sites()
            return sorted(self._sites, key=lambda s: (-getattr(s, by), s.name))

    def _count_sites(self):
        columns = self.arrays('kind', 'flags', 'heap', 'address', 'size',
                              'old_address', 'object', 'stack')
        rows = (_count_by_numpy if numpy is not None
                else _count_by_hand)(columns)
        sums = {}
        for stack_id, values in rows.items():
            frame = self._site_frame(stack_id)
            name = _site_name(frame) if stack_id else '[no stack]'
            old = sums.get(name, (frame, (0,) * len(values)))
            sums[name] = (old[0], tuple(map(sum, zip(old[1], values))))
        return [Site(name, frame, *values)
                for name, (frame, values) in sums.items()]

    def live_bytes(self):
        """
        The bytes that were live after each event.  Return two arrays: the times
        of the events, in the unit of the header, and the bytes.
        """
        columns = self.arrays('kind', 'flags', 'heap', 'address', 'size',
                              'old_address', 'object', 'time')
        if numpy is not None:
            return columns['time'], _blocks_by_numpy(columns)[3]
        live, total = array.array('q'), 0
        for delta in _deltas_by_hand(columns):
            total += delta
            live.append(total)
        return columns['time'], live


def open(path, partial=False, jobs=0):
    """
    Open a trace in any format.  'jobs' is the number of threads that inflate
    ahead, 0 to 64.  With 'partial', a damaged or incomplete trace is read as
    far as possible.  Raises Error if there is no trace at 'path'.
    """
    return Trace(path, partial, jobs)


# ------------------------------------------------------------------- the counts

def _site_name(frame):
    """The name that 'hatf stat' gives a frame."""
    if frame is None:
        return '[unknown]'
    place = frame.file
    if place is not None and frame.line:
        place += f':{frame.line}'
    if frame.function is not None:
        return f'{frame.function} ({place})' if place else frame.function
    if place is not None:
        return place
    if frame.object is not None and frame.offset:
        return f'{frame.object}+0x{frame.offset:x}'
    if frame.address:
        where = f' ({frame.object})' if frame.object is not None else ''
        return f'0x{frame.address:x}{where}'
    return '[unknown]'


def _blocks_by_numpy(c):
    """
    Return four arrays.  The first three have an element for each block: the row
    of the event that allocated it; the row of the event that freed or resized
    it, or the number of events if none did; and its size.  The fourth has the
    bytes that are live after each event.
    """
    kind, flags = c['kind'], c['flags']
    count = len(kind)
    failed = (flags & FAILED) != 0
    begins = ((kind == ALLOC) | ((kind == REALLOC) & (c['address'] != 0))
              ) & ~failed
    ends = ((kind == FREE) | ((kind == REALLOC) & (c['old_address'] != 0))
            ) & ~failed
    rows = numpy.nonzero((begins | ends) & (c['object'] != 0))[0]
    order = rows[numpy.argsort(c['object'][rows], kind='stable')]
    following = numpy.full(count, count, numpy.int64)
    if len(order) > 1:
        same = c['object'][order[1:]] == c['object'][order[:-1]]
        following[order[:-1][same]] = order[1:][same]
    first = numpy.nonzero(begins)[0]
    last = following[first]
    # If a heap is destroyed, all its blocks end.
    for row in numpy.nonzero(kind == HEAP_DESTROY)[0]:
        dead = (c['heap'][first] == c['heap'][row]) & (first < row)
        last[dead & (last > row)] = row
    size = c['size'][first].astype(numpy.int64)
    delta = numpy.zeros(count + 1, numpy.int64)
    numpy.add.at(delta, first, size)
    numpy.subtract.at(delta, last, size)
    return first, last, size, numpy.cumsum(delta[:count])


def _count_by_numpy(c):
    """{stack: (allocations, bytes, live blocks, live bytes, bytes at peak)}"""
    first, last, size, live = _blocks_by_numpy(c)
    if len(first) == 0:
        return {}
    peak = int(numpy.argmax(live))
    stacks, code = numpy.unique(c['stack'][first], return_inverse=True)
    is_new = (c['flags'][first] & CARRIED) == 0
    at_end = last == len(live)
    at_peak = (first <= peak) & (last > peak)

    def count(chosen):
        return numpy.bincount(code[chosen], minlength=len(stacks))

    def nbytes(chosen):
        total = numpy.zeros(len(stacks), numpy.int64)
        numpy.add.at(total, code[chosen], size[chosen])
        return total

    columns = (count(is_new), nbytes(is_new), count(at_end), nbytes(at_end),
               nbytes(at_peak))
    return {int(stack): tuple(int(column[i]) for column in columns)
            for i, stack in enumerate(stacks)}


def _changes_by_hand(c):
    """
    For each event, yield the list of blocks that end, and the block that begins
    or None.  A block is (heap, address, size, stack, is new).
    """
    live = {}  # by heap and address
    for kind, flags, heap, address, size, old, stack in zip(
            c['kind'], c['flags'], c['heap'], c['address'], c['size'],
            c['old_address'], c['stack'] if 'stack' in c else c['size']):
        ended, begun = [], None
        if flags & FAILED:
            pass
        elif kind == HEAP_DESTROY:
            ended = [live.pop(key) for key in [k for k in live
                                               if k[0] == heap]]
        elif kind <= REALLOC:
            if kind != ALLOC and (heap, old) in live:
                ended.append(live.pop((heap, old)))
            if kind != FREE and address:
                if (heap, address) in live:
                    ended.append(live.pop((heap, address)))
                begun = heap, address, size, stack, not flags & CARRIED
                live[heap, address] = begun
        yield ended, begun


def _deltas_by_hand(c):
    for ended, begun in _changes_by_hand(c):
        yield (begun[2] if begun else 0) - sum(block[2] for block in ended)


def _count_by_hand(c):
    """Do what _count_by_numpy() does, without numpy."""
    rows, live, peak, peak_row = {}, 0, -1, 0
    for row, delta in enumerate(_deltas_by_hand(c)):
        live += delta
        if live > peak:
            peak, peak_row = live, row
    for row, (ended, begun) in enumerate(_changes_by_hand(c)):
        for _, _, size, stack, _ in ended:
            rows[stack][2] -= 1
            rows[stack][3] -= size
        if begun:
            _, _, size, stack, is_new = begun
            counts = rows.setdefault(stack, [0] * 5)
            counts[0] += is_new
            counts[1] += size * is_new
            counts[2] += 1
            counts[3] += size
        if row == peak_row:
            for counts in rows.values():
                counts[4] = counts[3]
    return {stack: tuple(counts) for stack, counts in rows.items()}
