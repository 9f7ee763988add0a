/* Words by their characters, where they stand in a line: to find one that was met of late takes no text of its own. */

#ifndef ANCHORHOLD_RECENT_H
#define ANCHORHOLD_RECENT_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t recent_mix(uint64_t mixed, uint64_t more) {
    mixed = (mixed ^ more) * 0x9e3779b97f4a7c15ULL;
    return mixed ^ mixed >> 29;
}

/* A number that is likely another one for other characters. */
static inline uint64_t recent_number(const uint8_t *bytes, size_t many) {
    uint64_t mixed = many, more = 0;
    for (; many >= 8; bytes += 8, many -= 8) {
        memcpy(&more, bytes, 8);
        mixed = recent_mix(mixed, more);
    }
    more = 0;
    while (many) more = more << 8 | bytes[--many];
    return recent_mix(mixed, more);
}

/* Whether a text is made of the characters given, `many` of `width` bytes. */
static inline int recent_same(PyObject *text, const uint8_t *bytes, int width, Py_ssize_t many) {
    int own = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    if (PyUnicode_GET_LENGTH(text) != many) return 0;
    if (own == width) return memcmp(data, bytes, many * width) == 0;
    for (Py_ssize_t i = 0; i < many; i++)
        if (PyUnicode_READ(own, data, i) != PyUnicode_READ(width, bytes, i)) return 0;
    return 1;
}

#endif
