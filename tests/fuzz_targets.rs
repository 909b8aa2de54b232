//! What must hold when a reader is given any bytes; see `fuzz.rs`.

use crate::fuzz::{Verdict, read, read_command};
use flate2::{Compression, write::GzEncoder};
use mlsearch::alignment::{Alignment, read_alignment_from};
use mlsearch::cli::{self, Stop};
use mlsearch::distance::SquareMatrix;
use mlsearch::error::{Error, Fault};
use mlsearch::model::{Model, UserMatrix};
use mlsearch::partition::parse_partitions;
use mlsearch::rng::{Purpose, stream};
use mlsearch::run::{SiteWeights, parse_distances, parse_site_frequencies};
use mlsearch::runtime::checkpoint::{Journal, Key, Kind, Refused};
use mlsearch::taxa::Taxa;
use mlsearch::tree::{NewickOptions, NewickReader, NewickTree, read_newick, write_newick};
use std::io::Write;
use std::path::PathBuf;

/// Longest message, in characters: fifty faults of a few lines, or a long command that is corrected.
const MAX_MESSAGE: usize = 100_000;

/// A refusal must be the user's fault, and say where and what.
fn refused(error: &Error) -> Verdict {
    let message = error.to_string();
    if message.chars().count() > MAX_MESSAGE {
        return Err(format!("a message of {} bytes", message.len()));
    }
    let is_placed = |fault: &Fault| fault.place.file.is_some() && !fault.message.is_empty();
    match error {
        Error::Input(faults) if !faults.is_empty() && faults.kept().iter().all(is_placed) => Ok(()),
        Error::Io { path, writing: false, .. } if !path.is_empty() => Ok(()),
        Error::Usage(text) if !text.is_empty() => Ok(()),
        other => Err(format!("a message without a place: {other:?}")),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, first: &T, second: &T) -> Verdict {
    if first == second {
        Ok(())
    } else {
        Err(format!("{what}: {first:?} is read back as {second:?}"))
    }
}

fn rows(alignment: &Alignment) -> Vec<(&str, &[u8])> {
    (0..alignment.num_taxa())
        .map(|taxon| (alignment.taxa().name(taxon), alignment.row(taxon)))
        .collect()
}

/// PHYLIP, FASTA, NEXUS, Clustal and Stockholm.
pub fn alignment(text: &[u8]) -> Verdict {
    let alignment = match read(text.len(), || read_alignment_from(text, "f"))? {
        Ok(alignment) => alignment,
        Err(error) => return refused(&error),
    };
    let rows = rows(&alignment);
    if rows.is_empty()
        || rows.iter().any(|(name, row)| name.is_empty() || row.len() != alignment.num_sites())
    {
        return Err("rows of unequal length or without a name".to_string());
    }
    let is_plain = |(name, _): &(&str, &[u8])| !name.contains(char::is_whitespace);
    if !rows.iter().all(is_plain) || rows.iter().any(|(name, _)| name.contains('\u{feff}')) {
        // Only strict PHYLIP and NEXUS have names with blanks.
        return Ok(());
    }
    let (mut phylip, mut fasta) =
        (format!("{} {}\n", rows.len(), alignment.num_sites()).into_bytes(), Vec::new());
    for (name, row) in &rows {
        phylip.extend([name.as_bytes(), b" ", row, b"\n"].concat());
        fasta.extend([b">", name.as_bytes(), b"\n", row, b"\n"].concat());
    }
    // A symbol of multi-state data that FASTA cannot have where a row begins.
    let has_fasta = !rows.iter().any(|(_, row)| row.starts_with(b">"));
    for written in [Some(&phylip), has_fasta.then_some(&fasta)].into_iter().flatten() {
        let again = read_alignment_from(written.as_slice(), "f")
            .map_err(|error| format!("written: {error}"))?;
        same("alignment", &rows, &self::rows(&again))?;
    }
    Ok(())
}

/// The text gzipped is read as the text; the gzipped bytes may be damaged.
pub fn gzipped(text: &[u8]) -> Verdict {
    // Where the text decides which byte is damaged and how.
    let (damage, text) = text.split_at(text.len().min(3));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("memory");
    let mut packed = encoder.finish().expect("memory");
    let length = text.len();
    // Few bytes may stand for many, but here they came from a text, or from one that was damaged.
    let outcome =
        |text: &[u8]| match read(length.max(text.len()), || read_alignment_from(text, "f"))? {
            Ok(alignment) => Ok(format!("{:?}", rows(&alignment))),
            Err(error) => refused(&error).map(|()| error.to_string()),
        };
    let plain = outcome(text)?;
    if !text.starts_with(&[0x1f, 0x8b]) {
        same("gzipped text", &plain, &outcome(&packed)?)?;
    }
    if let [a, b, byte] = *damage {
        let at = (usize::from(a) << 8 | usize::from(b)) % packed.len();
        match byte % 3 {
            0 => packed.truncate(at),
            1 => packed[at] ^= byte,
            _ => packed.splice(at..at, [byte, a, b]).for_each(drop),
        }
        outcome(&packed)?;
    }
    Ok(())
}

/// Partition files, for alignments of as many columns as the first byte says.
pub fn partitions(text: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    let num_sites = text.len() % 61 * 16 + 1;
    for allow_unassigned in [false, true] {
        let parse = || parse_partitions(text, "q", num_sites, allow_unassigned);
        let defs = match read(text.len(), parse)? {
            Ok(defs) => defs,
            Err(error) => {
                refused(&error)?;
                continue;
            }
        };
        let is_plain = |text: &str| {
            !text.is_empty() && !text.contains([',', '=', '#', ':', ';', '[', ']', '\''])
        };
        let is_plain =
            |text: &str| is_plain(text) && text.trim() == text && !text.contains(char::is_control);
        if !defs.iter().all(|def| is_plain(&def.name) && is_plain(&def.model)) {
            continue;
        }
        // A byte order mark is one only at the beginning of a file.
        let mut written = "# written\n".to_string();
        for def in &defs {
            let columns: Vec<String> =
                def.sites.iter().map(|site| (site + 1).to_string()).collect();
            written.push_str(&format!("{}, {} = {}\n", def.model, def.name, columns.join(",")));
        }
        let again = parse_partitions(&written, "q", num_sites, allow_unassigned);
        let again = again.map_err(|error| format!("written: {error}"))?;
        let plain = |defs: &[mlsearch::partition::PartitionDef]| -> Vec<_> {
            defs.iter()
                .map(|def| (def.name.clone(), def.model.clone(), def.sites.clone()))
                .collect()
        };
        same("partitions", &plain(&defs), &plain(&again))?;
    }
    Ok(())
}

/// Trees, each with the taxa that it has.
pub fn newick(text: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    // As the program does, which keeps no tree when it reads the next one.
    let first_three = || {
        let (mut reader, mut trees) = (NewickReader::new(text.as_bytes(), "t"), Vec::new());
        while let Some(tree) = reader.next_tree() {
            if trees.len() < 3 {
                trees.push(tree);
            }
        }
        reader.finish().map(|()| trees)
    };
    match read(text.len(), first_three)? {
        Ok(trees) => trees.iter().try_for_each(newick_tree),
        Err(error) => refused(&error),
    }
}

fn newick_tree(syntax: &NewickTree) -> Verdict {
    let tips = syntax.nodes().filter(|node| node.is_tip());
    let names = tips.map(|tip| tip.name().unwrap_or_default().to_string()).collect();
    let Ok(taxa) = Taxa::new(names) else { return Ok(()) };
    if let Err(error) = syntax.to_tree(&taxa, "t", None) {
        refused(&error)?;
    }
    let mut rng = stream(1, Purpose::Test, 0);
    let tree = match syntax.to_tree(&taxa, "t", Some(&mut rng)) {
        Ok((tree, _)) => tree,
        Err(error) => return refused(&error),
    };
    tree.assert_integrity();
    let write = |tree| write_newick(tree, |tip| taxa.name(tip), &NewickOptions::default());
    let written = write(&tree);
    let again = || read_newick(&written, "t")?[0].to_tree(&taxa, "t", None);
    let (again, _) = again().map_err(|error| format!("written: {error}: {written}"))?;
    same("tree", &written, &write(&again))
}

/// Files of column weights, for alignments of as many columns as there are words, or one more.
pub fn weights(text: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    let num_columns = text.split_whitespace().count();
    for num_columns in [num_columns, num_columns + 1] {
        let parse = |text: &str| SiteWeights::parse(text, "w", num_columns);
        let found = match read(text.len(), || parse(text))? {
            Ok(found) => found,
            Err(error) => {
                refused(&error)?;
                continue;
            }
        };
        let written: Vec<String> = found.weights.iter().map(u32::to_string).collect();
        let again = parse(&written.join("\n")).map_err(|error| format!("written: {error}"))?;
        same("weights", &found, &again)?;
    }
    Ok(())
}

/// Files of site frequencies, for alignments of as many columns as there are lines with words.
pub fn site_frequencies(text: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    let num_columns = text.lines().filter(|line| !line.trim().is_empty()).count();
    let parse = |text: &str| parse_site_frequencies(text, "f", &vec![true; num_columns]);
    let found = match read(text.len(), || parse(text))? {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    let line = |(column, freqs): (usize, &Vec<f64>)| {
        let freqs: Vec<String> = freqs.iter().map(f64::to_string).collect();
        format!("{} {}", column + 1, freqs.join(" "))
    };
    let written: Vec<String> = found.iter().enumerate().map(line).collect();
    let again = parse(&written.join("\n")).map_err(|error| format!("written: {error}"))?;
    let pairs = found.iter().flatten().zip(again.iter().flatten());
    match found.len() == again.len() && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12) {
        true => Ok(()),
        false => Err(format!("written: {written:?}")),
    }
}

/// Constraints, on taxa some of which may be in the tree.
pub fn constraint(text: &[u8]) -> Verdict {
    let taxa = Taxa::new(["a", "b", "c", "d", "e", "f", "g"].map(String::from).to_vec());
    let taxa = taxa.expect("the names differ");
    let constraint = || read_newick_bytes(text)?[0].to_constraint(&taxa, "t");
    let constraint = match read(text.len(), constraint)? {
        Ok(constraint) => constraint,
        Err(error) => return refused(&error),
    };
    let tree = constraint.random_tree(0.1, &mut stream(1, Purpose::Test, 0));
    tree.assert_integrity();
    match (tree.num_tips() == taxa.len(), constraint.violated(&tree)) {
        (true, None) => Ok(()),
        wrong => Err(format!("a tree that was made under the constraint: {wrong:?}")),
    }
}

/// All trees of a text, at least one.
fn read_newick_bytes(text: &[u8]) -> mlsearch::error::Result<Vec<NewickTree>> {
    let (mut reader, mut trees) = (NewickReader::new(text, "t"), Vec::new());
    trees.extend(reader.next_tree());
    while reader.next_tree().is_some() {}
    reader.finish().map(|()| trees)
}

/// Files of distances between taxa.
pub fn distances(text: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    let (taxa, matrix) = match read(text.len(), || parse_distances(text, "d"))? {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    let values = |matrix: &SquareMatrix<f64>| -> Vec<Vec<String>> {
        let row = |i| (0..taxa.len()).map(move |j| matrix.get(i, j).to_string()).collect();
        (0..taxa.len()).map(row).collect()
    };
    let mut written = format!("{}\n", taxa.len());
    for (i, row) in values(&matrix).iter().enumerate() {
        written.push_str(&format!("{} {}\n", taxa.name(i), row.join(" ").replace("NaN", "-1")));
    }
    let (again, same_matrix) =
        parse_distances(&written, "d").map_err(|error| format!("written: {error}"))?;
    let names = |taxa: &Taxa| (0..taxa.len()).map(|i| taxa.name(i).to_string()).collect::<Vec<_>>();
    same("names", &names(&taxa), &names(&again))?;
    same("distances", &values(&matrix), &values(&same_matrix))
}

/// Model strings.
pub fn model(text: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    for num_states in [None, Some(text.len() % 64 + 1)] {
        match read(text.len(), || Model::parse_with_states(text, num_states))? {
            Ok(model) => is_sound(&model)?,
            Err(message) if message.starts_with("model '") && message.len() < MAX_MESSAGE => {}
            Err(message) => return Err(format!("a message without a place: {message}")),
        }
    }
    Ok(())
}

/// A model is written and read as the same, and its probabilities are probabilities.
fn is_sound(model: &Model) -> Verdict {
    let written = model.to_string();
    let again = Model::parse(&written).map_err(|error| format!("written: {error}"))?;
    // What was counted is given when it is read back, and stays so.
    let given = again.to_string();
    let third = Model::parse(&given).map_err(|error| format!("written: {error}"))?;
    same("model", &given, &third.to_string())?;
    let cats = model.rate_cats();
    let is_number = |x: &f64| x.is_finite() && *x >= 0.0;
    if !cats.rates.iter().chain(&cats.weights).all(is_number) || !is_number(&cats.pinv) {
        return Err(format!("{written}: rates {:?}, weights {:?}", cats.rates, cats.weights));
    }
    let matrices = model.eigen_models();
    same("matrices", &matrices, &again.eigen_models())?;
    // Large matrices take long.
    for length in [0.0, 1e-6, 1.0, 100.0].into_iter().filter(|_| model.num_states() <= 20) {
        for matrix in &matrices {
            for row in matrix.transition_probabilities(length).chunks(model.num_states()) {
                let sum: f64 = row.iter().sum();
                if !row.iter().all(|p| p.is_finite() && *p > -1e-6) || (sum - 1.0).abs() > 1e-6 {
                    return Err(format!(
                        "{written}: probabilities {row:?} of length {length}, sum {sum}"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Files of amino-acid matrices.
pub fn matrix(text: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    match read(text.len(), || UserMatrix::read(text, "m"))? {
        Ok(matrix) => {
            let model = Model::parse("JTT+G4{0.5}").expect("a model");
            // Refused are rates that are too far apart.
            model.with_user_matrix(&matrix).map_or(Ok(()), |model| is_sound(&model))
        }
        Err(error) => refused(&error),
    }
}

/// Checkpoints, as they are and with their check sums made right, so that what these protect is read, too.
pub fn checkpoint(bytes: &[u8]) -> Verdict {
    journal(bytes)?;
    journal(&with_check_sums(bytes))
}

/// A checkpoint is refused with a reason, or the run goes on from it.
fn journal(bytes: &[u8]) -> Verdict {
    // In memory, where that is possible: a disk takes milliseconds for each.
    let folder = Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
    let folder = folder.unwrap_or_else(std::env::temp_dir);
    let file = tempfile::NamedTempFile::new_in(folder).map_err(|error| error.to_string())?;
    let path = file.path();
    std::fs::write(path, bytes).map_err(|error| error.to_string())?;
    let open = || match read(bytes.len(), || Journal::open(path))? {
        Ok(journal) => Ok(Ok(journal.ok_or("it is there")?)),
        Err(Refused::Damaged(why)) if !why.is_empty() => Ok(Err(why)),
        Err(other) => Err(format!("{other:?}")),
    };
    let Ok(mut journal) = open()? else { return Ok(()) };
    let contents = |journal: &mut Journal| journal.payloads().map_err(|error| error.to_string());
    let (key, new) = (Key { part: u32::MAX, stage: u32::MAX, job: 0 }, b"new".to_vec());
    let mut expected = contents(&mut journal)?;
    expected.retain(|record| record.0 != Kind::Remark || record.1 != key);
    expected.push((Kind::Remark, key, new.clone()));
    expected.sort();
    journal.append(Kind::Remark, key, &new).map_err(|error| error.to_string())?;
    let again = open()?.map_err(|why| format!("written: {why}"))?;
    same("identity", journal.identity(), again.identity())?;
    let mut found = contents(&mut { again })?;
    found.sort();
    same("records", &expected, &found)
}

/// The same records with the check sums that they should have, and no length beyond the end.
pub fn with_check_sums(bytes: &[u8]) -> Vec<u8> {
    const HEAD: usize = 25;
    let mut bytes = bytes.to_vec();
    let mut at = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| at + 1);
    while bytes.len() - at >= HEAD {
        let (head, rest) = bytes[at..].split_at_mut(HEAD);
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let length = length.min(rest.len() as u32);
        head[..4].copy_from_slice(&length.to_le_bytes());
        head[17..21].copy_from_slice(&crc32fast::hash(&rest[..length as usize]).to_le_bytes());
        let own = crc32fast::hash(&head[..21]).to_le_bytes();
        head[21..].copy_from_slice(&own);
        at += HEAD + length as usize;
    }
    bytes
}

/// Command lines, a word in each line.
pub fn command(text: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(text) else { return Ok(()) };
    let typed = text.lines().map(String::from);
    let words: Vec<String> = std::iter::once("mlsearch".to_string()).chain(typed).collect();
    match read_command(text.len(), || cli::parse(&words))? {
        Ok(analysis) => {
            // The recorded command, typed again, is the same.
            let again = cli::parse(&shell_words(analysis.command_line()));
            let again = again.map_err(|stop| format!("{stop:?}"))?;
            same("analysis", &format!("{analysis:?}"), &format!("{again:?}"))
        }
        Err(Stop::Refused(error)) => refused(&error),
        Err(Stop::Text(text) | Stop::NoCommand(text)) if text.is_empty() => {
            Err("no text".to_string())
        }
        Err(Stop::Clap(error)) if error.to_string().is_empty() => Err("no message".to_string()),
        Err(_) => Ok(()),
    }
}

/// The words of a line as a shell separates them: at blanks outside single quotes; a backslash quotes a character.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut quoted, mut characters) = (vec![String::new()], false, line.chars());
    while let Some(character) = characters.next() {
        match character {
            '\'' => quoted = !quoted,
            '\\' if !quoted => words.last_mut().expect("a word").extend(characters.next()),
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().expect("a word").push(other),
        }
    }
    words
}
