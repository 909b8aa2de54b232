//! The page of a run: that it is written, made again, refused and left out; and, where Chromium is installed, what a browser
//! makes of it.

use crate::util::{Scratch, repository};
use serde_json::Value;
use std::process::Command;
use std::sync::OnceLock;

fn primates() -> String {
    repository("datasets/primates.phy").display().to_string()
}

fn read(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path().join(name)).expect("a file")
}

#[test]
fn every_run_writes_a_page_which_can_be_made_again() {
    let scratch = Scratch::new();
    scratch.succeed(&format!("search -s {} -m GTR+G --alrt -n a --quiet", primates()));
    let page = read(&scratch, "a.mlsearch.html");
    for part in
        ["<h1>search: primates.phy</h1>", "Tarsius_syrichta", "SH-aLRT", "@article{Stamatakis2014,"]
    {
        assert!(page.contains(part), "{part}");
    }
    // Nothing is loaded from elsewhere.
    let links =
        page.match_indices("http").map(|(at, _)| page[at..].chars().take(40).collect::<String>());
    let links: Vec<String> =
        links.filter(|link| !link.starts_with("http://www.w3.org/2000/svg")).collect();
    assert!(links.is_empty(), "{links:?}");
    assert!(!page.contains("@import") && !page.contains("<link") && !page.contains(" src="));
    scratch.run("report a.mlsearch.json").assert_refused(&["a.mlsearch.html", "--redo"]);
    scratch.succeed("report a.mlsearch.json --redo");
    assert_eq!(read(&scratch, "a.mlsearch.html"), page);
    scratch.succeed("report --result a.mlsearch.json -n b");
    assert_eq!(read(&scratch, "b.mlsearch.html"), page);
    assert!(
        !scratch.files().iter().any(|name| name == "b.mlsearch.log" || name == "b.mlsearch.json")
    );
    scratch.succeed(&format!("search -s {} -m JC --fast -n c --quiet --report off", primates()));
    assert!(!scratch.files().contains(&"c.mlsearch.html".to_string()));
}

#[test]
fn what_is_no_result_is_refused() {
    let scratch = Scratch::new();
    for (text, message) in [
        ("not JSON", "this is no JSON file"),
        ("{\"a\": 1}", "no JSON file of mlsearch"),
        ("[]", "no JSON file of mlsearch"),
        ("", "x.json"),
    ] {
        scratch.write("x.json", text);
        scratch.run("report x.json").assert_refused(&[message]);
        assert_eq!(scratch.files(), ["x.json"], "{text}");
    }
    scratch.run("report").assert_refused(&["no result"]);
    scratch.run("report missing.json").assert_refused(&["missing.json"]);
    // A tree that no program could have written is shown as far as it goes.
    scratch.write(
        "x.json",
        r#"{"version": "0", "command": "", "best_tree": "((((", "trees": [{}, 3]}"#,
    );
    scratch.succeed("report x.json");
}

/// Results as earlier versions wrote them: a page is made of what is there.
#[test]
fn results_of_earlier_versions_have_pages() {
    let scratch = Scratch::new();
    scratch.write(
        "old.mlsearch.json",
        r#"{"version": "0.0.9", "command": "mlsearch -s a.phy -m JC", "seed": 1, "log_likelihood": -12.5,
            "best_tree": "(A:0.1,B:0.2,C:0.3);", "model": "JC", "partitions": [], "alignment": null, "warnings": ["beware"]}"#,
    );
    scratch.succeed("report old.mlsearch.json");
    let page = read(&scratch, "old.mlsearch.html");
    assert!(
        page.contains("beware")
            && page.contains("-12.5000")
            && page.contains("(A:0.1,B:0.2,C:0.3);")
    );
    assert!(!page.contains("id=\"models\"") && !page.contains("id=\"support\""));
}

/// The page cannot be written: the run goes on to its end.
#[cfg(unix)]
#[test]
fn a_page_that_cannot_be_written_is_a_warning() {
    let scratch = Scratch::new();
    // Something takes its place while the run goes on.
    let mut run = Command::new(env!("CARGO_BIN_EXE_mlsearch"))
        .args(
            format!("--bootstrap --bs-trees 300 -s {} -m GTR+G -n a", primates())
                .split_whitespace(),
        )
        .current_dir(scratch.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary can be started");
    while !scratch.files().contains(&"a.mlsearch.bootstraps".to_string()) {
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(run.try_wait().expect("a state").is_none(), "the run ended too early");
    }
    scratch.write("a.mlsearch.html", "mine");
    let ended = run.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("warning: 'a.mlsearch.html' is not written"), "{said}");
    assert_eq!(read(&scratch, "a.mlsearch.html"), "mine");
    assert!(scratch.files().contains(&"a.mlsearch.json".to_string()));
}

/// The browser, if it is installed. Its absence is said once.
fn chromium() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&str>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs);
        if found.is_none() {
            println!("skipped: Chromium is not installed");
        }
        found
    })
}

/// What a script says in the end of a page, which it sees as a user does. Errors of the page are failures.
fn ask(scratch: &Scratch, page: &str, script: &str) -> Option<Value> {
    let browser = chromium()?;
    let text = read(scratch, page);
    let watching = "<script>window.faults = []; addEventListener('error', (e) => faults.push(e.message));</script>";
    let asking = format!(
        "<script>addEventListener('load', () => setTimeout(() => {{ let answer; \
         try {{ answer = (() => {{ {script} }})(); }} catch (error) {{ faults.push(String(error)); }} \
         const said = document.createElement('pre'); said.id = 'said'; \
         said.textContent = encodeURIComponent(JSON.stringify({{ answer, faults }})); document.body.append(said); }}, 100));</script>"
    );
    let text = text.replacen("<head>", &format!("<head>{watching}"), 1);
    scratch.write("asked.html", &text.replacen("</body>", &format!("{asking}</body>"), 1));
    let profile = scratch.path().join("profile");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=5000",
            "--window-size=1000,900",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--enable-logging=stderr")
        .arg("--dump-dom")
        .arg(format!("file://{}", scratch.path().join("asked.html").display()))
        .output()
        .expect("the browser can be started");
    let console = String::from_utf8_lossy(&output.stderr).into_owned();
    let said: Vec<&str> = console.lines().filter(|line| line.contains(":CONSOLE")).collect();
    assert!(said.is_empty(), "{said:?}");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, rest) = dom.split_once("<pre id=\"said\">").unwrap_or_else(|| panic!("{console}"));
    let encoded = rest.split('<').next().expect("a text");
    let said: Value = serde_json::from_str(&decoded(encoded)).expect("JSON");
    assert_eq!(said["faults"], serde_json::json!([]), "{page}");
    Some(said["answer"].clone())
}

/// The reverse of `encodeURIComponent`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits: String = rest.by_ref().take(2).map(char::from).collect();
            bytes.push(u8::from_str_radix(&digits, 16).expect("two digits"));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_browser_shows_the_tree_and_finds_taxa() {
    let scratch = Scratch::new();
    scratch.succeed(&format!("--all --bs-trees 5 -s {} -m GTR+G -n a --quiet", primates()));
    let script = "
        const view = treeView, byId = (name) => document.getElementById('tree-' + name);
        const set = (name, value) => { byId(name).value = value; byId(name).dispatchEvent(new Event('change')); };
        const tips = () => view.hung.order.filter((node) => view.hung.children[node].length === 0).length;
        const answer = { tips: tips(), rows: view.layout.rows, kinds: view.kinds.map((kind) => kind.name) };
        byId('find').value = 'tarsius'; byId('find').dispatchEvent(new Event('input'));
        answer.found = byId('count').textContent;
        byId('next').click();
        answer.selected = byId('selected').textContent;
        byId('reroot').click();
        answer.rerooted = writeTree(view.tree, view.hung);
        set('root', 'midpoint');
        answer.midpoint = writeTree(view.tree, view.hung);
        set('root', 'given');
        answer.given = writeTree(view.tree, view.hung);
        for (const shape of ['cladogram', 'circular', 'phylogram']) { set('shape', shape); view.drawNow(); }
        const inner = view.hung.order.find((node) => view.hung.size[node] === 3);
        view.select(inner, true); byId('collapse').click();
        answer.collapsed = view.layout.rows;
        byId('expand').click();
        for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowDown', 'ArrowUp', 'Enter', 'Enter', '+', '-', '0']) {
            byId('canvas').dispatchEvent(new KeyboardEvent('keydown', { key }));
        }
        const svg = view.toSvg(900).svg, parsed = new DOMParser().parseFromString(svg, 'image/svg+xml');
        answer.svgFaults = parsed.querySelectorAll('parsererror').length;
        answer.svgNames = [...parsed.querySelectorAll('text')].filter((text) => /_/.test(text.textContent)).length;
        document.querySelector('th button').click();
        answer.wide = document.documentElement.scrollWidth <= window.innerWidth;
        return answer;";
    let Some(answer) = ask(&scratch, "a.mlsearch.html", script) else { return };
    assert_eq!(
        (answer["tips"].as_u64(), answer["rows"].as_u64()),
        (Some(12), Some(12)),
        "{answer}"
    );
    assert_eq!(answer["found"], "1 taxon");
    assert_eq!(answer["kinds"], serde_json::json!(["bootstrap"]));
    assert!(
        answer["selected"].as_str().unwrap().starts_with("taxon Tarsius_syrichta; length 0."),
        "{answer}"
    );
    assert_eq!(
        (answer["svgFaults"].as_u64(), answer["svgNames"].as_u64()),
        (Some(0), Some(8)),
        "{answer}"
    );
    assert_eq!(answer["collapsed"].as_u64(), Some(11));
    assert_eq!(answer["wide"], true);
    // The text as given, and with other roots, is the same tree with the same support of every split.
    let support = read(&scratch, "a.mlsearch.support");
    assert_eq!(answer["given"].as_str(), Some(support.trim()));
    scratch.write("given.nwk", &support);
    for name in ["rerooted", "midpoint"] {
        scratch.write("other.nwk", answer[name].as_str().unwrap());
        let options = "-o Gorilla --redo --quiet";
        scratch.succeed(&format!("root --tree given.nwk {options} -n given"));
        scratch.succeed(&format!("root --tree other.nwk {options} -n other"));
        let rooted = |run: &str| read(&scratch, &format!("{run}.mlsearch.rootedTree"));
        assert_same_tree(&rooted("given"), &rooted("other"));
    }
    scratch.succeed("root --root midpoint --tree given.nwk -n middle --quiet");
    let middle = read(&scratch, "middle.mlsearch.rootedTree");
    assert_same_tree(&middle, answer["midpoint"].as_str().unwrap());
}

/// The same text but for the order of clades and the last digits of lengths.
fn assert_same_tree(first: &str, second: &str) {
    let clades = |text: &str| {
        let tree = &mlsearch::tree::read_newick(text.trim(), "t").expect("a tree")[0];
        let behind = crate::util::taxa_behind(tree);
        let mut clades: Vec<String> = tree
            .nodes()
            .zip(behind)
            .map(|(node, taxa)| {
                let label = node.name().filter(|_| !node.is_tip()).unwrap_or_default().to_string();
                let length = node.length().map_or(String::new(), |length| format!("{length:.6}"));
                format!("{taxa:?} {label} {length}")
            })
            .collect();
        clades.sort();
        clades
    };
    assert_eq!(clades(first), clades(second));
}

/// x and y of the starts of texts that are names of taxa, in a drawing.
fn places(svg: &str) -> Vec<(String, [f64; 2])> {
    let number = |line: &str, name: &str| -> f64 {
        let text = line.split(&format!(" {name}=\"")).nth(1).expect("a place");
        text.split('"').next().expect("a number").parse().expect("a number")
    };
    let lines = svg.lines().filter(|line| line.starts_with("<text") && line.contains("\"start\""));
    let names = lines.filter(|line| !line.contains("substitutions"));
    let of = |line: &str| {
        let name = line.split('>').nth(1).and_then(|rest| rest.split('<').next());
        (name.expect("a name").to_string(), [number(line, "x"), number(line, "y")])
    };
    names.map(of).collect()
}

/// Whatever the scales of both are, the same tips are at the same places.
#[test]
fn the_page_has_the_layout_of_draw() {
    let scratch = Scratch::new();
    scratch.succeed(&format!("--all --bs-trees 5 -s {} -m GTR+G -n a --quiet", primates()));
    let script = "
        const places = {}, view = treeView;
        for (const shape of ['phylogram', 'cladogram']) {
            for (const ladder of [false, true]) {
                document.getElementById('tree-shape').value = shape;
                document.getElementById('tree-ladder').checked = ladder;
                view.arrange();
                places[shape + ladder] = view.hung.order.filter((node) => view.hung.children[node].length === 0)
                    .map((node) => [view.tree.names[node], view.layout.x[node], view.layout.y[node]]);
            }
        }
        return places;";
    let Some(answer) = ask(&scratch, "a.mlsearch.html", script) else { return };
    for shape in ["phylogram", "cladogram"] {
        for ladder in [false, true] {
            let option = if ladder { "--ladderise" } else { "" };
            scratch.succeed(&format!(
                "draw a.mlsearch.support --shape {shape} {option} --redo --quiet -n d"
            ));
            let drawn = places(&read(&scratch, "d.mlsearch.tree.svg"));
            let shown = answer[format!("{shape}{ladder}")].as_array().expect("a list");
            let shown: Vec<(String, [f64; 2])> = shown
                .iter()
                .map(|tip| {
                    let number = |i: usize| tip[i].as_f64().expect("a number");
                    (tip[0].as_str().expect("a name").to_string(), [number(1), number(2)])
                })
                .collect();
            let names = |of: &[(String, [f64; 2])]| -> Vec<String> {
                of.iter().map(|tip| tip.0.clone()).collect()
            };
            assert_eq!(names(&drawn), names(&shown), "{shape} {option}");
            for axis in [0, 1] {
                let by_place = |a: &&(String, [f64; 2]), b: &&(String, [f64; 2])| {
                    a.1[axis].total_cmp(&b.1[axis])
                };
                let least = shown.iter().position(|tip| {
                    Some(tip.1[axis]) == shown.iter().min_by(by_place).map(|tip| tip.1[axis])
                });
                let most = shown.iter().position(|tip| {
                    Some(tip.1[axis]) == shown.iter().max_by(by_place).map(|tip| tip.1[axis])
                });
                let (a, b) = (least.expect("a tip"), most.expect("a tip"));
                let width = shown[b].1[axis] - shown[a].1[axis];
                let scale =
                    if width > 0.0 { (drawn[b].1[axis] - drawn[a].1[axis]) / width } else { 0.0 };
                for (drawn_tip, tip) in drawn.iter().zip(&shown) {
                    let expected = drawn[a].1[axis] + scale * (tip.1[axis] - shown[a].1[axis]);
                    let found = drawn_tip.1[axis];
                    assert!(
                        (expected - found).abs() < 0.03,
                        "{shape} {option} {}: {found} {expected}",
                        tip.0
                    );
                }
            }
        }
    }
}

#[test]
fn drawings_are_refused_with_every_reason() {
    let scratch = Scratch::new();
    scratch.write("t.nwk", "((A:1,B:2):1,C:1,D:1);\n");
    scratch.write("bad.tsv", "A\tnocolour\nX,A\tred\n");
    scratch.run("draw t.nwk --clade-colours bad.tsv").assert_refused(&["nocolour", "X", "line 2"]);
    scratch.run("draw t.nwk --width 5 --shape circular").assert_refused(&["--width 5"]);
    scratch.run("draw t.nwk -o Z").assert_refused(&["Z"]);
    scratch.run("draw").assert_refused(&["no file of trees"]);
    scratch.write("two.nwk", "((A,B),C,D);\n((A,B),C,D);\n");
    scratch.run("draw two.nwk").assert_refused(&["2 trees"]);
    assert_eq!(scratch.files(), ["bad.tsv", "t.nwk", "two.nwk"]);
    scratch.succeed("draw t.nwk --root midpoint --quiet");
    scratch.run("draw t.nwk").assert_refused(&["t.nwk.mlsearch.tree.svg", "--redo"]);
}

/// The sections of given trees and of what was computed along a tree.
#[test]
fn pages_of_given_trees_have_their_sections() {
    let scratch = Scratch::new();
    scratch.write("t.nwk", "((A:1,B:2)x:1,(C:1,D:1):1,E:1);\n");
    scratch.write("genes.nwk", "((A,B),(C,D),E);\n((A,C),(B,D),E);\n((A,C),(B,E),D);\n");
    scratch.write("a.phy", "5 8\nA AAAA----\nB AAACCCCC\nC AACCCCCA\nD ACCCCCAA\nE CCCC----\n");
    scratch.write("genes.part", "DNA, a = 1-4\nDNA, b = 5-8\n");
    for (command, parts) in [
        (
            "concordance --tree t.nwk --gcf genes.nwk",
            &["Concordance", "mean gene concordance", "▲"][..],
        ),
        ("compare genes.nwk", &["Distances between trees", "Robinson-Foulds", "topologies"][..]),
        ("terrace --tree t.nwk -s a.phy -q genes.part", &["Terrace", "trees on the terrace"][..]),
        (
            "evaluate -s a.phy -m JC -t t.nwk --ancestral --mutmap",
            &["Ancestral states", "Changes along branches", "inner nodes"][..],
        ),
    ] {
        scratch.succeed(&format!("{command} -n run --quiet --redo"));
        let page = read(&scratch, "run.mlsearch.html");
        for part in parts {
            assert!(page.contains(part), "{command}: {part}");
        }
    }
}

/// As PDF and PNG, of the size of the SVG; the text of the page of PDF, where a program is installed that reads it.
#[test]
fn drawings_are_pages_and_pictures() {
    let scratch = Scratch::new();
    scratch.write("t.nwk", "((Homo_sapiens:1,'Größe β':2)95:1,C:1,D:1);\n");
    scratch.succeed("draw t.nwk --format svg,pdf,png --dpi 100 --italic --quiet");
    scratch.succeed("draw t.nwk --format png --width 254 --dpi 50 -n wide --quiet");
    assert_eq!(
        scratch.files(),
        [
            "t.nwk",
            "t.nwk.mlsearch.tree.pdf",
            "t.nwk.mlsearch.tree.png",
            "t.nwk.mlsearch.tree.svg",
            "wide.mlsearch.tree.png",
        ]
    );
    let svg = read(&scratch, "t.nwk.mlsearch.tree.svg");
    let size = |name: &str| -> f64 {
        let text = svg.split(&format!(" {name}=\"")).nth(1).expect("a size");
        text.split("mm").next().expect("millimetres").parse().expect("a number")
    };
    let (width, height) = (size("width"), size("height"));
    // The sizes of a PNG file are at its bytes 16 to 24.
    let picture = |name: &str| {
        let bytes = std::fs::read(scratch.path().join(name)).expect("a picture");
        assert!(bytes.starts_with(b"\x89PNG\r\n"));
        [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")))
    };
    let pixels = |mm: f64| (mm / 25.4 * 100.0).round() as u32;
    let [across, down] = picture("t.nwk.mlsearch.tree.png");
    assert_eq!(across, pixels(width));
    assert!(down.abs_diff(pixels(height)) <= 1, "{down} pixels for {height} mm");
    assert_eq!(picture("wide.mlsearch.tree.png")[0], 500);
    let page = scratch.path().join("t.nwk.mlsearch.tree.pdf");
    let Ok(read) = Command::new("pdftotext").arg(&page).arg("-").output() else {
        eprintln!("skipped: pdftotext is not installed");
        return;
    };
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let text = String::from_utf8_lossy(&read.stdout);
    for word in ["Homo_sapiens", "Größe β", "substitutions per site"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn pictures_are_refused_with_every_reason() {
    let scratch = Scratch::new();
    scratch.write("t.nwk", "((A:1,B:2):1,C:1,'人':1);\n");
    scratch.run("draw t.nwk --dpi 100").assert_refused(&["--dpi", "--format png"]);
    scratch.run("draw t.nwk --format png --dpi 1e5").assert_refused(&["--dpi 100000", "2400"]);
    scratch.run("draw t.nwk --format gif").assert_refused(&["gif", "svg"]);
    let large = "draw t.nwk --format svg,png --dpi 2400 --width 2000";
    scratch.run(large).assert_refused(&["million pixels", "--dpi"]);
    assert_eq!(scratch.files(), ["t.nwk"]);
    let run = scratch.succeed("draw t.nwk --format pdf");
    assert!(run.stderr.contains("lacks the letters 人"), "{}", run.stderr);
}
