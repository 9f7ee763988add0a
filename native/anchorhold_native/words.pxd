from anchorhold_native.memo cimport Memo
from cpython.object cimport PyObject


cdef class Word:
    cdef int flags
    cdef tuple literals
    cdef Py_ssize_t capital_begin
    cdef Py_ssize_t capital_end
    cdef Py_ssize_t unit
    cdef tuple negators
    cdef tuple hedges


cdef struct Recent:
    PyObject* text
    PyObject* word


cdef class Words(Memo):
    cdef Recent* _recent
    cdef int _forget_recent(self) except -1
    cdef Word find(self, str line, Py_ssize_t begin, Py_ssize_t end)


cdef Words WORDS
cdef Word read_word(str word)
