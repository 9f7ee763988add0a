cdef class Memo:
    cdef dict _young
    cdef dict _old
    cdef Py_ssize_t _size
    cdef readonly Py_ssize_t missed
    cdef object get(self, str key)
    cdef object _missing(self, str key)
    cdef object read(self, str key)
