//! Exact scaling against underflow, by powers of two.
//!
//! When every entry of a pattern's row (or of one rate category of it) is below [`THRESHOLD`], the
//! row is multiplied by 1/[`THRESHOLD`] and the count of that pattern goes up by one: no digit is
//! lost. The true value is `stored · THRESHOLD^count`.

/// 2^-256.
pub const THRESHOLD: f64 = f64::from_bits((1023 - 256) << 52);

/// 2^256.
pub const FACTOR: f64 = f64::from_bits((1023 + 256) << 52);

/// ln(2^256), what one count takes off a log-likelihood.
pub const LN_FACTOR: f64 = 256.0 * std::f64::consts::LN_2;

/// Partitions with more taxa than this keep scaler counts per rate category: with one count for all
/// categories, a slow category could underflow while a fast one is fine.
pub const RATE_SCALERS_ABOVE: usize = 1000;

/// `THRESHOLD^count`; 0 when that is below the smallest number. Choices between numbers, and inlined, so
/// that a kernel makes them for a register at once.
#[inline(always)]
pub fn factor(count: u32) -> f64 {
    let below_two = if count == 0 { 1.0 } else { THRESHOLD };
    let two_or_three = if count == 2 { SQUARE } else { SQUARE * THRESHOLD };
    let below_four = if count < 2 { below_two } else { two_or_three };
    if count < 4 { below_four } else { 0.0 }
}

const SQUARE: f64 = THRESHOLD * THRESHOLD;
