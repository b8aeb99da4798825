// How choices are numbered: `1.` to `4.`, or `a)` to `d)` where a label itself reads as a number. The host
// reads typed replies by the same rules, so every mark must be the one that it expects
// (plugin/src/numbering.rs).

import { clean, fold } from "./text.js";

/** A number as people type it: `2`, `02`, `2.`, `2)`, `#2`, keycap and full-width digits. */
const NUMBER = /^[#＃]?(?:[0-9０-９]\ufe0f?\u20e3?)+[.)．）]?$/;
/** What else people take for a number: `-3`, `1.5`, `1,000`. */
const QUANTITY = /^[-+−#]?[0-9][0-9.,'_ \u00a0\u202f]*$/;
/** A letter alone, as one marks a choice: `b`, `b)`, `b.`. */
const LETTER = /^([a-z])[.)．）]?$/;
const PICTURE = /^[\u{1f000}-\u{1faff}\u2600-\u27bf\u2300-\u23ff\u2b00-\u2bff\u2190-\u21ff\u25a0-\u25ff]/u;
/** A character with what belongs to it. */
const CLUSTER = /(?:\p{RI}{2}|.)(?:[\p{M}\p{EMod}\u200c\u{e0020}-\u{e007f}]|\u200d\p{ExtPict}?)*/suy;
const RECOMMENDED = "(recommended)";
const Z = "z".charCodeAt(0);

/** Whether text is a number and nothing else. */
export function isNumber(text) {
  return NUMBER.test(text.trim());
}

/** The marks of a question's choices: `{ kind, name(index), mark(index) }`. */
export function numbering(question) {
  const cores = question.choices.map((choice) => comparable(core(clean(choice.label))));
  if (!cores.some(readsAsNumber)) {
    const name = (index) => String(index + 1);
    return { kind: "number", name, mark: (index) => `${name(index)}.` };
  }
  const first = firstLetter(cores);
  const name = (index) => String.fromCharCode(Math.min(first + index, Z));
  return { kind: "letter", name, mark: (index) => `${name(index)})` };
}

/**
 * A label without what people do not type: emoji in front, `(Recommended)` behind. Never blank unless it is.
 */
function core(label) {
  const bare = withoutRecommended(label) || label;
  let start = 0;
  for (;;) {
    CLUSTER.lastIndex = start;
    const cluster = CLUSTER.exec(bare)?.[0];
    if (cluster === undefined) return bare;
    const isEmoji = PICTURE.test(cluster) || /[\ufe0f\u20e3]/.test(cluster);
    if (!isEmoji && cluster.trim() !== "") return bare.slice(start);
    start += cluster.length;
  }
}

function withoutRecommended(label) {
  const end = label.length - RECOMMENDED.length;
  return end >= 0 && label.slice(end).toLowerCase() === RECOMMENDED ? label.slice(0, end).trim() : label;
}

/** What labels are compared by here: also without the selectors that make a symbol colourful. */
function comparable(label) {
  return fold(label).replace(/[\ufe0e\ufe0f]/g, "");
}

function readsAsNumber(label) {
  const bare = withoutRecommended(label);
  return isNumber(bare) || QUANTITY.test(bare);
}

/**
 * The code of the first letter from which no label is the mark of another choice, as `b` would be in `1`,
 * `b`.
 */
function firstLetter(cores) {
  const taken = cores.map((label) => LETTER.exec(label)?.[1].charCodeAt(0));
  const a = "a".charCodeAt(0);
  for (let first = a; first + cores.length - 1 <= Z; first++) {
    const last = first + cores.length - 1;
    const isFree = (letter, index) =>
      letter === undefined || letter === first + index || letter < first || letter > last;
    if (taken.every(isFree)) return first;
  }
  return a;
}
