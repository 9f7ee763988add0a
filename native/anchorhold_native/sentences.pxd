from anchorhold_native.line cimport Line


cdef class Sentence:
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t line
    cdef readonly Py_ssize_t body
    cdef readonly Py_ssize_t end
    cdef readonly str speaker
    cdef readonly tuple negators
    cdef readonly tuple hedges
    cdef readonly bint question


cdef list sentences(Line line)
cdef Sentence sentence_of(tuple values)
cdef tuple values_of(Sentence sentence)
