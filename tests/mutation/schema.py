"""Operators of the mutation run: every place of one line of C++ that can be flipped, and the line in which each flip is
chosen at run time.

A site is one place with one to three alternatives. `Site.changed` has the line as each alternative would be written;
`Site.edits` turn the line into one that asks `fh_m` (runtime.h) which alternative is active. Edits are insertions or
replacements of single tokens, so that all sites of a line can stand in it at once.
"""
import re
from dataclasses import dataclass

COMPARISONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "<<": ">>", ">>": "<<"}
CALLS = {"maximum": "minimum", "minimum": "maximum", "fabs": "", "fabsf": "", "sqrt": "", "log10": "", "log": ""}
NAMES = re.compile(r"(?<![.>\w])((signal|step_word|health|batch|sample|magnitude|arena|loss|envelope|reference|direction)_[a-z]\w*"
                   r"|kShown\w+|kReferences|kGradientSlots|kSampleColumns|kNoMirror|kRingRecords|kSignals)\b(?!\()")
LITERAL = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+[uUlL]*|\d+\.?\d*(?:[eE][+-]?\d+)?[fuUlL]*)(?![\w.])")
ARRAY = re.compile(r"^\s*(const )?(double|float|int|u?int\d+_t) \w+(\[[^\]]*\])")


@dataclass
class Site:
    operator: str
    changed: list  # lines
    edits: list    # (start, end, rank, text with {id}); rank orders what is inserted at one place, outer first


def blank(match):
    return " " * len(match.group(0))


def code_of(line):
    """The line with comments, strings and template arguments blanked out: columns stay."""
    line = re.sub(r'"[^"]*"', blank, line)
    line = re.sub(r"//.*$", blank, line)
    line = re.sub(r"(?<=_cast)<[^<>]*(<[^<>]*>)?[^<>]*>", blank, line)
    return re.sub(r"\btemplate <[^>]*>", blank, line)


def literal_changes(text):
    if text.lower().startswith("0x"):
        digits = re.match(r"0[xX]([0-9a-fA-F]+)", text).group(1)
        suffix, value = text[2 + len(digits):], int(digits, 16)
        top, low = 1 << (value.bit_length() - 1), value & -value
        return [f"{hex(value ^ top)}{suffix}", f"{hex(value ^ low)}{suffix}"]
    number = re.match(r"[0-9.]+(?:[eE][+-]?\d+)?", text).group(0)
    suffix = text[len(number):]
    if re.fullmatch(r"\d+", number):
        value = int(number)
        return [f"{value + 1}{suffix}"] + ([f"{value - 1}{suffix}"] if value else [])
    value = float(number)
    return [f"{value * 1.02 if value else 0.02!r}{suffix}"]


def bracket_end(code, start):
    depth = 0
    for i in range(start, len(code)):
        depth += {"[": 1, "]": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return -1


class Sites:
    def __init__(self, line):
        self.line, self.code, self.found = line, code_of(line), []
        array = ARRAY.match(self.code)
        self.bound = array.span(3) if array else (0, 0)  # a constant expression: left alone

    def with_text(self, start, end, text):
        return self.line[:start] + text + self.line[end:]

    def token(self, operator, span, texts, edit):
        if not (self.bound[0] <= span[0] < self.bound[1]):
            self.found.append(Site(operator, [self.with_text(*span, t) for t in texts], [(*span, 5, edit)]))

    def around(self, operator, span, text, before, after, rank):
        self.found.append(Site(operator, [text], [(span[0], span[0], rank, before), (span[1], span[1], -rank, after)]))

    def operators(self):
        for m in re.finditer(r"(?<=\s)(<=|>=|==|!=|<|>)(?=\s)", self.code):
            sign = m.group(1)
            self.token("comparison", m.span(), COMPARISONS[sign], f"{sign} fh_m::Op{{{{{{id}}}}}} {sign}")
        for m in re.finditer(r"(?<= )(<<|>>|[-+*/%&|])(?= )", self.code):
            sign = m.group(1)
            self.token("arithmetic", m.span(), [ARITHMETIC[sign]], f"{sign} fh_m::Op{{{{{{id}}}}}} {sign}")
        for m in re.finditer(r"&&|\|\|", self.code):
            sign = m.group(0)
            other = "||" if sign == "&&" else "&&"
            self.token("logic", m.span(), [other], f"{sign} fh_m::Op{{{{{{id}}}}}} {sign}")
        for m in re.finditer(r"!(?!=)", self.code):
            self.token("logic", m.span(), [""], "fh_m::is({id}) ^ !")

    def values(self):
        case = re.match(r"\s*case ", self.code)
        for m in LITERAL.finditer(self.code):
            texts = literal_changes(m.group(1))
            self.token("constant", m.span(1), texts, f"fh_m::pick({{id}}, {', '.join([m.group(1)] + texts)})")
        for m in [] if case else NAMES.finditer(self.code):
            name = m.group(0)
            self.token("name", m.span(), [f"({name} + 1)"], f"fh_m::next({{id}}, {name})")
        for m in re.finditer(r"(?<=[\w\])])\[", self.code):
            end = bracket_end(self.code, m.start())
            inside = self.line[m.end():end]
            if end < 0 or re.fullmatch(r"\d*", inside.strip()) or m.start() == self.bound[0]:
                continue
            texts = [self.with_text(m.end(), end, f"({inside}) {sign} 1") for sign in "+-"]
            self.found.append(Site("index", texts, [(m.end(), m.end(), 4, "("), (end, end, -4, ") + fh_m::off({id})")]))
        for m in re.finditer(r"(?<![\w.])(" + "|".join(CALLS) + r")\(", self.code):
            name = m.group(1)
            self.token("call", m.span(), [CALLS[name] + "("], f"fh_m::{name}({{id}}, ")
        for m in re.finditer(r"\bINFINITY\b", self.code):
            self.token("constant", m.span(), ["0.0f"], "fh_m::pick({id}, INFINITY, 0.0f)")

    def assignments(self):
        end = self.code.rfind(";")
        for m in re.finditer(r" (\+=|-=|\|=) (block\.threads\(\)|team\.(?:lanes|teams)\b)?", self.code):
            if m.group(2):  # a stride that misses elements, since one that runs backwards never ends
                self.token("assignment", (m.end(1), m.end(1)), [" 1 +"], " fh_m::off({id}) +")
            elif end > 0 and self.code[end:].strip() == ";":
                other, function = {"+=": ("-=", "minus"), "-=": ("+=", "minus"), "|=": ("&=", "none")}[m.group(1)]
                self.around("assignment", (m.end(), end), self.with_text(*m.span(1), other), f"fh_m::{function}({{id}}, ",
                            ")", 3)
        for m in re.finditer(r"\+\+(\w+)", self.code):
            self.token("assignment", m.span(), [f"{m.group(1)} += 2"], f"fh_m::step({{id}}, {m.group(1)})")

    def flow(self):
        line, code = self.line, self.code
        m = re.match(r"(\s*(?:} else )?(?:if|while) \()(.*?)(\) ?(?:\{|return[^;]*;|continue;|\+\+\w+;|[\w.\[\] ]+ \+= [^;]*;|)\s*)$",
                     code)
        if m and m.group(2).count("(") == m.group(2).count(")"):
            text = line[:m.start(2)] + f"!({line[m.start(2):m.end(2)]})" + line[m.end(2):]
            self.around("condition", m.span(2), text, "fh_m::is({id}) ^ static_cast<bool>(", ")", 1)
        for m in re.finditer(r" \? ", code):
            at = (m.start(), m.start())
            if "||" not in code[:m.start()]:
                self.token("choice", at, [" && false"], " && !fh_m::is({id})")
            self.found.append(Site("choice", [self.with_text(*at, " || true")], [(*at, 6, " || fh_m::is({id})")]))
        m = re.match(r"(.*\breturn )([^;{]+);\s*$", code)
        if m and not re.fullmatch(r"[\w.]*0[.f]*|true|false", m.group(2)):
            self.around("result", m.span(2), line[:m.start(2)] + "{};", "fh_m::result({id}, ", ")", 0)
        m = re.match(r"(\s*)((?:continue|return|[\w.\[\]>()*&, +-]+ [-+|*/]?= .*|[\w.]+\(.*\));)\s*$", code)
        if m and "sync" not in code and not re.match(
                r"\s*(const|double|float|int|u?int\d+_t|bool|auto|return \w|case|default|Tile|if|for|while|"
                r"\w+& )", code) and not code.strip().startswith((")", "?", ":")):
            self.around("statement", m.span(2), m.group(1) + ";", "{{ if (!fh_m::is({id})) {{ ", " }} }}", -1)

    def all(self):
        self.operators()
        self.values()
        self.assignments()
        self.flow()
        return self.found


def apply(line, numbered):
    """numbered: (first id, site)"""
    edits = []
    for first, site in numbered:
        for start, end, rank, text in site.edits:
            edits.append((start, end, rank, text.format(id=first)))
    # At one place what closes comes before what opens; the innermost closes first, the outermost opens first.
    edits.sort(key=lambda e: (e[0], e[1], e[2]))
    out, at = [], 0
    for start, end, _, text in edits:
        out.append(line[at:start])
        out.append(text)
        at = max(at, end)
    out.append(line[at:])
    return "".join(out)


def hidden_switches(lines, first, last, next_id):
    """Case labels that are never met: (line of the switch, ids, labels, lines of the labels)."""
    found = []
    for number in range(first, last):
        m = re.match(r"(\s*)switch \((\w+)\) \{$", lines[number])
        if not m:
            continue
        labels = []
        for inner in range(number + 1, last):
            if lines[inner].startswith(m.group(1) + "}"):
                break
            label = re.match(r"\s*case (\w+):", lines[inner])
            if label:
                labels.append((inner, label.group(1)))
        found.append((number, m.group(2), next_id, labels))
        next_id += len(labels)
    return found
