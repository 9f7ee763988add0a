from anchorhold_native.memo cimport Memo
from cpython.object cimport PyObject


cdef struct Literal:
    PyObject* kind
    PyObject* text
    PyObject* key  # None where the sentence belongs to it
    Py_ssize_t begin
    Py_ssize_t end


cdef class Word:
    cdef int flags
    cdef Literal* literals
    cdef Py_ssize_t many
    cdef Py_ssize_t capital_begin
    cdef Py_ssize_t capital_end
    cdef Py_ssize_t unit
    cdef tuple negators
    cdef tuple hedges
    cdef int hold(self, list literals) except -1


cdef struct Recent:
    PyObject* text
    PyObject* word


cdef class Words(Memo):
    cdef Recent* _recent
    cdef int _forget_recent(self) except -1
    cdef Word find(self, str line, Py_ssize_t begin, Py_ssize_t end)


cdef Words WORDS
cdef Word read_word(str word)
