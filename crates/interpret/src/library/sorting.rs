//! `qsort` and `bsearch`, which call back into the program.

use program::{Predicate, Ty};

use super::{Given, Known, pointer};
use crate::Stop;
use crate::arithmetic::compare;
use crate::constants::Target;
use crate::exec::{Arguments, Machine};
use crate::value::{Bits, Value};

/// An array that is sorted or searched.
struct Sorted {
    base: u64,
    count: u64,
    size: u64,
    comparator: u64,
    /// What the comparator gets as a third argument.
    context: Option<Bits>,
}

impl Machine<'_> {
    pub(crate) fn call_sorting(&mut self, name: &str, given: &Given) -> Known {
        match name {
            "qsort" | "qsort_r" => {
                let array = self.sorted(given, 0)?;
                let context = if name == "qsort_r" { Some(given.bits(4)?) } else { None };
                self.sort(&Sorted { context, ..array })?;
                Ok(Some(None))
            }
            "bsearch" => {
                let key = self.place(given, 0)?;
                let array = self.sorted(given, 1)?;
                let found = self.search(key, &array)?;
                pointer(found)
            }
            _ => Ok(None),
        }
    }

    /// Sorts pointers, of which the comparator gets the places.
    pub(crate) fn sort_pointers(
        &mut self,
        base: u64,
        count: u64,
        comparator: u64,
    ) -> Result<(), Stop> {
        self.sort(&Sorted { base, count, size: 8, comparator, context: None })
    }

    fn sorted(&mut self, given: &Given, first: usize) -> Result<Sorted, Stop> {
        let (base, count, size) =
            (given.bits(first)?, given.bits(first + 1)?, given.bits(first + 2)?);
        let (base, count) = (self.pinned(base) as u64, self.pinned(count) as u64);
        let (size, comparator) = (self.pinned(size) as u64, self.place(given, first + 3)?);
        Ok(Sorted { base, count, size, comparator, context: None })
    }

    /// Elements stay where they are until their order is known: the comparator sees the array.
    fn sort(&mut self, array: &Sorted) -> Result<(), Stop> {
        let total = array.count.checked_mul(array.size).ok_or(Stop::OutOfSteps)?;
        if array.count < 2 || array.size == 0 {
            return Ok(());
        }
        let copy = self.memory.allocate(total, false)?;
        self.memory.copy(copy, array.base, total)?;
        let order = self.merge_sorted(array, 0, array.count)?;
        // The comparator may have changed what it was shown.
        self.memory.copy(copy, array.base, total)?;
        for (at, element) in (array.base..).step_by(array.size as usize).zip(order) {
            self.memory.copy(at, copy + element * array.size, array.size)?;
        }
        self.memory.end(copy);
        Ok(())
    }

    /// The elements from `first` to before `end`, in order; equal ones as they are.
    fn merge_sorted(&mut self, array: &Sorted, first: u64, end: u64) -> Result<Vec<u64>, Stop> {
        if end - first < 2 {
            return Ok((first..end).collect());
        }
        let middle = first + (end - first) / 2;
        let left = self.merge_sorted(array, first, middle)?;
        let right = self.merge_sorted(array, middle, end)?;
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        let mut merged = Vec::new();
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let places = (array.base + a * array.size, array.base + b * array.size);
            let order = self.compared(array, places)?;
            let is_after = self.order_is(Predicate::SignedGt, order)?;
            merged.extend(if is_after { right.next() } else { left.next() });
        }
        merged.extend(left);
        merged.extend(right);
        Ok(merged)
    }

    fn search(&mut self, key: u64, array: &Sorted) -> Result<u64, Stop> {
        let (mut first, mut end) = (0, array.count);
        while first < end {
            let middle = first + (end - first) / 2;
            let at = array.base.wrapping_add(middle.wrapping_mul(array.size));
            let order = self.compared(array, (key, at))?;
            if self.order_is(Predicate::SignedLt, order)? {
                end = middle;
            } else if self.order_is(Predicate::SignedGt, order)? {
                first = middle + 1;
            } else {
                return Ok(at);
            }
        }
        Ok(0)
    }

    fn compared(&mut self, array: &Sorted, (a, b): (u64, u64)) -> Result<Bits, Stop> {
        let mut arguments = vec![Value::known(a.into()), Value::known(b.into())];
        arguments.extend(array.context.map(Value::from));
        let result = self.call_back(array.comparator, arguments)?;
        let bits = result.as_ref().and_then(Value::bits).filter(|bits| bits.is_known());
        bits.ok_or(Stop::Fault(crate::FaultKind::Uninitialised))
    }

    /// How a result compares with zero; the run depends on it.
    fn order_is(&mut self, predicate: Predicate, order: Bits) -> Result<bool, Stop> {
        let sides = (order, Bits::known(0));
        let result = compare(predicate, Ty::Int(32), sides.0, sides.1)?;
        let result = self.shadow_compare(predicate, Ty::Int(32), sides, result);
        Ok(self.is_true(result))
    }

    /// Calls a function of the program.
    pub(crate) fn call_back(
        &mut self,
        function: u64,
        values: Vec<Value>,
    ) -> Result<Option<Value>, Stop> {
        self.spend()?;
        let target = Target::function(self.program, function.into())?;
        let at = self.at;
        let tys = vec![Ty::Ptr; values.len()];
        let arguments = Arguments { values, tys: &tys, ..Arguments::default() };
        let result = self.call_function(target, arguments);
        self.at = at;
        result
    }
}
