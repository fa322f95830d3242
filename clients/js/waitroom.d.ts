/** A place's state, in the fields of the server's API. */
export interface State {
  readonly status: "waiting" | "locked" | "ended";
  readonly outcome?: string | null;
  readonly ticket?: number | null;
  /** 1 = next. */
  readonly queue_position?: number | null;
  readonly queue_length?: number;
  /** Seconds. */
  readonly estimated_wait?: number | null;
  readonly maximum_wait?: number | null;
  readonly fence?: number | null;
  readonly paused?: boolean;
  /** What support announces to all who wait; until is RFC 3339. */
  readonly notice?: { readonly text: string; readonly level: "info" | "warning"; readonly until: string } | null;
}

/** A message with a code that was matched to the turn. The code is a secret. */
export interface Message {
  readonly message_id: string;
  readonly text: string;
  readonly code: string;
  /** RFC 3339. */
  readonly received_at: string;
  /** The message came after the turn's end. */
  readonly late: boolean;
}

export interface Call {
  /** Ends the call: it rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Keeps the session of each place, a secret. A place is named by the server, the room and the seller. */
export interface Store {
  /** Returns the session that save has kept for a place; nothing or "" for none. */
  load(place: string): string | null | undefined | Promise<string | null | undefined>;
  /** Keeps a session in place of an earlier one; "" removes it. */
  save(place: string, session: string): unknown;
}

export interface Joining extends Call {
  /**
   * A directory, in Node, or a store that keeps the session from before it joins. The same join of a program
   * that was killed then goes on with the place: in the line, in its turn, or with the code that has completed
   * the turn. done and leave remove the session, and so does a code that rejects with Ended. One program at a
   * time may join for a seller and a room: two would share the place and its codes. seller is needed, also
   * beside a token.
   */
  keep?: string | Store;
  /** A UUID that no other program uses; default: a new one. */
  session?: string;
  /** false: reject with "lock_held" or "room_paused" instead of waiting in line. */
  mayWait?: boolean;
  /**
   * The seller's token, or a function that returns it, if the server runs with SELLER_AUTH=jwt. The function is
   * called for each try of the join; an error of it ends the join. No later call sends a token: the session alone
   * proves the seller then, so the token may expire while its seller waits.
   */
  token?: string | ((signal?: AbortSignal) => string | Promise<string>);
  /**
   * Sent with every call, such as what a proxy in between requires. Without an Accept-Language there, refusals
   * are in English, or in the browser's language.
   */
  headers?: Record<string, string>;
}

export interface Asking extends Call {
  /** Accept messages of these senders only, at most ten. */
  from?: string[];
  /** Accept only messages that contain this text. */
  contains?: string;
  /** Makes the marketplace send the code; called once the number is free. */
  ask?: (signal?: AbortSignal) => unknown;
  /** For how many milliseconds to wait for a code after the turn's end; default 0. */
  late?: number;
}

/** A seller's place in a room. */
export interface Turn {
  /** Identifies the place: any program that has it can act for the place. Store it to resume after a restart. */
  readonly session: string;
  /** The last state that wait, done or leave has received; code does not change it. */
  readonly state: State;
  /**
   * Resolves once the seller holds the lock; rejects with Ended if the place ends before. If the turn came and
   * was completed already, it resolves, too: code then returns the code that completed it.
   */
  wait(options?: Call & { onState?: (state: State) => void }): Promise<void>;
  /** Asks for a code. After the turn's end it asks for none, and returns one that it has not returned yet. */
  code(options?: Asking): Promise<Message>;
  /** Reports that a code is not the seller's. If it has ended the turn, code with late waits for the next one. */
  reject(message: Message, options?: Call): Promise<void>;
  /** Gives the lock back after the seller has used the code. */
  done(options?: Call): Promise<void>;
  /** Gives the place up, waiting or not. */
  leave(options?: Call): Promise<void>;
}

export function join(server: string, room: string, seller: string, options?: Joining): Promise<Turn>;
export function resume(
  server: string,
  room: string,
  session: string,
  options?: Pick<Joining, "headers" | "signal">,
): Promise<Turn>;

/** A refusal by the server. */
export class Refused extends Error {
  readonly status: number;
  /** Stable, such as "seller_has_place". */
  readonly code: string;
  /** Why a token was refused, for a developer. */
  readonly reason?: string;
}

/** The place is over. */
export class Ended extends Error {
  /** "completed", "cancelled", "expired", "forced", "removed", "dropped" or "lost". */
  readonly outcome: string;
}
