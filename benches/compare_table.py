"""What `compare.py` prints and writes: medians over the seeds, as text and as TSV."""

import math
import statistics
from dataclasses import dataclass

from compare_run import own_memory


@dataclass
class Summary:
    """One program on one dataset: (median, lowest, highest) of the runs that ended well, or None."""

    dataset: str
    program: str
    num_runs: int
    num_good: int
    cpu: tuple
    wall: tuple
    memory: tuple
    lnl: tuple
    below_best: tuple
    cpu_ratio: tuple
    note: str


def spread(values):
    """(median, lowest, highest); None without values, or if one is not known."""
    values = list(values)
    known = values and None not in values
    return (statistics.median(values), min(values), max(values)) if known else None


def best_lnls(runs):
    """The highest log-likelihood of any program on each dataset."""
    best = {}
    for run in runs:
        if run.lnl is not None:
            best[run.dataset] = max(run.lnl, best.get(run.dataset, run.lnl))
    return best


def summarise(runs, programs, baseline):
    """One Summary for each dataset and program, in the order in which they ran."""
    summaries, best = [], best_lnls(runs)
    for label in dict.fromkeys(run.dataset for run in runs):
        here = [run for run in runs if run.dataset == label]
        reference = {run.seed: run.measured.cpu for run in here if run.program == baseline and run.lnl is not None}
        for program in programs:
            own = [run for run in here if run.program == program.name]
            good = [run for run in own if run.lnl is not None]
            if not own:
                continue
            paired = [run for run in good if reference.get(run.seed, 0.0) > 0.0]
            notes = dict.fromkeys(run.note for run in own if run.note)
            summaries.append(
                Summary(
                    label,
                    program.name,
                    len(own),
                    len(good),
                    spread(run.measured.cpu for run in good),
                    spread(run.measured.wall for run in good),
                    spread(run.measured.memory for run in good),
                    spread(run.lnl for run in good),
                    spread(best[label] - run.lnl for run in good),
                    spread(run.measured.cpu / reference[run.seed] for run in paired),
                    "; ".join(notes),
                )
            )
    return summaries


def format_table(summaries, baseline):
    """The table as text, a block for each dataset."""
    heads = ["program", "runs", "CPU s", "wall s", "MB", "lnL", "below best", f"CPU / {baseline}", "note"]
    blocks = []
    for label in dict.fromkeys(summary.dataset for summary in summaries):
        rows = [heads]
        for summary in summaries:
            if summary.dataset != label:
                continue
            count = str(summary.num_good)
            if summary.num_good < summary.num_runs:
                count += f" of {summary.num_runs}"
            cells = [summary.program, count]
            cells += [format_spread(summary.cpu, 2), format_spread(summary.wall, 2)]
            cells += [format_memory(summary), format_spread(summary.lnl, 2)]
            cells += [format_spread(summary.below_best, 2), format_spread(summary.cpu_ratio, 2), summary.note]
            rows.append(cells)
        widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        blocks.append("\n".join([label, *lines]))
    return "\n\n".join(blocks)


def format_spread(values, digits):
    if values is None:
        return "-"
    median, lowest, highest = (f"{value:.{digits}f}" for value in values)
    return median if lowest == highest else f"{median} ({lowest} .. {highest})"


def format_memory(summary):
    if summary.memory:
        return f"{summary.memory[0]:.0f}"
    return f"<{math.ceil(own_memory())}" if summary.num_good else "-"


TSV_SPREADS = ("cpu", "wall", "memory", "lnl", "below_best", "cpu_ratio")
TSV_NAMES = ("cpu_s", "wall_s", "memory_mb", "lnl", "below_best", "cpu_ratio")


def format_tsv(summaries, baseline):
    heads = ["dataset", "program", "runs", "good_runs"]
    heads += [f"{name}_{which}" for name in TSV_NAMES for which in ("median", "min", "max")]
    lines = [[*heads, "baseline", "note"]]
    for summary in summaries:
        cells = [summary.dataset, summary.program, str(summary.num_runs), str(summary.num_good)]
        for name in TSV_SPREADS:
            cells += [f"{value:.6f}" for value in getattr(summary, name) or ()] or ["NA"] * 3
        lines.append([*cells, baseline, summary.note])
    return "".join("\t".join(line) + "\n" for line in lines)


RUNS_HEAD = "dataset\tprogram\tseed\tcpu_s\twall_s\tmemory_mb\tlnl\tproblem\tnote\n"


def format_run(run):
    used = run.measured
    numbers = (used.cpu, used.wall, used.memory, run.lnl)
    cells = [run.dataset, run.program, str(run.seed)]
    cells += ["NA" if number is None else f"{number:.6f}" for number in numbers]
    return "\t".join([*cells, " ".join(run.problem.split()), run.note]) + "\n"
