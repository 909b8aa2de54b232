//! Natural logarithm and exp(x)-1, of one number and on several lanes at once.
//!
//! Every lane is one fixed sequence of additions, multiplications, divisions and fused
//! multiply-adds, so the bits are the same in any instruction set, which the platform's own
//! functions do not guarantee. They are `#[inline(always)]` so that each kernel compiles them for its
//! own instruction set.

/// Eight lanes; lane `i` belongs to pattern `i` modulo 8.
pub type Lanes = [f64; 8];

const LN2_HI: f64 = 6.931_471_803_691_238e-1;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// Natural logarithm of positive normal numbers, each to within one unit in the last place;
/// zero gives minus infinity.
///
/// x = 2^k·m with m in [√½, √2), then the odd series of ln((1+s)/(1−s)) in s = (m−1)/(m+1), with the
/// minimax coefficients of the freely distributable fdlibm (`e_log.c`, Sun Microsystems 1993).
#[inline(always)]
pub fn ln_of(x: f64) -> f64 {
    const SQRT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;
    const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;
    // 2^52: adding it turns a small integer into the low bits of a float, without a conversion
    // instruction that AVX2 lacks.
    const MAGIC_BITS: u64 = 0x4330_0000_0000_0000;
    const MAGIC_BIASED: f64 = 4_503_599_627_370_496.0 + 1023.0;
    const C: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    let shifted = x.to_bits().wrapping_add(ONE_BITS - SQRT_HALF_BITS);
    let k = f64::from_bits((shifted >> 52) | MAGIC_BITS) - MAGIC_BIASED;
    let m = f64::from_bits((shifted & MANTISSA) + SQRT_HALF_BITS);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut r = C[6];
    for c in C[..6].iter().rev() {
        r = r.mul_add(z, *c);
    }
    let r = r * z;
    let half_square = 0.5 * f * f;
    let tail = s.mul_add(half_square + r, k * LN2_LO);
    let value = k * LN2_HI - ((half_square - tail) - f);
    if x > 0.0 { value } else { f64::NEG_INFINITY }
}

/// The same of several numbers.
#[inline(always)]
pub fn ln<const N: usize>(x: &[f64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for i in 0..N {
        out[i] = ln_of(x[i]);
    }
    out
}

/// exp(x) − 1, accurate near zero too. Arguments below −708 count as −708; meant
/// for x ≤ 0 (eigenvalues are not positive) and right up to +700.
///
/// x = k·ln2 + r with |r| ≤ ½ln2, Taylor polynomial of degree 13 for exp(r) − 1 (remainder below
/// 2^-57), then 2^k·(exp(r) − 1) + (2^k − 1).
#[inline(always)]
pub fn exp_minus_one_of(x: f64) -> f64 {
    exp_minus_one(&[x])[0]
}

/// The same of several numbers. Each step is made for all of them before the next: with sixteen, no register waits for the result of the step
/// before.
#[inline(always)]
pub fn exp_minus_one<const N: usize>(x: &[f64; N]) -> [f64; N] {
    const LOG2_E: f64 = std::f64::consts::LOG2_E;
    // 1.5·2^52: adding and subtracting it rounds to the nearest integer, and leaves that integer in
    // the low bits of the sum.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    const INVERSE_FACTORIALS: [f64; 13] = [
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
        1.0 / 40320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
        1.0 / 6_227_020_800.0,
    ];
    let (mut rounded, mut r, mut q) = ([0.0; N], [0.0; N], [INVERSE_FACTORIALS[12]; N]);
    for i in 0..N {
        let x = if x[i] > -708.0 { x[i] } else { -708.0 };
        rounded[i] = x.mul_add(LOG2_E, ROUND);
        let k = rounded[i] - ROUND;
        r[i] = (-k).mul_add(LN2_LO, (-k).mul_add(LN2_HI, x));
    }
    for c in INVERSE_FACTORIALS[..12].iter().rev() {
        for i in 0..N {
            q[i] = q[i].mul_add(r[i], *c);
        }
    }
    let mut out = [0.0; N];
    for i in 0..N {
        let power = f64::from_bits(rounded[i].to_bits().wrapping_add(1023) << 52);
        out[i] = power.mul_add(q[i] * r[i], power - 1.0);
    }
    out
}
