// Which fault causes which, from left to right.

const NODE = {width: 230, height: 46, across: 70, down: 14};
// A larger group is shown as the list it is.
const MAX_NODES = 300;

function groupGraph(group, open) {
  const ids = group.faults.filter(id => FAULTS.has(id)).slice(0, MAX_NODES);
  const inside = new Set(ids);
  const edges = FINDINGS.correlations.filter(e => inside.has(e.from) && inside.has(e.to));
  const layer = layers(ids, edges);
  const rows = new Map();
  const at = new Map();
  for (const id of ids) {
    const row = rows.get(layer.get(id)) || 0;
    rows.set(layer.get(id), row + 1);
    at.set(id, {x: 8 + layer.get(id) * (NODE.width + NODE.across), y: 8 + row * (NODE.height + NODE.down)});
  }
  const width = 16 + (Math.max(0, ...layer.values()) + 1) * (NODE.width + NODE.across) - NODE.across;
  const height = 16 + Math.max(1, ...rows.values()) * (NODE.height + NODE.down) - NODE.down;
  const arrow = `arrow-${group.id}`;
  return svg('svg', {class: 'graph', viewBox: `0 0 ${width} ${height}`, width, height, role: 'group',
      'aria-label': `which fault causes which in ${group.id}`},
    svg('defs', {}, svg('marker', {id: arrow, viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7,
      markerHeight: 7, orient: 'auto'}, svg('path', {d: 'M0 0L8 4L0 8z'}))),
    edges.map(edge => edgePath(edge, at.get(edge.from), at.get(edge.to), arrow)),
    ids.map(id => node(FAULTS.get(id), at.get(id), group.roots.includes(id), open)));
}

// The longest way from a root; what lies on a circle stays where it was met first.
function layers(ids, edges) {
  const layer = new Map(ids.map(id => [id, 0]));
  for (let round = 0; round < ids.length; round++) {
    let changed = false;
    for (const {from, to} of edges) {
      const wanted = layer.get(from) + 1;
      if (wanted > layer.get(to) && wanted < ids.length) { layer.set(to, wanted); changed = true; }
    }
    if (!changed) break;
    if (round > 40) break;
  }
  return layer;
}

function edgePath(edge, from, to, arrow) {
  const x1 = from.x + NODE.width, y1 = from.y + NODE.height / 2;
  const x2 = to.x, y2 = to.y + NODE.height / 2;
  const bend = Math.max(30, Math.abs(x2 - x1) / 2);
  const words = (edge.unique ? 'causes' : 'can cause') + (edge.via === 'feasibility' ? ' by opening the path' : '');
  return svg('path', {class: `edge ${edge.via}${edge.unique ? '' : ' partial'}`,
    d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
    'marker-end': `url(#${arrow})`}, svg('title', {}, words));
}

function node(fault, at, isRoot, open) {
  const short = (text, n) => text.length > n ? text.slice(0, n - 1) + '…' : text;
  return svg('g', {class: `node ${fault.severity}${isRoot ? ' root' : ''}`, tabindex: 0, role: 'button',
      'data-id': fault.id, transform: `translate(${at.x} ${at.y})`,
      onclick: () => open(fault.id),
      onkeydown: event => { if (event.key === 'Enter') open(fault.id); }},
    svg('title', {}, `${fault.message}\n${fault.error_state || ''}`),
    svg('rect', {width: NODE.width, height: NODE.height, rx: 6}),
    svg('text', {x: 10, y: 19, class: 'name'}, short(`${fault.id} ${fault.rule}`, 30)),
    svg('text', {x: 10, y: 36}, short(`${place(fault)}`, 34)));
}
