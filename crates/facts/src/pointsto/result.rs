//! The solved points-to relation: cells numbered by object and offset, equal sets stored
//! once.

use base::{IdVec, define_id};
use program::{FunctionId, InstId, Operand, Program, TypeId};
use rustc_hash::FxHashMap;

use super::alias::{Aliases, ClassId};
use super::calls::Calls;
use super::generate::{NO_NODE, ValueNodes};
use super::graph::{Graph, Node};
use super::layout::{Layout, Types};
use super::object::{Object, ObjectId, ObjectKind};
use super::shift::{Shift, Target};
use crate::set::SparseSet;

define_id!(/// A part of an object. Cells of one object are neighbours, ordered by offset.
    CellId);
define_id!(/// An interned points-to set; 0 is the empty one.
    SetId);

/// The only cell of unknown memory, which is the first object there is.
pub const UNKNOWN_CELL: CellId = CellId(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub object: ObjectId,
    /// Canonical: elements of an array are its first. None for a pointer that may point
    /// anywhere in the object.
    pub offset: Option<i64>,
}

/// A call through a pointer, or a call a library function makes on our behalf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    pub caller: FunctionId,
    pub inst: InstId,
    /// Sorted.
    pub targets: Vec<FunctionId>,
    /// May go to code outside the program.
    pub is_open: bool,
    pub is_callback: bool,
    pub is_thread: bool,
}

/// Where pointers point, over the whole program.
#[derive(Clone, Debug, Default)]
pub struct PointsTo {
    pub objects: IdVec<ObjectId, Object>,
    pub cells: IdVec<CellId, Cell>,
    /// The first cell of each object, and the end.
    first_cell: Vec<u32>,
    /// The size of an element, for objects that are arrays as a whole.
    element_sizes: Vec<i64>,
    sets: IdVec<SetId, SparseSet>,
    insts: IdVec<FunctionId, Vec<SetId>>,
    params: IdVec<FunctionId, Vec<SetId>>,
    results: IdVec<FunctionId, SetId>,
    constants: Vec<SetId>,
    /// What each cell may hold.
    contents: IdVec<CellId, SetId>,
    pub sites: Vec<CallSite>,
    /// Functions that code outside the program may call.
    pub entered: Vec<bool>,
    object_of: FxHashMap<ObjectKind, ObjectId>,
    /// What pointers to each type from outside lead to.
    pools: FxHashMap<TypeId, SetId>,
    aliases: Aliases,
}

impl PointsTo {
    /// Cells a value may point to. Empty for null, integers and pointers never set. Memory
    /// from outside stands for escaped objects as well; see [`with_aliases`](Self::with_aliases).
    pub fn of(&self, function: FunctionId, operand: Operand) -> &SparseSet {
        &self.sets[self.set_of(function, operand)]
    }

    /// The interned set of a value.
    pub fn set_of(&self, function: FunctionId, operand: Operand) -> SetId {
        match operand {
            Operand::Inst(inst) => {
                self.insts[function].get(inst.0 as usize).copied().unwrap_or(SetId(0))
            }
            Operand::Param(index) => {
                self.params[function].get(index as usize).copied().unwrap_or(SetId(0))
            }
            Operand::Const(id) => self.constants.get(id.0 as usize).copied().unwrap_or(SetId(0)),
        }
    }

    pub fn set(&self, id: SetId) -> &SparseSet {
        &self.sets[id]
    }

    /// What a call of the function may return.
    pub fn returned(&self, function: FunctionId) -> &SparseSet {
        &self.sets[self.results[function]]
    }

    /// What a cell may hold.
    pub fn contents(&self, cell: CellId) -> &SparseSet {
        &self.sets[self.contents[cell]]
    }

    pub fn cells_of(&self, object: ObjectId) -> std::ops::Range<u32> {
        self.first_cell[object.0 as usize]..self.first_cell[object.0 as usize + 1]
    }

    pub fn object_named(&self, kind: ObjectKind) -> Option<ObjectId> {
        self.object_of.get(&kind).copied()
    }

    /// Objects a set of cells belongs to, each once, sorted.
    pub fn objects_in(&self, cells: &SparseSet) -> Vec<ObjectId> {
        let mut objects: Vec<ObjectId> =
            cells.iter().map(|cell| self.cells[CellId(cell)].object).collect();
        objects.dedup();
        objects
    }

    /// The classes of escaped cells that a set of cells touches.
    pub(crate) fn classes(&self, cells: &SparseSet) -> SparseSet {
        self.aliases.classes(cells)
    }

    /// The classes with cells that may be the same memory as a cell of this class, which is
    /// one of [`classes`](Self::classes).
    pub(crate) fn classes_met(&self, class: u32) -> &SparseSet {
        self.aliases.meets(ClassId(class))
    }

    /// The cells, and for those of memory from outside all escaped cells they may be.
    pub fn with_aliases(&self, cells: &SparseSet) -> SparseSet {
        let mut all = cells.clone();
        self.aliases.add_to(&mut all);
        all
    }

    /// The cells an access of `size` bytes (none where not known) through a pointer to
    /// `cells` may touch. As in points-to sets, memory from outside stands for escaped
    /// objects as well.
    pub fn touched(&self, cells: &SparseSet, size: Option<u64>) -> SparseSet {
        let mut touched = SparseSet::new();
        for id in cells.iter() {
            let Cell { object, offset } = self.cells[CellId(id)];
            let all = self.cells_of(object);
            let Some(start) = offset else {
                touched.insert_range(all.start, all.end);
                continue;
            };
            touched.insert(id);
            let element = self.element_sizes[object.0 as usize];
            let passes_element =
                |size: u64| start.saturating_add_unsigned(size) > element && start != 0;
            if element > 0 && size.is_none_or(passes_element) {
                // It may go on in the next element, which is this one.
                touched.insert_range(all.start, all.end);
                continue;
            }
            let end = size.map_or(i64::MAX, |size| start.saturating_add_unsigned(size));
            let mut next = id + 1;
            while next < all.end {
                match self.cells[CellId(next)].offset {
                    Some(at) if at < end => touched.insert(next),
                    Some(_) => break,
                    None => false,
                };
                next += 1;
            }
        }
        touched
    }

    /// Where arithmetic on pointers to `cells` leads.
    pub fn shifted(&self, types: &Types, cells: &SparseSet, shift: &Shift) -> SparseSet {
        let mut shifted = SparseSet::new();
        let pooled = self.shift_into(types, cells, shift, &mut shifted);
        // Memory from outside used as a record is any such memory. What in that pool is not
        // such a record itself is unknown memory, and stays so.
        if let Some(ty) = pooled {
            let in_pool = match self.pools.get(&ty) {
                Some(&pool) => self.shift_into(types, &self.sets[pool], shift, &mut shifted),
                None => pooled,
            };
            if in_pool.is_some() {
                shifted.insert(UNKNOWN_CELL.0);
            }
        }
        shifted
    }

    /// Adds where the arithmetic leads from each of the cells; the type of record, if some
    /// of them are memory from outside that is used as one.
    fn shift_into(
        &self,
        types: &Types,
        cells: &SparseSet,
        shift: &Shift,
        shifted: &mut SparseSet,
    ) -> Option<TypeId> {
        let mut pooled = None;
        for id in cells.iter() {
            let Cell { object, offset } = self.cells[CellId(id)];
            let known = &self.objects[object];
            let target = match offset.map(|offset| shift.target(types, known, offset)) {
                Some(Target::Nowhere) => continue,
                Some(Target::Pool(ty)) => {
                    pooled = Some(ty);
                    continue;
                }
                Some(Target::At(target)) => types
                    .canonical(known.layout, target, known.size)
                    .and_then(|target| self.cell_at(object, target)),
                Some(Target::Anywhere) | None => None,
            };
            match target {
                Some(cell) => drop(shifted.insert(cell.0)),
                None => {
                    let all = self.cells_of(object);
                    shifted.insert_range(all.start, all.end);
                }
            }
        }
        pooled
    }

    /// The cell at a canonical offset, if any pointer leads there.
    pub fn cell_at(&self, object: ObjectId, offset: i64) -> Option<CellId> {
        let all = self.cells_of(object);
        let cells = &self.cells.as_slice()[all.start as usize..all.end as usize];
        // The cell that may be anywhere comes last.
        let key = |cell: &Cell| cell.offset.unwrap_or(i64::MAX);
        let at = cells.binary_search_by_key(&offset, key).ok()?;
        Some(CellId(all.start + at as u32))
    }

    pub fn n_sets(&self) -> usize {
        self.sets.len()
    }
}

/// Numbers cells anew and interns the sets.
pub(super) fn freeze(
    program: &Program,
    mut graph: Graph,
    calls: Calls,
    values: ValueNodes,
) -> PointsTo {
    let mut result = PointsTo { object_of: graph.object_of.clone(), ..PointsTo::default() };
    let mut new_number = vec![0u32; graph.places.len()];
    for (object, cells) in graph.objects.iter().enumerate() {
        result.first_cell.push(result.cells.len() as u32);
        result.objects.push(cells.object.clone());
        result.element_sizes.push(match cells.object.layout {
            Layout::Array(ty) => graph.types.size(ty) as i64,
            Layout::Type(ty) => match graph.types.plain_ctype(ty) {
                program::CType::Array { element, .. } => graph.types.size(*element) as i64,
                _ => 0,
            },
            Layout::Whole | Layout::Bytes => 0,
        });
        let object = ObjectId(object as u32);
        for &(offset, location) in &cells.at {
            new_number[location as usize] =
                result.cells.push(Cell { object, offset: Some(offset) }).0;
        }
        if let Some(location) = cells.anywhere {
            new_number[location as usize] = result.cells.push(Cell { object, offset: None }).0;
        }
    }
    result.first_cell.push(result.cells.len() as u32);
    result.aliases = Aliases::new(graph.types, &graph.objects);
    let mut interner = Interner::new(new_number, graph.parent.len());
    let mut reads = vec![NO_NODE; result.cells.len()];
    for (location, place) in graph.places.iter().enumerate() {
        reads[interner.new_number[location] as usize] = place.read;
    }
    result.contents = reads.into_iter().map(|node| interner.set_of(&mut graph, node)).collect();
    let mut sets_of =
        |nodes: &[Node]| nodes.iter().map(|&node| interner.set_of(&mut graph, node)).collect();
    result.insts = values.insts.iter().map(|nodes| sets_of(nodes)).collect();
    result.constants = sets_of(&values.constants);
    result.params = calls.interfaces.iter().map(|known| sets_of(&known.params)).collect();
    result.results = calls.interfaces.iter().map(|known| sets_of(&[known.result])[0]).collect();
    let mut pools: Vec<(TypeId, Node)> =
        graph.pools.iter().map(|(&ty, &node)| (ty, node)).collect();
    pools.sort_unstable_by_key(|(ty, _)| *ty);
    result.pools =
        pools.into_iter().map(|(ty, node)| (ty, interner.set_of(&mut graph, node))).collect();
    result.sets = interner.sets;
    result.sites = calls.sites.into_iter().map(call_site).collect();
    result.entered = calls.is_entered;
    debug_assert_eq!(result.params.len(), program.functions.len());
    result
}

fn call_site(site: super::calls::Site) -> CallSite {
    let mut targets = site.targets;
    targets.sort_unstable();
    CallSite {
        caller: site.caller,
        inst: site.inst,
        targets,
        is_open: site.is_open,
        is_callback: site.is_callback,
        is_thread: site.is_thread,
    }
}

struct Interner {
    new_number: Vec<u32>,
    of_node: Vec<SetId>,
    by_value: FxHashMap<SparseSet, SetId>,
    sets: IdVec<SetId, SparseSet>,
}

const UNSET: SetId = SetId(u32::MAX);

impl Interner {
    fn new(new_number: Vec<u32>, n_nodes: usize) -> Self {
        let mut interner = Self {
            new_number,
            of_node: vec![UNSET; n_nodes],
            by_value: FxHashMap::default(),
            sets: IdVec::new(),
        };
        interner.intern(SparseSet::new());
        interner
    }

    fn intern(&mut self, set: SparseSet) -> SetId {
        if let Some(&id) = self.by_value.get(&set) {
            return id;
        }
        let id = self.sets.push(set.clone());
        self.by_value.insert(set, id);
        id
    }

    fn set_of(&mut self, graph: &mut Graph, node: Node) -> SetId {
        if node == NO_NODE {
            return SetId(0);
        }
        let node = graph.find(node) as usize;
        if self.of_node[node] == UNSET {
            let mut members: Vec<u32> = graph.points_to[node]
                .iter()
                .map(|location| self.new_number[location as usize])
                .collect();
            members.sort_unstable();
            self.of_node[node] = self.intern(members.into_iter().collect());
        }
        self.of_node[node]
    }
}
