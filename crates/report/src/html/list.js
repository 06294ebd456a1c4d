// The list of findings, filtered. Only what is looked at becomes elements.

const CHUNK = 200;
const wanted = {kind: null, search: '', severities: new Set(['error', 'warning', 'note']), rule: ''};
let shown = [];
let selected = null;
let rendered = 0;

function matches(item) {
  if (wanted.kind && item.kind !== wanted.kind) return false;
  if (!wanted.severities.has(item.severity)) return false;
  if (wanted.rule && item.rule !== wanted.rule) return false;
  return wanted.search.split(/\s+/).every(word => item.text.includes(word));
}

function refresh() {
  shown = ITEMS.filter(matches);
  rendered = 0;
  byId('list').replaceChildren();
  more();
  byId('shown').textContent = shown.length === ITEMS.length ? `${shown.length} ${shown.length === 1 ? 'entry' : 'entries'}`
    : `${shown.length} of ${ITEMS.length} entries`;
  mark();
}

function more() {
  const list = byId('list');
  list.querySelector('.sentinel')?.remove();
  for (const item of shown.slice(rendered, rendered + CHUNK)) list.append(entry(item));
  rendered = Math.min(shown.length, rendered + CHUNK);
  if (rendered < shown.length) {
    const sentinel = h('li', {class: 'sentinel'}, `${shown.length - rendered} more`);
    list.append(sentinel);
    watcher.observe(sentinel);
  }
}

const watcher = new IntersectionObserver(entries => { if (entries.some(e => e.isIntersecting)) more(); });

function entry(item) {
  const root = REMOVED_BY.get(item.id);
  return h('li', {'data-id': item.id, class: `entry ${item.severity}${root ? ' caused' : ''}${ROOTS.has(item.id) ? ' root' : ''}`,
      onclick: () => open(item.id)},
    h('p', {class: 'line'}, h('span', {class: 'id'}, item.id), h('span', {class: 'rule'}, item.rule),
      item.data.level && item.data.level !== 'likely' && h('span', {class: 'tag level'}, item.data.level)),
    h('p', {class: 'message'}, item.message),
    h('p', {class: 'faint'}, place(item.data), root && ` · caused by ${root}`));
}

function open(id) {
  const item = BY_ID.get(id);
  if (!item) return;
  selected = id;
  byId('detail').replaceChildren(...detail(item, open));
  byId('detail').scrollTop = 0;
  if (location.hash !== `#${id}`) history.replaceState(null, '', `#${id}`);
  mark(true);
}

function home() {
  selected = null;
  stepper = null;
  byId('detail').replaceChildren(...summary(open));
  history.replaceState(null, '', '#');
  mark();
}

function mark(scroll) {
  document.querySelector('#list .selected')?.classList.remove('selected');
  const index = shown.findIndex(item => item.id === selected);
  if (index < 0) return;
  while (rendered <= index) more();
  const row = byId('list').children[index];
  row.classList.add('selected');
  if (scroll) row.scrollIntoView({block: 'nearest'});
}

function moveSelection(by) {
  if (!shown.length) return;
  const index = shown.findIndex(item => item.id === selected);
  const next = index < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, index + by));
  open(shown[next].id);
}

function filterRule(rule) {
  wanted.rule = rule;
  byId('rule').value = rule;
  refresh();
}
