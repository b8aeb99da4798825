// Lines of text as the messages that they need. Lines stay whole where they fit into a message at all.

import { cost, cutPoint, reach } from "./text.js";

const NEWLINE = cost("\n");
/** Room for less than this is not worth to begin a text in. */
const WORTH_IT = 100;

/** Spreads lines over messages that cost at most `most` each; the last has room for `closing` below. */
export function spread(lines, most, closing) {
  const pages = [[]];
  let used = 0;
  for (const line of lines.flatMap((line) => pieces(line, most))) {
    const page = pages.at(-1);
    const needed = cost(line);
    if (page.length === 0) {
      // An empty line separates and is not wanted at the beginning of a message.
      if (line === "") continue;
      page.push(line);
      used = needed;
    } else if (used + NEWLINE + needed <= most) {
      page.push(line);
      used += NEWLINE + needed;
    } else {
      pages.push(line === "" ? [] : [line]);
      used = needed;
    }
  }
  if (used > 0 && used + 2 * NEWLINE + closing > most) pages.push([]);
  return pages.map((page) => (page.at(-1) === "" ? page.slice(0, -1) : page));
}

/** The lines at the front that fit into `most`, with `…` where there are more. None without room for any. */
export function beginning(lines, most) {
  if (most < WORTH_IT) return [];
  const pages = spread(lines, most - cost("\n…"), 0);
  return pages.length > 1 ? [...pages[0], "…"] : pages[0];
}

/**
 * A line in pieces that each fit into a message. A piece that goes on keeps the mark of a line that is set
 * in, or shows that it goes on, so that none of them passes for a line of ours.
 */
function pieces(line, most) {
  if (cost(line) <= most) return [line];
  const lead = line.startsWith("> ") ? "> " : "… ";
  const found = [];
  for (let start = 0; start < line.length; ) {
    const mark = start === 0 ? "" : lead;
    const end = cutPoint(line, start, reach(line, start, most - cost(mark)));
    let piece = line.slice(start, end);
    const space = piece.lastIndexOf(" ") + 1;
    // Between words where there is a space in the last half.
    if (end < line.length && space > piece.length / 2) piece = piece.slice(0, space);
    found.push(mark + piece.trimEnd());
    start += piece.length;
  }
  return found;
}
