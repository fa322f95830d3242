/** Random is a seeded source (mulberry32), so that a run can be repeated. */
export class Random {
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** next is a number of [0, 1). */
  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** around is a time with this mean, between a half and three halves of it. */
  around(mean) {
    return mean * (0.5 + this.next());
  }

  /** pick chooses a key of weights such as { code: 5, done: 3 }. */
  pick(weights) {
    const entries = Object.entries(weights);
    let at = this.next() * entries.reduce((sum, [, w]) => sum + w, 0);
    for (const [name, weight] of entries) if ((at -= weight) < 0) return name;
    return entries[0][0];
  }
}
