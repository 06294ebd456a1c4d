//! The graph as a picture that needs nothing else to be looked at.

use std::collections::BTreeMap;

use findings::{Findings, Via};
use layout::backends::svg::SVGWriter;
use layout::core::base::Orientation;
use layout::core::geometry::Point;
use layout::core::style::{LineStyleKind, StyleAttr};
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

use super::{label, mark, nodes, roots};
use crate::sources::one_line;

pub fn render(findings: &Findings) -> String {
    let mut graph = VisualGraph::new(Orientation::LeftToRight);
    let mut handles = BTreeMap::new();
    let roots = roots(findings);
    for fault in nodes(findings) {
        let lines: Vec<String> = label(fault).iter().map(|line| one_line(line)).collect();
        // Room for the longest line, as wide as this font gets.
        let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(1);
        let size = Point::new(9.0 * widest as f64 + 16.0, 18.0 * lines.len() as f64 + 16.0);
        let mut style = StyleAttr::simple();
        style.line_width = if roots.contains(&fault.id) { 3 } else { 1 };
        let shape = ShapeKind::new_box(&lines.join("\n"));
        let element = Element::create(shape, style, Orientation::LeftToRight, size);
        handles.insert(fault.id.as_str(), graph.add_node(element));
    }
    for edge in &findings.correlations {
        let (Some(from), Some(to)) =
            (handles.get(edge.from.as_str()), handles.get(edge.to.as_str()))
        else {
            continue;
        };
        let mut arrow = Arrow::simple(mark(edge));
        if edge.via == Via::Feasibility {
            arrow.line_style = LineStyleKind::Dashed;
        }
        graph.add_edge(arrow, *from, *to);
    }
    let mut writer = SVGWriter::new();
    if graph.num_nodes() > 0 {
        graph.do_it(false, false, false, &mut writer);
    }
    let mut text = writer.finalize();
    text.push('\n');
    text
}
