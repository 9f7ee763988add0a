"""Characters of a text, as CPython holds them: what is white space or a digit is asked of CPython's own tables."""

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(str text)
    int PyUnicode_KIND(str text)
    const void* PyUnicode_DATA(str text)
    Py_ssize_t PyUnicode_GET_LENGTH(str text)
    Py_UCS4 PyUnicode_READ(int kind, const void* data, Py_ssize_t at)
    str PyUnicode_Substring(str text, Py_ssize_t begin, Py_ssize_t end)
    Py_ssize_t PyUnicode_FindChar(str text, Py_UCS4 character, Py_ssize_t begin, Py_ssize_t end, int forward) except -2
    object PyUnicode_FromObject(object text)
    bint Py_UNICODE_ISSPACE(Py_UCS4 character)
    bint Py_UNICODE_ISDECIMAL(Py_UCS4 character)
    bint Py_UNICODE_ISALNUM(Py_UCS4 character)


cdef inline str part(str text, Py_ssize_t begin, Py_ssize_t end):
    """`text[begin:end]`, for places that lie inside the text."""
    return PyUnicode_Substring(text, begin, end)
