// Filters, keys, and the beginning.

function buildFilters() {
  const severities = byId('severities');
  for (const severity of ['error', 'warning', 'note']) {
    const n = ITEMS.filter(item => item.severity === severity).length;
    severities.append(h('button', {class: severity, 'aria-pressed': true, 'data-severity': severity, onclick: event => {
      const is = wanted.severities.has(severity);
      if (is) wanted.severities.delete(severity); else wanted.severities.add(severity);
      event.currentTarget.setAttribute('aria-pressed', !is);
      refresh();
    }}, `${severity} ${n}`));
  }
  const rules = [...new Set(ITEMS.map(item => item.rule))].sort();
  byId('rule').append(h('option', {value: ''}, 'all rules'), ...rules.map(rule => h('option', {value: rule}, rule)));
  byId('rule').addEventListener('change', event => { wanted.rule = event.target.value; refresh(); });
  byId('search').addEventListener('input', event => { wanted.search = event.target.value.trim().toLowerCase(); refresh(); });
}

function buildTabs() {
  const tabs = byId('tabs');
  const choose = (kind, button) => {
    wanted.kind = kind;
    [...tabs.children].forEach(tab => tab.setAttribute('aria-selected', tab === button));
    refresh();
  };
  tabs.append(h('button', {role: 'tab', onclick: () => home()}, 'summary'));
  const all = h('button', {role: 'tab', 'aria-selected': true, onclick: event => choose(null, event.currentTarget)}, `all ${ITEMS.length}`);
  tabs.append(all);
  for (const [kind, name] of Object.entries(KINDS)) {
    const n = ITEMS.filter(item => item.kind === kind).length;
    if (n) tabs.append(h('button', {role: 'tab', 'data-kind': kind,
      onclick: event => choose(kind, event.currentTarget)}, `${name} ${n}`));
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const search = byId('search');
  if (event.key === 'Escape') { search.blur(); return; }
  if (document.activeElement === search || document.activeElement === byId('rule')) return;
  const keys = {
    ArrowDown: () => moveSelection(1), j: () => moveSelection(1),
    ArrowUp: () => moveSelection(-1), k: () => moveSelection(-1),
    ArrowRight: () => stepper?.move(1), n: () => stepper?.move(1),
    ArrowLeft: () => stepper?.move(-1), p: () => stepper?.move(-1),
    ']': () => byId('paths')?.choose(1), '[': () => byId('paths')?.choose(-1),
    '/': () => search.focus(), g: home, '?': () => byId('keys').showModal(),
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
}

buildTabs();
buildFilters();
refresh();
byId('theme').addEventListener('click', theme);
byId('help').addEventListener('click', () => byId('keys').showModal());
document.addEventListener('keydown', onKey);
addEventListener('hashchange', () => open(location.hash.slice(1)));
if (BY_ID.has(location.hash.slice(1))) open(location.hash.slice(1)); else home();
