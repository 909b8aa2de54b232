//! The house rules, checked on the text of `src/`.

use crate::util::repository;
use std::path::{Path, PathBuf};

/// Rooms and their floors: a room imports lower floors only, never a neighbour on its own.
const FLOORS: &[(&str, u8)] = &[
    ("error", 0),
    ("instructions", 0),
    ("mpi", 0),
    ("observer", 0),
    ("rng", 0),
    ("stop", 0),
    ("taxa", 0),
    ("numeric", 0),
    ("whole_file", 0),
    ("panics", 1),
    ("input", 1),
    ("alphabet", 1),
    ("tree", 1),
    ("parallel", 1),
    ("gpu", 1),
    ("alignment", 2),
    ("model", 2),
    ("partition", 3),
    ("parsimony", 4),
    ("distance", 4),
    ("tree_distance", 4),
    ("terrace", 4),
    ("simulate", 4),
    ("likelihood", 4),
    ("conformance", 5),
    ("optimize", 5),
    ("search", 6),
    ("sampler", 6),
    ("bootstrap", 7),
    ("model_selection", 7),
    ("topology_tests", 7),
    ("ancestral", 7),
    ("site_rates", 7),
    ("output", 8),
    ("plan", 9),
    ("dataset", 10),
    ("runtime", 11),
    ("steps", 12),
    ("commands", 13),
    ("run", 14),
    ("cli", 15),
];

/// The highest floor of the library; the program's rooms stand above it.
const TOP_OF_LIBRARY: u8 = 7;

/// The rooms inside `likelihood/`, with their floors, as above: an engine knows the contract and no other
/// engine, and only `select` knows engines.
const LIKELIHOOD_FLOORS: &[(&str, u8)] = &[
    ("engine", 0),
    ("cpu", 1),
    ("cuda", 1),
    ("naive", 1),
    ("site_frequencies", 1),
    ("evaluator", 1),
    ("distributed", 2),
    ("failing", 2),
    ("select", 3),
    ("partitions", 4),
];

/// Words that only `select` and the engines' own rooms may know.
const ENGINE_NAMES: &[&str] =
    &["cpu", "cuda", "scalar", "avx2", "avx512", "CpuEngine", "NaiveEngine", "Kernels"];

/// Rooms that compute with an evaluator and must not know what computes.
const WITHOUT_ENGINES: &[&str] = &[
    "optimize",
    "search",
    "sampler",
    "model_selection",
    "topology_tests",
    "ancestral",
    "site_rates",
    "bootstrap",
    "output",
];

/// The only places with unsafe code.
const UNSAFE_ALLOWED: &[&str] = &[
    "parallel/pool.rs",
    "kernels/kernels.rs",
    "gpu/buffer.rs",
    "run/installed_mpi.rs",
    "gpu/device.rs",
    "gpu/launch.rs",
    "gpu/module.rs",
    "likelihood/cuda/launch.rs",
    "distance/cuda/pairs.rs",
    "instructions.rs",
];

/// The only places that print.
const PRINTING_ALLOWED: &[&str] = &["cli/", "output/", "main.rs"];

/// Methods of floats whose last bits depend on the platform (clippy.toml bans them, too, but sees
/// only the code that is compiled here).
const BANNED_MATH: &[&str] = &[
    ".exp()",
    ".exp2()",
    ".exp_m1()",
    ".ln()",
    ".ln_1p()",
    ".log(",
    ".log2()",
    ".log10()",
    ".powf(",
    ".powi(",
    ".cbrt()",
    ".hypot(",
    ".sin()",
    ".cos()",
    ".tan()",
    ".sin_cos()",
    ".sinh()",
    ".cosh()",
    ".tanh()",
    ".asin()",
    ".acos()",
    ".atan()",
    ".atan2(",
];

const MAX_LINES: usize = 600;
const MAX_DOOR_LINES: usize = 80;
const NAMES_THAT_SAY_NOTHING: &[&str] = &["utils", "util", "common", "helpers", "misc", "types"];

struct Source {
    /// Path below `src/`, and below `library/` in there, with forward slashes.
    path: String,
    /// Whether it is part of the library.
    is_library: bool,
    text: String,
}

impl Source {
    /// The text without comments and without the tests at its end.
    fn code(&self) -> String {
        code_of(&self.text)
    }

    fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }
}

/// Cuts off everything from the test module on (a `mod x {`, not a `mod x;`), and comments.
fn code_of(text: &str) -> String {
    let opens_module = |rest: &str| rest.lines().next().is_some_and(|line| line.contains('{'));
    const MARK: &str = "\n#[cfg(test)]\nmod ";
    let end = text
        .match_indices(MARK)
        .map(|(at, _)| at)
        .find(|at| opens_module(&text[at + MARK.len()..]))
        .unwrap_or(text.len());
    text[..end]
        .lines()
        .map(|line| line.find("//").map_or(line, |comment| &line[..comment]))
        .collect::<Vec<_>>()
        .join("\n")
}

fn sources() -> Vec<Source> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("src can be read") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let src = repository("src");
    let mut paths = Vec::new();
    collect(&src, &mut paths);
    paths.sort();
    assert!(paths.len() > 10, "src was found");
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("source is UTF-8");
        let path = path.strip_prefix(&src).expect("below src");
        let path = path.to_string_lossy().replace('\\', "/");
        match path.strip_prefix("library/") {
            Some(inside) => Source { path: inside.to_string(), is_library: true, text },
            None => Source { path, is_library: false, text },
        }
    };
    paths.iter().map(read).collect()
}

/// Rooms that a piece of code names after `crate::`, grouped uses included.
fn rooms_used(code: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut rooms = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => rooms.push(word(rest)),
            Some(group) => {
                let mut depth = 0;
                let mut item = String::new();
                for c in group.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => rooms.push(word(&std::mem::take(&mut item))),
                        _ => {}
                    }
                    if depth == 0 && c != ',' {
                        item.push(c);
                    }
                }
                rooms.push(word(&item));
            }
        }
    }
    rooms.retain(|room| !room.is_empty());
    rooms
}

fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|entry| entry.0 == room).map(|entry| entry.1)
}

fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn rooms_import_lower_floors_only() {
    let mut complaints = Vec::new();
    for source in sources() {
        let room = source.room();
        if source.is_library && floor(room).is_some_and(|floor| floor > TOP_OF_LIBRARY) {
            complaints.push(format!("{}: '{room}' is no room of the library", source.path));
        }
        // The kernels and the Python package are crates of their own, for which the compiler knows that.
        if ["lib", "main", "kernels", "python"].contains(&room) {
            continue;
        }
        let Some(own) = floor(room) else {
            complaints.push(format!("{}: room '{room}' has no floor", source.path));
            continue;
        };
        for used in rooms_used(&source.code()) {
            match floor(&used) {
                Some(other) if used == room || other < own => {}
                Some(other) => complaints.push(format!(
                    "{}: {room} (floor {own}) imports {used} (floor {other})",
                    source.path
                )),
                None => complaints.push(format!("{}: crate::{used} is no room", source.path)),
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn no_analysis_imports_another() {
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|source| source.room() == "commands") {
        let inside = source.path.trim_start_matches("commands/");
        let own = inside.split(['/', '.']).next().unwrap_or_default();
        let code = source.code();
        for (at, mark) in code.match_indices("crate::commands::") {
            let rest = &code[at + mark.len()..];
            let used: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // What all of them share has the names of types.
            let is_room = used.starts_with(char::is_lowercase);
            if is_room && own != used {
                complaints.push(format!("{}: {own} imports {used}", source.path));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn inside_likelihood_an_engine_imports_the_contract_and_only_select_imports_engines() {
    let floor_of = |room: &str| LIKELIHOOD_FLOORS.iter().find(|entry| entry.0 == room);
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|source| source.room() == "likelihood") {
        let inside = source.path.trim_start_matches("likelihood/");
        let room = inside.split(['/', '.']).next().unwrap_or_default();
        if room == "mod" || inside.ends_with("tests.rs") {
            continue;
        }
        let Some((_, own)) = floor_of(room) else {
            complaints.push(format!("{}: room '{room}' has no floor", source.path));
            continue;
        };
        let code = source.code();
        let mark = "crate::likelihood::";
        for (at, _) in code.match_indices(mark) {
            let rest = &code[at + mark.len()..];
            let used: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if floor_of(&used).is_some_and(|(name, floor)| *name != room && floor >= own) {
                complaints.push(format!("{}: likelihood/{room} imports {used}", source.path));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn engines_are_known_by_name_in_one_place_only() {
    let is_allowed = |path: &str| {
        let own = [
            "cpu/",
            "cuda/",
            "distributed/",
            "naive/",
            "site_frequencies/",
            "select.rs",
            "failing.rs",
            "mod.rs",
        ];
        let is_own = |own: &&str| path.starts_with(&format!("likelihood/{own}"));
        // Distances choose among instruction sets and GPUs themselves, with devices that are below both.
        let of_distances = ["mod.rs", "pairs.rs", "cuda/"];
        let is_of_distances = path == "instructions.rs"
            || path.starts_with("gpu/")
            || of_distances.iter().any(|file| path.starts_with(&format!("distance/{file}")));
        let is_of_kernels = path.starts_with("kernels/");
        path.ends_with("tests.rs") || is_of_distances || is_of_kernels || own.iter().any(is_own)
    };
    let mut complaints = Vec::new();
    for source in sources().iter().filter(|source| !is_allowed(&source.path)) {
        for (number, line) in source.code().lines().enumerate() {
            let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            for word in words.filter(|word| ENGINE_NAMES.contains(word)) {
                complaints.push(format!("{}:{}: {word}: {}", source.path, number + 1, line.trim()));
            }
            let hidden = ["likelihood::engine", "likelihood::select"];
            if WITHOUT_ENGINES.contains(&source.room()) && hidden.iter().any(|h| line.contains(h)) {
                complaints.push(format!("{}:{}: {}", source.path, number + 1, line.trim()));
            }
        }
    }
    assert_none(complaints);
}

/// Files of the same folder that a file names after `super::`.
fn neighbours(source: &Source, all: &[Source]) -> Vec<usize> {
    let folder = Path::new(&source.path).parent().expect("a folder").to_path_buf();
    let code = source.code();
    let mut found = Vec::new();
    for (at, mark) in code.match_indices("super::") {
        let rest = &code[at + mark.len()..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let path = folder.join(format!("{name}.rs")).display().to_string();
        found.extend(all.iter().position(|other| other.path.replace('\\', "/") == path));
    }
    found
}

#[test]
fn files_of_a_room_import_each_other_in_one_direction() {
    let all: Vec<Source> =
        sources().into_iter().filter(|source| !source.path.ends_with("tests.rs")).collect();
    let imports: Vec<Vec<usize>> = all.iter().map(|source| neighbours(source, &all)).collect();
    let reaches = |from: usize| {
        let mut seen = vec![false; all.len()];
        let mut stack = imports[from].clone();
        while let Some(file) = stack.pop() {
            if !std::mem::replace(&mut seen[file], true) {
                stack.extend(&imports[file]);
            }
        }
        seen
    };
    let reached: Vec<Vec<bool>> = (0..all.len()).map(reaches).collect();
    let mut complaints = Vec::new();
    for file in 0..all.len() {
        let circle: Vec<&str> = (0..all.len())
            .filter(|&other| other != file && reached[file][other] && reached[other][file])
            .map(|other| all[other].path.as_str())
            .collect();
        let path = all[file].path.as_str();
        if !circle.is_empty() {
            complaints.push(format!("{path}: in a circle with {}", circle.join(", ")));
        }
    }
    assert_none(complaints);
}

#[test]
fn doors_are_doors_and_files_are_short_and_well_named() {
    let mut complaints = Vec::new();
    for Source { path, text, .. } in sources() {
        let lines = text.lines().count();
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if lines > MAX_LINES {
            complaints.push(format!("{path}: {lines} lines, at most {MAX_LINES}"));
        }
        if name == "mod" && lines >= MAX_DOOR_LINES {
            complaints
                .push(format!("{path}: {lines} lines, a door has less than {MAX_DOOR_LINES}"));
        }
        if NAMES_THAT_SAY_NOTHING.contains(&name.as_str()) {
            complaints.push(format!("{path}: the name says nothing"));
        }
        if !text.starts_with("//!") {
            complaints.push(format!("{path}: does not open with what lives here"));
        }
    }
    assert_none(complaints);
}

#[test]
fn unsafe_code_printing_and_platform_mathematics_stay_in_their_rooms() {
    let mut complaints = Vec::new();
    for source in sources() {
        let path = source.path.as_str();
        let starts = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
        for (number, line) in source.code().lines().enumerate() {
            let mut complain = |what: &str| {
                complaints.push(format!("{path}:{}: {what}: {}", number + 1, line.trim()))
            };
            let is_unsafe = line
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| word == "unsafe");
            if is_unsafe && !starts(UNSAFE_ALLOWED) {
                complain("unsafe code");
            }
            let prints = ["println!", "print!(", "dbg!("].iter().any(|p| line.contains(p));
            if prints && !starts(PRINTING_ALLOWED) {
                complain("printing");
            }
            if BANNED_MATH.iter().any(|method| line.contains(method)) {
                complain("platform mathematics");
            }
        }
    }
    assert_none(complaints);
}

/// Names of places outside the repository; spelled in two parts so that this file may be scanned, too.
#[test]
fn no_file_names_a_place_outside_the_repository() {
    let outside = [["/wo", "rk/"], ["../sha", "red"], ["/tmp/", "w/"]].map(|parts| parts.concat());
    let mut complaints = Vec::new();
    for folder in ["src", "cuda", "tests", "benches", "datasets", "partitions", "packaging"] {
        let mut stack = vec![repository(folder)];
        while let Some(path) = stack.pop() {
            if path.is_dir() {
                stack.extend(
                    std::fs::read_dir(&path).expect("readable").map(|e| e.expect("entry").path()),
                );
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let found = outside.iter().filter(|place| text.contains(place.as_str()));
                complaints.extend(found.map(|place| format!("{}: {place}", path.display())));
            }
        }
    }
    assert_none(complaints);
}

#[test]
fn the_scanner_sees_uses_and_skips_comments_and_tests() {
    let code = code_of(
        "use crate::tree::Tree; // crate::cli\nuse crate::{error::{Error, Place}, run::plan, taxa};\n\
         fn f() -> crate::rng::Rng {}\n//! crate::cli\n#[cfg(test)]\nmod tests { use crate::cli; }\n",
    );
    assert_eq!(rooms_used(&code), ["tree", "error", "run", "taxa", "rng"]);
    assert!(rooms_used("$crate::tree mycrate::cli").is_empty());
}
