import { Refused } from "../http.js";

/**
 * Returns the undo of an action, for a note: an action too, with a reason of its own, whose result the note
 * shows. refusals has words for codes that mean something else here.
 */
export function undoOf({ words, api }, verb, body, note, refusals = {}) {
  const run = async () => {
    try {
      await api.action(verb)({ ...body(), reason: words.reasons.undo[0] });
      note.show(words.act[verb === "restore" ? verb : "undo"].done);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      note.show(refusals[error.code] ?? api.plain(error));
    }
  };
  return { words: words.undo, run };
}
