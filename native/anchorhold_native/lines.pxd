from anchorhold_native.facts cimport Facts
from anchorhold_native.memo cimport Memo


cdef class Lines(Memo):
    pass


cdef Lines LINES
cdef Facts facts_in(str line)
cdef Facts read_line(str text)
