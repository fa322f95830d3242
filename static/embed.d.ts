/** How a place ended. */
export type Outcome = "completed" | "cancelled" | "expired" | "forced" | "removed" | "dropped" | "lost";

/** How a room and this session's place in it stand. Times are unix milliseconds by the server's clock, see WaitingRoom.now. */
export interface State {
  /** Names one unbroken life of the room's data; null until the server has said anything. */
  readonly epoch?: string | number | null;
  /** Grows with every change, within an epoch. */
  readonly version?: number;
  readonly server_time?: number;
  readonly status: "idle" | "waiting" | "locked" | "ended";
  /** How the last place ended, while status is "ended". */
  readonly outcome: Outcome | null;
  /** The place's number by arrival. It is safe to show. */
  readonly ticket: number | null;
  /** From 1 = next, while waiting. */
  readonly queue_position: number | null;
  readonly queue_length: number;
  /** Seconds; a newcomer's while idle; null while locked and while the room is paused. */
  readonly estimated_wait: number | null;
  readonly maximum_wait: number | null;
  /** The end of the current lease: mine while locked, the holder's while waiting. */
  readonly lease_expires_at: number | null;
  /** Of my turn, while locked: to be handed on to whatever is done under it. */
  readonly fence: number | null;
  readonly paused: boolean;
  /** Until when my turn is to be claimed; null where it needs not. */
  readonly claim_by: number | null;
  /** The holder's asks for codes, and from when it may ask while the number is busy. */
  readonly codes: { readonly asked: number; readonly open: number; readonly ask_after: number | null } | null;
}

/** An SMS that belongs to this session's turn. The code is a secret: show it, and keep it nowhere. */
export interface Message {
  readonly message_id: string;
  readonly text: string;
  /** Empty or null where the message has none. */
  readonly code: string | null;
  readonly received_at: number;
  /** The turn that it belongs to was over when it came. */
  readonly late: boolean;
}

/** A message with a code that nothing asked for explains: WaitingRoom.claimMessage says that it is mine. */
export interface Unclaimed {
  readonly message_id: string;
  readonly received_at: number;
}

/** "open" once what is known is true; "polling" where no socket comes through, and the room is asked every few seconds instead; "lost" while it is being connected anew; "closed" where the server wants no more of it. */
export type Connection = "connecting" | "open" | "polling" | "lost" | "closed";

export interface Events {
  state: (state: State, before: State) => void;
  message: (message: Message) => void;
  unclaimed: (message: Unclaimed) => void;
  /** What support did for this seller. */
  notice: (notice: string) => void;
  connection: (connection: Connection) => void;
  /** Every frame of the socket, as the server wrote it. */
  frame: (frame: Record<string, unknown> & { readonly type: string }) => void;
}

export interface Options {
  /** The room's id. */
  room: string;
  /** Where waitroom is; default: where this module came from. */
  server?: string;
  /** Of what the server says to people, such as the messages of Refused; default: the page's. */
  language?: string;
  /**
   * "cookie": the session that the browser has with waitroom, which it only sends from pages of the same site.
   * "own": an id that this page keeps in its own storage. Default: "cookie" on waitroom's own origin, else "own". With a token it counts for nothing.
   */
  session?: "cookie" | "own";
  /** With SELLER_AUTH=jwt: the portal's token, or a function that is called for one before each call and each opening of the socket; null while nobody has signed in. */
  token?: string | (() => string | null | Promise<string | null>);
  /** What is known already, such as a state that the page came with. */
  state?: State;
  /** What Refused says where the server says nothing. */
  words?: { unreachable: string; went_wrong: string };
}

/** One seller's view of one room, kept true for as long as it is open. */
export class WaitingRoom {
  static connect(options: Options): WaitingRoom;
  readonly room: string;
  /** The newest state that is known. */
  readonly state: State;
  /** The server's time, unix milliseconds: count down to state.lease_expires_at by it. */
  now(): number;
  /** Calls listener at each event, until what is returned is called. */
  on<Name extends keyof Events>(event: Name, listener: Events[Name]): () => void;
  /**
   * A place in line, or the one that this session has already. With a token that says who the seller is, and seller is left out.
   * asks (default true): this seller says by expect each time that it asks for a code.
   */
  join(seller?: string, options?: { asks?: boolean }): Promise<State>;
  /** Gives the turn or the place in line back. */
  leave(): Promise<State>;
  /** Ends the turn as completed. */
  done(): Promise<State>;
  /** To be called before each time a code is asked for. from: who may send it; contains: a piece that its text must have. */
  expect(filter?: { from?: string[]; contains?: string }): Promise<State>;
  /** A message that "unclaimed" told of is mine: I had asked for it. */
  claimMessage(message: string): Promise<State>;
  /** I am here, where turns are to be claimed. */
  claim(): Promise<State>;
  /** That code is not mine. */
  reject(message: string, fence?: number): Promise<void>;
  /** Asks how things are, beside what the socket tells. */
  refresh(): Promise<State>;
  /** Lets go of the room; the place stays until it ends by itself. forget: an own session too, for a seller who signs out. */
  close(options?: { forget?: boolean }): void;
}

/** What every method but on, now and close throws: the server said no, or did not answer at all after four tries. */
export class Refused extends Error {
  /** The server's code, such as "seller_has_place"; "unreachable" where there was no answer. */
  readonly code: string;
  /** The server's whole answer, RFC 9457. */
  readonly problem: Record<string, unknown>;
  /** The same call would be refused again. */
  readonly final: boolean;
}
