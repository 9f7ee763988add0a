from anchorhold_native.memo cimport Memo


cdef class Lines(Memo):
    pass


cdef Lines LINES
cdef tuple facts_in(str line)
cdef tuple read_line(str text)
