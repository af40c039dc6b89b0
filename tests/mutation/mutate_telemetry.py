#!/usr/bin/env python3
"""Flips each mask, index, offset, comparison and bound of the telemetry kernels, one at a time, and runs the tests.

    tests/mutation/mutate_telemetry.py --build build/release          all mutants; exit 1 when one survives
    ... --only health.h --list                                        what would be flipped
    ... --places                                                      the 16 places of the NaN search in the learner

Inside functions every place (schema.py) asks at run time which alternative is active (runtime.h), so that all kernels
are compiled once, into a shared library; declarations are compiled sixteen copies at a time, each in a namespace of its
own. test_telemetry (test_learner for the places) is linked with the library once and forks before main, once a mutant
(server.h). Survivors that equivalent_mutants.txt lists, with the reason, do not count; an entry there that no longer matches
a survivor is named.

Operators: comparison (boundary and negation), arithmetic, assignment, logic, constant (+-1, +2 %, highest and lowest bit
of a mask), name (the next enumerator), index (+-1), call (maximum for minimum, a function left away), condition
(negated), choice (always one side), result (zero), case (never met), statement (left away).
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from schema import Sites, apply, code_of, hidden_switches

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"
HEADERS = ["telemetry_state.h", "telemetry_batch.h", "telemetry_signals.h", "telemetry_publish.h", "telemetry_nan.h",
           "health_samples.h", "health.h"]
PLACES = ROOT / "engine/learner/step_results.cpp"
HERE = Path(__file__).resolve().parent
EQUIVALENT = HERE / "equivalent_mutants.txt"
BATCH = 16



@dataclass
class Mutant:
    number: int
    header: str
    line: int  # from 0
    operator: str
    text: str  # the changed line

    def key(self):
        return (self.header, self.text.strip())

    def __str__(self):
        return f"{self.header}:{self.line + 1} {self.operator}: {self.text.strip()}"


class Header:
    """One header with all its places: inside functions they are chosen at run time, elsewhere at compile time."""

    def __init__(self, name, number):
        self.name = name
        self.lines = (KERNELS / name).read_text().split("\n")
        self.chosen = list(self.lines)  # the text that asks at run time
        self.at_run_time, self.at_compile_time = [], []
        self.number = number
        in_enum, begun, depth, self.of_device = False, None, 0, set()
        device = False  # between #if FH_DEVICE and what ends it: never compiled here
        for at, line in enumerate(self.lines):
            if re.match(r"#(if FH_DEVICE|else|endif)", line):
                device = line.startswith("#if")
            if device:
                self.of_device.add(at)
                continue
            code = code_of(line)
            in_enum = in_enum or bool(re.match(r"enum \w", code))
            if (in_enum and "=" in code) or re.match(r"inline constexpr \w+ k\w+ = ", code):
                self.declaration(at)
            in_enum = in_enum and "};" not in code
            if begun is None and code.startswith("FH_FN"):
                begun, depth = at, 0
            if begun is not None:
                depth += code.count("{") - code.count("}")
                if depth == 0 and "}" in code:
                    self.function(begun, at)
                    begun = None

    def take(self, count):
        self.number += count
        return self.number - count

    def declaration(self, at):
        line = self.lines[at]
        start = line.index("=") + 1
        for site in Sites(" " * start + line[start:]).all():
            if site.operator in ("arithmetic", "constant", "name"):
                for text in site.changed:
                    self.at_compile_time.append(
                        Mutant(self.take(1), self.name, at, site.operator, line[:start] + text[start:]))

    def function(self, first, last):
        for at in range(first, last + 1):
            line = self.lines[at]
            if line.startswith("FH_FN") or at in self.of_device:
                continue
            numbered = []
            for site in Sites(line).all():
                number = self.take(len(site.changed))
                numbered.append((number, site))
                for n, text in enumerate(site.changed):
                    self.at_run_time.append(Mutant(number + n, self.name, at, site.operator, text))
            self.chosen[at] = apply(line, numbered)
        for at, word, number, labels in hidden_switches(self.lines, first, last, self.number):
            self.take(len(labels))
            names = ", ".join(label for _, label in labels)
            self.chosen[at] = self.lines[at].replace(f"({word})", f"(fh_m::hide({number}, {word}, {names}))")
            for n, (where, label) in enumerate(labels):
                self.at_run_time.append(Mutant(number + n, self.name, where, "case", f"no case {label}:"))


def flatten(path, changed, seen):
    """The text of a file with the project's headers in place, each once; tables stay includes."""
    out = []
    text = changed.get(path.name) or path.read_text()
    for line in text.split("\n"):
        include = re.match(r'#include "(kernels/[\w.]+)"', line)
        if line.startswith("#include FH_HEADER"):
            include = re.match("(.*)", "kernels/telemetry.h")
        if include and include.group(1).endswith(".h"):
            inner = ROOT / include.group(1)
            if inner not in seen:
                seen.add(inner)
                out.append(flatten(inner, changed, seen))
        elif not line.startswith("#pragma once") and not line.startswith("#include <"):
            out.append(line)
    return "\n".join(out)


SYSTEM = "#include <time.h>\n#include <cmath>\n#include <cstddef>\n#include <cstdint>\n#include <cstdlib>\n"
FLAGS = ["-std=c++20", "-O1", "-fPIC", "-w", f"-I{ROOT}", "-DFH_FAMILY=telemetry", "-DFH_FAMILY_telemetry=1",
         "-DFH_ISA=one"]


def entries(call):
    """The functions that the table of kernels calls, whatever instruction sets it was built for."""
    functions = "\n".join(f"void emit_telemetry_{isa}(HostEntry* t) {{ {call} }}" for isa in ("base", "v3", "v4"))
    return f"namespace foxhunt::kernels {{\nstruct HostEntry;\n{functions}\n}}\n"


def chosen_unit(headers):
    """All mutants that are chosen at run time."""
    text = flatten(KERNELS / "emit_host.cpp", {h.name: "\n".join(h.chosen) for h in headers}, set())
    return (SYSTEM + f'#include "{HERE}/server.h"\n#include "{HERE}/runtime.h"\n' + text +
            entries("fh_m::active = fh_mutant; emit_telemetry_one(t);"))


def copies_unit(batch, headers):
    """Mutants of declarations: a copy of all kernels each, in a namespace of its own."""
    text, cases = [SYSTEM + f'#include "{HERE}/server.h"\n'], []
    for mutant in batch:
        lines = list(next(h for h in headers if h.name == mutant.header).lines)
        lines[mutant.line] = mutant.text
        name = f"mutant_{mutant.number}"
        text += [f"#define kernels {name}", f'#line 1 "{name}"',
                 flatten(KERNELS / "emit_host.cpp", {mutant.header: "\n".join(lines)}, set()), "#undef kernels"]
        cases.append(f"case {mutant.number}: foxhunt::{name}::emit_telemetry_one("
                     f"reinterpret_cast<foxhunt::{name}::HostEntry*>(t)); return;")
    text.append('static void pick(foxhunt::kernels::HostEntry* t) { switch (fh_mutant) {'
                + " ".join(cases) + " default: std::abort(); } }")
    return "\n".join(text[:-1]) + "\nnamespace foxhunt::kernels { struct HostEntry; }\n" + text[-1] + "\n" + entries(
        "pick(t);")


def compile_unit(text, library):
    source = library.with_suffix(".cpp")
    source.write_text(text)
    return subprocess.run(["g++", *FLAGS, "-fmax-errors=0", "-shared", str(source), "-o", str(library)],
                          capture_output=True, text=True, env=dict(os.environ, LC_ALL="C"))


def build_copies(batch, headers, library):
    """Returns the batch without what does not compile."""
    while batch:
        result = compile_unit(copies_unit(batch, headers), library)
        if result.returncode == 0:
            return batch
        bad = {int(n) for n in re.findall(r"mutant_(\d+):\d+:\d+: (?:fatal )?error", result.stderr)}
        if not bad:
            sys.exit(f"a unit does not compile:\n{result.stderr[:3000]}")
        batch = [mutant for mutant in batch if mutant.number not in bad]
    return batch


def link_tests(build, target, extra, output):
    """Links a test program again, with `extra` before the project's own archives."""
    commands = subprocess.run(["ninja", "-C", str(build), "-t", "commands", target], capture_output=True, text=True,
                              check=True).stdout.strip().split("\n")
    link = [c for c in commands if f"-o bin/{target}" in c][-1]
    words = shlex.split(link.split("&&")[1] if "&&" in link else link)
    words[words.index("-o") + 1] = str(output)
    first = next(i for i, w in enumerate(words) if w.endswith(".a"))
    words[first:first] = ["-Wl,--no-as-needed", *extra]
    subprocess.run(words, cwd=build, check=True)


def try_all(numbers, program, tests, results):
    """Statuses of the tests of each mutant, by number: 0 where all passed. One process a mutant, forked by server.h."""
    results.write_text("")
    if not numbers:
        return {}
    env = dict(os.environ, FOXHUNT_MUTANTS=" ".join(map(str, numbers)), FOXHUNT_RESULTS=str(results),
               OPENBLAS_NUM_THREADS="1")
    subprocess.run([str(program), f"--gtest_filter={tests}", "--gtest_fail_fast", "--gtest_brief=1"], env=env, check=True)
    return {int(n): int(status) for n, status in (line.split() for line in results.read_text().splitlines())}


# What kills most in the shortest time comes first; the rest sees only what is left.
FIRST = {"telemetry_nan.h": "NanSearch.*"}
FIRST_ELSE = "Words.*"
REST = ("Statistics.*:DriftOnDevice.*:Signals.*:Health.*:*OfBatch*:Publish.*:NanSearch.*:SnapshotEnvelope.IsReadWhole:"
        "StepRing.*:-*FastWriter*")


def read_equivalent():
    """{(header, changed line): reason}"""
    entries, header, text = {}, None, None
    for line in EQUIVALENT.read_text().split("\n") if EQUIVALENT.exists() else []:
        if line.startswith("# ") or not line.strip():
            continue
        if line.startswith("    because "):
            entries[(header, text)] = line.strip()
        else:
            header, text = line.split(": ", 1)
    return entries


def survivors_of(mutants, program, work):
    survivors, begun = [], time.time()
    for at in range(0, len(mutants), 50):
        part = mutants[at:at + 50]
        alive = []
        for first in sorted({FIRST.get(m.header, FIRST_ELSE) for m in part}):
            these = [m.number for m in part if FIRST.get(m.header, FIRST_ELSE) == first]
            alive += [n for n, status in try_all(these, program, first, work / "results").items() if status == 0]
        alive = [n for n, status in try_all(alive, program, REST, work / "results").items() if status == 0]
        for mutant in part:
            if mutant.number in alive:
                survivors.append(mutant)
                print(f"SURVIVES {mutant}", flush=True)
        print(f"{at + len(part)} of {len(mutants)}, {len(survivors)} survive, {time.time() - begun:.0f} s",
              file=sys.stderr, flush=True)
    return survivors


def run_kernels(arguments, work):
    headers, number = [], 1
    for name in HEADERS:
        headers.append(Header(name, number))
        number = headers[-1].number
    wanted = [h for h in headers if arguments.only in ("", h.name)]
    at_run_time = [m for h in wanted for m in h.at_run_time]
    at_compile_time = [m for h in wanted for m in h.at_compile_time]
    mutants = at_run_time + at_compile_time
    if arguments.list:
        print("\n".join(str(m) for m in mutants))
        print(f"{len(mutants)} mutants")
        return True
    library, program = work / "libmutants.so", work / "test_telemetry"
    result = compile_unit(chosen_unit(headers), library)
    if result.returncode != 0:
        sys.exit(result.stderr[:6000])
    link_tests(arguments.build, "test_telemetry", [str(library), f"-Wl,-rpath,{work}"], program)
    for tests in (FIRST_ELSE, REST):
        if try_all([0], program, tests, work / "results") != {0: 0}:
            sys.exit("the tests fail without any mutant")
    if arguments.new:
        listed = read_equivalent()
        at_run_time = [m for m in at_run_time if m.key() not in listed]
        at_compile_time = [m for m in at_compile_time if m.key() not in listed]
    survivors, stillborn = survivors_of(at_run_time, program, work), 0
    for at in range(0, len(at_compile_time), BATCH):
        batch = at_compile_time[at:at + BATCH]
        alive = build_copies(batch, headers, library)
        stillborn += len(batch) - len(alive)
        survivors += survivors_of(alive, program, work)
    return report(arguments, mutants, survivors, stillborn)


def report(arguments, mutants, survivors, stillborn):
    entries = read_equivalent()
    open_ones = [m for m in survivors if m.key() not in entries]
    headers = {m.header for m in mutants}
    if arguments.new:
        survivors = open_ones + [m for m in mutants if m.key() in entries]
    stale = [key for key in entries if key[0] in headers and key not in {m.key() for m in survivors}]
    killed = len(mutants) - stillborn - len(survivors)
    print(f"{len(mutants)} mutants: {stillborn} do not compile, {killed} killed, "
          f"{len(survivors) - len(open_ones)} equivalent, {len(open_ones)} survive")
    for m in open_ones:
        print(f"{m.number} {m}")
    for header, text in stale:
        print(f"no survivor any more, remove it from {EQUIVALENT.name}: {header}: {text}")
    return not open_ones


def run_places(arguments, work):
    """Each place of the learner's NaN search under its neighbour's name, and each range one off."""
    text = PLACES.read_text()
    start = text.index("nan_checks(")
    head, body = text[:start], text[start:]
    sites = []

    def site(m):
        sites.append(m.group(0))
        return f"fh_mutated({len(sites)}, {m.group(0)})"

    body = re.sub(r"NanPlace::[a-z_]+", site, body)
    helper = f"""#include "{HERE}/server.h"
namespace {{ template <class T> T fh_mutated(int site, T place) {{
  return fh_mutant == site ? static_cast<T>((static_cast<int>(place) + 1) % 16) : place;
}} }}
"""
    source = work / "step_results.cpp"
    source.write_text(helper + head + body)
    commands = subprocess.run(["ninja", "-C", str(arguments.build), "-t", "commands", "test_learner"],
                              capture_output=True, text=True, check=True).stdout.split("\n")
    compile_line = next(c for c in commands if " -c " in c and c.rstrip().endswith("engine/learner/step_results.cpp"))
    words = shlex.split(compile_line)
    if words[0].endswith("ccache"):
        words = words[1:]
    for option in ("-o", "-MF", "-MT"):
        words[words.index(option) + 1] = str(work / ("step_results.d" if option == "-MF" else "step_results.o"))
    words[-1] = str(source)
    subprocess.run(words, cwd=arguments.build, check=True)
    program = work / "test_learner"
    link_tests(arguments.build, "test_learner", [str(work / "step_results.o")], program)
    status = try_all(list(range(len(sites) + 1)), program, "*NanFault*", work / "results")
    if status.pop(0) != 0:
        sys.exit("the tests fail without any mutant")
    alive = [sites[n - 1] for n, code in status.items() if code == 0]
    print(f"{len(sites)} places: {len(sites) - len(alive)} killed, {len(alive)} survive")
    for s in alive:
        print(s)
    return not alive


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build folder with the tests built")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "foxhunt-mutants", help="scratch folder")
    parser.add_argument("--only", default="", help="one header")
    parser.add_argument("--list", action="store_true", help="list the mutants, run nothing")
    parser.add_argument("--new", action="store_true", help="take the listed equivalent ones for granted")
    parser.add_argument("--nice", type=int, default=19)
    parser.add_argument("--places", action="store_true", help="the places of the NaN search instead of the kernels")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    arguments.work.mkdir(parents=True, exist_ok=True)
    os.nice(arguments.nice)
    run = run_places if arguments.places else run_kernels
    sys.exit(0 if run(arguments, arguments.work.resolve()) else 1)


main()
