//! Allocation of a program's temporaries to as few places as possible. A place is reused after its temporary was
//! read for the last time (linear scan).

use super::program::{Clv, InsertionProgram, SweepProgram};

/// The temporary that a step of a program makes, and those that it reads.
type Step = (Option<u32>, [Option<u32>; 3]);

/// The place of each temporary.
#[derive(Debug, Default)]
pub struct Places {
    place_of: Vec<u32>,
    count: usize,
}

impl Places {
    fn assign(steps: &[Step]) -> Self {
        let num_temporaries = steps.iter().filter(|(makes, _)| makes.is_some()).count();
        let mut last_read = vec![None; num_temporaries];
        for (i, (_, reads)) in steps.iter().enumerate() {
            reads.iter().flatten().for_each(|&read| last_read[read as usize] = Some(i));
        }
        let mut places = Places { place_of: vec![0; num_temporaries], count: 0 };
        let mut free = Vec::new();
        for (i, (makes, reads)) in steps.iter().enumerate() {
            if let Some(made) = *makes {
                let place = free.pop().unwrap_or_else(|| {
                    places.count += 1;
                    places.count as u32 - 1
                });
                places.place_of[made as usize] = place;
                if last_read[made as usize].is_none() {
                    free.push(place);
                }
            }
            for &read in reads.iter().flatten() {
                if last_read[read as usize] == Some(i) {
                    last_read[read as usize] = None;
                    free.push(places.place_of[read as usize]);
                }
            }
        }
        places
    }

    /// Places of the temporaries of an insertion program.
    pub fn of_insertions(program: &InsertionProgram) -> Self {
        let steps: Vec<Step> =
            program.steps.iter().map(|step| (step.makes(), step.reads())).collect();
        Self::assign(&steps)
    }

    /// Places of the temporaries of a sweep, by partition of the program.
    pub fn of_sweep(program: &SweepProgram) -> Vec<Self> {
        let mut steps: Vec<Vec<Step>> = vec![Vec::new(); program.partitions.len()];
        for job in program.jobs.iter().chain(&program.finish) {
            for operation in &program.operations[job.operations.clone()] {
                let [a, b] = operation.children.map(number);
                steps[job.member].push((number(operation.parent), [a, b, None]));
            }
            let [a, b] = job.ends.map(number);
            steps[job.member].push((None, [a, b, None]));
        }
        steps.iter().map(|steps| Self::assign(steps)).collect()
    }

    /// Number of places.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The place of each temporary, numbered from `first`.
    pub fn slots_from(self, first: u32) -> Vec<u32> {
        self.place_of.into_iter().map(|place| first + place).collect()
    }

    /// Place of a temporary.
    pub fn of(&self, temporary: u32) -> u32 {
        self.place_of[temporary as usize]
    }
}

fn number(clv: Clv) -> Option<u32> {
    match clv {
        Clv::Temporary(number) => Some(number),
        Clv::Tip(_) | Clv::Stored(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_again_after_its_last_reading() {
        // A chain needs two places; the temporary that is read at its end occupies a third.
        let read = |a: u32| [Some(a), None, None];
        let mut steps: Vec<Step> = vec![(Some(0), [None; 3]), (Some(1), [None; 3])];
        steps.extend((2..9).map(|i| (Some(i), read(i - 1))));
        steps.push((None, [Some(8), Some(0), None]));
        let places = Places::assign(&steps);
        assert_eq!(places.count(), 3);
        for i in 1..8 {
            assert_ne!(places.of(i), places.of(i + 1));
            assert_ne!(places.of(i), places.of(0));
        }
    }

    #[test]
    fn what_is_never_read_keeps_no_place() {
        let steps: Vec<Step> = (0..5).map(|i| (Some(i), [None; 3])).collect();
        assert_eq!(Places::assign(&steps).count(), 1);
    }
}
