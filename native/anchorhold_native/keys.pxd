cdef bytes key(str kind, str literal, bint negated, bint hedged, str frame, str sentence)
cdef bytes key_of_number(str text, Py_ssize_t begin, Py_ssize_t digits, Py_ssize_t end, str frame)
