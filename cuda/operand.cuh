// One end of an edge as an operand: mirrors src/likelihood/cpu/body/operand.rs.
//
//     Tip:   x[p, r] = table[code[p], r]
//     Inner: x[p, r] = P_r * CLV[p, r] = sum over j of column_j * CLV[p, r][j], one chain of fused multiply-adds
//
// A thread computes ROWS numbers of a product at a time, so that it needs no more registers for 64 states than for 20. All
// threads of a warp read the same number of a matrix and neighbouring numbers of a CLV.

#pragma once
#include "common.cuh"

/// Numbers of a product that a thread has in registers; a multiple of 4.
template <int S> struct Rows {
    static const int COUNT = S == 64 ? 16 : S;
};

/// One end for the pattern of this thread.
struct Operand {
    /// For a tip: its code.
    u32 code;
    bool is_tip;
    /// The P-matrix, or a tip's table.
    const double *matrix;
    /// The first number of the pattern; others follow at the distance of a block's length.
    const double *clv;
    /// The first scaler count, likewise.
    const u32 *scaler;
};

/// Buffers of a CTA for temporaries that exist only while a program runs for one block.
struct Scratch {
    double *clvs;
    u32 *scalers;
};

/// The first number of this thread's pattern in a vector, and its first scaler count.
template <int S> struct Vector {
    double *clv;
    u32 *scaler;

    __device__ __forceinline__ Vector(const Gene &gene, PatternBlock block, const Scratch &scratch, u32 place, u32 index) {
        u64 row = (u64)gene.num_rates * S, counts = gene.rate_scalers ? gene.num_rates : 1;
        if (place == SCRATCH) {
            clv = scratch.clvs + index * (row * BLOCK) + threadIdx.x;
            scaler = scratch.scalers + index * (counts * BLOCK) + threadIdx.x;
        } else {
            u64 first = (u64)index * gene.num_patterns + block.offset;
            clv = (place == STORED ? gene.clvs : gene.temporaries) + first * row + threadIdx.x;
            scaler = (place == STORED ? gene.scalers : gene.temporary_scalers) + first * counts + threadIdx.x;
        }
    }
};

template <int S>
__device__ __forceinline__ Operand operand(const Gene &gene, PatternBlock block, const Scratch &scratch, const End &end,
                                           const double *matrices) {
    Operand out;
    out.is_tip = end.place == TIP;
    out.matrix = matrices + end.matrix;
    if (out.is_tip) {
        u64 at = (u64)block.offset * gene.num_tips + (u64)end.index * block.len + threadIdx.x;
        out.code = gene.tip_codes[at];
        out.clv = 0;
        out.scaler = 0;
    } else {
        Vector<S> vector(gene, block, scratch, end.place, end.index);
        out.code = 0;
        out.clv = vector.clv;
        out.scaler = vector.scaler;
    }
    return out;
}

/// Numbers `first` and following of the operand with its matrix applied, for one rate.
template <int S>
__device__ __forceinline__ void product(const Gene &gene, u32 len, const Operand &end, u32 rate, u32 first,
                                        double (&out)[Rows<S>::COUNT]) {
    if (end.is_tip) {
        const double *row = end.matrix + ((u64)end.code * gene.num_rates + rate) * S + first;
#pragma unroll
        for (int i = 0; i < Rows<S>::COUNT; i++) {
            out[i] = row[i];
        }
        return;
    }
    const double *columns = end.matrix + (u64)rate * (S * S) + first;
    const double *x = end.clv + (u64)rate * S * len;
    double x0 = x[0];
#pragma unroll
    for (int i = 0; i < Rows<S>::COUNT; i++) {
        out[i] = columns[i] * x0;
    }
#pragma unroll 2
    for (u32 j = 1; j < S; j++) {
        double xj = x[(u64)j * len];
#pragma unroll
        for (int i = 0; i < Rows<S>::COUNT; i++) {
            out[i] = fma(columns[j * S + i], xj, out[i]);
        }
    }
}

/// The same without the matrix; a tip has 1 for each of its states and 0 for the others.
template <int S>
__device__ __forceinline__ void plain(const Gene &gene, u32 len, const Operand &end, u32 rate, u32 first,
                                      double (&out)[Rows<S>::COUNT]) {
    if (end.is_tip) {
        const double *row = gene.indicator + ((u64)end.code * gene.num_rates + rate) * S + first;
#pragma unroll
        for (int i = 0; i < Rows<S>::COUNT; i++) {
            out[i] = row[i];
        }
        return;
    }
    const double *x = end.clv + ((u64)rate * S + first) * len;
#pragma unroll
    for (int i = 0; i < Rows<S>::COUNT; i++) {
        out[i] = x[(u64)i * len];
    }
}

/// Scaler count of an operand for one rate (or for all, if there is one count for all); a tip has none.
__device__ __forceinline__ u32 count_of(const Operand &end, u32 rate, u32 len) {
    return end.is_tip ? 0 : end.scaler[(u64)rate * len];
}
