//! What `firstfault spec new` and `xtask new-fault` write: a rule that already works, to be
//! changed into the one that is wanted.

/// A file of a new rule, by path inside its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    pub path: &'static str,
    pub text: String,
}

/// The files of a new rule.
pub fn new_fault(id: &str) -> Vec<NewFile> {
    let file = |path, template: &str| NewFile { path, text: template.replace("RULE", id) };
    vec![file("spec.fault", SPEC), file("doc.md", DOC), file("fixtures/basic.c", FIXTURE)]
}

const SPEC: &str = r#"# See docs/specification-language.md; `firstfault spec show` prints what each line became.
fault RULE
title "a resource is used after it was closed"
severity error
cwe 672

vars ptr r;

observe
  at $resource_use(r)$      require State(r) != closed

contribute
  at $r = resource_open()$  State(r) := open
  at $resource_close(r)$    State(r) := closed

error-state State(r) = closed
message "{r} is used after it was closed"
"#;

const DOC: &str = r#"# RULE

## What it finds
A resource that is used after it was closed.

## Why it is a fault
What the resource refers to is gone.

## Example
```c
struct resource *resource_open(void);
void resource_use(struct resource *);
void resource_close(struct resource *);

void late_bad(void) {
  struct resource *r = resource_open();
  resource_close(r);
  resource_use(r); //~ fault[RULE]
}
```

## Fix
Use it before it is closed.

## Known limits
None known.
"#;

const FIXTURE: &str = r#"//@ flags: --rule RULE
struct resource;
struct resource *resource_open(void);
void resource_use(struct resource *);
void resource_close(struct resource *);

void late_bad(void) {
  struct resource *r = resource_open();
  resource_close(r); //~ step(late)
  resource_use(r);   //~ fault(late)[RULE]
}

void in_order_ok(void) {
  struct resource *r = resource_open();
  resource_use(r); //~ ok[RULE]
  resource_close(r);
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_rule_is_correct_as_it_is() {
        let files = new_fault("my-rule");
        let (spec, diagnostics) = crate::check::check(&files[0].text);
        assert_eq!(diagnostics, Vec::new());
        assert_eq!(spec.id, "my-rule");
        assert!(files.iter().all(|file| !file.text.contains("RULE")));
    }
}
