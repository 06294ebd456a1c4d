// The source with the steps of a path beside it.

const KEYWORDS = new Set(('auto break case char const continue default do double else enum extern ' +
  'float for goto if inline int long register restrict return short signed sizeof static struct ' +
  'switch typedef union unsigned void volatile while').split(' '));
const TOKEN = /\/\/.*|\/\*.*?(?:\*\/|$)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\b[A-Za-z_]\w*\b|\b\d\w*\b/g;

// A line with comments, strings, keywords and numbers told apart.
function coloured(text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const word = match[0];
    const kind = word.startsWith('//') || word.startsWith('/*') ? 'comment'
      : word[0] === '"' || word[0] === "'" ? 'string'
      : /\d/.test(word[0]) ? 'number' : KEYWORDS.has(word) ? 'keyword' : null;
    if (!kind) continue;
    parts.push(text.slice(at, match.index), h('span', {class: kind}, word));
    at = match.index + word.length;
  }
  parts.push(text.slice(at));
  return parts;
}

// The lines of a file from first to last, as far as the report has them.
function lines(file, first, last) {
  const found = [];
  for (const [start, texts] of DATA.files[file] || []) {
    texts.forEach((text, index) => {
      const number = start + index;
      if (number >= first && number <= last) found.push([number, text]);
    });
  }
  return found;
}

function place(at) {
  if (!at || !at.file) return '';
  return at.line ? `${at.file}:${at.line}${at.column ? ':' + at.column : ''}` : at.file;
}

// A few lines around a place, with the place marked.
function snippet(at, around = 2) {
  const shown = lines(at.file, at.line - around, at.line + around);
  const rows = shown.map(([number, text]) => h('div', {class: number === at.line ? 'row here' : 'row'},
    h('span', {class: 'number'}, number), h('code', {}, coloured(text))));
  return h('figure', {class: 'source'}, h('figcaption', {}, place(at),
    at.function ? ` in ${at.function}` : ''), rows.length ? rows : h('p', {class: 'faint'}, 'source not found'));
}

// A path: numbered steps on the left, the source of the current step on the right.
class Stepper {
  constructor(steps) {
    this.steps = steps;
    this.current = steps.length - 1;
    this.list = h('ol', {class: 'steps'});
    this.view = h('div', {class: 'view'});
    this.count = h('span', {class: 'count'});
    steps.forEach((step, index) => {
      const note = h('button', {class: 'step' + (step.impact ? ' impact' : ''),
        'data-depth': Math.min(step.depth || 0, 12), onclick: () => this.go(index)},
        h('b', {}, index + 1), h('span', {}, step.note), h('small', {}, place(step)));
      this.list.append(h('li', {}, note));
    });
    this.element = h('div', {class: 'stepper'},
      h('div', {class: 'bar'},
        h('button', {class: 'back', title: 'one step back (←)', onclick: () => this.move(-1)}, '←'),
        this.count,
        h('button', {class: 'forward', title: 'one step forward (→)', onclick: () => this.move(1)}, '→')),
      this.list, this.view);
    if (steps.length) this.go(this.current, true);
  }

  move(by) { this.go(Math.max(0, Math.min(this.steps.length - 1, this.current + by))); }

  go(index, quiet) {
    this.current = index;
    const step = this.steps[index];
    this.count.textContent = `step ${index + 1} of ${this.steps.length}`;
    [...this.list.children].forEach((li, i) =>
      li.firstChild.setAttribute('aria-current', i === index ? 'step' : 'false'));
    const numbers = new Map();
    this.steps.forEach((other, i) => {
      if (other.file !== step.file) return;
      numbers.set(other.line, [...(numbers.get(other.line) || []), i + 1]);
    });
    const around = lines(step.file, step.line - 12, step.line + 12);
    const rows = around.map(([number, text]) => {
      const marks = numbers.get(number) || [];
      const row = h('div', {class: 'row' + (number === step.line ? ' here' : marks.length ? ' on' : '')},
        h('span', {class: 'marks'}, marks.join(' ')), h('span', {class: 'number'}, number),
        h('code', {}, coloured(text)));
      if (number !== step.line) return row;
      const indent = text.length - text.trimStart().length;
      return [row, h('div', {class: 'row said'}, h('span', {class: 'marks'}), h('span', {class: 'number'}),
        h('span', {}, ' '.repeat(indent) + '▲ ' + step.note))];
    });
    this.view.replaceChildren(h('figure', {class: 'source'},
      h('figcaption', {}, place(step), step.function ? ` in ${step.function}` : ''),
      rows.length ? rows : h('p', {class: 'faint'}, 'source not found')));
    if (!quiet) this.list.children[index].scrollIntoView({block: 'nearest'});
  }
}
