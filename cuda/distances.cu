// Maximum-likelihood distances of pairs of sequences: mirrors src/distance (bit_planes.rs, partition.rs, solve.rs), whose bits it
// gives. A unit of its own, with its own PTX.
//
// A CTA computes tiles of 16 x 16 pairs, one pair a thread. The bits of its two strips of sequences are in shared memory, a
// chunk of 512 sites at a time; AND and population counts give the numbers of sites in each class, from which Halley's method
// finds the distance. `pair_distances_7` and `pair_distances_10` keep these numbers in registers: one partition of
// nucleotides without ambiguous ones. `pair_distances_any` keeps lists of those that are not 0 in memory of its CTA: several
// partitions, other characters, any number of terms.
//
// The structs are mirrored in src/library/distance/cuda/pairs.rs.

#pragma once
#include "common.cuh"

#ifdef __CUDACC_RTC__
#define POPULATION(bits) ((u32)__popcll(bits))
#else
#define POPULATION(bits) ((u32)__builtin_popcountll(bits))
#endif

/// Sequences of a strip, and threads of a CTA.
#define STRIP 16
#define PAIRS (STRIP * STRIP)
/// Words per plane in a chunk, and those of its three planes (bit_planes.rs).
#define PLANE 8
#define CHUNK (3 * PLANE)
/// Patterns of other characters in shared memory at a time.
#define CODES 64
#define DNA_CLASSES 10
#define NO_CLASS 0xffffffffu
/// Terms that are kept in registers.
#define FEW_TERMS 3
/// Numbers of a rate category of a term: slope s, weight w, w s, w s s, w s s s.
#define CAT_NUMBERS 5
/// A probability and its derivatives.
#define DERIVATIVES 4

// solve.rs
#define MAX_DISTANCE 10.0
#define LAST_STEP 1e-4
#define LAST_SIMPLE_STEP 1e-8
#define MAX_STEPS 100
#define MAX_GROWTH 8.0

/// The sequences of a partition and its model.
struct PairPartition {
    /// `[taxon][level][chunk][plane][word]`, of nucleotides.
    const u64 *words;
    /// `[level]`: chunks.
    const u32 *chunks;
    /// `[taxon][pattern]`, where characters other than determined nucleotides count.
    const u16 *codes;
    const u32 *weights;
    /// `[taxon]`: 1 if it has data.
    const u32 *is_present;
    /// `[taxon]` and one more: where its list begins in `ambiguous`, patterns with ambiguous nucleotides.
    const u32 *first_ambiguous;
    const u32 *ambiguous;
    /// `[code][code]`: the class, or NO_CLASS.
    const u32 *of_codes;
    /// `[class]`: probability at distance 0.
    const double *at_zero;
    /// `[class][term]`.
    const double *coefficients;
    /// `[term][category][CAT_NUMBERS]`.
    const double *cats;
    double saturation;
    /// What corrects the first guess.
    double bends[2];
    /// Shape of continuous rates, or 0.
    double shape;
    u32 stride;
    /// 0 for other characters than nucleotides.
    u32 num_levels;
    u32 num_patterns;
    u32 num_codes;
    u32 num_classes;
    u32 num_terms;
    u32 num_cats;
    /// 1 if all transversions are one class.
    u32 is_joined;
    /// 1 if nucleotides are ambiguous somewhere.
    u32 has_ambiguous;
    u32 padding;
};

/// Rows and columns of a launch, and where the distances go: `[row][column]`.
struct PairTiles {
    double *out;
    u32 first_row, num_rows, first_column, num_columns;
    /// Number of sequences.
    u32 num_taxa;
    u32 num_partitions;
    /// Of columns before this one, pairs below the diagonal are enough.
    u32 mirrored;
    u32 padding;
};

/// Memory of `pair_distances_any`: for each CTA `[entry or class][thread]`, `[partition][thread]`, `[term][DERIVATIVES][thread]`.
struct PairScratch {
    u64 *entries;
    u32 *num_entries;
    double *terms;
    u32 num_classes, num_terms;
};

/// A tile of a launch. All threads of a CTA work on the same.
struct Tile {
    u32 rows, columns, row, column;
    bool is_used;
};

/// The tile of this number; true if it is to be computed.
__device__ __forceinline__ bool find_tile(const PairTiles &tiles, u32 number, Tile &tile) {
    u32 across = (tiles.num_columns + STRIP - 1) / STRIP;
    tile.rows = tiles.first_row + number / across * STRIP;
    tile.columns = tiles.first_column + number % across * STRIP;
    tile.row = tile.rows + threadIdx.x / STRIP;
    tile.column = tile.columns + threadIdx.x % STRIP;
    u32 end_row = tiles.first_row + tiles.num_rows, end_column = tiles.first_column + tiles.num_columns;
    tile.is_used = tile.row < end_row && tile.column < end_column;
    u32 last_column = tile.columns + STRIP < end_column ? tile.columns + STRIP : end_column;
    return tile.columns < tile.rows + STRIP || last_column > tiles.mirrored;
}

/// Adds the sites of a pair in each class of determined nucleotides; if `JOINED`, the first class of transversions has all of
/// them. All threads must call it.
template <bool JOINED>
__device__ __forceinline__ void count_planes(const PairPartition &partition, const Tile &tile, u32 num_taxa, u32 (&counts)[DNA_CLASSES]) {
    SHARED(u64, strips, [2][STRIP][CHUNK + 1]);
    const u64 *a = strips[0][threadIdx.x / STRIP], *b = strips[1][threadIdx.x % STRIP];
#pragma unroll
    for (int i = 0; i < DNA_CLASSES; i++) {
        counts[i] = 0;
    }
    u32 start = 0;
    for (u32 level = 0; level < partition.num_levels; level++) {
        u32 sums[DNA_CLASSES] = {0};
        for (u32 chunk = 0; chunk < partition.chunks[level]; chunk++, start += CHUNK) {
            __syncthreads();
            for (u32 i = threadIdx.x; i < 2 * STRIP * CHUNK; i += PAIRS) {
                u32 strip = i / (STRIP * CHUNK), sequence = i / CHUNK % STRIP, word = i % CHUNK;
                u32 taxon = (strip == 0 ? tile.rows : tile.columns) + sequence;
                strips[strip][sequence][word] = taxon < num_taxa ? partition.words[(u64)taxon * partition.stride + start + word] : 0;
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < PLANE; i++) {
                u64 kind_a = a[i], kind_b = b[i], which_a = a[i + PLANE], which_b = b[i + PLANE];
                u64 known = a[i + 2 * PLANE] & b[i + 2 * PLANE];
                u64 kinds = kind_a ^ kind_b, whiches = which_a ^ which_b;
                u64 same_kind = known & ~kinds, equal = same_kind & ~whiches, transition = same_kind & whiches;
                u64 transversion = known & kinds;
                sums[0] += POPULATION(equal & ~kind_a & ~which_a);
                sums[1] += POPULATION(equal & kind_a & ~which_a);
                sums[2] += POPULATION(equal & ~kind_a & which_a);
                sums[3] += POPULATION(equal & kind_a & which_a);
                sums[4] += POPULATION(transition & ~kind_a);
                sums[5] += POPULATION(transition & kind_a);
                if (JOINED) {
                    sums[6] += POPULATION(transversion);
                } else {
                    u64 purine = (kind_a & which_b) | (~kind_a & which_a);
                    sums[6] += POPULATION(transversion & ~whiches & ~purine);
                    sums[7] += POPULATION(transversion & whiches & ~purine);
                    sums[8] += POPULATION(transversion & whiches & purine);
                    sums[9] += POPULATION(transversion & ~whiches & purine);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < DNA_CLASSES; i++) {
            counts[i] += sums[i] << level;
        }
    }
}

/// A term at distance t, and its first three derivatives.
__device__ __forceinline__ void term_at(const PairPartition &partition, u32 term, double t, double (&sums)[DERIVATIVES]) {
#pragma unroll
    for (int d = 0; d < DERIVATIVES; d++) {
        sums[d] = 0.0;
    }
    for (u32 i = 0; i < partition.num_cats; i++) {
        const double *cat = partition.cats + ((u64)term * partition.num_cats + i) * CAT_NUMBERS;
        double x = cat[0] * t, values[DERIVATIVES];
        if (partition.shape == 0.0) {
            values[0] = exp_minus_one(x);
            values[1] = values[2] = values[3] = 1.0 + values[0];
        } else {
            double inverse = 1.0 / (1.0 - x / partition.shape);
            values[0] = exp_minus_one(partition.shape * natural_log(inverse));
            values[1] = (1.0 + values[0]) * inverse;
            values[2] = values[1] * inverse * (1.0 + 1.0 / partition.shape);
            values[3] = values[2] * inverse * (1.0 + 2.0 / partition.shape);
        }
#pragma unroll
        for (int d = 0; d < DERIVATIVES; d++) {
            sums[d] = fma(cat[1 + d], values[d], sums[d]);
        }
    }
}

/// What the search for a distance begins with.
struct Start {
    double differ, all, saturation, bends[2];
};

__device__ __forceinline__ void add_to_start(const PairPartition &partition, u32 of_class, double count, Start &start) {
    start.differ += partition.at_zero[of_class] == 0.0 ? count : 0.0;
    start.all += count;
    start.saturation += count * partition.saturation;
    start.bends[0] += count * partition.bends[0];
    start.bends[1] += count * partition.bends[1];
}

__device__ __forceinline__ double first_distance(const Start &start) {
    double inverse = 1.0 / (start.all > 0.0 ? start.all : 1.0);
    double saturation = start.all > 0.0 ? start.saturation * inverse : 1.0;
    double left = 1.0 - start.differ * inverse / saturation;
    double simple = -saturation * natural_log(left > 0.05 ? left : 0.05);
    double factor = fma(simple, fma(simple, start.bends[1] * inverse, start.bends[0] * inverse), 1.0);
    return simple * (factor > 1.0 ? factor : 1.0);
}

/// Adds the part of a class to the first three derivatives of the log-likelihood; p are its probability and their derivatives.
__device__ __forceinline__ void add_class(double count, const double (&p)[DERIVATIVES], double (&derivatives)[3]) {
    double inverse = 1.0 / p[0], slope = p[1] * inverse, bend = p[2] * inverse, twist = p[3] * inverse;
    double square = slope * slope;
    derivatives[0] = fma(count, slope, derivatives[0]);
    derivatives[1] = fma(count, bend - square, derivatives[1]);
    derivatives[2] = fma(count, fma(slope, 2.0 * square - 3.0 * bend, twist), derivatives[2]);
}

/// The next distance to try, or the result: then true.
__device__ __forceinline__ bool step(double &t, double first, double second, double third, double &lo, double &hi) {
    if (t == 0.0 && first <= 0.0) {
        t = 0.0;
        return true;
    }
    if (t == MAX_DISTANCE && first >= 0.0) {
        t = __longlong_as_double(0x7ff0000000000000LL);
        return true;
    }
    if (first > 0.0) {
        lo = t;
    } else {
        hi = t;
    }
    double uphill = first > 0.0 ? MAX_GROWTH * (t > 1e-4 ? t : 1e-4) : t * (1.0 / MAX_GROWTH);
    double square = 2.0 * second * second, bend = first * third;
    bool is_halley = fabs(bend) <= 0.5 * square;
    double steps = t - 2.0 * first * second / (is_halley ? square - bend : square);
    double next = second < 0.0 ? steps : uphill;
    double most = MAX_GROWTH * (t > 1e-2 ? t : 1e-2);
    next = next < most ? next : most;
    if (next >= (hi < MAX_DISTANCE ? hi : MAX_DISTANCE)) {
        next = hi > MAX_DISTANCE ? MAX_DISTANCE : 0.5 * (t + hi);
    }
    if (next <= lo) {
        next = 0.5 * (lo + t);
    }
    double limit = is_halley && next == steps ? LAST_STEP : LAST_SIMPLE_STEP;
    bool is_last = fabs(next - t) <= limit * t;
    t = next;
    return is_last;
}

/// Halley's method; `derive` computes three derivatives at a distance.
template <class Derive>
__device__ __forceinline__ double solve(double t, const Derive &derive) {
    double lo = 0.0, hi = __longlong_as_double(0x7ff0000000000000LL);
    bool is_done = false;
    for (int i = 0; i < MAX_STEPS && !is_done; i++) {
        double derivatives[3] = {0.0, 0.0, 0.0};
        derive(t, derivatives);
        is_done = step(t, derivatives[0], derivatives[1], derivatives[2], lo, hi);
    }
    return t;
}

/// Writes a distance: 0 of a sequence from itself, not a number without any site.
__device__ __forceinline__ void write_distance(const PairTiles &tiles, const Tile &tile, double t, double all) {
    bool is_same = tile.row == tile.column, is_nothing = t == 0.0 && all == 0.0;
    double distance = is_nothing ? __longlong_as_double(0x7ff8000000000000LL) : t;
    u64 at = (u64)(tile.row - tiles.first_row) * tiles.num_columns + (tile.column - tiles.first_column);
    tiles.out[at] = is_same ? 0.0 : distance;
}

/// Derivatives from numbers of sites in registers.
template <int CLASSES>
struct FewClasses {
    const PairPartition &partition;
    const double (&counts)[CLASSES];

    __device__ __forceinline__ void operator()(double t, double (&derivatives)[3]) const {
        double terms[FEW_TERMS][DERIVATIVES];
#pragma unroll
        for (int k = 0; k < FEW_TERMS; k++) {
            if (k < (int)partition.num_terms) {
                term_at(partition, k, t, terms[k]);
            }
        }
#pragma unroll
        for (int c = 0; c < CLASSES; c++) {
            if (counts[c] > 0.0) {
                double p[DERIVATIVES] = {partition.at_zero[c], 0.0, 0.0, 0.0};
#pragma unroll
                for (int k = 0; k < FEW_TERMS; k++) {
                    if (k < (int)partition.num_terms) {
                        double coefficient = partition.coefficients[(u32)c * partition.num_terms + k];
#pragma unroll
                        for (int d = 0; d < DERIVATIVES; d++) {
                            p[d] = fma(terms[k][d], coefficient, p[d]);
                        }
                    }
                }
                add_class(counts[c], p, derivatives);
            }
        }
    }
};

template <int CLASSES>
__device__ __forceinline__ void few_classes(const PairPartition *partitions, const PairTiles &tiles) {
    const PairPartition &partition = partitions[0];
    u32 across = (tiles.num_columns + STRIP - 1) / STRIP, down = (tiles.num_rows + STRIP - 1) / STRIP;
    for (u32 number = blockIdx.x; number < across * down; number += gridDim.x) {
        Tile tile;
        if (!find_tile(tiles, number, tile)) {
            continue;
        }
        u32 sites[DNA_CLASSES];
        count_planes<CLASSES == DNA_CLASSES - 3>(partition, tile, tiles.num_taxa, sites);
        if (!tile.is_used) {
            continue;
        }
        double counts[CLASSES];
        Start start = {0.0, 0.0, 0.0, {0.0, 0.0}};
#pragma unroll
        for (int c = 0; c < CLASSES; c++) {
            counts[c] = (double)sites[c];
            add_to_start(partition, c, counts[c], start);
        }
        FewClasses<CLASSES> derive = {partition, counts};
        write_distance(tiles, tile, solve(first_distance(start), derive), start.all);
    }
}

/// What a CTA of `pair_distances_any` has in memory, from its thread's first number on.
struct Lists {
    u64 *entries;
    u32 *num_entries;
    double *terms;
};

/// Counts the sites of a pair with each pair of other characters. All threads must call it.
__device__ __forceinline__ void count_codes(const PairPartition &partition, const Tile &tile, u32 num_taxa, u64 *classes) {
    SHARED(u16, strips, [2][STRIP][CODES + 2]);
    const u16 *a = strips[0][threadIdx.x / STRIP], *b = strips[1][threadIdx.x % STRIP];
    bool is_counted = tile.is_used && partition.is_present[tile.row] != 0 && partition.is_present[tile.column] != 0;
    for (u32 first = 0; first < partition.num_patterns; first += CODES) {
        u32 left = partition.num_patterns - first, len = left < CODES ? left : CODES;
        __syncthreads();
        for (u32 i = threadIdx.x; i < 2 * STRIP * CODES; i += PAIRS) {
            u32 strip = i / (STRIP * CODES), sequence = i / CODES % STRIP, at = i % CODES;
            u32 taxon = (strip == 0 ? tile.rows : tile.columns) + sequence;
            bool is_there = taxon < num_taxa && at < len;
            strips[strip][sequence][at] = is_there ? partition.codes[(u64)taxon * partition.num_patterns + first + at] : 0;
        }
        __syncthreads();
        for (u32 at = 0; is_counted && at < len; at++) {
            // The first sequence of a pair is the one with the smaller number; classes do not depend on the order.
            u32 of_class = partition.of_codes[a[at] * partition.num_codes + b[at]];
            if (of_class != NO_CLASS) {
                classes[(u64)of_class * PAIRS] += partition.weights[first + at];
            }
        }
    }
}

/// Adds the sites at which one of both has an ambiguous nucleotide.
__device__ __forceinline__ void add_ambiguous(const PairPartition &partition, u32 a, u32 b, u64 *classes) {
    u32 left = partition.first_ambiguous[a], right = partition.first_ambiguous[b];
    u32 left_end = partition.first_ambiguous[a + 1], right_end = partition.first_ambiguous[b + 1];
    while (left < left_end || right < right_end) {
        u32 of_left = left < left_end ? partition.ambiguous[left] : NO_CLASS;
        u32 of_right = right < right_end ? partition.ambiguous[right] : NO_CLASS;
        u32 pattern = of_left < of_right ? of_left : of_right;
        left += of_left == pattern;
        right += of_right == pattern;
        u32 code_a = partition.codes[(u64)a * partition.num_patterns + pattern], code_b = partition.codes[(u64)b * partition.num_patterns + pattern];
        u32 of_class = partition.of_codes[code_a * partition.num_codes + code_b];
        if (of_class != NO_CLASS) {
            classes[(u64)of_class * PAIRS] += partition.weights[pattern];
        }
    }
}

/// Counts the sites of a pair in one partition, by class; then only the classes with sites remain, with their numbers in the
/// upper half of an entry. All threads must call it.
__device__ __forceinline__ void list_classes(const PairPartition &partition, const Tile &tile, u32 num_taxa, u64 *entries, u32 *num_entries) {
    for (u32 c = 0; c < partition.num_classes; c++) {
        entries[(u64)c * PAIRS] = 0;
    }
    if (partition.num_levels > 0) {
        u32 counts[DNA_CLASSES];
        if (partition.is_joined) {
            count_planes<true>(partition, tile, num_taxa, counts);
        } else {
            count_planes<false>(partition, tile, num_taxa, counts);
        }
#pragma unroll
        for (int c = 0; c < DNA_CLASSES; c++) {
            entries[(u64)c * PAIRS] = counts[c];
        }
        if (partition.has_ambiguous && tile.is_used && partition.is_present[tile.row] && partition.is_present[tile.column]) {
            add_ambiguous(partition, tile.row, tile.column, entries);
        }
    } else {
        count_codes(partition, tile, num_taxa, entries);
    }
    u32 count = 0;
    for (u32 c = 0; c < partition.num_classes; c++) {
        u64 sites = entries[(u64)c * PAIRS];
        if (sites > 0) {
            entries[(u64)count * PAIRS] = (u64)c << 32 | sites;
            count++;
        }
    }
    *num_entries = count;
}

/// Derivatives from lists of classes.
struct ManyClasses {
    const PairPartition *partitions;
    u32 num_partitions;
    Lists lists;

    __device__ __forceinline__ void operator()(double t, double (&derivatives)[3]) const {
        const u64 *entries = lists.entries;
        for (u32 g = 0; g < num_partitions; g++) {
            const PairPartition &partition = partitions[g];
            u32 count = lists.num_entries[(u64)g * PAIRS];
            for (u32 k = 0; k < (count > 0 ? partition.num_terms : 0); k++) {
                double sums[DERIVATIVES];
                term_at(partition, k, t, sums);
#pragma unroll
                for (int d = 0; d < DERIVATIVES; d++) {
                    lists.terms[(u64)(DERIVATIVES * k + d) * PAIRS] = sums[d];
                }
            }
            for (u32 i = 0; i < count; i++) {
                u64 entry = entries[(u64)i * PAIRS];
                u32 of_class = (u32)(entry >> 32);
                double p[DERIVATIVES] = {partition.at_zero[of_class], 0.0, 0.0, 0.0};
                for (u32 k = 0; k < partition.num_terms; k++) {
                    double coefficient = partition.coefficients[(u64)of_class * partition.num_terms + k];
                    const double *term = lists.terms + (u64)(DERIVATIVES * k) * PAIRS;
#pragma unroll
                    for (int d = 0; d < DERIVATIVES; d++) {
                        p[d] = fma(term[d * PAIRS], coefficient, p[d]);
                    }
                }
                add_class((double)(u32)entry, p, derivatives);
            }
            entries += (u64)partition.num_classes * PAIRS;
        }
    }
};

extern "C" __global__ void __launch_bounds__(PAIRS, 2) pair_distances_7(const PairPartition *partitions, const PairTiles *tiles) {
    few_classes<7>(partitions, *tiles);
}

extern "C" __global__ void __launch_bounds__(PAIRS, 2) pair_distances_10(const PairPartition *partitions, const PairTiles *tiles) {
    few_classes<10>(partitions, *tiles);
}

extern "C" __global__ void __launch_bounds__(PAIRS, 1)
    pair_distances_any(const PairPartition *partitions, const PairTiles *given, const PairScratch *scratch) {
    const PairTiles &tiles = *given;
    u64 cta = blockIdx.x;
    Lists lists = {scratch->entries + cta * scratch->num_classes * PAIRS + threadIdx.x,
                   scratch->num_entries + cta * tiles.num_partitions * PAIRS + threadIdx.x,
                   scratch->terms + cta * DERIVATIVES * scratch->num_terms * PAIRS + threadIdx.x};
    u32 across = (tiles.num_columns + STRIP - 1) / STRIP, down = (tiles.num_rows + STRIP - 1) / STRIP;
    for (u32 number = blockIdx.x; number < across * down; number += gridDim.x) {
        Tile tile;
        if (!find_tile(tiles, number, tile)) {
            continue;
        }
        u64 *entries = lists.entries;
        for (u32 g = 0; g < tiles.num_partitions; g++) {
            list_classes(partitions[g], tile, tiles.num_taxa, entries, lists.num_entries + (u64)g * PAIRS);
            entries += (u64)partitions[g].num_classes * PAIRS;
        }
        if (!tile.is_used) {
            continue;
        }
        Start start = {0.0, 0.0, 0.0, {0.0, 0.0}};
        entries = lists.entries;
        for (u32 g = 0; g < tiles.num_partitions; g++) {
            for (u32 i = 0; i < lists.num_entries[(u64)g * PAIRS]; i++) {
                u64 entry = entries[(u64)i * PAIRS];
                add_to_start(partitions[g], (u32)(entry >> 32), (double)(u32)entry, start);
            }
            entries += (u64)partitions[g].num_classes * PAIRS;
        }
        ManyClasses derive = {partitions, tiles.num_partitions, lists};
        write_distance(tiles, tile, solve(first_distance(start), derive), start.all);
    }
}

/// Sizes of the structs, for the host to compare with its own.
extern "C" __global__ void distances_sizes(u32 *out) {
    out[0] = sizeof(PairPartition);
    out[1] = sizeof(PairTiles);
    out[2] = sizeof(PairScratch);
}
