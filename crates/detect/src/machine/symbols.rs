//! Where each symbol of a path came from, and what may be concluded from it.

use base::IdVec;
use logic::SymbolId;
use program::LocId;

/// How far a symbol's value is up to the program's surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// Outside input, or an alternative a model marks `may`: any value can be had.
    Chosen,
    /// How often a loop has run. As good as chosen unless something unknown decided
    /// whether the loop went on; then [`SymbolKind::Unknown`].
    Iterations,
    /// A parameter, or memory, as the outermost function of the path found it: callers
    /// know more.
    Entry,
    /// A result nobody described.
    Unknown,
    /// What the program made of values that are known, in more steps than are followed. That
    /// it is tested does not say that both outcomes occur.
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolInfo {
    pub kind: SymbolKind,
    /// In C terms where there are some: `n`, `*p`, `atoi()`.
    pub name: Box<str>,
    /// Where it came about.
    pub loc: LocId,
}

#[derive(Clone, Debug, Default)]
pub struct Symbols {
    infos: IdVec<SymbolId, SymbolInfo>,
}

impl SymbolKind {
    /// Whether the value is neither computed nor up to the surroundings.
    pub fn is_unknown(self) -> bool {
        matches!(self, SymbolKind::Unknown | SymbolKind::Entry | SymbolKind::Lost)
    }
}

impl Symbols {
    /// Must be called once for every symbol made, in order.
    pub fn push(&mut self, info: SymbolInfo) -> SymbolId {
        self.infos.push(info)
    }

    pub fn count(&self) -> usize {
        self.infos.len()
    }

    pub fn get(&self, symbol: SymbolId) -> &SymbolInfo {
        &self.infos[symbol]
    }

    pub fn set_kind(&mut self, symbol: SymbolId, kind: SymbolKind) {
        self.infos[symbol].kind = kind;
    }
}
