//! [`PairGpus`]: distances of pairs of sequences on GPUs. Each GPU has all sequences and computes a strip of the columns.

use crate::distance::pair_tables::{PairTables, PartitionTables};
use crate::gpu::{self, Buffer, Device, Grid, Module, Result};
use cudarc::driver::{CudaFunction, DeviceRepr, PushKernelArg};
use mlsearch_cuda::DISTANCES;
use std::ops::Range;

/// Sequences of a side of a tile, and threads of a CTA: a tile of pairs (`cuda/distances.cu`).
const STRIP: usize = 16;
const PAIRS: usize = STRIP * STRIP;
/// Terms of a model that a kernel keeps in registers.
const FEW_TERMS: usize = 3;
/// A probability and its derivatives.
const DERIVATIVES: usize = 4;
/// CTAs for each multiprocessor: of these kernels, one has 2 to 8 at the same time.
const CTAS: usize = 8;
/// Most memory of the lists of `pair_distances_any`.
const MOST_SCRATCH: u64 = 1 << 30;

/// A partition, field by field as in `cuda/distances.cu`; pointers are addresses on a GPU.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct PairPartition {
    words: u64,
    chunks: u64,
    codes: u64,
    weights: u64,
    is_present: u64,
    first_ambiguous: u64,
    ambiguous: u64,
    of_codes: u64,
    at_zero: u64,
    coefficients: u64,
    cats: u64,
    saturation: f64,
    bends: [f64; 2],
    shape: f64,
    stride: u32,
    num_levels: u32,
    num_patterns: u32,
    num_codes: u32,
    num_classes: u32,
    num_terms: u32,
    num_cats: u32,
    is_joined: u32,
    has_ambiguous: u32,
    padding: u32,
}

/// Rows and columns of a launch.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct PairTiles {
    out: u64,
    first_row: u32,
    num_rows: u32,
    first_column: u32,
    num_columns: u32,
    num_taxa: u32,
    num_partitions: u32,
    mirrored: u32,
    padding: u32,
}

/// Memory of the lists of all CTAs.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct PairScratch {
    entries: u64,
    num_entries: u64,
    terms: u64,
    num_classes: u32,
    num_terms: u32,
}

/// Sizes of the structs, as the kernel `distances_sizes` reports its own.
const SIZES: [u32; 3] = [
    size_of::<PairPartition>() as u32,
    size_of::<PairTiles>() as u32,
    size_of::<PairScratch>() as u32,
];

/// Implements [`DeviceRepr`] for structs of numbers that are laid out as in C.
macro_rules! laid_out_as_in_c {
    ($($name:ty),*) => {$(
        // SAFETY: the struct is `repr(C)`, has only numbers, and has the size that the kernels' own has (`Module::load`).
        #[allow(unsafe_code)]
        unsafe impl DeviceRepr for $name {}
    )*};
}
laid_out_as_in_c!(PairPartition, PairTiles, PairScratch);

/// The lists of a partition on a GPU.
#[derive(Debug)]
struct PartitionBuffers {
    words: Buffer<u64>,
    codes: Buffer<u16>,
    /// `chunks`, `weights`, `is_present`, `first_ambiguous`, `ambiguous`, `of_codes`.
    numbers: [Buffer<u32>; 6],
    /// `at_zero`, `coefficients`, `cats`.
    reals: [Buffer<f64>; 3],
}

/// Which kernel computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    /// With numbers of sites in registers.
    Few { classes: usize },
    /// With lists of this many classes and terms at most.
    Any { classes: usize, terms: usize },
}

impl Kernel {
    fn of(tables: &PairTables) -> Self {
        match &tables.partitions[..] {
            [one]
                if !one.words.is_empty()
                    && one.ambiguous.is_empty()
                    && one.num_terms <= FEW_TERMS =>
            {
                Kernel::Few { classes: if one.joins_transversions { 7 } else { 10 } }
            }
            partitions => Kernel::Any {
                classes: partitions.iter().map(|partition| partition.at_zero.len()).sum(),
                terms: partitions.iter().map(|partition| partition.num_terms).max().unwrap_or(0),
            },
        }
    }

    fn name(self) -> String {
        match self {
            Kernel::Few { classes } => format!("pair_distances_{classes}"),
            Kernel::Any { .. } => "pair_distances_any".into(),
        }
    }
}

/// Distances on one or more GPUs.
#[derive(Debug)]
pub(in crate::distance) struct PairGpus {
    gpus: Vec<PairGpu>,
}

/// One GPU.
#[derive(Debug)]
struct PairGpu {
    device: Device,
    kernel: Kernel,
    function: CudaFunction,
    num_taxa: usize,
    /// What the partitions point to.
    lists: Vec<PartitionBuffers>,
    partitions: Buffer<PairPartition>,
    tiles: Buffer<PairTiles>,
    scratch: Buffer<PairScratch>,
    entries: Buffer<u64>,
    num_entries: Buffer<u32>,
    terms: Buffer<f64>,
    /// CTAs for which there are lists.
    most_ctas: usize,
    out: Buffer<f64>,
}

impl PairGpus {
    /// Opens the GPUs whose numbers are given as bits, and gives them the sequences.
    ///
    /// # Errors
    /// [`gpu::GpuError::Unavailable`] or [`gpu::GpuError::Lost`].
    pub(in crate::distance) fn open(gpus: u64, tables: &PairTables) -> Result<Self> {
        let open = |number: usize| PairGpu::open(number, tables);
        let gpus = gpu::numbers(gpus).into_iter().map(open).collect::<Result<_>>()?;
        Ok(PairGpus { gpus })
    }

    /// The distances between these rows and columns, row by row; 0 of a sequence from itself.
    ///
    /// # Errors
    /// [`gpu::GpuError::Unavailable`] (not enough memory) or [`gpu::GpuError::Lost`].
    pub(in crate::distance) fn rows(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> Result<Vec<f64>> {
        if rows.is_empty() || columns.is_empty() {
            return Ok(Vec::new());
        }
        // Of a pair within the rows, one of both places is enough, if it is there.
        let mirrored = if columns.start <= rows.start { rows.end } else { 0 };
        let width = columns.len().div_ceil(self.gpus.len()).next_multiple_of(STRIP);
        let strips = columns.clone().step_by(width);
        let strips: Vec<Range<usize>> =
            strips.map(|start| start..(start + width).min(columns.end)).collect();
        // All GPUs compute before the first answer is waited for.
        for (gpu, strip) in self.gpus.iter_mut().zip(&strips) {
            gpu.start(rows.clone(), strip.clone(), mirrored)?;
        }
        let mut whole = vec![0.0; rows.len() * columns.len()];
        for (gpu, strip) in self.gpus.iter().zip(&strips) {
            let found = gpu.out.download(&gpu.device, 0..rows.len() * strip.len())?;
            for (row, found) in found.chunks_exact(strip.len()).enumerate() {
                let at = row * columns.len() + (strip.start - columns.start);
                whole[at..at + strip.len()].copy_from_slice(found);
            }
        }
        for row in rows.clone() {
            for column in row + 1..mirrored.min(columns.end) {
                let at = |row: usize, column: usize| {
                    (row - rows.start) * columns.len() + (column - columns.start)
                };
                whole[at(row, column)] = whole[at(column, row)];
            }
        }
        Ok(whole)
    }
}

impl PairGpu {
    fn open(number: usize, tables: &PairTables) -> Result<Self> {
        let device = Device::open(number)?;
        let kernel = Kernel::of(tables);
        let module =
            Module::load(&device, DISTANCES.name, DISTANCES.ptx, "distances_sizes", &SIZES)?;
        let function = module.function(&kernel.name())?;
        let mut gpu = PairGpu {
            kernel,
            function,
            num_taxa: tables.num_taxa,
            lists: Vec::new(),
            partitions: Buffer::new("partitions of distances"),
            tiles: Buffer::new("tiles of distances"),
            scratch: Buffer::new("addresses of lists"),
            entries: Buffer::new("classes of sites"),
            num_entries: Buffer::new("numbers of classes"),
            terms: Buffer::new("terms of models"),
            most_ctas: CTAS * device.num_multiprocessors,
            out: Buffer::new("distances"),
            device,
        };
        let partitions = tables
            .partitions
            .iter()
            .map(|partition| gpu.upload(partition))
            .collect::<Result<Vec<_>>>()?;
        gpu.partitions.upload(&gpu.device, &partitions)?;
        if let Kernel::Any { classes, terms } = kernel {
            gpu.reserve_lists(classes, terms, partitions.len())?;
        }
        Ok(gpu)
    }

    /// Gives the GPU the lists of a partition.
    fn upload(&mut self, partition: &PartitionTables) -> Result<PairPartition> {
        let device = &self.device;
        let mut lists = PartitionBuffers {
            words: Buffer::new("bits of sequences"),
            codes: Buffer::new("characters of sequences"),
            numbers: std::array::from_fn(|_| Buffer::new("patterns of pairs")),
            reals: std::array::from_fn(|_| Buffer::new("models of pairs")),
        };
        lists.words.upload(device, &partition.words)?;
        lists.codes.upload(device, &partition.codes)?;
        let numbers = [
            &partition.chunks,
            &partition.weights,
            &partition.is_present,
            &partition.first_ambiguous,
            &partition.ambiguous,
            &partition.of_codes,
        ];
        for (buffer, list) in lists.numbers.iter_mut().zip(numbers) {
            buffer.upload(device, list)?;
        }
        let cats: Vec<f64> = partition.cats.iter().flatten().copied().collect();
        for (buffer, list) in
            lists.reals.iter_mut().zip([&partition.at_zero, &partition.coefficients, &cats])
        {
            buffer.upload(device, list)?;
        }
        let [chunks, weights, is_present, first_ambiguous, ambiguous, of_codes] =
            [0, 1, 2, 3, 4, 5].map(|list: usize| lists.numbers[list].address(device));
        let [at_zero, coefficients, cats] =
            [0, 1, 2].map(|list: usize| lists.reals[list].address(device));
        let pair_partition = PairPartition {
            words: lists.words.address(device),
            chunks,
            codes: lists.codes.address(device),
            weights,
            is_present,
            first_ambiguous,
            ambiguous,
            of_codes,
            at_zero,
            coefficients,
            cats,
            saturation: partition.saturation,
            bends: partition.bends,
            shape: partition.gamma.unwrap_or(0.0),
            stride: (partition.words.len() / self.num_taxa.max(1)) as u32,
            num_levels: partition.chunks.len() as u32,
            num_patterns: partition.weights.len() as u32,
            num_codes: partition.num_codes as u32,
            num_classes: partition.at_zero.len() as u32,
            num_terms: partition.num_terms as u32,
            num_cats: (partition.cats.len() / partition.num_terms.max(1)) as u32,
            is_joined: u32::from(partition.joins_transversions),
            has_ambiguous: u32::from(!partition.ambiguous.is_empty()),
            padding: 0,
        };
        self.lists.push(lists);
        Ok(pair_partition)
    }

    /// Memory for the lists of as many CTAs as it is enough for.
    fn reserve_lists(&mut self, classes: usize, terms: usize, num_partitions: usize) -> Result<()> {
        let bytes = ((classes + DERIVATIVES * terms) * 8 + num_partitions * 4) * PAIRS;
        let allowed = self.device.free_bytes().unwrap_or(MOST_SCRATCH) / 4;
        let fitting = (allowed.min(MOST_SCRATCH) / bytes.max(1) as u64).max(1) as usize;
        self.most_ctas = self.most_ctas.min(fitting);
        let lists = self.most_ctas * PAIRS;
        self.entries.reserve(&self.device, lists * classes)?;
        self.num_entries.reserve(&self.device, lists * num_partitions)?;
        self.terms.reserve(&self.device, lists * DERIVATIVES * terms)?;
        let scratch = PairScratch {
            entries: self.entries.address(&self.device),
            num_entries: self.num_entries.address(&self.device),
            terms: self.terms.address(&self.device),
            num_classes: classes as u32,
            num_terms: terms as u32,
        };
        self.scratch.upload(&self.device, &[scratch])
    }

    /// Starts the computation of these rows and columns.
    fn start(&mut self, rows: Range<usize>, columns: Range<usize>, mirrored: usize) -> Result<()> {
        self.out.reserve(&self.device, rows.len() * columns.len())?;
        let tiles = PairTiles {
            out: self.out.address(&self.device),
            first_row: rows.start as u32,
            num_rows: rows.len() as u32,
            first_column: columns.start as u32,
            num_columns: columns.len() as u32,
            num_taxa: self.num_taxa as u32,
            num_partitions: self.lists.len() as u32,
            mirrored: mirrored as u32,
            padding: 0,
        };
        self.tiles.upload(&self.device, &[tiles])?;
        let count = rows.len().div_ceil(STRIP) * columns.len().div_ceil(STRIP);
        let addresses = [
            self.partitions.address(&self.device),
            self.tiles.address(&self.device),
            self.scratch.address(&self.device),
        ];
        let used = if matches!(self.kernel, Kernel::Any { .. }) { 3 } else { 2 };
        self.launch(&addresses[..used], count.min(self.most_ctas))
    }

    /// The only place where kernels of distances are launched.
    fn launch(&self, addresses: &[u64], num_ctas: usize) -> Result<()> {
        let mut arguments = self.device.stream.launch_builder(&self.function);
        for address in addresses {
            arguments.arg(address);
        }
        // SAFETY: all parameters of these kernels are addresses, as many as are given; the buffers have room for all pairs of
        // the tiles and for the lists of so many CTAs, and what the partitions point to lives as long as they do.
        #[allow(unsafe_code)]
        unsafe {
            gpu::launch(&mut arguments, Grid { ctas: num_ctas as u32, threads: PAIRS as u32 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_has_every_kernel() {
        for name in ["7", "10", "any"] {
            assert!(DISTANCES.ptx.contains(&format!(".entry pair_distances_{name}(")), "{name}");
        }
        assert!(
            DISTANCES.ptx.contains(".target sm_75")
                && DISTANCES.ptx.contains(".entry distances_sizes(")
        );
    }
}
