// Instants as a page writes them, in the reader's zone; templates/desk_words.go writes the same in UTC.

const two = (n) => String(n).padStart(2, "0");

const date = (at) => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
const minute = (at) => `${two(at.getHours())}:${two(at.getMinutes())}`;
const second = (at) => `${minute(at)}:${two(at.getSeconds())}`;

const formats = {
  date,
  minute,
  second,
  day: (at) => `${date(at)} ${minute(at)}`,
  full: (at) => `${date(at)} ${second(at)}`,
};
const dated = { minute: "day", second: "full" };

export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

// stamp writes an instant, with its date where that differs from the previous instant's.
export function stamp(at, after, format) {
  const when = new Date(at);
  const another = after !== 0 && date(new Date(after)) !== date(when);
  return formats[another ? (dated[format] ?? format) : format](when);
}

const day = /^(\d{4})-(\d{2})-(\d{2})$/;

// midnight returns the start of a typed day, some days later; null if it is no day.
function midnight(text, later) {
  const [, y, m, d] = day.exec(text) ?? [];
  const at = new Date(Number(y), Number(m) - 1, Number(d) + later);
  const same = new Date(Number(y), Number(m) - 1, Number(d));
  return y && date(same) === text ? at : null;
}

const instant = (text, later) => midnight(text, later)?.toISOString() ?? text;

// startOf and endOf return the instants at which a typed day begins and ends; other text stays as typed.
export const startOf = (text) => instant(text, 0);
export const endOf = (text) => instant(text, 1);

// typed returns an instant as a day, where it is a day's start or end.
export function typed(text, which) {
  const at = new Date(text);
  if (day.test(text) || Number.isNaN(at.getTime())) return text;
  const start = new Date(at.getFullYear(), at.getMonth(), at.getDate());
  if (start.getTime() !== at.getTime()) return text;
  return date(which === "start" ? at : new Date(at.getTime() - 1));
}
