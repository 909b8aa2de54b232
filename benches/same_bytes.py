#!/usr/bin/env python3
"""Do two builds of mlsearch write the same bytes?

    python3 benches/same_bytes.py OLD NEW [--only WORDS] [--machines all] [--except REGEX] [--list]
    python3 benches/same_bytes.py BUILD BUILD --machines='-T 1 --simd scalar' --new-machine='-T 8 --simd avx512'

Runs every analysis with both (or with one on two machines, as in the second line), on the data sets of this repository
and on some that are made of them, and compares all files, standard output, standard error and exit codes byte by byte,
without what `VARIES` names (between machines, `MACHINE_VARIES`, too). Exit code 1 if there are differences, each with
the first line that differs. For changes that must not change a result.
"""

import argparse
import gzip
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What may differ between two runs of a command, in JSON files, logs, pages and on the terminal; nothing else may.
VARIES = [
    r'^  "version": .*\n',
    r'^  "timings": \{[^}]*\}',
    r"^mlsearch \d+\.\d+\.\d+(?=: |$)",
    r"^(# run: )?Time: .*\n",
    # Progress of runs of more than 30 seconds.
    r"^\[\d\d:\d\d\] .*\n",
    # The memory that a process takes by itself, which counts for --mem, and speeds, which --check measures.
    r"^ +with --mem  .*\n",
    r"[\d.]+ [KMG]iB",
    r"[\d.]+ (?=times as (long|many))",
    r"(?<=  )(about [\d.]+( s| min| h| days)?|less than a second)$",
    # When a search had which likelihood, and what took how long: in the JSON file and on the page.
    r'^ +"seconds": .*\n',
    r"<dt>(time|version)</dt><dd>[^<]*",
    r"<text[^>]*>seconds</text>[\s\S]*?</svg>",
    r'<table class="sortable"><thead><tr><th class="" scope="col">phase</th>[\s\S]*?</table>',
    # Genes are finished in the order of their times.
    r"^(# run: )?gene '.*\n",
    # What gpu-selftest measures.
    r"[\d.]+ (?=evaluations each)",
    r'^ +"\w+_(seconds|per_second)": .*\n',
    r"^(# run: )?  GPU  kernels loaded(.|\n)*?^(?=(# run: )?Files)",
]
# What says how many threads and which kernels a run had.
MACHINE_VARIES = [
    r"^(# run: )?command: .*\n",
    r"^(# run: )?warning: the likelihood kernels for any x86-64 processor are used.*\n",
    r"^(# run: )?computations at the same time: .*\n",
    r"^(# run: )?warning: \d+ threads on \d+ cores: .*\n",
    r"^ .*(for one search|o[fn] this machine|runs at the same time)  .*\n",
    r"^  kernels  .*\n",
    r"^ +(of which )?for (each further search|scans and climbs).*\n",
    r" -T \d+ --simd \w+",
    r"^(# run: )?(subtrees are scanned|climbs go on) side by side on .*\n",
    r"<pre>.*?</pre>",
    r"<dt>(threads|computed by|instruction set)</dt><dd>[^<]*",
    r'^ +"(command|threads|simd)": .*\n',
]
THREADS = ["1", "2", "3"]
KERNELS = ["scalar", "avx2", "avx512"]

# One line is one case: commands in a folder of its own with all data. The threads and the kernels are added to them.
CASES = r"""
# search
mlsearch -s primates.phy -m GTR+G
mlsearch -s primates.phy -q primates.part -m GTR+I+G --brlen scaled
mlsearch -s primates.phy -q primates.part -m GTR+FO+R3 -M
mlsearch -s anolis.phy -m HKY+FO+R3
mkdir folder; mlsearch -s anolis.phy -m DNA010020+F+I --fast -p 7 -u -w folder
mlsearch -s gallwasps.phy -q gallwasps.part -m GTRGAMMA --fast
mlsearch -s gallwasps.phy -q gallwasps.part -m GTRGAMMA -M --fast --sitelh
mlsearch -s gappy.phy -q gappy.part -m GTR+G --fast
mlsearch -s gappy.phy -q gappy.part -m HKY+G --fast --brlen scaled --restricted off
mlsearch -s gappy.phy -q gappy.part -m HKY+G -M --fast
mlsearch -s primates.phy -m HKY+G --thorough
mlsearch -s primates.phy -m HKY+G -t pars{2},rand{2} --fast
mlsearch -s primates.phy -m HKY+G -t nj,bionj,bme,upgma -o Gorilla,Pan
mlsearch -s primates.phy -m HKY+G -d -# 2 -n runs
mlsearch -s primates.phy -m HKY+G -t trees.nwk --prefix out
mlsearch -s primates.phy -m HKY+G -g constraint.nwk
mlsearch -s primates.phy -q primates.part -m HKY+G -M -r constraint.nwk -t rand{1} -o Lemur_catta --fast
mlsearch -s primates.phy -m HKY+G -i 3 --spr-cutoff off -e 1 --root midpoint
mlsearch -s primates.phy -m HKY+G -a weights.txt --quiet
mlsearch -s twins.phy -m HKY+G --alrt 100
mlsearch -s twins.phy -m HKY+G --keep-identical --fast
mlsearch -s primates.phy -m GTR{1/2/1/1/2/1}+FU{.3/.2/.2/.3}+G4{0.5} --opt-model off --fast
mlsearch -s primates.phy -q primates.part -m GTR+G --fast --alrt 50 --abayes --ancestral --mutmap --sitelh
mlsearch -s primates.phy -q nexus.part -m GTR+G --fast
mlsearch -s primates.phy.gz -m JC --fast; mlsearch -s primates.fasta -m JC --fast
cat primates.phy | mlsearch -s - -m JC --fast -n piped
mlsearch -s three.phy -m JC+G
mlsearch -s ragged.phy -m GTR+G --fast
mlsearch -s primates.phy -m JC --fast; mlsearch -s primates.phy -m K80 --fast; mlsearch -s primates.phy -m K80 --fast --redo
mlsearch -s primates.phy -m GTR+G --fast -n a; mlsearch -s primates.phy -m a.mlsearch.bestModel --opt-model off --fast -n b
# model selection
mlsearch -s primates.phy -m auto --fast
mlsearch -s primates.phy -q primates.part -m auto --fast --auto-criterion aicc -M
mlsearch -s short.phy -m auto --evaluate -t pars{1}
mlsearch -s mixed.phy -q mixed.part -m auto --brlen scaled --fast --auto-criterion aic
# other data
mlsearch -s ovomucoids.phy -m LG --evaluate -t nj; mlsearch -s short.phy -m LG+I+G --fast
mlsearch -s short.phy -m LG4X --fast
mlsearch -s short.phy -m PROTGAMMAWAGF --fast --ancestral
mlsearch -s short.phy -m PROTGTR --evaluate -t pars{1} -e 50
mlsearch -s short.phy -m LG+G -P matrix.txt --fast
mlsearch -s lysozyme.phy -m GY+F3X4
mlsearch -s lysozyme.phy -m MG --data-type CODON --all --bs-trees 2 --ancestral --mutmap --fast
mlsearch -s hominoids.phy -m MGK+F1X4 --data-type CODON2 --evaluate -t pars{1}
mlsearch -s hominoids.phy -q hominoids.part -m GTR+G --brlen scaled
mlsearch -s binary.phy -m BINGAMMA --all --bs-trees 3 --fast
mlsearch -s binary.phy -m JC2+ASC_LEWIS --fast; mlsearch -s variable_binary.phy -m BIN+ASC_LEWIS --fast --sitelh
mlsearch -s multistate.phy -m MULTIGAMMA -K MK --fast --ancestral; mlsearch -s multistate.phy -m MULTI4_GTR --evaluate -t pars{1} -n gtr
mlsearch -s variable.phy -m GTR+G+ASC_LEWIS --all --bs-trees 3 --fast
mlsearch -s variable.phy -m GTR+ASC_FELS{300} --fast; mlsearch -s variable.phy -m GTR+ASC_STAM{90/80/70/60} --fast -n s
mlsearch -s variable.phy -m ASC_GTRGAMMA --asc-corr lewis --evaluate -t nj
mlsearch -s mixed.phy -q mixed.part -m GTR+G -M --all --bs-trees 3 --fast
# all, bootstrap
mlsearch -s primates.phy -m GTR+G --all --bs-trees 5
mlsearch -s primates.phy -q primates.part -m HKY+G -M --all --fast --bs-trees 5 --bs-metric fbp,tbe,ic1,ica -k --alrt 50 --abayes
mlsearch -f a -x 7 -p 5 -# 4 -m GTRGAMMA -s primates.phy -n raxml --fast -o Gorilla
mlsearch -s primates.phy -m HKY+G --all --fast --bs-trees autoMRE{100} --bs-cutoff 0.3 --bs-perms 100
mlsearch -s gappy.phy -q gappy.part -m HKY+G --brlen scaled --all --fast --bs-trees 3
mlsearch -s twins.phy -m HKY+G --all --fast --bs-trees 4 -g constraint.nwk
mlsearch -s primates.phy -m HKY+G --bootstrap --bs-trees 5 -b 3
mlsearch -s primates.phy -m HKY+G --bootstrap --bs-trees autoFC{100} --bs-perms 100
mlsearch -s primates.phy -m HKY+G --bootstrap --thorough -# 2 --jackknife 0.3
mlsearch -s gappy.phy -q gappy.part -m HKY+G --bootstrap --bs-trees 3 --sampling gene
mlsearch -s gappy.phy -q gappy.part -m HKY+G -M --bootstrap --bs-trees 2 --sampling genesite --jackknife 0.2
mlsearch -s primates.phy -q primates.part -m GTR+G --bsmsa --bs-trees 2; mlsearch -f j -b 5 -# 2 -s ovomucoids.phy -m LG -n j
mlsearch -s primates.phy -m auto --all --fast --bs-trees 2
# evaluation, tests
mlsearch -s primates.phy -m GTR+G --evaluate -t trees.nwk --sitelh
mlsearch -s primates.phy -q primates.part -m GTR+I+G --evaluate -t tree.nwk -M --alrt --abayes
mlsearch -s gappy.phy -q gappy.part -m GTR+R3 --brlen scaled --evaluate -t gappy.tree --sitelh
mlsearch -s gappy.phy -q gappy_true.part --evaluate -t gappy.tree --opt-model off --opt-branches off
mlsearch -s gappy.phy -q gappy.part -m GTR+G -M --evaluate -t gappy.tree -n a; mlsearch -s gappy.phy -q a.mlsearch.bestModel -M --evaluate -t gappy.tree --partition-trees a.mlsearch.bestPartitionTrees --opt-branches off --opt-model off -n b
mlsearch -s gallwasps.phy -q gallwasps.part -m GTR+G --evaluate -t pars{2},rand{1},nj --brlen scaled
mlsearch -s primates.phy -m GTR+G -t tree.nwk --loglh; mlsearch -f e -t tree.nwk -m GTRCAT -s primates.phy -n cat
mlsearch -s primates.phy -m HKY+G -z trees.nwk --tests all --rell 500
mlsearch -s primates.phy -q primates.part -m HKY+G -M -z trees.nwk -t tree.nwk --tests au,sh,elw --rell 300 --sitelh
mlsearch -f h -t tree.nwk -z trees.nwk -m GTRGAMMA -s primates.phy -n sh
mlsearch -s primates.phy -m HKY+G --ancestral --mutmap -t tree.nwk; mlsearch -f A -t tree.nwk -s primates.phy -m GTRGAMMA -n A
mlsearch -s gappy.phy -q gappy.part -m HKY+G -M --ancestral --mutmap -t gappy.tree
mlsearch -s gallwasps.phy -m GTR+G --evaluate -t nj --mem 10M
# starting trees
mlsearch --start -s primates.phy -t pars{3},rand{2},nj,bionj,bme,upgma; mlsearch -y -d -s gappy.phy -m JC -# 3 -n y -g gappy.tree
# trees
mlsearch --support --tree tree.nwk --bs-trees boots.nwk; mlsearch -f b -t tree.nwk -z boots.nwk -m JC -n b
mlsearch --support --tree tree.nwk --bs-trees boots.nwk --bs-metric fbp,tbe,ic1,ica -o Gorilla; mlsearch -f i -t tree.nwk -z boots.nwk -n i
mlsearch --consense --tree boots.nwk; mlsearch --consense MR75 --tree boots.nwk -n a --bs-metric ic1,ica; mlsearch -J MRE -z boots.nwk -n b -o Pan; mlsearch -L MR -z boots.nwk -n c
mlsearch --consense STRICT --tree boots.nwk --bs-metric fbp,ic1
mlsearch --rfdist trees.nwk; mlsearch --rfdist --tree boots.nwk --rfdist-metric rf,wrf,kf,quartet -n a; mlsearch -f R -t tree.nwk -z boots.nwk -n b
mlsearch --rfdist boots.nwk --tree trees.nwk --rfdist-metric rf,quartet
mlsearch --bsconverge --bs-trees boots.nwk; mlsearch --bsconverge autoFC --bs-trees boots.nwk --bs-perms 200 -n a; mlsearch -I autoMR -z boots.nwk -n b -B 0.1
mlsearch --root midpoint --tree boots.nwk; mlsearch -o Gorilla,Pan --tree trees.nwk; mlsearch -f I -t tree.nwk -o Lemur_catta -n I
mlsearch --tree tree.nwk --gcf genes.nwk --scf 20 -s primates.phy; mlsearch --tree tree.nwk --gcf genes.nwk -n a; mlsearch --tree tree.nwk --scf -s primates.phy -q primates.part -m JC -n b
mlsearch --terrace -t gappy.tree -s gappy.phy -q gappy.part; mlsearch --terrace 5 -t holes.nwk -s holes.phy -q holes.part -n b
# distances
mlsearch distance -s primates.phy; mlsearch -f x -s primates.phy -m GTRGAMMA -n x; mlsearch --dist -s primates.phy -m GTR+GC{0.5} -n y --dist-format npy
mlsearch distance -s gappy.phy -q gappy.part -m JC -M --dist-format tsv --tree nj,bme
mlsearch distance -s gappy.phy -m LogDet --dist-format lower.gz --tree nj,bionj,bme,upgma
mlsearch distance -s ovomucoids.phy -m LG+G --tree bionj; mlsearch --dist -s ovomucoids.phy -m p --dist-format tsv.gz -n p
mlsearch distance -s primates.phy --tree nj --bs-trees 20 --bs-metric fbp,tbe; mlsearch --dist -s twins.phy --tree bme --keep-identical -n t
mlsearch distance -s primates.phy -m F84 --tree bme --bs-trees autoMRE{100} -b 3; mlsearch --dist primates.dist --tree nj,bme -n f
mlsearch distance -s primates.phy -q primates.part -m HKY+G -a weights.txt --tree upgma
# samples
mlsearch sample -s primates.phy -m HKY+FO+G --ngen 3000 --samplefreq 50
mlsearch sample -s primates.phy -q primates.part -m GTR+FO+I+G --brlen scaled --ngen 2000 --samplefreq 20 --nruns 3 --nchains 2 --temp 0.1
mlsearch sample -s gappy.phy -q gappy.part -m HKY+G -M --ngen 300 --samplefreq 30 --nchains 2
mlsearch --mcmc -s primates.phy -m GTR+FO+R3 --ngen 3000 --samplefreq 20 --nruns 1 --brlenspr exp{10} --burninfrac 0.5 -d
mlsearch sample -s lysozyme.phy -m GY+F3X4 --ngen 300 --samplefreq 20 -t rand{3} --prset omegapr=dir{2/1}
mlsearch sample -s short.phy -m LG+G --ngen 500 --samplefreq 10 --nchains 1 --prset shapepr=uni{0/50}
mlsearch sample -s primates.phy -m HKY+G --prior-only --ngen 5000 --samplefreq 20 -g constraint.nwk --stop asdsf=0.2,ess=20 --diagnfreq 500
mlsearch sample -s primates.phy -m HKY+G --ss 5 --ngen 1500 --samplefreq 20 --nchains 1 -n ss
mlsearch sample -s mixed.phy -q mixed.part -m GTR+G --brlen scaled --ngen 800 --samplefreq 20 --prset ratepr=dir{2}
# genes
mlsearch genes -s gallwasps.phy -q gallwasps.part -m GTR+G --alrt 50 --bs-trees 3
mlsearch genes -s gappy.phy -q gappy.part -m auto --fast --alrt 50 --collapse 10 --gcf-tree gappy.tree
mlsearch genes -s mixed.phy -q mixed.part -m DNA=HKY+G,BIN=BIN,MULTI=MK; mlsearch genes -s holes.phy -q holes.part -m JC --shard 1/2 -n shard
# profile mixtures
mlsearch evaluate -s short.phy -m LG+C10+G4 -t nj -n a; mlsearch evaluate -s short.phy -m LG+C10+G4 -t nj --pmsf a.mlsearch.bestTree -n pmsf
mlsearch -s short.phy -m LG+C10+I --fast; mlsearch evaluate -s short.phy -m UL3+G4 -t nj --site-rates -n rates
# model of each partition, merging
mlsearch select -s gallwasps.phy -q gallwasps.part; mlsearch select -s gappy.phy -q gappy.part --merge rcluster:30 -t gappy.tree -n merged
# drawings, resampled alignments
mlsearch draw --tree tree.nwk -o Gorilla; mlsearch resample -s primates.phy -m auto --bs-trees 2
# simulation
mlsearch simulate --tree rand{20} --model JC+G4{0.5} --sites 500 --prefix sim; mlsearch simulate --tree sim.mlsearch.trueTree -m LG+G4{1} --sites 100 -n aa -p 3
mlsearch simulate --tree rand{60} --mean-brlen 0.06 -q gappy_true.part --missing 0.6 --seed 2008 --prefix gappy
mkdir folder; mlsearch simulate --tree rand{8} --model GY{2/0.3}+FE --sites 300 -n c -w folder; mlsearch simulate --tree rand{5} --sites 10 --model GTR -n d
# checks
mlsearch --check -s primates.phy -m GTR+G; mlsearch --check -s gappy.phy -q gappy.part -m GTR+G -M; mlsearch -f c -s ragged.phy -m GTRGAMMA -n c
mlsearch --check -s primates.phy -m auto; mlsearch --parse -s ovomucoids.phy -m LG4X --all --bs-trees 100; mlsearch sample --check -s primates.phy -m HKY+G
mlsearch --check --mcmc -s gallwasps.phy -q gallwasps.part -m GTR+G --mem 30M; mlsearch --check --evaluate -s gappy.phy -q gappy.part -t gappy.tree -m JC --tests au
mlsearch distance --check -s gappy.phy; mlsearch --dist -s gappy.phy --check --tree bme; mlsearch --check --bootstrap -s twins.phy -m JC -g constraint.nwk
mlsearch --check --support --tree tree.nwk --bs-trees boots.nwk; mlsearch --check -t tree.nwk -s primates.phy -m HKY --partition-trees tree.nwk
# refusals
mlsearch; mlsearch -s primates.phy; mlsearch primates.phy; mlsearch -s none.phy -m JC; mlsearch -s primates.phy -m NONE; mlsearch --no-such
mlsearch -s broken.phy -m JC; mlsearch -s primates.phy -q broken.part -m JC; mlsearch -s primates.phy -m JC -g broken.nwk; mlsearch -s primates.phy -m JC --evaluate -t gappy.tree
mlsearch -s primates.phy -m LG+G; mlsearch -s primates.phy -m GY; mlsearch -s primates.phy -m JC+ASC_LEWIS; mlsearch -s three.phy -m JC --all; mlsearch -s binary.phy -m GTR
mlsearch -s primates.phy -m JC --all --bootstrap -# 0 -T 0 -p x; mlsearch -s primates.phy -m JC --rell 5 --fast --thorough -k --sitelh --bs-cutoff 2; mlsearch --support -s primates.phy
mlsearch -s primates.phy -m MFP -B 1000 -alrt 1000 -bnni; mlsearch -f q -s primates.phy -m JC; mlsearch -A S16 -s primates.phy -m JC; mlsearch -f ? -s primates.phy -m JC
mlsearch --all -s primates.phy -m JC --bs-trees boots.nwk; mlsearch --bs-trees 10 -s primates.phy -m JC; mlsearch --support --tree tree.nwk --bs-trees 10; mlsearch --bsconverge 3 --bs-trees boots.nwk
mlsearch -s primates.phy -m JC --evaluate; mlsearch -s primates.phy -m JC -t rand{0}; mlsearch -s primates.phy -m JC --mem 1K; mlsearch sample -s primates.phy -m JC --ngen 0 --prset x=y
mlsearch simulate; mlsearch simulate --tree none.nwk -m JC --sites 5 -n s; mlsearch -s primates.phy -m JC --backend cuda -n g; mlsearch gpu-selftest --gpu x
# help
mlsearch --version; mlsearch -v; mlsearch --help; mlsearch -h; mlsearch sample --help; mlsearch simulate --help; mlsearch gpu-selftest -h
# GPUs
mlsearch -s primates.phy -m HKY+G -t pars{1} --fast --backend cuda
mlsearch gpu-selftest --quick
mlsearch -s three.phy -m JC+G --gpu 0 --gpu-precision single; mlsearch distance -s primates.phy --tree nj --backend cuda
"""

# These run on the stand-in for GPUs.
ON_GPUS = "GPUs: "

# Made of the data sets with the old build.
FIXTURES = r"""
mlsearch --start -s primates.phy -t pars{3},rand{3} -n made -T 1; cp made.mlsearch.startTree trees.nwk; head -1 trees.nwk > tree.nwk
mlsearch --bootstrap --bs-trees 60 -k -s primates.phy -m HKY -n boots -T 1; cp boots.mlsearch.bootstraps boots.nwk
mlsearch --evaluate -M -s primates.phy -q primates.part -m JC -t trees.nwk -n genes -T 1; cp genes.mlsearch.mlTrees genes.nwk
mlsearch distance -s primates.phy -n d -T 1; cp d.mlsearch.distances primates.dist
"""


# The threads and kernels are added to every command that knows them, and its exit code to standard error.
PRELUDE = """mlsearch() { case "$1" in
    simulate|gpu-selftest|-h|--help|-v|--version|'') "$MLSEARCH" "$@" ;;
    *) "$MLSEARCH" "$@" $MACHINE ;;
esac; echo "exit code $?" >&2; }
"""


def write_data(folder):
    """The data sets, and others of all kinds that are made of them."""
    for path in [*(ROOT / "datasets").glob("*.*"), *(ROOT / "partitions").glob("*.part")]:
        if path.suffix in (".phy", ".tree", ".part"):
            shutil.copy(path, folder)

    def rows_of(name):
        return dict(line.split() for line in (folder / name).read_text().splitlines()[1:])

    def write(name, rows):
        lines = [f"{len(rows)} {len(next(iter(rows.values())))}", *(f"{taxon}  {row}" for taxon, row in rows.items())]
        (folder / name).write_text("\n".join(lines) + "\n")

    def recoded(rows, pairs):
        return {taxon: "".join(pairs.get(c, "-") for c in row) for taxon, row in rows.items()}

    def only(rows, keeps):
        kept = [column for column in zip(*rows.values()) if keeps(column)]
        return dict(zip(rows, ("".join(row) for row in zip(*kept))))

    primates, protein = rows_of("primates.phy"), rows_of("ovomucoids.phy")
    binary = recoded(primates, {"A": "0", "G": "0", "C": "1", "T": "1"})
    multistate = recoded(primates, {"A": "0", "C": "1", "G": "2", "T": "3"})
    write("binary.phy", binary)
    write("multistate.phy", multistate)
    for name, rows, letters in [("variable.phy", primates, "ACGT"), ("variable_binary.phy", binary, "01")]:
        write(name, only(rows, lambda column: len(set(column)) > 1 and set(column) <= set(letters)))
    mixed = {t: primates[t][:400] + binary[t][400:700] + multistate[t][700:] for t in primates}
    write("mixed.phy", mixed)
    (folder / "mixed.part").write_text("DNA, a = 1-400\nBIN, b = 401-700\nMULTI, c = 701-898\n")
    write("three.phy", dict(list(primates.items())[:3]))
    write("short.phy", dict(list(protein.items())[:12]))
    write("twins.phy", primates | {"Pan_twin": primates["Pan"], "Twin": primates["Pan"]})
    # Taxa that share no gene with others.
    holes = {t: row[: 457 if i % 3 else 898] for i, (t, row) in enumerate(primates.items())}
    holes = {t: ("-" * 200 + row[200:] if i % 2 else row).ljust(898, "-") for i, (t, row) in enumerate(holes.items())}
    write("holes.phy", holes)
    (folder / "holes.part").write_text("DNA, a = 1-200\nDNA, b = 201-457\nDNA, c = 458-898\n")
    (folder / "holes.nwk").write_text("(" + ",(".join(primates) + ")" * len(primates) + ";")
    ragged = {t: row[:300] + "-" * 10 + row[310:] for t, row in primates.items()}
    write("ragged.phy", ragged | {"Nothing": "N" * 898, "Little": "A" * 5 + "?" * 893})
    (folder / "primates.fasta").write_text("".join(f">{taxon}\n{row}\n" for taxon, row in primates.items()))
    (folder / "primates.phy.gz").write_bytes(gzip.compress((folder / "primates.phy").read_bytes(), mtime=0))
    (folder / "weights.txt").write_text(" ".join(str(i % 3) for i in range(898)))
    (folder / "nexus.part").write_text("#nexus\nbegin sets;\ncharset a = 1-457;\ncharset b = 458-659 660-898;\nend;\n")
    (folder / "matrix.txt").write_text(
        "\n".join(" ".join(str(1 + (i * j) % 7) for j in range(i)) for i in range(1, 20)) + "\n" + " ".join(["0.05"] * 20)
    )
    (folder / "constraint.nwk").write_text("((Gorilla,Pan),(Lemur_catta,Tarsius_syrichta),Pongo,Hylobates);")
    (folder / "broken.nwk").write_text("((Gorilla,Pan),Nobody,Pongo;")
    (folder / "broken.phy").write_text("3 5\na ACGTA\na ACGT\nb AC!TA\n")
    (folder / "broken.part").write_text("DNA, a = 1-500\nDNA, a = 400-2000\nNONE, b\n")


def prepare(folder, binary):
    write_data(folder)
    inputs = set(os.listdir(folder))
    for line in FIXTURES.strip().splitlines():
        said = shell(binary, line, folder, "")["standard error"].decode()
        if said.count("exit code") != said.count("exit code 0\n"):
            sys.exit(f"{line}\n{said}")
    for path in folder.glob("*.mlsearch.*"):
        path.unlink()
    assert inputs < set(os.listdir(folder))


def shell(binary, line, folder, machine, libraries=""):
    """Runs a line in a folder; all that it leaves there and says."""
    environment = {**os.environ, "MLSEARCH": binary, "MACHINE": machine, "LD_LIBRARY_PATH": libraries}
    environment.pop("RUST_LOG", None)
    ran = subprocess.run(
        ["sh", "-c", PRELUDE + line], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL
    )
    found = {"standard output": ran.stdout, "standard error": ran.stderr}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else b"a folder"
    return found


def comparable(name, content, varies):
    if name.startswith("standard") or name.endswith((".html", ".json", ".log")):
        text = content.decode(errors="backslashreplace")
        for pattern in varies:
            text = pattern.sub("", text)
        return text.encode()
    return content


def first_difference(old, new):
    if old is None or new is None:
        return "only written by the " + ("new one" if old is None else "old one")
    lines = itertools.zip_longest(old.splitlines(), new.splitlines())
    number, pair = next(((i, pair) for i, pair in enumerate(lines, 1) if pair[0] != pair[1]), (0, (old, new)))
    shown = [line if line is None else line.decode(errors="replace") for line in pair]
    # Long lines are shown from where they differ on.
    same = len(os.path.commonprefix([line or "" for line in shown]))
    shown = ["nothing" if line is None else line[max(0, same - 40) :][:160] for line in shown]
    return f"line {number}\n      old: {shown[0]}\n      new: {shown[1]}"


def compare(binaries, case, machines, inputs, varies, libraries):
    outcomes = []
    for binary, machine in zip(binaries, machines):
        with tempfile.TemporaryDirectory(prefix="same_bytes.") as name:
            folder = Path(name) / "run"
            shutil.copytree(inputs, folder)
            found = shell(binary, case, folder, machine, libraries)
            outcomes.append({name: comparable(name, content, varies) for name, content in found.items()})
    old, new = outcomes
    names = sorted(set(old) | set(new))
    differences = [
        f"  {name}, {first_difference(old.get(name), new.get(name))}" for name in names if old.get(name) != new.get(name)
    ]
    return len(names), differences


def build_stand_in(folder):
    """The stand-in for the driver of NVIDIA GPUs (cuda/emulator); `None` without a C++ compiler."""
    compiler = next(filter(shutil.which, ["c++", "g++", "clang++"]), None)
    if compiler is None:
        return None
    folder.mkdir()
    sources = [str(ROOT / "cuda/emulator" / name) for name in ("driver.cpp", "fibers.cpp")]
    fma = ["-mfma"] if "fma" in Path("/proc/cpuinfo").read_text().split() else []
    options = ["-std=c++17", "-ffp-contract=off", "-fPIC", "-shared", "-O2", *fma]
    subprocess.run([compiler, *options, "-o", str(folder / "libcuda.so.1"), *sources], check=True)
    return str(folder)


def machines(binary, folder, every):
    """Threads and kernels: each number and each set of instructions once, or all of them with each other."""
    there = []
    for kernel in KERNELS:
        said = shell(binary, "mlsearch --check -s three.phy -m JC", folder, f"-T 1 --simd {kernel}")
        if b"exit code 0\n" in said["standard error"]:
            there.append(kernel)
        else:
            print(f"{kernel}: skipped, this processor lacks it")
    pairs = itertools.product(THREADS, there) if every else zip(THREADS, itertools.cycle(there))
    return [f"-T {threads} --simd {kernel}" for threads, kernel in pairs]


def all_cases():
    """Every case with its heading, as `search: mlsearch ...`."""
    heading, cases = "", []
    for line in CASES.strip().splitlines():
        if line.startswith("# "):
            heading = line[2:]
        else:
            cases.append(f"{heading}: {line}")
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--only", default="", help="only cases with these words in their line or heading")
    parser.add_argument("--machines", default="", help="all: all threads with all kernels; or options, as '-T 2'")
    parser.add_argument("--new-machine", metavar="OPTIONS", help="the new build's machine, if it is another one")
    parser.add_argument("--except", dest="varies", action="append", default=[], metavar="REGEX",
                        help="text of logs, JSON and terminal that may differ, too: what a change changes on purpose")
    parser.add_argument("--list", action="store_true", help="name the cases only")
    arguments = parser.parse_args()
    cases = [case for case in all_cases() if arguments.only in case]
    if arguments.list:
        return print("\n".join(cases))
    binaries = [str(Path(binary).resolve()) for binary in (arguments.old, arguments.new)]
    patterns = VARIES + arguments.varies + (MACHINE_VARIES if arguments.new_machine else [])
    varies = [re.compile(pattern, re.MULTILINE) for pattern in patterns]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="same_bytes.") as name:
        folder = Path(name)
        inputs = folder / "inputs"
        inputs.mkdir()
        prepare(inputs, binaries[0])
        some_machines = arguments.machines and arguments.machines != "all"
        on = [arguments.machines] if some_machines else machines(binaries[0], inputs, arguments.machines == "all")
        libraries = build_stand_in(folder / "stand_in") if any(case.startswith(ON_GPUS) for case in cases) else ""
        if libraries is None:
            print("GPUs: skipped, there is no C++ compiler")
            cases = [case for case in cases if not case.startswith(ON_GPUS)]

        def run(case, machine):
            began = time.monotonic()
            line, on_gpus = case.split(": ", 1)[1], case.startswith(ON_GPUS)
            both = machine, arguments.new_machine or machine
            count, differences = compare(binaries, line, both, inputs, varies, libraries if on_gpus else "")
            return case, time.monotonic() - began, count, differences

        compared, differing, slowest = 0, 0, []
        for machine in on:
            # Threads that share a core wait for each other.
            threads = int((re.search(r"-T (\d+)", machine) or [0, 1])[1])
            with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // threads)) as pool:
                for case, seconds, count, differences in pool.map(run, cases, itertools.repeat(machine)):
                    compared += count
                    differing += len(differences)
                    slowest.append((seconds, f"{case} ({machine})"))
                    if differences:
                        print(f"{case} ({machine})", *differences, sep="\n", flush=True)
            print(f"{machine}: {time.monotonic() - began:.0f} s, {differing} differ so far", file=sys.stderr, flush=True)
    for seconds, case in sorted(slowest, reverse=True)[:3]:
        print(f"{seconds:.1f} s: {case}", file=sys.stderr)
    print(f"{len(cases)} cases, {compared} files compared in {time.monotonic() - began:.0f} s, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
