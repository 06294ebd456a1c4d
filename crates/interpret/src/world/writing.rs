//! Bytes that are written, and kept where they can be read again.

use super::{Handle, Node, errno};
use crate::Stop;
use crate::exec::Machine;
use crate::streams::Failure;
use crate::value::Bits;

/// More output than this ends the run.
const MAX_OUTPUT: usize = 1 << 22;
/// So does more in one file.
const MAX_HELD: usize = 1 << 20;

impl Machine<'_> {
    /// Writes to an open file; whether it could be.
    pub(crate) fn write(&mut self, text: &[Bits], handle: Handle) -> Result<bool, Stop> {
        let Some(open) = self.world.open.get(handle.description).filter(|open| open.can_write)
        else {
            self.mark_failed(handle)?;
            return Ok(false);
        };
        if open.is_two_way {
            return Ok(true);
        }
        let (node, mut at) = (open.node, open.at);
        if let Node::Output = self.world.nodes[node] {
            if self.stdout.len() + text.len() > MAX_OUTPUT {
                return Err(Stop::OutOfSteps);
            }
            self.stdout.extend(text.iter().map(|byte| byte.bits as u8));
            return Ok(true);
        }
        if matches!(self.world.nodes[node], Node::Nothing | Node::Endless { .. }) {
            return Ok(true);
        }
        let appends = open.appends;
        let held = self.held(node)?;
        if appends {
            at = held.len() as u64;
        }
        let start = usize::try_from(at).map_err(|_| Stop::OutOfSteps)?;
        let end = start.saturating_add(text.len());
        if end > MAX_HELD {
            return Err(Stop::OutOfSteps);
        }
        if held.len() < end {
            held.resize(end, Bits::known(0));
        }
        held[start..end].copy_from_slice(text);
        if let Some(file) = self.buffered(handle) {
            file.pushed.clear();
        }
        if let Some(open) = self.description(handle) {
            open.at = end as u64;
        }
        Ok(true)
    }

    /// As [`write`](Self::write), where it may fail.
    pub(crate) fn try_write(&mut self, text: &[Bits], handle: Handle) -> Result<bool, Stop> {
        if self.fails(Failure::Write) {
            self.mark_failed(handle)?;
            self.set_errno(errno::EIO)?;
            return Ok(false);
        }
        self.write(text, handle)
    }

    /// What a file holds, to be changed: from here on it is no input any more.
    pub(crate) fn held(&mut self, node: usize) -> Result<&mut Vec<Bits>, Stop> {
        if !matches!(self.world.nodes[node], Node::Held(_)) {
            let length = self.length_of(node);
            let length = self.pinned(length) as u64;
            let mut bytes = Vec::new();
            for at in 0..length {
                self.spend()?;
                bytes.extend(self.byte_at(node, at)?);
            }
            self.world.nodes[node] = Node::Held(bytes);
        }
        match &mut self.world.nodes[node] {
            Node::Held(bytes) => Ok(bytes),
            _ => Err(Stop::Unsupported("a file that cannot be written".to_owned())),
        }
    }

    pub(crate) fn truncate(&mut self, node: usize, length: u64) -> Result<(), Stop> {
        if matches!(self.world.nodes[node], Node::Output | Node::Nothing | Node::Endless { .. }) {
            return Ok(());
        }
        if length == 0 {
            self.world.nodes[node] = Node::Held(Vec::new());
            return Ok(());
        }
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_HELD);
        let length = length.ok_or(Stop::OutOfSteps)?;
        self.held(node)?.resize(length, Bits::known(0));
        Ok(())
    }

    pub(crate) fn mark_failed(&mut self, handle: Handle) -> Result<(), Stop> {
        if let Some(file) = self.buffered(handle) {
            file.has_failed = true;
        }
        self.set_errno(errno::EBADF)
    }

    /// Where a stream writes to memory of the program, the program gets to see it.
    pub(crate) fn tell_memory(&mut self, handle: Handle) -> Result<(), Stop> {
        let Some((address_at, size_at)) = self.buffered(handle).and_then(|file| file.told_at)
        else {
            return Ok(());
        };
        let Some(node) = self.description(handle).map(|open| open.node) else { return Ok(()) };
        let bytes = self.held(node)?.clone();
        let old = self.memory.load_set(address_at, 8)?.bits as u64;
        let address = self.memory.allocate(bytes.len() as u64 + 1, true)?;
        for (at, byte) in (address..).zip(bytes.iter().chain([&Bits::known(0)])) {
            self.memory.store(at, 1, *byte)?;
        }
        if old != 0 {
            self.memory.release(old)?;
        }
        self.memory.store(address_at, 8, Bits::known(address.into()))?;
        self.memory.store(size_at, 8, Bits::known(bytes.len() as u128))
    }
}
