from cpython.object cimport PyObject


cdef extern from "mention.h":
    ctypedef struct fact_t:
        PyObject* kind
        PyObject* literal
        PyObject* said
        PyObject* key
        PyObject* slot
        PyObject* frame
        PyObject* speaker
        Py_ssize_t start
        Py_ssize_t end
        char negated
        char hedged
        char part
    object mention_placed(type kind, const fact_t* fact, Py_ssize_t at)


cdef class Facts:
    cdef fact_t* all
    cdef Py_ssize_t many
    cdef Py_ssize_t _room
    cdef int add(
        self,
        str kind,
        str literal,
        Py_ssize_t start,
        Py_ssize_t end,
        str said,
        bytes key,
        bint negated,
        bint hedged,
        str frame,
        str speaker,
        bint part,
        tuple slot,
    ) except -1
    cdef int add_values(self, tuple values) except -1
    cdef tuple tuples(self)
