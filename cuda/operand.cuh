// One end of an edge as an operand: mirrors src/kernels/body/operand.rs.
//
//     Tip:   x[p, r] = table[code[p], r]
//     Inner: x[p, r] = P_r * CLV[p, r] = sum over j of column_j * CLV[p, r][j], one chain of fused multiply-adds
//
// A thread computes ROWS numbers of a product at a time, so that it needs no more registers for 64 states than for 20. All
// threads of a warp read the same number of a matrix and neighbouring numbers of a CLV.

#pragma once
#include "precision.cuh"

/// Numbers of a product that a thread has in registers; a multiple of 4.
template <int S> struct Rows {
    static const int COUNT = S == 64 ? 16 : S;
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

/// Buffers of a CTA for temporaries that exist only while a program runs for one block. A place that is written again is so
/// by the same thread, without a barrier: those of single precision, in which a thread has other bytes, are apart.
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
            clv = first + index * (row * BLOCK) + threadIdx.x;
            scaler = scratch.scalers + index * (counts * BLOCK) + threadIdx.x;
        } else {
            u64 first = (u64)index * partition.num_patterns + block.offset;
            clv = (Real *)(place == STORED ? partition.clvs : partition.temporaries) + first * row + threadIdx.x;
            scaler = (place == STORED ? partition.scalers : partition.temporary_scalers) + first * counts + threadIdx.x;
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
        u64 at = (u64)block.offset * partition.num_tips + (u64)end.index * block.len + threadIdx.x;
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

/// Numbers `first` and following of the operand with its matrix applied, for one rate.
template <int S, typename Real>
__device__ __forceinline__ void product(const Partition &partition, u32 len, const Operand<Real> &end, u32 rate, u32 first,
                                        Real (&out)[Rows<S>::COUNT]) {
    const int rows = Rows<S>::COUNT;
    if (end.is_tip) {
        const Real *row = end.matrix + ((u64)end.code * partition.num_rates + rate) * S + first;
#pragma unroll
        for (int i = 0; i < rows; i++) {
            out[i] = row[i];
        }
        return;
    }
    const Real *columns = end.matrix + (u64)rate * (S * S) + first;
    const typename Source<Real>::Numbers x = end.vector.template from<S>(partition, len, rate, rate * S);
    Real x0 = x[0];
#pragma unroll
    for (int i = 0; i < rows; i++) {
        out[i] = columns[i] * x0;
    }
#pragma unroll 2
    for (u32 j = 1; j < S; j++) {
        Real xj = x[(u64)j * len];
#pragma unroll
        for (int i = 0; i < rows; i++) {
            out[i] = fma(columns[j * S + i], xj, out[i]);
        }
    }
}

/// The same without the matrix; a tip has 1 for each of its states and 0 for the others.
template <int S, typename Real>
__device__ __forceinline__ void plain(const Partition &partition, u32 len, const Operand<Real> &end, u32 rate, u32 first,
                                      Real (&out)[Rows<S>::COUNT]) {
    const int rows = Rows<S>::COUNT;
    if (end.is_tip) {
        const double *row = partition.indicator + ((u64)end.code * partition.num_rates + rate) * S + first;
#pragma unroll
        for (int i = 0; i < rows; i++) {
            out[i] = (Real)row[i];
        }
        return;
    }
    const typename Source<Real>::Numbers x = end.vector.template from<S>(partition, len, rate, rate * S + first);
#pragma unroll
    for (int i = 0; i < rows; i++) {
        out[i] = x[(u64)i * len];
    }
}

/// Scaler count of an operand for one rate (or for all, if there is one count for all); a tip has none.
template <int S, typename Real>
__device__ __forceinline__ typename Precision<Real>::Count count_of(const Partition &partition, const Operand<Real> &end, u32 rate,
                                                                    u32 len) {
    return end.is_tip ? 0 : end.vector.template count<S>(partition, len, rate);
}
