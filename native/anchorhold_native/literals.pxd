from anchorhold_native.line cimport Line

cdef tuple negators(Line line)
cdef tuple hedges(Line line)
cdef int literals(Line line) except -1
