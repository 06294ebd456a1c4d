//! Programs with every odd construct of C mean the same after import as they mean to the
//! machine.

mod common;

/// Compares a program of the folder `programs`.
fn agrees(name: &str, text: &str) {
    let expected = common::native(text, name).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert!(expected.len() > 5, "{name} says what it computes");
    let program = common::import(text, name);
    match common::interpreted(&program) {
        Ok(found) => assert_eq!(found, expected, "{name}"),
        Err((stop, output)) => {
            let same = output.iter().zip(&expected).take_while(|(a, b)| a == b).count();
            panic!("{name}: {stop:?} after {} lines, {same} of them right", output.len());
        }
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let name = concat!(stringify!($name), ".c");
            agrees(name, include_str!(concat!("programs/", stringify!($name), ".c")));
        })*
    };
}

programs! {
    aggregates arithmetic atomics bit_fields calendar control conversions floats formats
    initialisers jumps macros maths memory numbers options scanning sorting tokens varargs wide
}
