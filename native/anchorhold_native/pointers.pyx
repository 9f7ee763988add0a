"""What is done of every pointer that is followed, see `anchorhold_reference.following`: its token read, and an answer made
of the bytes under it."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeASCII, PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp

from dataclasses import fields
from hashlib import sha256

from anchorhold_reference.pointer import Address
from anchorhold_spec.vocabulary import Answer, AnswerKind

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    int PyObject_GenericSetAttr(object of, object name, object value) except -1


cdef const char* PREFIX = "ah1-"
cdef enum:
    BODY = 75  # characters, of six bits each
    PACKED = 56  # bytes: slot and epoch of eight, issuer of eight, digest of 32
    NO_DIGIT = 255

cdef uint8_t _digits[256]


cdef void _learn(str alphabet) except *:
    cdef int i
    for i in range(256):
        _digits[i] = NO_DIGIT
    for i, character in enumerate(alphabet):
        _digits[<uint8_t>ord(character)] = i


_learn("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

cdef const char* SIMPLE = b'{"calls":[],"data":null,"id":"'
"""So the header of a turn begins that has no calls, no data and no declared class, see `codec.encode`."""
cdef const char* NO_TEXT = b'"text":null'
FIELDS = ("kind", "text", "data", "value", "carrier", "source", "evidence", "continuation", "reason")
if tuple(field.name for field in fields(Answer)) != FIELDS:
    raise ImportError("an answer has other fields than this was written for")
_new = object.__new__
_tuple = tuple.__new__


cdef class Native:
    """An `anchorhold_reference.following.Following`."""

    cdef readonly str name
    cdef object _other

    def __init__(self, other):
        """`other`: makes the answers of all turns that are more than a text."""
        self.name = "native"
        self._other = other

    def unseal(self, str token not None):
        cdef Py_ssize_t size
        cdef const uint8_t* text
        cdef uint8_t packed[PACKED + 1]
        cdef uint32_t four
        cdef uint8_t digit
        cdef uint64_t slot = 0, epoch = 0
        cdef int i, k, at = 0
        try:
            text = <const uint8_t*>PyUnicode_AsUTF8AndSize(token, &size)
        except UnicodeEncodeError:
            return None
        if size != 4 + BODY or memcmp(text, PREFIX, 4) != 0:
            return None
        text += 4
        for i in range(0, BODY, 4):
            four = 0
            for k in range(4):
                digit = 0 if i + k == BODY else _digits[text[i + k]]
                if digit == NO_DIGIT:
                    return None
                four = four << 6 | digit
            packed[at] = four >> 16 & 255
            packed[at + 1] = four >> 8 & 255
            packed[at + 2] = four & 255
            at += 3
        # One address has one token: the bits that fill the last character up are none.
        if packed[PACKED] != 0:
            return None
        for i in range(8):
            slot = slot << 8 | packed[i]
            epoch = epoch << 8 | packed[8 + i]
        issuer = PyBytes_FromStringAndSize(<const char*>packed + 16, 8)
        digest = PyBytes_FromStringAndSize(<const char*>packed + 24, 32)
        return _tuple(Address, (slot, epoch, issuer, digest))

    def opened(self, bytes payload not None, bytes mark not None, slot):
        if sha256(payload).digest() != mark:
            return None
        cdef const char* begin = PyBytes_AS_STRING(payload)
        cdef Py_ssize_t size = PyBytes_GET_SIZE(payload)
        cdef const char* end = <const char*>memchr(begin, 10, size)
        cdef Py_ssize_t at = 30
        # The bytes are those that `encode` wrote, since their digest is: a header as it writes them, then the text.
        if end == NULL or end - begin < at or memcmp(begin, SIMPLE, at) != 0 or _has(begin, end, NO_TEXT):
            return self._other(payload, mark, slot)
        while begin[at] != 34:
            if begin[at] == 92:  # something was escaped
                return self._other(payload, mark, slot)
            at += 1
        answer = _new(Answer)
        PyObject_GenericSetAttr(answer, "kind", AnswerKind.FOUND)
        PyObject_GenericSetAttr(answer, "text", PyUnicode_DecodeUTF8(end + 1, begin + size - end - 1, "surrogatepass"))
        PyObject_GenericSetAttr(answer, "data", None)
        PyObject_GenericSetAttr(answer, "value", None)
        PyObject_GenericSetAttr(answer, "carrier", f"slot-{slot}")
        PyObject_GenericSetAttr(answer, "source", PyUnicode_DecodeASCII(begin + 30, at - 30, NULL))
        PyObject_GenericSetAttr(answer, "evidence", True)
        PyObject_GenericSetAttr(answer, "continuation", None)
        PyObject_GenericSetAttr(answer, "reason", None)
        return answer


cdef bint _has(const char* begin, const char* end, const char* what) noexcept:
    """Whether a header has these bytes, which begin with a quotation mark: within its strings these are escaped."""
    cdef const char* at = begin
    while True:
        at = <const char*>memchr(at, 34, end - at)
        if at == NULL or end - at < 11:
            return False
        if memcmp(at, what, 11) == 0:
            return True
        at += 1
