"""Alignments and partition files as `compare.py` reads them, and the formats in which it passes them to the programs.

Every program is given the same file, written anew here: relaxed PHYLIP, a line for each taxon, names that all of them read.
"""

import gzip
import lzma
import re
from dataclasses import dataclass, field

# The matrices that all programs with partitioned protein models know by the same name.
PROTEIN_MATRICES = frozenset(
    "DAYHOFF DCMUT JTT MTREV WAG RTREV CPREV VT BLOSUM62 MTMAM LG MTART MTZOA PMB HIVB HIVW FLU".split()
)

# Where other characters stand in a name, some program takes them for Newick or writes another name.
UNSAFE_IN_NAMES = re.compile(r"[^\w.|+-]", re.ASCII)

# A sequence is DNA if this share of its known characters are nucleotides.
DNA_SHARE = 0.9


class CompareError(Exception):
    """What the user gave cannot be used; the message says why."""


@dataclass(frozen=True)
class Partition:
    """Columns with a model of their own.

    matrix -- GTR, or the name of an amino-acid matrix
    counted -- the frequencies are those counted in the data, else those of the matrix
    ranges -- (first, last, stride) with columns counted from 1, last included
    """

    matrix: str
    counted: bool
    ranges: tuple = ()

    @property
    def model(self):
        """As mlsearch, IQ-TREE and RAxML-NG spell it; all of them take the means of four gamma categories."""
        return self.matrix + ("+F" if self.counted else "") + "+G4"

    @property
    def raxml_type(self):
        """The word for it in RAxML's partition files."""
        return "DNA" if self.matrix == "GTR" else self.matrix + ("F" if self.counted else "")

    def columns(self, separator):
        """Its ranges as text: 1-9\\3."""
        texts = (f"{first}-{last}" + (f"\\{stride}" if stride > 1 else "") for first, last, stride in self.ranges)
        return separator.join(texts)


@dataclass
class Dataset:
    """An alignment and, where there is a partition file, its partitions.

    label -- what it is called in tables
    rows -- (name, sequence) of each taxon
    is_dna -- nucleotides, else amino acids
    partitions -- empty: one model for all columns
    """

    label: str
    rows: list
    is_dna: bool
    partitions: list = field(default_factory=list)

    @property
    def num_sites(self):
        return len(self.rows[0][1])

    @property
    def whole(self):
        """The one model of all columns, for programs without partitions and for data without a partition file."""
        return Partition("GTR" if self.is_dna else "LG", counted=self.is_dna)

    def describe(self):
        kind = "DNA" if self.is_dna else "protein"
        genes = f", {len(self.partitions)} partitions" if self.partitions else f", {self.whole.model}"
        return f"{self.label}: {len(self.rows)} taxa, {self.num_sites} sites, {kind}{genes}"

    def write(self, folder):
        """Writes all forms of the data into the folder.

        Partitions are renamed p1, p2 ...: not every program takes every name.
        """
        rows = "".join(f"{name}  {sequence}\n" for name, sequence in self.rows)
        (folder / "alignment.phy").write_text(f"{len(self.rows)} {self.num_sites}\n{rows}")
        if not self.partitions:
            return
        numbered = [(f"p{number}", part) for number, part in enumerate(self.partitions, 1)]
        lines = [f"{part.raxml_type}, {name} = {part.columns(', ')}\n" for name, part in numbered]
        (folder / "partitions.raxml").write_text("".join(lines))
        lines = [f"{part.model}, {name} = {part.columns(', ')}\n" for name, part in numbered]
        (folder / "partitions.models").write_text("".join(lines))
        sets = "".join(f"  charset {name} = {part.columns(' ')};\n" for name, part in numbered)
        models = ", ".join(f"{part.model}:{name}" for name, part in numbered)
        nexus = f"#nexus\nbegin sets;\n{sets}  charpartition all = {models};\nend;\n"
        (folder / "partitions.nex").write_text(nexus)


def read_dataset(argument, label):
    """Reads ALIGNMENT or ALIGNMENT:PARTITIONS."""
    alignment, _, partition_file = argument.partition(":")
    rows = read_alignment(alignment)
    known = "".join(sequence for _, sequence in rows).upper()
    known = re.sub(r"[^A-Z]|[NX]", "", known)
    is_dna = sum(known.count(letter) for letter in "ACGTU") >= DNA_SHARE * len(known)
    dataset = Dataset(label, rows, is_dna)
    if partition_file:
        dataset.partitions = read_partitions(partition_file, dataset)
    return dataset


def read_text(path):
    """The text of a file, unpacked if its name says that it is packed."""
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path[-3:], open)
    try:
        with opener(path, "rt", encoding="utf-8") as stream:
            return stream.read()
    except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        raise CompareError(f"{path}: {error}") from error


def read_alignment(path):
    """(name, sequence) of each taxon, from FASTA or relaxed PHYLIP, sequential or interleaved."""
    text = read_text(path).strip()
    rows = parse_fasta(text) if text.startswith(">") else parse_phylip(text, path)
    rows = [(UNSAFE_IN_NAMES.sub("_", name), sequence) for name, sequence in rows]
    names = {name for name, _ in rows}
    if len(names) < len(rows) or "" in names:
        raise CompareError(f"{path}: a name is missing or stands there twice (as every program reads it)")
    if len({len(sequence) for _, sequence in rows}) != 1 or not rows[0][1]:
        raise CompareError(f"{path}: the sequences are not of one length")
    return rows


def parse_fasta(text):
    records = (record.partition("\n") for record in text[1:].split("\n>"))
    return [((head.split() or [""])[0], "".join(body.split())) for head, _, body in records]


def parse_phylip(text, path):
    head, _, body = text.partition("\n")
    try:
        num_taxa, num_sites = map(int, head.split()[:2])
    except ValueError:
        raise CompareError(f"{path}: neither FASTA nor PHYLIP") from None
    lines = [line.split() for line in body.split("\n") if line.strip()]
    for parse in (parse_interleaved, parse_sequential):
        rows = parse(lines, num_taxa, num_sites)
        if len(rows) == num_taxa and all(len(sequence) == num_sites for _, sequence in rows):
            return rows
    raise CompareError(f"{path}: not {num_taxa} sequences of {num_sites} characters in relaxed PHYLIP")


def parse_interleaved(lines, num_taxa, _num_sites):
    rows = [(words[0], "".join(words[1:])) for words in lines[:num_taxa]]
    chunks = ["".join(words) for words in lines[num_taxa:]]
    return [(name, start + "".join(chunks[taxon::num_taxa])) for taxon, (name, start) in enumerate(rows)]


def parse_sequential(lines, _num_taxa, num_sites):
    rows = []
    for words in lines:
        if rows and len(rows[-1][1]) < num_sites:
            name, start = rows.pop()
            rows.append((name, start + "".join(words)))
        else:
            rows.append((words[0], "".join(words[1:])))
    return rows


def read_partitions(path, dataset):
    """Partitions from a file of RAxML's form: `DNA, gene = 1-99\\3, 200-300`."""
    partitions = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        kind, comma, rest = line.partition(",")
        _, equals, ranges = rest.partition("=")
        if not comma or not equals:
            raise CompareError(f"{path}, line {number}: expected 'TYPE, NAME = RANGES'")
        matrix, counted = parse_type(kind.strip().upper())
        if matrix is None or (matrix == "GTR") != dataset.is_dna:
            wanted = "DNA" if dataset.is_dna else "a matrix, such as LG or WAGF"
            raise CompareError(f"{path}, line {number}: '{kind.strip()}': only {wanted} can be compared here")
        parsed = tuple(parse_range(text, dataset.num_sites, path, number) for text in ranges.split(","))
        partitions.append(Partition(matrix, counted, parsed))
    if not partitions:
        raise CompareError(f"{path}: no partitions")
    return partitions


def parse_type(kind):
    """(matrix, counted frequencies) of RAxML's word; (None, ...) if it is none that is known here."""
    if kind == "DNA":
        return "GTR", True
    if kind in PROTEIN_MATRICES:
        return kind, False
    if kind.endswith("F") and kind[:-1] in PROTEIN_MATRICES:
        return kind[:-1], True
    return None, False


def parse_range(text, num_sites, path, number):
    found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+|\.)\s*(?:[\\/]\s*(\d+)\s*)?)?", text)
    if not found:
        raise CompareError(f"{path}, line {number}: '{text.strip()}' is no range")
    first, last, stride = found.groups()
    last = num_sites if last == "." else int(last or first)
    stride = int(stride or 1)
    if not 1 <= int(first) <= last <= num_sites or stride < 1:
        raise CompareError(f"{path}, line {number}: range '{text.strip()}' does not fit {num_sites} columns")
    return int(first), last, stride


def resolve_multifurcations(newick):
    """The tree with every multifurcation cut up by branches of length 0.

    FastTree puts identical sequences on one node; mlsearch evaluates binary trees only.
    """
    stack, branches, text = [], [], ""
    for char in newick.strip().rstrip(";"):
        if char == "(":
            stack.append((branches, text))
            branches, text = [], ""
        elif char == ",":
            branches.append(text)
            text = ""
        elif char == ")":
            branches.append(text)
            at_root = len(stack) == 1
            while len(branches) > (3 if at_root else 2):
                last = branches.pop()
                branches.append(f"({branches.pop()},{last}):0.0")
            inside = "(" + ",".join(branches) + ")"
            branches, text = stack.pop() if stack else ([], "")
            text += inside
        else:
            text += char
    return text + ";\n"
