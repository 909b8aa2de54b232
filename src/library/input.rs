//! Opening input: plain and gzipped files (recognised by content, not by name), pipes, and standard input
//! (`-`). The bytes are not interpreted here.
//!
//! Input may be hostile or a device without an end, so nothing is read as a whole unless a limit is given.

use crate::error::{Error, Fault, Place, Result};
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// First bytes of every gzip file (RFC 1952).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
/// The byte order mark of UTF-8, which some editors write and which is not part of the text.
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
/// First bytes of files that are packed in other ways, these ways, and what unpacks them.
const OTHER_PACKERS: [(&[u8], &str, &str); 4] = [
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz", "xz -d"),
    (b"BZh", "bzip2", "bunzip2"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", "zstd -d"),
    (b"PK\x03\x04", "zip", "unzip"),
];
/// The byte order marks of UTF-16, which is what some programs call Unicode, or write where output is redirected.
const UTF_16: [&[u8]; 2] = [&[0xff, 0xfe], &[0xfe, 0xff]];
/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// The name that stands for standard input on the command line.
pub const STANDARD_INPUT: &str = "-";

/// True for standard input, devices and pipes: they can be read once, and results cannot be named after them.
pub fn is_stream(path: &Path) -> bool {
    let is_special = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    path == Path::new(STANDARD_INPUT) || path.metadata().is_ok_and(is_special)
}

/// True when standard input was opened.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The name of a file in faults.
pub fn name_of(path: &Path) -> String {
    match path == Path::new(STANDARD_INPUT) {
        true => "standard input".to_string(),
        false => path.display().to_string(),
    }
}

/// Bytes of one input, unpacked, without a byte order mark, and with LF at the end of lines that end with CR alone (as on old Macs).
pub struct Input<'a> {
    reader: Box<dyn BufRead + 'a>,
    name: String,
    gzipped: bool,
}

impl Input<'static> {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be opened, [`Error::Usage`] if it is standard input, which was read before; and as [`Input::new`].
    pub fn open(path: &Path) -> Result<Self> {
        let name = name_of(path);
        if path == Path::new(STANDARD_INPUT) {
            if IS_TAKEN.swap(true, Ordering::Relaxed) {
                let message =
                    "standard input (-) can be read only once: name a file for the other input";
                return Err(Error::Usage(message.into()));
            }
            return Input::new(BufReader::with_capacity(CHUNK, io::stdin()), &name);
        }
        match File::open(path) {
            Ok(file) => Input::new(BufReader::with_capacity(CHUNK, file), &name),
            Err(source) => Err(Error::Io { path: name, source, writing: false }),
        }
    }
}

impl<'a> Input<'a> {
    /// Takes the bytes of a reader, and unpacks them if they are gzipped; `name` is the name in faults.
    ///
    /// # Errors
    /// [`Error::Io`] if the first bytes cannot be read.
    pub fn new(reader: impl BufRead + 'a, name: &str) -> Result<Self> {
        let mut input = Input { reader: Box::new(reader), name: name.to_string(), gzipped: false };
        let mut start = input.take_start()?;
        if start.starts_with(GZIP_MAGIC) {
            input.gzipped = true;
            input.put_back(start);
            let packed = std::mem::replace(&mut input.reader, Box::new(io::empty()));
            let unpacked = Members { member: Some(GzDecoder::new(packed)) };
            input.reader = Box::new(BufReader::with_capacity(CHUNK, unpacked));
            start = input.take_start()?;
        }
        if let Some((_, way, program)) =
            OTHER_PACKERS.iter().find(|(magic, ..)| start.starts_with(magic))
        {
            return Err(input.refuse(&format!(
                "the file is packed ({way}), and only gzip is read here: unpack it first ({program})"
            )));
        }
        if UTF_16.iter().any(|mark| start.starts_with(mark)) {
            return Err(input.refuse(
                "the file is text in UTF-16, and only UTF-8 is read here: convert it first (iconv -f UTF-16 -t UTF-8)",
            ));
        }
        if start.starts_with(BYTE_ORDER_MARK) {
            start.drain(..BYTE_ORDER_MARK.len());
        }
        // The last byte may be the first half of an end.
        let whole = &start[..start.len() - usize::from(start.len() == CHUNK)];
        if whole.contains(&b'\r') && !start.contains(&b'\n') {
            end_lines(&mut start);
            let rest = std::mem::replace(&mut input.reader, Box::new(io::empty()));
            input.reader = Box::new(BufReader::with_capacity(CHUNK, LinesOfOldMacs(rest)));
        }
        input.put_back(start);
        Ok(input)
    }

    /// The fault of bytes that are not text as it is read here.
    fn refuse(self, message: &str) -> Error {
        let source = io::Error::new(ErrorKind::InvalidData, message);
        Error::Io { path: self.name, source, writing: false }
    }

    /// Its name in faults.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next bytes, empty at the end; [`Input::consume`] says how many of them were used.
    ///
    /// # Errors
    /// [`Error::Io`], also for gzipped data that are cut off or damaged.
    pub fn fill(&mut self) -> Result<&[u8]> {
        let is_interrupted = |error: io::Error| error.kind() == ErrorKind::Interrupted;
        while self.reader.fill_buf().is_err_and(is_interrupted) {}
        let path = self.name.clone();
        self.fill_buf().map_err(|source| Error::Io { path, source, writing: false })
    }

    /// The first bytes, fewer than [`CHUNK`] only if there are no more.
    fn take_start(&mut self) -> Result<Vec<u8>> {
        let mut start = Vec::with_capacity(CHUNK);
        let read = (&mut self.reader).take(CHUNK as u64).read_to_end(&mut start);
        match read {
            Ok(_) => Ok(start),
            Err(error) => {
                let source = explain(error, self.gzipped);
                Err(Error::Io { path: self.name.clone(), source, writing: false })
            }
        }
    }

    fn put_back(&mut self, start: Vec<u8>) {
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(start).chain(rest));
    }
}

/// Text whose lines end with CR alone, with LF instead.
struct LinesOfOldMacs<R>(R);

impl<R: Read> Read for LinesOfOldMacs<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        end_lines(&mut buffer[..count]);
        Ok(count)
    }
}

fn end_lines(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

/// Unpacks the members of a gzipped file, one after the other. Zeros behind a member fill blocks of tapes, and are passed over, as by
/// gzip.
struct Members<R> {
    /// None at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.member.take() {
            match member.read(buffer) {
                Ok(0) if !buffer.is_empty() => {}
                // Also if it was interrupted, after which others read on.
                read => {
                    self.member = Some(member);
                    return read;
                }
            }
            let mut rest = member.into_inner();
            match first_after_zeros(&mut rest)? {
                None => {}
                Some(byte) if byte == GZIP_MAGIC[0] => self.member = Some(GzDecoder::new(rest)),
                Some(_) => {
                    let message = "what follows their end is not gzipped";
                    return Err(io::Error::new(ErrorKind::InvalidData, message));
                }
            }
        }
        Ok(0)
    }
}

/// Passes over zeros, and looks at what follows.
fn first_after_zeros(reader: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let bytes = match reader.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        if let Some(zeros) = bytes.iter().position(|byte| *byte != 0) {
            let byte = bytes[zeros];
            reader.consume(zeros);
            return Ok(Some(byte));
        }
        let zeros = bytes.len();
        if zeros == 0 {
            return Ok(None);
        }
        reader.consume(zeros);
    }
}

/// Failures are worded for users.
impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let gzipped = self.gzipped;
        self.reader.fill_buf().map_err(|error| explain(error, gzipped))
    }

    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let gzipped = self.gzipped;
        self.reader.read(buffer).map_err(|error| explain(error, gzipped))
    }
}

fn explain(error: io::Error, gzipped: bool) -> io::Error {
    let message = match error.kind() {
        ErrorKind::UnexpectedEof if gzipped => {
            "the gzipped data end prematurely: the file is incomplete; copy or download it again"
                .to_string()
        }
        ErrorKind::InvalidInput | ErrorKind::InvalidData if gzipped => {
            format!(
                "the gzipped data are damaged ({error}): copy, download or compress the file again"
            )
        }
        _ => return error,
    };
    io::Error::new(error.kind(), message)
}

/// The whole text of a small file, at most `limit` bytes; `what` says what it should be (`a partition file`).
///
/// # Errors
/// As [`Input::open`] and [`Input::fill`]; a fault for a text that is too long or not UTF-8.
pub fn read_text(path: &Path, limit: usize, what: &str) -> Result<String> {
    let mut input = Input::open(path)?;
    let mut bytes = Vec::new();
    loop {
        let chunk = input.fill()?;
        let length = chunk.len();
        if length == 0 {
            break;
        }
        bytes.extend_from_slice(chunk);
        let is_binary = chunk.contains(&0);
        input.consume(length);
        let refuse = |message| Err(Error::input(Place::file(input.name()), message));
        if is_binary {
            return refuse(format!("the file is not text: expected {what}"));
        }
        if bytes.len() > limit {
            return refuse(format!(
                "the file is longer than {} MiB, the limit for {what}: check that it is the right file",
                limit >> 20
            ));
        }
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Error::Input(not_utf8(input.name(), valid).into())
    })
}

/// The fault of a text that stops being UTF-8 after `valid`.
fn not_utf8(name: &str, valid: &[u8]) -> Fault {
    let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
    Fault::new(Place::file(name).at_line(line), "the file is not UTF-8 text: save it as UTF-8")
}

/// A text as gzip writes it, for tests.
#[cfg(test)]
pub fn gzip(text: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn gzipped_texts_and_byte_order_marks_are_undone_and_members_are_joined() {
        let marked = b"\xef\xbb\xbfhello";
        let members = [gzip(b"he"), gzip(b""), gzip(b"llo")].concat();
        let padded = [gzip(b"he"), vec![0; 512], gzip(b"llo"), vec![0; 100_000]].concat();
        for bytes in
            [b"hello".to_vec(), marked.to_vec(), gzip(b"hello"), gzip(marked), members, padded]
        {
            let file = written(&bytes);
            assert_eq!(read_text(file.path(), 10, "a word").unwrap(), "hello");
        }
        assert_eq!(read_text(written(b"").path(), 10, "a word").unwrap(), "");
        assert_eq!(read_text(written(b"x").path(), 10, "a word").unwrap(), "x");
    }

    #[test]
    fn lines_of_old_macs_end_as_others() {
        let read =
            |text: &str| read_text(written(text.as_bytes()).path(), 1 << 20, "text").unwrap();
        assert_eq!(read(&"line\r".repeat(CHUNK)), "line\n".repeat(CHUNK));
        assert_eq!(read("\u{feff}x\ry"), "x\ny");
        // A line that fills what is looked at, but for the second half of its end.
        let long = format!("{}\r\nshort\r\n", "x".repeat(CHUNK - 1));
        for other in ["one\r\ntwo\r\n", "a\rb\n", &long] {
            assert_eq!(read(other), other);
        }
    }

    /// Gives a byte at a time, and is interrupted before each.
    struct Interrupted<'a>(&'a [u8], bool);

    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.fill_buf()?.read(buffer)?;
            self.consume(count);
            Ok(count)
        }
    }

    impl BufRead for Interrupted<'_> {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            self.1 = !self.1;
            if self.1 {
                Err(ErrorKind::Interrupted.into())
            } else {
                Ok(&self.0[..self.0.len().min(1)])
            }
        }

        fn consume(&mut self, count: usize) {
            self.0 = &self.0[count..];
        }
    }

    #[test]
    fn nothing_is_lost_where_reading_is_interrupted() {
        let packed = [gzip(b"some "), vec![0; 3], gzip(b"words"), vec![0; 5]].concat();
        for bytes in [&packed[..], b"some words"] {
            let mut text = String::new();
            let mut input = Input::new(Interrupted(bytes, false), "test").unwrap();
            input.read_to_string(&mut text).unwrap();
            assert_eq!(text, "some words");
        }
    }

    #[test]
    fn what_is_cut_off_damaged_too_long_or_no_text_is_refused_by_name() {
        let packed = gzip(&b"some words ".repeat(100));
        let mut damaged = packed.clone();
        damaged[12] ^= 0xff;
        let long = gzip(&vec![b' '; (1 << 20) + 1]);
        let followed = [&packed[..], b"garbage"].concat();
        for (bytes, expected) in [
            (&packed[..packed.len() - 12], "the gzipped data end prematurely"),
            (&damaged, "the gzipped data are damaged ("),
            (&followed, "damaged (what follows their end is not gzipped)"),
            (&long, "the file is longer than 1 MiB, the limit for a word"),
            (&b"a\0b"[..], "the file is not text: expected a word"),
            (&b"\xfd7zXZ\0\0\x04"[..], "the file is packed (xz), and only gzip is read here"),
            (&b"\xff\xfea\0"[..], "the file is text in UTF-16, and only UTF-8 is read here"),
            (b"a\nb\xff", "line 2: the file is not UTF-8 text"),
        ] {
            let file = written(bytes);
            let error = read_text(file.path(), 1 << 20, "a word").unwrap_err();
            let message = error.to_string();
            assert!(message.starts_with(&file.path().display().to_string()), "{message}");
            assert!(message.contains(expected), "{message}");
            assert_eq!(error.exit_code(), 2);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused_at_once() {
        let message = read_text(Path::new("/dev/zero"), 1 << 20, "a word").unwrap_err().to_string();
        assert!(message.starts_with("/dev/zero: the file is not text"), "{message}");
    }
}
