//! What a run takes from outside: arguments, standard input, parameters, results of code that
//! is not part of the program.

use std::collections::BTreeMap;

use logic::words::{UnknownId, Values, WordId, WordOp, Words};
use program::{FunctionId, InstId, Ty};

use crate::Stop;
use crate::arithmetic::width;
use crate::exec::Machine;
use crate::harness::Made;
use crate::library::numerals::{Number, Numbers};
use crate::passing::{MAX_PASSED, PassedOver};
use crate::streams::{Failure, FileId, Name, Stream};
use crate::unset::UnsetBytes;
use crate::value::{Bits, Value, mask};
use crate::world::Node;

/// One input of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// `argc`.
    ArgumentCount,
    /// A byte of a command-line argument, the program's name being argument 0.
    Argument {
        index: u32,
        byte: u32,
    },
    /// How many bytes standard input has.
    StdinLength,
    Stdin(u32),
    /// Whether an environment variable is set.
    IsSet(Name),
    Environment {
        variable: Name,
        byte: u32,
    },
    /// Whether a file that is looked for is not there.
    Absent(FileId),
    /// Whether it is a folder; what it holds are the names in it, line by line.
    IsFolder(FileId),
    /// How many bytes a file or connection gives.
    Length(Stream),
    /// A byte of it.
    Byte {
        stream: Stream,
        byte: u32,
    },
    /// Whether the n-th call that may fail so does, counted from 0; for what is short, the bytes
    /// that are left.
    Fails {
        what: Failure,
        nth: u32,
    },
    /// A byte that the n-th call of a function without a model left in memory it was handed.
    MadeUp {
        call: u32,
        byte: u32,
    },
    /// A machine-level parameter of the function the run starts in.
    Parameter(u32),
    /// Whether a parameter that the program compares with null is null.
    IsNull(u32),
    /// The n-th value behind a parameter.
    Pointee {
        parameter: u32,
        offset: u32,
    },
    /// The n-th result of code outside the program.
    Outside(u32),
    /// A byte nobody has set, of the n-th object.
    Unset {
        object: u32,
        byte: u32,
    },
    /// The n-th variable that is declared without a value.
    UnsetVariable(u32),
    /// The value a selector of a repair program has.
    Selector(u32),
    /// Which alternative the n-th evaluation of a site takes, zero being the original; the same
    /// at every evaluation where `instance` is 0.
    Choice {
        site: u32,
        instance: u32,
    },
    /// The value the n-th evaluation of a site has instead, counted from 1.
    Result {
        site: u32,
        instance: u32,
    },
}

/// Values of inputs; zero where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inputs(pub BTreeMap<Input, u128>);

/// How much input a run may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Command-line arguments, the program's name not counted.
    pub arguments: u32,
    /// Bytes of an argument.
    pub argument_bytes: u32,
    pub stdin_bytes: u32,
    /// Elements behind a pointer parameter.
    pub elements: u32,
    /// Results of code outside the program; one more ends the run.
    pub outside: u32,
    /// What nobody has set may hold anything, instead of ending the run where it decides.
    /// Pointers are not made up.
    pub unset_is_input: bool,
    /// There is always memory.
    pub allocations_succeed: bool,
    /// How much room texts have that a function was given, where the run starts in one that is
    /// called by nobody.
    pub harness: Option<Room>,
    /// Violations that do not end the run; those that are none last.
    pub passed: [Option<PassedOver>; MAX_PASSED],
    /// Runs go on behind violations, as far as it is said what the machine does.
    pub goes_on: bool,
}

/// The room that a text behind a pointer has which was there before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It ends with its last byte, and nothing lies behind that.
    Exact,
    /// It may be part of a larger buffer.
    Ample,
}

/// A string that may be longer than this is made only as long as it is used, and this room.
const LONG_STRING: u32 = 100;
const ROOM: u32 = 16;

/// Words and unknowns that outlive a run, so that runs of one search mean the same by them.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    pub words: Words,
    unknowns: BTreeMap<Input, (UnknownId, WordId)>,
    numbers: Numbers,
}

impl Shared {
    /// The inputs these values stand for; those of `before` where they say nothing.
    pub fn inputs_of(&self, values: &Values, before: &Inputs) -> Inputs {
        let mut inputs = before.clone();
        let given: BTreeMap<UnknownId, u128> = values.iter().collect();
        for (input, (unknown, _)) in &self.unknowns {
            if let Some(value) = given.get(unknown) {
                inputs.set(*input, *value);
            }
        }
        inputs
    }

    /// Puts texts in place of bytes that lie behind one another.
    pub fn replace(&self, inputs: &mut Inputs, texts: &[(Vec<UnknownId>, Vec<u8>)]) {
        let mut all: Vec<(Stream, usize, usize, &[u8])> = Vec::new();
        for (bytes, text) in texts {
            let of = |unknown: &UnknownId| {
                let mut all = self.unknowns.iter();
                let (input, _) = all.find(|(_, (known, _))| known == unknown)?;
                input.stream().and_then(|(stream, byte)| Some((stream, byte? as usize)))
            };
            let (Some((stream, from)), Some((last, to))) =
                (bytes.first().and_then(of), bytes.last().and_then(of))
            else {
                continue;
            };
            if stream == last && from + bytes.len() == to + 1 {
                all.push((stream, from, to + 1, text));
            }
        }
        // The last ones first, since those behind them move.
        all.sort();
        for (stream, from, to, text) in all.into_iter().rev() {
            let mut whole = inputs.bytes_of(stream);
            if to <= whole.len() {
                whole.splice(from..to, text.iter().copied());
                inputs.set_bytes(stream, &whole);
            }
        }
    }

    /// Numbers in text that have unknowns of their own.
    pub fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.numbers.values()
    }

    pub fn unknown_of(&self, input: Input) -> Option<UnknownId> {
        self.unknowns.get(&input).map(|(unknown, _)| *unknown)
    }
}

#[derive(Default)]
pub(crate) struct InputState {
    pub values: Inputs,
    /// Inputs follow from unknowns instead of being numbers.
    pub are_unknown: bool,
    pub unknowns: BTreeMap<Input, (UnknownId, WordId)>,
    pub numbers: Numbers,
    /// The functions whose results came from outside, one for each result.
    pub outside: Vec<FunctionId>,
    pub outside_limit: Option<u32>,
    /// The function of the library, or outside, that is running.
    pub called: Option<FunctionId>,
    pub n_unset: u32,
    pub unset_is_input: bool,
    pub allocations_succeed: bool,
    pub passed: [Option<PassedOver>; MAX_PASSED],
    /// The function the run starts in, where that is not `main`.
    pub entry: Option<FunctionId>,
    /// What was there before the run is made up as it is read, with so much room.
    pub harness: Option<Room>,
    pub made: Made,
    /// There is an object behind a parameter, which could be larger.
    pub has_objects: bool,
    /// Bytes of standard input, of a file and of a connection.
    pub stdin_limit: u32,
    /// Bytes of an environment variable.
    pub text_limit: u32,
    /// What was asked for, and where it is; 0 where it is not set.
    pub environment: BTreeMap<Vec<u8>, u64>,
    /// What the arguments of the command line are on this run.
    pub arguments: Vec<Vec<u8>>,
    /// Calls that may have failed, each with the function that was called, and where.
    pub failures: Vec<(Input, FunctionId, (FunctionId, InstId))>,
    pub n_failures: BTreeMap<Failure, u32>,
    /// Functions without a model, as they were called.
    pub made_up: Vec<FunctionId>,
    /// Those of them that give or take more than numbers.
    pub guessed: Vec<FunctionId>,
    /// Standard input as given, instead of bytes of [`Input::Stdin`].
    pub stdin: Option<Vec<u8>>,
    /// The files and variables there are, where all are known.
    pub given: Option<GivenWorld>,
}

/// Files and environment variables of a run of which everything is known.
#[derive(Clone, Debug, Default)]
pub struct GivenWorld {
    pub files: BTreeMap<Vec<u8>, Vec<u8>>,
    pub environment: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Inputs {
    pub fn get(&self, input: Input) -> u128 {
        self.0.get(&input).copied().unwrap_or(0)
    }

    pub fn set(&mut self, input: Input, value: u128) {
        self.0.insert(input, value);
    }
}

impl Machine<'_> {
    /// Says which files and environment variables there are, and that there are no others.
    pub fn give(&mut self, world: GivenWorld) {
        self.inputs.given = Some(world);
    }

    /// Runs `main` with these arguments and this standard input.
    pub fn run_main(&mut self, arguments: &[String], stdin: &[u8]) -> Result<Option<Value>, Stop> {
        self.inputs.stdin = Some(stdin.to_vec());
        let held = stdin.iter().map(|byte| Bits::known((*byte).into())).collect();
        self.world.nodes[0] = Node::Held(held);
        let mut addresses = Vec::new();
        for argument in std::iter::once("program").chain(arguments.iter().map(String::as_str)) {
            addresses.push(self.string(argument.as_bytes())?);
            self.inputs.arguments.push(argument.as_bytes().to_vec());
        }
        let arguments = self.main_arguments(&addresses, Bits::known(addresses.len() as u128))?;
        self.run_with("main", arguments)
    }

    /// Runs a function with inputs of which only these values are given; where `are_unknown`,
    /// what follows from them is recorded.
    pub fn run_unknown(
        &mut self,
        function: &str,
        values: &Inputs,
        limits: &Limits,
        are_unknown: bool,
    ) -> Result<Option<Value>, Stop> {
        self.inputs.values = values.clone();
        self.inputs.are_unknown = are_unknown;
        self.inputs.stdin_limit = limits.stdin_bytes;
        self.inputs.text_limit = limits.argument_bytes;
        self.inputs.outside_limit = Some(limits.outside);
        self.inputs.unset_is_input = limits.unset_is_input;
        self.inputs.allocations_succeed = limits.allocations_succeed;
        self.inputs.passed = limits.passed;
        if limits.goes_on {
            self.go_on();
        }
        if limits.unset_is_input {
            let mut unset = UnsetBytes::new(values, are_unknown);
            unset.adopt(&self.inputs.unknowns);
            self.memory.unset = Some(unset);
        }
        self.make_up_objects()?;
        let arguments = match function {
            "main" => self.unknown_arguments(limits)?,
            _ if limits.harness.is_some() => self.harnessed(function, limits)?,
            _ => self.unknown_parameters(function, limits)?,
        };
        self.run_with(function, arguments)
    }

    /// Goes on with the words of an earlier run.
    pub fn adopt(&mut self, shared: Shared) {
        self.memory.words = shared.words;
        self.inputs.unknowns = shared.unknowns;
        self.inputs.numbers = shared.numbers;
    }

    /// What another run can go on with.
    pub fn into_shared(self) -> Shared {
        let InputState { mut unknowns, numbers, .. } = self.inputs;
        unknowns.extend(self.memory.unset.into_iter().flat_map(UnsetBytes::into_unknowns));
        Shared { words: self.memory.words, unknowns, numbers }
    }

    /// The unknown of an input, made where it is asked for the first time.
    pub(crate) fn unknown(&mut self, input: Input, width: u32) -> WordId {
        if let Some((_, word)) = self.inputs.unknowns.get(&input)
            && self.memory.words.width(*word) == width
        {
            return *word;
        }
        let (unknown, word) = self.memory.words.unknown(width);
        self.inputs.unknowns.insert(input, (unknown, word));
        word
    }

    /// A value from outside.
    pub(crate) fn take_input(&mut self, input: Input, width: u32) -> Bits {
        let value = Bits::known(self.inputs.values.get(input) & mask(width));
        if !self.inputs.are_unknown {
            return value;
        }
        let word = self.unknown(input, width);
        value.with_word(Some(word))
    }

    /// As [`take_input`](Self::take_input), at most `limit`.
    pub(crate) fn take_limited(&mut self, input: Input, width: u32, limit: u32) -> Bits {
        let mut value = self.take_input(input, width);
        value.bits = value.bits.min(limit.into());
        if let Some(word) = value.word {
            let words = &mut self.memory.words;
            let limit = words.constant(width, limit.into());
            let within = words.binary(WordOp::UnsignedLe, word, limit);
            self.holds(within, crate::Why::Limit);
        }
        value
    }

    fn string(&mut self, bytes: &[u8]) -> Result<u64, Stop> {
        let address = self.memory.allocate(bytes.len() as u64 + 1, false)?;
        for (at, byte) in (address..).zip(bytes.iter().chain([&0])) {
            self.memory.store(at, 1, Bits::known(u128::from(*byte)))?;
        }
        Ok(address)
    }

    fn unknown_string(&mut self, length: u32, input: impl Fn(u32) -> Input) -> Result<u64, Stop> {
        let length = if length <= LONG_STRING { length } else { self.used(length, &input) };
        let address = self.string(&vec![0; length as usize])?;
        for byte in 0..length {
            let value = self.take_input(input(byte), 8);
            self.memory.store(address + u64::from(byte), 1, value)?;
        }
        Ok(address)
    }

    /// How much of a long string is made: what is given of it, and room where it may grow.
    fn used(&self, length: u32, input: &impl Fn(u32) -> Input) -> u32 {
        let given = |byte: &u32| self.inputs.values.get(input(*byte)) != 0;
        let used = (0..length).take_while(given).count() as u32;
        let room = if self.inputs.are_unknown { ROOM } else { 0 };
        length.min(used + room)
    }

    /// An environment variable: not set, or unknown text. Tests have those they are given.
    pub(crate) fn environment(&mut self, name: &[u8]) -> Result<u64, Stop> {
        if let Some(known) = self.inputs.environment.get(name) {
            return Ok(*known);
        }
        let variable = Name::of(name);
        let given = self.inputs.given.as_ref().map(|world| world.environment.get(name).cloned());
        let address = match given {
            Some(Some(value)) => self.string(&value)?,
            Some(None) => 0,
            None if self.is_possible(Input::IsSet(variable)) => {
                let byte = |byte| Input::Environment { variable, byte };
                self.unknown_string(self.inputs.text_limit, byte)?
            }
            None => 0,
        };
        self.inputs.environment.insert(name.to_vec(), address);
        Ok(address)
    }

    /// What may be so or not; the run depends on it.
    pub(crate) fn is_possible(&mut self, input: Input) -> bool {
        if self.inputs.stdin.is_some() {
            return false;
        }
        let value = self.take_limited(input, 8, 1);
        self.is_equal(value, 1)
    }

    /// `argc` and `argv`, as far as `main` takes them.
    fn main_arguments(&mut self, strings: &[u64], count: Bits) -> Result<Vec<Value>, Stop> {
        let table = self.memory.allocate(8 * (strings.len() as u64 + 1), false)?;
        for (at, address) in (table..).step_by(8).zip(strings.iter().chain([&0])) {
            self.memory.store(at, 8, Bits::known(u128::from(*address)))?;
        }
        let mut arguments = vec![count.into(), Value::known(u128::from(table))];
        arguments.truncate(self.main_parameters());
        Ok(arguments)
    }

    fn main_parameters(&self) -> usize {
        let mut functions = self.program.functions.iter();
        let main = functions.find(|f| &*f.name == "main" && f.body.is_some());
        main.map_or(0, |main| main.params.len())
    }

    fn unknown_arguments(&mut self, limits: &Limits) -> Result<Vec<Value>, Stop> {
        if self.main_parameters() == 0 {
            return Ok(Vec::new());
        }
        let mut extra = self.take_limited(Input::ArgumentCount, 32, limits.arguments);
        let n_given = self.pinned(extra) as u32;
        let mut addresses = vec![self.string(b"./program")?];
        self.inputs.arguments.push(b"program".to_vec());
        for index in 1..=n_given {
            let byte = |byte| Input::Argument { index, byte };
            addresses.push(self.unknown_string(limits.argument_bytes, byte)?);
            let bytes = (0..limits.argument_bytes).map(|at| self.inputs.values.get(byte(at)) as u8);
            self.inputs.arguments.push(bytes.take_while(|byte| *byte != 0).collect());
        }
        extra = Bits::known(u128::from(n_given) + 1);
        self.main_arguments(&addresses, extra)
    }

    /// The result of a function that is not part of the program.
    pub(crate) fn outside(&mut self, result: Ty) -> Result<Option<Value>, Stop> {
        if result == Ty::Void {
            return Ok(None);
        }
        let width = width(result)?;
        let input = self.next_outside()?;
        Ok(Some(self.take_input(input, width).into()))
    }

    /// The next result from outside; a program may ask for ever.
    pub(crate) fn next_outside(&mut self) -> Result<Input, Stop> {
        let index = self.inputs.outside.len() as u32;
        if self.inputs.outside_limit.is_some_and(|limit| index >= limit) {
            return Err(Stop::EndOfInput);
        }
        self.inputs.outside.extend(self.inputs.called);
        Ok(Input::Outside(index))
    }

    /// A variable that is declared without a value.
    pub(crate) fn unset_variable(&mut self, ty: Ty) -> Result<Bits, Stop> {
        let width = width(ty)?;
        if !self.inputs.unset_is_input || ty == Ty::Ptr {
            return Ok(Bits::unset(width));
        }
        let input = Input::UnsetVariable(self.inputs.n_unset);
        self.inputs.n_unset += 1;
        Ok(self.take_input(input, width))
    }

    /// Sets an element of a global array of `int`; where `are_unknown`, it becomes an input.
    pub fn set_selector(
        &mut self,
        global: &str,
        index: u32,
        value: u32,
        is_unknown: bool,
    ) -> Result<(), Stop> {
        let mut globals = self.program.globals.iter_enumerated();
        let found = globals.find(|(_, candidate)| &*candidate.name == global);
        let (id, _) = found.ok_or_else(|| Stop::Unsupported(format!("no object {global}")))?;
        let at = self.global(id) + 4 * u64::from(index);
        let mut bits = Bits::known(value.into());
        if is_unknown {
            let word = self.unknown(Input::Selector(index), 32);
            bits = bits.with_word(Some(word));
        }
        self.memory.store(at, 4, bits)
    }

    /// The function that runs, for messages.
    pub fn name_of(&self, function: FunctionId) -> &str {
        &self.program.functions[function].name
    }
}
