/* Tuples of the facts, made in one go: there are very many of them.

   What is in them — texts, numbers, bytes, None — leads nowhere back, so that the collector of garbage need not look at
   them; of plain tuples it finds that out by itself, after a first look.  */

#ifndef ANCHORHOLD_MENTION_H
#define ANCHORHOLD_MENTION_H

#include <Python.h>

#define MENTION_FIELDS 14
#define MENTION_START 2
#define MENTION_END 3

/* A tuple of the given type, its fields still empty; NULL where there is no memory. */
static inline PyTupleObject *mention_empty(PyTypeObject *type) {
    PyTupleObject *made = PyObject_GC_NewVar(PyTupleObject, type, MENTION_FIELDS);
#if PY_VERSION_HEX >= 0x030e0000
    if (made) made->ob_hash = -1;
#endif
    return made;
}

/* A fact of a line as a mention of `type`, a subtype of tuple, in a text in which the line begins at `at`. */
static PyObject *mention_placed(PyTypeObject *type, PyObject *fact, Py_ssize_t at) {
    PyObject **values = ((PyTupleObject *)fact)->ob_item;
    PyObject *start = PyLong_FromSsize_t(at + PyLong_AsSsize_t(values[MENTION_START]));
    PyObject *end = start ? PyLong_FromSsize_t(at + PyLong_AsSsize_t(values[MENTION_END])) : NULL;
    PyTupleObject *made = end ? mention_empty(type) : NULL;
    if (!made) {
        Py_XDECREF(start);
        Py_XDECREF(end);
        return NULL;
    }
    for (int i = 0; i < MENTION_FIELDS; i++)
        made->ob_item[i] = i == MENTION_START || i == MENTION_END ? NULL : Py_NewRef(values[i]);
    made->ob_item[MENTION_START] = start;
    made->ob_item[MENTION_END] = end;
    return (PyObject *)made;
}

#endif
