/** Worst first; red needs a person. */
export const TROUBLES = ["stuck", "nobodys", "lost", "expired", "paused"];
const RED = new Set(["stuck", "nobodys", "lost"]);

export function kindOf(trouble) {
  return RED.has(trouble) ? "bad" : "warn";
}

/** Returns how bad a room is, for sorting. A worse trouble weighs more than all lesser ones together. */
function weight({ trouble }) {
  return trouble.reduce((sum, name) => sum + 2 ** (TROUBLES.length - TROUBLES.indexOf(name)), 0);
}

const NEVER = Number.MAX_SAFE_INTEGER;

/** The sort key of each column, largest first; text by its letters. */
const COLUMNS = {
  trouble: weight,
  room: (room) => room.room,
  holder: (room) => (room.expires_at == null ? -NEVER : -room.expires_at),
  waiting: (room) => room.waiting,
  away: (room) => room.away,
  oldest: (room) => longest(room),
  handoffs: (room) => room.handoffs,
};

/** The longest wait starts at the smallest moment; 0 means that no seller waits. */
function longest({ oldest }) {
  return oldest > 0 ? -oldest : -NEVER;
}

/**
 * Returns the rooms sorted by a column; equal ones by trouble, then by the longest wait, then by name. up:
 * smallest first.
 */
export function sorted(rooms, column, up = false) {
  const by = COLUMNS[column];
  const keyed = rooms.map((room) => ({ room, key: by(room), trouble: weight(room), wait: longest(room) }));
  const turn = up ? -1 : 1;
  keyed.sort(
    (a, b) =>
      turn * compare(a.key, b.key) ||
      b.trouble - a.trouble ||
      b.wait - a.wait ||
      byText(a.room.room, b.room.room),
  );
  return keyed.map(({ room }) => room);
}

function compare(a, b) {
  return typeof a === "string" ? byText(a, b) : b - a;
}

function byText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns a shown order with new rooms at its end and gone ones removed. */
export function kept(rooms, shown) {
  const place = new Map(shown.map(({ room }, i) => [room, i]));
  const of = ({ room }) => place.get(room) ?? shown.length;
  return [...rooms].sort((a, b) => of(a) - of(b));
}

export function totals(rooms) {
  return {
    rooms: rooms.length,
    held: rooms.filter(({ holder }) => holder != null).length,
    waiting: rooms.reduce((sum, { waiting }) => sum + waiting, 0),
    trouble: rooms.filter(({ trouble }) => trouble.length > 0).length,
  };
}
