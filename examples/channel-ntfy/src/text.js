// How text is cleaned, compared, measured and cut. The sandbox has neither Intl nor TextEncoder, so it is
// done by hand, and in one pass each: a question may have 100 KB.

/**
 * Control characters but the newline; overrides and isolates, which turn the direction of their neighbours.
 */
const FORBIDDEN = /[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Anything but what shows nothing on its own: spaces, zero-width characters, marks of direction, fillers,
 * tags.
 */
const VISIBLE = new RegExp(
  String.raw`[^\s\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f` +
    String.raw`\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]`,
  "u",
);

/** What the host puts around right-to-left text, so that the order of the rest stays. */
const ISOLATE = "\u2068";
const POP = "\u2069";

/** Characters that belong to the one before them: marks, skin tones, joiners, the letters of flags. */
const EXTENDS = /^[\p{M}\p{EMod}\u200c\u200d\u{e0020}-\u{e007f}]/u;
const REGIONAL = /^\p{RI}/u;

/** Longest cluster that is kept whole, in UTF-16 units. A longer one is text made to do harm. */
const CLUSTER = 64;

/** Model text made harmless. What separates lines becomes `newline`: a space unless lines may stay. */
export function clean(text, newline = " ") {
  return text
    .replace(/\r\n?|[\n\x85\u2028\u2029]/g, newline)
    .replace(/[\t\v\f]/g, " ")
    .replace(FORBIDDEN, "")
    .trim();
}

/** Whether there is nothing to see in cleaned text. */
export function isBlank(text) {
  return !VISIBLE.test(text);
}

/** What texts are compared by: lower case, every run of white space one space. */
export function fold(text) {
  return clean(text).split(/\s+/).join(" ").toLowerCase();
}

/**
 * What a UTF-16 unit costs in the body of a call: its bytes of UTF-8 within a JSON string. Half a surrogate
 * pair costs half of four. Of the control characters only the newline is left, which is escaped as quotes
 * are.
 */
function unitCost(unit) {
  if (unit < 0x80) return unit === 0x22 || unit === 0x5c || unit < 0x20 ? 2 : 1;
  if (unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff)) return 2;
  return 3;
}

/** What a text costs. Never less than its bytes of UTF-8. */
export function cost(text) {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum += unitCost(text.charCodeAt(at));
  return sum;
}

/** How far one gets in `text` from `from` on for `most`. */
export function reach(text, from, most) {
  let at = from;
  for (let used = 0; at < text.length; at++) {
    used += unitCost(text.charCodeAt(at));
    if (used > most) break;
  }
  return at;
}

/**
 * The last place from `from` to `to` where `text` can be cut: between clusters, as far as one can tell
 * without Intl.
 */
export function cutPoint(text, from, to) {
  if (to >= text.length) return text.length;
  const lowest = Math.max(from, to - CLUSTER);
  for (let at = to; at > lowest; at--) {
    if (startsCluster(text, at, from)) return at;
  }
  return isLowSurrogate(text, to) && to - 1 > from ? to - 1 : to;
}

function isLowSurrogate(text, at) {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

function startsCluster(text, at, from) {
  if (isLowSurrogate(text, at) || text[at - 1] === "\u200d") return false;
  const next = String.fromCodePoint(text.codePointAt(at));
  if (EXTENDS.test(next)) return false;
  if (!REGIONAL.test(next)) return true;
  // Two of them are one flag, so what counts is how many stand before.
  let before = at;
  while (before - 2 >= from && REGIONAL.test(text.slice(before - 2, before))) before -= 2;
  return ((at - before) / 2) % 2 === 0;
}

/** `text` if it is no longer than `most` UTF-16 units, else its beginning with `…`. */
export function cutToUnits(text, most) {
  return text.length <= most ? text : cutAt(text, most - 1);
}

/** `text` if it costs no more than `most`, else its beginning with `…`. */
export function cutToCost(text, most) {
  return reach(text, 0, most) === text.length ? text : cutAt(text, reach(text, 0, most - cost(`…${POP}`)));
}

function cutAt(text, end) {
  const kept = text.slice(0, cutPoint(text, 0, end)).trimEnd();
  return kept.lastIndexOf(ISOLATE) > kept.lastIndexOf(POP) ? `${kept}…${POP}` : `${kept}…`;
}
