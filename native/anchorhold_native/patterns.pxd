cdef struct Found:
    Py_ssize_t begin
    Py_ssize_t end
    int group  # the last one that took part; 0 where none did
    Py_ssize_t group_begin
    Py_ssize_t group_end


cdef class Pattern:
    cdef void* _code
    cdef void* _matched
    cdef object _find
    cdef readonly tuple names
    cdef bint find(self, str text, Py_ssize_t start, Py_ssize_t end, Found* found) except -1
    cdef tuple spans(self, str text, Py_ssize_t start, Py_ssize_t end)
