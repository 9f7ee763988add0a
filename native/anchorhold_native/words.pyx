"""`anchorhold_reference.extract.words`, function by function: one word at a time. What a word is told by — lists, flags and
patterns — is taken from there, the private ones too, so that a rule is spelled once; `RULES` says that both belong together.
"""

cimport cython

from anchorhold_native.characters cimport (
    PyUnicode_DATA,
    PyUnicode_GET_LENGTH,
    PyUnicode_KIND,
    part,
)
from anchorhold_native.keys cimport key
from anchorhold_native.patterns cimport Found, Pattern
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_CLEAR, Py_DECREF, Py_INCREF, Py_XDECREF
from libc.stdint cimport uint8_t, uint64_t

from anchorhold_reference.extract import doubts, patterns, text
from anchorhold_reference.extract import words as python

cdef int LITERAL = python.LITERAL
cdef int STOP = python.STOP
cdef int NEGATION = python.NEGATION
cdef int HEDGE = python.HEDGE
cdef int TIME = python.TIME
cdef int CAPITAL = python.CAPITAL
cdef int JOINER = python.JOINER
cdef int QUOTE = python.QUOTE
cdef int VERB = python.VERB
cdef int EQUALS = python.EQUALS
cdef int BOUND_END = python.BOUND_END
cdef int BULLET = python.BULLET

cdef extern from "recent.h":
    uint64_t recent_number(const uint8_t* bytes, size_t many)
    bint recent_same(PyObject* text, const uint8_t* bytes, int width, Py_ssize_t many)


cdef enum:
    _RECENT = 1 << 16  # as many as a generation of those that are remembered

cdef Py_ssize_t _LONGEST = python.LONGEST
cdef str AMOUNT = python.AMOUNT
cdef str OPTION = python.OPTION
cdef str PLAIN = python.PLAIN
cdef str _AROUND = python._AROUND
cdef frozenset _STOPS = python._STOPS
cdef dict _SAYS = python._SAYS
cdef dict _SAYS_ALONE = python._SAYS_ALONE
cdef frozenset _VERBS = python._VERBS
cdef frozenset _JOINERS = python._JOINERS
cdef frozenset _ALTERNATIVES = python._ALTERNATIVES
cdef frozenset _MONTHS = patterns.MONTHS

cdef Pattern _WORD = Pattern(patterns.WORD, "search")
cdef Pattern _SIMPLE_WORD = Pattern(patterns.SIMPLE_WORD, "search")
cdef Pattern _TIMESTAMP = Pattern(patterns.TIMESTAMP, "search")
cdef Pattern _PARTS = Pattern(python._PARTS, "search")
cdef Pattern _UNIT = Pattern(python._UNIT, "match")
cdef Pattern _CAPITAL = Pattern(python._CAPITAL, "match")
cdef Pattern _BULLET = Pattern(python._BULLET, "match")
cdef Pattern _ORDINAL = Pattern(python._ORDINAL, "fullmatch")
cdef Pattern _CODE = Pattern(python._CODE, "fullmatch")
cdef Pattern _HUMPS = Pattern(python._HUMPS, "search")
cdef Pattern _LEADING = Pattern(python._LEADING, "match")
cdef Pattern _NEGATOR = Pattern(text.NEGATOR, "search")
cdef Pattern _HEDGES = Pattern(doubts.HEDGE, "search")


# Nothing in it can lead back to it, and there are very many: the collector of garbage need not know of them.
@cython.no_gc
cdef class Word:
    """What is to be known of a word; `capital_begin` is -1 where no capitalised word stands in it."""

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.many):
            Py_DECREF(<object>self.literals[i].kind)
            Py_DECREF(<object>self.literals[i].text)
            Py_DECREF(<object>self.literals[i].key)
        PyMem_Free(self.literals)

    cdef int hold(self, list literals) except -1:
        """Hold literals: tuples of kind, begin, end, text and key."""
        cdef tuple one
        self.literals = <Literal*>PyMem_Malloc(len(literals) * sizeof(Literal))
        if self.literals is NULL:
            raise MemoryError
        for one in literals:
            kind, begin, end, text, key = one
            self.literals[self.many] = Literal(<PyObject*>kind, <PyObject*>text, <PyObject*>key, begin, end)
            Py_INCREF(kind)
            Py_INCREF(text)
            Py_INCREF(key)
            self.many += 1
        return 0


cdef class Words(Memo):
    """The words that are remembered; those of late are found by their characters alone, without a text being made."""

    def __cinit__(self):
        self._recent = <Recent*>PyMem_Calloc(_RECENT, sizeof(Recent))
        if self._recent is NULL:
            raise MemoryError

    def __dealloc__(self):
        if self._recent is not NULL:
            self._forget_recent()
            PyMem_Free(self._recent)

    cdef Word find(self, str line, Py_ssize_t begin, Py_ssize_t end):
        """What is to be known of the word between two places of a line; None of one that says nothing."""
        cdef int width = PyUnicode_KIND(line)
        cdef const uint8_t* bytes = <const uint8_t*>PyUnicode_DATA(line) + begin * width
        cdef Recent* place = &self._recent[recent_number(bytes, (end - begin) * width) % _RECENT]
        if place.text is not NULL and recent_same(place.text, bytes, width, end - begin):
            return <Word>place.word
        cdef str text = part(line, begin, end)
        cdef Word word = self.get(text) if end - begin <= _LONGEST else read_word(text)
        if end - begin <= _LONGEST:
            Py_INCREF(text)
            Py_INCREF(word)
            Py_XDECREF(place.text)
            Py_XDECREF(place.word)
            place.text, place.word = <PyObject*>text, <PyObject*>word
        return word

    cdef object read(self, str key):
        return read_word(key)

    cdef int _forget_recent(self) except -1:
        cdef Py_ssize_t i
        for i in range(_RECENT):
            Py_CLEAR(self._recent[i].text)
            Py_CLEAR(self._recent[i].word)
        return 0

    def forget(self):
        self._forget_recent()
        Memo.forget(self)


cdef Words WORDS = Words(1 << 16)


cdef Word read_word(str word):
    """Read one word; None of one that says nothing."""
    cdef Found found
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(word)
    cdef str core = word.strip(_AROUND)
    cdef Py_ssize_t begin = word.find(core)
    cdef Py_ssize_t capital_begin = -1, capital_end = -1
    cdef int flags
    cdef list literals = None
    cdef str lower, kind
    if core.isidentifier() and not (begin > 0 and word[begin - 1] == "."):
        kind = _kind(core)
        flags = _SAYS_ALONE.get(core.lower(), 0)
        if kind is not None:
            flags |= LITERAL
            literals = [_literal(kind, begin, begin + len(core), core, word)]
        elif core[0].isupper() and core.isascii():
            capital_begin, capital_end = begin, begin + len(core)
            flags |= CAPITAL
        if core in _MONTHS:
            flags |= TIME
        if word in _JOINERS:
            flags |= JOINER
    else:
        places = _places(word)
        flags = LITERAL if places else 0
        if "/" in word and _TIMESTAMP.find(word, 0, length, &found):
            flags |= TIME
        if "=" in word or "≠" in word:
            flags |= EQUALS
        if word[length - 1] in "<>≤≥=":
            flags |= BOUND_END
        if _BULLET.find(word, 0, length, &found):
            flags |= BULLET
        if _CAPITAL.find(word, 0, length, &found) and not _touched(places, found.group_begin, found.group_end):
            capital_begin, capital_end = found.group_begin, found.group_end
            flags |= CAPITAL
        lower = word.lower()
        if "w/o" in lower:
            flags |= NEGATION
        if "~" in word:
            flags |= HEDGE
        if lower in _VERBS:
            flags |= VERB
        if word == "&":
            flags |= JOINER
        for start, end in _PARTS.spans(lower, 0, len(lower)):
            flags |= _SAYS.get(part(lower, start, end), 0)
        if places:
            literals = []
            for kind, start, end in places:
                if kind == "timestamp":  # it may reach over several words, and is read in the line
                    flags |= TIME
                else:
                    literals.append(_literal(kind, start, end, part(word, start, end), word))
    if len(core) < length:
        if word.rstrip("\"'”’)]")[-1:] in _STOPS:
            flags |= STOP
        if '"' in word:
            flags |= QUOTE
    if "“" in word or "«" in word:
        flags |= QUOTE
    cdef Py_ssize_t unit = found.end if _UNIT.find(word, 0, length, &found) else 0
    if not flags and not unit:
        return None
    cdef Word result = Word.__new__(Word)
    result.flags = flags
    if literals:
        result.hold(literals)
    result.capital_begin = capital_begin
    result.capital_end = capital_end
    result.unit = unit
    result.negators = _NEGATOR.spans(word, 0, length) if flags & NEGATION else ()
    result.hedges = _HEDGES.spans(word, 0, length) if flags & HEDGE else ()
    return result


cdef bint _touched(list places, Py_ssize_t begin, Py_ssize_t end):
    cdef Py_ssize_t start, stop
    for _, start, stop in places:
        if start < end and begin < stop:
            return True
    return False


cdef tuple _literal(str kind, Py_ssize_t begin, Py_ssize_t end, str text, str word):
    if kind == "number":
        last = end == len(word) and word[end - 1].isdigit() and text[0] not in "$€£"
        return (AMOUNT if last else kind, begin, end, text, None)
    return (kind, begin, end, text, key("identifier" if kind == OPTION else kind, text, False, False, PLAIN, None))


cdef list _places(str word):
    """Kind, begin and end of each literal."""
    cdef Pattern pattern = _WORD if "/" in word or "\\" in word or "." in word else _SIMPLE_WORD
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(word), start = 0
    cdef Found found
    result = []
    while pattern.find(word, start, length, &found):
        _add_literals(result, word, pattern.names[found.group], found.begin, found.end)
        start = found.end
    return result


cdef int _add_literals(list result, str word, str form, Py_ssize_t start, Py_ssize_t end) except -1:
    """The literals in what may be one, by its form."""
    cdef str text = part(word, start, end)
    if form == "url":
        result.append(("path", start, end))
    elif form == "email" or form == "port":
        result.append(("identifier", start, end))
    elif form == "tag":
        result.append(("entity" if text[0] == "@" else "identifier", start, end))
    elif form == "option":
        result.append((OPTION if text[1] != "-" else "identifier", start, end))
    elif form == "time":
        result.append(("timestamp", start, end))
    elif form == "path":
        if _is_path(text):
            result.append(("path", start, end))
        else:
            _add_chains(result, word, start, end, "/")
    elif form == "number" and not _counts_nothing(text):
        result.append(("number", start, end))
    else:
        _add_chain(result, word, start, end)
    return 0


cdef bint _is_path(str text):
    """Whether what has the form of a path is one, and not two words to choose from, a date or a fraction."""
    cdef list parts = text.split("/")
    cdef str one
    cdef bint digits = True, letters = True
    if len(parts) == 1:
        return text.strip(".*") != ""
    for one in parts:
        if not one.isalnum():
            return True
        digits = digits and one.isdigit()
        letters = letters and one.isalpha()
    if digits:
        return False
    if len(parts) == 2 and letters:
        return text.islower() and min(len(parts[0]), len(parts[1])) > 2 and text not in _ALTERNATIVES
    return True


cdef int _add_chains(list result, str word, Py_ssize_t start, Py_ssize_t end, str between) except -1:
    """What stands on both sides of slashes that make no path, or of hyphens."""
    cdef Py_ssize_t i, begin = start
    for i in range(start, end + 1):
        if i == end or word[i] == between:
            if begin < i:
                _add_chain(result, word, begin, i)
            begin = i + 1
    return 0


cdef bint _counts_nothing(str digits):
    """Whether digits are a name: a leading zero, or more of them than anybody counts to without separators."""
    return digits.isdigit() and (len(digits) > 9 or (len(digits) > 1 and digits[0] == "0"))


cdef int _add_chain(list result, str word, Py_ssize_t start, Py_ssize_t end) except -1:
    """The literals in words that are joined by points and hyphens, or in one by itself."""
    cdef Found found
    cdef str chain = part(word, start, end)
    cdef str kind, one
    if _counts_nothing(chain):
        result.append(("identifier", start, end))
        return 0
    if _ORDINAL.find(chain, 0, end - start, &found):
        return 0
    cdef bint hyphens = "-" in chain
    if not hyphens and "." not in chain:
        kind = _kind(chain)
        if kind is not None:
            result.append((kind, start, end))
        return 0
    cdef list parts = chain.replace("-", ".").split(".")
    cdef bint digits = True
    for one in parts:
        digits = digits and one.isdigit()
    if digits:
        if len(parts) == 2 and hyphens:  # a range
            result.append(("number", start, start + len(parts[0])))
            result.append(("number", end - len(parts[1]), end))
        else:
            result.append(("identifier" if len(parts) > 2 else "number", start, end))
        return 0
    if hyphens:
        if _LEADING.find(chain, 0, end - start, &found):  # "24-hour"
            result.append(("number", start, start + found.end))
        elif _has_digit(chain) or "_" in chain:
            result.append(("identifier", start, end))
        else:
            _add_chains(result, word, start, end, "-")
        return 0
    cdef bint long = True, named = False
    for one in parts:
        long = long and (len(one) > 1 or one.isdigit())
        named = named or _kind(one) == "identifier"
    if long or named:
        result.append(("identifier", start, end))
    elif len(parts) == 2 and min(len(parts[0]), len(parts[1])) == 1 and max(len(parts[0]), len(parts[1])) > 2:
        result.append(("identifier", start, end))  # "t.Parallel"
    return 0


cdef bint _has_digit(str chain):
    cdef Py_UCS4 character
    for character in chain:
        if character.isdigit():
            return True
    return False


cdef str _kind(str word):
    """Of what kind a single word is by its form; None of no kind."""
    cdef Found found
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(word)
    if word.isdigit():
        return "number"
    if "_" in word:
        inner = word.strip("_")
        emphasis = word[0] == "_" == word[length - 1] and word[1:2] != "_" and "_" not in inner and inner.isalpha()
        return "identifier" if inner and not emphasis else None
    if not word.isascii():
        return None
    if _CODE.find(word, 0, length, &found):
        return "identifier"
    if _HUMPS.find(word, 0, length, &found) and not (word[length - 1] == "s" and word[: length - 1].isupper()):
        return "identifier"
    if length > 1 and word.isupper():
        return "entity"
    return None
