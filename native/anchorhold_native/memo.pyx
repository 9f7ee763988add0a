"""`anchorhold_reference.extract.memo`: answers that are remembered, those that were asked for last."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject


cdef class Memo:
    """Holds up to twice `size` answers of `read`; may be shared between threads."""

    def __init__(self, Py_ssize_t size):
        self._size = size
        self.forget()

    def __len__(self):
        return len(self._young)

    cdef object get(self, str key):
        cdef PyObject* known = <PyObject*>PyDict_GetItemWithError(self._young, key)
        if known is not NULL:
            return <object>known
        return self._missing(key)

    cdef object _missing(self, str key):
        cdef PyObject* known = <PyObject*>PyDict_GetItemWithError(self._old, key)
        if known is not NULL:
            answer = <object>known
        else:
            answer = self.read(key)
            self.missed += 1
        if self._weight >= self._size:
            self._old = self._young
            self._young = {}
            self._weight = 0
        self._weight += self.weigh(answer)
        self._young[key] = answer
        return answer

    cdef object read(self, str key):
        """Work out an answer, from the key alone."""
        raise NotImplementedError

    cdef Py_ssize_t weigh(self, object answer):
        """For how many an answer counts."""
        return 1

    def forget(self):
        """Hold nothing."""
        self._old = {}
        self._young = {}
        self._weight = 0
        self.missed = 0
