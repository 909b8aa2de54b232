//! Work on whole numbers and bits, and on pairs of sequences, that is compiled for the instructions of this machine: population counts,
//! several numbers at a time, and what will be needed soon. The result is the same with any of them. (The kernels of likelihoods are a
//! crate of their own.)

/// What is computed: a body that is compiled anew for each set of instructions.
pub(crate) trait Work {
    /// What is found.
    type Found;

    /// Does it; must be `#[inline(always)]`, as all that it calls.
    fn compute(self) -> Self::Found;
}

/// The instructions that work is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instructions {
    /// Those that every processor has.
    Scalar,
    /// Proof that the machine has AVX2, FMA and POPCNT: made only by [`Instructions::detect`].
    #[cfg(target_arch = "x86_64")]
    Avx2(Detected),
    /// Proof that it also has AVX-512 F, DQ, VL and VPOPCNTDQ.
    #[cfg(target_arch = "x86_64")]
    Avx512(Detected),
}

/// Made in this file only.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Detected(());

impl Instructions {
    /// The best that this machine has, or those of this name (`scalar`, `avx2`, `avx512`), if it has them.
    pub(crate) fn detect(name: Option<&str>) -> Option<Self> {
        let found = Self::all();
        match name {
            None => found.first().copied(),
            Some(name) => found.into_iter().find(|set| set.name() == name),
        }
    }

    /// The best that this machine has.
    pub(crate) fn best() -> Self {
        Self::detect(None).unwrap_or(Instructions::Scalar)
    }

    /// All that this machine has, the best one first.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("popcnt");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vpopcntdq");
            if avx2 && avx512 {
                all.push(Instructions::Avx512(Detected(())));
            }
            if avx2 {
                all.push(Instructions::Avx2(Detected(())));
            }
        }
        all.push(Instructions::Scalar);
        all
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Instructions::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => "avx512",
        }
    }

    /// Does the work with these instructions.
    #[allow(unsafe_code)]
    pub(crate) fn compute<W: Work>(self, work: W) -> W::Found {
        match self {
            Instructions::Scalar => work.compute(),
            // SAFETY: a value of this variant exists only where `all` found these instructions.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(_) => unsafe { with_avx2(work) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(_) => unsafe { with_avx512(work) },
        }
    }
}

/// Begins to bring values into the cache that will be read soon, where the machine can do that while other work goes on.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T]) {
    // Miri does not know the instruction.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let size = size_of_val(values);
        // They may begin in the middle of a line, and end in one more.
        for at in (0..size).step_by(LINE).chain(size.checked_sub(1)) {
            // SAFETY: the address is one of the values', and a prefetch changes nothing but what is in the cache.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().cast::<i8>().add(at));
            }
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = values;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,popcnt")]
fn with_avx2<W: Work>(work: W) -> W::Found {
    work.compute()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vpopcntdq,avx2,fma,popcnt")]
fn with_avx512<W: Work>(work: W) -> W::Found {
    work.compute()
}
