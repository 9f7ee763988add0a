"""`anchorhold_reference.extract.literals`, function by function: the literals of one line."""

from anchorhold_native.characters cimport Py_UNICODE_ISALNUM, Py_UNICODE_ISSPACE, PyUnicode_READ, part
from anchorhold_native.line cimport Line
from anchorhold_native.patterns cimport Found, Pattern
from anchorhold_native.words cimport Literal, Word
from cpython.object cimport PyObject

from anchorhold_reference.extract import doubts, patterns, text
from anchorhold_reference.extract import words as python

cdef int HEDGE = python.HEDGE
cdef int TIME = python.TIME
cdef int CAPITAL = python.CAPITAL
cdef int JOINER = python.JOINER
cdef int QUOTE = python.QUOTE
cdef int WIDE = python.WIDE
cdef str AMOUNT = python.AMOUNT
cdef str OPTION = python.OPTION
cdef str _NUMBER = "number"
cdef str _IDENTIFIER = "identifier"
cdef str _TIME = "timestamp"
cdef str _ENTITY = "entity"
cdef str _QUOTED = "quotation"

cdef Pattern _TIMESTAMP = Pattern(patterns.TIMESTAMP, "search")
cdef Pattern _QUOTATION = Pattern(patterns.QUOTATION, "search")
cdef Pattern _HEDGES = Pattern(doubts.HEDGE, "search")


cdef tuple negators(Line line):
    """What negates in a line."""
    cdef Py_ssize_t i, at, begin, end
    cdef Word word
    spans = []
    for i in range(line.telling):
        word = line.word(line.told[i])
        at = line.words[line.told[i]].at
        for begin, end in word.negators:
            spans.append((at + begin, at + end))
    return tuple(spans)


cdef tuple hedges(Line line):
    """What hedges in a line; hedges of several words are looked for beside the words that hint at them."""
    cdef Py_ssize_t i, number, at, begin, end, low, high, done = 0, last = line.many - 1
    cdef Word word
    cdef Found found
    spans = []
    for i in range(line.telling):
        number = line.told[i]
        word = line.word(number)
        if not line.flags & WIDE:
            at = line.words[number].at
            for begin, end in word.hedges:
                spans.append((at + begin, at + end))
        elif word.flags & HEDGE:
            low = max(done, line.words[number - 1].at if number else 0)
            high = line.words[min(number + 1, last)].at + line.words[min(number + 1, last)].size
            while _HEDGES.find(line.text, low, high, &found):
                spans.append((found.begin, found.end))
                low = done = found.end
    return tuple(spans)


cdef int literals(Line line) except -1:
    """Find the literals of a line, in order; with the key those whose sentence does not matter."""
    cdef Py_ssize_t i, j, number, here, begin, end, unit = 0, last = line.many - 1
    cdef Word word, after
    cdef Literal* one
    cdef PyObject* kind
    cdef PyObject* own
    cdef tuple times = _TIMESTAMP.spans(line.text, 0, line.length) if line.flags & TIME else ()
    for i in range(line.telling):
        number = line.told[i]
        word = line.word(number)
        here = line.words[number].at
        for j in range(word.many):
            one = &word.literals[j]
            kind, own = one.kind, one.text
            begin = here + one.begin
            end = here + one.end
            if begin < unit:  # what belongs to the number before it is no literal of its own
                continue
            if kind == <PyObject*>AMOUNT:
                kind = <PyObject*>_NUMBER
                after = line.word(number + 1) if number < last else None
                if after is not None and after.unit and line.words[number + 1].at == end + 1:
                    end += 1 + after.unit
                    unit = end
                    own = NULL
            elif kind == <PyObject*>OPTION:
                kind = <PyObject*>_IDENTIFIER
                if begin == 0:  # a line that was removed, in a difference of two files
                    continue
            if not times or not _overlap(times, begin, end):
                line.hold(kind, begin, end, own, NULL if one.key == <PyObject*>None else one.key)
    cdef list names = _names(line) if line.flags & CAPITAL else []
    if times or names or line.flags & QUOTE:
        for begin, end in times:
            line.hold(<PyObject*>_TIME, begin, end, NULL, NULL)
        for begin, end in names:
            if not times or not _overlap(times, begin, end):
                line.hold(<PyObject*>_ENTITY, begin, end, NULL, NULL)
        if line.flags & QUOTE:
            for begin, end in _quotations(line):
                line.hold(<PyObject*>_QUOTED, begin, end, NULL, NULL)
        line.sort()
    return 0


cdef object _quotations(Line line):
    """What the pattern finds; where only plain quotation marks stand, from mark to mark."""
    if "“" in line.text or "«" in line.text:
        return _QUOTATION.spans(line.text, 0, line.length)
    cdef Py_ssize_t begin = 0, end, at
    cdef list spans = []
    while True:
        begin = _mark(line, begin)
        if begin < 0:
            return spans
        end = _mark(line, begin + 1)
        if end < 0:
            return spans
        # Both marks as the pattern has them: outside no word, inside no white space, nor another line.
        if (
            2 <= end - begin - 1 <= 400
            and not (begin and (_in_word(line, begin - 1) or PyUnicode_READ(line.kind, line.data, begin - 1) == u"\\"))
            and not Py_UNICODE_ISSPACE(PyUnicode_READ(line.kind, line.data, begin + 1))
            and not Py_UNICODE_ISSPACE(PyUnicode_READ(line.kind, line.data, end - 1))
            and not (end + 1 < line.length and _in_word(line, end + 1))
        ):
            for at in range(begin, end):
                if PyUnicode_READ(line.kind, line.data, at) == u"\n":
                    break
            else:
                spans.append((begin, end + 1))
                end += 1
        begin = end


cdef inline Py_ssize_t _mark(Line line, Py_ssize_t at):
    """Where the next quotation mark stands; -1: nowhere."""
    while at < line.length:
        if PyUnicode_READ(line.kind, line.data, at) == u'"':
            return at
        at += 1
    return -1


cdef inline bint _in_word(Line line, Py_ssize_t at):
    """Whether a character is one of `\\w`."""
    cdef Py_UCS4 character = PyUnicode_READ(line.kind, line.data, at)
    return Py_UNICODE_ISALNUM(character) or character == u"_"


cdef bint _overlap(tuple spans, Py_ssize_t start, Py_ssize_t end) except -1:
    """Whether one of these, which stand in order and apart, has a place in common with what is between these two."""
    cdef Py_ssize_t low = 0, high = len(spans), middle
    while low < high:
        middle = (low + high) // 2
        if <Py_ssize_t>spans[middle][0] < end:
            low = middle + 1
        else:
            high = middle
    return low > 0 and start < <Py_ssize_t>spans[low - 1][1]


cdef list _names(Line line):
    """Names: capitalised words in a row, or one by itself inside a sentence."""
    cdef Py_ssize_t t, i, first, start, latest, size, finish, done = 0, end = line.many
    cdef bint many
    cdef Word word, following
    cdef Py_UCS4 before
    cdef list names = []
    for t in range(line.telling):
        first = line.told[t]
        word = line.word(first)
        if word.capital_begin < 0 or first < done:
            continue
        start = line.words[first].at + word.capital_begin
        latest, many, size = first, False, word.capital_end
        i = first + 1
        while i < end:
            # A name goes on in the next word, with one blank between and nothing behind the last one.
            if size != line.words[latest].size or not line.at_end(i):
                break
            following = line.word(i)
            if following is None:
                break
            if following.capital_begin == 0:
                latest, many, size = i, True, following.capital_end
            elif not (i == latest + 1 and following.flags & JOINER and i + 1 < end and line.at_end(i + 1)):
                break
            i += 1
        done = i
        finish = line.words[latest].at + size
        if many:
            names.append((start, finish))
        elif (
            first > 0
            and start == line.words[first].at
            and finish - start > 2
            and part(line.text, start + 1, finish).islower()
        ):
            before = PyUnicode_READ(line.kind, line.data, line.words[first - 1].at + line.words[first - 1].size - 1)
            if u"a" <= before <= u"z" or before == u"," or before == u";":
                names.append((start, finish))
    return names
