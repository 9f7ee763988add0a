"""The facts of a line as they are remembered."""

cimport cython

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF


@cython.no_gc
cdef class Facts:
    """Facts side by side, each with the values of a `Mention`, by places in the line."""

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.many):
            Py_DECREF(<object>self.all[i].kind)
            Py_DECREF(<object>self.all[i].literal)
            Py_DECREF(<object>self.all[i].said)
            Py_DECREF(<object>self.all[i].key)
            Py_DECREF(<object>self.all[i].slot)
            Py_DECREF(<object>self.all[i].frame)
            Py_DECREF(<object>self.all[i].speaker)
        PyMem_Free(self.all)

    cdef int add(
        self,
        str kind,
        str literal,
        Py_ssize_t start,
        Py_ssize_t end,
        str said,
        bytes key,
        bint negated,
        bint hedged,
        str frame,
        str speaker,
        bint part,
        tuple slot,
    ) except -1:
        """Add a fact; `slot` is subject, attribute and value of one that states a slot, else None."""
        cdef void* more
        if self.many == self._room:
            self._room = max(2, 2 * self._room)
            more = PyMem_Realloc(self.all, self._room * sizeof(fact_t))
            if more is NULL:
                raise MemoryError
            self.all = <fact_t*>more
        cdef fact_t* fact = &self.all[self.many]
        Py_INCREF(kind)
        Py_INCREF(literal)
        Py_INCREF(said)
        Py_INCREF(key)
        Py_INCREF(slot)
        Py_INCREF(frame)
        Py_INCREF(speaker)
        fact.kind, fact.literal, fact.said, fact.key = <PyObject*>kind, <PyObject*>literal, <PyObject*>said, <PyObject*>key
        fact.slot, fact.frame, fact.speaker = <PyObject*>slot, <PyObject*>frame, <PyObject*>speaker
        fact.start, fact.end = start, end
        fact.negated, fact.hedged, fact.part = negated, hedged, part
        self.many += 1
        return 0

    cdef int add_values(self, tuple values) except -1:
        """Add a fact that the reference's own code has read."""
        kind, literal, start, end, said, key, subject, attribute, value, negated, hedged, frame, speaker, part = values
        self.add(
            kind,
            literal,
            start,
            end,
            said,
            key,
            negated,
            hedged,
            frame,
            speaker,
            part,
            None if subject is None else (subject, attribute, value),
        )
        return 0

    cdef tuple tuples(self):
        """The facts as the reference's own code remembers them."""
        cdef Py_ssize_t i
        return tuple([mention_placed(tuple, &self.all[i], 0) for i in range(self.many)])
