"""Keys of facts: `anchorhold_reference.extract.mention.key_of`, of what is no slot."""

from anchorhold_native.characters cimport (
    PyUnicode_DATA,
    PyUnicode_GET_LENGTH,
    PyUnicode_IS_ASCII,
    PyUnicode_KIND,
    PyUnicode_READ,
)
from libc.stdint cimport uint8_t, uint16_t, uint32_t


cdef extern from "blake2b.h":
    ctypedef struct hash_t:
        pass
    int HASH_DIGEST
    void hash_begin(hash_t* hash)
    void hash_byte(hash_t* hash, uint8_t byte)
    void hash_bytes(hash_t* hash, const uint8_t* bytes, size_t many)
    void hash_character(hash_t* hash, uint32_t character)
    void hash_two_bytes(hash_t* hash, const uint16_t* text, size_t many)
    void hash_end(hash_t* hash, uint8_t* digest)


cdef inline void _put(hash_t* hash, str text, Py_ssize_t begin, Py_ssize_t end) noexcept:
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t i
    if PyUnicode_IS_ASCII(text):
        hash_bytes(hash, <const uint8_t*>data + begin, end - begin)
    elif kind == 2:
        hash_two_bytes(hash, <const uint16_t*>data + begin, end - begin)
    else:
        for i in range(begin, end):
            hash_character(hash, PyUnicode_READ(kind, data, i))


cdef inline void _field(hash_t* hash, str text) noexcept:
    _put(hash, text, 0, PyUnicode_GET_LENGTH(text))
    hash_byte(hash, 0x1f)


cdef inline bytes _digest(hash_t* hash):
    cdef uint8_t digest[16]
    hash_end(hash, digest)
    return (<const char*>digest)[:HASH_DIGEST]


cdef bytes key(str kind, str literal, bint negated, bint hedged, str frame, str sentence):
    """The key of a fact; `sentence` with its white space levelled, None where it does not belong to the key."""
    cdef hash_t hash
    hash_begin(&hash)
    _field(&hash, kind)
    _field(&hash, literal)
    _field(&hash, "True" if negated else "False")
    _field(&hash, "True" if hedged else "False")
    _put(&hash, frame, 0, PyUnicode_GET_LENGTH(frame))
    if sentence is not None:
        hash_byte(&hash, 0x1f)
        _put(&hash, sentence, 0, PyUnicode_GET_LENGTH(sentence))
    return _digest(&hash)


cdef bytes key_of_number(str text, Py_ssize_t begin, Py_ssize_t digits, Py_ssize_t end, str frame):
    """The key of a line's number, that stands in the text from `begin` to `digits`; the line ends at `end`."""
    cdef hash_t hash
    hash_begin(&hash)
    _field(&hash, "number")
    _put(&hash, text, begin, digits)
    hash_byte(&hash, 0x1f)
    _field(&hash, "False")
    _field(&hash, "False")
    _field(&hash, frame)
    _put(&hash, text, begin, end)
    return _digest(&hash)
