//! The HTML report in a real browser: it shows everything, can be walked through by keys, and
//! does nothing the source text asks for.

use findings::{Fault, Findings};
use report::sources::Sources;
use report::{Format, Options};
use tempfile::TempDir;

use crate::browser::Browser;
use crate::support::{everything, render, rules};

fn opened(html: &str) -> (Browser, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    std::fs::write(&page, html).unwrap();
    (Browser::open(&page), folder)
}

/// For people who want to look: the page as it is now, where a folder for it is named.
fn look(browser: &mut Browser, name: &str) {
    if let Some(folder) = std::env::var_os("FIRSTFAULT_SCREENSHOTS") {
        let path = std::path::Path::new(&folder).join(format!("{name}.png.base64"));
        std::fs::write(path, browser.screenshot()).unwrap();
    }
}

#[track_caller]
fn quiet(browser: &Browser) {
    assert_eq!(browser.complaints, [""; 0]);
    assert_eq!(browser.requests, [""; 0]);
}

const DETAIL: &str = "document.getElementById('detail').innerText";
const SHOWN: &str =
    "[...document.querySelectorAll('#list .entry')].map(e => e.dataset.id).join(' ')";
const STEP: &str = "document.querySelector('.stepper .count').textContent";

#[test]
fn the_page_is_walked_through() {
    let (mut browser, _folder) = opened(&render(&everything(), Format::Html));
    assert_eq!(browser.text(SHOWN), "F1 F2 F3 B1 S1 C1 R1 R2 A1 K1 D1 M1 N1");
    assert!(browser.text(DETAIL).contains("fix these first"));
    look(&mut browser, "summary");

    // A click on a node of the graph opens the path of its fault.
    browser.click(".graph .node[data-id=F1]");
    let detail = browser.text(DETAIL);
    assert!(detail.contains("*p was freed before"), "{detail}");
    assert!(detail.contains("fix this first: 1 more fault goes away"), "{detail}");
    assert_eq!(browser.text(STEP), "step 4 of 4");
    let here = "document.querySelector('.view .here .number').textContent";
    assert_eq!(browser.text(here), "21");

    look(&mut browser, "fault");

    // The keyboard steps back and forth, within the path and between paths.
    browser.press("ArrowLeft");
    assert_eq!(browser.text(STEP), "step 3 of 4");
    assert_eq!(browser.text(here), "14");
    browser.press("p");
    browser.press("p");
    browser.press("p");
    assert_eq!(browser.text(STEP), "step 1 of 4");
    browser.press("ArrowRight");
    assert_eq!(browser.text(STEP), "step 2 of 4");
    browser.press("]");
    assert_eq!(browser.text(STEP), "step 2 of 2");
    browser.press("j");
    assert_eq!(browser.text("document.querySelector('.selected').dataset.id"), "F2");

    // The repair of F2 is a diff, its place in the source is marked.
    let detail = browser.text(DETAIL);
    assert!(detail.contains("the bound is one too large") || detail.contains("repair 1"));
    let diff = "[...document.querySelectorAll('.diff .added')].map(e => e.innerText).join()";
    assert!(browser.text(diff).contains("if (n < 8)"));

    // Beliefs show both sides beside each other.
    browser.evaluate("open('B1')");
    let sides = "[...document.querySelectorAll('.beside > section')].map(s => \
                 s.querySelectorAll('figure').length).join(' ')";
    assert_eq!(browser.text(sides), "2 2");
    look(&mut browser, "belief");
    // A race shows two accesses with their stacks.
    browser.evaluate("open('C1')");
    let stacks = "[...document.querySelectorAll('.stack')].map(s => s.children.length).join(' ')";
    assert_eq!(browser.text(stacks), "1 2");
    look(&mut browser, "race");
    browser.click("#theme");
    browser.evaluate("open('R1')");
    look(&mut browser, "repair-other-theme");
    for id in "F3 S1 R1 R2 A1 K1 D1 M1 N1".split(' ') {
        browser.evaluate(&format!("open('{id}')"));
        assert!(browser.text(DETAIL).contains(id), "{id}");
    }
    quiet(&browser);
}

#[test]
fn search_and_filters_narrow_the_list() {
    let (mut browser, _folder) = opened(&render(&everything(), Format::Html));
    browser.press("/");
    browser.type_text("pool_take checked");
    assert_eq!(browser.text(SHOWN), "B1");
    assert_eq!(browser.text("document.getElementById('shown').textContent"), "1 of 13 entries");
    browser.evaluate("byId('search').value = ''; byId('search').dispatchEvent(new Event('input'))");
    browser.press("Escape");
    browser.click("#tabs [data-kind=fault]");
    assert_eq!(browser.text(SHOWN), "F1 F2 F3");
    browser.click("#severities .error");
    assert_eq!(browser.text(SHOWN), "F2 F3");
    browser.evaluate(
        "byId('rule').value = 'buffer-overflow'; byId('rule').dispatchEvent(new Event('change'))",
    );
    assert_eq!(browser.text(SHOWN), "F2");
    browser.press("g");
    assert!(browser.text(DETAIL).contains("by rule"));
    quiet(&browser);
}

/// Text that would like to be a program.
const HOSTILE: &str = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1>\
                       <!--\"'`${window.owned=1}";

#[test]
fn hostile_text_is_shown_and_never_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = b"int a; /* ".to_vec();
    source.extend(HOSTILE.as_bytes());
    source.extend(b" \x00 \xff\xfe */\nint b; // ");
    source.extend("x".repeat(1 << 20).as_bytes());
    std::fs::write(folder.path().join("<b>.c"), source).unwrap();
    let example = everything().faults.remove(0);
    let mut fault = Fault { message: HOSTILE.to_owned(), rule: HOSTILE.to_owned(), ..example };
    (fault.place.file, fault.place.line) = ("<b>.c".to_owned(), 1);
    for step in fault.segments.iter_mut().flat_map(|segment| &mut segment.steps) {
        (step.place.file, step.place.line) = ("<b>.c".to_owned(), 2);
        step.note = format!("{HOSTILE}\u{0}\u{202e}");
    }
    let findings = Findings { faults: vec![fault], ..Findings::new() };
    let mut sources = Sources::new(folder.path());
    let html = report::render(&findings, Format::Html, &mut sources, &rules(), Options::default());
    assert!(html.len() < 200_000, "a long line is cut");
    let (mut browser, _folder) = opened(&html);
    browser.press("j");
    browser.press("ArrowLeft");
    assert_eq!(browser.evaluate("window.owned === undefined"), true);
    assert_eq!(browser.text("document.querySelector('h2').textContent"), HOSTILE);
    let shown = browser.text(DETAIL);
    assert!(shown.contains("<img src=x onerror=window.owned=1>"), "{shown}");
    assert_eq!(browser.evaluate("document.querySelectorAll('img, script').length"), 2);
    quiet(&browser);
}

#[test]
fn thousands_of_findings_are_listed_as_they_are_looked_at() {
    let example = everything().faults.remove(0);
    let fault = |n: u32| Fault { id: format!("F{n}"), group: None, ..example.clone() };
    let findings = Findings { faults: (1..=5000).map(fault).collect(), ..Findings::new() };
    let (mut browser, _folder) = opened(&render(&findings, Format::Html));
    let n_entries = "document.querySelectorAll('#list .entry').length";
    assert!(browser.evaluate(n_entries).as_u64().unwrap() < 1000);
    browser.evaluate("open('F4321')");
    assert_eq!(browser.text("document.querySelector('.selected').dataset.id"), "F4321");
    quiet(&browser);
}
