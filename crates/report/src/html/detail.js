// One finding in full.

let stepper = null;

function detail(item, open) {
  stepper = null;
  const data = item.data;
  const head = h('header', {class: 'head'},
    h('p', {}, badge(item.severity), h('span', {class: 'id'}, item.id), ruleName(item.rule),
      data.level && data.level !== 'likely' && h('span', {class: 'tag level'}, data.level),
      data.input_dependent && h('span', {class: 'tag'}, 'depends on input'),
      data.origin === 'imported' && h('span', {class: 'tag'}, 'from another tool'),
      data.origin === 'correlation' && h('span', {class: 'tag'}, 'only after another'),
      (data.cwe || []).map(n => h('span', {class: 'tag'}, `CWE-${n}`))),
    h('h2', {}, item.message),
    h('p', {class: 'faint'}, place(data), data.function ? ` in ${data.function}` : ''));
  return [head, ...PARTS[item.kind](data, open)].filter(Boolean);
}

const PARTS = {
  fault(fault, open) {
    const parts = [relations(fault, open)];
    if (fault.witness) parts.push(fact('happens with', h('code', {}, fault.witness.command || (fault.witness.others || []).join(', '))));
    parts.push(...paths(fault));
    if (fault.error_state) parts.push(fact('error state', fault.error_state));
    if (fault.n_paths) parts.push(fact('paths', `${fault.n_paths} lead here`));
    FINDINGS.repairs.forEach((repair, index) => {
      if (repair.fault === fault.id) parts.push(h('h3', {}, `repair ${repair.rank}${repair.why ? `: ${repair.why}` : ''}`), ...repairParts(repair, index));
    });
    parts.push(explanation(fault.rule));
    return parts;
  },
  deviation(d) {
    const slots = Object.entries(d.slots || {}).map(([k, v]) => `${k} = ${v}`).join(', ');
    const examples = all => all.map(e => h('li', {}, e.note && h('p', {}, e.note), snippet(e)));
    return [
      h('p', {}, `${d.n_followed} places follow the rule, ${d.n_broken} do not; z = ${d.z.toFixed(2)}`, slots && `; ${slots}`),
      h('div', {class: 'beside'},
        h('section', {class: 'good'}, h('h3', {}, 'follows the rule'), h('ul', {class: 'plain'}, examples(d.examples))),
        h('section', {class: 'bad'}, h('h3', {}, 'breaks it'), h('ul', {class: 'plain'},
          examples(d.counterexamples.length ? d.counterexamples : [d])))),
      explanation(d.template)];
  },
  statement(s) {
    const measures = Object.entries(s.measures || {});
    return [fact('suspiciousness', s.suspiciousness.toFixed(3)), list(s.evidence), snippet(s, 8),
      measures.length > 0 && h('table', {}, measures.map(([name, value]) =>
        h('tr', {}, h('th', {}, name), h('td', {}, value.toFixed(3)))))];
  },
  corruption(c) {
    const parts = [fact('kind', c.kind), fact('runs needed', c.executions)];
    if ((c.variable_order || []).length) parts.push(fact('shows with variables in the order', c.variable_order.join(', ')));
    parts.push(...path('from the corruption to the failure', [{...c, note: 'first corruption', impact: true}, ...c.chain]));
    if ((c.race || []).length) {
      parts.push(h('h3', {}, 'the two accesses'), h('div', {class: 'beside'}, c.race.map(access =>
        h('section', {}, h('h4', {}, `${access.access} by thread ${access.thread}`), snippet(access, 3),
          h('ol', {class: 'stack'}, access.stack.map(frame => h('li', {}, `${frame.function || '?'} at ${place(frame)}`)))))));
    }
    return parts;
  },
  repair(r, open) {
    return [r.fault && h('p', {}, 'of ', link(r.fault, open)), ...repairParts(r, r.index)];
  },
  suggestion(s) {
    return [fact('confidence', `${Math.round(s.confidence * 100)} %`),
      s.n_fixes > 0 && fact('past fixes that speak for it', s.n_fixes),
      s.because.length > 0 && h('h3', {}, 'because'), list(s.because),
      list(s.verified || []), diff(DATA.suggestions[s.index])];
  },
  contract(c) { return [h('p', {}, `callers outside the program must see to it that ${c.requires}`), snippet(c, 6)]; },
  open(d) {
    return [d.resolve && fact('to decide it', d.resolve), snippet(d, 4),
      d.at && d.at.file && h('h3', {}, 'the analysis stopped here'), d.at && d.at.file && snippet(d.at, 4)];
  },
  notice(n) { return [list(n.details || []), n.file && snippet(n, 4)]; },
};

function repairParts(repair, index) {
  return [list(repair.verified || []), diff(DATA.repairs[index]),
    ...(repair.steps.length ? path('the error trace', repair.steps) : [])];
}

// The paths to a fault, one at a time.
function paths(fault) {
  const all = fault.segments.filter(segment => segment.steps.length);
  if (!all.length) return [snippet(fault, 8)];
  const holder = h('div', {id: 'path'});
  const choose = index => {
    stepper = new Stepper(all[index].steps);
    holder.replaceChildren(stepper.element);
    [...tabs.children].forEach((tab, i) => tab.setAttribute('aria-pressed', i === index));
    holder.dataset.path = index;
  };
  const tabs = h('div', {class: 'chips', id: 'paths'}, all.map((_, index) =>
    h('button', {onclick: () => choose(index)}, `path ${index + 1}`)));
  tabs.hidden = all.length < 2;
  tabs.choose = by => choose(Math.max(0, Math.min(all.length - 1, Number(holder.dataset.path) + by)));
  choose(0);
  return [tabs, holder];
}

function path(title, steps) {
  stepper = new Stepper(steps);
  return [h('h3', {}, title), stepper.element];
}

function relations(fault, open) {
  const causes = FINDINGS.correlations.filter(e => e.to === fault.id);
  const effects = FINDINGS.correlations.filter(e => e.from === fault.id);
  if (!causes.length && !effects.length) return null;
  const line = (words, edges, end) => edges.length > 0 && h('p', {}, h('b', {}, words),
    edges.map(e => [' ', link(e[end], open), e.unique ? '' : ' (among others)',
      e.level && e.level !== 'likely' ? ` (${e.level})` : '']).flat());
  const removed = (() => {
    for (const group of FINDINGS.groups) {
      const at = group.roots.indexOf(fault.id);
      if (at >= 0) return (group.removes[at] || []).length;
    }
    return 0;
  })();
  return h('div', {class: 'relations'},
    removed > 0 && h('p', {class: 'first'}, `fix this first: ${counted(removed, 'more fault')} ${removed === 1 ? 'goes' : 'go'} away with it`),
    line('caused by', causes, 'from'), line('causes', effects, 'to'));
}

function link(id, open) {
  const fault = FAULTS.get(id);
  return h('button', {class: 'link', onclick: () => open(id)}, fault ? `${id} ${fault.rule} at ${place(fault)}` : id);
}

function diff(hunks) {
  return h('div', {class: 'diff'}, (hunks || []).map(hunk => h('figure', {class: 'source'},
    h('figcaption', {}, `${hunk.file}:${hunk.line}`),
    hunk.lines.map(([mark, text]) => h('div', {class: 'row ' + ({'+': 'added', '-': 'removed'}[mark] || '')},
      h('span', {class: 'marks'}, mark), h('code', {}, coloured(text)))))));
}

function list(sentences) { return sentences.length > 0 && h('ul', {}, sentences.map(s => h('li', {}, s))); }
function fact(name, value) { return h('p', {class: 'fact'}, h('b', {}, name), ' ', value); }
function badge(severity) { return h('span', {class: `badge ${severity}`}, severity); }
function ruleName(id) { return h('span', {class: 'rule', title: (DATA.rules[id] || {}).title}, id); }

function explanation(id) {
  const rule = DATA.rules[id];
  return rule && rule.doc && h('details', {}, h('summary', {}, `about ${id}`), h('pre', {}, rule.doc));
}

// What was analysed, what to fix first, and the graph.
function summary(open) {
  const by = (items, key) => {
    const counts = new Map();
    items.forEach(item => counts.set(item[key], (counts.get(item[key]) || 0) + 1));
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  };
  const found = ITEMS.filter(i => ['fault', 'deviation', 'statement', 'corruption'].includes(i.kind));
  const parts = [h('h2', {}, found.length ? counted(found.length, 'finding') : 'nothing found')];
  parts.push(h('p', {class: 'tiles'}, ['error', 'warning', 'note'].map(severity => [severity, found.filter(i => i.severity === severity).length])
    .filter(([, n]) => n > 0).map(([severity, n]) => h('span', {class: `tile ${severity}`}, h('b', {}, n), ' ', severity))));
  if (FINDINGS.programs.length) parts.push(h('ul', {class: 'faint'}, FINDINGS.programs.slice(0, 30).map(p =>
    h('li', {}, `${p.name}: ${counted(p.units, 'unit')}, ${counted(p.functions, 'function')}, ${counted(p.calls, 'call')}`))));
  const rules = by(found, 'rule');
  if (rules.length) parts.push(h('h3', {}, 'by rule'), h('table', {class: 'bars'}, rules.slice(0, 40).map(([rule, n]) =>
    h('tr', {}, h('th', {}, h('button', {class: 'link', onclick: () => filterRule(rule)}, rule)),
      h('td', {}, n), h('td', {}, svg('svg', {class: 'bar', width: 220, height: 8, 'aria-hidden': true},
        svg('rect', {width: Math.max(2, 220 * n / rules[0][1]), height: 8, rx: 3})))))));
  if (FINDINGS.groups.length) {
    parts.push(h('h3', {}, 'fix these first'));
    FINDINGS.groups.slice(0, 50).forEach(group => parts.push(h('section', {class: 'group'},
      h('h4', {}, `${group.id}: ${counted(group.faults.length, 'fault')}`),
      h('p', {}, group.roots.map(root => [link(root, open), ' '])),
      h('div', {class: 'scroll'}, groupGraph(group, open)))));
  }
  return parts;
}
