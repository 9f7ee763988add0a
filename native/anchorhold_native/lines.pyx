"""`anchorhold_reference.extract.lines`, function by function: the facts of one line. What is rare is left to the code there."""

from anchorhold_native.characters cimport Py_UNICODE_ISSPACE, PyUnicode_READ, part
from anchorhold_native.facts cimport Facts
from anchorhold_native.keys cimport key
from anchorhold_native.line cimport Held, Line, read
from anchorhold_native.literals cimport literals
from anchorhold_native.memo cimport Memo
from anchorhold_native.patterns cimport Found, Pattern
from anchorhold_native.sentences cimport Sentence, sentence_of, sentences, values_of

from anchorhold_reference.extract import lines as python
from anchorhold_reference.extract import patterns, text, words
from anchorhold_reference.extract.mention import NEEDS_SENTENCE
from anchorhold_reference.extract.slots import Slot, slot_in, spelled

if Slot._fields != ("start", "end", "value_start", "value", "subject", "attribute", "verb", "negated"):
    raise TypeError("a Slot is not what is read here")

cdef int _TELLING = python._TELLING
cdef int NEGATION = words.NEGATION
cdef int HEDGE = words.HEDGE
cdef int EQUALS = words.EQUALS
cdef int OF = words.OF
cdef int VERB = words.VERB
cdef int BOUND_END = words.BOUND_END
cdef Py_ssize_t _LONGEST = python._LONGEST
cdef Py_ssize_t _WHOLE = python._WHOLE
cdef Py_ssize_t _USUAL = python._USUAL
cdef str PLAIN = words.PLAIN
cdef str _HEDGED = python._FRAMES[False, True]
cdef str _NEGATED = python._FRAMES[True, False]
cdef str _BOTH = python._FRAMES[True, True]
cdef frozenset _DENYING = python._DENYING
cdef frozenset _DOUBTING = python._DOUBTING
cdef str _BOUND_ENDS = "".join({end for tail in python._BOUND_TAILS for end in (tail[-1], tail[-1].upper())})
cdef frozenset _NEEDS_SENTENCE = NEEDS_SENTENCE

cdef Pattern _THE = Pattern(python._THE, "search")
cdef Pattern _CLAUSE_END = Pattern(python._CLAUSE_END, "search")
cdef Pattern _BEFORE = Pattern(python._BEFORE, "search")
cdef Pattern _AFTER = Pattern(python._AFTER, "match")
cdef Pattern _BOUND = Pattern(patterns.BOUND, "search")
cdef Pattern _NEGATION = Pattern(text.NEGATION, "match")


cdef class Lines(Memo):
    """The lines that are remembered."""

    cdef object read(self, str key):
        return read_line(key)

    cdef Py_ssize_t weigh(self, object answer):
        return 1 + (<Facts>answer).many // _USUAL


cdef Facts _NONE = Facts()
cdef Lines LINES = Lines(1 << 14)


cdef Facts facts_in(str line):
    """The facts of a line that begins with a word, parts of slots included, by places in the line."""
    return LINES.get(line) if len(line) <= _LONGEST else read_line(line)


cdef Facts read_line(str text):
    """The same, read anew."""
    cdef Line line = read(text)
    if not line.flags & _TELLING:
        return _NONE
    cdef Facts result = Facts.__new__(Facts)
    if line.separators:  # white space to Python and not to PCRE2
        for fact in python.read_line(text):
            result.add_values(fact)
        return result
    literals(line)
    cdef Found found
    cdef Py_ssize_t i
    cdef bint states = (line.flags & EQUALS and _says_colon(line)) or (
        line.flags & OF and line.flags & VERB and _THE.find(text, 0, line.length, &found)
    )
    if not line.holding and not states and not line.flags & (NEGATION | HEDGE):
        return _NONE
    cdef list said = sentences(line)
    cdef Sentence sentence
    cdef list frames = [_frame(sentence) for sentence in said]
    if line.length > _WHOLE:
        whole = [python.Sentence(*values_of(sentence)) for sentence in said]
        pieces, frames = python._cut(whole, frames, [(None, line.held[i].begin, line.held[i].end) for i in range(line.holding)])
        said = [sentence_of(tuple(piece)) for piece in pieces]
    cdef dict slots = {}
    if states or line.flags & (NEGATION | HEDGE):
        for i, sentence in enumerate(said):
            slot = slot_in(text, sentence) if states else None
            if slot is not None:
                slots[sentence.start] = slot[:2]
                _add_slot(result, text, sentence, tuple(slot))
            if sentence.negators:
                _add_polarity(result, line, sentence, "negation", sentence.negators, frames[i], slot is not None)
            if sentence.hedges:
                _add_polarity(result, line, sentence, "hedge", sentence.hedges, frames[i], slot is not None)
    if line.holding:
        _add_facts(result, line, said, frames, slots)
    return result


cdef int _add_slot(Facts result, str text, Sentence sentence, tuple slot) except -1:
    """The fact that a slot is."""
    cdef Py_ssize_t start, end, value_start
    cdef str value, subject, attribute, verb
    cdef bint negated, hedged = bool(sentence.hedges)
    start, end, value_start, value, subject, attribute, verb, negated = slot
    cdef str literal = part(text, value_start, end)
    cdef str frame = "past" if verb == "was" or verb == "were" else ""
    result.add(
        "slot",
        literal,
        value_start,
        end,
        part(text, start, sentence.end),
        key("slot", literal, negated, hedged, frame, f"{spelled(subject)}\x1f{spelled(attribute)}"),
        negated,
        hedged,
        frame,
        sentence.speaker if start == sentence.body else None,
        False,
        (subject, attribute, value),
    )
    return 0


cdef str _frame(Sentence sentence):
    """Polarity and certainty of a whole sentence."""
    if sentence.negators:
        return _BOTH if sentence.hedges else _NEGATED
    return _HEDGED if sentence.hedges else PLAIN


cdef bint _says_colon(Line line):
    cdef Py_ssize_t i
    for i in range(line.length - 1):
        if PyUnicode_READ(line.kind, line.data, i) == u":" and Py_UNICODE_ISSPACE(
            PyUnicode_READ(line.kind, line.data, i + 1)
        ):
            return True
    return False


cdef int _add_facts(Facts result, Line line, list said, list frames, dict slots) except -1:
    """The literals of a line as facts, each with what its sentence says of it."""
    cdef Py_ssize_t i, number = -1, stop = -1, begin, end, last = len(said) - 1
    cdef Sentence sentence = said[0]
    cdef _Clauses clauses = None
    cdef Found found
    cdef bint negated, hedged, is_part
    cdef Held* one
    cdef str kind, literal, frame, own, words_of = None, levelled = None
    cdef bytes known
    cdef tuple inside = None
    for i in range(line.holding):
        one = &line.held[i]
        begin, end = one.begin, one.end
        if begin >= stop and number < last:
            while begin >= stop and number < last:
                number += 1
                sentence = said[number]
                stop = sentence.end if number < last else line.length
            words_of = part(line.text, sentence.body, sentence.end)
            levelled = None
            clauses = _read_clauses(line.text, sentence) if sentence.negators or sentence.hedges else None
            frame = frames[number]
            inside = slots.get(sentence.start) if slots else None
        own = frame
        kind = <str>one.kind
        if kind == "number":
            if begin < sentence.body:  # the number of an item in a list says nothing
                continue
            if line.flags & BOUND_END and _may_bound(line, begin) and _BOUND.find(line.text, max(sentence.body, begin - 20), begin, &found):
                own = _BOUND.names[found.group] + frame
        negated = hedged = False
        if clauses is not None:
            clauses.govern(begin, end, &negated, &hedged)
        literal = part(line.text, begin, end) if one.text is NULL else <str>one.text
        if one.key is not NULL and own is PLAIN:
            known = <bytes>one.key
        else:
            if kind in _NEEDS_SENTENCE:
                if levelled is None:
                    levelled = " ".join(words_of.split())
                known = key(kind, literal, negated, hedged, own, levelled)
            else:
                known = key(kind, literal, negated, hedged, own, None)
        is_part = inside is not None and <Py_ssize_t>inside[0] <= begin and end <= <Py_ssize_t>inside[1]
        result.add(
            kind, literal, begin, end, words_of, known, negated, hedged, own, sentence.speaker, is_part, None
        )
    return 0


cdef bint _may_bound(Line line, Py_ssize_t at):
    """Whether what stands before a place may be a bound, by its last character."""
    while at > 0 and Py_UNICODE_ISSPACE(PyUnicode_READ(line.kind, line.data, at - 1)):
        at -= 1
    return at > 0 and PyUnicode_READ(line.kind, line.data, at - 1) in _BOUND_ENDS


cdef class _Clauses:
    """The clauses of a sentence, with what negates and what hedges in each."""

    cdef tuple marks
    cdef Sentence sentence

    cdef int govern(self, Py_ssize_t start, Py_ssize_t end, bint* negated, bint* hedged) except -1:
        """Whether a negation, and whether a hedge, stands in the clause around a literal."""
        cdef Py_ssize_t low = self.sentence.body, high = self.sentence.end
        cdef Py_ssize_t before = self._marks_before(start), after = self._marks_before(end)
        if before:
            low = self.marks[before - 1][1]
        if after < len(self.marks):
            high = self.marks[after][0]
        negated[0] = _any_within(self.sentence.negators, low, high)
        hedged[0] = _any_within(self.sentence.hedges, low, high)
        return 0

    cdef Py_ssize_t _marks_before(self, Py_ssize_t place) except -1:
        """How many ends of clauses begin before a place."""
        cdef Py_ssize_t low = 0, high = len(self.marks), middle
        while low < high:
            middle = (low + high) // 2
            if <Py_ssize_t>self.marks[middle][0] < place:
                low = middle + 1
            else:
                high = middle
        return low


cdef _Clauses _read_clauses(str text, Sentence sentence):
    cdef _Clauses result = _Clauses.__new__(_Clauses)
    result.marks = _CLAUSE_END.spans(text, sentence.body, sentence.end)
    result.sentence = sentence
    return result


cdef bint _any_within(tuple spans, Py_ssize_t low, Py_ssize_t high) except -1:
    cdef Py_ssize_t first, last
    for first, last in spans:
        if low <= first and last <= high:
            return True
    return False


cdef int _add_polarity(
    Facts result, Line line, Sentence sentence, str kind, tuple spans, str frame, bint is_part
) except -1:
    """Negations or hedges, each with the words that it governs, and whether the whole sentence denies and doubts."""
    cdef Found found
    cdef Py_ssize_t start, end, begin, done = sentence.body
    cdef str said = part(line.text, sentence.body, sentence.end), literal, levelled = None
    cdef bint denies = kind == "negation", negated = frame in _DENYING, hedged = frame in _DOUBTING
    for start, end in spans:
        if start < done or (denies and not _NEGATION.find(line.text, start, line.length, &found)):
            continue
        begin, done = start, end
        if _BEFORE.find(line.text, max(sentence.body, start - 12), start, &found):
            begin = found.begin
        if _AFTER.find(line.text, end, sentence.end, &found):
            done = found.end
        literal = part(line.text, begin, done)
        if levelled is None:
            levelled = " ".join(said.split())
        result.add(
            kind,
            literal,
            begin,
            done,
            said,
            key(kind, literal, negated, hedged, "", levelled),
            negated,
            hedged,
            "",
            sentence.speaker,
            is_part,
            None,
        )
    return 0
