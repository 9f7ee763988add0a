from anchorhold_native.words cimport Word
from cpython.object cimport PyObject


cdef enum:
    FEW = 16


cdef struct Place:
    Py_ssize_t at
    Py_ssize_t size
    PyObject* word


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
    cdef Py_ssize_t _room
    cdef Place _few[FEW]
    cdef Py_ssize_t _few_told[FEW]
    cdef int _grow(self) except -1
    cdef int _split(self) except -1
    cdef int _take_apart(self, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef int _add(self, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef Word word(self, Py_ssize_t number)
    cdef bint at_end(self, Py_ssize_t number)


cdef Line read(str text)
