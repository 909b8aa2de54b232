#!/usr/bin/env python3
"""Compiles the kernels to the PTX files that are part of the repository, and prints what each kernel takes on a GPU.

    cuda/build_ptx.py [--venv FOLDER]

NVIDIA's compilers come as wheels from PyPI, of the versions below, into a virtual environment: FOLDER, which is made if it is
not there, or one that is removed at the end. No GPU and no driver are needed. NVRTC 12.0 is used although newer ones
exist: the PTX that it writes (ISA 8.0) is accepted by drivers from version 525 on.

`tests/cuda_stand_in.rs` compares the checksum of the sources with that in the PTX files: run this after each change of a
kernel.
"""

import argparse
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zlib

WHEELS = ["nvidia-cuda-nvrtc-cu12==12.0.140", "nvidia-cuda-nvcc-cu12==12.9.86"]
# The oldest capability that can run the file: Turing. (What newer GPUs could do in addition is not used so far.)
CAPABILITY = 75
# Machine code of these GPUs is made from the file, to see registers and spills.
CARDS = [75, 80, 86, 89, 90, 100, 120]
SOURCES = ["common.cuh", "precision.cuh", "operand.cuh", "pmatrix.cu", "partials.cu", "likelihood.cu", "derivatives.cu", "newton.cuh", "team.cuh",
           "sweep.cu", "kernels.cu"]
# The PTX files: the sources of each, of which the last one includes the others, and definitions.
UNITS = {
    "states_4": (SOURCES, ["UNIT=4"]),
    "states_20": (SOURCES, ["UNIT=20"]),
    "states_64": (SOURCES, ["UNIT=64"]),
    "states_any": (SOURCES, ["UNIT=0"]),
    "single_4": (SOURCES, ["UNIT=4", "IN_SINGLE"]),
    "single_20": (SOURCES, ["UNIT=20", "IN_SINGLE"]),
    "single_64": (SOURCES, ["UNIT=64", "IN_SINGLE"]),
    "probe": (["common.cuh", "team.cuh", "probe.cu"], []),
    "distances": (["common.cuh", "distances.cu"], []),
}
OPTIONS = ["--std=c++17", "-fmad=false", "--restrict"]

HERE = pathlib.Path(__file__).resolve().parent


def checksum(sources):
    """CRC-32 of all sources of a unit, one after the other."""
    value = 0
    for name in sources:
        value = zlib.crc32((HERE / name).read_bytes(), value)
    return f"{value:08x}"


def install(folder):
    """Installs the compilers; returns the folder of NVIDIA's packages."""
    if not (folder / "bin").exists():
        venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", *WHEELS], check=True)
    return next(folder.glob("lib/python*/site-packages/nvidia"))


class Nvrtc:
    """The compiler as a library."""

    def __init__(self, packages):
        folder = packages / "cuda_nvrtc" / "lib"
        ctypes.CDLL(str(next(folder.glob("libnvrtc-builtins.so.*"))), mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(folder / "libnvrtc.so.12"))

    def text(self, program, kind):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{kind}")(program, buffer)
        return buffer.value.decode()

    def compile(self, name, definitions, capability):
        options = [*OPTIONS, *(f"-D{definition}" for definition in definitions), f"--gpu-architecture=compute_{capability}", f"--include-path={HERE}"]
        program = ctypes.c_void_p()
        source = (HERE / name).read_bytes()
        self.library.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), 0, None, None)
        given = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        status = self.library.nvrtcCompileProgram(program, len(options), given)
        if status != 0:
            sys.exit(self.text(program, "ProgramLog"))
        return self.text(program, "PTX")


def without_comments(ptx):
    """The text without comments and empty lines, which are a tenth of it."""
    lines = (line.split("//")[0].rstrip() for line in ptx.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def report(ptxas, path, GPU):
    """Lines of registers, spills and shared memory of all kernels on one kind of GPU."""
    command = [ptxas, f"-arch=sm_{GPU}", "-v", "-o", "/dev/null", path]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    # By kernel: what is said of it follows its name.
    for part in said.split("Compiling entry function '")[1:]:
        name = part.split("'")[0]
        spilled = sum(int(number) for number in re.findall(r"(\d+) bytes spill", part))
        stack = max(int(number) for number in re.findall(r"(\d+) bytes stack frame", part))
        registers = re.findall(r"Used (\d+) registers", part)
        shared = re.findall(r"(\d+) bytes smem", part)
        print(f"sm_{GPU}\t{name}\t{registers[0]}\t{spilled}\t{stack}\t{shared[0] if shared else 0}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path)
    chosen = parser.parse_args().venv
    with tempfile.TemporaryDirectory() as temporary:
        packages = install(chosen or pathlib.Path(temporary) / "venv")
        nvrtc = Nvrtc(packages)
        ptxas = packages / "cuda_nvcc" / "bin" / "ptxas"
        print("card\tkernel\tregisters\tspilled bytes\tstack\tshared bytes")
        for unit, (sources, definitions) in UNITS.items():
            path = HERE / "ptx" / f"{unit}_{CAPABILITY}.ptx"
            head = f"// Made by cuda/build_ptx.py with {WHEELS[0]} from sources with the CRC-32 {checksum(sources)}.\n"
            path.parent.mkdir(exist_ok=True)
            path.write_text(head + without_comments(nvrtc.compile(sources[-1], definitions, CAPABILITY)))
            for GPU in CARDS:
                report(ptxas, path, GPU)


if __name__ == "__main__":
    main()
