/** sleep lets the VU's sockets go on meanwhile, unlike k6's own sleep. */
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** until waits for a condition, at most ms; it returns whether the condition came true. */
export async function until(ms, condition) {
  const end = Date.now() + ms;
  while (!condition()) {
    if (Date.now() >= end) return false;
    await sleep(20);
  }
  return true;
}
