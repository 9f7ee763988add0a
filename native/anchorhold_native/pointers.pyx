"""What is done of every pointer that is followed, see `anchorhold_reference.following`: its token read, and an answer made
of the bytes under it."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyTypeObject
from cpython.unicode cimport PyUnicode_DecodeASCII, PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcmp, strlen

from dataclasses import fields

from anchorhold_spec.vocabulary import Answer, AnswerKind

cdef extern from "openssl/evp.h" nogil:
    ctypedef struct EVP_MD
    ctypedef struct EVP_MD_CTX
    EVP_MD* EVP_MD_fetch(void* library, const char* algorithm, const char* properties)
    EVP_MD_CTX* EVP_MD_CTX_new()
    int EVP_DigestInit_ex2(EVP_MD_CTX* context, const EVP_MD* algorithm, const void* parameters)
    int EVP_DigestUpdate(EVP_MD_CTX* context, const void* data, size_t size)
    int EVP_DigestFinal_ex(EVP_MD_CTX* context, unsigned char* digest, unsigned int* size)

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    object PyType_GenericAlloc(PyTypeObject* type, Py_ssize_t items)

cdef extern from *:
    """
    #include <structmember.h>

    /* Where an object keeps what this descriptor of a slot gives; -1 where it is the descriptor of no slot. */
    static Py_ssize_t offset_of(PyObject *descriptor) {
        if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) return -1;
        PyMemberDef *member = ((PyMemberDescrObject *)descriptor)->d_member;
        return member->type == T_OBJECT_EX ? member->offset : -1;
    }

    /* Fills a slot in which nothing is yet. */
    static void fill(PyObject *of, Py_ssize_t offset, PyObject *value) {
        *(PyObject **)((char *)of + offset) = Py_NewRef(value);
    }
    """
    Py_ssize_t offset_of(object descriptor)
    void fill(object of, Py_ssize_t offset, object value)


cdef const char* PREFIX = "ah1-"
cdef enum:
    BODY = 75  # characters, of six bits each
    PACKED = 56  # bytes: slot and epoch of eight, issuer of eight, digest of 32
    DIGEST = 24  # where the digest begins in them
    NO_DIGIT = 255

cdef uint8_t _digits[256]


cdef void _learn(str alphabet) except *:
    cdef int i
    for i in range(256):
        _digits[i] = NO_DIGIT
    for i, character in enumerate(alphabet):
        _digits[<uint8_t>ord(character)] = i


_learn("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

FIELDS = ("kind", "text", "data", "value", "carrier", "source", "evidence", "continuation", "reason")
if tuple(field.name for field in fields(Answer)) != FIELDS:
    raise ImportError("an answer has other fields than this was written for")

# Fetched once, which takes OpenSSL longer than to hash a turn.
cdef EVP_MD* _sha256 = EVP_MD_fetch(NULL, b"SHA256", NULL)
cdef EVP_MD_CTX* _hashing = EVP_MD_CTX_new()
if _sha256 == NULL or _hashing == NULL:
    raise ImportError("OpenSSL has no SHA-256 here")
cdef Py_ssize_t _slots[9]
for _i, _field in enumerate(FIELDS):
    _slots[_i] = offset_of(getattr(Answer, _field))
    if _slots[_i] < 0:
        raise ImportError(f"an answer has no slot for its {_field}")
cdef object _Answer = Answer
cdef object _FOUND = AnswerKind.FOUND


cdef class Native:
    """An `anchorhold_reference.following.Following`."""

    cdef readonly str name
    cdef object _other

    def __init__(self, other):
        """`other`: makes the answers of all turns that are more than a text."""
        self.name = "native"
        self._other = other

    def asked(self, token, branch):
        cdef uint8_t packed[PACKED + 1]
        # No database counts as far as eight bytes go, in slots or in epochs.
        if not _unsealed(token, packed) or (packed[0] | packed[8]) & 0x80:
            return None
        return branch, _slot(packed), PyBytes_FromStringAndSize(<const char*>packed, PACKED)

    def opened(self, payload, bytes address):
        cdef Simple found
        cdef const uint8_t* packed = <const uint8_t*>PyBytes_AS_STRING(address)
        if PyBytes_GET_SIZE(address) != PACKED:
            raise ValueError(f"an address has {PACKED} bytes, and not {PyBytes_GET_SIZE(address)}")
        if type(payload) is not bytes:
            return self._other(payload, address)
        if not _has_digest(payload, packed + DIGEST):
            return None
        if not _is_simple(PyBytes_AS_STRING(payload), PyBytes_GET_SIZE(payload), &found):
            return self._other(payload, address)
        # An answer is frozen, so what is in it is put there as it is made.
        answer = PyType_GenericAlloc(<PyTypeObject*>_Answer, 0)
        fill(answer, _slots[0], _FOUND)
        fill(answer, _slots[1], PyUnicode_DecodeUTF8(found.text, found.length, "surrogatepass"))
        fill(answer, _slots[2], None)
        fill(answer, _slots[3], None)
        fill(answer, _slots[4], f"slot-{_slot(packed)}")
        fill(answer, _slots[5], PyUnicode_DecodeASCII(found.id, found.id_length, NULL))
        fill(answer, _slots[6], True)
        fill(answer, _slots[7], None)
        fill(answer, _slots[8], None)
        return answer


cdef uint64_t _slot(const uint8_t* packed) noexcept:
    cdef uint64_t slot = 0
    cdef int i
    for i in range(8):
        slot = slot << 8 | packed[i]
    return slot


cdef bint _has_digest(bytes payload, const uint8_t* digest) except -1:
    """Whether bytes have this SHA-256. One context does for all: nothing else runs before it is done with."""
    cdef uint8_t found[PACKED - DIGEST]
    if not (
        EVP_DigestInit_ex2(_hashing, _sha256, NULL)
        and EVP_DigestUpdate(_hashing, PyBytes_AS_STRING(payload), PyBytes_GET_SIZE(payload))
        and EVP_DigestFinal_ex(_hashing, found, NULL)
    ):
        raise RuntimeError("OpenSSL could not hash")
    return memcmp(found, digest, PACKED - DIGEST) == 0


cdef bint _unsealed(object token, uint8_t* packed) except -1:
    """The bytes in a token; false where no address was made a token of that looks so."""
    cdef Py_ssize_t size
    cdef const uint8_t* text
    cdef uint32_t four
    cdef uint8_t digit
    cdef int i, k, at = 0
    try:
        text = <const uint8_t*>PyUnicode_AsUTF8AndSize(token, &size)
    except UnicodeEncodeError:
        return False
    if size != 4 + BODY or memcmp(text, PREFIX, 4) != 0:
        return False
    text += 4
    for i in range(0, BODY, 4):
        four = 0
        for k in range(4):
            digit = 0 if i + k == BODY else _digits[text[i + k]]
            if digit == NO_DIGIT:
                return False
            four = four << 6 | digit
        packed[at] = four >> 16 & 255
        packed[at + 1] = four >> 8 & 255
        packed[at + 2] = four & 255
        at += 3
    # One address has one token: the bits that fill the last character up are none.
    return packed[PACKED] == 0


cdef struct Simple:
    const char* id
    Py_ssize_t id_length
    const char* text
    Py_ssize_t length


cdef bint _is_simple(const char* begin, Py_ssize_t size, Simple* found) noexcept:
    """Whether bytes are a text and nothing else with a header in which nothing had to be escaped: those, and only those,
    that `codec.told` reads without making a turn (`codec._SIMPLE`)."""
    cdef const char* end = <const char*>memchr(begin, 10, size)
    cdef const char* at = begin
    cdef Py_ssize_t length = 0
    cdef int digits = 0
    if end == NULL or not _passes(&at, end, b'{"calls":[],"data":null,"id":"'):
        return False
    found.id = at
    if not _passes_string(&at, end):
        return False
    found.id_length = at - 1 - found.id
    if not _passes(&at, end, b',"protected":') or not (_passes(&at, end, b"false") or _passes(&at, end, b"true")):
        return False
    if not _passes(&at, end, b',"result_of":') or not _passes_string_or_null(&at, end):
        return False
    if not _passes(&at, end, b',"speaker":"') or not _passes_string(&at, end):
        return False
    if not _passes(&at, end, b',"status":') or not _passes_string_or_null(&at, end):
        return False
    if not _passes(&at, end, b',"text":'):
        return False
    while at < end and 48 <= at[0] <= 57 and digits < 12:
        length = 10 * length + at[0] - 48
        digits += 1
        at += 1
    if not digits or not _passes(&at, end, b',"time":'):
        return False
    if at == end or end[-1] != 125 or memchr(at, 34, end - at) != NULL:
        return False
    found.text = end + 1
    found.length = length
    return begin + size - found.text == length


cdef bint _passes(const char** at, const char* end, const char* what) noexcept:
    """Whether this stands at a place before the end; the place is then behind it."""
    cdef Py_ssize_t many = strlen(what)
    if end - at[0] < many or memcmp(at[0], what, many) != 0:
        return False
    at[0] += many
    return True


cdef bint _passes_string(const char** at, const char* end) noexcept:
    """Whether the rest of a string, and the quotation mark behind it, stand there without anything that was escaped."""
    cdef const char* mark = <const char*>memchr(at[0], 34, end - at[0])
    if mark == NULL or memchr(at[0], 92, mark - at[0]) != NULL:
        return False
    at[0] = mark + 1
    return True


cdef bint _passes_string_or_null(const char** at, const char* end) noexcept:
    return _passes(at, end, b"null") or (_passes(at, end, b'"') and _passes_string(at, end))
