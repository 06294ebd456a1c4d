// The findings as one list of items, whatever kind they are of.

const DATA = JSON.parse(byId('data').textContent);
const FINDINGS = DATA.findings;

const KINDS = {
  fault: 'faults', deviation: 'beliefs', statement: 'statements', corruption: 'corruption',
  repair: 'repairs', suggestion: 'suggestions', contract: 'contracts', open: 'undecided',
  notice: 'notices',
};

const FAULTS = new Map(FINDINGS.faults.map(fault => [fault.id, fault]));

const REMOVED_BY = new Map();
for (const group of FINDINGS.groups) {
  group.roots.forEach((root, index) => {
    for (const id of group.removes[index] || []) if (id !== root) REMOVED_BY.set(id, root);
  });
}
const ROOTS = new Set(FINDINGS.groups.flatMap(group => group.roots));

function item(kind, id, severity, rule, message, data) {
  const file = data.file || '';
  const text = [id, rule, message, file, data.function || '', data.error_state || '']
    .join('\n').toLowerCase();
  return {kind, id, severity, rule, message, file, line: data.line || 0, data, text};
}

function firstPlace(changes, steps) {
  return (changes && changes[0]) || (steps && steps[steps.length - 1]) || {};
}

function makeItems() {
  const items = [];
  // A root comes before what it causes, and what it causes right after it.
  const told = new Set();
  const tell = fault => {
    if (told.has(fault.id)) return;
    told.add(fault.id);
    items.push(item('fault', fault.id, fault.severity, fault.rule, fault.message, fault));
    if (!ROOTS.has(fault.id)) return;
    for (const group of FINDINGS.groups) {
      const at = group.roots.indexOf(fault.id);
      for (const id of (at >= 0 && group.removes[at]) || []) {
        if (FAULTS.has(id) && !ROOTS.has(id)) tell(FAULTS.get(id));
      }
    }
  };
  FINDINGS.faults.filter(f => !REMOVED_BY.has(f.id) || ROOTS.has(f.id)).forEach(tell);
  FINDINGS.faults.forEach(tell);
  FINDINGS.deviations.forEach((d, i) =>
    items.push(item('deviation', `B${i + 1}`, 'warning', d.template, d.message, d)));
  FINDINGS.statements.forEach((s, i) =>
    items.push(item('statement', `S${i + 1}`, 'warning', 'suspicious-statement',
      `rank ${s.rank}: ${s.evidence[0] || 'suspicious'}`, s)));
  if (FINDINGS.corruption) {
    const c = FINDINGS.corruption;
    items.push(item('corruption', 'C1', 'error', c.kind,
      c.message || 'memory is first corrupted here', c));
  }
  FINDINGS.repairs.forEach((r, i) =>
    items.push(item('repair', `R${i + 1}`, 'note', 'repair', r.why || `repair ${r.rank}`,
      {...firstPlace(r.changes, r.steps), ...r, index: i})));
  FINDINGS.suggestions.forEach((s, i) =>
    items.push(item('suggestion', `A${i + 1}`, 'note', 'suggestion', s.description,
      {...firstPlace(s.changes), ...s.place, ...s, index: i})));
  FINDINGS.contracts.forEach((c, i) =>
    items.push(item('contract', `K${i + 1}`, 'note', c.rule, `requires ${c.requires}`, c)));
  FINDINGS.dont_knows.forEach((d, i) =>
    items.push(item('open', `D${i + 1}`, 'note', d.rule, d.reason, d)));
  FINDINGS.incomplete.forEach((m, i) =>
    items.push(item('notice', `M${i + 1}`, 'error', 'not analysed', `${m.what}: ${m.reason}`, m)));
  FINDINGS.notices.forEach((n, i) =>
    items.push(item('notice', `N${i + 1}`, 'note', 'notice', n.message, n)));
  return items;
}

const ITEMS = makeItems();
const BY_ID = new Map(ITEMS.map(item => [item.id, item]));
