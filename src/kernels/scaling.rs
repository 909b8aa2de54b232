//! Exact scaling against underflow, by powers of two.
//!
//! When every entry of a pattern's row (or of one rate category of it) is below [`THRESHOLD`], the
//! row is multiplied by 1/[`THRESHOLD`], which is exact, and the scaler count of that pattern is incremented.
//! The true value is `stored · THRESHOLD^count`.

/// 2^-256, the threshold below which a row is scaled.
pub const THRESHOLD: f64 = f64::from_bits((1023 - 256) << 52);

/// 2^256, the factor by which a row is scaled.
pub const FACTOR: f64 = f64::from_bits((1023 + 256) << 52);

/// 2^-960, far below the likelihood of any pattern as it is stored, which is about 2^-512 at the least, and far above
/// the subnormal numbers.
pub const NEGLIGIBLE: f64 = f64::from_bits((1023 - 960) << 52);

/// ln(2^256), which is subtracted from a pattern's log-likelihood for each scaler count.
pub const LN_FACTOR: f64 = 256.0 * std::f64::consts::LN_2;

/// Partitions with more taxa than this keep scaler counts per rate category: with one count for all
/// categories, the row of a slow category could underflow while that of a fast one is above the threshold.
pub const RATE_SCALERS_ABOVE: usize = 1000;

/// `THRESHOLD^count`, or 0 if that underflows. Inlined and written with selections between values instead
/// of a loop, so that a kernel computes it for a whole CLV register.
#[inline(always)]
pub fn factor(count: u32) -> f64 {
    let below_two = if count == 0 { 1.0 } else { THRESHOLD };
    let two_or_three = if count == 2 { SQUARE } else { SQUARE * THRESHOLD };
    let below_four = if count < 2 { below_two } else { two_or_three };
    if count < 4 { below_four } else { 0.0 }
}

const SQUARE: f64 = THRESHOLD * THRESHOLD;
