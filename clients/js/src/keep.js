/** Imports a module of Node's own; every bundler leaves it to Node. */
export const node = (name) => import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`);

/** Returns where keep has a place's session: a store of the program's own or, in Node, files of a directory. */
export function kept(keep, server, room, seller) {
  if (!seller) throw new TypeError("keep a session: want the seller's id, also beside a token");
  const place = `${server} ${room} ${seller}`;
  const store = typeof keep === "string" ? directory(keep) : keep;
  return { load: () => store.load(place), save: (session) => store.save(place, session) };
}

/** A store of files that only their owner can read. The clients in other languages keep the same. */
function directory(path) {
  const file = async (place) => {
    const { createHash } = await node("crypto");
    return `${path}/${createHash("sha256").update(place).digest("hex")}`;
  };
  return {
    async load(place) {
      const { readFile } = await node("fs/promises");
      return readFile(await file(place), "utf8").then((text) => text.trim(), absent);
    },
    async save(place, session) {
      const { mkdir, rename, rm, writeFile } = await node("fs/promises");
      if (!session) return rm(await file(place), { force: true });
      await mkdir(path, { recursive: true, mode: 0o700 });
      const next = `${await file(place)}.${process.pid}.next`;
      await writeFile(next, `${session}\n`, { mode: 0o600 });
      await rename(next, await file(place));
    },
  };
}

function absent(error) {
  if (error.code !== "ENOENT") throw error;
  return "";
}
