"""`anchorhold_reference.extract.facts.mentions`, compiled: the facts of a text, line by line."""

from anchorhold_native cimport lines as compiled
from anchorhold_native.characters cimport (
    Py_UNICODE_ISDECIMAL,
    Py_UNICODE_ISSPACE,
    PyUnicode_DATA,
    PyUnicode_FindChar,
    PyUnicode_FromObject,
    PyUnicode_GET_LENGTH,
    PyUnicode_KIND,
    PyUnicode_READ,
    part,
)
from anchorhold_native.facts cimport Facts, fact_t, mention_placed
from anchorhold_native.keys cimport key_of_number
from anchorhold_native.lines cimport LINES
from anchorhold_native.words cimport WORDS
from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject

from anchorhold_reference.extract.mention import LINE, Mention

cdef str _LINE = LINE
cdef str _NUMBER = "number"
cdef type _Mention = Mention
if len(Mention._fields) != 14 or Mention.__dictoffset__:
    raise TypeError("a Mention is not what is made here")


cdef class Native:
    """An `anchorhold_reference.extract.engine.Engine`. What it remembers belongs to the process."""

    name = "native"

    @property
    def missed(self):
        return LINES.missed

    def mentions(self, text):
        cdef list result = []
        _read(PyUnicode_FromObject(text), result, None)
        return result

    def distinct(self, text):
        cdef dict seen = {}
        _read(PyUnicode_FromObject(text), None, seen)
        return seen

    def facts_in(self, line):
        return compiled.facts_in(PyUnicode_FromObject(line)).tuples()

    def read_line(self, line):
        return compiled.read_line(PyUnicode_FromObject(line)).tuples()

    def remembered(self):
        return len(LINES)

    def forget(self):
        LINES.forget()
        WORDS.forget()


cdef int _read(str text, list every, dict seen) except -1:
    """Add the facts of a text to a list; or to a dictionary, by key, those that are no part of another and not in it."""
    if "\r" in text:
        text = text.replace("\r", "\n")
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), start = 0, begin, digits, end
    while start < length:
        begin = digits = _skip_blanks(kind, data, start, length)
        while digits < length and digits - begin < 7 and Py_UNICODE_ISDECIMAL(PyUnicode_READ(kind, data, digits)):
            digits += 1
        if begin < digits and _marks_number(kind, data, digits, length):
            start = _skip_blanks(kind, data, digits + 1, length)
        else:
            start = digits = begin
        end = PyUnicode_FindChar(text, u"\n", start, length, 1)
        if end < 0:
            end = length
        if begin < digits:
            _add_number(text, begin, digits, end, every, seen)
        if start < end:
            _add(compiled.facts_in(part(text, start, end)), start, every, seen)
        start = end + 1
    return 0


cdef inline Py_ssize_t _skip_blanks(int kind, const void* data, Py_ssize_t at, Py_ssize_t length):
    """Where white space ends that stays on its line."""
    cdef Py_UCS4 character
    while at < length:
        character = PyUnicode_READ(kind, data, at)
        if character == u"\n" or not Py_UNICODE_ISSPACE(character):
            break
        at += 1
    return at


cdef inline bint _marks_number(int kind, const void* data, Py_ssize_t at, Py_ssize_t length):
    """Whether what stands behind digits says that they are the line's number, as tools print it that show files."""
    if at >= length:
        return False
    cdef Py_UCS4 character = PyUnicode_READ(kind, data, at)
    if character == u"→" or character == u"\t":
        return True
    if character != u":":
        return False
    if at + 1 >= length:
        return True
    character = PyUnicode_READ(kind, data, at + 1)
    return character != u"/" and not Py_UNICODE_ISDECIMAL(character)


cdef int _add_number(
    str text, Py_ssize_t begin, Py_ssize_t digits, Py_ssize_t end, list every, dict seen
) except -1:
    cdef bytes key = key_of_number(text, begin, digits, end, _LINE)
    if seen is not None and PyDict_GetItemWithError(seen, key) is not NULL:
        return 0
    cdef str literal = part(text, begin, digits), said = part(text, begin, end)
    cdef fact_t fact
    fact.kind, fact.literal, fact.said, fact.key = <PyObject*>_NUMBER, <PyObject*>literal, <PyObject*>said, <PyObject*>key
    fact.slot, fact.frame, fact.speaker = <PyObject*>None, <PyObject*>_LINE, <PyObject*>None
    fact.start, fact.end = begin, digits
    fact.negated = fact.hedged = fact.part = False
    mention = mention_placed(_Mention, &fact, 0)
    if seen is None:
        every.append(mention)
    else:
        seen[key] = mention
    return 0


cdef int _add(Facts facts, Py_ssize_t at, list every, dict seen) except -1:
    """The facts of a line that begins at a place of a text."""
    cdef Py_ssize_t i
    cdef fact_t* fact
    for i in range(facts.many):
        fact = &facts.all[i]
        if seen is None:
            every.append(mention_placed(_Mention, fact, at))
        elif not fact.part and PyDict_GetItemWithError(seen, <object>fact.key) is NULL:
            seen[<object>fact.key] = mention_placed(_Mention, fact, at)
    return 0
