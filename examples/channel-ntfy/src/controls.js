// Which buttons a prompt gets. ntfy has three at most, and one is always *Skip*: so there are buttons for one
// single-select question of two choices, and the marks in the text for everything else.

import { clean, cost, cutToUnits, fold, isBlank } from "./text.js";

/** Longest label in UTF-16 units. ntfy states none; on a phone three buttons share a row. */
export const LABEL = 40;
/** Longest token in bytes. */
export const TOKEN = 64;
/** What all buttons together may cost in a push, where they stand as JSON within a string of JSON. */
const ACTIONS = 1400;

/** A token of ours: a mark with its version, the prompt's unguessable id, and which control it is. */
const IS_TOKEN = /^nt1:[!-~]{1,60}$/;

/** Whether something is a token of ours, as far as its form tells. */
export function isToken(value) {
  return typeof value === "string" && IS_TOKEN.test(value);
}

/**
 * What a button sends, and so what comes back as a tap. ntfy tells nothing of who tapped: whoever reads the
 * topic is the person who was asked, and the topic is what has to be kept secret.
 */
export function tapBody(token, sender, topic) {
  return JSON.stringify({ token, sender, topic });
}

/**
 * The buttons of a prompt: `bindings` for the host and `actions` for ntfy, both empty where only text is
 * possible. So it is without an address for taps, and where others read: they would tap as the requester.
 */
export function controls(prompt, target, words) {
  const none = { bindings: [], actions: [] };
  const [question] = prompt.questions;
  const isPair = prompt.questions.length === 1 && question.choices.length === 2 && !question.multiSelect;
  if (!isPair || target.shared || !target.callbackUrl) return none;

  const bindings = [
    ...labels(question, words).map((label, index) => ({
      token: token(prompt, index),
      target: { tag: "choice", val: { questionId: question.id, index } },
      label,
    })),
    { token: token(prompt, "x"), target: { tag: "skip" }, label: words.skip },
  ];
  const sender = target.requester?.id || target.address;
  const actions = bindings.map(({ token, label }) => ({
    action: "http",
    label,
    url: target.callbackUrl,
    body: tapBody(token, sender, target.address),
  }));
  const fits = cost(JSON.stringify(actions)) <= ACTIONS && bindings.every(({ token }) => isToken(token));
  return fits ? { bindings, actions } : none;
}

function token(prompt, control) {
  return `nt1:${prompt.id}:${control}`;
}

/**
 * What stands on the buttons: the labels; with the marks of the text in front where one of them is too long,
 * blank, or reads like the other or like our own button.
 */
function labels(question, words) {
  const full = question.choices.map((choice) => clean(choice.label));
  const isPlain = (label, index) =>
    label.length <= LABEL &&
    !isBlank(label) &&
    fold(label) !== fold(words.skip) &&
    full.findIndex((other) => fold(other) === fold(label)) === index;
  if (full.every(isPlain)) return full;
  // The line of each choice begins with its mark.
  const marks = words.body.filter((line) => line.kind === "choice").map((line) => line.text.split(" ", 1)[0]);
  const marked = (label, index) => cutToUnits(`${marks[index]} ${label}`, LABEL);
  return full.map((label, index) => (isBlank(label) ? marks[index] : marked(label, index)));
}
