/** Returns the address of a seller's timeline in a room. */
export function seller(id, room) {
  return `/support/-/sellers/${encodeURIComponent(id)}?room=${encodeURIComponent(room)}`;
}

export function room(id) {
  return `/support/${encodeURIComponent(id)}`;
}
