/* Facts as they are remembered, side by side and without objects of their own, and mentions made of them.

   Both are needed by the hundred thousand, and their memory is what a transcript's facts cost. What is in a mention —
   texts, numbers, bytes, None — leads nowhere back, so that the collector of garbage need not look at it.  */

#ifndef ANCHORHOLD_MENTION_H
#define ANCHORHOLD_MENTION_H

#include <Python.h>

typedef struct {
    PyObject *kind, *literal, *said, *key, *slot, *frame, *speaker; /* slot: subject, attribute and value, or None */
    Py_ssize_t start, end;
    char negated, hedged, part;
} fact_t;

#define MENTION_FIELDS 14

/* A fact of a line as a tuple of the given type, in a text in which the line begins at `at`. */
static inline PyObject *mention_placed(PyTypeObject *type, const fact_t *fact, Py_ssize_t at) {
    PyObject *start = PyLong_FromSsize_t(at + fact->start);
    PyObject *end = start ? PyLong_FromSsize_t(at + fact->end) : NULL;
    PyTupleObject *made = end ? PyObject_GC_NewVar(PyTupleObject, type, MENTION_FIELDS) : NULL;
    if (!made) {
        Py_XDECREF(start);
        Py_XDECREF(end);
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030e0000
    made->ob_hash = -1;
#endif
    PyObject **values = made->ob_item;
    int states = fact->slot != Py_None;
    values[0] = Py_NewRef(fact->kind);
    values[1] = Py_NewRef(fact->literal);
    values[2] = start;
    values[3] = end;
    values[4] = Py_NewRef(fact->said);
    values[5] = Py_NewRef(fact->key);
    for (int i = 0; i < 3; i++) values[6 + i] = Py_NewRef(states ? PyTuple_GET_ITEM(fact->slot, i) : Py_None);
    values[9] = Py_NewRef(fact->negated ? Py_True : Py_False);
    values[10] = Py_NewRef(fact->hedged ? Py_True : Py_False);
    values[11] = Py_NewRef(fact->frame);
    values[12] = Py_NewRef(fact->speaker);
    values[13] = Py_NewRef(fact->part ? Py_True : Py_False);
    return (PyObject *)made;
}

#endif
