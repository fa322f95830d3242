// The run's own metrics. Counters that must stay 0 get a 0 at the start of each room, so that a threshold
// always has data.
import { Counter, Trend } from "k6/metrics";

export const joinMs = new Trend("join_ms", true); // 준비 완료 to its answer
export const handoffMs = new Trend("handoff_ms", true); // a holder's release sent to the next holder's frame
export const firstFrameMs = new Trend("first_frame_ms", true); // opening a socket to its first state
export const backMs = new Trend("back_ms", true); // a socket lost to a true state on the next one
export const codeMs = new Trend("code_ms", true); // the carrier's request to the holder's sms frame

export const joined = new Counter("joined"); // tickets given
export const over = new Counter("over"); // tickets that ended
export const handoffs = new Counter("handoffs"); // grants to a session that waited
export const opened = new Counter("sockets_opened");
export const closed = new Counter("sockets_closed");
export const frames = new Counter("frames");
export const retries = new Counter("retries"); // requests that had to be repeated

export const twoHolders = new Counter("two_holders");
export const overtaken = new Counter("overtaken");
export const lostPlaces = new Counter("lost_places");
export const deskWrong = new Counter("desk_wrong"); // times the desk showed another line than the sellers saw
export const deskChecked = new Counter("desk_checked"); // places compared

/** begin gives every counter a first value. */
export function begin() {
  for (const c of [
    joined,
    over,
    handoffs,
    opened,
    closed,
    frames,
    retries,
    twoHolders,
    overtaken,
    lostPlaces,
    deskWrong,
    deskChecked,
  ])
    c.add(0);
}
