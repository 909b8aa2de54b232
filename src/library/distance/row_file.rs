//! [`RowFile`]: the distances of all pairs in a temporary file, for trees of more taxa than memory holds.
//!
//! 50 000 taxa have 1.25 · 10⁹ pairs: 5 GB with 4 bytes each, if only one half is stored. The joins of such a tree look at
//! rows only (`cluster_rows`), about six of them for each join (`neighbor_joining`): 2 · 10⁵ bytes at first and half of
//! that on average, 30 GB in all, which is 10 to 60 s from a disk and less where the system keeps the file in free memory.
//! To compute the rows again instead would take n distances for each taxon of a cluster, n² · ln n or more in all: hours.
//! A row of a triangle would be scattered over the whole file, so both halves are stored, 10 GB.
//!
//! A joined cluster changes a row, which is written in its place, and a column, an entry of each row, which is not: the
//! columns of joined clusters are collected in memory and written together as a *chunk*, in which the entries of a row are
//! next to each other. When a quarter of the clusters is gone, the file is written anew without them, from its start: a
//! row never comes to lie on one that is still to be read.
//!
//! ```text
//! [slot 0: all columns] [slot 1: all columns] ... | chunk 0: [slot 0: its columns] [slot 1: ...] ... | chunk 1 ... | memory
//! ```

use super::cluster_rows::ClusterRows;
use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes of memory that are enough for rows that are filled, and for columns that are collected.
pub const ROW_FILE_MEMORY: u64 = 1 << 28;
/// Bytes of a distance.
const BYTES: u64 = 4;

/// Distances of clusters, in a file that has no name and disappears with the value.
#[derive(Debug)]
pub struct RowFile {
    file: File,
    folder: PathBuf,
    /// Rows, and columns of a row without those in chunks.
    width: usize,
    /// `[place]`: where its row is.
    slots: Vec<u32>,
    /// `[place]`: which column is its: below `width`, or counted on through the chunks to those in memory.
    columns: Vec<u32>,
    /// Columns of a chunk.
    chunk: usize,
    /// Chunks in the file.
    num_chunks: usize,
    /// Columns that are in no chunk yet: `[column][slot]`.
    pending: Vec<Vec<f32>>,
    /// What stands for a distance that is not known.
    unknown: f32,
    /// A row as it is in the file, and by places.
    raw: Vec<f32>,
    row: Vec<f32>,
}

/// A [`RowFile`] that is being filled.
#[derive(Debug)]
pub struct RowFileWriter {
    file: File,
    folder: PathBuf,
    size: usize,
    /// The rows of a band, without what is behind it: `[row][column]`.
    band: Vec<Vec<f32>>,
    /// Rows of a band.
    height: usize,
    /// Rows before the band.
    start: usize,
    largest: f32,
    unknown: u64,
}

/// Bytes that the file takes at most, of `copies` matrices.
pub fn row_file_bytes(num_taxa: usize, copies: usize) -> u64 {
    // Chunks of a quarter of the clusters are there before the file is written anew.
    let n = num_taxa as u64;
    5 * n * n * copies as u64
}

impl RowFileWriter {
    /// A file in this folder for the distances of so many taxa, with so many bytes of memory for rows that are filled, and
    /// later for columns that are collected. With less memory the file is written in smaller pieces; the trees are the same.
    ///
    /// # Errors
    /// The system's.
    pub fn new(folder: &Path, num_taxa: usize, memory: u64) -> Result<Self> {
        let row = BYTES * num_taxa.max(1) as u64;
        Ok(RowFileWriter {
            file: tempfile::tempfile_in(folder)?,
            folder: folder.to_path_buf(),
            size: num_taxa,
            band: Vec::new(),
            height: (memory / row).max(1) as usize,
            start: 0,
            largest: 0.0,
            unknown: 0,
        })
    }

    /// The distances of the next taxon from those before it.
    ///
    /// # Errors
    /// The system's.
    pub fn push(&mut self, before: &[f64]) -> Result<()> {
        let row: Vec<f32> = before.iter().map(|&distance| distance as f32).collect();
        for &distance in &row {
            if distance.is_finite() {
                self.largest = self.largest.max(distance);
            } else {
                self.unknown += 1;
            }
        }
        self.band.push(row);
        if self.band.len() == self.height { self.write_band() } else { Ok(()) }
    }

    /// Writes the rows of the band, and what they say of the columns before it.
    fn write_band(&mut self) -> Result<()> {
        let (start, end) = (self.start, self.start + self.band.len());
        let mut line = Vec::new();
        for (i, row) in self.band.iter().enumerate() {
            line.clone_from(row);
            line.push(0.0);
            line.extend(self.band[i + 1..].iter().map(|later| later[start + i]));
            write_at(&mut self.file, (start + i) * self.size, &line)?;
        }
        for column in 0..start {
            line.clear();
            line.extend(self.band.iter().map(|row| row[column]));
            write_at(&mut self.file, column * self.size + start, &line)?;
        }
        self.band.clear();
        self.start = end;
        Ok(())
    }

    /// The file, when all rows are there; the largest known distance takes the place of each that is not known. Also how
    /// many these are, and that distance. `taxa`, if given, has the number that each taxon has in the file, in the order in
    /// which they came.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Panics
    /// If rows are missing, or a number is too large.
    pub fn finish(mut self, taxa: Option<&[usize]>) -> Result<(RowFile, u64, f64)> {
        self.write_band()?;
        assert_eq!(self.start, self.size, "a row for each taxon");
        let n = self.size;
        let mut places: Vec<u32> = (0..n as u32).collect();
        for (row, &taxon) in taxa.into_iter().flatten().enumerate() {
            places[taxon] = row as u32;
        }
        let file = RowFile {
            file: self.file,
            folder: self.folder,
            width: n,
            slots: places.clone(),
            columns: places,
            chunk: self.height.min(1024),
            num_chunks: 0,
            pending: Vec::new(),
            unknown: self.largest,
            raw: Vec::new(),
            row: Vec::new(),
        };
        Ok((file, self.unknown, f64::from(self.largest)))
    }
}

fn write_at(file: &mut File, at: usize, values: &[f32]) -> Result<()> {
    file.seek(SeekFrom::Start(at as u64 * BYTES))?;
    file.write_all(bytemuck::cast_slice(values))
}

fn read_at(file: &mut File, at: usize, values: &mut [f32]) -> Result<()> {
    file.seek(SeekFrom::Start(at as u64 * BYTES))?;
    file.read_exact(bytemuck::cast_slice_mut(values))
}

impl RowFile {
    /// The same in another file.
    ///
    /// # Errors
    /// The system's.
    pub fn duplicate(&self) -> Result<Self> {
        let mut file = tempfile::tempfile_in(&self.folder)?;
        let mut from = &self.file;
        from.seek(SeekFrom::Start(0))?;
        std::io::copy(&mut from, &mut file)?;
        Ok(RowFile {
            file,
            folder: self.folder.clone(),
            width: self.width,
            slots: self.slots.clone(),
            columns: self.columns.clone(),
            chunk: self.chunk,
            num_chunks: self.num_chunks,
            pending: self.pending.clone(),
            unknown: self.unknown,
            raw: Vec::new(),
            row: Vec::new(),
        })
    }

    /// Where the entries of a slot in a chunk begin.
    fn at_chunk(&self, chunk: usize, slot: usize) -> usize {
        self.width * self.width + (chunk * self.width + slot) * self.chunk
    }

    /// Number of columns in the file.
    fn columns_in_file(&self) -> usize {
        self.width + self.num_chunks * self.chunk
    }

    /// Reads the row at a place to `row`.
    fn load(&mut self, place: usize) -> Result<()> {
        let slot = self.slots[place] as usize;
        let in_file = self.columns_in_file();
        self.raw.resize(in_file + self.pending.len(), 0.0);
        let (width, size) = (self.width, self.chunk);
        read_at(&mut self.file, slot * width, &mut self.raw[..width])?;
        for chunk in 0..self.num_chunks {
            let at = self.at_chunk(chunk, slot);
            let part = &mut self.raw[width + chunk * size..][..size];
            read_at(&mut self.file, at, part)?;
        }
        for (value, column) in self.raw[in_file..].iter_mut().zip(&self.pending) {
            *value = column[slot];
        }
        let (raw, unknown) = (&self.raw, self.unknown);
        let known = |column: &u32| {
            let value = raw[*column as usize];
            if value.is_finite() { value } else { unknown }
        };
        self.row.clear();
        self.row.extend(self.columns.iter().map(known));
        Ok(())
    }

    /// Makes a chunk of the columns in memory.
    fn write_chunk(&mut self) -> Result<()> {
        const BLOCK: usize = 64;
        let mut block = Vec::with_capacity(BLOCK * self.chunk);
        for start in (0..self.width).step_by(BLOCK) {
            block.clear();
            for slot in start..(start + BLOCK).min(self.width) {
                block.extend(self.pending.iter().map(|column| column[slot]));
            }
            let at = self.at_chunk(self.num_chunks, start);
            write_at(&mut self.file, at, &block)?;
        }
        self.pending.clear();
        self.num_chunks += 1;
        Ok(())
    }

    /// Writes the rows of all clusters anew, without columns of others.
    fn rewrite(&mut self) -> Result<()> {
        let count = self.slots.len();
        let mut places: Vec<usize> = (0..count).collect();
        places.sort_by_key(|&place| self.slots[place]);
        let mut line = Vec::with_capacity(count);
        for (slot, &place) in places.iter().enumerate() {
            self.load(place)?;
            line.clear();
            line.extend(places.iter().map(|&other| self.row[other]));
            write_at(&mut self.file, slot * count, &line)?;
        }
        for (slot, &place) in places.iter().enumerate() {
            (self.slots[place], self.columns[place]) = (slot as u32, slot as u32);
        }
        (self.width, self.num_chunks) = (count, 0);
        self.pending.clear();
        self.file.set_len((count * count) as u64 * BYTES)
    }
}

impl ClusterRows for RowFile {
    type Value = f32;
    type Fault = std::io::Error;

    fn len(&self) -> usize {
        self.slots.len()
    }

    fn row(&mut self, place: usize) -> Result<&[f32]> {
        self.load(place)?;
        Ok(&self.row)
    }

    fn join(&mut self, a: usize, b: usize, row: &[f32]) -> Result<()> {
        let (slot, in_file) = (self.slots[a] as usize, self.columns_in_file());
        let mut column = vec![0.0; self.width];
        self.columns[a] = (in_file + self.pending.len()) as u32;
        self.raw.resize(in_file + self.pending.len() + 1, 0.0);
        for (place, &distance) in row.iter().enumerate() {
            self.raw[self.columns[place] as usize] = distance;
            column[self.slots[place] as usize] = distance;
        }
        self.pending.push(column);
        write_at(&mut self.file, slot * self.width, &self.raw[..self.width])?;
        for chunk in 0..self.num_chunks {
            let at = self.at_chunk(chunk, slot);
            let part = &self.raw[self.width + chunk * self.chunk..][..self.chunk];
            write_at(&mut self.file, at, part)?;
        }
        for (column, &value) in self.pending.iter_mut().zip(&self.raw[in_file..]) {
            column[slot] = value;
        }
        self.slots.swap_remove(b);
        self.columns.swap_remove(b);
        if self.slots.len() * 4 <= self.width * 3 {
            return self.rewrite();
        }
        if self.pending.len() == self.chunk { self.write_chunk() } else { Ok(()) }
    }

    fn copy(&self) -> Result<Self> {
        self.duplicate()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster_rows::RowsInMemory;
    use super::super::neighbor_joining::{join_neighbors, join_neighbors_by_variance};
    use super::super::upgma::link_averages;
    use super::*;
    use crate::distance::SquareMatrix;
    use crate::rng::{Purpose, stream};
    use rand::RngExt;

    /// Random distances, some of them unknown, in memory and in a file with little memory, into which they come in the order
    /// of the taxa or in another one.
    fn both(folder: &Path, n: usize, memory: u64) -> (RowsInMemory<f32>, RowFile) {
        let mut rng = stream(n as u64, Purpose::Test, 11);
        let mut matrix = SquareMatrix::<f32>::zero(n);
        let mut writer = RowFileWriter::new(folder, n, memory).unwrap();
        for a in 0..n {
            let row: Vec<f64> = (0..a)
                .map(|_| match rng.random_bool(0.01) {
                    true => f64::INFINITY,
                    // Some are equal.
                    false => f64::from(rng.random_range(50_u32..500)) / 250.0,
                })
                .collect();
            row.iter().enumerate().for_each(|(b, &distance)| matrix.set(a, b, distance));
        }
        let mut taxa: Vec<usize> = (0..n).collect();
        if n.is_multiple_of(4) {
            (1..n).for_each(|last| taxa.swap(last, rng.random_range(0..last + 1)));
        }
        for (row, &taxon) in taxa.iter().enumerate() {
            let before = taxa[..row].iter().map(|&other| matrix.get(taxon, other));
            writer.push(&before.collect::<Vec<f64>>()).unwrap();
        }
        let (count, largest) = matrix.fill_unknown();
        let (file, unknown, most) =
            writer.finish(n.is_multiple_of(4).then_some(&taxa[..])).unwrap();
        assert_eq!((count as u64, largest), (unknown, most));
        (RowsInMemory::new(matrix), file)
    }

    #[test]
    fn trees_from_a_file_are_those_from_memory() {
        let folder = tempfile::tempdir().unwrap();
        for (n, memory) in
            [(2, 100), (3, 8), (4, 1), (50, 1), (50, 1200), (300, 8000), (300, 1 << 20)]
        {
            let (rows, file) = both(folder.path(), n, memory);
            let (twin, other, third) = (rows.clone(), file.copy().unwrap(), file.copy().unwrap());
            let (Ok(expected), found) = (join_neighbors(rows.clone()), join_neighbors(file));
            assert_eq!(found.unwrap(), expected, "{n}, {memory} bytes");
            let Ok(expected) = join_neighbors_by_variance(twin);
            assert_eq!(join_neighbors_by_variance(other).unwrap(), expected, "{n}, {memory} bytes");
            let Ok(expected) = link_averages(rows);
            assert_eq!(link_averages(third).unwrap(), expected, "{n}, {memory} bytes");
        }
    }

    #[test]
    fn the_file_shrinks_with_the_clusters() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut file) = both(folder.path(), 100, 3200);
        let length = |file: &RowFile| file.file.metadata().unwrap().len();
        let most = row_file_bytes(100, 1);
        let mut longest = length(&file);
        while file.len() > 10 {
            let row = file.row(0).unwrap().to_vec();
            let last = file.len() - 1;
            file.join(0, last, &row).unwrap();
            longest = longest.max(length(&file));
        }
        assert!(
            longest <= most && length(&file) < 4 * 20 * 20,
            "{longest} {most} {}",
            length(&file)
        );
    }
}
