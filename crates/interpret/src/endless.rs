//! Loops that never end: a round that starts with all that the program can read as it was when
//! an earlier one did.

use std::hash::{Hash, Hasher};

use program::BlockId;
use rustc_hash::{FxHashMap, FxHasher};

use crate::exec::{Frame, Machine};
use crate::record::Point;
use crate::value::Value;
use crate::{FaultKind, Stop};

/// Rounds of one call before they are compared.
const FIRST: u32 = 512;
/// So many rounds have to start alike: what the library keeps to itself is not compared.
const ALIKE: u32 = 64;

/// The round of a loop that later ones are compared with.
#[derive(Default)]
pub(crate) struct Round {
    state: (u64, u64, u64),
    n_alike: u32,
}

pub(crate) type Rounds = FxHashMap<BlockId, Round>;

impl<'p> Machine<'p> {
    /// Whether the loop that control starts again will do so for ever.
    pub(crate) fn check_round(
        &mut self,
        frame: &mut Frame<'p>,
        from: BlockId,
        to: BlockId,
    ) -> Result<(), Stop> {
        let n_rounds = frame.counts[to];
        let Some(watch) = self.notes.watch.filter(|_| n_rounds >= FIRST) else { return Ok(()) };
        let Some(live) = watch.liveness(frame.id, frame.body).read_again(from, to) else {
            return Ok(());
        };
        let mut hasher = FxHasher::default();
        for inst in live {
            match &frame.values[*inst] {
                Value::Bits(bits) => (bits.bits, bits.unset).hash(&mut hasher),
                // What is not a number is not compared.
                Value::Parts(_) => return Ok(()),
            }
        }
        let state = (hasher.finish(), self.memory.n_changes, self.progress());
        let known = frame.rounds.entry(to).or_default();
        if known.state == state {
            known.n_alike += 1;
        }
        if known.n_alike >= ALIKE {
            self.stopped_at.get_or_insert((frame.id, Point::End(to)));
            return Err(Stop::Fault(FaultKind::Endless));
        }
        if n_rounds.is_power_of_two() || known.state == Default::default() {
            *known = Round { state, n_alike: 0 };
            self.memory.mark_changes();
        }
        Ok(())
    }

    /// Grows with all that a run takes from outside.
    fn progress(&self) -> u64 {
        let read: u64 = self.world.open.iter().map(|open| open.at).sum();
        let opened = (self.world.open.len() + self.world.seen.len()) as u64;
        read + opened + self.inputs.outside.len() as u64 + self.inputs.made_up.len() as u64
    }
}
