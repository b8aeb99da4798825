// A prompt as lines of plain text. What the agent wrote cannot pass for a line of ours: every choice has one
// line, only such a line starts with a mark, and a question's text of several lines, or like a list, is set
// in with `> `.

import { isNumber, numbering } from "./numbering.js";
import { clean, cutToCost, cutToUnits, isBlank, isolate } from "./text.js";

/** Most of somebody's own text in a status line, in UTF-16 units. */
const OWN_TEXT = 100;

/** The questions of a prompt with their choices, without a word on how to answer. */
export function questionLines(prompt, words) {
  const { questions } = prompt;
  if (questions.length === 1) return joinBlocks([asked(questions[0], words), choices(questions[0], words)]);
  return joinBlocks(
    questions.map((question, index) => [
      joined(words.step(index + 1, questions.length), header(question)),
      ...asked(question, words),
      ...choices(question, words),
      ...hints(question, words),
    ]),
  );
}

/** How to answer by typing, on one line. */
export function howTo(prompt, words) {
  const { questions } = prompt;
  const hints = questions.length === 1 ? howToOne(questions[0], words) : [howToAll(questions, words)];
  return [...hints, words.replySkip].join(" ");
}

/** What the questions were, for a prompt that has ended: without choices. */
export function askedLines(prompt, words) {
  return joinBlocks(prompt.questions.map((question) => asked(question, words)));
}

/**
 * How a prompt ended: a line for each question that was answered, one line for all of them otherwise. Where
 * others read too, only labels of the prompt's own choices are repeated, never what somebody typed.
 */
export function statusLines(prompt, shared, words) {
  const { questions, settlement } = prompt;
  const { tag, val } = settlement.outcome;
  // The only question of a prompt stands in the title.
  const isOnly = questions.length === 1;
  const names = questions.map((question, index) =>
    isOnly ? "" : header(question) || words.step(index + 1, questions.length),
  );
  if (tag !== "answered") return [joined(names.filter(Boolean).join(", "), words.ended[val])];
  return questions.map((question, index) => {
    const answer = val.find((given) => given.questionId === question.id);
    const shown = shownValues(question, answer?.values ?? [], shared);
    return joined(names[index], shown === "" ? words.answered : `${words.answered}: ${shown}`);
  });
}

/** The header of a question, cut to what it may cost; empty where there is nothing to see in it. */
export function header(question, most = Infinity) {
  const text = clean(question.header);
  return isBlank(text) ? "" : isolate(cutToCost(text, most));
}

/** Both with a dot between them, or the one that is not empty. */
export function joined(first, second) {
  return [first, second].filter(Boolean).join(" · ");
}

function joinBlocks(blocks) {
  const shown = blocks.filter((block) => block.length > 0);
  return shown.flatMap((block, index) => (index === 0 ? block : ["", ...block]));
}

function asked(question, words) {
  const lines = setIn(clean(question.text, "\n"));
  if (question.url) lines.push(`${words.link} ${clean(question.url)}`);
  return lines;
}

/** A question's text as lines that cannot be taken for ours. */
function setIn(text) {
  const lines = text.split("\n").map((line) => line.trimEnd());
  if (lines.length === 1 && !startsLikeAList(lines[0])) return lines.filter(Boolean);
  const marked = lines.map((line) => `> ${line}`.trimEnd());
  // Any number of empty lines separates as one does, and many would push the choices out of sight.
  return marked.filter((line, index) => line !== ">" || marked[index - 1] !== ">");
}

/** Whether a line starts as a choice of ours might: `1. Prod`, `(b) Prod`, `2️⃣ Prod`. */
function startsLikeAList(line) {
  const [word] = line.replace(/^[^\p{L}\p{N}]+/u, "").split(/\s/, 1);
  return (isNumber(word) && !/\p{N}$/u.test(word)) || /^\p{L}[.)．）]$/u.test(word);
}

function choices(question, words) {
  if (question.choices.length === 0) return [];
  const { mark } = numbering(question);
  return [
    question.multiSelect ? words.chooseAny : words.chooseOne,
    ...question.choices.map((choice, index) => {
      const label = isolate(clean(choice.label));
      const description = clean(choice.description ?? "");
      const line = `${mark(index)} ${label}`.trimEnd();
      return isBlank(description) ? line : `${line} - ${isolate(description)}`;
    }),
  ];
}

/** How to answer the only question of a prompt. */
function howToOne(question, words) {
  if (question.choices.length === 0) return [words.replyFree];
  const { kind } = numbering(question);
  return [words.reply(kind, question.isOther === true), ...howToSeparate(question, words)];
}

/**
 * How to answer several questions at once: by their numbers, or by their ids where a header reads as a
 * number.
 */
function howToAll(questions, words) {
  const key = questions.some((question) => isNumber(question.header)) ? questions[0].id : "1";
  return words.replyLines(`${key}: ${example(questions[0])}`);
}

/** What is to be said of one question among several. */
function hints(question, words) {
  if (question.choices.length === 0) return [words.replyFree];
  const said = [...howToSeparate(question, words), ...(question.isOther ? [words.ownWords] : [])];
  return said.length > 0 ? [said.join(" ")] : [];
}

function howToSeparate(question, words) {
  return question.multiSelect ? [words.replySeveral(example(question))] : [];
}

/** An answer by marks that exist: `1`, or the first and the third or last where several may be chosen. */
function example(question) {
  const last = question.choices.length - 1;
  if (last < 0) return "…";
  const { name } = numbering(question);
  return question.multiSelect && last > 0 ? `${name(0)},${name(Math.min(last, 2))}` : name(0);
}

function shownValues(question, values, shared) {
  const isLabel = (value) => question.choices.some((choice) => choice.label === value);
  const shown = values
    .filter((value) => !shared || isLabel(value))
    .map((value) => isolate(isLabel(value) ? clean(value) : cutToUnits(clean(value), OWN_TEXT)));
  if (shown.length > 0 && shown.length < values.length) shown.push("…");
  return shown.join(", ");
}
