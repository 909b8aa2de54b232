// Bracketed Newton-Raphson for one branch length: mirrors src/library/numeric/newton.rs, operation by operation.

#pragma once
#include "common.cuh"

/// Evaluations after which the best point found is kept.
#define MOST_EVALUATIONS 30

/// The nearest length on the grid (tree/topology.rs).
__device__ __forceinline__ double to_length_grid(double length) { return rint(length * 0x1p34) * 0x1p-34; }

__device__ __forceinline__ double clamped(double x, double lo, double hi) {
    double above = x < lo ? lo : x;
    return above > hi ? hi : above;
}

__device__ __forceinline__ bool is_finite(double x) { return fabs(x) < __longlong_as_double(0x7ff0000000000000LL); }

/// The state of one maximisation. `x` is the point to be evaluated next, unless it is finished.
struct Newton {
    double x, lo, hi;
    double best, best_value;
    double gain_tolerance;
    u32 evaluations;
    /// Bounds that were given and not evaluated yet.
    bool untried[2];
    bool is_finished;

    __device__ void start(double from, double low, double high, double tolerance) {
        x = to_length_grid(clamped(from, low, high));
        lo = low;
        hi = high;
        best = x;
        best_value = -__longlong_as_double(0x7ff0000000000000LL);
        gain_tolerance = tolerance;
        evaluations = 0;
        untried[0] = untried[1] = true;
        is_finished = false;
    }

    /// Takes value, first and second derivative at x.
    __device__ void tell(double value, double first, double second) {
        evaluations++;
        if (evaluations == 1 || value > best_value) {
            best = x;
            best_value = value;
        }
        if (!(is_finite(first) && is_finite(second)) || evaluations >= MOST_EVALUATIONS) {
            is_finished = true;
            return;
        }
        if ((x <= lo && first <= 0.0) || (x >= hi && first >= 0.0)) {
            is_finished = true;
            return;
        }
        // The maximum uphill of x lies on this side of it.
        if (first > 0.0) {
            lo = fmax(lo, x);
            untried[0] = false;
        } else {
            hi = fmin(hi, x);
            untried[1] = false;
        }
        if (second < 0.0 && 0.5 * first * first < -second * gain_tolerance) {
            is_finished = true;
            return;
        }
        double next;
        if (second < 0.0) {
            next = x - first / second;
        } else if (first > 0.0) {
            next = fmax(4.0 * x, 1e-4);
        } else {
            next = 0.25 * x;
        }
        next = fmax(fmin(next, 10.0 * fmax(x, 1e-3)), 0.1 * fmin(x, hi));
        if (next <= lo || next >= hi) {
            u32 bound = next >= hi ? 1 : 0;
            if (untried[bound]) {
                untried[bound] = false;
                next = bound == 1 ? hi : lo;
            } else {
                next = 0.5 * (lo + hi);
            }
        }
        next = clamped(to_length_grid(next), lo, hi);
        is_finished = next == x || fabs(next - x) < 1e-9;
        x = next;
    }
};
