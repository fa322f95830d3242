/** How a place is, as the server's API has it. */
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
}

/** A message with a code that was matched to the turn. The code is a secret. */
export interface Message {
  readonly message_id: string;
  readonly text: string;
  readonly code: string;
  /** RFC 3339. */
  readonly received_at: string;
  /** The turn was over when it came. */
  readonly late: boolean;
}

export interface Call {
  /** Ends the call: it rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface Joining extends Call {
  /** A UUID that no other program has; default: a new one. */
  session?: string;
  /** false: refuse with "lock_held" or "room_paused" rather than wait. */
  mayWait?: boolean;
  /** Go with every call, such as Authorization where the server runs with SELLER_AUTH=jwt. */
  headers?: Record<string, string>;
}

export interface Asking extends Call {
  /** The message's sender is one of these, at most ten. */
  from?: string[];
  /** The message's text has this piece. */
  contains?: string;
  /** Has the marketplace send the code: it is called once the number is free for that. */
  ask?: (signal?: AbortSignal) => unknown;
  /** So many milliseconds a code is waited for after the turn is over; default 0. */
  late?: number;
}

/** A seller's place in a room. */
export interface Turn {
  /** Names the place: any program that has it can act for the place. Keep it to resume after a restart. */
  readonly session: string;
  /** How the place was when the server last said so. */
  readonly state: State;
  /** Resolves once the lock is the seller's; rejects with Ended where the place is over before. */
  wait(options?: Call & { onState?: (state: State) => void }): Promise<void>;
  /** Asks for a code. Where the turn is over, it asks for none and returns what it has not returned yet. */
  code(options?: Asking): Promise<Message>;
  /** Says that a code is not the seller's. Where it has ended the turn, code with late waits for the next. */
  reject(message: Message, options?: Call): Promise<void>;
  /** Gives the lock back: the seller has used the code. */
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
}

/** The place is over. */
export class Ended extends Error {
  /** "completed", "cancelled", "expired", "forced", "removed", "dropped" or "lost". */
  readonly outcome: string;
}
