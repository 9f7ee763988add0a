"""The reference's own patterns, matched by PCRE2's compiler instead of by Python's interpreter of patterns.

Of a text that is ASCII both mean the same by everything that the patterns use, with one difference: to Python the
characters U+001C to U+001F are white space. Lines in which they stand are left to the Python code (`lines.read_line`), and
every text that is not ASCII is left to `re` here.
"""

from anchorhold_native.characters cimport PyUnicode_DATA, PyUnicode_IS_ASCII
from libc.stdint cimport uint32_t

import re


cdef extern from *:
    """
    #define PCRE2_CODE_UNIT_WIDTH 8
    #include <pcre2.h>
    """
    ctypedef struct pcre2_code:
        pass
    ctypedef struct pcre2_compile_context:
        pass
    ctypedef struct pcre2_match_data:
        pass
    ctypedef const unsigned char* PCRE2_SPTR
    uint32_t PCRE2_UTF, PCRE2_ANCHORED, PCRE2_ENDANCHORED, PCRE2_CASELESS, PCRE2_NEVER_BACKSLASH_C
    uint32_t PCRE2_NO_UTF_CHECK, PCRE2_JIT_COMPLETE, PCRE2_NEWLINE_LF
    int PCRE2_ERROR_NOMATCH
    pcre2_compile_context* pcre2_compile_context_create(void*)
    void pcre2_compile_context_free(pcre2_compile_context*)
    int pcre2_set_newline(pcre2_compile_context*, uint32_t)
    pcre2_code* pcre2_compile(PCRE2_SPTR, size_t, uint32_t, int*, size_t*, pcre2_compile_context*)
    int pcre2_jit_compile(pcre2_code*, uint32_t)
    void pcre2_code_free(pcre2_code*)
    pcre2_match_data* pcre2_match_data_create_from_pattern(pcre2_code*, void*)
    void pcre2_match_data_free(pcre2_match_data*)
    int pcre2_match(pcre2_code*, PCRE2_SPTR, size_t, size_t, uint32_t, pcre2_match_data*, void*)
    size_t* pcre2_get_ovector_pointer(pcre2_match_data*)


cdef class Pattern:
    """A pattern of Python's, looked for in one way: `search`, `match` or `fullmatch`."""

    def __cinit__(self, pattern, str how):
        """Compile it; raises `ValueError` where PCRE2 does not understand it or where it has a flag that is not known here.
        """
        cdef uint32_t options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C
        cdef int error = 0
        cdef size_t place = 0
        cdef bytes source = pattern.pattern.encode("utf-8")
        if pattern.flags & ~(re.IGNORECASE | re.UNICODE):
            raise ValueError(f"pattern {pattern.pattern!r} has flags other than IGNORECASE")
        if pattern.flags & re.IGNORECASE:
            options |= PCRE2_CASELESS
        if how != "search":
            options |= PCRE2_ANCHORED
        if how == "fullmatch":
            options |= PCRE2_ENDANCHORED
        cdef pcre2_compile_context* context = pcre2_compile_context_create(NULL)
        if context is NULL:
            raise MemoryError
        pcre2_set_newline(context, PCRE2_NEWLINE_LF)
        self._code = pcre2_compile(<PCRE2_SPTR><const char*>source, len(source), options, &error, &place, context)
        pcre2_compile_context_free(context)
        if self._code is NULL:
            raise ValueError(f"PCRE2 refuses pattern {pattern.pattern!r} at byte {place}, error {error}")
        # Where there is no compiler for this processor its interpreter matches, and nothing else changes.
        pcre2_jit_compile(<pcre2_code*>self._code, PCRE2_JIT_COMPLETE)
        self._matched = pcre2_match_data_create_from_pattern(<pcre2_code*>self._code, NULL)
        if self._matched is NULL:
            raise MemoryError
        self._find = getattr(pattern, how)
        names = [""] * (pattern.groups + 1)
        for name, number in pattern.groupindex.items():
            names[number] = name
        self.names = tuple(names)

    def __dealloc__(self):
        if self._matched is not NULL:
            pcre2_match_data_free(<pcre2_match_data*>self._matched)
        if self._code is not NULL:
            pcre2_code_free(<pcre2_code*>self._code)

    cdef bint find(self, str text, Py_ssize_t start, Py_ssize_t end, Found* found) except -1:
        """Whether it is found between two places of a text, and where; looking back it sees what stands before."""
        cdef int count
        cdef size_t* at
        if start > end:
            return False
        if PyUnicode_IS_ASCII(text):
            count = pcre2_match(
                <pcre2_code*>self._code,
                <PCRE2_SPTR>PyUnicode_DATA(text),
                end,
                start,
                PCRE2_NO_UTF_CHECK,
                <pcre2_match_data*>self._matched,
                NULL,
            )
            if count == PCRE2_ERROR_NOMATCH:
                return False
            if count > 0:
                # The places are read before anything can give another thread its turn: they are the pattern's.
                at = pcre2_get_ovector_pointer(<pcre2_match_data*>self._matched)
                found.begin = at[0]
                found.end = at[1]
                found.group = count - 1
                found.group_begin = at[2 * count - 2]
                found.group_end = at[2 * count - 1]
                return True
        # Not ASCII; or one of PCRE2's limits was met, that Python does not know.
        match = self._find(text, start, end)
        if match is None:
            return False
        found.begin, found.end = match.span()
        found.group = match.lastindex or 0
        found.group_begin, found.group_end = match.span(found.group)
        return True

    cdef tuple spans(self, str text, Py_ssize_t start, Py_ssize_t end):
        """Where it is found, one after the other; for patterns that do not match nothing."""
        cdef Found found
        result = []
        while self.find(text, start, end, &found):
            result.append((found.begin, found.end))
            start = found.end
        return tuple(result)
