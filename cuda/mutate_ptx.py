#!/usr/bin/env python3
"""Shows on a GPU that `mlsearch gpu-selftest` finds a wrong instruction: mutation tests of the compiled kernels.

    cuda/mutate_ptx.py target/release/mlsearch [--each N] [--seed N] [--jobs N] [--timeout SECONDS] [--skip KIND] [--ptxas PATH]

Copies of the program are made in which one instruction of the PTX is another one, N of each of the kinds below, at places that are drawn. Each copy
runs `gpu-selftest --compare` in a folder of its own, which must fail: with other bits or with an error. One that does not come to an end is counted apart: that says something
only where the timeout is far above what an unchanged program takes with as many others beside it (45 s alone on an H100). Where it does not fail, the
instruction is replaced by one that ends the launch: if that is not found either, nothing comes to this place (a kernel that is shared by several
has ways that one of them does not take). What is executed and not found is listed with its function, to be looked at: some changes have no effect, as
in a comparison that is never near its limit, or a constant's last digits in a term that is too small for them.

A barrier that is left out need not show in any number, because threads may happen to come in the right order: such changes are counted apart (racecheck
of compute-sanitizer and the thread sanitizer of `tests/cuda_stand_in.rs` are for them). So are those that the driver does not accept.

With `--ptxas`, nothing is run: it is only checked that each changed file still compiles.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PTX = pathlib.Path(__file__).parent / "ptx"
# Of double precision, which the self-test compares with the processor bit by bit.
UNITS = ["states_4", "states_20", "states_64", "states_any"]
# Functions that no kernel of these files calls: those in single precision, and what the host compares sizes with.
UNUSED = re.compile(rb"Li\d+Ef|^common_sizes$")
BARRIER = "barrier left out"
# What may happen to a change.
HAPPENED = ["found", "not found", "not executed", "no end", "refused"]
# What is changed, as a regular expression of bytes, and what stands there instead: as many bytes.
KINDS = {
    "rounding of a multiply-add": (rb"fma\.rn\.f64", lambda m: b"fma.rz.f64"),
    "sign of a summand": (rb"add\.rn\.f64", lambda m: b"sub.rn.f64"),
    "sum instead of product": (rb"mul\.rn\.f64", lambda m: b"add.rn.f64"),
    "comparison of numbers": (rb"setp\.(lt|gt)\.f64", lambda m: b"setp.%s.f64" % {b"lt": b"gt", b"gt": b"lt"}[m[1]]),
    "end of a loop": (rb"setp\.(lt|ge)\.u32", lambda m: b"setp.%s.u32" % {b"lt": b"le", b"ge": b"gt"}[m[1]]),
    "address": (rb"(ld\.(?:global\.|shared\.)?f64 \t%fd\d+, \[%r\w*\d+\+)(\d+)\]", lambda m: m[1] + b"0".rjust(len(m[2]), b"0") + b"]"),
    "index": (rb"(shl\.b64 \t%rd\d+, %rd\d+, )3;", lambda m: m[1] + b"2;"),
    "store left out": (rb"\tst(\.(?:global\.|shared\.)?f64)", lambda m: b"\t//" + m[1]),
    BARRIER: (rb"\tbar\.sync", lambda m: b"\t//r.sync"),
    "choice": (rb"(selp\.f64 \t%fd\d+, )(%fd\d+|0d\w{16}), (%fd\d+|0d\w{16}),", lambda m: m[1] + m[3] + b", " + m[2] + b","),
    "constant": (rb"(\.f64 \t%fd\d+, (?:%fd\d+, )?0d[34]\w{8})(\w)", lambda m: m[1] + (b"7" if m[2] != b"7" else b"8")),
}


def function_at(text, place):
    """The name of the function in whose body this byte is."""
    start = max(text.rfind(word, 0, place) for word in (b"\n.func ", b"\n.visible ", b"\n.entry "))
    return re.search(rb"\.(?:entry|func)\s+(?:\([^)]*\)\s+)?(\w+)", text[start:place])[1]


def mutants(each, seed):
    """(kind, unit, offset in its PTX, replacement, function) of each change."""
    draw = random.Random(seed)
    texts = {unit: (PTX / f"{unit}_75.ptx").read_bytes() for unit in UNITS}
    for kind, (pattern, change) in KINDS.items():
        places = []
        for unit, text in texts.items():
            for found in re.finditer(pattern, text):
                replacement, function = change(found), function_at(text, found.start())
                if len(replacement) == len(found[0]) and replacement != found[0] and not UNUSED.search(function):
                    places.append((kind, unit, found.start(), replacement, function.decode()))
        yield from draw.sample(places, min(each, len(places)))


def changed(text, start, replacement):
    return text[:start] + replacement + text[start + len(replacement) :]


def statement_at(text, place):
    """Where the instruction at this byte begins, after its predicate, and its end."""
    line = text.rindex(b"\n", 0, place) + 1
    start = line + len(re.match(rb"\s*(?:@!?%p\d+\s+)?", text[line:])[0])
    return start, text.index(b";", start) + 1


def said_of(program, unit, start, replacement, timeout):
    """What the self-test says if the bytes from `start` on are others: (what happened, in words), of HAPPENED."""
    text = (PTX / f"{unit}_75.ptx").read_bytes()
    whole = program.read_bytes()
    if whole.count(text) != 1:
        sys.exit(f"mutate_ptx.py: {program} does not have the kernels of {PTX / unit}_75.ptx: build it again")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "mlsearch"
        copy.write_bytes(changed(whole, whole.index(text) + start, replacement))
        copy.chmod(0o755)
        command = [str(copy), "gpu-selftest", "--compare", "--redo"]
        try:
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return "no end", f"after {timeout} s"
    if run.returncode == 0:
        return "not found", ""
    said = [line.strip() for line in (run.stderr + run.stdout).splitlines() if line.strip()]
    of_bits = [line for line in said if "differ from those of the processor" in line]
    if of_bits:
        return "found", f"other bits: {re.search('[0-9]+', of_bits[0].partition('mlsearch: ')[2])[0]} numbers"
    reason = next((line for line in said if re.search("error|stopped|panicked|does not accept|cannot be used", line)), said[-1] if said else "")
    refused = "does not accept the kernels" in reason
    return "refused" if refused else "found", f"exit code {run.returncode}: {reason}"


def outcome(program, mutant, timeout):
    """What the self-test says of a changed program: (what happened, in words)."""
    _, unit, start, replacement, _ = mutant
    happened, said = said_of(program, unit, start, replacement, timeout)
    if happened != "not found":
        return happened, said
    begin, end = statement_at((PTX / f"{unit}_75.ptx").read_bytes(), start + 1)
    ending, _ = said_of(program, unit, begin, b"trap;".ljust(end - begin), timeout)
    return ("not executed" if ending == "not found" else "not found"), f"at byte {start}"


def compiles(ptxas, mutant):
    _, unit, start, replacement, _ = mutant
    text = changed((PTX / f"{unit}_75.ptx").read_bytes(), start, replacement)
    run = subprocess.run([ptxas, "-arch=sm_90", "-O0", "-o", "/dev/null", "-"], input=text, capture_output=True)
    return run.returncode == 0, run.stderr.decode()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("--each", type=int, default=3)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=4)
    arguments.add_argument("--timeout", type=float, default=600.0)
    arguments.add_argument("--skip", action="append", default=[], choices=list(KINDS), help="a kind of change that is not made")
    arguments.add_argument("--ptxas")
    options = arguments.parse_args()
    every = [mutant for mutant in mutants(options.each, options.seed) if mutant[0] not in options.skip]
    if options.ptxas:
        for mutant in every:
            is_compiled, said = compiles(options.ptxas, mutant)
            print(f"{mutant[0]:<28} {mutant[1]:<10} {mutant[4]:<40} {'compiles' if is_compiled else said}")
        return
    program = options.program.resolve()
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda mutant: outcome(program, mutant, options.timeout), every)
        for (kind, unit, _, _, function), (happened, said) in zip(every, outcomes):
            counts[kind == BARRIER, happened] += 1
            word = happened.upper() if happened == "not found" else happened
            print(f"{kind:<28} {unit:<10} {function[:40]:<40} {word}, {said}", flush=True)
    for is_barrier in (False, True):
        of_kind = ", ".join(f"{counts[is_barrier, happened]} {happened}" for happened in HAPPENED)
        print(f"{'barriers left out' if is_barrier else 'other changes'}: {of_kind}")
    sys.exit(counts[False, "not found"] > 0)


if __name__ == "__main__":
    main()
