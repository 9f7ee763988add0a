cdef class Memo:
    cdef dict _young
    cdef dict _old
    cdef Py_ssize_t _size
    cdef Py_ssize_t _weight
    cdef readonly Py_ssize_t missed
    cdef object get(self, str key)
    cdef object _missing(self, str key)
    cdef object read(self, str key)
    cdef Py_ssize_t weigh(self, object answer)
