import { byID, put } from "../dom.js";
import { fill } from "../words.js";
import { stamp } from "./times.js";

/** Returns what support announces: {texts, level, until}; null if that is nothing. */
export function announced({ support }, now) {
  if (!support?.announcement || support.announced_until <= now) return null;
  return { ...support.announcement, until: support.announced_until };
}

/** Returns a time of support's that is still to come, open_until or closed_until; 0 if there is none. */
export function setUntil({ support }, name, now) {
  const until = support?.[name] ?? 0;
  return until > now ? until : 0;
}

/** Shows what support has set for the whole room: its announcement, and whether it is open. */
export function drawStanding(words, lang, model, now) {
  const notice = announced(model, now);
  const line = byID("announced");
  line.hidden = !notice;
  put(byID("announced-level"), notice ? words.levels[notice.level] : "");
  byID("announced-level").classList.toggle("warn", notice?.level === "warning");
  const shown = notice?.texts.find((text) => text.lang === lang) ?? notice?.texts[0];
  const text = byID("announced-text");
  put(text, shown?.text ?? "");
  text.lang = shown?.lang ?? "";
  put(byID("announced-until"), notice ? fill(words.until, { time: stamp(notice.until, now, "minute") }) : "");
  const open = openWords(words, model, now);
  byID("open-state").hidden = !open;
  put(byID("open-state"), open);
}

/** Returns until when the room is closed, or support has it open; "" for one that its hours have open. */
function openWords(t, model, now) {
  const time = (at) => ({ time: stamp(at, now, "minute") });
  if (model.closed) {
    const pattern = setUntil(model, "closed_until", now) ? t.closed_by : t.closed_hours;
    return fill(pattern, time(model.opensAt));
  }
  const until = setUntil(model, "open_until", now);
  return until ? fill(t.opened_by, time(until)) : "";
}
