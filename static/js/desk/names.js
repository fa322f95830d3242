const NONE = { name: "", phone: "", marketplace: "" };

/** The operator's names of rooms: by id, else by the longest named prefix. */
export class RoomNames {
  #byRoom = new Map();

  constructor(list) {
    for (const entry of list) this.#byRoom.set(entry.room, entry);
  }

  of(room) {
    const own = this.#byRoom.get(room);
    if (own) return own;
    for (let end = room.lastIndexOf(":"); end > 0; end = room.lastIndexOf(":", end - 1)) {
      const entry = this.#byRoom.get(`${room.slice(0, end)}:*`);
      if (entry) return entry;
    }
    return NONE;
  }
}
