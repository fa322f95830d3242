/** The ways a place ends. */
export type Outcome = "completed" | "cancelled" | "expired" | "forced" | "removed" | "dropped" | "lost";

/**
 * How a room and this session's place in it stand. Times are unix milliseconds by the server's clock, see
 * WaitingRoom.now.
 */
export interface State {
  /** Names one unbroken life of the room's data. */
  readonly epoch?: string | number | null;
  /** Grows with every change, within an epoch. */
  readonly version?: number;
  readonly server_time?: number;
  readonly status: "idle" | "waiting" | "locked" | "ended";
  /** How the last place ended, of `ended`. */
  readonly outcome: Outcome | null;
  /** The place's number by arrival. It is safe to show. */
  readonly ticket: number | null;
  /** Of `waiting`; 1 is next. */
  readonly queue_position: number | null;
  readonly queue_length: number;
  /** Seconds; a newcomer's while `idle`, null while `locked` and while the room is paused. */
  readonly estimated_wait: number | null;
  readonly maximum_wait: number | null;
  /** The end of the current lease: mine when `locked`, the holder's when `waiting`. */
  readonly lease_expires_at: number | null;
  /** The turn's fence, of `locked`: pass it to every system that the turn's work writes to. */
  readonly fence: number | null;
  /** When the room takes new places again; null while it does. */
  readonly opens_at: number | null;
  /** What support announces to all readers of the room, in the reader's language. */
  readonly notice: { readonly text: string; readonly level: "info" | "warning"; readonly until: number } | null;
  /** Support paused the room. */
  readonly paused: boolean;
  /** The latest time to claim my lease; null if there is nothing to claim. */
  readonly claim_by: number | null;
  /** Present only while the line passes over the session, which has not claimed its lease and is not back yet. */
  readonly unclaimed?: true;
  /** My asks for codes, of `locked`, and from when I may ask while the number is busy. */
  readonly codes: { readonly asked: number; readonly open: number; readonly ask_after: number | null } | null;
}

/** An SMS that belongs to this session's turn. The code is a secret: show it, and keep it nowhere. */
export interface Message {
  readonly message_id: string;
  readonly text: string;
  /** Empty or null where the message has none. */
  readonly code: string | null;
  readonly received_at: number;
  /** Its turn was over when it came. */
  readonly late: boolean;
  /** Only true: the server cannot open the message; text is empty then, and code null. */
  readonly unreadable?: true;
}

/** A message whose code no recorded ask explains: WaitingRoom.claimMessage claims it for this session. */
export interface Unclaimed {
  readonly message_id: string;
  readonly received_at: number;
}

/**
 * The states of the connection. "open": the state is current; "polling": no socket comes through and the
 * client asks every few seconds instead; "lost": it reconnects; "closed": the server ended it for good.
 */
export type Connection = "connecting" | "open" | "polling" | "lost" | "closed";

export interface Events {
  state: (state: State, before: State) => void;
  message: (message: Message) => void;
  unclaimed: (message: Unclaimed) => void;
  /** An action of support for this seller, or a second device that joined. */
  notice: (notice: "extended" | "moved" | "assigned" | "joined_device") => void;
  connection: (connection: Connection) => void;
  /**
   * Why no connection comes about, once for each reason: the token function threw ("token_failed"), the token
   * or the session was refused, or the room is unknown. problem.reason says what is wrong with the token. The
   * client keeps trying.
   */
  error: (error: Refused) => void;
  /** Every frame of the socket, as the server wrote it. */
  frame: (frame: Record<string, unknown> & { readonly type: string }) => void;
}

export interface Options {
  /** The room's id. */
  room: string;
  /** Where waitroom is; default: where this module came from. */
  server?: string;
  /** The language of texts for people, such as the messages of Refused; default: the page's. */
  language?: string;
  /**
   * "cookie": the browser's session with waitroom, which it only sends from pages of the same site. "own": an
   * id that this page keeps in its own storage. Default: "cookie" on waitroom's own origin, else "own". A
   * token overrules both.
   */
  session?: "cookie" | "own";
  /**
   * With SELLER_AUTH=jwt: the portal's token, or a function that returns one. It is called before each call
   * and each opening of the socket; null while no seller has signed in.
   */
  token?: string | (() => string | null | Promise<string | null>);
  /** A state that the page already has, such as one it was rendered with. */
  state?: State;
  /** The texts of Refused where the server sends none. */
  words?: { unreachable: string; went_wrong: string };
}

/** One seller's view of one room, kept current while it is open. */
export class WaitingRoom {
  static connect(options: Options): WaitingRoom;
  readonly room: string;
  /** The newest state that is known. */
  readonly state: State;
  /** The server's time, unix milliseconds: count down to state.lease_expires_at by it. */
  now(): number;
  /** Calls listener at each event, until the returned function is called. */
  on<Name extends keyof Events>(event: Name, listener: Events[Name]): () => void;
  /**
   * Returns a place in line, or the one that this session has already. A token names the seller; leave seller
   * out then. asks (default true): this seller calls expect each time before asking for a code.
   */
  join(seller?: string, options?: { asks?: boolean }): Promise<State>;
  /** Gives the turn or the place in line back. */
  leave(): Promise<State>;
  /** Ends the turn as completed. */
  done(): Promise<State>;
  /**
   * Call it before each time the seller asks for a code. from: allowed senders; contains: a piece that the
   * text must have.
   */
  expect(filter?: { from?: string[]; contains?: string }): Promise<State>;
  /** Claims a message of an "unclaimed" event: this session had asked for it. */
  claimMessage(message: string): Promise<State>;
  /** Claims the turn, where turns have to be claimed. */
  claim(): Promise<State>;
  /** Reports that a code belongs to another seller. */
  reject(message: string, fence?: number): Promise<void>;
  /** Asks for the state now, beside the socket. */
  refresh(): Promise<State>;
  /**
   * Closes the room's view; the place stays until it ends by itself. forget: also drops an own session, for a
   * seller who signs out.
   */
  close(options?: { forget?: boolean }): void;
}

/**
 * The error of every method but on, now and close. The server refused, or did not answer after four tries.
 */
export class Refused extends Error {
  readonly name: "Refused";
  /** The server's code, such as "seller_has_place"; "unreachable" where there was no answer. */
  readonly code: string;
  /** The server's whole answer, RFC 9457; empty where there was none. */
  readonly problem: Problem;
  /** The same call would be refused again. */
  readonly final: boolean;
}

export interface Problem {
  readonly status?: number;
  readonly code?: string;
  /** For people, in the page's language; the message of Refused has it. */
  readonly detail?: string;
  /** Of a refused token: what to change, in English, for developers. */
  readonly reason?: string;
  /** Of "number_busy": from when a code may be asked for, RFC 3339. */
  readonly ask_after?: string;
  readonly [field: string]: unknown;
}
