"""The sentences of a line: `lines._sentences` and, of `text`, `bounds`, `plain` and `read_sentence`."""

cimport cython

from anchorhold_native.characters cimport Py_UNICODE_ISSPACE, PyUnicode_READ, part
from anchorhold_native.line cimport Line
from anchorhold_native.literals cimport hedges, negators
from anchorhold_native.patterns cimport Found, Pattern

from anchorhold_reference.extract import text as python
from anchorhold_reference.extract import words

cdef int STOP = words.STOP
cdef int NEGATION = words.NEGATION
cdef int HEDGE = words.HEDGE
cdef int BULLET = words.BULLET
cdef int SPEAKER = words.SPEAKER
cdef dict _SPEAKERS = python.SPEAKERS

cdef Pattern _STOP = Pattern(python._STOP, "search")
cdef Pattern _ABBREVIATED = Pattern(python._ABBREVIATED, "search")
cdef Pattern _ENUMERATOR = Pattern(python._ENUMERATOR, "fullmatch")
cdef Pattern _BULLET = Pattern(python._BULLET, "match")
cdef Pattern _ATTRIBUTION = Pattern(python._ATTRIBUTION, "match")


@cython.no_gc
cdef class Sentence:
    """`text.Sentence`; the reference's own code takes it for one, too."""

    @property
    def negated(self):
        return bool(self.negators)

    @property
    def hedged(self):
        return bool(self.hedges)


cdef Sentence sentence_of(tuple values):
    """The sentence of a tuple as `text.Sentence` is one."""
    cdef Sentence result = Sentence.__new__(Sentence)
    result.start, result.line, result.body, result.end = values[0], values[1], values[2], values[3]
    result.speaker, result.negators, result.hedges, result.question = values[4], values[5], values[6], values[7]
    return result


cdef tuple values_of(Sentence sentence):
    """The other way round."""
    return (
        sentence.start,
        sentence.line,
        sentence.body,
        sentence.end,
        sentence.speaker,
        sentence.negators,
        sentence.hedges,
        sentence.question,
    )


cdef list sentences(Line line):
    """The sentences of a line in which a word says something."""
    cdef Py_ssize_t i, last = line.many - 1
    cdef bint several = False, bulleted, attributed
    if line.flags & STOP:
        for i in range(line.telling):
            if line.told[i] < last and line.word(line.told[i]).flags & STOP:
                several = True
                break
    bulleted = line.flags & BULLET != 0 and (
        several or (line.told[0] == 0 and line.word(line.told[0]).flags & BULLET != 0)
    )
    attributed = line.flags & SPEAKER != 0
    if attributed and not several and not bulleted:
        # A speaker's name is the first word or, behind an article, the second.
        attributed = False
        for i in range(min(2, line.telling)):
            if line.told[i] < 2 and line.word(line.told[i]).flags & SPEAKER:
                attributed = True
    cdef tuple denies = negators(line) if line.flags & NEGATION else ()
    cdef tuple doubts = hedges(line) if line.flags & HEDGE else ()
    if not (several or bulleted or attributed):
        return [_plain(line, denies, doubts)]
    if not several:
        return [_read(line, 0, line.length, bulleted, attributed, denies, doubts)]
    cdef Py_ssize_t start = 0, at = 0
    cdef Found stop
    cdef list result = []
    while _STOP.find(line.text, at, line.length, &stop):
        at = stop.end
        if not _goes_on(line, start, stop.begin, stop.end):
            result.append(_read(line, start, at, bulleted, attributed, denies, doubts))
            start = at
    if start < line.length:
        result.append(_read(line, start, line.length, bulleted, attributed, denies, doubts))
    return result


cdef bint _goes_on(Line line, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t end):
    """Whether a point, and the white space up to `end`, is of an abbreviation or of a number in front of a list's item."""
    cdef Found found
    if PyUnicode_READ(line.kind, line.data, stop) != u".":
        return False
    cdef str head = part(line.text, max(start, stop - 8), stop + 1)
    return _ABBREVIATED.find(head, 0, len(head), &found) or _ENUMERATOR.find(line.text, 0, end, &found)


cdef Sentence _plain(Line line, tuple denies, tuple doubts):
    """A line that is one sentence and says nothing of bullets and speakers."""
    cdef Sentence result = Sentence.__new__(Sentence)
    result.end = _trimmed(line, 0, line.length)
    result.negators, result.hedges = denies, doubts
    result.question = PyUnicode_READ(line.kind, line.data, result.end - 1) == u"?"
    return result


cdef Sentence _read(
    Line line, Py_ssize_t start, Py_ssize_t end, bint bulleted, bint attributed, tuple denies, tuple doubts
):
    """The sentence between two places of a line; a bullet or a speaker's name may stand before it."""
    cdef Found found
    cdef Sentence result = Sentence.__new__(Sentence)
    cdef Py_ssize_t stop = _trimmed(line, start, end), own = start
    if bulleted:
        if _BULLET.find(line.text, start, stop, &found):
            own = found.end
    else:
        while own < stop and Py_UNICODE_ISSPACE(PyUnicode_READ(line.kind, line.data, own)):
            own += 1
    result.start = start
    result.line = own
    result.body = own
    result.end = stop
    if attributed and _ATTRIBUTION.find(line.text, own, stop, &found):
        result.speaker = _SPEAKERS[part(line.text, found.group_begin, found.group_end).lower()]
        result.body = found.end
    result.negators = _inside(denies, result.body, stop)
    result.hedges = _inside(doubts, result.body, stop)
    result.question = stop > start and PyUnicode_READ(line.kind, line.data, stop - 1) == u"?"
    return result


cdef Py_ssize_t _trimmed(Line line, Py_ssize_t start, Py_ssize_t end):
    """Where the white space at the end begins."""
    while end > start and Py_UNICODE_ISSPACE(PyUnicode_READ(line.kind, line.data, end - 1)):
        end -= 1
    return end


cdef tuple _inside(tuple spans, Py_ssize_t begin, Py_ssize_t end):
    """Those that begin between two places."""
    if not spans:
        return ()
    cdef list result = []
    for span in spans:
        if begin <= <Py_ssize_t>span[0] < end:
            result.append(span)
    return tuple(result)
