// Numbers in double precision, and in single precision for scores of regraft positions that are wanted in it (`Real` is double
// or float). The bodies of kernels are written once; here is all that differs: how rows are scaled against underflow, and how
// vectors of double precision are read as single. (In single precision are temporaries that no other program of work may have
// stored, pendant vectors, and scores: a number does then not depend on what else is computed with it.)
//
//     double: true value = number * 2^(-256 * count). Rows are scaled as on the CPU (kernels/scaling.rs).
//     float:  true value = number * 2^(-count), with counts of both signs. The largest number of a row that is made by an update
//             is at least 1 and below 2^(TOP + 1), or the row is multiplied by a power of two that brings it to 2^TOP or above. Numbers
//             down to 2^-126 of the largest remain exact in their 24 bits, and no product of three rows overflows.
//
// A vector of double precision is read twice: first the exponent of its largest number (integers, no arithmetic), then,
// from a cache, its numbers, multiplied by a power of two in double precision before they are rounded.

#pragma once
#include "common.cuh"

/// See above; and the exponent to which the largest number of a vector of double precision is brought for a score, and for an
/// update, so that products do not grow.
#define TOP 36
#define TOP_OF_UPDATE -1

/// 2^exponent, or 0 below the normal numbers; exponents are below 1024.
__device__ __forceinline__ double power_of_two(int exponent) {
    return exponent < -1022 ? 0.0 : __longlong_as_double((long long)(1023 + exponent) << 52);
}

/// The exponent of a positive normal number.
__device__ __forceinline__ int exponent_of(double x) { return (int)((u64)__double_as_longlong(x) >> 52) - 1023; }

/// Likelihood of a pattern before the logarithm: times 2^(-256 * count) it is the true value.
struct PatternLikelihood {
    double value;
    u32 count;
};

template <typename Real> struct Precision;

template <> struct Precision<double> {
    typedef u32 Count;
    static __device__ __forceinline__ double weight(u32 count) { return factor(count); }
    static __device__ __forceinline__ PatternLikelihood likelihood(double value, u32 count) { return {value, count}; }
};

template <> struct Precision<float> {
    typedef int Count;
    static __device__ __forceinline__ float weight(int count) { return (float)power_of_two(-count); }
    static __device__ __forceinline__ PatternLikelihood likelihood(float value, int count) {
        u32 whole = count < 0 ? 0 : (u32)count / 256;
        return {(double)value * power_of_two((int)(256 * whole) - count), whole};
    }
};

/// How large the numbers of a part of a row are. Extents of several parts are joined as words.
template <typename Real> struct Extent;

template <> struct Extent<double> {
    bool is_small, is_zero;

    __device__ __forceinline__ void begin() { is_small = is_zero = true; }
    __device__ __forceinline__ void note(double value) {
        is_small = is_small && value < THRESHOLD;
        is_zero = is_zero && value == 0.0;
    }
    /// False if no row with such a part is scaled.
    __device__ __forceinline__ bool may_be_scaled() const { return is_small; }

    static const u32 NOTHING = 3;
    __device__ __forceinline__ void join(u32 *word) const { atomicAnd(word, (is_small ? 1u : 0u) | (is_zero ? 2u : 0u)); }
    /// A row is multiplied by 2^256 while all its numbers are below 2^-256 and not all are 0: the exponent of the factor.
    static __device__ __forceinline__ int change(u32 word) { return word == 1 ? 256 : 0; }
    /// By how much the row's count changes.
    static __device__ __forceinline__ u32 counted(int) { return 1; }
};

template <> struct Extent<float> {
    float largest;

    __device__ __forceinline__ void begin() { largest = 0.0f; }
    __device__ __forceinline__ void note(float value) { largest = value > largest ? value : largest; }
    /// A row with such a part may be outside of its range only if this is.
    __device__ __forceinline__ bool may_be_scaled() const { return !(largest >= 1.0f && largest < 0x1p37f); }

    static const u32 NOTHING = 0;
    /// (Numbers that are not negative have the order of their bits.)
    __device__ __forceinline__ void join(u32 *word) const { atomicMax(word, (u32)__float_as_int(largest)); }
    /// The largest number is brought to 2^TOP or above, unless it is where it may be: the exponent of the factor.
    static __device__ __forceinline__ int change(u32 word) {
        float largest = __int_as_float((int)word);
        if (largest == 0.0f || (largest >= 1.0f && largest < 0x1p37f)) {
            return 0;
        }
        return TOP - exponent_of((double)largest);
    }
    static __device__ __forceinline__ int counted(int change) { return change; }
};

/// A vector that is read, from the number of this thread's pattern on; others follow at the distance of a block's length.
/// `Numbers` are those of one rate.
template <typename Real> struct Source;

template <> struct Source<double> {
    typedef const double *Numbers;
    const double *clv;
    const u32 *scaler;

    template <int S> __device__ __forceinline__ void set(const Partition &, u32, const void *numbers, const u32 *counts, bool, int) {
        clv = (const double *)numbers;
        scaler = counts;
    }
    /// The numbers from `first` on, which is one of this rate.
    template <int S> __device__ __forceinline__ Numbers from(const Partition &, u32 len, u32, u32 first) const {
        return clv + (u64)first * len;
    }
    /// Scaler count for one rate (or for all, if there is one count for all).
    template <int S> __device__ __forceinline__ u32 count(const Partition &, u32 len, u32 rate) const {
        return scaler[(u64)rate * len];
    }
};

template <> struct Source<float> {
    struct Numbers {
        const void *first;
        bool is_single;
        double scale;

        __device__ __forceinline__ float operator[](u64 at) const {
            return is_single ? ((const float *)first)[at] : (float)(((const double *)first)[at] * scale);
        }
    };
    const void *clv;
    const u32 *scaler;
    /// False for a vector in double precision.
    bool is_single;
    /// Exponent to which the largest number of that is brought, and that of the factor if there is one for all rates.
    int top, change_of_all;

    template <int S>
    __device__ __forceinline__ void set(const Partition &partition, u32 len, const void *numbers, const u32 *counts, bool is_temporary,
                                        int wanted) {
        clv = numbers;
        scaler = counts;
        is_single = is_temporary;
        top = wanted;
        change_of_all = is_single || partition.rate_scalers ? 0 : change(len, 0, partition.num_rates * S);
    }
    /// Exponent of the factor that brings the largest of some numbers to `top`.
    __device__ __forceinline__ int change(u32 len, u32 first, u32 count) const {
        // Numbers that are not negative have the order of their bits.
        long long largest = 0;
        for (u32 i = first; i < first + count; i++) {
            long long bits = ((const long long *)clv)[(u64)i * len];
            largest = bits > largest ? bits : largest;
        }
        return largest == 0 ? 0 : top - exponent_of(__longlong_as_double(largest));
    }
    template <int S> __device__ __forceinline__ int change_of(const Partition &partition, u32 len, u32 rate) const {
        return partition.rate_scalers && !is_single ? change(len, rate * S, S) : change_of_all;
    }
    template <int S> __device__ __forceinline__ Numbers from(const Partition &partition, u32 len, u32 rate, u32 first) const {
        u64 at = (u64)first * len;
        if (is_single) {
            return {(const float *)clv + at, true, 1.0};
        }
        return {(const double *)clv + at, false, power_of_two(change_of<S>(partition, len, rate))};
    }
    template <int S> __device__ __forceinline__ int count(const Partition &partition, u32 len, u32 rate) const {
        int given = (int)scaler[(u64)rate * len];
        return is_single ? given : 256 * given + change_of<S>(partition, len, rate);
    }
};
