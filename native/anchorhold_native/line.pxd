from anchorhold_native.words cimport Word
from cpython.object cimport PyObject


cdef enum:
    FEW = 16


cdef struct Place:
    Py_ssize_t at
    Py_ssize_t size
    PyObject* word


cdef struct Held:
    PyObject* kind
    PyObject* text  # NULL: what stands between the two places
    PyObject* key  # NULL: still to be made
    Py_ssize_t begin
    Py_ssize_t end
    Py_ssize_t order


cdef class Line:
    cdef str text
    cdef int kind
    cdef const void* data
    cdef Py_ssize_t length
    cdef Place* words
    cdef Py_ssize_t many
    cdef Py_ssize_t* told
    cdef Py_ssize_t telling
    cdef int flags
    cdef bint separators
    cdef Held* held
    cdef Py_ssize_t holding
    cdef Py_ssize_t _room
    cdef Py_ssize_t _held_room
    cdef Place _few[FEW]
    cdef Py_ssize_t _few_told[FEW]
    cdef int _grow(self) except -1
    cdef int _split(self) except -1
    cdef int _take_apart(self, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef int _add(self, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef int hold(self, PyObject* kind, Py_ssize_t begin, Py_ssize_t end, PyObject* text, PyObject* key) except -1
    cdef int sort(self) noexcept
    cdef Word word(self, Py_ssize_t number)
    cdef bint at_end(self, Py_ssize_t number)


cdef Line read(str text)
