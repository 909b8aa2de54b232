//! NEXUS, Clustal and Stockholm: texts that programs wrote, the same data in all formats, and texts that are refused,
//! each with its place.

use super::{Alignment, read_alignment_from};
use proptest::prelude::*;

fn read(text: &str) -> Vec<(String, String)> {
    match read_alignment_from(text.as_bytes(), "f") {
        Ok(alignment) => rows(&alignment),
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn rows(alignment: &Alignment) -> Vec<(String, String)> {
    let row = |taxon| String::from_utf8(alignment.row(taxon).to_vec()).unwrap();
    let name = |taxon| alignment.taxa().name(taxon).to_string();
    (0..alignment.num_taxa()).map(|taxon| (name(taxon), row(taxon))).collect()
}

fn refused(text: &str) -> String {
    match read_alignment_from(text.as_bytes(), "f") {
        Ok(alignment) => panic!("{:?}\n{text}", rows(&alignment)),
        Err(error) => error.to_string(),
    }
}

/// Four taxa in PHYLIP, as the three programs below got them.
const PRIMATES: &str = "4 55\n\
    Homo_sapiens ACGTRYACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTACGTAC\n\
    Pan_paniscus ACGTRCACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTACGTAC\n\
    it's-b ACGTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTACGT--\n\
    d.4 ACCTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTACGT--\n";

#[test]
fn what_biopython_writes() {
    // Biopython 1.88, AlignIO.write.
    let nexus = "#NEXUS\nbegin data;\ndimensions ntax=4 nchar=55;\nformat datatype=dna missing=? gap=-;\nmatrix\n\
        Homo_sapiens   ACGTRYACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTACGTAC\n\
        'Pan paniscus' ACGTRCACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTACGTAC\n\
        'it''s-b'      ACGTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTACGT--\n\
        d.4            ACCTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTACGT--\n;\nend;\n";
    let clustal = "CLUSTAL X (1.81) multiple sequence alignment\n\n\n\
        Homo_sapiens                        ACGTRYACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTA\n\
        Pan_paniscus                        ACGTRCACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTA\n\
        it's-b                              ACGTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTA\n\
        d.4                                 ACCTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTA\n\n\
        Homo_sapiens                        CGTAC\n\
        Pan_paniscus                        CGTAC\n\
        it's-b                              CGT--\n\
        d.4                                 CGT--\n\n\n";
    let stockholm = "# STOCKHOLM 1.0\n#=GF SQ 4\n\
        Homo_sapiens ACGTRYACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTACGTAC\n\
        #=GS Homo_sapiens AC Homo_sapiens\n#=GS Homo_sapiens DE <unknown description>\n\
        Pan_paniscus ACGTRCACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTACGTAC\n\
        #=GS Pan_paniscus AC Pan_paniscus\n#=GS Pan_paniscus DE <unknown description>\n\
        it's-b ACGTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTACGT--\n\
        #=GS it's-b AC it's-b\n#=GS it's-b DE <unknown description>\n\
        d.4 ACCTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTACGT--\n\
        #=GS d.4 AC d.4\n#=GS d.4 DE <unknown description>\n//\n";
    let expected = read(PRIMATES);
    assert_eq!(read(clustal), expected);
    assert_eq!(read(stockholm), expected);
    assert_eq!(read(&nexus.replace("Pan paniscus", "Pan_paniscus")), expected);
    assert_eq!(read(nexus)[1].0, "Pan paniscus");
}

#[test]
fn what_dendropy_writes() {
    // DendroPy 5.1.3, DnaCharacterMatrix.as_string("nexus"); StandardCharacterMatrix.
    let nexus = "#NEXUS\n\nBEGIN TAXA;\n    DIMENSIONS NTAX=4;\n    TAXLABELS\n        'Homo_sapiens'\n        \
        Pan_paniscus\n        'it''s-b'\n        d.4\n  ;\nEND;\n\nBEGIN CHARACTERS;\n    DIMENSIONS NCHAR=55;\n    \
        FORMAT DATATYPE=DNA GAP=- MISSING=? MATCHCHAR=.;\n    MATRIX\n        \
        'Homo_sapiens'    ACGTRYACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTACGTAC\n        \
        Pan_paniscus      ACGTRCACGT-ACGTNNACG?ACGTACGTACGTACGTACGTACGTACGTACGTAC\n        \
        'it''s-b'         ACGTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTACGT--\n        \
        d.4               ACCTAYACGTTACGTACACGAACGTACGTACCTACGTACGTACGTACGTACGT--\n    ;\nEND;\n\n\n";
    assert_eq!(read(nexus), read(PRIMATES));
    let standard = "#NEXUS\n\nBEGIN TAXA;\n    DIMENSIONS NTAX=3;\n    TAXLABELS\n        a\n        b\n        c_d\n  \
        ;\nEND;\n\nBEGIN CHARACTERS;\n    DIMENSIONS NCHAR=5;\n    \
        FORMAT DATATYPE=STANDARD SYMBOLS=\"-4971502683\" MISSING=?;\n    MATRIX\n        a      0120?\n        \
        b      01-20\n        c_d    00121\n    ;\nEND;\n\n\n";
    assert_eq!(read(standard), read("3 5\na 0120?\nb 01-20\nc_d 00121\n"));
}

/// Three globins in PHYLIP, as Clustal Omega 1.2.4 writes them (--outfmt=phy).
const GLOBINS: &str = " 3  78\n\
    HBB_HUMAN MVHLTPEEKSAVTALWGKVNV--DEVGGEALGRLLVVYPWTQRFFESFGD\n\
    HBA_HUMAN -MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDL\n\
    MYG_PHYCA -MVLSEGEWQLVLHVWAKVEADVAGHGQDILIRLFKSHPETLEKFDRFKH\n\n\
    LSTPDAVMGNPKVKAHGKKVLGAFSDGL\n------SHGSAQVKGHGKKVADALT---\nLKTEAEMKASEDLKKHGVTVLTALGAIL\n";

#[test]
fn what_clustal_omega_writes() {
    // Clustal Omega 1.2.4, --outfmt=clu --resno, and --outfmt=st --wrap=40.
    let clustal = "CLUSTAL O(1.2.4) multiple sequence alignment\n\n\n\
        HBB_HUMAN      MVHLTPEEKSAVTALWGKVNV--DEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGN\t58\n\
        HBA_HUMAN      -MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDL------SHGS\t53\n\
        MYG_PHYCA      -MVLSEGEWQLVLHVWAKVEADVAGHGQDILIRLFKSHPETLEKFDRFKHLKTEAEMKAS\t59\n\
        \u{20}               : *:  :   *   *.** .     * : * *::  .* *   *  *          ..\n\n\
        HBB_HUMAN      PKVKAHGKKVLGAFSDGL\t76\n\
        HBA_HUMAN      AQVKGHGKKVADALT---\t68\n\
        MYG_PHYCA      EDLKKHGVTVLTALGAIL\t77\n                .:* ** .*  *:    \n";
    let stockholm = "# STOCKHOLM 1.0\n\n\
        HBB_HUMAN  MVHLTPEEKSAVTALWGKVNV--DEVGGEALGRLLVVYPWTQRFFESFGD\n\
        HBA_HUMAN  -MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDL\n\
        MYG_PHYCA  -MVLSEGEWQLVLHVWAKVEADVAGHGQDILIRLFKSHPETLEKFDRFKH\n\n\
        HBB_HUMAN  LSTPDAVMGNPKVKAHGKKVLGAFSDGL\n\
        HBA_HUMAN  ------SHGSAQVKGHGKKVADALT---\n\
        MYG_PHYCA  LKTEAEMKASEDLKKHGVTVLTALGAIL\n//\n";
    assert_eq!(read(clustal), read(GLOBINS));
    assert_eq!(read(stockholm), read(GLOBINS));
    // Without a line between the blocks' last row and its signs, and with the numbers of other programs.
    let muscle = clustal.replace("CLUSTAL O(1.2.4)", "MUSCLE (3.8)").replace('\t', "  1");
    assert_eq!(read(&muscle), read(GLOBINS));
}

#[test]
fn what_hmmer_writes() {
    // HMMER 3.3.2, hmmalign, and hmmalign --outformat clustal.
    let stockholm = "# STOCKHOLM 1.0\n\n\
        HBB_HUMAN         mVHLTPEEKSAVTALWGKVNV--DEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPKVKAHGKKVLGAFSDGL\n\
        #=GR HBB_HUMAN PP *79******************..*****************************************************97\n\
        HBA_HUMAN         .MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDL------SHGSAQVKGHGKKVADALT---\n\
        #=GR HBA_HUMAN PP .9************************************************......*****************97...\n\
        MYG_PHYCA         .MVLSEGEWQLVLHVWAKVEADVAGHGQDILIRLFKSHPETLEKFDRFKHLKTEAEMKASEDLKKHGVTVLTALGAIL\n\
        #=GR MYG_PHYCA PP .9*************************************************************************997\n\
        #=GC PP_cons      .8************************************************************************9997\n\
        #=GC RF           .xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n//\n";
    let clustal = "CLUSTAL 2.1 multiple sequence alignment\n\n\
        HBB_HUMAN mVHLTPEEKSAVTALWGKVNV--DEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGN\n\
        HBA_HUMAN .MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHFDL------SHGS\n\
        MYG_PHYCA .MVLSEGEWQLVLHVWAKVEADVAGHGQDILIRLFKSHPETLEKFDRFKHLKTEAEMKAS\n             \
        *       *   * **       *   * *     * *   *  *            \n\n\
        HBB_HUMAN PKVKAHGKKVLGAFSDGL\nHBA_HUMAN AQVKGHGKKVADALT---\nMYG_PHYCA EDLKKHGVTVLTALGAIL\n             \
        * **  *  *     \n";
    let expected = read(&GLOBINS.replace("HBB_HUMAN M", "HBB_HUMAN m"));
    assert_eq!(read(stockholm), expected);
    assert_eq!(read(clustal), expected);
}

#[test]
fn nexus_in_all_its_ways() {
    let expected = read("3 8\nA_1 ACGTACGT\nb ACGTRC-?\nc's ACGTACGA\n");
    for text in [
        "#NEXUS begin data; dimensions ntax=3 nchar=8; matrix A_1 ACGTACGT\nb ACGTRC-?\n\"c's\" ACGTACGA;end;",
        // Interleaved with comments, other blocks, signs of its own, carriage returns.
        "#nexus\r\n[a [nested] comment;\r\n ' ]\r\nBegin paup; set x='y;'; foo; END;\r\nbegin TAXA; title t; dimensions \
         ntax = 3;\r\n taxlabels A_1 'B' \"c's\"; end;\r\nBegin Characters;\r\n title m; dimensions nchar=8;\r\n format \
         datatype=DNA missing=x gap=~ matchchar=. interleave;\r\n\tcharlabels a b c; matrix\r\n[1-4]\r\n A_1 A CGT[4]\r\n \
         b ....\r\n 'c''s' ....\r\n\r\n[5-8]\r\nA_1 ACGT\r\nb R.~X\r\n'c''s' ...A\r\n;\r\nend;\r\n",
        // Over many lines, without saying so.
        "#NEXUS\nbegin data;\ndimensions nchar=8 ntax=3;\nformat datatype=nucleotide gap=- missing=?;\nmatrix\nA_1\nACGT\n\
         ACGT\nb AC\nGT{AG}C\n-?\nc's ACGTACGA\n;\nendblock;",
        // Interleaved, without saying so; without numbers.
        "#NEXUS\nbegin data;\nformat datatype=dna;\nmatrix\nA_1 ACGT\nb ACGT\nc's ACGT\n\nA_1 ACGT\nb (AG)C-?\nc's ACGA\n;end;",
        "#NEXUS\rbegin data;\rformat datatype=dna;\rmatrix\rA_1 ACGTACGT\rb ACGTRC-?\rc's ACGTACGA\r;end;",
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
    let binary = "#nexus begin data; format datatype=standard; matrix a 01{01}\nb 1(0 1)0\n; end;";
    assert_eq!(read(binary), read("2 3\na 01?\nb 1?0\n"));
}

#[test]
fn cells_have_the_lines_on_which_they_stand() {
    let nexus =
        "#NEXUS\nbegin data;\ndimensions nchar=4;\nmatrix\na AC\nb AC\n\na GT\nb GT\n;\nend;\n";
    let clustal = "CLUSTAL\n\n\na AC\nb AC\n\n\na GT\nb GT\n";
    let stockholm = "\n# STOCKHOLM 1.0\n\na AC\n#=GR b x\nb AC\n\na GT\nb GT\n//\n";
    for (text, lines) in [(nexus, [6, 9]), (clustal, [5, 9]), (stockholm, [6, 9])] {
        let alignment = read_alignment_from(text.as_bytes(), "f").unwrap();
        let found = [1, 2].map(|site| alignment.place(1, site).line.unwrap());
        assert_eq!(found, lines, "{text}");
    }
}

/// A DATA block of two taxa with this FORMAT and MATRIX.
fn nexus(format: &str, matrix: &str) -> String {
    format!("#NEXUS\nbegin data;\ndimensions ntax=2 nchar=4;\n{format};\nmatrix\n{matrix};\nend;\n")
}

#[test]
fn malformed_texts_are_refused_with_their_place() {
    let good = "a ACGT\nb ACGT\n";
    let clustal = |rest: &str| format!("CLUSTAL W\n\n{rest}");
    let stockholm = |rest: &str| format!("# STOCKHOLM 1.0\n{rest}");
    let cases: Vec<(String, &str)> = vec![
        ("#NEXUS\n".into(), "f: there is no DATA or CHARACTERS block"),
        ("#NEXUS\nbegin trees; tree a = (a,b); end;".into(), "f: there is no DATA or CHARACTERS block, which would have the sequences; blocks found: TREES"),
        ("#NEXUS\nbegin data;\nend;\n".into(), "f, line 2: the block that begins here has no MATRIX"),
        ("#NEXUS\nbegin data;\nmatrix\n;end;\n".into(), "f: the file contains no sequences"),
        ("#NEXUS\nmatrix a ACGT;".into(), "f, line 2: 'matrix' is outside all blocks"),
        ("#NEXUS\nbegin data;\nmatrix a ACGT\n b ACGT;\n".into(), "f, line 2: the block that begins here has no `end;`"),
        ("#NEXUS\nbegin data;\nmatrix\na ACGT\nb ACGT\n".into(), "f, line 3: the command 'matrix' that begins here does not end"),
        ("#NEXUS\nbegin data;\nmatrix\na ACGT\nb ACGT\nend;\n".into(), "f, line 6: the matrix has no `;` at its end"),
        ("#NEXUS\nbegin data;\n[ comment\nmatrix a ACGT;\nend;\n".into(), "f, line 3: the comment that begins here has no closing"),
        ("#NEXUS\nbegin data;\nmatrix a AC\nb AC;\nmatrix c AC;\nend;".into(), "f, line 5: there is a second MATRIX; the first is on line 3"),
        ("#NEXUS\nbegin data;\nmatrix a AC\nb AC;\nend;\nbegin characters; matrix c AC; end;".into(), "f, line 6: there is a second DATA or CHARACTERS block; the first begins on line 2"),
        ("#NEXUS\nbegin data;\nmatrix a AC\nb AC;\nbegin trees;\nend;".into(), "f, line 2: the block that begins here has no `end;` before"),
        ("#NEXUS\nbegin data;\neliminate 3;\nmatrix a AC\nb AC;\nend;".into(), "f, line 3: ELIMINATE is not supported"),
        ("#NEXUS\nbegin data;\ndimensions ntax=x;\nmatrix a AC\nb AC;\nend;".into(), "f, line 3: expected a positive number: `ntax=...`, found 'x'"),
        ("#NEXUS\nbegin data;\ndimensions nchar=0;\nmatrix a AC\nb AC;\nend;".into(), "f, line 3: expected a positive number: `nchar=...`, found '0'"),
        ("#NEXUS\nbegin taxa; dimensions ntax=3;\nend;begin data;\ndimensions ntax=2;matrix a AC\nb AC;\nend;".into(), "f, line 4: NTAX is 2 here, but 3 on line 2"),
        ("#NEXUS\nbegin data;\ndimensions ntax=3 nchar=2;\nmatrix a AC\nb AC;\nend;".into(), "f, line 3: DIMENSIONS states 3 taxa, but the matrix has 2"),
        ("#NEXUS\nbegin data;\ndimensions ntax=2\n nchar=3;\nmatrix a AC\nb AC;\nend;".into(), "f, line 4: DIMENSIONS states 3 sites, but the sequences have 2"),
        ("#NEXUS\nbegin taxa;\ntaxlabels a\nb c;\nend;\nbegin data;\nmatrix a AC\nb AC;\nend;".into(), "f, line 4, 'c': the taxon is among TAXLABELS, but"),
        ("#NEXUS\nbegin taxa;\ntaxlabels a;\nend;\nbegin data;\nmatrix a AC\nb AC;\nend;".into(), "f, line 7, 'b': the row has a name that is not among TAXLABELS"),
        ("#NEXUS\nbegin taxa;\ntaxlabels a b\n A;\nend;\nbegin data;\nmatrix a AC\nb AC;\nend;".into(), "f, line 4, 'A': the same taxon name is used on line 3"),
        ("#NEXUS\nbegin taxa;\ntaxlabels a 'b\n;\nend;\nbegin data;\nmatrix a AC\nb AC;\nend;".into(), "f, line 3: the name begins with a quote that is not closed"),
        (nexus("format datatype=continuous", good), "f, line 4: DATATYPE=continuous is not supported"),
        (nexus("format datatype", good), "f, line 4: DATATYPE has no value"),
        (nexus("format missing=??", good), "f, line 4: MISSING=?? is not one printable"),
        (nexus("format gap=- missing=-", good), "f, line 4: GAP and MISSING are the same character, '-'"),
        (nexus("format equate=\"x=A\"", good), "f, line 4: EQUATE is not supported"),
        (nexus("format transpose", good), "f, line 4: TRANSPOSE is not supported"),
        (nexus("format nolabels", good), "f, line 4: NOLABELS is not supported"),
        (nexus("format tokens", good), "f, line 4: TOKENS is not supported"),
        (nexus("format fish=1", good), "f, line 4: 'fish' is not a subcommand of FORMAT"),
        (nexus("format datatype=standard respectcase", "a 0101\nb 1010\n"), "f, line 4: RESPECTCASE is not supported"),
        (nexus("format datatype=standard symbols=\"01\"", "a 0102\nb 1010\n"), "f, line 6, column 4, 'a': '2' is not among the SYMBOLS"),
        (nexus("format datatype=dna", "a ACG\nb ACGT\n"), "f, line 6, 'a': the sequence has 3 sites, while 'b' (line 7) has 4"),
        (nexus("format datatype=dna", "a ACGT\nb ACGTT\n"), "f, line 7, 'b': the sequence has 5 sites"),
        (nexus("format datatype=dna", "a ACGT\nb\n"), "f, line 7, 'b': the taxon has no sequence"),
        (nexus("format datatype=dna", "a ACGT\na ACGT\n"), "f, line 7, 'a': the same taxon name is used on line 6"),
        (nexus("format datatype=dna", "'a ACGT\nb ACGT\n"), "f, line 6: the name begins with a quote that is not closed"),
        (nexus("format datatype=dna", "'' ACGT\nb ACGT\n"), "f, line 6: the taxon has no name"),
        (nexus("format datatype=dna", "a AC\u{e9}T\nb ACGT\n"), "f, line 6, column 3, 'a': '\u{e9}' is not a character"),
        (nexus("format datatype=dna", "a ACGT\nb ACG.\n"), "f, line 7, column 4, 'b': '.' occurs 1 time in 1 sequence but not in the first"),
        (nexus("format matchchar=.", "a AC.T\nb ACGT\n"), "f, line 6, column 3, 'a': MATCHCHAR stands for the character of the first"),
        (nexus("format datatype=dna", "a AC{GT\nb ACGT\n"), "f, line 6, column 3, 'a': the set of states that begins with '{GT' is not closed"),
        (nexus("format datatype=protein", "a AC{GT}T\nb ACGT\n"), "f, line 6, column 3, 'a': the set of states '{GT}' has no symbol"),
        (nexus("format datatype=dna interleave", "a AC\nb AC\na GT\nB GT\n"), "f, line 3: DIMENSIONS states 2 taxa, but the matrix has"),
        ("CLUSTAL W\n\n\n".into(), "f: the file contains no sequences"),
        (clustal("a AC GT\nb ACGT\n"), "f, line 3: expected a name, a sequence without blanks"),
        (clustal("a ACGT\n  b ACGT\n"), "f, line 4: a line that begins with a blank has only signs of conservation (`*`, `:`, `.`), found 'b'"),
        (clustal("a ACGT\nb ACG\n"), "f, line 3, 'a': the sequence has 4 sites, while 'b' (line 4) has 3"),
        (clustal("a ACGT\nb\n"), "f, line 4, 'b': the taxon has no sequence"),
        (clustal("a AC\na AC\n"), "f, line 4, 'a': the same taxon name is used on line 3"),
        (clustal("a AC\nb AC\n\na GT\n"), "f, line 6, 'b': the block that begins here has 1 rows, but the first block has 2"),
        (clustal("a AC\nb AC\n\na GT\nc GT\n"), "f, line 7, 'c': the name is not in the first block"),
        (clustal("a AC\nb AC\n\na GT\na GT\n"), "f, line 7, 'a': the name is already on line 6 of this block"),
        (clustal("a AC`T\nb ACGT\n"), "f, line 3, column 3, 'a': '`' is not a character"),
        ("# STOCKHOLM 1.0\n//\n".into(), "f: the file contains no sequences"),
        (stockholm("a ACGT\nb ACGT\n"), "f, line 3: the alignment does not end with `//`"),
        (stockholm("a ACGT\nb ACGT\n//\n# STOCKHOLM 1.0\nc A\n//\n"), "f, line 5: a second alignment begins here; the first ends on line 4"),
        (stockholm("a ACGT\nb ACGT\n//\nc ACGT\n"), "f, line 5: the alignment ends with `//` on line 4"),
        (stockholm("a AC GT\nb ACGT\n//\n"), "f, line 2: expected a name and a sequence without blanks"),
        (stockholm("a ACGT\nb AC\n//\n"), "f, line 2, 'a': the sequence has 4 sites, while 'b' (line 3) has 2"),
        (stockholm("a ACGT\na ACGT\n//\n"), "f, line 3, 'a': the same taxon name is used on line 2"),
        (stockholm("a ACGT\nb\n//\n"), "f, line 3, 'b': the taxon has no sequence"),
        (stockholm("a AC\nb AC\n\na GT\n//\n"), "f, line 5, 'b': the block that begins here has 1 rows"),
        (stockholm("a AC\nb AC\n\na GT\nc GT\n//\n"), "f, line 6, 'c': the name is not in the first block"),
        ("STOCKHOLM 1.0\na ACGT\n//\n".into(), "f, line 1: the file begins with 'STOCKHOLM 1.0', which is not PHYLIP"),
    ];
    assert!(cases.len() >= 60);
    let is_wrong = |(text, expected): &&(String, &str)| {
        !refused(text).lines().any(|line| line.starts_with(expected))
    };
    let wrong = cases.iter().filter(is_wrong).map(|(text, expected)| {
        format!("{text}\nexpected: {expected}\nfound: {}\n", refused(text))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_faults_are_found_at_once() {
    let message = refused(&nexus("format foo datatype=dna", "a AC\u{7f}T\na ACGTT\n"));
    let expected = [
        "f, line 4: 'foo' is not a subcommand",
        "f, line 7, 'a': the same taxon name",
        "f, line 7, 'a': the sequence has 5 sites",
        "f, line 6, column 3, 'a': '\\u{7f}' is not a character",
    ];
    assert_eq!(message.lines().count(), expected.len(), "{message}");
    for (line, expected) in message.lines().zip(expected) {
        assert!(line.starts_with(expected), "{message}");
    }
}

/// How the formats write rows.
mod written {
    type Rows<'a> = &'a [(String, String)];

    fn blocks(rows: Rows, width: usize, mut line: impl FnMut(&str, &str) -> String) -> Vec<String> {
        let num_sites = rows[0].1.len();
        let block = |start: usize| {
            let piece = |row: &str| row[start..num_sites.min(start + width)].to_string();
            rows.iter().map(|(name, row)| line(name, &piece(row))).collect()
        };
        (0..num_sites).step_by(width).map(block).collect()
    }

    pub(super) fn phylip(rows: Rows) -> String {
        let rows_of = |(name, row): &(String, String)| format!("{name} {row}\n");
        let lines: String = rows.iter().map(rows_of).collect();
        format!("{} {}\n{lines}", rows.len(), rows[0].1.len())
    }

    pub(super) fn nexus(rows: Rows, width: usize, is_interleaved: bool) -> String {
        let quoted = |name: &str| format!("'{}'", name.replace('\'', "''"));
        let matrix = match is_interleaved {
            true => blocks(rows, width, |name, row| format!("{} {row}\n", quoted(name))).join("\n"),
            false => {
                let lines = |(name, row): &(String, String)| {
                    let pieces = row.as_bytes().chunks(width);
                    let pieces =
                        pieces.map(|piece| String::from_utf8_lossy(piece).into_owned() + "\n");
                    format!("{}\n{}", quoted(name), pieces.collect::<String>())
                };
                rows.iter().map(lines).collect()
            }
        };
        let interleave = if is_interleaved { " interleave" } else { "" };
        format!(
            "#NEXUS\nbegin data;\ndimensions ntax={} nchar={};\nformat datatype=protein gap=- missing=?{interleave};\n\
             matrix\n{matrix};\nend;\n",
            rows.len(),
            rows[0].1.len()
        )
    }

    pub(super) fn clustal(rows: Rows, width: usize) -> String {
        let blocks = blocks(rows, width, |name, row| format!("{name}  {row} {}\n", row.len()));
        format!("CLUSTAL\n\n{}", blocks.join("   *:.\n\n"))
    }

    pub(super) fn stockholm(rows: Rows, width: usize) -> String {
        let blocks = blocks(rows, width, |name, row| {
            format!("{name}  {}\n#=GR {name} x {row}\n", row.replace('-', "."))
        });
        format!("# STOCKHOLM 1.0\n#=GF ID x\n{}//\n", blocks.join("#=GC y\n\n"))
    }
}

proptest! {
    #[test]
    fn the_same_rows_in_every_format(
        names in prop::collection::btree_set("[A-Za-z][A-Za-z0-9_'.|-]{0,12}", 2..6),
        cells in prop::collection::vec(prop::sample::select(b"ACDEFGHIKacd-?X".to_vec()), 6..240),
        width in 1usize..40,
    ) {
        let num_sites = cells.len() / names.len();
        prop_assume!(num_sites > 0);
        let cell_rows = cells.chunks(num_sites).map(|row| String::from_utf8(row.to_vec()).unwrap());
        let expected: Vec<(String, String)> = names.into_iter().zip(cell_rows).collect();
        for text in [
            written::phylip(&expected),
            written::nexus(&expected, width, true),
            written::nexus(&expected, width, false),
            written::clustal(&expected, width),
            written::stockholm(&expected, width),
        ] {
            prop_assert_eq!(&read(&text), &expected, "{}", text);
        }
    }

    /// Whatever a file holds: an alignment of equal rows, or faults with a place.
    #[test]
    fn no_text_makes_a_reader_panic(
        start in prop::sample::select(vec![
            "#NEXUS", "#nexus begin data; matrix ", "#NEXUS begin taxa; taxlabels ", "CLUSTAL\n", "# STOCKHOLM 1.0\n",
            "#nexus begin data; dimensions nchar=4; format datatype=dna matchchar=. interleave; matrix ",
        ]),
        rest in prop::collection::vec(
            prop::sample::select(vec![
                "a", "b", "ACGT", "AC", " ", "\n", "\n\n", ";", "'", "\"", "[", "]", "{", "}", "(", "=", ".", "-", "//\n",
                "begin data;", "end;", "matrix ", "format ", "gap=", "missing=", "interleave ", "dimensions nchar=4 ntax=",
                "2", "#", "\u{e9}", "\r", "\x01",
            ]),
            0..40,
        ),
    ) {
        let text = format!("{start}{}", rest.concat());
        match read_alignment_from(text.as_bytes(), "f") {
            Ok(alignment) => {
                for (name, row) in rows(&alignment) {
                    prop_assert!(!name.is_empty() && row.len() == alignment.num_sites());
                }
            }
            Err(error) => prop_assert!(error.to_string().starts_with("f"), "{}", error),
        }
    }
}
