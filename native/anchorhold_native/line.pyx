"""A line as its words: `words.words` and `literals.places` of `anchorhold_reference.extract` in one go."""

cimport cython

from anchorhold_native.characters cimport (
    Py_UNICODE_ISSPACE,
    PyUnicode_DATA,
    PyUnicode_GET_LENGTH,
    PyUnicode_KIND,
    PyUnicode_READ,
)
from anchorhold_native.words cimport WORDS, Word
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdlib cimport qsort
from libc.string cimport memcpy

from anchorhold_reference.extract import words as python

cdef Py_ssize_t _LONGEST = python.LONGEST


@cython.no_gc
cdef class Line:
    """Its words: where each stands, what is to be known of it, and the numbers of those that say something."""

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.many):
            Py_DECREF(<object>self.words[i].word)
        if self.words is not self._few:
            PyMem_Free(self.words)
            PyMem_Free(self.told)
        PyMem_Free(self.held)

    cdef int hold(self, PyObject* kind, Py_ssize_t begin, Py_ssize_t end, PyObject* text, PyObject* key) except -1:
        """Add a literal. What is pointed to lives at least as long as the line: it is a word's, or for ever."""
        cdef void* more
        if self.holding == self._held_room:
            self._held_room = max(8, 2 * self._held_room)
            more = PyMem_Realloc(self.held, self._held_room * sizeof(Held))
            if more is NULL:
                raise MemoryError
            self.held = <Held*>more
        cdef Held* place = &self.held[self.holding]
        place.kind, place.begin, place.end, place.text, place.key = kind, begin, end, text, key
        place.order = self.holding
        self.holding += 1
        return 0

    cdef int sort(self) noexcept:
        """Put the literals in the order of the text; those that begin together stay in theirs."""
        if self.holding > 1:
            qsort(self.held, self.holding, sizeof(Held), _compare)
        return 0

    cdef Word word(self, Py_ssize_t number):
        """What is to be known of a word, None of one that says nothing."""
        return <Word>self.words[number].word

    cdef bint at_end(self, Py_ssize_t number):
        """Whether a word stands right behind the one before it, with one blank between."""
        cdef Place* before = &self.words[number - 1]
        return self.words[number].at == before.at + before.size + 1

    cdef int _grow(self) except -1:
        """Make room for twice as many words; the first few are in the object itself."""
        cdef Place* words = <Place*>PyMem_Malloc(2 * self._room * sizeof(Place))
        cdef Py_ssize_t* told = <Py_ssize_t*>PyMem_Malloc(2 * self._room * sizeof(Py_ssize_t))
        if words is NULL or told is NULL:
            PyMem_Free(words)
            PyMem_Free(told)
            raise MemoryError
        memcpy(words, self.words, self.many * sizeof(Place))
        memcpy(told, self.told, self.telling * sizeof(Py_ssize_t))
        if self.words is not self._few:
            PyMem_Free(self.words)
            PyMem_Free(self.told)
        self.words, self.told = words, told
        self._room *= 2
        return 0

    cdef int _split(self) except -1:
        cdef Py_ssize_t at = 0, begin
        cdef Py_UCS4 character
        while True:
            while at < self.length:
                character = PyUnicode_READ(self.kind, self.data, at)
                if not Py_UNICODE_ISSPACE(character):
                    break
                self.separators |= 0x1c <= character <= 0x1f
                at += 1
            if at == self.length:
                return 0
            begin = at
            while at < self.length and not Py_UNICODE_ISSPACE(PyUnicode_READ(self.kind, self.data, at)):
                at += 1
            if at - begin > _LONGEST:
                self._take_apart(begin, at)
            else:
                self._add(begin, at)

    cdef int _take_apart(self, Py_ssize_t begin, Py_ssize_t end) except -1:
        """A long word at its punctuation, as compact JSON has to be: each mark, and each run of what is none."""
        cdef Py_ssize_t at, since = begin
        cdef Py_UCS4 character
        for at in range(begin, end):
            character = PyUnicode_READ(self.kind, self.data, at)
            if character in u"\"{}(),;|<>":
                if since < at:
                    self._add(since, at)
                self._add(at, at + 1)
                since = at + 1
        if since < end:
            self._add(since, end)
        return 0

    cdef int _add(self, Py_ssize_t begin, Py_ssize_t end) except -1:
        cdef Word word = WORDS.find(self.text, begin, end)
        if self.many == self._room:
            self._grow()
        cdef Place* place = &self.words[self.many]
        place.at = begin
        place.size = end - begin
        Py_INCREF(word)
        place.word = <PyObject*>word
        if word is not None:
            self.told[self.telling] = self.many
            self.telling += 1
            self.flags |= word.flags
        self.many += 1
        return 0


cdef int _compare(const void* one, const void* other) noexcept nogil:
    cdef const Held* left = <const Held*>one
    cdef const Held* right = <const Held*>other
    if left.begin != right.begin:
        return -1 if left.begin < right.begin else 1
    return -1 if left.order < right.order else 1


cdef Line read(str text):
    """Take a line apart."""
    cdef Line line = Line.__new__(Line)
    line.text = text
    line.kind = PyUnicode_KIND(text)
    line.data = PyUnicode_DATA(text)
    line.length = PyUnicode_GET_LENGTH(text)
    line.words, line.told, line._room = line._few, line._few_told, FEW
    line._split()
    return line
