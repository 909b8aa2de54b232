//! The sets of partitions on which engines are compared.

use crate::likelihood::BrlenLinkage;

/// Trees of so many taxa are deep: they are there for their scaling. Partitions of more sites than this are long. With both, fewer
/// numbers are compared.
pub(super) const DEEP: usize = 100;
pub(super) const LONG: usize = 10_000;

/// A partition: model, number of taxa, number of sites.
pub type Shape = (&'static str, usize, usize);

/// DNA with several rates.
pub const GTR: &str = "GTR{1.2/3.1/0.7/0.9/4.2/1}+FU{0.3/0.2/0.15/0.35}+G4{0.5}";
/// DNA with invariant sites.
pub const HKY_I: &str = "HKY{2.5}+FU{0.1/0.4/0.3/0.2}+I{0.2}+G3{0.8}";
const LG: &str = "LG+G4{0.7}";
const LG_I: &str = "LG+I{0.2}+G4{0.7}";
const GY: &str = "GY{2/0.3}+FE+G2{0.7}";

/// Lengths of the branches of a tree after sequences were simulated along it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lengths {
    /// Those along which they were simulated.
    Simulated,
    /// As short as they can be: hardly possible patterns.
    Short,
    /// Some are as short as they can be, some as long, some have no length.
    Extreme,
}

/// A set of partitions over so many taxa.
#[derive(Debug, Clone, Copy)]
pub struct CaseShape {
    /// What it is.
    pub name: &'static str,
    /// Number of taxa of the tree.
    pub num_taxa: usize,
    /// The partitions, each over some of the taxa.
    pub shapes: &'static [Shape],
    /// Lengths of the tree.
    pub lengths: Lengths,
}

impl CaseShape {
    /// With the lengths along which sequences are simulated.
    pub const fn new(name: &'static str, num_taxa: usize, shapes: &'static [Shape]) -> Self {
        CaseShape { name, num_taxa, shapes, lengths: Lengths::Simulated }
    }

    /// The same with other lengths.
    pub const fn with(self, lengths: Lengths) -> Self {
        CaseShape { lengths, ..self }
    }

    /// True for trees that are there for their scaling.
    pub fn is_deep(&self) -> bool {
        self.num_taxa >= DEEP
    }

    /// The ways to share lengths with which it is computed. For deep trees and many patterns, one is enough.
    pub fn linkages(&self) -> &'static [BrlenLinkage] {
        let is_large = self.is_deep() || self.shapes.iter().any(|shape| shape.2 > LONG);
        if is_large { &LINKAGES[..1] } else { &LINKAGES }
    }
}

const LINKAGES: [BrlenLinkage; 3] =
    [BrlenLinkage::Linked, BrlenLinkage::Scaled, BrlenLinkage::Unlinked];

/// Data types, mixtures, corrections of ascertainment bias, partitions of every size, several blocks of
/// patterns, and trees so deep that CLVs are scaled (above 1 000 taxa per rate category).
pub const CASES: &[CaseShape] = &[
    CaseShape::new("DNA, one gene", 9, &[(GTR, 9, 300)]),
    CaseShape::new("DNA, one taxon has no data", 8, &[(GTR, 7, 60)]),
    CaseShape::new(
        "DNA, gappy",
        11,
        &[
            (GTR, 11, 200),
            (HKY_I, 7, 40),
            (GTR, 5, 137),
            ("JC", 4, 20),
            (GTR, 3, 9),
            (HKY_I, 2, 12),
            (GTR, 1, 5),
            (GTR, 0, 0),
        ],
    ),
    CaseShape::new(
        "mixed types",
        8,
        &[
            (HKY_I, 8, 90),
            (LG, 6, 30),
            ("BIN+FU{0.3/0.7}+G3{0.4}", 7, 40),
            ("MULTI7_MK+FE", 5, 20),
            (GY, 5, 12),
        ],
    ),
    CaseShape::new("profile mixture", 6, &[("LG+C10+G2{0.7}", 6, 20)]),
    CaseShape::new(
        "protein mixture",
        7,
        &[("LG4X", 7, 25), ("LG+R3{0.4/0.8/2}{0.3/0.4/0.3}", 5, 140)],
    ),
    CaseShape::new(
        "ascertainment bias",
        8,
        &[
            ("GTR{1/2/1/1/2/1}+FU{0.3/0.2/0.2/0.3}+G4{0.5}+ASC_LEWIS", 8, 150),
            ("HKY{2}+FU{0.3/0.2/0.2/0.3}+ASC_FELS{17}", 6, 40),
            ("JC+G4{0.4}+ASC_STAM{3/1/2/9}", 5, 30),
            ("MULTI5_MK+FE+ASC_LEWIS", 7, 20),
        ],
    ),
    CaseShape::new("scaled per pattern", 400, &[(GTR, 400, 12), (HKY_I, 300, 9)]),
    CaseShape::new("scaled per category", 1100, &[(GTR, 1100, 8)]),
    CaseShape::new("scaled, invariant sites", 1100, &[("JC+I{0.5}", 1100, 8), (GTR, 1100, 1)]),
];

/// More of them, for processors and GPUs that have time for it: each kernel alone and beside others on what it seldom meets.
pub const WIDE_CASES: &[CaseShape] = &[
    CaseShape::new("proteins", 9, &[(LG_I, 9, 300), (LG, 6, 70), ("LG+G6{0.4}", 7, 40)]),
    CaseShape::new("codons", 8, &[(GY, 8, 150), ("GY{3/0.1}+FE+I{0.1}+G6{0.7}", 6, 45)]),
    CaseShape::new("DNA, proteins and codons", 10, &[(GTR, 10, 400), (LG_I, 8, 170), (GY, 9, 140)]),
    CaseShape::new(
        "ascertainment bias, 20 states",
        8,
        &[
            ("LG+G4{0.7}+ASC_LEWIS", 8, 150),
            ("MULTI9_MK+FE+ASC_FELS{7}", 7, 40),
            ("MULTI7_MK+FE+G2{0.5}+ASC_LEWIS", 6, 30),
        ],
    ),
    CaseShape::new(
        "ascertainment bias, 64 states",
        7,
        &[("MULTI30_MK+FE+G2{0.5}+ASC_LEWIS", 7, 140), ("MULTI24_MK+FE+ASC_FELS{5}", 6, 30)],
    ),
    CaseShape::new(
        "ascertainment bias, mixed types",
        8,
        &[
            ("JC+G4{0.4}+ASC_FELS{9}", 8, 60),
            ("LG+G4{0.7}+ASC_FELS{11}", 8, 40),
            ("MULTI30_MK+FE+G2{0.5}+ASC_LEWIS", 7, 40),
        ],
    ),
    CaseShape::new("extreme lengths, DNA", 12, &[(GTR, 12, 150), (HKY_I, 9, 60), ("JC", 7, 40)])
        .with(Lengths::Extreme),
    CaseShape::new(
        "extreme lengths, mixed types",
        9,
        &[(HKY_I, 9, 90), (LG_I, 8, 60), (GY, 7, 40), ("JC+G4{0.4}+ASC_LEWIS", 6, 30)],
    )
    .with(Lengths::Extreme),
    CaseShape::new("improbable patterns", 16, &[(GTR, 16, 150), ("LG", 16, 60), (GY, 9, 40)])
        .with(Lengths::Short),
    CaseShape::new("many partitions", 6, &MANY_SMALL),
    CaseShape::new("many partitions, mixed types", 6, &MANY_MIXED),
    CaseShape::new("many patterns", 20, &[(GTR, 20, 2700)]),
    CaseShape::new("more than 128 blocks", 12, &[("JC", 12, 40_000)]),
    CaseShape::new("more than 128 blocks, proteins", 12, &[("LG", 12, 19_000)]),
    CaseShape::new("more than 128 blocks, codons", 10, &[("GY{2/0.3}+FE", 10, 18_000)]),
    CaseShape::new(
        "more than 128 blocks, mixed types",
        12,
        &[("JC", 12, 22_000), ("LG", 12, 2_700), (GY, 6, 40)],
    ),
    CaseShape::new("scaled per pattern, proteins", 300, &[(LG_I, 300, 40), (LG, 250, 9)]),
    CaseShape::new("scaled per pattern, codons", 200, &[(GY, 200, 20)]),
    CaseShape::new(
        "scaled per pattern, mixed types",
        300,
        &[(HKY_I, 300, 30), (LG_I, 300, 20), (GY, 200, 9), ("JC+ASC_FELS{9}", 300, 40)],
    ),
    CaseShape::new(
        "scaled per pattern, extreme lengths",
        200,
        &[(HKY_I, 200, 30), (LG_I, 200, 20)],
    )
    .with(Lengths::Extreme),
    CaseShape::new(
        "scaled per pattern, invariant sites",
        900,
        &[("JC+I{0.5}", 900, 12), ("LG+I{0.5}", 900, 9), ("GY{2/0.3}+FE+I{0.5}", 900, 6)],
    ),
    CaseShape::new(
        "scaled per category, invariant sites",
        1100,
        &[("LG+I{0.5}", 1100, 9), (LG, 1100, 1), ("GY{2/0.3}+FE+I{0.5}", 1100, 6), (GY, 1100, 1)],
    ),
    CaseShape::new("scaled per category, more rates", 1100, &[("JC+I{0.2}+G6{0.4}", 1100, 20)]),
    CaseShape::new("scaled per category, proteins", 1100, &[(LG_I, 1100, 30)]),
    CaseShape::new("scaled per category, codons", 1100, &[(GY, 1100, 12)]),
    CaseShape::new(
        "scaled per category, mixed types",
        1100,
        &[(HKY_I, 1100, 30), (LG_I, 1100, 16), (GY, 1100, 8), ("JC+G2{0.4}+ASC_LEWIS", 1100, 9)],
    ),
];

/// More partitions than a GPU adds up at a time.
const MANY_SMALL: [Shape; 45] = [("JC", 5, 9); 45];
const MANY_MIXED: [Shape; 45] = {
    let mut shapes = [("JC", 5, 7); 45];
    shapes[3] = (LG, 6, 20);
    shapes[42] = (GY, 6, 10);
    shapes
};
