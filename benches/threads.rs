//! How long a search would take on many cores, predicted from what can be measured on one.
//!
//! `cargo bench --bench threads` prints a table for simulated data and, if the environment variable MLSEARCH_DATA
//! names their folder, for published alignments; words after `--` choose data sets by name. A search is *rehearsed*
//! as it is for W workers: work is dealt to W shares, which one core computes one after the other. What workers take from each
//! other (subtrees, climbs) is taken by the one who would be the first idle, and evaluators for which no climb is left help the
//! others from then on. Its time on W cores is then
//!
//! ```text
//!   serial + longest + regions · meeting(W)        serial: time between the parallel regions
//!                                                  longest: time of the longest share of each region
//!                                                  meeting(W): time to start W workers and to wait for the last
//! ```
//!
//! The meeting of two workers is what a measured search with two threads takes longer than its rehearsal; each further
//! worker is taken to add the time in which a cache line goes from core to core, three of which make a meeting of two.
//! Not foreseen are the memory bandwidth that the cores share (its demand is printed) and faster caches, because each core
//! has only its own share of the vectors.

mod partitions;
mod published;

use mlsearch::likelihood::cpu::{CpuEngine, select_kernels};
use mlsearch::likelihood::engine::PartitionData;
use mlsearch::likelihood::{BrlenLinkage, Evaluator};
use mlsearch::model::Model;
use mlsearch::observer::{Event, Observer};
use mlsearch::parallel::{Pool, Rehearsal, available_cores};
use mlsearch::parsimony::ParsimonyData;
use mlsearch::partition::Partition;
use mlsearch::rng::Purpose;
use mlsearch::search::schedule::are_small;
use mlsearch::search::{Search, SearchEffort, SearchOptions, parsimony_start};
use mlsearch::tree::Tree;
use partitions::{Shape, evaluator, simulate};
use published::{chosen_names, read_partitions};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// Published alignments, and whether each partition has its own branch lengths.
const PUBLISHED: [(&str, bool); 4] =
    [("d59_8", false), ("d218", false), ("d500", false), ("d404_11", true)];
/// Many small partitions, as from genomes.
const PARTITIONS: Shape =
    Shape { num_taxa: 30, num_partitions: 400, sites_per_partition: 300, missing: 0.3 };
const SMALL: Shape =
    Shape { num_taxa: 12, num_partitions: 3, sites_per_partition: 1500, missing: 0.2 };

/// The model of every partition: frequencies are given, all else is estimated.
const MODEL: &str = "GTR+FU{0.3/0.2/0.15/0.35}+G4";

const WORKERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The number of workers for which phases are shown.
const SHOWN: usize = 8;

/// Seconds of a meeting of two workers on a machine with one core.
const USUAL_MEETING: f64 = 1.5e-6;

/// What remains may be too short, because two measurements differ by chance.
const SHORTEST_MEETING: f64 = 0.5e-6;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let has = |word: &str| std::env::args().any(|argument| argument == word);
    let is_test = has("--test") || !has("--bench");
    let wanted = chosen_names();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str()));
    if is_test {
        let partitions = simulate(&SMALL).1;
        predict("simulated", SMALL.num_taxa, &partitions, false, SearchEffort::Normal, &[1, 2, 8]);
        return;
    }
    let folder = std::env::var_os("MLSEARCH_DATA");
    for (name, own_lengths) in PUBLISHED.into_iter().filter(|(name, _)| is_wanted(name)) {
        let Some(folder) = &folder else { continue };
        match read_partitions(Path::new(folder), name) {
            Ok((alignment, partitions)) => {
                let num_taxa = alignment.num_taxa();
                for effort in [SearchEffort::Fast, SearchEffort::Normal] {
                    predict(name, num_taxa, &partitions, own_lengths, effort, &WORKERS);
                }
            }
            Err(why) => println!("{name}: not measured: {why}"),
        }
    }
    if is_wanted("400 genes") {
        let partitions = simulate(&PARTITIONS).1;
        predict("400 genes", PARTITIONS.num_taxa, &partitions, false, SearchEffort::Fast, &WORKERS);
    }
}

/// Sums over all regions of a rehearsal; times are in seconds.
#[derive(Debug, Clone, Default)]
struct Sums {
    /// Number of meetings: of regions in which more than one worker has work, and of teams.
    regions: usize,
    /// Time of the longest share of each region, but for regions inside of others.
    longest: f64,
    /// The part of the run's time here that workers would share.
    here: f64,
    /// The same two of regions inside of others: of subtrees that a climb's workers scan.
    inside: [f64; 2],
    /// Time of climbs side by side, with these regions.
    climbs: f64,
    /// By how much the time of all shares is longer than that of the longest, in all regions.
    saved: f64,
    /// Time of each worker's share of the present region, and of those around it.
    open: Vec<Vec<f64>>,
    /// When the present share began, and those around it, with what was saved before.
    begun: Vec<(Instant, f64)>,
    /// Time of what only a rehearsal does.
    aside: f64,
}

/// Times the shares of workers.
#[derive(Default)]
struct Timed(Mutex<Sums>);

impl Timed {
    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.0.lock().expect("one thread")
    }
}

impl Rehearsal for Timed {
    fn begin(&self, num_workers: usize) {
        self.sums().open.push(vec![0.0; num_workers]);
    }

    fn begin_share(&self, _worker: usize) {
        let mut sums = self.sums();
        let saved = sums.saved;
        sums.begun.push((Instant::now(), saved));
    }

    fn end_share(&self, worker: usize) {
        let ended = Instant::now();
        let mut sums = self.sums();
        let (begun, saved) = sums.begun.pop().expect("a share has begun");
        let seconds = (ended - begun).as_secs_f64();
        // What regions inside of this share would save is saved by its worker.
        let saved = sums.saved - saved;
        let depth = sums.open.len();
        sums.open[depth - 1][worker] += seconds - saved;
        if depth == 1 {
            sums.here += seconds;
        }
    }

    fn aside(&self, part: &mut dyn FnMut()) {
        let (started, here) = (Instant::now(), self.sums().here);
        part();
        let seconds = started.elapsed().as_secs_f64();
        let mut sums = self.sums();
        let climbs = sums.here - here;
        sums.climbs += climbs;
        sums.aside += seconds - climbs;
    }

    fn first_idle(&self, has_work: &dyn Fn(usize) -> bool) -> Option<usize> {
        let sums = self.sums();
        let region = sums.open.last().expect("a region has begun");
        let ends = region.iter().enumerate().filter(|(worker, _)| has_work(*worker));
        ends.min_by(|a, b| a.1.total_cmp(b.1)).map(|(worker, _)| worker)
    }

    fn meet(&self) {
        let mut sums = self.sums();
        sums.regions += 1;
        let is_outermost = sums.open.len() == 1;
        let is_inside = sums.open.len() == 2;
        let region = sums.open.last_mut().expect("a region has begun");
        let all = region.iter().sum::<f64>();
        let longest = region.iter().copied().fold(0.0, f64::max);
        region.fill(0.0);
        sums.saved += all - longest;
        if is_outermost {
            sums.longest += longest;
        }
        if is_inside {
            sums.inside[0] += longest;
            sums.inside[1] += all;
        }
    }

    fn end(&self) {
        self.sums().open.pop();
    }
}

/// Notes the phase of a search.
#[derive(Default)]
struct Phases(String);

impl Observer for Phases {
    fn event(&mut self, event: &Event) {
        if let Event::Phase { name } = event {
            self.0.clone_from(name);
        }
    }
}

/// The seconds of a phase in a rehearsal.
#[derive(Debug, Clone, Default)]
struct OfPhase {
    name: String,
    /// In which one worker is at work.
    serial: f64,
    /// Of the longest shares.
    longest: f64,
    /// Of all shares.
    shared: f64,
    /// Of the longest shares, and of all, of the scans that workers of a climb do together.
    inside: [f64; 2],
    /// Of climbs side by side, with all shares of their scans.
    climbs: f64,
}

/// What a rehearsal has measured.
struct Rehearsed {
    seconds: f64,
    /// Of the log-likelihood.
    bits: u64,
    sums: Sums,
    /// Of likelihood vectors.
    megabytes: f64,
    phases: Vec<OfPhase>,
}

/// One search on a data set.
struct Task<'a> {
    partitions: &'a [Partition],
    data: ParsimonyData,
    tree: Tree,
    options: SearchOptions,
}

impl Task<'_> {
    /// Searches with these evaluators and workers; seconds, and the bits of the log-likelihood. `after_step` is given the phase of
    /// each step.
    fn run(
        &self,
        mut evaluator: Evaluator,
        pool: Pool,
        after_step: &mut dyn FnMut(&str, f64),
    ) -> (f64, u64) {
        let mut models: Vec<Model> = self.partitions.iter().map(|p| p.model.clone()).collect();
        let companion = |_| self.evaluator(1);
        let companions = match pool.num_workers() {
            1 => Vec::new(),
            more => (0..more).map(companion).collect(),
        };
        let started = Instant::now();
        let search = Search::new(&mut evaluator, &mut models, &self.data, &self.options);
        let mut search = search.with_crew(companions, pool);
        let mut phases = Phases::default();
        while !search.is_done() {
            let begun = Instant::now();
            search.step(&mut phases).expect("an engine");
            after_step(&phases.0, begun.elapsed().as_secs_f64());
        }
        drop(search);
        let lnl = evaluator.log_likelihood().expect("an engine");
        (started.elapsed().as_secs_f64(), lnl.to_bits())
    }

    fn evaluator(&self, workers: usize) -> Evaluator {
        evaluator(self.partitions, &self.tree, BrlenLinkage::Linked, workers)
    }

    /// With worker threads.
    fn measure(&self, workers: usize) -> (f64, u64) {
        self.run(self.evaluator(workers), Pool::new(workers), &mut |_, _| {})
    }

    /// With all shares on one core.
    fn rehearse(&self, workers: usize) -> Rehearsed {
        let data: Vec<PartitionData> =
            self.partitions.iter().map(|p| PartitionData::new(&p.patterns, &p.model)).collect();
        let timed = Arc::new(Timed::default());
        let pool = Pool::rehearsing(workers, Arc::clone(&timed) as Arc<dyn Rehearsal>);
        let kernels = select_kernels(None).expect("every machine has kernels");
        let engine = CpuEngine::with_pool(&data, kernels, pool).expect("memory");
        let partition =
            |(data, p): (_, &'_ Partition)| (data, p.patterns.tip_taxa.clone(), p.model.clone());
        let partitions: Vec<_> = data.iter().zip(self.partitions).map(partition).collect();
        let partitions =
            partitions.iter().map(|(data, taxa, model)| (*data, &taxa[..], model.clone()));
        let linked = BrlenLinkage::Linked;
        let evaluator =
            Evaluator::new(self.tree.clone(), partitions.collect(), linked, Box::new(engine));
        let megabytes = evaluator.capabilities().clv_bytes as f64 / 1e6;
        *timed.sums() = Sums::default();
        let scanning = Pool::rehearsing(workers, Arc::clone(&timed) as Arc<dyn Rehearsal>);
        let (mut phases, mut before) = (Vec::<OfPhase>::new(), Sums::default());
        let (seconds, bits) = self.run(evaluator, scanning, &mut |name, seconds| {
            let sums = timed.sums();
            let seconds = seconds - (sums.aside - before.aside);
            let (shared, longest) = (sums.here - before.here, sums.longest - before.longest);
            let inside = [0, 1].map(|i| sums.inside[i] - before.inside[i]);
            let climbs = sums.climbs - before.climbs;
            before.clone_from(&sums);
            let place = phases.iter().position(|phase| phase.name == name);
            let place = place.unwrap_or_else(|| {
                phases.push(OfPhase { name: name.to_string(), ..OfPhase::default() });
                phases.len() - 1
            });
            phases[place].serial += seconds - shared;
            phases[place].longest += longest;
            phases[place].shared += shared;
            (0..2).for_each(|i| phases[place].inside[i] += inside[i]);
            phases[place].climbs += climbs;
        });
        let sums = timed.sums().clone();
        Rehearsed { seconds: seconds - sums.aside, bits, sums, megabytes, phases }
    }
}

/// Prints the table of a data set.
fn predict(
    name: &str,
    num_taxa: usize,
    partitions: &[Partition],
    own_lengths: bool,
    effort: SearchEffort,
    workers: &[usize],
) {
    let mut partitions = partitions.to_vec();
    let model = Model::parse(MODEL).expect("the model is well written");
    partitions.iter_mut().for_each(|partition| partition.model = model.clone());
    let data = ParsimonyData::of_partitions(num_taxa, &partitions);
    let start = |index| parsimony_start(&data, 1, Purpose::ParsimonyTree, index);
    let starts = effort.num_starts(are_small(&partitions));
    let (tree, alternatives) = (start(0), (1..starts).map(start).collect());
    let (seed, unlinked) = (1, own_lengths);
    let options =
        SearchOptions { effort, unlinked, alternatives, seed, ..SearchOptions::default() };
    let task = Task { partitions: &partitions, data, tree, options };
    let (one, bits) = task.measure(1);
    let genes = partitions.len();
    println!("{name}, {effort:?}: {num_taxa} taxa, {genes} genes; one worker {one:.2} s");
    let mut meeting = USUAL_MEETING;
    if available_cores() >= 2 {
        let (two, other) = task.measure(2);
        assert_eq!(other, bits, "the same bits with two threads");
        let Rehearsed { seconds, sums, .. } = task.rehearse(2);
        let rest = two - (seconds - sums.here + sums.longest);
        meeting = (rest / sums.regions.max(1) as f64).max(SHORTEST_MEETING);
        println!("two threads {two:.2} s; meeting of two workers {:.2} us", 1e6 * meeting);
    }
    println!(
        "{:>8} {:>9} {:>8} {:>8} {:>8} {:>9} {:>11} {:>8} {:>9}  next limit",
        "workers",
        "seconds",
        "speedup",
        "serial",
        "longest",
        "meetings",
        "regions",
        "balance",
        "MB/worker"
    );
    let mut shown = Vec::new();
    for &workers in workers {
        let found = task.rehearse(workers);
        assert_eq!(found.bits, bits, "the same bits with any number of workers");
        let Rehearsed { seconds, sums, megabytes, phases, .. } = found;
        let serial = seconds - sums.here;
        let meetings = sums.regions as f64 * meeting_of(workers, meeting);
        let predicted = serial + sums.longest + meetings;
        let fair = sums.here / workers as f64;
        let limits = [
            (serial, "serial work"),
            (meetings, "meetings"),
            (sums.longest - fair, "uneven shares"),
            (fair, "work"),
        ];
        let limit = limits.iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("four").1;
        println!(
            "{workers:>8} {predicted:>9.3} {:>8.1} {serial:>8.3} {:>8.3} {meetings:>9.3} {:>11} {:>7.0}% {:>9.2}  \
             {limit}",
            one / predicted,
            sums.longest,
            sums.regions,
            100.0 * fair / sums.longest.max(1e-12),
            megabytes / workers as f64,
        );
        if workers == SHOWN {
            shown = phases;
        }
    }
    println!(
        "with {SHOWN} workers: serial, longest and fair shares of the phases (seconds); of climbs side by side, in the sum of all, what"
    );
    println!("each leader does alone, the longest shares of scans, and all shares of scans");
    for OfPhase { name, serial, longest, shared, inside, climbs } in shown {
        print!("{name:>45} {serial:>8.3} {longest:>8.3} {:>8.3}", shared / SHOWN as f64);
        match inside {
            [0.0, _] => println!(),
            [longest, all] => println!(" {:>8.3} {longest:>8.3} {all:>8.3}", climbs - all),
        }
    }
    println!();
}

/// Seconds to start so many workers and to wait for the last, from that of two.
fn meeting_of(workers: usize, of_two: f64) -> f64 {
    match workers {
        0 | 1 => 0.0,
        more => of_two * (1.0 + (more - 2) as f64 / 3.0),
    }
}
