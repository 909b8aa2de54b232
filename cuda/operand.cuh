// One end of an edge as an operand: mirrors src/kernels/body/operand.rs.
//
//     Tip:   x[p, r] = table[code[p], r]
//     Inner: x[p, r] = P_r * CLV[p, r] = sum over j of column_j * CLV[p, r][j], one chain of fused multiply-adds
//
// A row of a pattern, the numbers of all its rates, has *parts*: a thread computes those of one part at a time, so that it needs no
// more registers for 64 states than for 20, and other threads compute other parts. All threads of a warp read the same number of
// a matrix and neighbouring numbers of a CLV.

#pragma once
#include "precision.cuh"

/// Numbers of a part, and parts of a rate.
template <int S> struct Part {
    static const int COUNT = S == 64 ? 8 : S == 20 ? 10 : 4;
    static const int OF_RATE = S / COUNT;
};

/// One end for the pattern of this thread.
template <typename Real> struct Operand {
    /// For a tip: its code.
    u32 code;
    bool is_tip;
    /// The P-matrix, or a tip's table.
    const Real *matrix;
    /// For others: their numbers.
    Source<Real> vector;
};

/// Buffers of a CTA for temporaries that exist only while a program runs for one block. (Those of single precision are apart:
/// their places have other bytes.)
struct Scratch {
    double *clvs;
    float *singles;
    u32 *scalers;
};

/// The first number of this thread's pattern in a vector, and its first scaler count.
template <int S, typename Real> struct Vector {
    Real *clv;
    u32 *scaler;

    __device__ __forceinline__ Vector(const Partition &partition, PatternBlock block, const Scratch &scratch, u32 place, u32 index) {
        u64 row = (u64)partition.num_rates * S, counts = partition.rate_scalers ? partition.num_rates : 1;
        if (place >= SCRATCH) {
            Real *first = sizeof(Real) == sizeof(float) ? (Real *)scratch.singles : (Real *)scratch.clvs;
            clv = first + index * (row * BLOCK) + block.pattern;
            scaler = scratch.scalers + index * (counts * BLOCK) + block.pattern;
        } else {
            u64 first = (u64)index * partition.num_patterns + block.offset;
            clv = (Real *)(place == STORED ? partition.clvs : partition.temporaries) + first * row + block.pattern;
            scaler = (place == STORED ? partition.scalers : partition.temporary_scalers) + first * counts + block.pattern;
        }
    }
};

/// An end of an edge; `top` is for vectors of double precision that are read as single (precision.cuh).
template <int S, typename Real>
__device__ __forceinline__ Operand<Real> operand(const Partition &partition, PatternBlock block, const Scratch &scratch,
                                                 const End &end, const double *matrices, int top) {
    Operand<Real> out;
    out.is_tip = end.place == TIP;
    out.matrix = (const Real *)(matrices + end.matrix);
    if (out.is_tip) {
        u64 at = (u64)block.offset * partition.num_tips + (u64)end.index * block.len + block.pattern;
        out.code = partition.tip_codes[at];
        out.vector = Source<Real>();
    } else {
        out.code = 0;
        bool is_single = sizeof(Real) == sizeof(float) && end.place == SINGLE;
        if (is_single) {
            Vector<S, float> vector(partition, block, scratch, end.place, end.index);
            out.vector.template set<S>(partition, block.len, vector.clv, vector.scaler, true, top);
        } else {
            Vector<S, double> vector(partition, block, scratch, end.place, end.index);
            out.vector.template set<S>(partition, block.len, vector.clv, vector.scaler, false, top);
        }
    }
    return out;
}

/// Most bytes of a matrix or a vector that are asked for before they are read.
#define MOST_FETCHED (40 << 10)

/// Asks for what the CTA is going to read of an operand, where that is not too much.
template <int S>
__device__ __forceinline__ void fetch_operand(const Partition &partition, PatternBlock block, const Operand<double> &end) {
    u32 row = partition.num_rates * S;
    if (end.is_tip) {
        u32 bytes = partition.num_codes * row * (u32)sizeof(double);
        fetch(end.matrix, bytes <= MOST_FETCHED ? bytes : 0);
        return;
    }
    u32 bytes = row * S * (u32)sizeof(double);
    fetch(end.matrix, bytes <= MOST_FETCHED ? bytes : 0);
    // Lines of the CTA's patterns, for each number of a row.
    u32 patterns = blockDim.x / block.num_shares;
    u32 lines = patterns * (u32)sizeof(double) / LINE;
    const double *first = end.vector.clv - (threadIdx.x & (patterns - 1));
    u32 all = row * lines <= MOST_FETCHED / LINE ? row * lines : 0;
    for (u32 line = threadIdx.x; line < all; line += blockDim.x) {
        u32 in_row = line % lines * (LINE / (u32)sizeof(double));
        if (in_row < block.len) {
            prefetch_line(first + (u64)(line / lines) * block.len + in_row);
        }
    }
}
template <int S>
__device__ __forceinline__ void fetch_operand(const Partition &, PatternBlock, const Operand<float> &) {}

/// Two numbers that are read together, from an even place. (The emulator, which looks whether it is one, has words of its own.)
template <typename Real> struct Pair;
template <> struct Pair<double> { typedef double2 Two; };
template <> struct Pair<float> { typedef float2 Two; };
#ifndef EMULATED
template <typename Real> __device__ __forceinline__ typename Pair<Real>::Two read_two(const Real *from) {
    return *(const typename Pair<Real>::Two *)from;
}
#else
template <typename Real> typename Pair<Real>::Two read_two(const Real *from) {
    check_alignment(from, 2 * sizeof(Real));
    return {from[0], from[1]};
}
#endif

/// Every STRIDE-th of some numbers; those in a row by twos, as all matrices and tables begin at an even place.
template <int COUNT, int STRIDE, typename Real>
__device__ __forceinline__ void read_numbers(const Real *from, Real (&out)[COUNT]) {
    const int twos = STRIDE == 1 && COUNT % 2 == 0 ? COUNT / 2 : 0;
#pragma unroll
    for (int i = 0; i < twos; i++) {
        typename Pair<Real>::Two two = read_two(from + 2 * i);
        out[2 * i] = two.x;
        out[2 * i + 1] = two.y;
    }
#pragma unroll
    for (int i = 2 * twos; i < COUNT; i++) {
        out[i] = from[i * STRIDE];
    }
}

/// COUNT numbers of the operand with its matrix applied, for one rate: every STRIDE-th from `first` on.
template <int S, int COUNT, int STRIDE, typename Real>
__device__ __forceinline__ void product(const Partition &partition, u32 len, const Operand<Real> &end, u32 rate, u32 first,
                                        Real (&out)[COUNT]) {
    if (end.is_tip) {
        read_numbers<COUNT, STRIDE>(end.matrix + ((u64)end.code * partition.num_rates + rate) * S + first, out);
        return;
    }
    const Real *columns = end.matrix + (u64)rate * (S * S) + first;
    const typename Source<Real>::Numbers x = end.vector.template from<S>(partition, len, rate, rate * S);
    Real x0 = x[0], column[COUNT];
    read_numbers<COUNT, STRIDE>(columns, column);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        out[i] = column[i] * x0;
    }
    // So many numbers of the vector are on their way at a time.
#pragma unroll(S == 20 ? 2 : 4)
    for (u32 j = 1; j < S; j++) {
        Real xj = x[(u64)j * len];
        read_numbers<COUNT, STRIDE>(columns + j * S, column);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            out[i] = fma(column[i], xj, out[i]);
        }
    }
}

/// The same without the matrix; a tip has 1 for each of its states and 0 for the others.
template <int S, int COUNT, int STRIDE, typename Real>
__device__ __forceinline__ void plain(const Partition &partition, u32 len, const Operand<Real> &end, u32 rate, u32 first,
                                      Real (&out)[COUNT]) {
    if (end.is_tip) {
        const double *row = partition.indicator + ((u64)end.code * partition.num_rates + rate) * S + first;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            out[i] = (Real)row[i * STRIDE];
        }
        return;
    }
    const typename Source<Real>::Numbers x = end.vector.template from<S>(partition, len, rate, rate * S + first);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        out[i] = x[(u64)(i * STRIDE) * len];
    }
}

/// Scaler count of an operand for one rate (or for all, if there is one count for all); a tip has none.
template <int S, typename Real>
__device__ __forceinline__ typename Precision<Real>::Count count_of(const Partition &partition, const Operand<Real> &end, u32 rate,
                                                                    u32 len) {
    return end.is_tip ? 0 : end.vector.template count<S>(partition, len, rate);
}
